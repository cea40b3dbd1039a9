"""Simulated probability judgments: exact truths, and residuals that are what the truth file says."""

import dataclasses
import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from analysis.cli.main import main
from analysis.errors import AnalysisError
from analysis.simulation.latent_coherence import LatentCoherence, full_size, simulate_latent_coherence
from analysis.simulation.latent_items import causal_values, diagnostic_joint, joint_decompositions, source_joint
from analysis.simulation.latent_responders import RESPONDERS, CoherenceResponder


def test_source_truth_by_exact_fractions() -> None:
    """Careful 9/10, careless 1/2 right; record 3 right, 1 wrong; base 1/4; hard topics no harder."""
    half, care, careless, base = Fraction(1, 2), Fraction(9, 10), Fraction(1, 2), Fraction(1, 4)
    weight = {}
    for z, (prior, right) in enumerate(((half, care), (half, careless))):
        for true in (True, False):
            said = (base if true else 1 - base) * (right if true else 1 - right)
            weight[z, true] = prior * right**3 * (1 - right) * said
    total = sum(weight.values())
    joint = source_joint(0.5, np.array([0.9, 0.5]), (3, 1), 0.25, np.array([0.6, 1.0]))
    target, (source, _) = joint_decompositions(joint, ("care", "topic"), (("a", "b"), ("e", "h")))
    assert target == pytest.approx(float((weight[0, True] + weight[1, True]) / total))
    for z in (0, 1):
        mass = weight[z, True] + weight[z, False]
        assert source.prior[z] == pytest.approx(float(mass / total))
        assert source.conditional[z] == pytest.approx(float(weight[z, True] / mass))


def test_diagnostic_truth_by_enumeration() -> None:
    """Catches a finding that counts when it is absent, and a test averaged over the prior instead of the posterior."""
    prior, findings = np.array([0.2, 0.5, 0.3]), np.array([[0.9, 0.2, 0.4], [0.3, 0.6, 0.5]])
    seen, test, group = np.array([True, False]), np.array([[0.8, 0.6], [0.3, 0.1], [0.5, 0.5]]), np.full((3, 2), 0.5)
    mass = np.zeros((3, 2))
    for d, g in product(range(3), range(2)):
        mass[d, g] = prior[d] * findings[0, d] * (1 - findings[1, d]) * group[d, g]
    joint = diagnostic_joint(prior, findings, seen, test, group)
    target, (disorder, subgroup) = joint_decompositions(joint, ("d", "g"), (("1", "2", "3"), ("y", "o")))
    assert target == pytest.approx((mass * test).sum() / mass.sum())
    assert disorder.prior == pytest.approx(mass.sum(axis=1) / mass.sum())
    for part in (disorder, subgroup):
        assert part.prior @ part.conditional == pytest.approx(target)


def test_causal_truth_from_a_table_of_counts() -> None:
    """Adjusting for z is not conditioning on x: catches P(z | x) in place of P(z)."""
    counts = np.array([[[10, 30], [5, 5]], [[20, 20], [8, 2]]])
    do, observed, prior, conditional = causal_values(counts, 0)
    assert prior == pytest.approx([50 / 100, 50 / 100])
    assert conditional == pytest.approx([30 / 40, 20 / 40])
    assert (do, observed) == (pytest.approx(0.625), pytest.approx(50 / 80))
    do, observed, *_ = causal_values(np.array([[[9, 1], [10, 40]], [[30, 10], [1, 9]]]), 0)
    assert do == pytest.approx((60 * 0.1 + 50 * 0.25) / 110)
    assert observed == pytest.approx(11 / 50)


def residuals(responder: CoherenceResponder, **options) -> np.ndarray:
    """Residuals (instances, wordings) of the logged probabilities, without clip or rounding of note."""
    exact = dataclasses.replace(responder, digits=6)
    settings = LatentCoherence((exact,), units=120, causal=0, reworded=120, **options)
    logs = simulate_latent_coherence(np.random.default_rng(5), settings)
    rows = logs.tables[0][1].to_pandas()
    target = rows[rows["role"] == "target"].set_index(["unit", "wording"])["probability"]
    parts = rows[rows["role"] != "target"].pivot_table(
        index=["unit", "wording", "identity", "state"], columns="role", values="probability"
    )
    implied = (parts["latent"] * parts["conditional"]).groupby(["unit", "identity", "wording"]).sum().unstack()
    odds = np.log(implied / (1 - implied))
    direct = np.log(target / (1 - target)).unstack()
    return (direct.reindex(odds.index.get_level_values("unit")).to_numpy() - odds).to_numpy(), logs.truth


def test_residuals_are_those_of_the_truth_file() -> None:
    """Without noise every residual is the persistent one: catches a shift that misses the decomposition wanted."""
    found, truth = residuals(CoherenceResponder("simulated/x", spread=0.3, lean=0.1, noise=0.0))
    these = truth["simulated/x"]["instances"]["these"]
    assert these["instances"] == len(found)
    assert np.sqrt((found**2).mean()) == pytest.approx(these["persistent"], abs=2e-3)
    assert found.mean() == pytest.approx(these["direction"], abs=2e-3)
    assert np.ptp(found, axis=1).max() < 0.02


@pytest.mark.parametrize("kind", ["gaussian", "mostly_zero"])
def test_noise_has_the_size_asked_for(kind: str) -> None:
    """Catches noise whose parts in the direct answer and the decomposition do not add up."""
    found, truth = residuals(CoherenceResponder("simulated/x", spread=0.0, noise=0.4, noise_kind=kind))
    expected = truth["simulated/x"]["instances"]["these"]["noise"]
    assert np.sqrt(found.var(axis=1, ddof=1).mean()) == pytest.approx(expected, rel=0.15)


def test_full_size_has_the_rows_that_it_names() -> None:
    """3,198 items × 3 wordings × 5 queries × 7 models = 335,790: catches a second identity or a third state."""
    logs = simulate_latent_coherence(np.random.default_rng(1), full_size())
    assert logs.rows == 335_790
    assert len(logs.tables) == len(RESPONDERS) == 7


def test_command_writes_labelled_logs_and_refuses_nonsense(tmp_path: Path, capsys) -> None:
    """Catches rows without the label, and a traceback for an unknown responder."""
    out = tmp_path / "logs"
    args = ["simulate", str(out), "--study", "latent-coherence", "--units", "6", "--responders", "coherent"]
    assert main([*args, "--causal", "1"]) == 0
    rows = [json.loads(line) for line in (out / "simulated-coherent.jsonl").read_text().splitlines()]
    assert all(row["simulated"] for row in rows)
    assert {"target", "latent", "conditional", "do", "observational"} == {row["role"] for row in rows}
    assert main(["simulate", str(tmp_path / "b"), "--study", "latent-coherence", "--responders", "coherant"]) != 0
    assert "coherent" in capsys.readouterr().err
    assert main(["simulate", str(tmp_path / "c"), "--study", "latent-coherence", "--models", "3"]) != 0
    with pytest.raises(AnalysisError, match="noise_kind"):
        CoherenceResponder("simulated/x", noise_kind="cauchy")
    with pytest.raises(AnalysisError, match="identities"):
        LatentCoherence(identities=3)
