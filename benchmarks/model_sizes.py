"""Comparisons of models by the size of their residuals: adjustments of 21 pairs, and skewed differences."""

from itertools import combinations

import numpy as np
from comparison_regimes import SCALES, residual_sizes, size_differences
from numpy.typing import NDArray
from scipy.stats import t as student
from size_rows import share_row

from analysis.frequentist.max_t import max_t
from analysis.frequentist.multiplicity import benjamini_hochberg, bonferroni, holm
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.unit_bootstrap import bootstrap_t, percentile_limits, resampled_sums

_PAIRS = list(combinations(range(7), 2))
_FLIPS = 1999
#: Method -> power (7 scales), power (2 groups), family-wise error of complete null, 2 groups, unequal tails.
FAMILIES = {
    "unadjusted": (0.702, 0.934, 0.455, 0.273, 0.493),
    "Bonferroni": (0.501, 0.749, 0.034, 0.020, 0.127),
    "Holm": (0.544, 0.799, 0.034, 0.032, 0.127),
    "step-down max-T": (0.528, 0.768, 0.043, 0.045, 0.148),
    "Bonferroni on t": (0.394, 0.562, 0.011, 0.005, 0.093),
    "Benjamini-Hochberg": (0.668, 0.905, 0.037, 0.178, 0.132),
}
#: The one method that draws no flips.
_PLAIN = "Bonferroni on t"
_POWER = {"7 distinct scales": (0, 400), "2 groups": (1, 400)}
_ERROR = {"complete null": (2, 1000), "2 groups": (3, 400), "equal means, unequal tails": (4, 600)}
#: Items, heavy-tailed -> sign flip, t, percentile bootstrap, bootstrap-t.
SKEWED = {
    (90, False): (0.046, 0.033, 0.067, 0.100),
    (90, True): (0.137, 0.123, 0.123, 0.088),
    (300, True): (0.077, 0.074, 0.074, 0.058),
}


def family_rows(replicates: int, rng: np.random.Generator, items: int = 90) -> list[dict[str, object]]:
    """Power and family-wise error of adjusted sign-flip tests of 21 pairs."""
    rows = []
    for name, scales in SCALES.items():
        null = np.array([abs(scales[i] - scales[j]) < 1e-9 for i, j in _PAIRS])
        adjusted = [_adjusted(residual_sizes(name, items, rng), rng) for _ in range(replicates)]
        for method, references in FAMILIES.items():
            rejected = np.array([p[method] <= 0.05 for p in adjusted])
            if name in _POWER:
                at, theirs = _POWER[name]
                power = rejected[:, ~null].mean(axis=1)
                rows.append(
                    share_row("D", name, method, power, references[at], theirs, "power", resampled=method != _PLAIN)
                )
            if name in _ERROR:
                at, theirs = _ERROR[name]
                rows.append(
                    share_row(
                        "D",
                        name,
                        method,
                        rejected[:, null].any(axis=1),
                        references[at],
                        theirs,
                        "FWER",
                        resampled=method != _PLAIN,
                    )
                )
    return rows


def skewed_rows(replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Size of single comparisons of equal means."""
    rows = []
    for (items, heavy), references in SKEWED.items():
        hits = [_skewed(size_differences(heavy, items, 250, rng), rng) for _ in range(max(replicates // 250, 1))]
        regime = f"{'heavy against light' if heavy else 'exchangeable'}, n={items}"
        for method, reference in zip(hits[0], references, strict=True):
            rejected = np.concatenate([part[method] for part in hits])
            rows.append(share_row("D", regime, method, rejected, reference, 1500, resampled=method != "t"))
    return rows


def _adjusted(sizes: NDArray[np.float64], rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    d = np.stack([sizes[i] - sizes[j] for i, j in _PAIRS])
    test = sign_flip_test(d, rng=rng, flips=_FLIPS)
    p, t = test.p_value, 2 * student.sf(np.abs(test.statistic), test.df)
    return {
        "unadjusted": p,
        "Bonferroni": bonferroni(p),
        "Holm": holm(p),
        "step-down max-T": max_t(d, rng=rng, flips=_FLIPS).p_adjusted,
        "Bonferroni on t": bonferroni(t),
        "Benjamini-Hochberg": benjamini_hochberg(p),
    }


def _skewed(d: NDArray[np.float64], rng: np.random.Generator) -> dict[str, NDArray[np.bool_]]:
    test = sign_flip_test(d, rng=rng, flips=999)
    low, high = percentile_limits(resampled_sums(d.T, rng=rng, resamples=999))
    studentised = bootstrap_t(d, rng=rng, resamples=999)
    return {
        "sign flip": test.p_value <= 0.05,
        "t": np.abs(test.statistic) > student.ppf(0.975, test.df),
        "percentile bootstrap": (low > 0) | (high < 0),
        "bootstrap-t": (studentised.ci_low > 0) | (studentised.ci_high < 0),
    }
