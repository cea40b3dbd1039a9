"""Draws of accuracies as tidy rows: the same measures as the frequentist estimates, with their diagnostics."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import rankdata

from analysis.bayes.diagnostics import convergence, mcse_mean, mcse_quantile, quantile_bounds
from analysis.measures.competence import affirmative_floor, balanced_accuracy, cell_floor, competence_floor
from analysis.measures.yes_no_bias import (
    FOUR_CELLS,
    acc_no,
    acc_yes,
    answer_bias,
    polarity_sensitivity,
    validity_contrast,
)

Floats = NDArray[np.float64]

_PROBABILITY: Final = "probability"
_DIFFERENCE: Final = "probability difference"
_LOG_ODDS: Final = "log_odds"
#: Measure -> (kernel over the cells on the last axis, scale, needs four cells).
KERNELS: Final[dict[str, tuple[Callable[[Floats], Floats], str, bool]]] = {
    "acc_yes": (acc_yes, _PROBABILITY, False),
    "acc_no": (acc_no, _PROBABILITY, False),
    "acc_va": (lambda a: a[..., 0], _PROBABILITY, True),
    "acc_vn": (lambda a: a[..., 1], _PROBABILITY, True),
    "acc_ia": (lambda a: a[..., 2], _PROBABILITY, True),
    "acc_in": (lambda a: a[..., 3], _PROBABILITY, True),
    "balanced_accuracy": (balanced_accuracy, _PROBABILITY, False),
    "answer_bias": (answer_bias, _DIFFERENCE, False),
    "polarity_sensitivity": (polarity_sensitivity, _DIFFERENCE, True),
    "validity_contrast": (validity_contrast, _DIFFERENCE, True),
    "competence_floor": (competence_floor, _PROBABILITY, False),
    "affirmative_floor": (affirmative_floor, _PROBABILITY, True),
    "cell_floor": (cell_floor, _PROBABILITY, True),
}
RANK: Final = "floor_rank"
#: Measures whose probability of exceeding one half is printed.
FLOORS: Final = frozenset({"competence_floor", "affirmative_floor", "cell_floor"})
NOT_ASKED: Final = "no response of this model that counts in a cell that this needs"
CERTAIN: Final = "the same in every draw, hence without diagnostics"
#: Half a unit of the third decimal: values nearer than this to 0, 1 or each other print alike.
HALF_DIGIT: Final = 0.0005
#: Least width of an interval for its Monte-Carlo error: 5 % of it are half a printed digit.
_LEAST_WIDTH: Final = 20 * HALF_DIGIT
_BLOCK: Final = 64


def accuracy_table(
    accuracy: Floats,
    models: tuple[str, ...],
    names: tuple[str, ...],
    *,
    ci_level: float = 0.95,
    markov: bool = True,
    cores: int = 1,
) -> pd.DataFrame:
    """One row per model and measure from draws of accuracies.

    Parameters
    ----------
    accuracy : ndarray (chains, draws, M, cells)
        NaN where a model was not asked.
    models, names : tuple of str
        Order of the last two axes.
    ci_level : float in (0, 1)
    markov : bool
        Draws come from a Markov chain; independent draws have no diagnostics.
    cores : int
        Threads.

    Returns
    -------
    DataFrame
        ``model, measure, estimate`` (median), ``posterior_mean, posterior_sd, ci_low, ci_high`` (equal
        tails), ``p_above`` (floors: probability of exceeding .5), ``p_direction`` (differences: the larger of
        the probabilities of either sign), ``scale``, and ``r_hat, ess_bulk, ess_tail, mcse`` (of the
        median), ``mcse_end`` (the larger of the two ends'), ``mcse_share``, ``mcse_probability``.

    Notes
    -----
    The posterior mean of a floor inherits the bias of a minimum, hence the median as the estimate;
    ``floor_of_means`` beside it is the smaller of the posterior means of its accuracies.
    ``mcse_share`` is the Monte-Carlo error of an interval's end as a share of the interval's width, on the
    log-odds scale of values cut at HALF_DIGIT from their bounds; where that is larger, in units of the
    probability scale with a width of at least .01. Near 0 and 1 posteriors are so skewed that the error of
    independent draws exceeds 5 % of the width in probability, although both ends print well.
    """
    labels, columns = [], []
    for measure, (kernel, scale, four) in KERNELS.items():
        if four and names != FOUR_CELLS:
            continue
        columns.append(kernel(accuracy))
        labels += [(model, measure, scale) for model in models]
    if len(models) > 1:
        columns.append(_floor_ranks(accuracy))
        labels += [(model, RANK, "rank") for model in models]
    draws = np.concatenate(columns, axis=-1)
    keys = pd.DataFrame(labels, columns=["model", "measure", "scale"])
    starts = range(0, len(keys), _BLOCK)

    def block(start: int) -> pd.DataFrame:
        part = slice(start, start + _BLOCK)
        return quantity_summary(draws[..., part], keys.iloc[part], ci_level=ci_level, markov=markov)

    with ThreadPoolExecutor(cores) as pool:
        blocks = list(pool.map(block, starts))
    table = pd.concat(blocks, ignore_index=True)
    table["floor_of_means"] = _floor_of_means(table, accuracy, models)
    order = {model: i for i, model in enumerate(models)}
    return table.sort_values("model", key=lambda c: c.map(order), kind="stable").reset_index(drop=True)


def _floor_ranks(accuracy: Floats) -> Floats:
    """Rank of each model's competence floor in every draw, 1 the highest; NaN for a model without one."""
    floor = competence_floor(accuracy)
    known = np.isfinite(floor).all(axis=(0, 1))
    ranks = np.full(floor.shape, np.nan)
    if known.any():
        ranks[..., known] = rankdata(-floor[..., known], axis=-1, method="average")
    return ranks


def _floor_of_means(table: pd.DataFrame, accuracy: Floats, models: tuple[str, ...]) -> pd.Series:
    means = dict(zip(models, competence_floor(accuracy.mean(axis=(0, 1))), strict=True))
    return table["model"].map(means).where(table["measure"] == "competence_floor")


def quantity_summary(draws: Floats, keys: pd.DataFrame, *, ci_level: float, markov: bool = True) -> pd.DataFrame:
    """Rows of ``accuracy_table`` for any quantities.

    Parameters
    ----------
    draws : ndarray (chains, draws, Q)
        NaN where a quantity is undefined.
    keys : DataFrame (Q rows)
        ``measure``, ``scale`` (probability, probability difference, log_odds, rank), and whatever else names a
        quantity.
    ci_level : float in (0, 1)
    markov : bool
    """
    known = np.isfinite(draws).all(axis=(0, 1))
    found = pd.DataFrame(np.nan, index=keys.index, columns=[*_NUMBERS, *_DIAGNOSTICS])
    if known.any():
        numbers, event = _numbers(draws[..., known], keys.loc[known], ci_level)
        found.loc[known, list(_NUMBERS)] = np.column_stack(numbers)
        if markov:
            errors = _errors(draws[..., known], event, keys.loc[known], ci_level)
            found.loc[known, list(_DIAGNOSTICS)] = np.column_stack(errors)
    no_probability = found["p_above"].isna() & found["p_direction"].isna()
    found["mcse_probability"] = found["mcse_probability"].mask(no_probability)
    still = known & markov & found["r_hat"].isna().to_numpy()
    reasons = np.where(still, CERTAIN, np.where(known, "", NOT_ASKED))
    return pd.concat([keys, found], axis=1).assign(ci_level=ci_level, ci_method="eti", reason=reasons)


_NUMBERS: Final = ("estimate", "posterior_mean", "posterior_sd", "ci_low", "ci_high", "p_above", "p_direction")
_DIAGNOSTICS: Final = ("r_hat", "ess_bulk", "ess_tail", "mcse", "mcse_end", "mcse_share", "mcse_probability")

#: Columns that are blank where a result is undefined.
NUMBERS: Final = (*_NUMBERS, *_DIAGNOSTICS, "floor_of_means")


def _numbers(draws: Floats, keys: pd.DataFrame, ci_level: float) -> tuple[tuple[Floats, ...], Floats]:
    """Values of _NUMBERS, and the event behind the printed probability as 0 and 1."""
    tail = (1 - ci_level) / 2
    flat = draws.reshape(-1, draws.shape[-1])
    low, middle, high = np.quantile(flat, [tail, 0.5, 1 - tail], axis=0)
    is_floor = keys["measure"].isin(FLOORS).to_numpy()
    is_difference = keys["scale"].isin([_DIFFERENCE, _LOG_ODDS]).to_numpy()
    event = (draws > np.where(is_floor, 0.5, 0.0)).astype(float)
    probability = event.mean(axis=(0, 1))
    above = np.where(is_floor, probability, np.nan)
    direction = np.where(is_difference, np.maximum(probability, 1 - probability), np.nan)
    return (middle, flat.mean(axis=0), flat.std(axis=0, ddof=1), low, high, above, direction), event


def _errors(draws: Floats, event: Floats, keys: pd.DataFrame, ci_level: float) -> tuple[Floats, ...]:
    """Values of _DIAGNOSTICS."""
    tail = (1 - ci_level) / 2
    found = convergence(draws)
    ends = np.quantile(draws, [tail, 1 - tail], axis=(0, 1))
    bounds = tuple(quantile_bounds(draws, prob) for prob in (tail, 1 - tail))
    error = np.fmax(*((upper - lower) / 2 for lower, upper in bounds))
    share = end_error_share(ends, bounds, least=np.where(keys["scale"] == _DIFFERENCE, -1.0, 0.0))
    unbounded = (keys["scale"] == _LOG_ODDS).to_numpy()
    share = np.where(unbounded, error / np.maximum(ends[1] - ends[0], _LEAST_WIDTH), share)
    certain = np.isin(event.mean(axis=(0, 1)), (0.0, 1.0))
    probability = np.where(certain, 0.0, mcse_mean(event))
    return found.r_hat, found.ess_bulk, found.ess_tail, mcse_quantile(draws, 0.5), error, share, probability


def end_error_share(ends: Floats, bounds: tuple[tuple[Floats, Floats], ...], *, least: Floats) -> Floats:
    """Monte-Carlo error of the worse end of intervals as a share of their widths; see ``accuracy_table``.

    Parameters
    ----------
    ends : ndarray (2, Q)
    bounds : pairs of ndarray (Q,)
        One-sd bounds of either end.
    least : ndarray (Q,)
        Smallest possible value, 0 or -1; the largest is 1.
    """
    plain = np.fmax(*((upper - lower) / 2 for lower, upper in bounds)) / np.maximum(ends[1] - ends[0], _LEAST_WIDTH)
    low, high = (_cut_log_odds(end, least) for end in ends)
    errors = [(_cut_log_odds(upper, least) - _cut_log_odds(lower, least)) / 2 for lower, upper in bounds]
    width = high - low
    skewed = np.divide(np.fmax(*errors), width, out=np.full_like(width, np.inf), where=width > 0)
    # Draws that are all the same have no error to set against a width.
    return np.where(np.isnan(plain), np.nan, np.fmin(plain, skewed))


def _cut_log_odds(value: Floats, least: Floats) -> Floats:
    """Log-odds of the place between the smallest value and 1, cut at HALF_DIGIT."""
    return logit(np.clip((value - least) / (1 - least), HALF_DIGIT, 1 - HALF_DIGIT))
