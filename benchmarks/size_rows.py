"""Rows of a calibration table."""

import numpy as np
from numpy.typing import ArrayLike


def share_row(
    section: str,
    regime: str,
    method: str,
    hits: ArrayLike,
    reference: float | tuple[float, float] = np.nan,
    theirs: int = 1000,
    quantity: str = "rejected",
    *,
    resampled: bool = False,
) -> dict[str, object]:
    """Share of replicates in which something happened, beside a reference value or range.

    ``resampled`` says that the method draws flips, permutations or resamples, which replicates share.
    """
    happened = np.asarray(hits, float)
    return _row(section, regime, method, quantity, happened, reference, theirs) | {"resampled": resampled}


def mean_row(
    section: str, regime: str, method: str, values: ArrayLike, reference: float = np.nan, theirs: int = 1000
) -> dict[str, object]:
    """Mean over replicates of a number, beside a reference value."""
    return _row(section, regime, method, "mean", np.asarray(values, float), reference, theirs)


def _row(
    section: str,
    regime: str,
    method: str,
    quantity: str,
    values: np.ndarray,
    reference: float | tuple[float, float],
    theirs: int,
) -> dict[str, object]:
    low, high = reference if isinstance(reference, tuple) else (reference, reference)
    return {
        "section": section,
        "regime": regime,
        "method": method,
        "quantity": quantity,
        "reference_low": low,
        "reference_high": high,
        "reference_replicates": theirs,
        "estimate": float(values.mean()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else np.nan,
        "replicates": len(values),
        "resampled": False,
    }
