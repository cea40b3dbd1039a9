"""Hierarchical line of a measure on the logarithm of model size, with a level and a slope of each family.

    y_m ~ Normal(level_f + slope_f x_m, s_m^2 + scatter^2),  x_m = log2(size) minus its mean over the family
    slope_f ~ Normal(slope, slope_sd)

y is the estimate of a model with standard error s, in the unit of the measure; slopes are changes per doubling of size.
Levels have a flat prior: only differences within families say anything on slopes, so that families that differ for
other reasons do not. Pooling: slopes over families. Identification: within each family two sizes or more.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from analysis.bayes.size_slope import SlopePriors


def pymc_model(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    std_error: NDArray[np.float64],
    family: NDArray[np.int64],
    priors: SlopePriors,
) -> pm.Model:
    """PyMC model: the definition that the quadrature of ``size_slope`` has to equal."""
    families = int(family.max()) + 1
    with pm.Model() as model:
        slope = pm.Normal("slope", 0.0, priors.slope_sd)
        spread = pm.HalfNormal("slope_spread", priors.spread_scale)
        scatter = pm.HalfNormal("scatter", priors.scatter_scale)
        level = pm.Flat("level", shape=families)
        of_family = pm.Normal("family_slope", slope, spread, shape=families)
        sd = pt.sqrt(std_error**2 + scatter**2)
        pm.Normal("y", level[family] + of_family[family] * x, sd, observed=y)
    return model
