"""Cluster-robust variance and degrees of freedom, against dense matrices and classical formulas."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from analysis.errors import AnalysisError
from analysis.frequentist.clustered import clustered_contrasts

BIAS = np.array([[0.5, -0.5, -0.5, 0.5]])
WEIGHTS = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0], [0.5, -0.5, -0.5, 0.5], [1, 0, 0, 0]])


def rows_of(n: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Design matrix, outcomes and unit of every single response."""
    design, outcome, unit = [], [], []
    for g, c in np.ndindex(n.shape):
        for j in range(n[g, c]):
            design.append(np.eye(n.shape[1])[c])
            outcome.append(float(j < y[g, c]))
            unit.append(g)
    return np.array(design), np.array(outcome), np.array(unit)


def dense_cr2(n: np.ndarray, y: np.ndarray, ell: np.ndarray) -> tuple[float, float]:
    """CR2 variance and Bell-McCaffrey degrees of freedom from the full hat matrix."""
    x, outcome, unit = rows_of(n, y)
    bread = np.linalg.inv(x.T @ x)
    annihilator = np.eye(len(x)) - x @ bread @ x.T
    vectors = []
    for g in np.unique(unit):
        inside = np.flatnonzero(unit == g)
        values, basis = np.linalg.eigh(annihilator[np.ix_(inside, inside)])
        adjusted = np.zeros(len(x))
        adjusted[inside] = basis @ np.diag(values**-0.5) @ basis.T @ x[inside] @ bread @ ell
        vectors.append(annihilator @ adjusted)
    p = np.array(vectors) @ np.array(vectors).T
    return float(sum((v @ outcome) ** 2 for v in vectors)), float(np.trace(p) ** 2 / np.trace(p @ p))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("row", range(len(WEIGHTS)))
def test_variance_and_df_equal_the_dense_computation(seed: int, row: int) -> None:
    """Unbalanced units that serve several cells: any slip in the closed forms shows here."""
    rng = np.random.default_rng(seed)
    n = rng.integers(0, 6, (8, 4))
    n[0] = 3  # one unit serves all cells, so that the design is one component
    y = rng.binomial(n, 0.6)
    found = clustered_contrasts(n, y, WEIGHTS)
    variance, df = dense_cr2(n, y, WEIGHTS[row])
    assert found.variance[row] == pytest.approx(variance, rel=1e-10)
    assert found.df[row] == pytest.approx(df, rel=1e-10)


def test_equal_units_give_the_sample_variance_over_g() -> None:
    rng = np.random.default_rng(4)
    n = np.full((12, 4), 5)
    y = rng.binomial(n, 0.7)
    found = clustered_contrasts(n, y, WEIGHTS)
    values = (y / 5) @ WEIGHTS.T
    np.testing.assert_allclose(found.covariance, np.cov(values.T) / 12, rtol=1e-12)
    np.testing.assert_allclose(found.df, 11, rtol=1e-12)
    np.testing.assert_allclose(found.design_units, 12, rtol=1e-12)


def test_units_of_one_class_give_welch() -> None:
    """Items with one gold answer each: zero covariance, Welch's df; G - 1 of all items would be 36."""
    rng = np.random.default_rng(5)
    yes, no = rng.random(30) < 0.8, rng.random(7) < 0.4
    n, y = np.zeros((37, 2)), np.zeros((37, 2))
    n[:30, 0], n[30:, 1], y[:30, 0], y[30:, 1] = 1, 1, yes, no
    found = clustered_contrasts(n, y, [[1, -1], [1, 0], [0, 1]])
    test = stats.ttest_ind(yes.astype(float), no.astype(float), equal_var=False)
    assert found.df[0] == pytest.approx(test.df, rel=1e-12)
    assert found.estimate[0] / np.sqrt(found.variance[0]) == pytest.approx(test.statistic, rel=1e-12)
    assert found.covariance[1, 2] == 0
    np.testing.assert_allclose(found.df[1:], [29, 6], rtol=1e-12)


def test_statsmodels_cluster_covariance_up_to_its_factor() -> None:
    """Equal units: statsmodels without correction (CR0) is (G - 1) / G of ours."""
    rng = np.random.default_rng(6)
    n = np.full((9, 4), 3)
    y = rng.binomial(n, 0.5)
    x, outcome, unit = rows_of(n, y)
    fit = sm.OLS(outcome, x).fit(cov_type="cluster", cov_kwds={"groups": unit, "use_correction": False})
    found = clustered_contrasts(n, y, np.eye(4))
    np.testing.assert_allclose(found.estimate, fit.params, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, fit.cov_params() * 9 / 8, rtol=1e-9, atol=1e-15)


def test_two_components_are_combined_with_their_own_variances() -> None:
    """Templates are valid or invalid: AccYes = (VA + IN) / 2 rests on 3 and 4 templates, not on 7 - 1."""
    rng = np.random.default_rng(7)
    n = np.zeros((7, 4), dtype=int)
    n[:3, :2], n[3:, 2:] = 20, 20
    y = rng.binomial(n, 0.6)
    va, as_in = y[:3, 0] / 20, y[3:, 3] / 20
    parts = np.array([va.var(ddof=1) / 3, as_in.var(ddof=1) / 4]) / 4
    found = clustered_contrasts(n, y, WEIGHTS)
    assert found.variance[0] == pytest.approx(parts.sum(), rel=1e-12)
    assert found.df[0] == pytest.approx(parts.sum() ** 2 / (parts**2 / [2, 3]).sum(), rel=1e-12)


def test_identical_rows_add_no_information() -> None:
    """10 units asked 20 times with one answer each: as uncertain as 10 responses, not as 200."""
    one = np.array([1, 1, 1, 0, 1, 0, 1, 1, 0, 1.0])[:, None]
    many = clustered_contrasts(np.full((10, 1), 20), 20 * one, [[1]])
    single = clustered_contrasts(np.ones((10, 1)), one, [[1]])
    np.testing.assert_allclose(many.variance, single.variance, rtol=1e-12)
    assert many.variance[0] > 15 * 0.7 * 0.3 / 200


def test_leading_axes_and_shared_designs_agree() -> None:
    """Replicates with one design: computing df per replicate or once must not matter."""
    rng = np.random.default_rng(8)
    n = rng.integers(1, 5, (6, 4))
    y = rng.binomial(n, 0.5, (3, 2, 6, 4))
    shared = clustered_contrasts(n, y, WEIGHTS)
    repeated = clustered_contrasts(np.broadcast_to(n, y.shape), y, WEIGHTS)
    singly = clustered_contrasts(n, y[1, 1], WEIGHTS)
    for name in ("estimate", "covariance", "df", "design_units"):
        np.testing.assert_allclose(getattr(shared, name), getattr(repeated, name), rtol=1e-12)
        np.testing.assert_allclose(getattr(shared, name)[1, 1], getattr(singly, name), rtol=1e-12)


def test_models_with_different_designs_do_not_borrow_from_each_other() -> None:
    """The second model lacks units that link the cells; its df must be its own."""
    rng = np.random.default_rng(9)
    n = np.stack([np.full((6, 2), 2), np.array([[2, 0]] * 3 + [[0, 2]] * 3)])
    y = rng.binomial(n, 0.5)
    both = clustered_contrasts(n, y, [[1, -1]])
    for m in range(2):
        alone = clustered_contrasts(n[m], y[m], [[1, -1]])
        np.testing.assert_allclose(both.df[m], alone.df, rtol=1e-12)
        np.testing.assert_allclose(both.variance[m], alone.variance, rtol=1e-12)


def test_order_of_units_does_not_matter() -> None:
    rng = np.random.default_rng(10)
    n = rng.integers(0, 4, (15, 4))
    y = rng.binomial(n, 0.5)
    order = rng.permutation(15)
    a, b = clustered_contrasts(n, y, BIAS), clustered_contrasts(n[order], y[order], BIAS)
    np.testing.assert_allclose([a.estimate, a.variance, a.df], [b.estimate, b.variance, b.df], rtol=1e-12)


def test_empty_and_single_unit_groups_are_undefined_where_they_are_used() -> None:
    n = np.array([[2, 0, 1], [2, 3, 0], [1, 0, 0]])
    y = np.array([[1, 0, 1], [2, 1, 0], [0, 0, 0]])
    found = clustered_contrasts(n, y, [[1, 0, 0], [0, 1, 0], [1, -1, 0]])
    assert found.single.tolist() == [False, True, True]
    assert np.isfinite(found.estimate).all()
    assert np.isnan(found.variance).tolist() == [False, True, True]
    none = clustered_contrasts(np.array([[1, 0], [1, 0]]), np.array([[1, 0], [0, 0]]), [[1, 0], [1, -1]])
    assert none.empty.tolist() == [False, True]
    assert np.isnan(none.estimate).tolist() == [False, True]


def test_nothing_varies_gives_exactly_zero_and_finite_df() -> None:
    """Rounding of thirds must not leave a variance of 1e-33 that passes for evidence."""
    n = np.tile([[3, 6]], (7, 1))
    found = clustered_contrasts(n, n / 3, [[1, 0], [0.5, 0.5], [1, -1]])
    assert (found.variance == 0).all()
    np.testing.assert_allclose(found.df, 6)


def test_contrast_that_cancels_within_units_has_no_variance() -> None:
    rng = np.random.default_rng(11)
    y = np.repeat(rng.random((20, 1)), 2, axis=1)
    found = clustered_contrasts(np.ones((20, 2)), y, [[1, -1], [1, 0]])
    assert found.variance[0] == 0 < found.variance[1]


def test_one_heavy_unit_counts_for_less_than_its_number() -> None:
    """Effective units: 1 / (.5^2 + 10 * .05^2) = 3.64 for one unit with half of all rows among 11."""
    n = np.array([[10]] + [[1]] * 10)
    found = clustered_contrasts(n, n * 0, [[1]])
    assert found.design_units[0] == pytest.approx(1 / (0.25 + 10 * 0.0025), rel=1e-12)


def test_shapes_that_do_not_match_are_refused() -> None:
    with pytest.raises(AnalysisError, match="same"):
        clustered_contrasts(np.ones((3, 2)), np.ones((4, 2)), [[1, 0]])
