"""Size of tests of a paired binary change: independent pairs enumerated, clustered pairs simulated."""

import numpy as np
from comparison_regimes import CHANGE_REGIMES, SURFACES, TEMPLATES, changes
from numpy.typing import NDArray
from scipy.stats import binom
from size_rows import share_row

from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.paired import obuchowski
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.two_way import two_way_test

#: Discordant pairs -> size of exact, mid-p, chi-squared and corrected chi-squared.
FEW_PAIRS = {
    8: (0.008, 0.070, 0.070, 0.008),
    25: (0.043, 0.043, 0.043, 0.043),
    60: (0.027, 0.052, np.nan, np.nan),
    100: (0.035, 0.057, 0.057, 0.035),
}
#: Regime -> chi-squared, exact, corrected, Obuchowski, flips by surface, t over templates, flips by template.
SIZES = {
    "none": (0.054, 0.049, 0.049, 0.052, 0.048, 0.053, 0.046),
    "surface sd .5": (0.115, 0.121, 0.121, 0.051, 0.050, 0.111, 0.110),
    "surface sd 1": (0.217, 0.214, 0.214, 0.048, 0.044, 0.207, 0.193),
    "surface sd 2": (0.361, 0.352, 0.352, 0.040, 0.038, 0.365, 0.347),
    "template sd .5": (0.317, 0.306, 0.306, 0.315, 0.303, 0.064, 0.055),
    "template sd 1": (0.537, 0.530, 0.530, 0.538, 0.532, 0.047, 0.045),
    "both sd 1": (0.508, 0.497, 0.497, 0.326, 0.318, 0.065, 0.063),
}
_RERUN = ("surface sd .5", "surface sd 1")
_RERUN_METHODS = ("chi2", "Obuchowski, surface", "sign flip, surface")
_FLIPPED = ("sign flip, surface", "sign flip, template")
_FLIPS = 1999


def few_pairs_rows() -> list[dict[str, object]]:
    """True size with N independent discordant pairs, by enumeration; references are printed to .001."""
    rows = []
    for n, references in FEW_PAIRS.items():
        b = np.arange(n + 1)
        test = mcnemar(b, n - b)
        weight = binom.pmf(b, n, 0.5)
        tests = {"exact": test.p_exact, "mid-p": test.p_mid, "chi2": test.p_chi2, "corrected": test.p_corrected}
        for (method, p), reference in zip(tests.items(), references, strict=True):
            size = float(weight[p <= 0.05].sum())
            row = share_row("B.4", f"{n} independent pairs", method, [size], reference, 10**9, "enumerated")
            rows.append(row | {"replicates": 10**9})
    return rows


def change_rows(replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Share of rejections at .05 of no change, with 2,400 pairs on 80 surfaces and 15 templates."""
    rows = []
    for name in CHANGE_REGIMES:
        p_values = _p_values(*changes(name, 0.3, replicates, rng), rng)
        for (method, p), reference in zip(p_values.items(), (*SIZES[name], (0.023, 0.053)), strict=True):
            theirs = 4000 if name in _RERUN and method in _RERUN_METHODS else 1000
            rows.append(share_row("B.4", name, method, p <= 0.05, reference, theirs, resampled=method in _FLIPPED))
    return rows


def _p_values(
    first: NDArray[np.float64], second: NDArray[np.float64], rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    net, moved = first - second, first + second
    rows = mcnemar(first.sum(axis=(1, 2)), second.sum(axis=(1, 2)))
    surface = obuchowski(net.sum(axis=2), moved.sum(axis=2))
    template = obuchowski(net.sum(axis=1), moved.sum(axis=1))
    at = np.repeat(np.arange(SURFACES), TEMPLATES), np.tile(np.arange(TEMPLATES), SURFACES)
    return {
        "chi2": rows.p_chi2,
        "exact": rows.p_exact,
        "corrected": rows.p_corrected,
        "Obuchowski, surface": surface.p_value,
        "sign flip, surface": sign_flip_test(net.sum(axis=2), rng=rng, flips=_FLIPS).p_value,
        "t over templates": template.p_centred,
        "sign flip, template": sign_flip_test(net.sum(axis=1), rng=rng).p_value,
        "two-way": np.array([two_way_test(d.ravel(), *at).p_value for d in net]),
    }
