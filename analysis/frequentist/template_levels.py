"""What templates do to all models together: pooled accuracy, mean |bias| beside its noise, direction of bias."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.frequentist.clustered import clustered_contrasts
from analysis.frequentist.clustered_rates import clustered_rates, rate_limits
from analysis.frequentist.factor_levels import TreatedLevels
from analysis.measures.yes_no_bias import YES_CELLS

Floats = NDArray[np.float64]
#: E|Z| of a standard normal: what |bias| is on average, in standard errors, without any bias.
MEAN_ABSOLUTE: Final = float(np.sqrt(2 / np.pi))


def template_summaries(data: TreatedLevels, *, ci_level: float = 0.95) -> pd.DataFrame:
    """One row per template (level of the factor of ``data``), over the models that answered all its cells.

    Returns
    -------
    DataFrame
        ``level, validity`` (valid, invalid, mixed), ``accuracy`` of all responses with ``accuracy_low``,
        ``accuracy_high``; ``abs_bias`` (mean over models of |bias|) with limits and ``abs_bias_noise``
        (what it would be if no model had a bias); ``polarity`` (mean of affirmative minus negated accuracy)
        with limits; ``agree`` (share of models that lean in the more frequent direction), ``agree_chance``
        (expected if directions were coin flips), ``leaning_yes``, ``leaning_no`` (models whose interval
        excludes 0), ``n``, ``n_models``, ``n_clusters``, ``reason``.

    Notes
    -----
    A template has one validity, so that its bias is the difference of its two cells. Limits of mean |bias|
    are t limits with the observed directions taken as given; near 0 the mean is biased upwards, which
    ``abs_bias_noise`` measures.
    """
    check_level(ci_level)
    rows = [_row(data, at, level, ci_level) for at, level in enumerate(data.arrays.levels)]
    return pd.DataFrame(rows).assign(ci_level=ci_level, ci_method="cluster t", factor=data.arrays.factor)


def spread_over_templates(rows: pd.DataFrame) -> dict[str, float]:
    """Standard deviations, over these templates, of mean |bias| and of mean polarity sensitivity."""
    return {name: float(rows[name].std(ddof=0)) if rows[name].notna().sum() > 1 else np.nan for name in _SPREAD}


_SPREAD: Final = ("abs_bias", "polarity")


def _row(data: TreatedLevels, at: int, level: str, ci_level: float) -> dict[str, object]:
    cells = data.arrays.cells
    n, y = data.n[:, :, at], data.y[:, :, at]
    asked = n.sum(axis=(0, 1)) > 0
    pooled = clustered_rates(n.sum(axis=(0, 2))[:, None], y.sum(axis=(0, 2))[:, None], np.ones((1, 1)))
    low, high = rate_limits(pooled, ci_level=ci_level)
    row: dict[str, object] = {
        "level": level,
        "validity": _validity(cells, asked),
        "accuracy": float(pooled.contrasts.estimate[0]),
        "accuracy_low": float(low[0]),
        "accuracy_high": float(high[0]),
        "n": int(n.sum()),
        "n_clusters": int(np.count_nonzero(n.sum(axis=(0, 2)) > 0)),
    }
    yes = np.array([cell in YES_CELLS for cell in cells]) & asked
    bias = _contrast(yes, asked & ~yes)
    affirmative = np.array([cell.endswith("A") for cell in cells]) & asked
    polarity = _contrast(affirmative, asked & ~affirmative) if data.arrays.four else None
    return row | _over_models(n, y, asked, bias, polarity, ci_level)


def _over_models(
    n: Floats, y: Floats, asked: NDArray[np.bool_], bias: Floats | None, polarity: Floats | None, ci_level: float
) -> dict[str, object]:
    """Means over models of |bias| and polarity sensitivity, directions of bias."""
    nothing = dict.fromkeys(_MEANS, np.nan)
    if bias is None:
        return nothing | {"n_models": 0, "leaning_yes": 0, "leaning_no": 0, "reason": "one right answer only"}
    complete = (n.sum(axis=1)[:, asked] > 0).all(axis=1)
    if not complete.any():
        return nothing | {"n_models": 0, "leaning_yes": 0, "leaning_no": 0, "reason": "no model has all cells"}
    trials, right = n[complete], y[complete]
    m, units, c = trials.shape
    each = clustered_contrasts(trials, right, bias[None])
    own, error, df = each.estimate[:, 0], np.sqrt(np.maximum(each.variance[:, 0], 0)), each.df[:, 0]
    side = np.sign(np.where(np.abs(own) < 1e-12, 0, own))
    weights = [np.kron(np.where(side == 0, 1, side), bias) / m]
    weights += [np.kron(np.ones(m), polarity) / m] if polarity is not None else []
    joint = clustered_contrasts(
        trials.transpose(1, 0, 2).reshape(units, m * c),
        right.transpose(1, 0, 2).reshape(units, m * c),
        np.array(weights),
    )
    reach = student.ppf(0.5 + ci_level / 2, joint.df) * np.sqrt(np.maximum(joint.variance, 0))
    reach = np.where(reach > 0, reach, np.nan)
    mean = joint.estimate
    more = max(int((side > 0).sum()), int((side < 0).sum()))
    own_reach = student.ppf(0.5 + ci_level / 2, df) * error
    found = {
        "abs_bias": float(np.abs(own).mean()),
        "abs_bias_low": float(max(mean[0] - reach[0], 0)),
        "abs_bias_high": float(min(mean[0] + reach[0], 1)),
        "abs_bias_noise": float((MEAN_ABSOLUTE * error).mean()),
        "polarity": float(mean[1]) if polarity is not None else np.nan,
        "polarity_low": float(max(mean[1] - reach[1], -1)) if polarity is not None else np.nan,
        "polarity_high": float(min(mean[1] + reach[1], 1)) if polarity is not None else np.nan,
        "agree": more / m,
        "agree_chance": expected_majority(m),
    }
    return found | {
        "n_models": m,
        "leaning_yes": int((own - own_reach > 0).sum()),
        "leaning_no": int((own + own_reach < 0).sum()),
        "reason": "" if np.isfinite(reach[0]) else "no interval: units do not vary, or there is one only",
    }


_MEANS: Final = (
    *("abs_bias", "abs_bias_low", "abs_bias_high", "abs_bias_noise"),
    *("polarity", "polarity_low", "polarity_high", "agree", "agree_chance"),
)


def expected_majority(models: int) -> float:
    """Share of models in the more frequent of two directions, expected if each took one by the flip of a coin."""
    k = np.arange(models + 1)
    return float((np.maximum(k, models - k) * binom.pmf(k, models, 0.5)).sum() / models)


def _contrast(plus: NDArray[np.bool_], minus: NDArray[np.bool_]) -> Floats | None:
    """Mean of some cells minus the mean of others; None where one side is empty."""
    if not plus.any() or not minus.any():
        return None
    return plus / plus.sum() - minus / minus.sum()


def _validity(cells: tuple[str, ...], asked: NDArray[np.bool_]) -> str:
    kinds = {cell[0] for cell, used in zip(cells, asked, strict=True) if used and len(cell) == 2}
    return {frozenset("V"): "valid", frozenset("I"): "invalid"}.get(frozenset(kinds), "mixed" if kinds else "")
