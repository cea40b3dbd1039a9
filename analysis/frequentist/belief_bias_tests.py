"""Could the believability labels as well be others? Permutation over units; and belief bias of the models together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.belief_bias import cell_sums
from analysis.frequentist.multiplicity import family_size, holm
from analysis.measures.belief import BELIEF_CELLS, BELIEF_WEIGHTS

Floats = NDArray[np.float64]
_BLOCK = 1000


@dataclass(frozen=True, slots=True)
class PooledBeliefBias:
    """Mean belief bias over models.

    Attributes
    ----------
    estimate : float
        Mean over models of congruent minus incongruent accuracy; NaN where a model or cell is missing.
    these_low, these_high : float
        Percentile limits over units drawn within cells: these models, other items.
    both_low, both_high : float
        The same with the models drawn as well: other models and other items.
    ci_level : float
    p_value, mc_error : float
        Permutation of the believability labels over units within validity, two-sided.
    n_models, n_clusters, resamples : int
    reason : str
    """

    estimate: float
    these_low: float
    these_high: float
    both_low: float
    both_high: float
    ci_level: float
    p_value: float
    mc_error: float
    n_models: int
    n_clusters: int
    resamples: int
    reason: str


def belief_permutation_tests(
    answers: pd.DataFrame, *, rng: np.random.Generator, permutations: int = 20_000, uncertain: str = "incorrect"
) -> pd.DataFrame:
    """Test of no belief bias for each model, by permuting believability over units within validity.

    Parameters
    ----------
    answers : DataFrame
        With ``believability``; rows without one are left out.
    rng : Generator
        Models share the permutations.
    permutations : int

    Returns
    -------
    DataFrame
        ``model, measure, estimate, test, alternative, p_value, mc_error, resolution, p_adjusted,
        p_adjust_method, family_size, n_clusters, reason``; p = (1 + #) / (permutations + 1), Holm over models.

    References
    ----------
    Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9:39, doi:10.2202/1544-6115.1585.
    """
    known, n, y, cell = cell_sums(answers, uncertain=uncertain)
    reason = _no_labels(cell)
    observed = _bias(n, y, _indicators(cell))
    p = np.full(len(known.models), np.nan)
    if not reason:
        p = _permutation_p(n, y, cell, observed, rng, permutations)
    unequal = np.isnan(observed)
    return pd.DataFrame(
        {
            "model": known.models,
            "measure": "belief_bias",
            "estimate": observed,
            "test": "permutation of believability over units within validity",
            "alternative": "two-sided",
            "p_value": p,
            "mc_error": np.sqrt(p * (1 - p) / permutations),
            "resolution": np.where(np.isnan(p), np.nan, 1 / (permutations + 1)),
            "p_adjusted": holm(p),
            "p_adjust_method": "holm",
            "family_size": family_size(p),
            "n_clusters": [int((row[cell >= 0] > 0).sum()) for row in n],
            "reason": [reason or ("a cell of validity and believability is empty" if u else "") for u in unequal],
        }
    )


def pooled_belief_bias(
    answers: pd.DataFrame,
    *,
    rng: np.random.Generator,
    resamples: int = 10_000,
    permutations: int = 20_000,
    uncertain: str = "incorrect",
    ci_level: float = 0.95,
) -> PooledBeliefBias:
    """Mean belief bias of the models, with units alone or models and units drawn anew.

    Notes
    -----
    The two-way bootstrap multiplies independent weights of models and of units, units drawn within their cell so
    that none is empty. Its variance counts the interaction once too often and is never too small by design
    (Owen 2007); a claim about other models takes these as a sample of them, which nobody drew.

    References
    ----------
    Owen (2007), Annals of Applied Statistics 1:386-411, doi:10.1214/07-AOAS122.
    """
    check_level(ci_level)
    _, n, y, cell = cell_sums(answers, uncertain=uncertain)
    observed = _bias(n, y, _indicators(cell))
    kept = ~np.isnan(observed)
    reason = _no_labels(cell) or ("" if kept.any() else "a cell of validity and believability is empty")
    if reason:
        nothing = dict.fromkeys(
            ("estimate", "these_low", "these_high", "both_low", "both_high", "p_value", "mc_error"), np.nan
        )
        return PooledBeliefBias(
            **nothing,
            ci_level=ci_level,
            n_models=int(kept.sum()),
            n_clusters=int((cell >= 0).sum()),
            resamples=0,
            reason=reason,
        )
    n, y = n[kept], y[kept]
    these, both = _two_way(n, y, cell, rng, resamples)
    tails = ((1 - ci_level) / 2, (1 + ci_level) / 2)
    estimate = float(observed[kept].mean())
    p = float(_permutation_p(n, y, cell, observed[kept], rng, permutations, pooled=True)[0])
    limits = [float(end) for drawn in (these, both) for end in np.quantile(drawn, tails)]
    return PooledBeliefBias(
        estimate=estimate,
        these_low=limits[0],
        these_high=limits[1],
        both_low=limits[2],
        both_high=limits[3],
        ci_level=ci_level,
        p_value=p,
        mc_error=float(np.sqrt(p * (1 - p) / permutations)),
        n_models=int(kept.sum()),
        n_clusters=int((cell >= 0).sum()),
        resamples=resamples,
        reason="" if kept.all() else f"{int((~kept).sum())} models lack a cell and are left out",
    )


def _no_labels(cell: NDArray[np.int64]) -> str:
    if (cell == -2).any():
        return "believability or validity varies within units: labels cannot be permuted over units"
    missing = [name for i, name in enumerate(BELIEF_CELLS) if not (cell == i).any()]
    return f"no unit in cell {', '.join(missing)}" if missing else ""


def _indicators(cell: NDArray[np.int64]) -> Floats:
    """(G, 4): 1 in the cell of each unit."""
    return (cell[:, None] == np.arange(4)).astype(float)


def _bias(n: Floats, y: Floats, cells: Floats) -> Floats:
    """Belief bias (M, ...) from sums by unit (M, G) and the cells (..., G, 4) of the units."""
    trials, events = n @ cells, y @ cells
    rate = np.divide(events, trials, out=np.full(trials.shape, np.nan), where=trials > 0)
    return rate @ BELIEF_WEIGHTS[2]


def _permutation_p(
    n: Floats,
    y: Floats,
    cell: NDArray[np.int64],
    observed: Floats,
    rng: np.random.Generator,
    permutations: int,
    *,
    pooled: bool = False,
) -> Floats:
    reference = np.atleast_1d(observed.mean()) if pooled else observed
    hits = np.zeros(reference.shape)
    classes = [np.flatnonzero((cell // 2 == v) & (cell >= 0)) for v in (0, 1)]
    for start in range(0, permutations, _BLOCK):
        size = min(_BLOCK, permutations - start)
        labels = np.repeat(cell[None], size, axis=0)
        for units in classes:
            labels[:, units] = rng.permuted(np.repeat(cell[None, units], size, axis=0), axis=1)
        bias = _bias_by_label(n, y, labels)
        value = bias.mean(axis=0, keepdims=True) if pooled else bias
        hits += (np.abs(value) >= np.abs(reference)[:, None] - 1e-12).sum(axis=1)
    return np.where(np.isnan(reference), np.nan, (hits + 1) / (permutations + 1))


def _bias_by_label(n: Floats, y: Floats, labels: NDArray[np.int64]) -> Floats:
    """Belief bias (M, B) under labels (B, G)."""
    rates = []
    for i in range(4):
        inside = (labels == i).astype(float).T
        trials = n @ inside
        rates.append(np.divide(y @ inside, trials, out=np.full(trials.shape, np.nan), where=trials > 0))
    return np.stack(rates, axis=-1) @ BELIEF_WEIGHTS[2]


def _two_way(
    n: Floats, y: Floats, cell: NDArray[np.int64], rng: np.random.Generator, resamples: int
) -> tuple[Floats, Floats]:
    """Means over models under drawn units, and under drawn units and models."""
    models = len(n)
    these, both = np.empty(resamples), np.empty(resamples)
    for start in range(0, resamples, _BLOCK):
        size = min(_BLOCK, resamples - start)
        rates = []
        for i in range(4):
            units = np.flatnonzero(cell == i)
            weight = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=size).T
            trials = n[:, units] @ weight
            rates.append(np.divide(y[:, units] @ weight, trials, out=np.full(trials.shape, np.nan), where=trials > 0))
        bias = np.stack(rates, axis=-1) @ BELIEF_WEIGHTS[2]
        drawn = rng.multinomial(models, np.full(models, 1 / models), size=size).T
        these[start : start + size] = np.nanmean(bias, axis=0)
        both[start : start + size] = np.nansum(drawn * bias, axis=0) / (drawn * ~np.isnan(bias)).sum(axis=0)
    return these[~np.isnan(these)], both[~np.isnan(both)]
