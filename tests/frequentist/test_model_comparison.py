"""Models compared pairwise: hand-made differences, letters and ranks that follow them, shared items."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.factor_levels import treated
from analysis.frequentist.model_comparison import FLOOR, compare_models, shown_ranks
from analysis.reduction.levels import LevelArrays
from analysis.reduction.shared_items import shared_items

FOUR = ("VA", "VN", "IA", "IN")


def data(chances: list[list[float]], *, units=40, per=10, seed=0, levels=1):
    rng = np.random.default_rng(seed)
    n = np.full((len(chances), units, levels, 4), float(per))
    y = rng.binomial(per, np.array(chances)[:, None, None, :], size=n.shape).astype(float)
    names = (tuple(f"m{i}" for i in range(len(chances))), tuple(f"u{i}" for i in range(units)), ("all",) * levels)
    nothing = np.zeros_like(n)
    return treated(LevelArrays("", *names, FOUR, n, nothing, y, nothing, 0))


def test_differences_are_first_minus_second_of_the_observed_measures():
    """Catches a difference of the wrong sign, and floors compared by their mean class."""
    given = data([[0.9, 0.8, 0.8, 0.9], [0.9, 0.3, 0.2, 0.9], [0.5] * 4])
    found = compare_models(given, rng=np.random.default_rng(0), flips=500, resamples=200)
    rate = given.y.sum(axis=(1, 2)) / given.n.sum(axis=(1, 2))
    floor = np.minimum((rate[:, 0] + rate[:, 3]) / 2, (rate[:, 1] + rate[:, 2]) / 2)
    row = found.pairs[found.pairs["measure"] == FLOOR].set_index(["model_a", "model_b"]).loc[("m0", "m1")]
    assert row["estimate"] == pytest.approx(floor[0] - floor[1])
    assert row["p_adjusted"] < 0.001
    bias = found.pairs[found.pairs["measure"] == "answer_bias"].set_index(["model_a", "model_b"])["estimate"]
    own = (rate[:, 0] + rate[:, 3] - rate[:, 1] - rate[:, 2]) / 2
    assert bias[("m0", "m2")] == pytest.approx(own[0] - own[2])


def test_letters_and_ranks_follow_the_decisions():
    """Catches letters shared by models that were shown to differ, and rank 1 for the lowest floor."""
    given = data([[0.9] * 4, [0.9] * 4, [0.2] * 4])
    found = compare_models(given, rng=np.random.default_rng(0), flips=500, resamples=200)
    floors = found.models[found.models["measure"] == FLOOR].set_index("model")
    assert set(floors.loc["m0", "letters"]) & set(floors.loc["m1", "letters"])
    assert not set(floors.loc["m0", "letters"]) & set(floors.loc["m2", "letters"])
    assert floors.loc["m2", "rank"] == 3
    assert floors.loc["m2", "rank_low"] == 3


def test_equal_models_are_equivalent_with_enough_data():
    """Catches bounds read in points, or a decision taken from the wrong test."""
    given = data([[0.7] * 4, [0.7] * 4], units=300, per=100)
    rows = compare_models(given, rng=np.random.default_rng(0), flips=200, resamples=100).pairs.set_index("measure")
    assert rows.loc["balanced_accuracy", "decision"] == "equivalent"
    assert (rows["rope_high"] == 0.02).all()


def test_several_levels_are_refused():
    """Catches a comparison that silently takes the first level."""
    with pytest.raises(AnalysisError, match="one level"):
        compare_models(data([[0.5] * 4] * 2, levels=2), rng=np.random.default_rng(0))


def test_shared_items_are_those_that_every_model_answered():
    """Catches items kept because planned, conditions taken for one question, a dead model that ends it all."""
    keys = {"task": "", "gold": "yes", "cell": "VA", "unit": "u"}
    rows = [
        {"model": "a", "item": "1", "strategy": "x", "n_answered": 1},
        {"model": "b", "item": "1", "strategy": "x", "n_answered": 0, "n_uncertain": 1},
        {"model": "a", "item": "1", "strategy": "y", "n_answered": 1},
        {"model": "a", "item": "2", "strategy": "x", "n_answered": 1},
        {"model": "b", "item": "2", "strategy": "x", "n_answered": 0, "n_set_aside": 1},
    ]
    counts = pd.DataFrame([keys | r for r in rows])
    for name in ("n_planned", "n_uncertain", "n_set_aside", "n_yes", "n_correct"):
        counts[name] = counts[name].fillna(0) if name in counts else 0
    found = shared_items(counts)
    assert (found.kept, found.dropped) == (1, 2)
    assert found.counts["model"].tolist() == ["a", "b"]
    dead = counts.assign(model="dead", n_answered=0, n_uncertain=0, n_set_aside=1)
    with_dead = shared_items(pd.concat([counts, dead], ignore_index=True))
    assert (with_dead.kept, with_dead.dropped, with_dead.silent) == (1, 2, ("dead",))
    assert with_dead.counts["model"].tolist() == ["a", "b"]


def test_ranks_leave_what_the_pairs_leave_open():
    """Catches rank limits narrower than the letters, and ties that push the highest floor to rank 1.5."""
    estimate = np.array([0.9, 0.9, 0.8, 0.5, np.nan])
    different = np.zeros((5, 5), dtype=bool)
    for a, b in ((0, 3), (1, 3), (0, 2)):
        different[a, b] = different[b, a] = True
    rank, low, high = shown_ranks(estimate, different)
    np.testing.assert_array_equal(rank, [1, 1, 3, 4, np.nan])
    np.testing.assert_array_equal(low, [1, 1, 2, 3, np.nan])
    np.testing.assert_array_equal(high, [2, 3, 4, 4, np.nan])
