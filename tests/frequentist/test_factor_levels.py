"""Levels of a factor: known answers by hand, reference values of selection, degenerate designs."""

import numpy as np
import pytest
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.frequentist.factor_levels import baseline_differences, level_estimates, level_spread, treated
from analysis.frequentist.simultaneous import largest_contrast
from analysis.frequentist.template_levels import MEAN_ABSOLUTE, expected_majority, template_summaries
from analysis.reduction.levels import LevelArrays

FOUR = ("VA", "VN", "IA", "IN")


def arrays(answered: np.ndarray, correct: np.ndarray, cells=FOUR) -> LevelArrays:
    m, g, k, _ = answered.shape
    names = [tuple(f"{p}{i}" for i in range(n)) for p, n in (("m", m), ("u", g), ("l", k))]
    nothing = np.zeros_like(answered, dtype=float)
    return LevelArrays("f", *names, cells, answered.astype(float), nothing, correct.astype(float), nothing, 0)


def crossed(rng, m=2, g=40, k=3, p=0.6, per=5, shift=0.0) -> LevelArrays:
    n = np.full((m, g, k, 4), per)
    chance = np.broadcast_to(p + shift * (np.arange(k) == 0)[:, None], n.shape)
    return arrays(n, rng.binomial(per, chance))


def test_measures_of_a_level_worked_by_hand():
    """Catches affirmative and negated exchanged, and bias that weighs responses instead of cells."""
    n = np.array([[[[4, 2, 2, 2]], [[4, 2, 2, 2]]]])
    y = np.array([[[[4, 0, 1, 2]], [[2, 0, 1, 2]]]])
    rows = level_estimates(treated(arrays(n, y))).set_index("measure")["estimate"]
    assert rows["accuracy"] == pytest.approx(12 / 20)
    assert rows["acc_affirmative"] == pytest.approx(8 / 12)
    assert rows["acc_negated"] == pytest.approx(4 / 8)
    assert rows["acc_difference"] == pytest.approx(8 / 12 - 4 / 8)
    assert rows["answer_bias"] == pytest.approx((0.75 + 1) / 2 - (0 + 0.5) / 2)
    assert rows["polarity_sensitivity"] == pytest.approx((0.75 + 0.5 - 0 - 1) / 2)


def test_pooled_rows_weigh_responses_of_all_models():
    """Catches a mean over models in the place of all responses together."""
    n = np.ones((2, 3, 1, 4), int)
    n[1] = 3
    y = n.copy()
    y[1] = 0
    rows = level_estimates(treated(arrays(n, y)), pooled=True)
    assert rows.loc[rows["measure"] == "accuracy", "estimate"].item() == pytest.approx(0.25)


def test_a_level_without_a_cell_has_no_bias_and_says_why():
    """Catches a bias made of the cells that happen to be there."""
    n = np.ones((1, 4, 1, 4), int)
    n[..., 3] = 0
    rows = level_estimates(treated(arrays(n, n))).set_index("measure")
    assert np.isnan(rows.loc["answer_bias", "estimate"])
    assert rows.loc["answer_bias", "reason"]
    assert rows.loc["accuracy", "estimate"] == 1


def test_range_is_that_of_the_level_means_and_a_shift_is_found():
    """Catches a range over models, and p-values that do not see a level that is .3 apart."""
    rng = np.random.default_rng(1)
    data = treated(crossed(rng, m=1, shift=0.3))
    row = level_spread(data, rng=rng, permutations=500).iloc[0]
    means = (data.y.sum(-1) / data.n.sum(-1)).mean(axis=1)[0]
    assert row["estimate"] == pytest.approx(means.max() - means.min())
    assert row["p_value"] == pytest.approx(1 / 501)
    assert row["null_range"] < row["estimate"] / 3


def test_largest_contrast_agrees_with_the_normal_distribution():
    """Catches draws that are not shared over contrasts of a unit: independent and identical contrasts, exactly.

    With Q independent contrasts the pointwise level is .95 ** (1 / Q); with Q copies of one it is .95.
    """
    rng = np.random.default_rng(2)
    values = rng.normal(size=(1, 3, 4000))
    values -= values.mean(axis=-1, keepdims=True)
    values[0] = np.linalg.qr(values[0].T)[0].T * np.sqrt(4000)
    zero, one, df = np.zeros((1, 3)), np.ones((1, 3)), np.full((1, 3), 1e6)
    found = largest_contrast(values, zero, one, df, rng=rng, draws=40_000)
    quantile, expected = (norm.isf((1 - x) / 2) for x in (found.pointwise_level[0], 0.95 ** (1 / 3)))
    assert quantile == pytest.approx(expected, abs=0.03)
    same = largest_contrast(np.repeat(values[:, :1], 3, axis=1), zero, one, df, rng=rng, draws=40_000)
    assert norm.isf((1 - same.pointwise_level[0]) / 2) == pytest.approx(1.96, abs=0.03)
    assert same.null_largest[0] == pytest.approx(MEAN_ABSOLUTE, abs=0.02)


def test_baseline_differences_point_away_from_the_baseline():
    """Catches baseline minus level, and limits of single levels in the place of simultaneous ones."""
    rng = np.random.default_rng(3)
    data = treated(crossed(rng, m=2, shift=0.2))
    found = baseline_differences(data, "l1", rng=rng, draws=2000)
    means = data.y.sum(axis=(1, 3)) / data.n.sum(axis=(1, 3))
    rows = found.rows.set_index(["model", "level"])
    assert rows.loc[("m0", "l0"), "estimate"] == pytest.approx(means[0, 0] - means[0, 1])
    assert set(found.rows["level"]) == {"l0", "l2"}
    width = rows.loc[("m0", "l0"), "ci_high"] - rows.loc[("m0", "l0"), "ci_low"]
    assert width > 2 * 2.0 * rows.loc[("m0", "l0"), "std_error"]
    assert (found.reference.pointwise_level > 0.95).all()
    assert found.reference.all_null >= found.reference.null_largest.max()


def test_unknown_baseline_is_refused():
    """Catches a first level taken where the declared one is missing."""
    with pytest.raises(AnalysisError, match="nobody"):
        baseline_differences(treated(crossed(np.random.default_rng(0))), "nobody", rng=np.random.default_rng(0))


@pytest.mark.parametrize("value", [0, 1])
def test_constant_answers_are_defined(value):
    """Catches division by zero where nothing varies."""
    n = np.full((2, 10, 2, 4), 3)
    data = treated(arrays(n, n * value))
    spread = level_spread(data, rng=np.random.default_rng(0), permutations=100)
    assert (spread["p_value"] == 1).all()
    assert spread["reason"].ne("").all()
    found = baseline_differences(data, "l0", rng=np.random.default_rng(0), draws=100)
    assert (found.rows["estimate"] == 0).all()
    assert level_estimates(data)["ci_low"].notna().all()


def test_templates_worked_by_hand():
    """Catches |mean bias| in the place of mean |bias|, and the direction of a tie."""
    n = np.zeros((3, 6, 1, 4), int)
    n[..., :2] = 2
    y = n.copy()
    y[0, :, :, 1] = 0
    y[1, :, :, 0] = 0
    y[2, :3, :, 1] = 1
    row = template_summaries(treated(arrays(n, y))).iloc[0]
    assert row["validity"] == "valid"
    assert row["abs_bias"] == pytest.approx((1 + 1 + 0.25) / 3)
    assert row["polarity"] == pytest.approx((1 - 1 + 0.25) / 3)
    assert row["agree"] == pytest.approx(2 / 3)
    assert row["accuracy"] == pytest.approx(y.sum() / n.sum())


def test_majority_expected_of_coins():
    """Catches a majority of one half: with three coins it is (3 + 3 * 2 + ...) / 8 of 3, by hand .75."""
    assert expected_majority(3) == pytest.approx(0.75)
    assert expected_majority(1) == 1
