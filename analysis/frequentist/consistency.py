"""Consistency of every model over the versions of a base item, and how much of it means more than a leaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.model_measures import BOOTSTRAP, ModelMeasure, rate_measure, tidy
from analysis.frequentist.unit_bootstrap import unit_weights
from analysis.measures import agreement
from analysis.reduction.variants import VariantAnswers

Floats = NDArray[np.float64]
#: A larger share of undefined resamples leaves the interval of what remains without meaning.
_UNDEFINED_SHARE: Final = 0.05
NO_SETS: Final = "no unit whose versions all have a readable answer"
NO_PAIRS: Final = "no unit with two readable answers"
#: Measure of the bootstrap -> scale, and the reason where it is undefined.
_RESAMPLED: Final = {
    "krippendorff_alpha": ("agreement", "the answers are all the same, or no unit has two: no agreement to correct"),
    "fleiss_kappa": ("agreement", "the answers are all the same, or no unit is complete: no agreement to correct"),
    "consistency_same_marginals": ("probability", NO_SETS),
    "consistency_beyond_marginals": ("agreement", "all versions are expected to agree: nothing is beyond that"),
    "consistency_independent_errors": ("probability", "the right answers are not known as two classes"),
    "consistency_beyond_errors": ("probability difference", "the right answers are not known as two classes"),
}


@dataclass(frozen=True, slots=True)
class _Subjects:
    """Contributions of each unit, flattened behind the unit axis: everything is linear in weights of units.

    ``agreeing``, ``complete`` are (U, M); ``disagreeing``, ``disagreeing_complete`` (U, M, C); ``marginals``,
    ``marginals_complete`` (U, M, C, K); ``variants`` (U, M, C, V, K) over complete sets; ``right``, ``sets``
    (U, M, 2) by class of the right answer. All but those of alpha and kappa (``disagreeing``, ``marginals``) weigh
    units the same.
    """

    agreeing: Floats
    complete: Floats
    disagreeing: Floats
    marginals: Floats
    disagreeing_complete: Floats
    marginals_complete: Floats
    variants: Floats
    right: Floats
    sets: Floats


def consistency_estimates(
    answers: VariantAnswers,
    *,
    rng: np.random.Generator,
    pairs: Sequence[tuple[str, str]] = (),
    resamples: int = 10_000,
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Raw consistency and consistency beyond what leaning and accuracy imply, with intervals by unit.

    Parameters
    ----------
    answers : VariantAnswers
    rng : Generator
        For the bootstrap over units; models share the resamples.
    pairs : sequence of (str, str)
        Variants whose agreement is reported by itself.
    resamples : int
    ci_level, target, unit, task
        As elsewhere.

    Returns
    -------
    DataFrame
        One row per model and measure: ``consistency_all`` and ``consistency_<a>_<b>`` (share of units answered
        alike, complete ones only), ``consistency_pairwise`` (mean over pairs of versions), ``krippendorff_alpha``,
        ``fleiss_kappa`` (within configurations), ``consistency_same_marginals`` (expected of independent answers
        that lean as much) and ``consistency_beyond_marginals``, ``consistency_independent_errors`` (expected if
        errors are independent at the class accuracies) and ``consistency_beyond_errors`` (observed minus that),
        ``consistency_bound`` (least that the accuracy allows).

    Notes
    -----
    Shares are means over units of their means over configurations: every unit weighs the same, however many of its
    sets (unit × configuration) are complete. Alpha and kappa keep their definitions, by ratings. Chance agreement is
    computed within each configuration (strategy, temperature, ...), since prompts that lean differently would
    otherwise pass for agreement.
    """
    check_level(ci_level)
    subjects = _subjects(answers)
    found = [
        rate_measure("consistency_all", subjects.complete.T, subjects.agreeing.T, ci_level=ci_level, nothing=NO_SETS)
    ]
    found += [_pair(answers, pair, ci_level) for pair in pairs]
    found.append(_pairwise(answers, ci_level))
    found += _resampled(answers, subjects, rng, resamples, ci_level)
    bound = agreement.consistency_bound(_accuracy(subjects), len(answers.variants))
    found.append(_plain("consistency_bound", bound, subjects, "the right answers are not known as two classes"))
    shared = {"ci_level": ci_level, "unit": unit, "task": task, "uncertain": "excluded", "weights": "unit"}
    return tidy(answers.models, found, target=target, **shared)


def variant_marginals(answers: VariantAnswers) -> pd.DataFrame:
    """Shares of each answer and accuracy by model and variant, over readable answers: what agreement leans on.

    Returns
    -------
    DataFrame
        ``model, variant, answer, share, accuracy, n, n_clusters``; one row per model, variant and answer.
    """
    known = answers.codes >= 0
    n = known.sum(axis=(1, 2))
    right = ((answers.codes == answers.gold[:, None]) & known & (answers.gold >= 0)[:, None]).sum(axis=(1, 2))
    units = known.any(axis=1).sum(axis=1)
    rows = []
    for m, model in enumerate(answers.models):
        for v, variant in enumerate(answers.variants):
            for k, label in enumerate(answers.labels):
                share = (answers.codes[m, :, :, v] == k).sum() / n[m, v] if n[m, v] else np.nan
                accuracy = right[m, v] / n[m, v] if n[m, v] and (answers.gold >= 0).all() else np.nan
                rows.append((model, variant, label, share, accuracy, int(n[m, v]), int(units[m, v])))
    return pd.DataFrame(rows, columns=["model", "variant", "answer", "share", "accuracy", "n", "n_clusters"])


def set_counts(answers: VariantAnswers) -> pd.DataFrame:
    """Sets of versions by model: asked in part or whole, complete, and incomplete, over configurations and units."""
    asked, known = answers.asked.any(axis=-1), (answers.codes >= 0).all(axis=-1)
    return pd.DataFrame(
        {
            "model": answers.models,
            "sets": asked.sum(axis=(1, 2)),
            "sets_complete": known.sum(axis=(1, 2)),
            "sets_incomplete": (asked & ~known).sum(axis=(1, 2)),
            "configurations": asked.any(axis=2).sum(axis=1),
        }
    )


def _subjects(answers: VariantAnswers) -> _Subjects:
    codes, k = answers.codes, len(answers.labels)
    if codes.shape[-1] < 2:
        raise AnalysisError("consistency needs at least two versions of a base item")
    counts = agreement.category_counts(codes, k)
    agreeing = agreement.all_agree(codes)
    complete = ~np.isnan(agreeing)
    whole = np.where(complete[..., None], counts, 0.0)
    onehot = (codes[..., None] == np.arange(k)) & complete[..., None, None]
    right = (codes == answers.gold[:, None]).mean(axis=-1) * complete
    gold = answers.gold[:, None] == np.arange(2) if k == 2 else np.zeros((len(answers.gold), 2), bool)
    per_class = (complete[..., None] * gold).sum(axis=1)
    weight = _equal_weights(complete.sum(axis=1))
    return _Subjects(
        agreeing=_by_unit(weight * np.where(complete, agreeing, 0.0).sum(axis=1), 1),
        complete=_by_unit(weight * complete.sum(axis=1), 1),
        disagreeing=_by_unit(agreement.disagreements(counts), 2),
        marginals=_by_unit(agreement.pairable(counts), 2),
        disagreeing_complete=_by_unit(agreement.disagreements(whole), 2),
        marginals_complete=_by_unit(whole, 2),
        variants=_by_unit(weight[:, None, :, None, None] * onehot, 2),
        right=_by_unit(weight[..., None] * (right[..., None] * gold).sum(axis=1), 1),
        sets=_by_unit(weight[..., None] * per_class, 1),
    )


def _equal_weights(sets: NDArray[np.int64]) -> Floats:
    """Weights (M, U) of a unit's sets that make units equal and leave their sum what it was; 1 where they are."""
    some = sets > 0
    each = sets.sum(axis=1, keepdims=True) / np.maximum(some.sum(axis=1, keepdims=True), 1)
    return np.where(some, each / np.maximum(sets, 1), 0.0)


def _by_unit(values: Floats, axis: int) -> Floats:
    return np.ascontiguousarray(np.moveaxis(values, axis, 0))


def _weighted(weights: Floats, values: Floats) -> Floats:
    """Sums (B, ...) over units under weights (B, U)."""
    return (weights @ values.reshape(len(values), -1)).reshape(len(weights), *values.shape[1:])


def _measures(subjects: _Subjects, weights: Floats, variants: int) -> dict[str, Floats]:
    """The resampled measures (B, M) under weights of units (B, U)."""
    agreeing, complete = _weighted(weights, subjects.agreeing), _weighted(weights, subjects.complete)
    observed = _share(agreeing, complete)
    given = _weighted(weights, subjects.variants)
    sets = given.sum(axis=-1)[..., 0]
    expected = agreement.expected_same_marginals(_share(given, given.sum(axis=-1, keepdims=True)))
    chance = _share(np.where(sets > 0, expected * sets, 0.0).sum(axis=-1), sets.sum(axis=-1))
    by_class, right = _weighted(weights, subjects.sets), _weighted(weights, subjects.right)
    total = by_class.sum(axis=-1, keepdims=True)
    errors = agreement.expected_independent_errors(_share(right, by_class), _share(by_class, total), variants)
    errors = np.where((total[..., 0] > 0) & np.isclose(total[..., 0], complete), errors, np.nan)
    return {
        "krippendorff_alpha": agreement.alpha_from_sums(
            _weighted(weights, subjects.disagreeing), _weighted(weights, subjects.marginals)
        ),
        "fleiss_kappa": agreement.kappa_from_sums(
            _weighted(weights, subjects.disagreeing_complete), _weighted(weights, subjects.marginals_complete)
        ),
        "consistency_same_marginals": chance,
        "consistency_beyond_marginals": agreement.beyond_expected(observed, chance),
        "consistency_independent_errors": errors,
        "consistency_beyond_errors": observed - errors,
    }


def _resampled(
    answers: VariantAnswers, subjects: _Subjects, rng: np.random.Generator, resamples: int, ci_level: float
) -> list[ModelMeasure]:
    units, variants = len(answers.units), len(answers.variants)
    observed = _measures(subjects, np.ones((1, units)), variants)
    drawn: dict[str, list[Floats]] = {name: [] for name in observed}
    for weights in unit_weights(units, rng, resamples):
        for name, values in _measures(subjects, weights, variants).items():
            drawn[name].append(values)
    return [_percentile(name, observed[name][0], np.concatenate(drawn[name]), subjects, ci_level) for name in observed]


def _percentile(name: str, observed: Floats, drawn: Floats, subjects: _Subjects, ci_level: float) -> ModelMeasure:
    """Percentile limits over resamples (B, M); none where they do not vary or are often undefined."""
    scale, nothing = _RESAMPLED[name]
    lost = np.isnan(drawn).mean(axis=0)
    empty, rare = np.isnan(observed), lost > _UNDEFINED_SHARE
    usable = ~empty & ~rare
    low, high, error = (np.full(observed.shape, np.nan) for _ in range(3))
    for m in np.flatnonzero(usable):
        values = drawn[~np.isnan(drawn[:, m]), m]
        low[m], high[m] = np.quantile(values, [(1 - ci_level) / 2, (1 + ci_level) / 2])
        error[m] = values.std(ddof=1)
    flat = usable & ~(high - low > 1e-12)
    low[flat], high[flat], error[flat] = np.nan, np.nan, np.nan
    reasons = [nothing, "undefined in more than 5% of the resamples: no interval", "no resample differs: no interval"]
    return ModelMeasure(
        measure=name,
        scale=scale,
        ci_method=BOOTSTRAP,
        estimate=observed,
        std_error=error,
        df=np.full(observed.shape, np.nan),
        low=low,
        high=high,
        n=np.rint(subjects.complete.sum(axis=0)).astype(np.int64),
        n_clusters=(subjects.complete > 0).sum(axis=0),
        reason=list(np.select([empty, rare, flat], reasons, "")),
    )


def _pair(answers: VariantAnswers, pair: tuple[str, str], ci_level: float) -> ModelMeasure:
    missing = [name for name in pair if name not in answers.variants]
    if missing:
        raise AnalysisError(
            f"no answer has the variant {missing[0]!r}; there are {', '.join(answers.variants)}", offenders=missing
        )
    alike = agreement.all_agree(answers.codes[..., [answers.variants.index(name) for name in pair]])
    name = f"consistency_{pair[0]}_{pair[1]}"
    n, y = _of_units(~np.isnan(alike), np.nan_to_num(alike))
    return rate_measure(name, n, y, ci_level=ci_level, nothing="no unit with both readable answers")


def _pairwise(answers: VariantAnswers, ci_level: float) -> ModelMeasure:
    counts = agreement.category_counts(answers.codes, len(answers.labels))
    m = counts.sum(axis=-1)
    alike = 1 - agreement.disagreements(counts) / np.maximum(m, 1)
    n, y = _of_units(m >= 2, np.where(m >= 2, alike, 0.0))
    return rate_measure("consistency_pairwise", n, y, ci_level=ci_level, nothing=NO_PAIRS)


def _of_units(usable: NDArray[np.bool_], alike: Floats) -> tuple[Floats, Floats]:
    """Sets and what of them agrees (M, U), units weighing the same, from both by configuration (M, C, U)."""
    sets = usable.sum(axis=1)
    weight = _equal_weights(sets)
    return weight * sets, weight * alike.sum(axis=1)


def _accuracy(subjects: _Subjects) -> Floats:
    """Accuracy (M,) on complete sets whose right answers are two classes; NaN where some are not."""
    right, sets = subjects.right.sum(axis=(0, 2)), subjects.sets.sum(axis=(0, 2))
    return np.where(np.isclose(sets, subjects.complete.sum(axis=0)), _share(right, sets), np.nan)


def _plain(name: str, values: Floats, subjects: _Subjects, nothing: str) -> ModelMeasure:
    blank = np.full(values.shape, np.nan)
    return ModelMeasure(
        measure=name,
        scale="probability",
        ci_method="",
        estimate=values,
        std_error=blank,
        df=blank,
        low=blank,
        high=blank,
        n=np.rint(subjects.complete.sum(axis=0)).astype(np.int64),
        n_clusters=(subjects.complete > 0).sum(axis=0),
        reason=["no interval: a consequence of the accuracy" if np.isfinite(v) else nothing for v in values],
    )


def _share(top: Floats, bottom: Floats) -> Floats:
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    return np.divide(top, bottom, out=np.full(shape, np.nan), where=np.broadcast_to(bottom > 0, shape))
