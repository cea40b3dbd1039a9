"""Model of the single answers of the law of total probability: coherent beliefs, what breaks them, noise by question.

Instance i has S_i states; its queries q are the direct answer, P(state s) and P(event | state s), each asked in
wordings k. With y the log-odds of an answer,

    y_iqk = m_iq + e_iqk                       e ~ N(0, sigma_role(q)^2 + .01^2)
    m of the direct answer    = logit(sum_s w_is expit(gamma_is)) + mu_i       mu_i ~ N(delta, tau^2)
    m of P(state s)           = logit(w_is) + nu_i                             nu_i ~ N(0, tau_sum^2)
    m of P(event | state s)   = gamma_is
    w_i = softmax(eta_i, 0)

An answer at or beyond the clip is censored: all that is known is that y lies there. Beliefs eta and gamma are N(truth,
1.5^2), around 0 where no truth is known.

Pooling: instances of one model share delta, tau, tau_sum and the three sigma.

Identification: two wordings fix the sigma. nu breaks normalisation, which the states' answers fix by themselves. mu is
the gap between the direct answer and the other answers; that it stands at the direct answer is a name, not a finding:
the same gap in the conditionals has the same likelihood. Which answer is at fault needs the truth.

Coordinates of mu and nu are those of h in ``models.incoherence``.

References
----------
Tobin (1958), Econometrica 26:24-36, doi:10.2307/1907382 (censored observations).
Papaspiliopoulos, Roberts and Skoeld (2007), Statistical Science 22:59-73, doi:10.1214/088342307000000014.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from analysis.bayes.incoherence_data import ROUNDING
from analysis.bayes.measurement_density import MeasurementData


def measurement_model(data: MeasurementData) -> pm.Model:
    """PyMC model of one set of answers.

    Parameters
    ----------
    data : MeasurementData

    Returns
    -------
    pymc.Model
        Variables ``delta, tau, tau_sum``, ``log_sigma`` (3,), ``g`` and ``g_sum`` (n,), ``eta`` (M - n,) and
        ``gamma`` (M,).
    """
    prior, n = data.prior, len(data.target)
    instance = np.repeat(np.arange(n), np.diff(data.first))
    within = (instance == np.arange(n)[:, None]).astype(float)
    free = np.setdiff1d(np.arange(len(instance)), data.first[1:] - 1)
    with pm.Model() as model:
        delta = pm.Normal("delta", 0.0, prior[0])
        tau = pm.HalfNormal("tau", prior[1])
        tau_sum = pm.HalfNormal("tau_sum", prior[2])
        variance = pt.exp(2 * pm.Normal("log_sigma", prior[3], prior[4], shape=3)) + ROUNDING**2
        mu = _placed("g", delta, tau, data.places[0], data.places[1])
        nu = _placed("g_sum", 0.0, tau_sum, data.places[2], data.places[3])
        eta = pm.Normal("eta", data.eta_centre, prior[5], shape=len(free))
        gamma = pm.Normal("gamma", data.gamma_centre, prior[5], shape=len(instance))
        odds = pt.exp(pt.set_subtensor(pt.zeros(len(instance))[free], eta))
        weight = odds / pt.dot(within, odds)[instance]
        implied = pt.dot(within, weight * pt.sigmoid(gamma))
        means = (pm.math.logit(implied) + mu, pm.math.logit(weight) + nu[instance], gamma)
        for j, (answers, mean) in enumerate(zip((data.target, data.latent, data.conditional), means, strict=True)):
            pm.Potential(f"likelihood {j}", _censored(answers, mean[:, None], pt.sqrt(variance[j]), data.limit))
    return model


def _placed(
    name: str,
    centre: pt.TensorVariable | float,
    scale: pt.TensorVariable,
    x: NDArray[np.float64],
    v: NDArray[np.float64],
) -> pt.TensorVariable:
    """Effects ~ N(centre, scale^2) in coordinates located by x and v."""
    g = pm.Flat(name, shape=len(x))
    spread = scale**2 + v
    h = scale * (x - centre) / spread + pt.sqrt(v / spread) * g
    pm.Potential(f"density of {name}", -0.5 * pt.sum(h**2 + pt.log(spread)))
    return centre + scale * h


def _censored(
    answers: NDArray[np.float64], mean: pt.TensorVariable, sd: pt.TensorVariable, limit: float
) -> pt.TensorVariable:
    """Log-likelihood of answers, those at the limit censored."""
    known = np.where(np.isnan(answers), 0.0, answers)
    inside = pm.logp(pm.Normal.dist(mean, sd), known)
    side = np.where(known > 0, 1.0, -1.0)
    beyond = pm.logcdf(pm.Normal.dist(0.0, 1.0), side * (mean - side * limit) / sd)
    of_answer = pt.switch(np.abs(known) < limit, inside, beyond)
    return pt.sum(pt.switch(np.isnan(answers), 0.0, of_answer))
