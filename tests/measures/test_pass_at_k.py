"""pass@k: enumerated by hand, unbiased, and missing where samples are too few."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.measures.pass_at_k import pass_at_k


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 1), (5, 2, 3), (5, 0, 2), (5, 5, 5), (10, 3, 8), (4, 1, 4)])
def test_against_enumeration(n: int, c: int, k: int) -> None:
    """Catches the biased 1 - (1 - c/n)^k."""
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(np.mean([max(draw) for draw in draws]))


def test_unbiased() -> None:
    """Catches an estimate whose expectation is not 1 - (1 - p)^k."""
    n, k, p = 8, 3, 0.3
    expected = sum(comb(n, c) * p**c * (1 - p) ** (n - c) * float(pass_at_k(n, c, k)) for c in range(n + 1))
    assert expected == pytest.approx(1 - 0.7**3)


def test_too_few_samples_and_bad_counts() -> None:
    """Catches pass@k extrapolated beyond the samples."""
    assert np.isnan(pass_at_k(4, 4, 5))
    assert pass_at_k([4, 6], [2, 3], 1) == pytest.approx([0.5, 0.5])
    with pytest.raises(AnalysisError, match="0 <= c <= n"):
        pass_at_k(3, 4, 1)
