"""McNemar's test of a paired binary change, for pairs that are independent of each other."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom, chi2

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import SMALLEST_P

#: Below this many discordant pairs the exact p-value is the default: mid-p may then exceed its level by half.
FEW_DISCORDANT: Final = 10
METHODS: Final = ("default", "mid-p", "exact", "chi2", "chi2 continuity-corrected")


@dataclass(frozen=True, slots=True)
class McNemarTest:
    """Tests of b against c discordant pairs; each field is a number or an array of the broadcast shape.

    Attributes
    ----------
    b, c : float
        Pairs right on the first side only, and on the second side only.
    estimate : float
        b - c, in pairs.
    std_error : float
        sqrt(b + c): under the null, with independent pairs.
    df : float
        1, of the chi-squared statistics.
    statistic, statistic_corrected : float
        (b - c)^2 / (b + c), and with the continuity correction (|b - c| - 1)^2 / (b + c).
    p_exact, p_mid, p_chi2, p_corrected : float in (0, 1]
    p_value : float in (0, 1]
        The one that ``method`` names.
    method : str
        "exact" or "mid-p" by default, else what was asked for.
    n_clusters : float
        Discordant pairs b + c: each is taken as a unit of its own.
    reason : str
        Set where b + c = 0: nothing differs, and p = 1.
    """

    b: Any
    c: Any
    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    statistic_corrected: Any
    p_exact: Any
    p_mid: Any
    p_chi2: Any
    p_corrected: Any
    p_value: Any
    method: Any
    n_clusters: Any
    reason: Any


def mcnemar(b: ArrayLike, c: ArrayLike, *, method: str = "default") -> McNemarTest:
    """Is a change in one direction as likely as in the other?

    Parameters
    ----------
    b, c : array_like of int >= 0, broadcastable
    method : {"default", "mid-p", "exact", "chi2", "chi2 continuity-corrected"}
        Default: mid-p, and exact with fewer than 10 discordant pairs. The continuity correction is
        offered for comparison with printed values only.

    Raises
    ------
    AnalysisError
        A count is negative or no integer, or the method unknown.

    Notes
    -----
    Takes pairs as independent. Where several pairs share a unit use ``sign_flips``.

    References
    ----------
    McNemar (1947), Psychometrika 12:153-157. Fagerland, Lydersen and Laake (2013), BMC Medical Research
    Methodology 13:91, doi:10.1186/1471-2288-13-91 (mid-p).
    """
    if method not in METHODS:
        raise AnalysisError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    first, second = np.broadcast_arrays(_counts(b), _counts(c))
    n, net = first + second, first - second
    safe = np.where(n > 0, n, 1.0)
    plain, corrected = net**2 / safe, np.maximum(np.abs(net) - 1, 0) ** 2 / safe
    less = np.minimum(first, second)
    point = binom.pmf(less, n, 0.5)
    exact = np.where(net == 0, 1.0, np.minimum(2 * binom.cdf(less, n, 0.5), 1.0))
    mid = np.where(net == 0, 1 - point / 2, exact - point)
    values = {
        "exact": exact,
        "mid-p": np.where(n == 0, 1.0, mid),
        "chi2": chi2.sf(plain, 1),
        "chi2 continuity-corrected": chi2.sf(corrected, 1),
    }
    values = {name: np.maximum(p, SMALLEST_P) for name, p in values.items()}
    used = np.where(n < FEW_DISCORDANT, "exact", "mid-p") if method == "default" else np.full(n.shape, method)
    p_value = np.select([used == name for name in values], list(values.values()))
    return McNemarTest(
        b=first[()],
        c=second[()],
        estimate=net[()],
        std_error=np.sqrt(n)[()],
        df=np.ones(n.shape)[()],
        statistic=plain[()],
        statistic_corrected=corrected[()],
        p_exact=values["exact"][()],
        p_mid=values["mid-p"][()],
        p_chi2=values["chi2"][()],
        p_corrected=values["chi2 continuity-corrected"][()],
        p_value=p_value[()],
        method=used[()],
        n_clusters=n[()],
        reason=np.where(n == 0, "no pair differs", "")[()],
    )


def _counts(counts: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(counts, float)
    bad = ~((values >= 0) & (values == np.floor(values)) & np.isfinite(values))
    if bad.any():
        raise AnalysisError(f"discordant pairs must be whole numbers >= 0; found {np.atleast_1d(values[bad])[:3]}")
    return values
