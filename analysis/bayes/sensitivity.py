"""How much results lean on the priors: power-scaling of prior and likelihood."""

from collections.abc import Mapping
from typing import Final

import arviz
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from analysis.bayes.beta_binomial import WORK_SIZE, phi_terms
from analysis.bayes.compiled import compiled
from analysis.bayes.log_density import likelihood_block
from analysis.bayes.model_arrays import LARGEST_LOG_PHI, ModelArrays
from analysis.bayes.models.answer_bias import dense
from analysis.bayes.posterior import StageFit
from analysis.bayes.reconstruct import coefficient_draws

Floats = NDArray[np.float64]

#: Powers of the prior. Those of the likelihood are smaller: with thousands of coefficients its logarithm
#: varies too much between draws for larger ones.
PRIOR_POWERS: Final = (0.8, 1.25)
LIKELIHOOD_POWERS: Final = (0.99, 1.01)
#: Distance above which a result counts as sensitive.
THRESHOLD: Final = 0.05


def power_scaling(
    quantities: Mapping[str, Floats], models: tuple[str, ...], stages: tuple[StageFit, ...]
) -> pd.DataFrame:
    """Sensitivity of some measures of every model.

    Parameters
    ----------
    quantities : mapping of str to ndarray (chains, draws, M)
        Draws by measure.
    models : tuple of str
    stages : tuple of StageFit
        The sampled stages behind the measures; their log priors and log-likelihoods are added.

    Returns
    -------
    DataFrame
        ``model, measure, prior_sensitivity, likelihood_sensitivity, diagnosis``. Sensitivity is the
        change of the distribution (cumulative Jensen-Shannon distance) per doubling of the power. Empty
        without models.

    References
    ----------
    Kallioinen, Paananen, Buerkner and Vehtari (2024), Statistics and Computing 34:57.
    """
    shape = stages[0].shape if stages else (0, 0)
    prior = sum((log_prior(stage) for stage in stages), np.zeros(shape))
    likelihood = sum((log_likelihood(stage) for stage in stages), np.zeros(shape))
    return power_scaled(quantities, models, prior=prior, likelihood=likelihood)


def power_scaled(
    quantities: Mapping[str, Floats], models: tuple[str, ...], *, prior: Floats, likelihood: Floats
) -> pd.DataFrame:
    """The same of any fit, from the log priors and log-likelihoods (chains, draws) of its draws."""
    columns = ["model", "measure", "prior_sensitivity", "likelihood_sensitivity", "diagnosis"]
    if not models:
        return pd.DataFrame(columns=columns)
    dims = ("chain", "draw")
    posterior = xr.Dataset(
        {name: ((*dims, "model"), draws) for name, draws in quantities.items()}, coords={"model": list(models)}
    )
    tree = xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "log_prior": xr.Dataset({"prior": (dims, prior)}),
            "log_likelihood": xr.Dataset({"likelihood": (dims, likelihood)}),
        }
    )
    of_prior = arviz.psense(tree, group="prior", alphas=PRIOR_POWERS)
    of_likelihood = arviz.psense(tree, group="likelihood", alphas=LIKELIHOOD_POWERS)
    rows = [
        {"model": model, "measure": name, "prior_sensitivity": float(p), "likelihood_sensitivity": float(q)}
        for name in quantities
        for model, p, q in zip(models, of_prior[name].to_numpy(), of_likelihood[name].to_numpy(), strict=True)
    ]
    table = pd.DataFrame(rows)
    pairs = zip(table["prior_sensitivity"], table["likelihood_sensitivity"], strict=True)
    return table.assign(diagnosis=[_diagnosis(p, q) for p, q in pairs])[columns]


def _diagnosis(prior: float, likelihood: float) -> str:
    if prior < THRESHOLD:
        return "not sensitive to the prior"
    return "prior and data disagree" if likelihood >= THRESHOLD else "prior is stronger than the data"


def log_prior(fit: StageFit) -> Floats:
    """Log density (chains, draws) of the priors that a user can set, up to a constant.

    That is the density of the hyper-parameters and, where the sd of coefficients is fixed (one model), of these.
    """
    d, hyper = fit.arrays, fit.hyper.value
    scale = np.exp(d.prior_log_sd)
    half_normal = -0.5 * (np.exp(hyper) / scale) ** 2
    normal = -0.5 * ((hyper - d.prior_mean) / scale) ** 2
    own = np.where(d.is_log_sd, half_normal, np.where(d.prior_sd_at < 0, normal, 0.0))
    total = own.sum(axis=1)
    fixed = (d.log_sd_at < 0)[d.group]
    for m in range(len(d.yes) if fixed.any() else 0):
        away = (coefficient_draws(m, fit.hyper, d, fit.coordinates) - d.mean)[:, fixed]
        total = total - 0.5 * ((away / np.exp(d.log_sd[d.group[fixed]])) ** 2).sum(axis=1)
    return total.reshape(fit.shape)


def log_likelihood(fit: StageFit) -> Floats:
    """Log-likelihood (chains, draws) given hyper-parameters and coefficients, up to a constant."""
    d, hyper = fit.arrays, fit.hyper
    phi = hyper.phi(d)
    phi = np.zeros(len(hyper.value)) if phi is None else np.minimum(phi, np.exp(LARGEST_LOG_PHI))
    total = np.zeros(len(hyper.value))
    if d.log_phi_at >= 0:
        total += [phi_terms(value, d.sizes, d.cells)[0] for value in phi]
    matrix = dense(d)
    for m in range(len(d.yes)):
        eta = coefficient_draws(m, hyper, d, fit.coordinates) @ matrix.T
        _add_likelihood(m, np.ascontiguousarray(eta), phi, d, total)
    return total.reshape(fit.shape)


@compiled()
def _add_likelihood(m: int, eta: Floats, phi: Floats, d: ModelArrays, total: Floats) -> None:
    by_eta, work = np.empty(eta.shape[1]), np.empty(WORK_SIZE)
    for i in range(eta.shape[0]):
        total[i] += likelihood_block(m, eta[i], phi[i], d, by_eta, work)[0]
