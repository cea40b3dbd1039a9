"""Posterior predictive checks: do counts simulated from the fit look like the counts observed?"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.models.answer_bias import dense
from analysis.bayes.posterior import StageFit
from analysis.bayes.reconstruct import HyperDraws, coefficient_draws
from analysis.measures.rates import share

Floats = NDArray[np.float64]

#: Replicates of the data.
_REPLICATES: Final = 200
_EXTREME: Final = 0.02


def predictive_checks(
    design: CountDesign, yes: StageFit, answered: StageFit | None, rng: np.random.Generator
) -> pd.DataFrame:
    """Observed statistics of each model against replicates from the posterior.

    Returns
    -------
    DataFrame
        ``model, check, observed, expected`` (median of the replicates), ``low, high`` (95 %), ``tail``:
        twice the smaller share of replicates beyond the observed value. Checks: share of Yes, its sd over
        templates, share of cells below .02 or above .98, share of uncertain answers. Cells are drawn
        anew, so that a residual that hides a misfit shows. A model that never answered has the last alone.
    """
    rows = []
    hyper = yes.hyper.thinned(_REPLICATES)
    given_hyper = answered.hyper.thinned(_REPLICATES) if answered is not None else None
    for m, model in enumerate(design.models):
        counts, n = _replicated(m, yes, hyper, rng)
        for name, check in _checks(design, n).items():
            rows.append(_row(model, name, check(yes.arrays.yes[m]), check(counts)))
        if answered is not None and given_hyper is not None:
            given, planned = _replicated(m, answered, given_hyper, rng)
            unread = [1 - x.sum(axis=-1) / planned.sum() for x in (answered.arrays.yes[m], given)]
            rows.append(_row(model, "share of uncertain answers", *unread))
    return pd.DataFrame(rows, columns=["model", "check", "observed", "expected", "low", "high", "tail"])


def _checks(design: CountDesign, n: Floats) -> dict[str, Callable[[Floats], Floats]]:
    """Statistics of the answers of a model with sizes n; none for a model that never answered."""
    if not n.any():
        return {}
    checks = {"share of Yes": _share_of_yes(n), "share of extreme cells": _extreme_share(n)}
    if "template" in design.cells:
        checks["sd over templates"] = _template_spread(design, n)
    return checks


def _replicated(m: int, fit: StageFit, hyper: HyperDraws, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Replicates (R, C) of the counts of one model, and its sizes (C,)."""
    d = fit.arrays
    probability = expit(coefficient_draws(m, hyper, d, fit.coordinates) @ dense(d).T)
    phi = hyper.phi(d)
    if phi is not None:
        a = phi[:, None] * probability
        upper, lower = rng.standard_gamma(a), rng.standard_gamma(phi[:, None] - a)
        both = upper + lower
        probability = np.divide(upper, both, out=np.round(probability), where=both > 0)
    n = d.yes[m] + d.no[m]
    return rng.binomial(n.astype(np.int64), np.clip(probability, 0, 1)).astype(float), n


def _share_of_yes(n: Floats) -> Callable[[Floats], Floats]:
    return lambda k: k.sum(axis=-1) / n.sum()


def _extreme_share(n: Floats) -> Callable[[Floats], Floats]:
    asked = n > 0

    def extreme(k: Floats) -> Floats:
        rates = k[..., asked] / n[asked]
        return ((rates < _EXTREME) | (rates > 1 - _EXTREME)).mean(axis=-1)

    return extreme


def _template_spread(design: CountDesign, n: Floats) -> Callable[[Floats], Floats]:
    """Standard deviation over templates of the mean share of Yes of their cells."""
    template = pd.Categorical(design.cells["template"]).codes
    place = np.eye(template.max() + 1)[template] * (n > 0)[:, None]
    place = place[:, place.sum(axis=0) > 0]

    def spread(k: Floats) -> Floats:
        rates = np.nan_to_num(share(k, n))
        return (rates @ (place / place.sum(axis=0))).std(axis=-1)

    return spread


def _row(model: str, check: str, observed: Floats, replicates: Floats) -> dict[str, object]:
    low, middle, high = np.quantile(replicates, [0.025, 0.5, 0.975])
    beyond = min((replicates <= observed + 1e-12).mean(), (replicates >= observed - 1e-12).mean())
    return {
        "model": model,
        "check": check,
        "observed": float(observed),
        "expected": float(middle),
        "low": float(low),
        "high": float(high),
        "tail": float(min(1.0, 2 * beyond)),
    }
