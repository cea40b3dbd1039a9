"""Two-stage hierarchical logistic model of yes/no answers: is there an answer, and is it Yes?

For model m and cell c with n scored responses, r of them answered, k of these Yes:

    r ~ BetaBinomial(n, logistic(x_c a_m), psi)        stage "answered"
    k ~ BetaBinomial(r, logistic(x_c b_m), phi)        stage "yes"
    b_mj ~ Normal(mean_j, sd_group(j))
    mean_j ~ Normal(prior), for columns of templates and forms mean_j ~ Normal(0, tau_group(j))

The columns of x are 1, gold s, polarity p and validity v (they span the 2 × 2 grid), and for each template
and form those of them that vary within it: leaning to Yes, sensitivity, pull of affirmative wording,
blindness to negation. The factorisation of yes / no / uncertain into two stages is exact.

Where the models are of three families or more (``families.family_index``), in the stage "yes" and for the four
coefficients that are of no factor,

    b_mj ~ Normal(mean_j + u_fj, sd_group(j)),  f the family of m,    u_fj ~ Normal(0, sd_family(j)).

Pooling: coefficients between models (of a family), families, template and form means around 0. Identification:
the means of templates and forms are shrunk to 0 and compete with the mean of the coefficients; for these
templates only sums are identified, therefore accuracies are reported and coefficients are not. With one model
the means are 0 and the priors of the coefficients fixed. Cells beyond the columns vary with concentration phi;
where the columns fit every cell, cells are binomial. Where units are effects, each cell has a normal residual
instead, since its units share it.

References
----------
Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, chapters 13-14.
Skellam (1948), J. R. Stat. Soc. B 10:257-261 (beta-binomial).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.families import family_index
from analysis.bayes.model_arrays import BETA_BINOMIAL, BINOMIAL, ModelArrays
from analysis.bayes.priors import Priors

Floats = NDArray[np.float64]

STAGES: Final = ("yes", "answered")
#: Columns of the stage "answered": what gold, wording, templates and forms do to the share of answers.
_ANSWERED_GROUPS: Final = frozenset({"yes", "sensitivity", "polarity", "validity", "template_yes", "form_yes"})


@dataclass(frozen=True, slots=True)
class GroupPrior:
    """Prior of the coefficients of one group.

    Attributes
    ----------
    mean, mean_sd : float
        Normal prior of each mean; with ``shared_scale`` the means are Normal(0, tau).
    shared_scale : float or None
        Half-normal scale of tau.
    scale : float
        Half-normal scale of the standard deviation between models.
    has_mean : bool
        Whether models share a mean at all; without one it is 0.
    family_scale : float or None
        Half-normal scale of the sd of families of models; None: families are no effects.
    """

    mean: float
    mean_sd: float
    shared_scale: float | None
    scale: float
    has_mean: bool = True
    family_scale: float | None = None


def group_priors(groups: tuple[str, ...], priors: Priors, stage: str) -> tuple[GroupPrior, ...]:
    """Prior of each group of columns in one stage of the model."""
    return tuple(_group_prior(name, priors, stage) for name in groups)


def _group_prior(name: str, priors: Priors, stage: str) -> GroupPrior:
    factor = name.rpartition("_")[0]
    if name == "residual":
        return GroupPrior(0.0, 1.0, None, priors.residual_sd, has_mean=False)
    if stage == "answered":
        effect = priors.answered_effect_sd
        if factor:
            return GroupPrior(0.0, effect, effect, effect)
        if name == "yes":
            return GroupPrior(priors.answered_mean, priors.answered_mean_sd, None, priors.answered_sd)
        return GroupPrior(0.0, effect, None, effect)
    if factor == "template":
        return GroupPrior(0.0, 1.0, priors.template_sd, priors.model_template_sd)
    if factor == "form":
        return GroupPrior(0.0, 1.0, priors.form_sd, priors.model_form_sd)
    if factor == "unit":
        return GroupPrior(0.0, 1.0, priors.surface_sd, priors.surface_sd)
    found = {
        "yes": GroupPrior(0.0, priors.yes_mean_sd, None, priors.yes_sd),
        "sensitivity": GroupPrior(priors.sensitivity_mean, priors.sensitivity_mean_sd, None, priors.sensitivity_sd),
        "polarity": GroupPrior(0.0, priors.polarity_mean_sd, None, priors.polarity_sd),
        "validity": GroupPrior(priors.validity_mean, priors.validity_mean_sd, None, priors.validity_sd),
    }[name]
    return replace(found, family_scale=priors.family_sd)


def stage_columns(design: CountDesign, stage: str) -> NDArray[np.int64]:
    """Indices of the design's columns that a stage uses."""
    if stage == "yes":
        return np.arange(design.matrix.shape[1])
    used = np.array([name in _ANSWERED_GROUPS for name in design.groups])
    return np.flatnonzero(used[design.group])


def stage_arrays(
    design: CountDesign, priors: Priors, *, stage: str, families: Mapping[str, str] | None = None
) -> ModelArrays:
    """Arrays of one stage, ``yes`` or ``answered``; ``families`` (model -> family) are effects of the stage ``yes``."""
    columns = stage_columns(design, stage)
    matrix = design.matrix[:, columns]
    used = sorted(set(design.group[columns]))
    group = np.array([used.index(g) for g in design.group[columns]])
    names = tuple(design.groups[g] for g in used)
    if stage == "yes":
        yes, no, residual = design.yes, design.answered - design.yes, design.residual
    else:
        yes, no = design.answered, design.uncertain
        residual = len(matrix) > np.linalg.matrix_rank(matrix)
    concentration = (priors.concentration_mean, priors.concentration_sd) if residual else None
    return assembled_arrays(
        matrix,
        group,
        group_priors(names, priors, stage),
        yes,
        no,
        concentration=concentration,
        families=family_index(design.models, families or {}) if stage == "yes" else None,
    )


def assembled_arrays(
    matrix: Floats,
    group: NDArray[np.int64],
    of_group: tuple[GroupPrior, ...],
    yes: Floats,
    no: Floats,
    *,
    concentration: tuple[float, float] | None,
    families: NDArray[np.int64] | None = None,
) -> ModelArrays:
    """Arrays of a hierarchical model from its columns, groups, priors and counts; families (M,) as numbers from 0 on.

    Notes
    -----
    With one model nothing can be pooled between models: coefficients with a normal prior of their mean
    get that prior, widened by the root mean square of their sd; the others are Normal(0, sd).
    """
    pooled = len(yes) > 1
    free_mean = np.array([pooled and of_group[g].has_mean for g in group])
    free_sd = np.array([pooled or p.shared_scale is not None or not p.has_mean for p in of_group])
    shared = [g for g, p in enumerate(of_group) if pooled and p.shared_scale is not None]
    family_at = _family_places(group, of_group, free_mean, families if pooled else None)
    of_family = group[(family_at >= 0).any(axis=0)]
    n_own, n_sds = int(free_mean.sum()), int(free_sd.sum())
    n_added = int(family_at.max(initial=-1)) + 1
    n_means = n_added + n_own
    mean_at = np.where(free_mean, n_added + np.cumsum(free_mean) - 1, -1)
    log_sd_at = np.where(free_sd, n_means + np.cumsum(free_sd) - 1, -1)
    tau_at = {g: n_means + n_sds + i for i, g in enumerate(shared)}
    of_mean = group[free_mean]
    scales = [of_group[g].shared_scale for g in shared] + [of_group[g].family_scale for g in of_family]
    n_taus = len(scales)
    size = n_means + n_sds + n_taus + (concentration is not None)
    prior_mean, prior_log_sd = np.zeros(size), np.zeros(size)
    prior_mean[n_added:n_means] = [of_group[g].mean for g in of_mean]
    prior_log_sd[n_added:n_means] = [np.log(of_group[g].mean_sd) for g in of_mean]
    prior_log_sd[n_means : n_means + n_sds] = [
        np.log(p.scale if pooled or p.shared_scale is None else p.shared_scale)
        for p, free in zip(of_group, free_sd, strict=True)
        if free
    ]
    prior_log_sd[n_means + n_sds : n_means + n_sds + n_taus] = [np.log(scale or 1.0) for scale in scales]
    if concentration is not None:
        prior_mean[-1], prior_log_sd[-1] = concentration[0], np.log(concentration[1])
    is_log_sd = np.zeros(size, bool)
    is_log_sd[n_means : n_means + n_sds + n_taus] = True
    # What families add to a mean has the sds after those of templates and forms.
    family_taus = np.arange(n_means + n_sds + len(shared), n_means + n_sds + n_taus)
    prior_sd_at = np.full(size, -1, dtype=np.int64)
    prior_sd_at[n_added:n_means] = [tau_at.get(g, -1) for g in of_mean]
    if n_added:
        prior_sd_at[:n_added] = np.repeat(family_taus, n_added // len(family_taus))
    column, value = _sparse(matrix)
    sizes, cells = np.unique((yes + no)[(yes + no) > 0], return_counts=True)
    return ModelArrays(
        column=column,
        value=value,
        yes=np.ascontiguousarray(yes, float),
        no=np.ascontiguousarray(no, float),
        inverse=np.zeros((0, 0, 0)),
        df=np.zeros(0),
        sizes=sizes.astype(float),
        cells=cells.astype(float),
        group=group.astype(np.int64),
        mean_at=mean_at.astype(np.int64),
        mean=np.array([0.0 if free else of_group[g].mean for g, free in zip(group, free_mean, strict=True)]),
        log_sd_at=log_sd_at.astype(np.int64),
        log_sd=np.array(
            [
                0.0 if free else 0.5 * np.log(p.mean_sd**2 + p.scale**2)
                for p, free in zip(of_group, free_sd, strict=True)
            ]
        ),
        prior_mean=prior_mean,
        prior_log_sd=prior_log_sd,
        prior_sd_at=prior_sd_at,
        is_log_sd=is_log_sd,
        log_phi_at=size - 1 if concentration is not None else -1,
        kind=BETA_BINOMIAL if concentration is not None else BINOMIAL,
        family_at=family_at,
    )


def _family_places(
    group: NDArray[np.int64],
    of_group: tuple[GroupPrior, ...],
    free_mean: NDArray[np.bool_],
    families: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """``ModelArrays.family_at``: what families add stands before the means, column by column, family by family.

    Data do not tie one family to another except through the means, so that a factor of their joint curvature in this
    order is as sparse as the curvature itself.
    """
    if families is None:
        return np.zeros((0, len(group)), dtype=np.int64)
    found = np.full((len(families), len(group)), -1, dtype=np.int64)
    columns = [j for j, g in enumerate(group) if free_mean[j] and of_group[g].family_scale is not None]
    for i, j in enumerate(columns):
        found[:, j] = i * (families.max() + 1) + families
    return found


def _sparse(matrix: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Column index and value of the nonzero entries of each row, padded with value 0."""
    nonzero = matrix != 0
    width = int(nonzero.sum(axis=1).max())
    order = np.argsort(~nonzero, axis=1, kind="stable")[:, :width]
    return order.astype(np.int64), np.ascontiguousarray(np.take_along_axis(matrix, order, axis=1), float)


def dense(arrays: ModelArrays) -> Floats:
    """Design matrix (C, P) of the arrays."""
    matrix = np.zeros((len(arrays.column), len(arrays.group)))
    rows = np.arange(len(matrix))[:, None]
    np.add.at(matrix, (np.broadcast_to(rows, arrays.column.shape), arrays.column), arrays.value)
    return matrix
