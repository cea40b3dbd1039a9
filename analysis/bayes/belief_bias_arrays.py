"""What the density of the endorsement model reads, from a design and priors."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_rough import RoughFit, rough_fit
from analysis.bayes.models.belief_bias import belief_priors_of
from analysis.bayes.sd_marginals import marginal_of_estimates

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class EndorsementData(NamedTuple):
    """What the density reads; M models, C configurations, Q questions, F columns, G effects, J items, H log sds.

    Attributes
    ----------
    yes, answered : ndarray (M, C, Q)
    of_question : ndarray (F, Q)
        Columns that vary within an effect.
    of_effect : ndarray (F, G)
        Columns constant within an effect.
    of_configuration : ndarray (C, 2, F)
    of_item : ndarray (F, J)
        What items add to the coefficients that fit a design's items best.
    item_basis : ndarray (J, J)
        Orthonormal; an item is its product with J coordinates of the same prior.
    effect : ndarray of int (Q,)
        Effect of each question; unread where G is 0.
    unit : ndarray of int (G,)
        Item of each effect.
    head, size : ndarray of bool, of float (G,)
        Whether an effect is the first of its item, and how many the item has.
    log_scale : ndarray (H,)
        Log half-normal scale of each sd.
    marginal : ndarray (4, H)
        Centre, scale, bend and taper of the coordinate of each log sd (``sd_marginals.Marginal``).
    mean_prior : ndarray (2, F)
        Mean and log sd of the prior of each coefficient's mean; with one model, of the coefficient.
    mean_sd_at, sd_at : ndarray of int (F,)
        Which log sd is that of the mean, and of the coefficient between models; -1: that of ``mean_prior``.
    about_mean : ndarray (2, F)
        x and v of the means; likewise of ``about_coefficient`` (2, M, F), ``about_item`` (2, J; of its
        coordinates) and ``about_effect`` (2, M, G; rotated).
    regression : ndarray (M, F, F)
        By how much x of a coefficient moves with each coefficient before it; v is what these leave.
    valid : int
        Questions whose gold answer is yes; they come first.
    pooled : int
        1 with several models.
    item_sd_at, model_item_sd_at, version_sd_at : int
        Which log sd; -1 where there is no such effect.
    """

    yes: Floats
    answered: Floats
    of_question: Floats
    of_effect: Floats
    of_configuration: Floats
    of_item: Floats
    item_basis: Floats
    effect: Indices
    unit: Indices
    head: NDArray[np.bool_]
    size: Floats
    log_scale: Floats
    marginal: Floats
    mean_prior: Floats
    mean_sd_at: Indices
    sd_at: Indices
    about_mean: Floats
    about_coefficient: Floats
    regression: Floats
    about_item: Floats
    about_effect: Floats
    valid: int
    pooled: int
    item_sd_at: int
    model_item_sd_at: int
    version_sd_at: int


@dataclass(frozen=True, slots=True)
class Endorsement:
    """Arrays of the density, and the name of each log sd: ``sd``/``tau`` and group, ``sd: item`` and so on."""

    data: EndorsementData
    sds: tuple[str, ...]

    @property
    def starts(self) -> tuple[int, int, int, int, int]:
        """Where means, coefficients, items and effects begin in a point, and its length."""
        d = self.data
        models, columns = len(d.yes), len(d.sd_at)
        at_mean = len(d.log_scale)
        at_coefficient = at_mean + (columns if d.pooled else 0)
        at_item = at_coefficient + models * columns
        at_effect = at_item + d.about_item.shape[1]
        return at_mean, at_coefficient, at_item, at_effect, at_effect + models * len(d.unit)


def endorsement_of(design: BeliefDesign, priors: BeliefPriors) -> Endorsement:
    """Arrays of the density: columns constant within an effect belong to it, the others to questions."""
    of_group = belief_priors_of(design.groups, priors)
    pooled = len(design.models) > 1
    names: list[str] = []
    scales: list[float] = []

    def log_sd(name: str, scale: float) -> int:
        if name not in names:
            names.append(name)
            scales.append(scale)
        return names.index(name)

    mean_prior = np.zeros((2, len(design.group)))
    sd_at, mean_sd_at = (np.full(len(design.group), -1) for _ in range(2))
    for f, g in enumerate(design.group):
        prior, name = of_group[g], design.groups[g]
        spread = prior.mean_sd if pooled else np.hypot(prior.mean_sd, prior.scale)
        mean_prior[:, f] = prior.mean, np.log(spread)
        if pooled or prior.shared_scale is not None:
            scale = prior.scale if pooled or prior.shared_scale is None else prior.shared_scale
            sd_at[f] = log_sd(f"sd: {name}", scale)
        if pooled and prior.shared_scale is not None:
            mean_sd_at[f] = log_sd(f"tau: {name}", prior.shared_scale)
    effects = design.has_units
    item = log_sd("sd: item", priors.item_sd) if effects and pooled else -1
    own = log_sd("sd: model × item", priors.model_item_sd if pooled else priors.item_sd) if effects else -1
    version = log_sd("sd: version", priors.version_sd) if design.has_versions else -1
    rough = rough_fit(design)
    data = EndorsementData(
        yes=np.ascontiguousarray(design.yes),
        answered=np.ascontiguousarray(design.answered),
        of_question=np.ascontiguousarray(rough.of_question.T),
        of_effect=np.ascontiguousarray(rough.of_effect.T),
        of_configuration=np.ascontiguousarray(design.of_configuration),
        of_item=np.ascontiguousarray(rough.of_item if item >= 0 else rough.of_item[:, :0]),
        item_basis=np.ascontiguousarray(rough.item_basis if item >= 0 else np.zeros((0, 0))),
        effect=design.effect.astype(np.int64),
        unit=rough.unit,
        head=rough.head,
        size=rough.size,
        log_scale=np.log(np.array(scales)),
        marginal=_marginals(rough, np.log(np.array(scales)), mean_prior, mean_sd_at, sd_at),
        mean_prior=mean_prior,
        mean_sd_at=mean_sd_at.astype(np.int64),
        sd_at=sd_at.astype(np.int64),
        about_mean=rough.about_mean,
        about_coefficient=rough.about_coefficient,
        regression=rough.regression,
        about_item=rough.about_item if item >= 0 else np.zeros((2, 0)),
        about_effect=rough.about_effect,
        valid=int((design.side == 0).sum()),
        pooled=int(pooled),
        item_sd_at=item,
        model_item_sd_at=own,
        version_sd_at=version,
    )
    return Endorsement(data, tuple(names))


def _marginals(rough: RoughFit, log_scale: Floats, mean_prior: Floats, mean_sd_at: Indices, sd_at: Indices) -> Floats:
    """Coordinates of the log sds by the rough estimates of what each is the sd of; of the prior alone for effects."""
    found = np.zeros((4, len(log_scale)))
    value, variance = rough.about_coefficient[0], rough.variance
    own = value - (value.mean(axis=0) if len(value) > 1 else mean_prior[0])
    of_mean = rough.about_mean[0] - mean_prior[0]
    for h, scale in enumerate(log_scale):
        away = np.concatenate([own[:, sd_at == h].ravel(), of_mean[mean_sd_at == h]])
        spread = np.concatenate([variance[:, sd_at == h].ravel(), rough.about_mean[1][mean_sd_at == h]])
        marginal = marginal_of_estimates(away, spread, float(scale))
        found[:, h] = marginal.centre, marginal.scale, marginal.bend, marginal.taper
    return found
