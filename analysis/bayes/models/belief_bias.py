"""Hierarchical logistic model of endorsing a conclusion: validity, believability, conditions, items.

For model m, question i of base item j under configuration c, with n readable answers, k of them endorsements:

    k ~ Binomial(n, logistic(eta))
    eta = a_m + d_m v + b_m u + g_m v u + sum over factors f of (s_mf + t_mf v) + item_j + w_mj + e_mi

v = +-1 is validity and u = +-1 believability, 0 for questions without one; a factor is a condition (strategy,
temperature, ...) or the version of a base item, and s, t are effects of the level at hand.

    a_m ~ Normal(mean_a, sd_a), and d, b, g likewise      mean ~ Normal(prior), sd ~ HalfNormal
    s_mf ~ Normal(mean_f, sd), t likewise                 mean_f ~ Normal(0, tau), tau and sd ~ HalfNormal
    item_j ~ Normal(0, sd_item),  w_mj ~ Normal(0, sd_model_item),  e_mi ~ Normal(0, sd_version)

Pooling: coefficients between models, levels of a factor and items around 0. Identification: levels of a factor sum
with a and d, items with a (and, within a cell, with d, b and g); for these levels only sums are identified, and
rates computed from them are reported. w needs a base item asked again by a model, e a question asked again and base
items with several questions; with one model item_j and w_mj are one. Votes on one question under one configuration
are independent given its effects, and what a condition does to one item alone is not modelled.

Levels of a factor sum to 0 (orthonormal contrasts). ``endorsement_model`` is the definition; it is sampled by the
compiled density of ``belief_bias_density``, in which w_mj is integrated out.

References
----------
Klauer, Musch and Naumer (2000), Psychological Review 107:852-884, doi:10.1037/0033-295X.107.4.852 (belief bias as
effects on endorsement); Baayen, Davidson and Bates (2008), Journal of Memory and Language 59:390-412,
doi:10.1016/j.jml.2007.12.005 (crossed effects of respondents and items).
"""

from typing import Final

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.models.answer_bias import GroupPrior

#: Of groups whose means have an sd of their own.
_UNREAD: Final = 1.0


def belief_priors_of(groups: tuple[str, ...], priors: BeliefPriors) -> tuple[GroupPrior, ...]:
    """Prior of each group of columns."""
    return tuple(_group_prior(name, priors) for name in groups)


def _group_prior(name: str, p: BeliefPriors) -> GroupPrior:
    terms = {
        "lean": GroupPrior(0.0, p.lean_mean_sd, None, p.lean_sd),
        "discrimination": GroupPrior(p.discrimination_mean, p.discrimination_mean_sd, None, p.discrimination_sd),
        "belief": GroupPrior(p.belief_mean, p.belief_mean_sd, None, p.belief_sd),
        "belief_discrimination": GroupPrior(0.0, p.belief_discrimination_mean_sd, None, p.belief_discrimination_sd),
    }
    return terms.get(name) or GroupPrior(0.0, _UNREAD, p.level_sd, p.model_level_sd)


def endorsement_model(design: BeliefDesign, priors: BeliefPriors) -> pm.Model:
    """The model in PyMC, in the terms of the docstring.

    Returns
    -------
    pymc.Model
        ``mean_<group>``, ``sd_<group>`` and, for levels of factors, ``tau_<group>``; ``<group>`` (models × columns) are
        coefficients. ``sd_item`` with ``item`` (J,), ``sd_model_item`` with ``model_item`` (M, J), ``sd_version`` with
        ``version`` (M, Q), as far as the design has them; ``k`` is the likelihood.
    """
    models, pooled = len(design.models), len(design.models) > 1
    side = design.side
    eta = pt.zeros((models, *design.answered.shape[1:]))
    with pm.Model() as model:
        for g, (name, prior) in enumerate(zip(design.groups, belief_priors_of(design.groups, priors), strict=True)):
            own = design.group == g
            coefficient = _coefficients(name, prior, (models, int(own.sum())), pooled=pooled)
            columns = design.of_question[:, own][None] + design.of_configuration[:, :, own][:, side]
            eta = eta + pt.tensordot(coefficient, columns, axes=[[1], [2]])
        if design.has_units:
            eta = eta + _item_effects(design, priors, pooled=pooled)[:, None]
        asked = np.nonzero(design.answered)
        pm.Binomial("k", n=design.answered[asked], logit_p=eta[asked], observed=design.yes[asked])
    return model


def _coefficients(name: str, prior: GroupPrior, shape: tuple[int, int], *, pooled: bool) -> pt.TensorVariable:
    """Coefficients (models, columns) of a group; with one model those of terms get the prior of a mean, widened."""
    if not pooled:
        spread = np.hypot(prior.mean_sd, prior.scale)
        if prior.shared_scale is not None:
            spread = pm.HalfNormal(f"sd_{name}", prior.shared_scale)
        return pm.Normal(name, prior.mean, spread, shape=shape)
    spread, between = pm.HalfNormal(f"sd_{name}", prior.scale), prior.mean_sd
    if prior.shared_scale is not None:
        between = pm.HalfNormal(f"tau_{name}", prior.shared_scale)
    mean = pm.Normal(f"mean_{name}", prior.mean, between, shape=shape[1])
    return pm.Normal(name, mean, spread, shape=shape)


def _item_effects(design: BeliefDesign, priors: BeliefPriors, *, pooled: bool) -> pt.TensorVariable:
    """Effects (models, questions) of base items, common and by model, and of their versions."""
    models, items = len(design.models), int(design.unit.max()) + 1
    scale = priors.model_item_sd if pooled else priors.item_sd
    own = pm.Normal("model_item", 0.0, pm.HalfNormal("sd_model_item", scale), shape=(models, items))
    total = own[:, design.unit]
    if pooled:
        total = total + pm.Normal("item", 0.0, pm.HalfNormal("sd_item", priors.item_sd), shape=items)[design.unit]
    if design.has_versions:
        spread = pm.HalfNormal("sd_version", priors.version_sd)
        total = total + pm.Normal("version", 0.0, spread, shape=(models, len(design.unit)))
    return total
