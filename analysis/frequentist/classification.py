"""Yes/no answers as a classifier's: precision, recall, F1 and their like by model, with intervals by unit."""

import zlib
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.clustered_rates import clustered_rates, rate_limits
from analysis.frequentist.model_measures import (
    BOOTSTRAP,
    ModelMeasure,
    ModelUnits,
    from_rates,
    model_units,
    rate_measure,
    tidy,
)
from analysis.frequentist.unit_bootstrap import percentile_limits, resampled_sums
from analysis.measures import classification

Floats = NDArray[np.float64]
#: Measure of the bootstrap -> what it is of a table, its scale, and why it is undefined.
_RESAMPLED: Final = {
    "f1": (lambda table: classification.f1(table)[..., 0], "probability", "yes is neither right nor said"),
    "f1_no": (lambda table: classification.f1(table)[..., 1], "probability", "no is neither right nor said"),
    "macro_f1": (classification.macro_f1, "probability", "a class is neither right nor said"),
    "matthews_correlation": (
        classification.matthews_correlation,
        "correlation",
        "all right answers, or all answers given, are of one class",
    ),
}
NEVER_YES: Final = "never said yes"
NO_POSITIVE: Final = "no scored item whose right answer is yes"
NO_NEGATIVE: Final = "no scored item whose right answer is no"
NO_CLASS: Final = "a class has no item"
NOTHING: Final = "no scored response"


def classification_estimates(
    answers: pd.DataFrame,
    *,
    rng: np.random.Generator,
    gold: NDArray[np.object_] | None = None,
    uncertain: str = "incorrect",
    resamples: int = 10_000,
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Measures of yes/no answers against one gold label; the positive class is yes.

    Parameters
    ----------
    answers : DataFrame
        As ``reduction.votes`` gives them; every row weighs the same (micro).
    rng : Generator
        For the bootstrap; each model has a stream of its own, so that its limits do not depend on the others.
    gold : ndarray, optional
        ``yes``, ``no`` or anything else (left out) by row, where another label than ``gold`` is meant.
    uncertain : {"incorrect", "excluded", "half"}
        See ``measures.classification.treated_table``: an unreadable answer is never a positive prediction.
    resamples, ci_level, target, unit, task
        As elsewhere.

    Returns
    -------
    DataFrame
        One row per model and measure: ``accuracy``, ``precision``, ``recall``, ``specificity``, ``yes_rate``
        and ``macro_recall`` (shares, cluster Wilson; the last is balanced accuracy, with the same limits),
        ``f1``, ``f1_no``, ``macro_f1``, ``matthews_correlation`` (percentile bootstrap over units).
        ``macro`` means that both classes weigh the same.
    """
    check_level(ci_level)
    known = model_units(answers)
    label = answers["gold"].astype(str).to_numpy() if gold is None else np.asarray(gold)
    tables = classification.treated_table(_unit_tables(known, answers, label), uncertain=uncertain)
    found = [*_shares(tables, ci_level), _macro_recall(tables, ci_level)]
    found += _resampled(tables, known.models, rng, resamples, ci_level)
    shared = {"ci_level": ci_level, "uncertain": uncertain, "unit": unit, "task": task, "weights": "micro"}
    return tidy(known.models, found, target=target, **shared)


def _unit_tables(known: ModelUnits, answers: pd.DataFrame, label: NDArray[np.object_]) -> Floats:
    """Tables (M, G, 2, 3) of gold yes, no by said yes, no, unreadable."""
    yes, lost = answers["endorsed"].to_numpy(float), answers["unclear"].to_numpy(float)
    group = np.where(label == "yes", 0, np.where(label == "no", 1, -1))
    said = (yes, 1 - yes - lost, lost)
    return np.stack([known.sums(np.asarray(part), group, 2) for part in said], axis=-1)


def _shares(tables: Floats, ci_level: float) -> list[ModelMeasure]:
    right = np.diagonal(tables[..., :2], axis1=-2, axis2=-1)
    scored, by_class = tables.sum(axis=(-2, -1)), tables.sum(axis=-1)
    said_yes = tables[..., 0].sum(axis=-1)
    parts = (
        ("accuracy", scored, right.sum(axis=-1), NOTHING),
        ("precision", said_yes, right[..., 0], NEVER_YES),
        ("recall", by_class[..., 0], right[..., 0], NO_POSITIVE),
        ("specificity", by_class[..., 1], right[..., 1], NO_NEGATIVE),
        ("yes_rate", scored, said_yes, NOTHING),
    )
    return [rate_measure(name, n, y, ci_level=ci_level, nothing=nothing) for name, n, y, nothing in parts]


def _macro_recall(tables: Floats, ci_level: float) -> ModelMeasure:
    """Mean of recall and specificity, the balanced accuracy of two classes, with its limits."""
    by_class, right = tables.sum(axis=-1), np.diagonal(tables[..., :2], axis1=-2, axis2=-1)
    rates = clustered_rates(by_class, right, np.array([[0.5, 0.5]]))
    low, high = rate_limits(rates, ci_level=ci_level)
    n = by_class.sum(axis=(-2, -1))
    return from_rates("macro_recall", rates, 0, low[:, 0], high[:, 0], n=n, nothing=NO_CLASS)


def _resampled(
    tables: Floats, names: tuple[str, ...], rng: np.random.Generator, resamples: int, ci_level: float
) -> list[ModelMeasure]:
    seed = int(rng.integers(2**63))
    drawn = np.zeros((resamples, len(names), 2, 3))
    for at, name in enumerate(names):
        own = tables[at][tables[at].sum(axis=(-2, -1)) > 0].reshape(-1, 6)
        if len(own):
            stream = np.random.default_rng([seed, zlib.crc32(name.encode())])
            drawn[:, at] = resampled_sums(own, rng=stream, resamples=resamples).reshape(resamples, 2, 3)
    observed, present = tables.sum(axis=1), (tables.sum(axis=(-2, -1)) > 0).sum(axis=1)
    return [
        _percentile(name, measure(observed), measure(drawn), scale, nothing, observed, present, ci_level)
        for name, (measure, scale, nothing) in _RESAMPLED.items()
    ]


def _percentile(
    name: str,
    estimate: Floats,
    drawn: Floats,
    scale: str,
    nothing: str,
    observed: Floats,
    units: NDArray[np.int64],
    ci_level: float,
) -> ModelMeasure:
    low, high = percentile_limits(drawn, ci_level=ci_level)
    empty, lost = np.isnan(estimate), np.isnan(low)
    flat = ~empty & ~lost & ~(high - low > 1e-12)
    usable = ~(empty | lost | flat)
    error = np.full(estimate.shape, np.nan)
    error[usable] = np.nanstd(drawn[:, usable], axis=0, ddof=1)
    reasons = [nothing, "undefined in more than 1% of the resamples: no interval", "no resample differs: no interval"]
    return ModelMeasure(
        measure=name,
        scale=scale,
        ci_method=BOOTSTRAP,
        estimate=estimate,
        std_error=error,
        df=np.full(estimate.shape, np.nan),
        low=np.where(usable, low, np.nan),
        high=np.where(usable, high, np.nan),
        n=np.rint(observed.sum(axis=(-2, -1))).astype(np.int64),
        n_clusters=units,
        reason=list(np.select([empty, lost, flat], reasons, "")),
    )
