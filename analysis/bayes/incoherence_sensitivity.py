"""How much incoherence leans on the priors: power-scaling of one fit, and refits with other priors."""

from typing import Final

import arviz
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from analysis.bayes.incoherence_priors import IncoherencePriors, log_prior
from analysis.bayes.incoherence_sampling import IncoherenceDraws
from analysis.bayes.sensitivity import LIKELIHOOD_POWERS, PRIOR_POWERS, THRESHOLD

Floats = NDArray[np.float64]

#: What is followed: (measure, target).
SENSITIVE: Final = (
    ("noise", "these"),
    ("persistent", "these"),
    ("persistent", "new_items"),
    ("direction", "these"),
    ("incoherent_share", "these"),
)
#: Chains and draws of a refit, whose numbers are read to a posterior sd and not to a digit.
REFIT_CHAINS: Final = 2
REFIT_DRAWS: Final = 500


def power_scaling(
    model: str, quantities: dict[tuple[str, str], Floats], draws: IncoherenceDraws, priors: IncoherencePriors
) -> pd.DataFrame:
    """Sensitivity of one model's quantities to the power of the priors and of the likelihood.

    Returns
    -------
    DataFrame
        ``model, measure, target, prior_sensitivity, likelihood_sensitivity, diagnosis``. The likelihood is
        that given noise and what units share; a quantity that never moves has no row.

    References
    ----------
    Kallioinen, Paananen, Buerkner and Vehtari (2024), Statistics and Computing 34:57.
    """
    dims = ("chain", "draw")
    moving = [key for key in SENSITIVE if key in quantities and np.ptp(quantities[key]) > 0]
    names = {key: f"x{i}" for i, key in enumerate(moving)}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({name: (dims, quantities[key]) for key, name in names.items()}),
            "log_prior": xr.Dataset({"prior": (dims, log_prior(draws.hyper, priors))}),
            "log_likelihood": xr.Dataset({"likelihood": (dims, draws.log_likelihood)}),
        }
    )
    of_prior = arviz.psense(tree, group="prior", alphas=PRIOR_POWERS)
    of_likelihood = arviz.psense(tree, group="likelihood", alphas=LIKELIHOOD_POWERS)
    rows = []
    for (measure, target), name in names.items():
        p, q = float(of_prior[name]), float(of_likelihood[name])
        numbers = {"prior_sensitivity": p, "likelihood_sensitivity": q, "diagnosis": _diagnosis(p, q)}
        rows.append({"model": model, "measure": measure, "target": target, **numbers})
    return pd.DataFrame(rows)


def _diagnosis(prior: float, likelihood: float) -> str:
    if prior < THRESHOLD:
        return "not sensitive to the prior"
    return "prior and data disagree" if likelihood >= THRESHOLD else "prior is stronger than the data"
