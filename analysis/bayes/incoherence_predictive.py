"""Posterior predictive checks of the models of incoherence: do simulated instances look like those observed?"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.incoherence_data import ROUNDING, Instances, variance_of_mean
from analysis.bayes.incoherence_priors import fresh_instances
from analysis.bayes.incoherence_sampling import IncoherenceDraws

Floats = NDArray[np.float64]

_REPLICATES: Final = 400
LINK_CHECK: Final = "correlation of log deviation and absolute mean"
CLIP_CHECK: Final = "share of answers at the clip"
NO_CLIP: Final = "the model knows no clip: a large share makes persistent incoherence too small"


def predictive_checks(instances: Instances, draws: IncoherenceDraws, rng: np.random.Generator) -> pd.DataFrame:
    """Observed statistics of one model's instances against fresh instances from the posterior.

    Returns
    -------
    DataFrame
        ``model, check, observed, expected`` (median of the replicates), ``low, high`` (95 %), ``tail``
        (twice the smaller share of replicates beyond the observed value), ``reason``. Checks: share of
        instances at 0 throughout (mean and deviation within twice the rounding), excess kurtosis of the
        means, largest absolute mean, correlation of log deviation and absolute mean, share at the clip.
        Means and noise are drawn anew, so that freedom by instance hides no misfit.
    """
    flat = {name: values.reshape(-1, 1) for name, values in draws.hyper.items()}
    at = np.linspace(0, len(flat["delta"]) - 1, _REPLICATES).astype(int)
    hyper = {name: values[at] for name, values in flat.items()}
    fresh = fresh_instances(hyper, rng, unit_at=instances.unit_at, paired=instances.paired)
    k = instances.k
    mean = fresh.mu + np.sqrt(variance_of_mean(fresh.variance, k)) * rng.standard_normal(fresh.mu.shape)
    ss = fresh.variance * rng.chisquare(k - 1, size=fresh.mu.shape)
    rows = [
        _row(instances.model, name, float(check(instances.mean, instances.ss, k)), check(mean, ss, k))
        for name, check in CHECKS.items()
    ]
    clipped = float(instances.rows["clipped"].mean())
    clip = {"observed": clipped, "reason": NO_CLIP if clipped else "no answer is at the clip"}
    nothing = dict.fromkeys(("expected", "low", "high", "tail"), np.nan)
    return pd.DataFrame([*rows, {"model": instances.model, "check": CLIP_CHECK, **clip, **nothing}])


def _still(mean: Floats, ss: Floats, k: Floats) -> Floats:
    return ((np.abs(mean) <= 2 * ROUNDING) & (ss <= (k - 1) * (2 * ROUNDING) ** 2)).mean(axis=-1)


def _kurtosis(mean: Floats, ss: Floats, k: Floats) -> Floats:
    """Of the fourth standardised moment, minus 3; 0 where all means are equal."""
    away = mean - mean.mean(axis=-1, keepdims=True)
    square = (away**2).mean(axis=-1)
    ratio = np.divide((away**4).mean(axis=-1), square**2, out=np.full_like(square, 3.0), where=square > 0)
    return ratio - 3


def _largest(mean: Floats, ss: Floats, k: Floats) -> Floats:
    return np.abs(mean).max(axis=-1)


def _link(mean: Floats, ss: Floats, k: Floats) -> Floats:
    """Correlation over instances; 0 where either is constant."""
    x = np.log(np.maximum(np.sqrt(ss / (k - 1)), ROUNDING))
    y = np.abs(mean)
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    size = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.divide((x * y).sum(axis=-1), size, out=np.zeros_like(size), where=size > 0)


CHECKS: Final[dict[str, Callable[[Floats, Floats, Floats], Floats]]] = {
    "share of instances at 0 throughout": _still,
    "excess kurtosis of the means": _kurtosis,
    "largest absolute mean": _largest,
    LINK_CHECK: _link,
}


def _row(model: str, check: str, observed: float, replicates: Floats) -> dict[str, object]:
    low, middle, high = np.quantile(replicates, [0.025, 0.5, 0.975])
    slack = 1e-12  # equal but for rounding
    beyond = min((replicates <= observed + slack).mean(), (replicates >= observed - slack).mean())
    numbers = {"observed": observed, "expected": middle, "low": low, "high": high, "tail": min(1.0, 2 * beyond)}
    return {"model": model, "check": check, **{name: float(x) for name, x in numbers.items()}, "reason": ""}
