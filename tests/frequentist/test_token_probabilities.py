"""Estimates from token probabilities: DeLong by hand, clusters, bias without a threshold, degenerate classes."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from analysis.frequentist.calibration import probability_errors, reliability_curve
from analysis.frequentist.token_probabilities import (
    ANSWERS,
    CHOSEN,
    ONE_CLASS,
    ONE_UNIT,
    TOKENS,
    token_probability_estimates,
)


def questions(p, truth, unit=None) -> pd.DataFrame:
    p, truth = np.asarray(p, float), np.asarray(truth, float)
    unit = np.arange(len(p)) if unit is None else np.asarray(unit)
    right = np.where(p == 0.5, 0.0, (p > 0.5) == (truth == 1))
    columns = {"model": "m", "unit": unit.astype(str), "truth": truth, "probability": p, "right": right}
    return pd.DataFrame(columns)


def row(table: pd.DataFrame, measure: str, based_on: str = TOKENS) -> pd.Series:
    return table[(table["measure"] == measure) & (table["based_on"] == based_on)].iloc[0]


def drawn(n: int = 80, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return np.round(rng.beta(2, 2, n) * 0.7 + 0.3 * truth * rng.random(n), 2), truth


def test_area_of_independent_questions_has_delongs_variance() -> None:
    """Catches a variance of one class left out, or halved: Wilson's limits are undone to the standard error."""
    p, truth = drawn()
    found = row(token_probability_estimates(questions(p, truth)), "auc")
    yes, no = p[truth == 1], p[truth == 0]
    wins = (yes[:, None] > no) + 0.5 * (yes[:, None] == no)
    area = wins.mean()
    variance = wins.mean(axis=1).var(ddof=1) / len(yes) + wins.mean(axis=0).var(ddof=1) / len(no)
    assert found["estimate"] == pytest.approx(area)
    n_eff = area * (1 - area) / variance
    parts = [wins.mean(axis=k).var(ddof=1) / wins.shape[1 - k] for k in (0, 1)]
    df = sum(parts) ** 2 / sum(part**2 / 39 for part in parts)
    low = found["ci_low"]
    assert (area - low) / np.sqrt(low * (1 - low) / n_eff) == pytest.approx(student.ppf(0.975, df), rel=1e-6)


def test_repeating_every_question_within_its_unit_changes_nothing() -> None:
    """Catches rows taken as independent."""
    p, truth = drawn()
    plain = token_probability_estimates(questions(p, truth))
    twice = token_probability_estimates(questions(np.repeat(p, 2), np.repeat(truth, 2), np.repeat(np.arange(80), 2)))
    ours, theirs = (t[t["based_on"] == TOKENS].reset_index(drop=True) for t in (plain, twice))
    for name in ("estimate", "ci_low", "ci_high"):
        np.testing.assert_allclose(ours[name].to_numpy(float), theirs[name].to_numpy(float), rtol=1e-9)
    assert twice["n"].eq(160).all()
    assert twice["n_clusters"].eq(80).all()


def test_a_lean_of_the_tokens_is_no_loss_of_discrimination() -> None:
    """Right order, all of it above .5: area 1, answers always yes, and the threshold that would help."""
    rng = np.random.default_rng(2)
    truth = np.arange(60) % 2
    p = np.where(truth == 1, 0.9, 0.6) + rng.uniform(-0.04, 0.04, 60)
    table = token_probability_estimates(questions(p, truth))
    assert row(table, "auc")["estimate"] == 1
    assert 0.8 < row(table, "auc")["ci_low"] < 1
    assert row(table, "answer_bias", ANSWERS)["estimate"] == 1
    assert row(table, "answer_bias")["estimate"] == pytest.approx(0.9 - 0.4, abs=0.03)
    cut = row(table, "even_threshold")
    assert 0.56 < cut["ci_low"] < cut["estimate"] < cut["ci_high"] < 0.94, "within the scores, without .5"
    assert 0.64 < cut["estimate"] < 0.86
    assert row(table, "even_accuracy")["estimate"] == 1
    assert row(table, "even_accuracy")["reason"] == CHOSEN


def test_even_cut_of_tokens_without_lean_lies_about_a_half() -> None:
    """Catches limits with the sign of the bias exchanged: they would not hold the threshold of the truth."""
    rng = np.random.default_rng(3)
    truth = np.arange(400) % 2
    p = 1 / (1 + np.exp(-(rng.normal(0, 1, 400) + np.where(truth == 1, 0.8, -0.8))))
    cut = row(token_probability_estimates(questions(p, truth)), "even_threshold")
    assert cut["ci_low"] < 0.5 < cut["ci_high"]
    assert cut["ci_high"] - cut["ci_low"] < 0.2


@pytest.mark.parametrize(
    ("truth", "unit", "reason"),
    [([1, 1, 1, 1], [0, 1, 2, 3], ONE_CLASS), ([1, 1, 0, 0], [0, 1, 2, 2], ONE_UNIT)],
)
def test_degenerate_classes_have_reasons(truth: list[int], unit: list[int], reason: str) -> None:
    table = token_probability_estimates(questions([0.2, 0.8, 0.4, 0.1], truth, unit))
    for measure in ("auc", "even_threshold", "answer_bias", "competence_floor"):
        found = row(table, measure)
        assert found["reason"] == reason
        assert np.isnan(found["ci_low"])
    assert token_probability_estimates(questions([], [])).empty


def test_intervals_recover_the_truth_of_clustered_questions() -> None:
    """Catches intervals that take questions of a unit as independent, an AUC that a lean moves, and a bias that depends
    on a threshold: 40 data sets of 40 units of 10, log-odds N(1 +- .5, 1), half of the variance shared by the unit."""
    rng, sets, units, per_unit = np.random.default_rng(21), 40, 40, 10
    shape = (sets, units, per_unit)
    truth = np.broadcast_to(np.arange(units * per_unit).reshape(units, per_unit) % 2, shape)
    noise = np.sqrt(0.5) * (rng.standard_normal((sets, units, 1)) + rng.standard_normal(shape))
    z = 1.0 + (truth - 0.5) + noise
    parts = [
        questions(expit(z[i]).ravel(), truth[i].ravel(), np.repeat(np.arange(units), per_unit)).assign(
            model=f"m{i:02d}"
        )
        for i in range(sets)
    ]
    found = token_probability_estimates(pd.concat(parts, ignore_index=True))
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    mean = [expit(1.0 + side + nodes) @ weights / weights.sum() for side in (0.5, -0.5)]
    truths = {
        # The difference of two log-odds of different units is N(1, 2).
        "auc": norm.cdf(1 / np.sqrt(2)),
        "answer_bias": mean[0] + mean[1] - 1,
        "balanced_accuracy": (mean[0] + 1 - mean[1]) / 2,
        # Both classes are answered equally well where the log-odds are 1.
        "even_threshold": expit(1.0),
    }
    for measure, true in truths.items():
        own = found[(found["measure"] == measure) & (found["based_on"] == TOKENS)]
        covered = ((own["ci_low"] <= true) & (true <= own["ci_high"])).mean()
        assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / sets), measure
        assert own["estimate"].mean() == pytest.approx(true, abs=0.02), measure
        assert (own["ci_high"] - own["ci_low"]).mean() < 0.25, measure


def test_curve_of_calibrated_tokens_holds_the_truth() -> None:
    """Catches bins by rank for bins by value, and a sign turned round: truth is drawn from the probability."""
    rng = np.random.default_rng(22)
    units, per_unit = 60, 20
    p = expit(rng.standard_normal((units, 1)) + rng.standard_normal((units, per_unit))).ravel()
    truth = (rng.random(p.size) < p).astype(int)
    answers = questions(p, truth, np.repeat(np.arange(units), per_unit))
    curve = reliability_curve(answers, rng=rng, resamples=500)
    known = curve[curve["ci_low"].notna()]
    held = (known["ci_low"] <= known["mean_probability"]) & (known["mean_probability"] <= known["ci_high"])
    assert len(known) >= 8
    assert (~held).sum() <= 1
    errors = probability_errors(answers, rng=rng, resamples=500).iloc[0]
    assert errors["brier_low"] <= (p * (1 - p)).mean() <= errors["brier_high"]
    assert errors["bias_low"] <= 0 <= errors["bias_high"]
