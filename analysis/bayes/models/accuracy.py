"""The accuracy model in PyMC: the definition that the compiled density has to equal.

Model m gave n samples of an answer to item i of unit j, y of them right:

    y ~ BetaBinomial(n, logistic(a_m + u_i), phi)       Binomial where samples or models do not repeat items
    u_i ~ N(v_j, (1 - rho) sd^2),  v_j ~ N(0, rho sd^2)    without units u_i ~ N(0, sd^2)
    a_m ~ N(mean, sd_level),  mean ~ Normal,  sd_level ~ HalfNormal
    sd ~ HalfNormal,  rho ~ Beta,  log phi ~ Normal

Where models share several items of a unit, w_mj ~ N(0, tau^2), tau ~ HalfNormal, is added to a_m + u_i
(``reactions``). The compiled density is the one without; ``accuracy_reactions`` adds what follows from w.

Pooling: models share mean and sd_level, all items sd. Identification: an effect of items needs items answered twice, by
models or in samples; phi needs both, since one model's samples cannot tell an item from what it is to that model; rho
needs units of several items. ``accuracy_data.answer_set`` applies these rules.

References
----------
Rasch (1960), Probabilistic models for some intelligence and attainment tests (one difficulty per item).
De Boeck (2008), Psychometrika 73:533-559, doi:10.1007/s11336-008-9092-x (random items).
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_priors import AccuracyPriors


def accuracy_model(answers: AnswerSet, priors: AccuracyPriors, *, reactions: bool = False) -> pm.Model:
    """PyMC model of the answers.

    Parameters
    ----------
    answers : AnswerSet
    priors : AccuracyPriors
    reactions : bool
        Whether units may be something else to each model, where the design tells.

    Returns
    -------
    pymc.Model
        Variables ``level`` and, where they are free, ``mean, sd_level, sd_item, unit_share, log_phi, item, unit,
        sd_reaction, reaction``; the likelihood is ``right``.
    """
    p, models, items = priors, len(answers.models), len(answers.items)
    asked = np.nonzero(answers.n)
    n, right = answers.n[asked], answers.right[asked]
    with pm.Model() as model:
        if models == 1:
            level = pm.Normal("level", p.level_mean, np.hypot(p.level_mean_sd, p.level_sd), shape=1)
        else:
            mean = pm.Normal("mean", p.level_mean, p.level_mean_sd)
            level = pm.Normal("level", mean, pm.HalfNormal("sd_level", p.level_sd), shape=models)
        eta = level[asked[0]]
        if answers.has_item:
            sd = pm.HalfNormal("sd_item", p.item_sd)
            centre, own = pt.zeros(items), sd
            if answers.has_unit:
                share = pm.Beta("unit_share", p.unit_shape, p.unit_shape)
                unit = pm.Normal("unit", 0.0, sd * pt.sqrt(share), shape=int(answers.unit.max()) + 1)
                centre, own = unit[answers.unit], sd * pt.sqrt(1 - share)
            eta = eta + pm.Normal("item", centre, own, shape=items)[asked[1]]
        if reactions and answers.has_reaction:
            tau = pm.HalfNormal("sd_reaction", p.reaction_sd)
            own = pm.Normal("reaction", 0.0, 1.0, shape=(models, int(answers.unit.max()) + 1))
            eta = eta + tau * own[asked[0], answers.unit[asked[1]]]
        if answers.has_residual:
            phi = pt.exp(pm.Normal("log_phi", p.concentration_mean, p.concentration_sd))
            pm.BetaBinomial("right", phi * pt.sigmoid(eta), phi * pt.sigmoid(-eta), n=n, observed=right)
        else:
            pm.Binomial("right", n=n, logit_p=eta, observed=right)
    return model
