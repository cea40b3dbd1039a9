"""Simulated votes: their truth against enumeration and against many draws, and files that say what was drawn."""

import json
from itertools import product

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.importers import syllogism_votes
from analysis.importers.protocol import ReadOptions
from analysis.simulation.syllogisms import (
    NONE,
    YES,
    Syllogisms,
    as_schema_rows,
    majority_probabilities,
    questions,
    simulate_syllogisms,
)
from analysis.simulation.vote_files import write_vote_files

SMALL = Syllogisms(
    models=2, base_items=8, strategies=("a", "b"), strategy_lean=(0, 0.5), strategy_discrimination=(0, 0)
)


@pytest.mark.parametrize(("votes", "unanimous"), [(10, 5), (4, 2), (3, 3), (1, 1)])
@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.93])
def test_majorities_against_enumeration(p: float, votes: int, unanimous: int) -> None:
    """Catches early stops counted twice, and ties given to one side."""
    expected = np.zeros(3)
    for said in product((0, 1), repeat=votes):
        chance = np.prod([p if s else 1 - p for s in said])
        cast = said[:unanimous] if len(set(said[:unanimous])) == 1 else said
        yes = sum(cast)
        expected[0 if 2 * yes > len(cast) else 1 if 2 * yes < len(cast) else 2] += chance
    found = np.array([float(x) for x in majority_probabilities(np.array(p), votes, unanimous)])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_truth_is_what_many_votes_show() -> None:
    """Catches a truth of other items, strategies or votes than those drawn: means of many draws with one set of p."""
    settings = Syllogisms(models=1, base_items=8, temperatures=("0.5",) * 400, votes=4, unanimous=2)
    found = simulate_syllogisms(np.random.default_rng(1), settings)
    votes, asked = found.models[0].votes, found.questions
    yes, cast = (votes == YES).sum(axis=-1), (votes != NONE).sum(axis=-1)
    right = np.where(asked.valid == 1, 2 * yes > cast, 2 * yes < cast)
    truth = next(iter(found.truth.values()))["majority"]
    # 51,200 majorities: three standard errors of a share are below .007.
    assert right.mean() == pytest.approx(truth["accuracy"], abs=0.007)
    assert right[..., asked.valid == 1].mean() == pytest.approx(truth["recall"], abs=0.01)
    cells = {"VB": (1, 1), "IU": (-1, -1)}
    for name, (v, u) in cells.items():
        shown = right[..., (asked.valid == v) & (asked.believed == u)].mean()
        assert shown == pytest.approx(truth["cells"][name], abs=0.02)
    assert (2 * yes == cast).mean() == pytest.approx(truth["ties"], abs=0.007)


def test_design_of_the_questions() -> None:
    """Catches nonsense that is believed, and cells of unequal size."""
    asked = questions(40)
    cells = {(v, u): int(((asked.valid == v) & (asked.believed == u)).sum()) for v in (1, -1) for u in (1, -1, 0)}
    assert cells == {(1, 1): 20, (1, -1): 20, (1, 0): 40, (-1, 1): 20, (-1, -1): 20, (-1, 0): 40}
    assert not asked.labelled[asked.believed == 0].any()


def test_votes_stop_early_and_are_single_at_temperature_zero() -> None:
    """Catches votes beyond the fifth of five equal ones."""
    votes = simulate_syllogisms(np.random.default_rng(2), SMALL).models[0].votes
    assert (votes[:, 0, :, 1:] == NONE).all()
    warm = votes[:, 1:]
    stopped = (warm[..., 5:] == NONE).all(axis=-1)
    agreed = (warm[..., :5] == warm[..., :1]).all(axis=-1)
    np.testing.assert_array_equal(stopped, agreed)
    assert 0 < stopped.mean() < 1


def test_files_hold_every_vote_and_say_that_they_are_simulated(tmp_path) -> None:
    """Catches a vote lost between generator and importer, and files that pass for logs of a model."""
    settings = Syllogisms(models=1, base_items=4, unreadable=0.05, failed=0.05, interrupted=2, long_share=0.5)
    simulated = simulate_syllogisms(np.random.default_rng(3), settings)
    out = tmp_path / "logs"
    paths = write_vote_files(simulated, out, seed=3)
    assert sum(".partial." in path.name for path in paths) == 2
    rows = [r for path in paths for record in syllogism_votes.read(path, ReadOptions(out)) for r in record.responses]
    assert len(rows) == int((simulated.models[0].votes != NONE).sum())
    assert all(row.simulated for row in rows)
    truth = json.loads((out / "truth.json").read_text())
    assert truth["simulated"] is True
    table = as_schema_rows(simulated).tables[0][1].to_pylist()
    shared = ("model", "item", "unit", "variant", "strategy", "gold", "validity", "believability", "sample")
    key = lambda row: tuple(str(row[name]) for name in (*shared, "temperature", "answer"))  # noqa: E731
    from_files = sorted(key({n: getattr(r, n) for n in (*shared, "temperature", "answer")}) for r in rows)
    assert from_files == sorted(key(row) for row in table)


def test_same_seed_same_votes() -> None:
    """Catches a draw that does not come from the given generator."""
    first, second = (simulate_syllogisms(np.random.default_rng(4), SMALL) for _ in range(2))
    assert all(np.array_equal(a.votes, b.votes) for a, b in zip(first.models, second.models, strict=True))
    assert first.truth == second.truth


@pytest.mark.parametrize("wrong", [{"models": 0}, {"base_items": 3}, {"strategy_lean": (0.0,)}])
def test_impossible_sizes_are_refused(wrong) -> None:
    """Catches an index error far from its cause."""
    with pytest.raises(AnalysisError):
        Syllogisms(**wrong)
