"""Shares and what uncertain answers do to them."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.measures.rates import bounded_shares, share, treated_counts


def test_nothing_asked_is_unknown_and_not_zero() -> None:
    np.testing.assert_array_equal(share([0, 3], [0, 4]), [np.nan, 0.75])


def test_treatments_of_uncertain_answers() -> None:
    """10 scored, 2 of them uncertain, 6 right: .6, 6/8 and .7."""
    counts = (10, 6, 2, 8, 6)
    rates = {
        name: float(np.divide(*treated_counts(*counts, uncertain=name)[::-1]))
        for name in ("incorrect", "excluded", "half")
    }
    assert rates == {"incorrect": 0.6, "excluded": 0.75, "half": 0.7}


def test_unknown_treatment_is_refused() -> None:
    with pytest.raises(AnalysisError, match="incorrect, excluded, half"):
        treated_counts(1, 1, 0, 1, 1, uncertain="ignore")


def test_bounds_run_over_everything_planned() -> None:
    """Of 10 planned, 5 right, 2 uncertain and 1 errored: .5 to .8; denominators of scored rows give 5/9."""
    low, high = bounded_shares(5, 2, 1, 10)
    assert (low, high) == (0.5, 0.8)
