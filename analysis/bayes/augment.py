"""One row per model and cell of the design: counts, fitted probability, residual."""

import numpy as np
import pandas as pd
from scipy.special import expit

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.models.answer_bias import dense
from analysis.bayes.posterior import StageFit
from analysis.bayes.reconstruct import coefficient_draws
from analysis.measures.rates import share

#: Draws over which fitted probabilities are averaged.
_DRAWS = 400


def fitted_cells(design: CountDesign, fit: StageFit) -> pd.DataFrame:
    """Observed and fitted share of Yes among the answered.

    Returns
    -------
    DataFrame
        ``model``, the facets of the cell, ``n`` answered, ``k`` Yes, ``observed``, ``fitted`` (posterior mean
        of the probability that the columns give, without the cell's own residual), ``residual``: observed
        minus fitted in units of the binomial standard deviation.
    """
    hyper, d = fit.hyper.thinned(_DRAWS), fit.arrays
    tables = []
    for m, model in enumerate(design.models):
        n = d.yes[m] + d.no[m]
        eta = coefficient_draws(m, hyper, d, fit.coordinates) @ dense(d).T
        fitted = expit(eta).mean(axis=0)
        observed = share(d.yes[m], n)
        sd = np.sqrt(share(fitted * (1 - fitted), n))
        numbers = {"n": n.astype(int), "k": d.yes[m].astype(int), "observed": observed, "fitted": fitted}
        table = design.cells.assign(model=model, **numbers, residual=share(observed - fitted, sd))
        tables.append(table[n > 0])
    return pd.concat(tables, ignore_index=True)[["model", *design.cells.columns, *numbers, "residual"]]
