"""Belief bias of every model: cells validity × believability, their contrasts, and the definition of one study."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.frequentist.clustered_rates import ClusteredRates, clustered_rates, difference_limits, rate_limits
from analysis.frequentist.differences import correlations, mover_limits, widened_to_t
from analysis.frequentist.model_measures import (
    DIFFERENCE,
    ModelMeasure,
    ModelUnits,
    from_rates,
    model_units,
    tidy,
)
from analysis.frequentist.proportion import score_limits
from analysis.measures.belief import (
    BELIEF_CELLS,
    BELIEF_WEIGHTS,
    INTERACTION_WEIGHTS,
    SHIFT_WEIGHTS,
    corrected_log_odds,
)
from analysis.measures.classification import credited

Floats = NDArray[np.float64]
CELL_WORDS: Final = dict(
    zip(
        BELIEF_CELLS,
        ("valid and believable", "valid and unbelievable", "invalid and believable", "invalid and unbelievable"),
        strict=True,
    )
)
#: Contrast -> its row of weights; the discrimination difference is estimated by halves, to lie in [-1, 1].
_CONTRASTS: Final = ("congruent", "incongruent", "belief_bias", "discrimination_difference")
PUBLISHED: Final = "belief_bias_labelled"


def belief_cells(answers: pd.DataFrame) -> NDArray[np.int64]:
    """Position of each row in ``BELIEF_CELLS``, -1 without believability or without a gold answer yes or no."""
    valid = answers["gold"].astype(str).map({"yes": 0, "no": 2})
    believed = answers["believability"].astype(str).map({"believable": 0, "unbelievable": 1})
    return np.asarray((valid + believed).fillna(-1), dtype=np.int64)


def belief_bias_estimates(
    answers: pd.DataFrame,
    *,
    uncertain: str = "incorrect",
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Accuracy by cell, congruent minus incongruent accuracy with equal cell weights, and shifts on the log-odds scale.

    Parameters
    ----------
    answers : DataFrame
        As ``reduction.votes`` gives them, with a column ``believability``. Rows without one are left out.
    uncertain : {"incorrect", "excluded", "half"}
    ci_level : float
    target : str
        ``census`` leaves intervals out.
    unit, task : str
        Labels for the result.

    Returns
    -------
    DataFrame
        One row per model and measure: ``acc_vb`` ..., ``congruent``, ``incongruent``, ``belief_bias``,
        ``discrimination_difference``, ``endorsement_log_odds_shift``, ``endorsement_log_odds_interaction``.
        Where a cell is empty every contrast that needs it is missing, with the reason.
    """
    check_level(ci_level)
    known = model_units(answers)
    cell = belief_cells(answers)
    right = credited(answers["right"], answers["unclear"], uncertain=uncertain)
    yes = credited(answers["endorsed"], answers["unclear"], uncertain=uncertain)
    n = known.sums(np.where(np.isnan(right), np.nan, 1.0), cell, 4)
    weights = np.vstack([np.eye(4), BELIEF_WEIGHTS[:3], BELIEF_WEIGHTS[3:] / 2])
    rates = clustered_rates(n, known.sums(right, cell, 4), weights)
    nothing = _empty_cells(n)
    low, high = rate_limits(rates, ci_level=ci_level)
    found = [
        from_rates(f"acc_{name.lower()}", rates, i, low[:, i], high[:, i], n=n[..., i].sum(axis=1), nothing=nothing[i])
        for i, name in enumerate(BELIEF_CELLS)
    ]
    total = n.sum(axis=(1, 2))
    for at, name in enumerate(_CONTRASTS, start=4):
        ends = (low[:, at], high[:, at])
        if at >= 6:
            ends = difference_limits(rates, at, (0, 1, 2, 3), weights[at], ci_level=ci_level)
        measure = from_rates(name, rates, at, *ends, n=total, nothing=nothing[-1], difference=at >= 6)
        found.append(_doubled(measure) if name == "discrimination_difference" else measure)
    said = clustered_rates(n, known.sums(yes, cell, 4), weights)
    for name, row in (
        ("endorsement_log_odds_shift", SHIFT_WEIGHTS),
        ("endorsement_log_odds_interaction", INTERACTION_WEIGHTS),
    ):
        found.append(_log_odds(name, said, n.sum(axis=1), row, ci_level, nothing[-1]))
    shared = {"ci_level": ci_level, "uncertain": uncertain, "unit": unit, "task": task, "weights": "cell"}
    return tidy(known.models, found, target=target, **shared)


def labelled_belief_bias(
    answers: pd.DataFrame,
    label: NDArray[np.bool_],
    *,
    uncertain: str = "incorrect",
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Accuracy where a yes/no label agrees with validity minus accuracy where it does not, over all rows.

    Parameters
    ----------
    answers : DataFrame
    label : ndarray of bool
        Whether the conclusion of each row is labelled believable; conclusions of nonsense words, labelled
        unbelievable by some studies, count as such.

    Notes
    -----
    Rows weigh the same and cells do not. With items that have no believability, labelled as unbelievable, it
    mixes belief bias with the difference of the accuracies on invalid and valid items: answer bias.
    """
    known = model_units(answers)
    valid = answers["gold"].astype(str).to_numpy() == "yes"
    group = np.where(valid == label, 0, 1)
    right = credited(answers["right"], answers["unclear"], uncertain=uncertain)
    n = known.sums(np.where(np.isnan(right), np.nan, 1.0), group, 2)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    rates = clustered_rates(n, known.sums(right, group, 2), weights)
    low, high = rate_limits(rates, ci_level=ci_level)
    nothing = "no scored item whose label agrees, or none whose label disagrees, with its validity"
    found = [
        from_rates(f"{name}_labelled", rates, i, low[:, i], high[:, i], n=n[..., i].sum(axis=1), nothing=nothing)
        for i, name in enumerate(("congruent", "incongruent"))
    ]
    ends = difference_limits(rates, 2, (0, 1), weights[2, :2], ci_level=ci_level)
    found.append(from_rates(PUBLISHED, rates, 2, *ends, n=n.sum(axis=(1, 2)), nothing=nothing, difference=True))
    shared = {"ci_level": ci_level, "uncertain": uncertain, "unit": unit, "task": task, "weights": "micro"}
    return tidy(known.models, found, target=target, **shared)


def cell_sums(answers: pd.DataFrame, *, uncertain: str) -> tuple[ModelUnits, Floats, Floats, NDArray[np.int64]]:
    """Models and units, trials and credit (M, G) over items with believability, and the cell of each unit.

    The cell is -1 of units without such items, -2 of units whose items lie in several cells.
    """
    known, cell = model_units(answers), belief_cells(answers)
    right = credited(answers["right"], answers["unclear"], uncertain=uncertain)
    right = np.where(cell >= 0, right, np.nan)
    least, most = np.full(len(known.units), 9), np.full(len(known.units), -1)
    np.minimum.at(least, known.unit[cell >= 0], cell[cell >= 0])
    np.maximum.at(most, known.unit[cell >= 0], cell[cell >= 0])
    place = np.where(most < 0, -1, np.where(least == most, most, -2))
    n = known.sums(np.where(np.isnan(right), np.nan, 1.0))[..., 0]
    return known, n, known.sums(right)[..., 0], place


def _empty_cells(n: Floats) -> list[list[str]]:
    """For each cell, and last for any contrast of all: why it is undefined, by model."""
    empty = n.sum(axis=1) == 0
    single = [[f"no scored item that is {CELL_WORDS[name]}"] * len(n) for name in BELIEF_CELLS]
    named = [[CELL_WORDS[name] for name, none in zip(BELIEF_CELLS, row, strict=True) if none] for row in empty]
    return [*single, [f"no scored item that is {' or '.join(names)}" for names in named]]


def _doubled(found: ModelMeasure) -> ModelMeasure:
    return ModelMeasure(
        measure=found.measure,
        scale=found.scale,
        ci_method=DIFFERENCE,
        estimate=2 * found.estimate,
        std_error=2 * found.std_error,
        df=found.df,
        low=2 * found.low,
        high=2 * found.high,
        n=found.n,
        n_clusters=found.n_clusters,
        reason=found.reason,
    )


def _log_odds(
    name: str, rates: ClusteredRates, trials: Floats, weights: Floats, ci_level: float, nothing: Sequence[str]
) -> ModelMeasure:
    """A contrast of the log-odds of endorsing the four cells.

    Notes
    -----
    Limits are square-and-add from the Wilson limits of the four rates, carried to log-odds with the same
    correction of 0.5, and with their cluster correlations; the delta interval would vanish at rates of 0 or 1.
    With few effective units the wider of both limits counts (``differences.widened_to_t``).
    """
    found, at = rates.contrasts, np.arange(4)
    rate = np.clip(found.estimate[:, at], 0, 1)
    quantile = student.ppf(0.5 + ci_level / 2, found.df[:, 6])
    low, high = score_limits(rate, rates.n_eff[:, at], quantile[:, None])
    covariance = found.covariance[:, at[:, None], at]
    joined = mover_limits(
        corrected_log_odds(rate, trials),
        corrected_log_odds(low, trials),
        corrected_log_odds(high, trials),
        weights,
        correlations(covariance),
    )
    still = (found.variance[:, at] <= 0).any(axis=1)
    slope = trials / (trials + 1) / _binomial_spread(rate, trials)
    gradient = weights * slope
    variance = ((gradient[:, None, :] @ covariance)[:, 0, :] * gradient).sum(axis=-1)
    estimate, units = corrected_log_odds(rate, trials) @ weights, found.design_units[:, 6]
    ends = widened_to_t(*joined, estimate, variance, units=units, quantile=quantile)
    empty, single = found.empty[:, 6], found.single[:, 6]
    unknown = empty | single
    constant = "no unit of one cell deviates, hence no standard error; the interval counts its units as responses"
    return ModelMeasure(
        measure=name,
        scale="log_odds",
        ci_method="square-and-add of cluster Wilson (t), log-odds scale",
        estimate=np.where(empty, np.nan, estimate),
        std_error=np.where(still | unknown, np.nan, np.sqrt(np.maximum(variance, 0))),
        df=found.df[:, 6],
        low=np.where(unknown, np.nan, ends[0]),
        high=np.where(unknown, np.nan, ends[1]),
        n=np.rint(trials.sum(axis=1)).astype(np.int64),
        n_clusters=rates.units[:, 6],
        reason=list(
            np.select(
                [empty, single, still], [nothing, "a cell has one unit only: its variance is unknown", constant], ""
            )
        ),
    )


def _binomial_spread(rate: Floats, trials: Floats) -> Floats:
    """p (1 - p) of the corrected rates."""
    p = (rate * trials + 0.5) / (trials + 1)
    return p * (1 - p)
