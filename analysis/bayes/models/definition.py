"""The hierarchical models written in PyMC: the definition that the compiled log-density has to equal."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from analysis.bayes.model_arrays import BETA_BINOMIAL, BINOMIAL, ModelArrays
from analysis.bayes.models.answer_bias import dense


def pymc_model(arrays: ModelArrays) -> pm.Model:
    """PyMC model of the arrays, centred, with the standard distributions.

    Parameters
    ----------
    arrays : ModelArrays
        As ``models.answer_bias.stage_arrays`` or ``models.surface_layer.surface_layer_arrays`` returns.

    Returns
    -------
    pymc.Model
        Variables ``sd`` and ``tau`` (half-normal, those that are free), ``mean`` (what families add, then
        those of coefficients), ``log_phi`` (with a residual) and ``coefficient`` (models × columns); the
        likelihood is ``counts`` or ``estimate``.
    """
    d = arrays
    is_mean = (~d.is_log_sd) & (np.arange(len(d.prior_mean)) != d.log_phi_at)
    sds = d.log_sd_at[d.log_sd_at >= 0]
    taus = np.setdiff1d(np.flatnonzero(d.is_log_sd), sds)
    with pm.Model() as model:
        log_sd = pt.as_tensor_variable(d.log_sd)
        if len(sds):
            sd = pm.HalfNormal("sd", np.exp(d.prior_log_sd[sds]), shape=len(sds))
            log_sd = pt.set_subtensor(log_sd[np.flatnonzero(d.log_sd_at >= 0)], pt.log(sd))
        mean = pt.as_tensor_variable(d.mean)
        if is_mean.any():
            means = _means(d, is_mean, taus)
            free = d.mean_at >= 0
            mean = pt.set_subtensor(mean[np.flatnonzero(free)], means[d.mean_at[free]])
        if len(d.family_at):
            mean = mean + pt.where(d.family_at >= 0, means[np.maximum(d.family_at, 0)], 0.0)
        coefficient = pm.Normal("coefficient", mean, pt.exp(log_sd[d.group]), shape=(len(d.yes), len(d.group)))
        eta = pt.dot(coefficient, dense(d).T)
        if d.kind in (BINOMIAL, BETA_BINOMIAL):
            _counts(d, eta)
        else:
            _estimates(d, eta)
    return model


def _means(d: ModelArrays, is_mean: np.ndarray, taus: np.ndarray) -> pt.TensorVariable:
    prior_sd = pt.as_tensor_variable(np.exp(d.prior_log_sd[is_mean]))
    own = d.prior_sd_at[is_mean]
    if len(taus):
        tau = pm.HalfNormal("tau", np.exp(d.prior_log_sd[taus]), shape=len(taus))
        prior_sd = pt.set_subtensor(prior_sd[np.flatnonzero(own >= 0)], tau[np.searchsorted(taus, own[own >= 0])])
    return pm.Normal("mean", d.prior_mean[is_mean], prior_sd, shape=int(is_mean.sum()))


def _counts(d: ModelArrays, eta: pt.TensorVariable) -> None:
    n = d.yes + d.no
    asked = n > 0
    at = eta[np.nonzero(asked)]
    if d.kind == BINOMIAL:
        pm.Binomial("counts", n=n[asked], logit_p=at, observed=d.yes[asked])
        return
    log_phi = pm.Normal("log_phi", d.prior_mean[d.log_phi_at], np.exp(d.prior_log_sd[d.log_phi_at]))
    phi = pt.exp(log_phi)
    pm.BetaBinomial("counts", phi * pt.sigmoid(at), phi * pt.sigmoid(-at), n=n[asked], observed=d.yes[asked])


def _estimates(d: ModelArrays, eta: pt.TensorVariable) -> None:
    for m in range(len(d.yes)):
        scale = np.linalg.inv(d.inverse[m])
        pm.MvStudentT(f"estimate_{m}", nu=d.df[m], mu=eta[m], scale=scale, observed=d.yes[m])
