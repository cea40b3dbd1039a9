"""Agreement: textbook values, definitions that must relate, and responders whose agreement is known."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from analysis.errors import AnalysisError
from analysis.measures import agreement

#: Fleiss (1971), Table 1: 30 patients, 6 psychiatrists, 5 diagnoses.
FLEISS_1971 = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501 30012 51000
02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
#: Ten subjects, 14 raters, 5 categories: the worked example of many textbooks.
TEN_BY_FOURTEEN = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def krippendorff_codes() -> np.ndarray:
    """Krippendorff (2011), "Computing Krippendorff's alpha-reliability": 4 observers, 12 units."""
    rows = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    return np.array([[-1 if c == "." else int(c) - 1 for c in row] for row in rows]).T


def test_fleiss_1971() -> None:
    """Catches a kappa with the wrong chance term; printed marginals guard the typed data."""
    table = np.array([[int(c) for c in row] for row in FLEISS_1971.split()])
    assert table.sum(axis=0) / 180 == pytest.approx([0.144, 0.144, 0.167, 0.306, 0.239], abs=0.0005)
    assert agreement.fleiss_kappa(table) == pytest.approx(0.430, abs=0.0005)


def test_ten_subjects_and_fourteen_raters() -> None:
    """Catches ordered pairs counted once in one term and twice in the other."""
    assert agreement.fleiss_kappa(TEN_BY_FOURTEEN) == pytest.approx(0.2099, abs=0.00005)


def test_krippendorffs_nominal_example() -> None:
    """Catches single ratings entering the marginals, and missing ratings taken for a category."""
    counts = agreement.category_counts(krippendorff_codes(), 5)
    assert agreement.krippendorff_alpha(counts) == pytest.approx(0.743, abs=0.0005)


def test_kappa_against_statsmodels() -> None:
    """Catches an error that the textbook tables happen not to show."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        table = rng.multinomial(5, rng.dirichlet(np.ones(3)), size=9)
        assert agreement.fleiss_kappa(table) == pytest.approx(statsmodels_kappa(table), abs=1e-12)


def test_alpha_and_kappa_relate_as_their_definitions_do() -> None:
    """Catches an alpha without the correction for drawing ratings without replacement."""
    table = np.array(TEN_BY_FOURTEEN, float)
    kappa, alpha, n = agreement.fleiss_kappa(table), agreement.krippendorff_alpha(table), table.sum()
    assert 1 - alpha == pytest.approx((1 - kappa) * (n - 1) / n, rel=1e-12)


def test_sums_in_strata_are_not_raised_by_strata_that_lean_differently() -> None:
    """Catches pooled marginals: coins of .9 and .1 under two prompts agree with themselves by chance only."""
    rng = np.random.default_rng(1)
    codes = (rng.random((2, 4000, 4)) < np.array([0.9, 0.1])[:, None, None]).astype(int)
    counts = agreement.category_counts(codes, 2)
    disagreeing, marginals = agreement.disagreements(counts).sum(axis=-1), agreement.pairable(counts).sum(axis=-2)
    assert abs(agreement.alpha_from_sums(disagreeing, marginals)) < 0.02
    assert abs(agreement.kappa_from_sums(disagreeing, marginals)) < 0.02
    assert agreement.krippendorff_alpha(counts.reshape(-1, 2)) > 0.5


def test_a_constant_responder_agrees_with_itself_and_has_no_alpha() -> None:
    """Catches 0/0 printed as perfect agreement."""
    counts = np.tile([4.0, 0.0], (10, 1))
    assert np.isnan(agreement.krippendorff_alpha(counts))
    assert np.isnan(agreement.fleiss_kappa(counts))
    assert np.isnan(agreement.beyond_expected(1.0, 1.0))


def test_unequal_ratings_are_refused_by_kappa() -> None:
    """Catches a kappa computed with the wrong number of raters."""
    with pytest.raises(AnalysisError, match="same number of ratings"):
        agreement.fleiss_kappa([[4, 0], [2, 1]])


def test_all_agree_by_hand() -> None:
    """Catches a missing answer counted as disagreement, or as agreement."""
    found = agreement.all_agree([[1, 1, 1], [0, 0, 0], [1, 0, 1], [1, 1, -1], [-1, -1, -1]])
    np.testing.assert_array_equal(found, [1, 1, 0, np.nan, np.nan])


def test_expected_agreement_by_hand() -> None:
    """Catches a missing category, and accuracies averaged over classes before the power."""
    q = np.array([0.5, 0.8])
    assert agreement.expected_same_marginals(np.stack([q, 1 - q], axis=-1)) == pytest.approx(0.5 * 0.8 + 0.5 * 0.2)
    found = agreement.expected_independent_errors([1.0, 0.5], [0.25, 0.75], 4)
    assert found == pytest.approx(0.25 + 0.75 * 2 * 0.5**4)
    assert agreement.expected_independent_errors([0.9, np.nan], [1.0, 0.0], 2) == pytest.approx(0.82)


def test_the_bound_holds_for_every_pattern_of_errors() -> None:
    """Catches a bound with the wrong factor: no data with one gold answer per subject may lie below it."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        right = rng.random((10, 4)) < rng.random()
        agreeing = float(agreement.all_agree(right.astype(int)).mean())
        assert agreeing >= agreement.consistency_bound(right.mean(), 4) - 1e-12
    one_each = ~np.eye(8, 4, dtype=bool)
    assert agreement.all_agree(one_each.astype(int)).mean() == agreement.consistency_bound(one_each.mean(), 4)


def test_relabelling_and_order_change_nothing() -> None:
    """Catches a category or a rater that is treated differently from the others."""
    codes = krippendorff_codes()
    renamed = np.where(codes < 0, -1, 4 - codes)[::-1, ::-1]
    found = [agreement.krippendorff_alpha(agreement.category_counts(c, 5)) for c in (codes, renamed)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
