"""Persistent residual, noise, spread and direction: known answers, identities, and what is undefined."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from analysis.frequentist.incoherence import LESS_THAN_NOISE, incoherence_estimates, median_estimates
from analysis.frequentist.incoherence_associations import centred_correlation, rank_correlation
from analysis.frequentist.incoherence_detection import detection_table, flip_tests, with_wording_effects
from analysis.frequentist.incoherence_differences import TAIL, pairwise_differences
from analysis.frequentist.incoherence_errors import causal_anomalies, error_means, with_groups
from analysis.frequentist.incoherence_means import grouped_means
from analysis.frequentist.incoherence_robustness import rank_changes, robustness
from analysis.frequentist.incoherence_tests import persistent_upper_bound, wording_flip_test
from analysis.frequentist.residual_noise import (
    carried_by_few,
    direction_squared,
    without_top_units,
    wording_effects,
)
from analysis.reduction.moments import instance_moments


def residuals(matrix: np.ndarray, *, model: str = "m", identities: int = 1) -> pd.DataFrame:
    """Rows of ``by_wording`` from residuals (instances, wordings); neighbouring instances share a unit."""
    rows = []
    for i, k in product(*map(range, matrix.shape)):
        if not np.isnan(matrix[i, k]):
            r = matrix[i, k]
            rows.append(
                {"model": model, "unit": f"u{i // identities:04d}", "identity": f"i{i % identities}",
                 "wording": f"w{k}",
                 "item_family": "f", "level": "l", "left": 1 / (1 + np.exp(-r)), "right": 0.5, "residual": r,
                 "difference": 0.1, "abs_residual": abs(r), "square": r**2, "abs_difference": 0.1, "tokens": 5.0 + k,
                 "at_clip_left": False, "at_clip_right": False, "truth": 0.5, "truth_gap": 0.0, "error_left": abs(r),
                 "error_right": 0.2}
            )  # fmt: skip
    return pd.DataFrame(rows)


def instances(matrix: np.ndarray, **options) -> pd.DataFrame:
    return instance_moments(residuals(matrix, **options), task="t")


def estimate(table: pd.DataFrame, measure: str) -> pd.Series:
    return table[table["measure"] == measure].iloc[0]


def estimates(matrix: np.ndarray, **options) -> pd.DataFrame:
    return incoherence_estimates(instances(matrix, **options), rng=np.random.default_rng(0), resamples=999)


def test_estimates_by_hand() -> None:
    """Two instances, (.2, .4) and (-.1, .1, .3): every product, variance and mean written out."""
    matrix = np.array([[0.2, 0.4, np.nan], [-0.1, 0.1, 0.3]])
    table = estimates(matrix)
    q = [0.2 * 0.4, np.mean([a * b for a, b in combinations((-0.1, 0.1, 0.3), 2)])]
    assert estimate(table, "persistent")["squared"] == pytest.approx(np.mean(q))
    assert estimate(table, "noise")["squared"] == pytest.approx(np.mean([0.02, 0.04]))
    assert estimate(table, "direction")["estimate"] == pytest.approx(np.mean([0.3, 0.1]))
    assert estimate(table, "mean_abs_residual")["estimate"] == pytest.approx(np.mean([0.3, 0.5 / 3]))
    assert estimate(table, "rms_residual")["squared"] == pytest.approx(np.mean([0.1, 0.11 / 3]))
    spread = np.mean(q) - 0.3 * 0.1
    assert estimate(table, "spread")["squared"] == pytest.approx(spread)
    assert median_estimates(instances(matrix), rng=np.random.default_rng(0))["estimate"].iloc[0] == pytest.approx(
        np.mean([0.3, 0.5 / 3])
    )


def test_persistent_is_spread_and_direction() -> None:
    """T = spread^2 + direction^2, the latter from products of different units: catches a plug-in square."""
    rng = np.random.default_rng(3)
    matrix = 0.2 + 0.3 * rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 3))
    table = estimates(matrix, identities=2)
    means = matrix.mean(axis=1).reshape(30, 2).sum(axis=1)
    d2 = (means.sum() ** 2 - (means**2).sum()) / (60**2 - 30 * 4)
    total = estimate(table, "persistent")["squared"]
    assert estimate(table, "spread")["squared"] == pytest.approx(total - d2)
    assert direction_squared(means, np.full(30, 2)) == pytest.approx(d2)


def test_one_wording_gives_sizes_and_no_persistence() -> None:
    """Catches a 0 or a NaN without reason where wordings were not repeated."""
    table = estimates(np.random.default_rng(0).normal(size=(20, 1)))
    assert np.isfinite(estimate(table, "mean_abs_residual")["ci_low"])
    for measure in ("persistent", "noise", "spread", "direction"):
        row = estimate(table, measure)
        assert np.isnan(row["estimate"])
        assert "two wordings" in row["reason"]


def test_single_unit_has_a_value_and_no_interval() -> None:
    """Catches an interval of zero width from one unit."""
    row = estimate(estimates(np.array([[0.1, 0.3, 0.2]])), "persistent")
    assert row["squared"] == pytest.approx(np.mean([0.03, 0.02, 0.06]))
    assert np.isnan(row["ci_low"])
    assert row["reason"] == "one unit only"


def test_identical_answers_are_coherent_without_an_interval() -> None:
    """Residuals of exactly 0: catches a division by a standard error of 0."""
    row = estimate(estimates(np.zeros((12, 3))), "persistent")
    assert row["estimate"] == 0
    assert np.isnan(row["ci_low"])
    assert row["reason"] != ""


def test_an_interval_below_zero_prints_a_bound_above_it() -> None:
    """Wordings that cancel within every instance give T < 0: catches [0, 0] as an interval."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=40) + 1
    matrix = np.stack([base, -base * 0.9, 0.02 * rng.normal(size=40)], axis=1)
    rows = residuals(matrix)
    table = instance_moments(rows, task="t")
    flips = flip_tests(rows, rng=np.random.default_rng(0), flips=999)
    found = incoherence_estimates(table, rng=np.random.default_rng(0), resamples=999, flips=flips)
    row = estimate(found, "persistent")
    assert row["squared_high"] < 0
    if np.isfinite(row["ci_high"]):
        assert row["ci_high"] > 0
        assert row["reason"] == LESS_THAN_NOISE
    else:
        assert row["reason"] == "less variable than noise: no interval"


def test_upper_bound_solves_its_equation_and_grows_with_the_noise() -> None:
    """Catches a bound below the estimate, and one that forgets the variance that a larger T brings."""
    rng = np.random.default_rng(5)
    small, large = (s * rng.normal(size=(60, 3)) for s in (0.1, 0.3))
    bounds = []
    for matrix in (small, large):
        test = wording_flip_test(matrix, np.arange(60), rng=np.random.default_rng(0), flips=999)
        bounds.append(persistent_upper_bound(test, matrix.var(axis=1, ddof=1), np.full(60, 3)))
        assert bounds[-1] > test.estimate
    assert bounds[1] > 3 * bounds[0]


def test_sign_flips_agree_with_full_enumeration() -> None:
    """Three units in two wordings: 8 patterns; catches flips of rows instead of unit × wording."""
    matrix = np.array([[0.5, 0.4], [0.3, 0.6], [0.2, -0.1], [0.1, 0.3]])
    units = np.array([0, 0, 1, 2])
    q = np.array([np.prod(matrix[units == g], axis=1).sum() for g in range(3)])
    patterns = [sum(s * v for s, v in zip(signs, q, strict=True)) for signs in product((1, -1), repeat=3)]
    exact = np.mean(np.array(patterns) >= q.sum() - 1e-12)
    test = wording_flip_test(matrix, units, rng=np.random.default_rng(0), flips=40_000)
    assert test.estimate == pytest.approx(q.sum() / 4)
    assert test.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000))
    assert "cannot give a p-value below 0.125" in test.reason


def test_flips_do_not_depend_on_the_order_of_wordings_or_signs() -> None:
    """A lean of all residuals to one side and the mirrored one have the same evidence."""
    rng = np.random.default_rng(2)
    matrix = 0.2 + 0.3 * rng.normal(size=(50, 3))
    one, mirrored = (wording_flip_test(m, np.arange(50), rng=np.random.default_rng(0), flips=2000)
                     for m in (matrix, -matrix))  # fmt: skip
    assert (one.estimate, one.p_value) == (pytest.approx(mirrored.estimate), mirrored.p_value)


def test_wording_effects_move_new_wordings_and_not_these() -> None:
    """b = (.3, -.3, 0) shifts T by - sum b^2 / (k (k - 1)) = -.03: catches effects left in, or a wrong factor."""
    rng = np.random.default_rng(4)
    mu = 0.1 * rng.normal(size=(4000, 1))
    matrix = mu + 0.1 * rng.normal(size=(4000, 3)) + np.array([0.3, -0.3, 0.0])
    found = wording_effects(matrix)
    assert found.effects == pytest.approx([0.3, -0.3, 0.0], abs=0.01)
    assert found.products.mean() == pytest.approx((mu**2).mean(), abs=0.001)
    table = estimates(matrix[:500])
    assert estimate(table, "persistent")["squared"] == pytest.approx((mu[:500] ** 2).mean() - 0.03, abs=0.004)
    n, k = matrix.shape
    centred = matrix - matrix.mean(axis=1, keepdims=True) - matrix.mean(axis=0) + matrix.mean()
    by_hand = (matrix.mean(axis=1) ** 2).mean() - (centred**2).sum() / ((n - 1) * (k - 1)) / k
    assert found.products.mean() == pytest.approx(by_hand)
    assert wording_effects(np.array([[0.1, np.nan], [0.2, 0.3]])) is None


def test_detection_table_flags_few_units() -> None:
    """Three units with everything: TAIL, and almost nothing without them."""
    rng = np.random.default_rng(8)
    matrix = 0.05 * rng.normal(size=(60, 3))
    matrix[:3] += 2
    rows = residuals(matrix)
    table = instance_moments(rows, task="t")
    table, effects = with_wording_effects(table, rows)
    found = incoherence_estimates(table, rng=rng, resamples=999)
    row = detection_table(table, flip_tests(rows, rng=rng, flips=999), found).iloc[0]
    assert bool(row["tail"])
    assert row["without_top"] < 0.05
    assert len(effects) == 3
    assert without_top_units([5.0, 1, 1, 1, 1], np.ones(5), top=1) == 1
    assert carried_by_few([5.0, 0.1, 0.1, 0.1, 0.1], np.ones(5), top=1)
    assert not carried_by_few(np.ones(10), np.ones(10))


def test_rank_correlation_is_spearmans_with_a_jackknifed_error() -> None:
    """Agrees with scipy, and its linearised error with the jackknife over units: catches ranks taken as fixed."""
    rng = np.random.default_rng(6)
    unit = np.repeat(np.arange(150), 2)
    shared = rng.normal(size=150)[unit]
    x, y = shared + rng.normal(size=300), 0.6 * shared + rng.normal(size=300)
    found = rank_correlation(x, y, unit)
    assert found.estimate == pytest.approx(spearmanr(x, y).statistic)
    left = [spearmanr(x[unit != g], y[unit != g]).statistic for g in range(150)]
    jackknife = np.sqrt(149 / 150 * ((np.array(left) - np.mean(left)) ** 2).sum())
    assert found.std_error == pytest.approx(jackknife, rel=0.03)
    assert rank_correlation([1, 1, 1, 1], [1, 2, 3, 4], [0, 1, 2, 3]).reason != ""


def test_centred_correlation_removes_what_instances_differ_by() -> None:
    """Instances that differ on both sides, wordings that do not: catches the correlation across instances."""
    rng = np.random.default_rng(9)
    instance = np.repeat(np.arange(100), 3)
    level = 5 * rng.normal(size=100)[instance]
    x, y = level + rng.normal(size=300), level + rng.normal(size=300)
    found = centred_correlation(x, y, instance, instance)
    assert abs(found.estimate) < 0.2
    a, b = (v - pd.Series(v).groupby(instance).transform("mean") for v in (x, y))
    assert found.estimate == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert found.ci_low < 0 < found.ci_high


def two_models(shift: float, *, heavy: bool = False, n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(10)
    a, b = (0.3 * rng.normal(size=(n, 3)) for _ in range(2))
    if heavy:
        a[:4] += 6
    return pd.concat([instances(a + shift, model="a"), instances(b, model="b")], ignore_index=True)


def test_pairs_of_models() -> None:
    """Difference, p-value at its floor, and companions: catches a sign turned round and a p of 0."""
    table = pairwise_differences(two_models(1.0), rng=np.random.default_rng(0), flips=999, resamples=999)
    row = table.iloc[0]
    assert row["estimate"] > 0.5
    assert row["p_value"] == pytest.approx(row["resolution"])
    assert row["p_value"] > 0
    assert row["share_worse"] > 0.9
    assert (row["n_clusters"], row["n_dropped"], row["family_size"]) == (90, 0, 1)
    squares = pairwise_differences(
        two_models(1.0), rng=np.random.default_rng(0), flips=999, resamples=999, squared=True
    ).iloc[0]
    assert squares["estimate"] == pytest.approx(1.0, abs=0.15)


def test_differences_that_lean_on_few_units_are_flagged() -> None:
    """Four units of ninety carry everything: median near 0, flag TAIL."""
    row = pairwise_differences(
        two_models(0.0, heavy=True), rng=np.random.default_rng(0), flips=999, resamples=999
    ).iloc[0]
    assert row["flag"] == TAIL
    assert abs(row["median"]) < 0.1 < row["estimate"]


def test_only_shared_units_are_compared() -> None:
    """Catches units of one model that enter a paired difference."""
    table = two_models(0.0)
    table = table[~((table["model"] == "b") & (table["unit"] < "u0010"))]
    row = pairwise_differences(table, rng=np.random.default_rng(0), flips=999, resamples=999).iloc[0]
    assert (row["n_clusters"], row["n_dropped"]) == (80, 10)
    assert pairwise_differences(table[table["model"] == "a"], rng=np.random.default_rng(0)).empty


def test_adjusted_p_values_of_few_units_are_no_bounds() -> None:
    """Three models on five units, where all signs are enumerated.

    Catches a smallest possible value after Holm above the value itself, on which no table could be printed.
    """
    rng = np.random.default_rng(1)
    sides = [instances(rng.normal(shift, 1, (5, 2)), model=model) for model, shift in (("a", 0), ("b", 9), ("c", 18))]
    table = pairwise_differences(pd.concat(sides), rng=np.random.default_rng(0), flips=99, resamples=99)
    assert table["p_value"].tolist() == [2 / 2**5] * 3
    assert table[["resolution", "floor_adjusted", "bonferroni_floor"]].isna().all(axis=None)
    assert table["p_adjusted"].tolist() == pytest.approx([6 / 2**5] * 3)


def test_equal_differences_have_no_shape() -> None:
    """Models 3 apart on every unit: catches a skewness made of last digits, with a warning on the screen."""
    shared = np.random.default_rng(1).uniform(1, 2, (8, 2))
    sides = [instances(shared + shift, model=model) for model, shift in (("a", 3.0), ("b", 0.0))]
    row = pairwise_differences(pd.concat(sides), rng=np.random.default_rng(0), flips=99, resamples=99).iloc[0]
    assert row["estimate"] == pytest.approx(3)
    assert (row["skewness"], row["flag"]) == (0, "")


def test_squares_are_compared_on_instances_that_both_have_in_two_wordings() -> None:
    """Catches a d_z that counts an instance of one model, and units of both in one wording called units of one."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.5, 0.3, (2, 10, 2))
    a[8:, 1] = b[8:, 1] = b[1, 1] = np.nan
    tables = [instances(side, model=model, identities=2) for side, model in ((a, "a"), (b, "b"))]
    row = pairwise_differences(
        pd.concat(tables), rng=np.random.default_rng(0), flips=99, resamples=99, squared=True
    ).iloc[0]
    gap = np.delete(a.prod(axis=1) - b.prod(axis=1), [1, 8, 9])
    units = np.array([gap[0], *gap[1:].reshape(3, 2).mean(axis=1)])
    assert (row["n_clusters"], row["n_dropped"]) == (4, 0)
    assert row["estimate"] == pytest.approx(gap.mean())
    assert row["d_z"] == pytest.approx(units.mean() / units.std(ddof=1))


def test_errors_by_coherence_and_closer() -> None:
    """|r| of .05, .3, 1 are coherent, between, incoherent; ties count half."""
    table = instances(np.array([[0.05], [0.3], [1.0], [0.2]]))
    grouped = with_groups(table)
    assert list(grouped["coherence"]) == ["coherent", "between", "incoherent", "between"]
    assert list(grouped["implied_closer"]) == [0.0, 1.0, 1.0, 0.5]
    means = error_means(table, by=("model",), rng=np.random.default_rng(0), resamples=99)
    assert estimate(means, "implied_closer")["estimate"] == pytest.approx(0.625)
    assert "fewer than 5 units" in estimate(means, "error_left")["reason"]


def test_limits_of_sizes_and_shares_stay_possible() -> None:
    """Skewed sizes and large shares of 40 units: catches a lower end below 0, and a share above 1."""
    x, share = [*np.linspace(0, 0.1, 39), 3], [1.0] * 34 + [0, 0, 0.5, 0, 0, 1]
    table = pd.DataFrame({"model": "m", "unit": [f"u{i}" for i in range(40)], "x": x, "s": share})
    found = grouped_means(table, {"x": "x", "s": "s"}, by=("model",), rng=np.random.default_rng(0), resamples=999)
    assert 0 <= estimate(found, "x")["ci_low"] < estimate(found, "x")["estimate"]
    assert estimate(found, "s")["estimate"] < estimate(found, "s")["ci_high"] <= 1


def test_robustness_names_rank_changes() -> None:
    """A model at 0 and 1 moves with the clip: catches ranks of one clip printed for another."""
    a, b = residuals(np.full((5, 1), 1.0), model="a"), residuals(np.full((5, 1), 0.9), model="b")
    b = b.assign(left=0.999, right=0.98)
    a = a.assign(left=0.6, right=0.4)
    table = robustness(pd.concat([a, b]), clip=0.01)
    assert table.set_index("model").loc["b", "one_at_clip"] == 1
    assert rank_changes(table, {})["clip_0.001"] == ["b 1 to 2", "a 2 to 1"]
    assert "clip_0.01" not in rank_changes(table, {})


def test_median_gap_is_that_of_instances() -> None:
    """One instance in five wordings beside two in one: catches a median in which the five count five times."""
    rows = residuals(np.array([[0.1] * 5, [0.2] + [np.nan] * 4, [0.3] + [np.nan] * 4]))
    gap = rows["unit"].map({"u0000": 0.4, "u0001": 0.1, "u0002": 0.2})
    table = robustness(rows.assign(left=0.5 + gap, right=0.5), clip=0.01)
    assert table["median_points"].tolist() == pytest.approx([0.2])


def test_causal_anomalies_need_values_apart() -> None:
    """An answer at the observational value is anomalous only where the causal value differs from it."""
    rows = residuals(np.array([[0.1], [0.2], [0.3]])).assign(left=[0.60, 0.50, 0.60], truth=[0.50, 0.50, 0.605])
    observed = pd.DataFrame({"unit": ["u0000", "u0001", "u0002"], "truth": [0.595, 0.6, 0.6]})
    found = causal_anomalies(rows, observed).set_index("unit")["anomalous"]
    assert bool(found["u0000"])
    assert found["u0001"] is False or not bool(found["u0001"])
    assert found["u0002"] is None


def test_order_of_rows_changes_nothing() -> None:
    """Catches resampling by position."""
    rows = residuals(np.random.default_rng(0).normal(size=(30, 3)))
    tables = [
        incoherence_estimates(instance_moments(r, task="t"), rng=np.random.default_rng(0), resamples=499)
        for r in (rows, rows.sample(frac=1, random_state=1))
    ]
    pd.testing.assert_frame_equal(*tables)
