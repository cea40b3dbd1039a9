"""Draws of incoherence as tidy rows with their diagnostics, and contrasts between models."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.diagnostics import convergence, mcse_mean, mcse_quantile
from analysis.bayes.incoherence_data import ROUNDING
from analysis.bayes.incoherence_priors import PRESENT

Floats = NDArray[np.float64]

#: Measures with a boundary at 0: their two-sided interval cannot contain it.
BOUNDARY: Final = frozenset({"persistent", "spread"})
SIGNED: Final = frozenset({"direction"})
CONTRASTED: Final = ("noise", "persistent", "spread", "direction")
#: Difference of two models in log-odds below which they count as equivalent.
ROPE: Final = 0.05
#: Posterior probability from which on a statement is made.
SURE: Final = 0.95
CERTAIN: Final = "the same in every draw"
BOUNDARY_NOTE: Final = "cannot contain 0: read the upper bound and the probability of exceeding the threshold"


def hdi(draws: Floats, *, ci_level: float) -> tuple[Floats, Floats]:
    """Shortest interval with a share ``ci_level`` of draws (S, Q), each end (Q,)."""
    ordered = np.sort(draws, axis=0)
    inside = int(np.floor(ci_level * len(ordered)))
    width = ordered[inside:] - ordered[: len(ordered) - inside]
    at, columns = width.argmin(axis=0), np.arange(draws.shape[1])
    return ordered[at, columns], ordered[at + inside, columns]


def quantity_rows(keys: pd.DataFrame, draws: Floats, *, ci_level: float) -> pd.DataFrame:
    """One row per quantity.

    Parameters
    ----------
    keys : DataFrame (Q rows)
        ``measure`` and whatever else names a quantity.
    draws : ndarray (chains, draws, Q)
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        The keys with ``estimate`` (median), ``posterior_mean``, ``posterior_sd``, ``ci_low``, ``ci_high``
        (equal tails), ``p_direction`` (signed measures), and for measures with a boundary ``upper_bound``
        (one-sided, at ``ci_level``), ``hdi_low``, ``hdi_high``, and for persistent incoherence
        ``p_present``, the probability that it exceeds ``threshold``; ``r_hat, ess_bulk, ess_tail, mcse,
        mcse_end, mcse_share`` (of the interval's width), ``mcse_probability``.
    """
    flat = draws.reshape(-1, draws.shape[-1])
    tail = (1 - ci_level) / 2
    low, middle, high, upper = np.quantile(flat, [tail, 0.5, 1 - tail, ci_level], axis=0)
    hdi_low, hdi_high = hdi(flat, ci_level=ci_level)
    boundary = keys["measure"].isin(BOUNDARY).to_numpy()
    signed = keys["measure"].isin(SIGNED).to_numpy()
    persistent = (keys["measure"] == "persistent").to_numpy()
    above, below = (draws > 0).mean(axis=(0, 1)), (draws < 0).mean(axis=(0, 1))
    event = np.where(persistent, draws > PRESENT, np.where(above >= below, draws > 0, draws < 0)).astype(float)
    table = keys.assign(
        estimate=middle,
        posterior_mean=flat.mean(axis=0),
        posterior_sd=flat.std(axis=0, ddof=1),
        ci_low=low,
        ci_high=high,
        ci_level=ci_level,
        ci_method="eti",
        upper_bound=np.where(boundary, upper, np.nan),
        hdi_low=np.where(boundary, hdi_low, np.nan),
        hdi_high=np.where(boundary, hdi_high, np.nan),
        threshold=np.where(persistent, PRESENT, np.nan),
        p_present=np.where(persistent, event.mean(axis=(0, 1)), np.nan),
        p_direction=np.where(signed, np.maximum(above, below), np.nan),
        scale=np.where(keys["measure"] == "incoherent_share", "probability", "log_odds"),
    )
    return with_diagnostics(table, draws, event, ci_level=ci_level, probability=persistent | signed)


def with_diagnostics(
    table: pd.DataFrame, draws: Floats, event: Floats, *, ci_level: float, probability: NDArray[np.bool_]
) -> pd.DataFrame:
    """The rows with what their gates read; a quantity that never moves has none, and says so in ``reason``.

    The error of an end is a share of the interval's width, or of ROUNDING where that is wider: ends that lie closer
    together than answers are exact need no more.
    """
    tail = (1 - ci_level) / 2
    found = convergence(draws)
    ends = np.fmax(mcse_quantile(draws, tail), mcse_quantile(draws, 1 - tail))
    width = (table["ci_high"] - table["ci_low"]).to_numpy()
    certain = np.isin(event.mean(axis=(0, 1)), (0.0, 1.0))
    still = np.ptp(draws, axis=(0, 1)) == 0
    return table.assign(
        r_hat=np.where(still, np.nan, found.r_hat),
        ess_bulk=np.where(still, np.nan, found.ess_bulk),
        ess_tail=np.where(still, np.nan, found.ess_tail),
        mcse=np.where(still, np.nan, mcse_quantile(draws, 0.5)),
        mcse_end=np.where(still, np.nan, ends),
        mcse_share=np.divide(ends, np.maximum(width, ROUNDING), out=np.zeros_like(width), where=width > 0),
        mcse_probability=np.where(probability, np.where(certain, 0.0, mcse_mean(event)), np.nan),
        reason=np.where(still, CERTAIN, ""),
    )


def decision(p_present: Floats) -> NDArray[np.str_]:
    """``above`` or ``below`` the threshold where that is sure, else ``undecided``; empty without a probability."""
    found = np.select([p_present > SURE, p_present < 1 - SURE], ["above", "below"], "undecided")
    return np.where(np.isnan(p_present), "", found)


def contrast_rows(keys: pd.DataFrame, draws: Floats, *, ci_level: float) -> pd.DataFrame:
    """One row per difference of two models, from draws (chains, draws, Q) of the difference.

    Returns
    -------
    DataFrame
        The keys with estimate, interval and diagnostics as ``quantity_rows``; ``p_direction``; ``rope_low``,
        ``rope_high``; ``p_rope``, the probability of lying between them; ``decision``: difference,
        equivalent or undecided, the first two with a posterior probability above SURE.
    """
    flat = draws.reshape(-1, draws.shape[-1])
    tail = (1 - ci_level) / 2
    low, middle, high = np.quantile(flat, [tail, 0.5, 1 - tail], axis=0)
    above, below = (draws > 0).mean(axis=(0, 1)), (draws < 0).mean(axis=(0, 1))
    inside = (np.abs(flat) < ROPE).mean(axis=0)
    beyond = np.maximum((flat > ROPE).mean(axis=0), (flat < -ROPE).mean(axis=0))
    table = keys.assign(
        estimate=middle,
        posterior_mean=flat.mean(axis=0),
        posterior_sd=flat.std(axis=0, ddof=1),
        ci_low=low,
        ci_high=high,
        ci_level=ci_level,
        ci_method="eti",
        p_direction=np.maximum(above, below),
        rope_low=-ROPE,
        rope_high=ROPE,
        p_rope=inside,
        decision=np.select([beyond > SURE, inside > SURE], ["difference", "equivalent"], "undecided"),
        scale="log_odds",
    )
    event = np.where(above >= below, draws > 0, draws < 0).astype(float)
    return with_diagnostics(table, draws, event, ci_level=ci_level, probability=np.ones(len(keys), bool))


def bayes_factor(p_prior: float, p_posterior: float, draws: float) -> tuple[float, str]:
    """Posterior over prior odds of the same statement, and whether it is only a bound.

    Parameters
    ----------
    p_prior, p_posterior : float
        Probabilities of the statement; ``p_prior`` strictly between 0 and 1.
    draws : float
        Effective draws behind ``p_posterior``. Where all or none of them agree, odds are known only to lie
        beyond those of one draw more.

    Returns
    -------
    value : float
    bound : str
        Empty, ``at least`` or ``at most``.
    """
    edge = 1 / (draws + 1)
    p = min(max(p_posterior, edge), 1 - edge)
    bound = "at least" if p_posterior > p else "at most" if p_posterior < p else ""
    return (p / (1 - p)) / (p_prior / (1 - p_prior)), bound
