"""Consistency over versions: constant, independent and mechanical responders, and intervals by unit."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.consistency import consistency_estimates, set_counts, variant_marginals
from analysis.reduction.variants import VariantAnswers


def variants(codes: np.ndarray, gold: np.ndarray) -> VariantAnswers:
    """Answers (M, C, U, V) of labels no, yes."""
    m, c, u, v = codes.shape
    right = np.where(codes >= 0, codes == gold[:, None], np.nan)
    return VariantAnswers(
        codes=codes,
        asked=np.ones(codes.shape, bool),
        right=right,
        gold=gold,
        models=tuple(f"m{i}" for i in range(m)),
        units=tuple(f"u{i:03d}" for i in range(u)),
        variants=("N", "O", "OX", "X")[:v],
        labels=("no", "yes"),
        configurations=pd.DataFrame({"strategy": [f"s{i}" for i in range(c)]}),
    )


def estimates(codes, gold, *, model="m0", resamples=500, **options):
    table = consistency_estimates(variants(codes, gold), rng=np.random.default_rng(0), resamples=resamples, **options)
    return table[table["model"] == model].set_index("measure")


GOLD = np.arange(200) % 2


def test_a_constant_responder_is_consistent_and_shows_nothing():
    """Catches raw agreement sold as consistency: always No agrees with itself, and no chance-corrected value exists."""
    found = estimates(np.zeros((1, 3, 200, 4), int), GOLD)
    assert found.loc["consistency_all", "estimate"] == 1
    assert found.loc["consistency_all", "ci_low"] < 1
    for name in ("krippendorff_alpha", "fleiss_kappa", "consistency_beyond_marginals"):
        assert np.isnan(found.loc[name, "estimate"])
        assert found.loc[name, "reason"]
    assert found.loc["consistency_same_marginals", "estimate"] == 1
    # Accuracy .5 in two classes of 0 and 1: errors are not independent but total, and all agreement is expected.
    assert found.loc["consistency_independent_errors", "estimate"] == 1
    assert found.loc["consistency_beyond_errors", "estimate"] == 0
    assert found.loc["consistency_bound", "estimate"] == 0


def test_independent_answers_have_agreement_as_expected():
    """Catches an expectation from pooled marginals: two prompts of a coin lean .9 and .1."""
    rng = np.random.default_rng(1)
    codes = (rng.random((1, 2, 2000, 4)) < np.array([0.9, 0.1])[:, None, None]).astype(int)
    found = estimates(codes, np.arange(2000) % 2)
    assert found.loc["consistency_same_marginals", "estimate"] == pytest.approx(0.9**4 + 0.1**4, abs=0.02)
    for name in ("krippendorff_alpha", "fleiss_kappa", "consistency_beyond_marginals"):
        assert abs(found.loc[name, "estimate"]) < 0.03
        assert found.loc[name, "ci_low"] < 0 < found.loc[name, "ci_high"]


def test_independent_errors_have_consistency_as_expected():
    """Catches class accuracies pooled before the power, and a difference with the wrong sign."""
    rng = np.random.default_rng(2)
    gold = np.arange(4000) % 2
    right = rng.random((1, 1, 4000, 4)) < np.where(gold == 1, 0.95, 0.6)[:, None]
    codes = np.where(right, gold[:, None], 1 - gold[:, None])
    found = estimates(codes, gold)
    expected = (0.95**4 + 0.05**4 + 0.6**4 + 0.4**4) / 2
    assert found.loc["consistency_independent_errors", "estimate"] == pytest.approx(expected, abs=0.015)
    assert found.loc["consistency_all", "estimate"] == pytest.approx(expected, abs=0.03)
    assert found.loc["consistency_beyond_errors", "ci_low"] < 0 < found.loc["consistency_beyond_errors", "ci_high"]


def test_items_that_differ_in_difficulty_are_more_consistent_than_errors_alone():
    """Catches an excess that cannot be seen."""
    gold = GOLD
    wrong_units = np.arange(200) % 4 == 0
    codes = np.where(wrong_units, 1 - gold, gold)[None, None, :, None].repeat(4, axis=3)
    found = estimates(codes, gold)
    assert found.loc["consistency_all", "estimate"] == 1
    assert found.loc["consistency_beyond_errors", "ci_low"] > 0


def test_pairs_and_missing_answers_by_hand():
    """Catches incomplete sets counted as inconsistent, and pairs matched by position in the alphabet."""
    codes = np.array([[[[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, -1, 0], [-1, -1, -1, 1]]]])
    found = estimates(codes, np.array([1, 1, 1, 0]), pairs=[("N", "X"), ("O", "OX")])
    assert found.loc["consistency_all", "estimate"] == 0.5
    assert found.loc["consistency_N_X", "estimate"] == pytest.approx(2 / 3)
    assert found.loc["consistency_O_OX", "estimate"] == 0.5
    # Agreeing pairs: 6 of 6, 3 of 6, 1 of 3.
    assert found.loc["consistency_pairwise", "estimate"] == pytest.approx((1 + 0.5 + 1 / 3) / 3)
    counted = set_counts(variants(codes, np.array([1, 1, 1, 0]))).iloc[0]
    assert (counted["sets"], counted["sets_complete"], counted["sets_incomplete"]) == (4, 2, 2)


def test_marginals_by_hand():
    """Catches unreadable answers in the denominator of a marginal."""
    codes = np.array([[[[1, 0], [1, -1], [0, 1]]]])
    table = variant_marginals(variants(codes, np.array([1, 1, 1])))
    rows = table.set_index(["variant", "answer"])
    assert rows.loc[("N", "yes"), "share"] == pytest.approx(2 / 3)
    assert rows.loc[("O", "yes"), "share"] == pytest.approx(1 / 2)
    assert rows.loc[("N", "yes"), "accuracy"] == pytest.approx(2 / 3)


def test_an_unknown_variant_is_named():
    """Catches a misspelt pair that is skipped in silence."""
    with pytest.raises(AnalysisError, match="'Q'; there are N, O, OX, X"):
        estimates(np.zeros((1, 1, 5, 4), int), np.zeros(5, int), pairs=[("N", "Q")])


def test_the_unit_is_the_base_item_and_not_the_row():
    """Catches configurations that repeat each other counted as independent: twelve copies tell no more than one."""
    rng = np.random.default_rng(3)
    once = (rng.random((1, 1, 40, 4)) < 0.8).astype(int)
    gold = np.ones(40, int)
    single, copied = estimates(once, gold), estimates(np.repeat(once, 12, axis=1), gold)
    for name in ("consistency_all", "consistency_beyond_errors", "fleiss_kappa"):
        assert copied.loc[name, "estimate"] == pytest.approx(single.loc[name, "estimate"])
    widths = [t.loc["consistency_all", "ci_high"] - t.loc["consistency_all", "ci_low"] for t in (single, copied)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def test_alpha_coverage_by_units():
    """Catches intervals over answers instead of units: coverage near .95 when units differ in their tendency."""
    truth_units = 40_000
    rng = np.random.default_rng(4)

    def draw(units):
        p = 1 / (1 + np.exp(-rng.normal(0, 1.5, units)))
        return (rng.random((1, 1, units, 4)) < p[:, None]).astype(int)

    truth = estimates(draw(truth_units), np.zeros(truth_units, int), resamples=2).loc["krippendorff_alpha", "estimate"]
    covered = 0
    for _ in range(100):
        found = estimates(draw(60), np.zeros(60, int), resamples=300).loc["krippendorff_alpha"]
        covered += found["ci_low"] <= truth <= found["ci_high"]
    # 95 expected; three binomial standard errors are 6.5, and percentile intervals of 60 units fall a little short.
    assert covered >= 87


def test_base_items_weigh_the_same_however_many_of_their_sets_are_complete():
    """Catches items with fewer ties counted more often: u0 is complete twice and alike, u1 once and not."""
    codes = np.array([[[[1, 1, 1, 1], [1, 0, 1, 1]], [[1, 1, 1, 1], [1, -1, 1, 1]]]])
    found = estimates(codes, np.array([1, 1]), pairs=[("N", "O")])
    # By sets 2/3, N and O too. Pairs alike in u1: 3 of 6 and 3 of 3, mean .75.
    assert found.loc["consistency_all", "estimate"] == pytest.approx(1 / 2)
    assert found.loc["consistency_N_O", "estimate"] == pytest.approx(1 / 2)
    assert found.loc["consistency_pairwise", "estimate"] == pytest.approx((1 + 0.75) / 2)
    assert found.loc["consistency_all", "weights"] == "unit"
    assert found.loc["consistency_all", "n"] == 3
    # Right: 4 of 4, then 3 of 4, so that accuracy is .875 and C >= 1 - 4 (1 - .875).
    assert found.loc["consistency_bound", "estimate"] == pytest.approx(0.5)
    assert found.loc["consistency_independent_errors", "estimate"] == pytest.approx(0.875**4 + 0.125**4)
