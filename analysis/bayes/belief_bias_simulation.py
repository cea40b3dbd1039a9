"""Parameters and answers drawn from the priors of the endorsement model, for calibration."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.belief_bias_arrays import endorsement_of
from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_program import Parameters

Floats = NDArray[np.float64]


def drawn_parameters(design: BeliefDesign, priors: BeliefPriors, rng: np.random.Generator) -> Parameters:
    """One draw of all parameters from the priors, with a leading axis of length 1, as ``Parameters`` of points have."""
    model = endorsement_of(design, priors)
    d, models = model.data, len(design.models)
    sd = {name: np.exp(scale) * np.abs(rng.normal()) for name, scale in zip(model.sds, d.log_scale, strict=True)}
    values = np.array(list(sd.values()))
    fixed = np.exp(d.mean_prior[1])
    mean = d.mean_prior[0].copy()
    if d.pooled:
        spread = np.where(d.mean_sd_at >= 0, values[np.maximum(d.mean_sd_at, 0)], fixed)
        mean = mean + spread * rng.normal(size=len(mean))
    spread = np.where(d.sd_at >= 0, values[np.maximum(d.sd_at, 0)], fixed)
    coefficient = mean + spread * rng.normal(size=(models, len(mean)))
    item = np.zeros(0)
    if d.item_sd_at >= 0:
        item = sd["sd: item"] * rng.normal(size=d.about_item.shape[1])
    effect = coefficient @ d.of_effect
    if len(d.unit):
        own = sd["sd: model × item"] * rng.normal(size=(models, int(d.unit.max()) + 1))
        effect = effect + own[:, d.unit] + (item[d.unit] if len(item) else 0.0)
    if design.has_versions:
        effect = effect + sd["sd: version"] * rng.normal(size=effect.shape)
    named = {name: np.array([value]) for name, value in sd.items()}
    return Parameters(named, mean[None], coefficient[None], item[None], effect[None])


def drawn_answers(
    design: BeliefDesign, priors: BeliefPriors, found: Parameters, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Endorsements (M, C, Q) of as many answers as the design has, given parameters with a leading axis of length 1."""
    d = endorsement_of(design, priors).data
    b = found.coefficient[0]
    base = b @ d.of_question
    if len(d.unit):
        base = base + found.effect[0][:, d.effect]
    moved = np.einsum("mf,cvf->mcv", b, d.of_configuration)
    return rng.binomial(design.answered.astype(np.int64), expit(base[:, None] + moved[:, :, design.side]))
