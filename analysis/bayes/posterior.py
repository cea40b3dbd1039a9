"""Draws of the accuracies that the frequentist estimates aim at: the same cells, weights and treatments.

For each draw the probability of an answer and of Yes in every cell of the design is combined with the
observed weights (g-computation). Target ``these`` keeps the templates, forms and cells asked;
``new_templates`` integrates fresh templates, forms kept.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.model_arrays import Coordinates, ModelArrays
from analysis.bayes.models.answer_bias import dense, stage_columns
from analysis.bayes.quadrature import mean_logistic
from analysis.bayes.reconstruct import HyperDraws, coefficient_draws, hyper_draws
from analysis.bayes.sampling import Draws
from analysis.measures.rates import share

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StageFit:
    """One sampled stage: its arrays, coordinates and draws."""

    arrays: ModelArrays
    coordinates: Coordinates
    draws: Draws

    # Everything that is reported asks for them; without slots there is room to keep them.
    @cached_property
    def hyper(self) -> HyperDraws:
        """Hyper-parameters of all draws."""
        return hyper_draws(self.draws, self.arrays, self.coordinates)

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws per chain."""
        return self.draws.z.shape[0], self.draws.z.shape[1]


@dataclass(frozen=True, slots=True)
class AccuracyDraws:
    """Draws of accuracies of one target and one treatment of uncertain answers.

    Attributes
    ----------
    target, uncertain : str
    accuracy : ndarray (chains, draws, M, cells)
        In the order of the design's names.
    """

    target: str
    uncertain: str
    accuracy: Floats


@dataclass(frozen=True, slots=True)
class _Stages:
    yes: StageFit
    yes_hyper: HyperDraws
    answered: StageFit | None
    answered_hyper: HyperDraws | None


def count_accuracies(
    design: CountDesign,
    yes: StageFit,
    answered: StageFit | None,
    rng: np.random.Generator,
    *,
    wanted: Sequence[tuple[str, str]],
    surface_design: CountDesign | None = None,
    cores: int = 1,
) -> tuple[AccuracyDraws, ...]:
    """Accuracies by model and cell from the sampled stages.

    Parameters
    ----------
    design : CountDesign
        Without units.
    yes, answered : StageFit
        ``answered`` None: every response was answered.
    rng : numpy.random.Generator
        For the cells' own probabilities, whose posterior given the rest is a beta distribution.
    wanted : sequence of (target, treatment of uncertain answers)
    surface_design : CountDesign, optional
        The design of stage ``yes`` where units are effects; fresh units are integrated.
    cores : int
        Threads; the result does not depend on their number.
    """
    stages = _Stages(yes, yes.hyper, answered, answered.hyper if answered else None)
    plan = _TemplatePlan.of(design) if any(target == "new_templates" for target, _ in wanted) else None
    names = len(design.names)

    def of_model(m: int, own: np.random.Generator) -> list[Floats]:
        b = coefficient_draws(m, stages.yes_hyper, yes.arrays, yes.coordinates)
        a = None
        if answered is not None and stages.answered_hyper is not None:
            a = coefficient_draws(m, stages.answered_hyper, answered.arrays, answered.coordinates)
        parts = {"these": (*_these(m, b, a, design, stages, own, surface_design), design.weight[m], design.cell_of)}
        if plan is not None:
            parts["new_templates"] = (*plan.probabilities(b, a, stages), plan.weight(design.weight[m]), plan.cell_of)
        found = []
        for target, treatment in wanted:
            given, right, weight, cell_of = parts[target]
            found.append(_accuracy(given, right, _by_name(weight, cell_of, names), treatment))
        return found

    with ThreadPoolExecutor(cores) as pool:
        by_model = list(pool.map(of_model, range(len(design.models)), rng.spawn(len(design.models))))
    shape = (*yes.shape, len(by_model), names)
    stacked = [np.stack([found[i] for found in by_model], axis=1).reshape(shape) for i in range(len(wanted))]
    return tuple(
        AccuracyDraws(target, treatment, defined_accuracies(accuracy, design, treatment))
        for (target, treatment), accuracy in zip(wanted, stacked, strict=True)
    )


def defined_accuracies(accuracy: Floats, design: CountDesign, treatment: str) -> Floats:
    """Accuracies (..., M, names) with NaN where uncertain answers are excluded and a model gave no other."""
    return np.where(design.has_answer, accuracy, np.nan) if treatment == "excluded" else accuracy


def estimate_accuracies(fit: StageFit) -> Floats:
    """Accuracies (chains, draws, M, cells) of the surface layer."""
    hyper = fit.hyper
    matrix = dense(fit.arrays)
    models = [
        expit(coefficient_draws(m, hyper, fit.arrays, fit.coordinates) @ matrix.T) for m in range(len(fit.arrays.yes))
    ]
    return np.stack(models, axis=1).reshape(*fit.shape, len(models), -1)


def _by_name(weight: Floats, cell_of: NDArray[np.int64], names: int) -> Floats:
    """Weights (C, names), each column summing to 1; a name without weight is NaN."""
    spread = np.zeros((len(weight), names))
    spread[np.arange(len(weight)), cell_of] = weight
    return share(spread, spread.sum(axis=0))


def _accuracy(given: Floats, right: Floats, weight: Floats, treatment: str) -> Floats:
    """Accuracy (S, names) from the probability of an answer and of a right answer given one, both (S, C).

    NaN under ``excluded`` where an answer has probability 0 in a draw.
    """
    correct = (given * right) @ weight
    if treatment == "incorrect":
        return correct
    answered = given @ weight
    return share(correct, answered) if treatment == "excluded" else correct + (1 - answered) / 2


def _these(
    m: int,
    b: Floats,
    a: Floats | None,
    design: CountDesign,
    stages: _Stages,
    rng: np.random.Generator,
    surface_design: CountDesign | None,
) -> tuple[Floats, Floats]:
    """Probability of an answer, and of a right one given an answer, (S, C) each, in the cells asked."""
    if surface_design is None:
        yes = _cell_probabilities(m, b, stages.yes.arrays, stages.yes_hyper, rng)
    else:
        yes = _over_units(b, surface_design, stages.yes, stages.yes_hyper)
    given = np.ones_like(yes)
    if a is not None and stages.answered is not None and stages.answered_hyper is not None:
        given = _cell_probabilities(m, a, stages.answered.arrays, stages.answered_hyper, rng)
    return given, np.where(design.gold > 0, yes, 1 - yes)


def _cell_probabilities(
    m: int, coefficients: Floats, d: ModelArrays, hyper: HyperDraws, rng: np.random.Generator
) -> Floats:
    """Probability (S, C) of every cell of one model: exact draws given the hyper-parameters and coefficients."""
    eta = coefficients @ dense(d).T
    phi = hyper.phi(d)
    if phi is None:
        return expit(eta)
    upper = rng.standard_gamma(phi[:, None] * expit(eta) + d.yes[m])
    lower = rng.standard_gamma(phi[:, None] * expit(-eta) + d.no[m])
    total = upper + lower
    # Both gammas underflow only where there are no data and phi is tiny: the cell is then 0 or 1.
    return np.divide(upper, total, out=(eta > 0).astype(float), where=total > 0)


def _over_units(coefficients: Floats, design: CountDesign, fit: StageFit, hyper: HyperDraws) -> Floats:
    """Probability of Yes (S, C) of the cells without units, integrated over fresh units."""
    own = np.array([not name.startswith("unit_") for name in design.groups])[design.group]
    keys = [name for name in design.cells.columns if name != "unit"]
    first = ~design.cells.duplicated(keys).to_numpy()
    eta = coefficients[:, own] @ design.matrix[first][:, own].T
    return mean_logistic(eta, _fresh_variance(design, "unit", fit.arrays, hyper))


def _fresh_variance(
    design: CountDesign, factor: str, d: ModelArrays, hyper: HyperDraws, *, stage: str = "yes"
) -> Floats:
    """Variance (S,) of what a fresh level of a factor adds: between levels, and between models within a level."""
    columns = stage_columns(design, stage)
    used = sorted(set(design.group[columns]))
    own = [i for i, g in enumerate(used) if design.groups[g].startswith(f"{factor}_")]
    between = hyper.group_variance(d)[:, own].sum(axis=1)
    means = d.mean_at[np.isin(d.group, own)]
    taus = np.unique(d.prior_sd_at[means[means >= 0]])
    return between + np.exp(2 * hyper.value[:, taus[taus >= 0]]).sum(axis=1)


@dataclass(frozen=True, slots=True)
class _TemplatePlan:
    """Cells of the design without their template: (cell, form)."""

    design: CountDesign
    first: NDArray[np.bool_]
    code: NDArray[np.int64]

    @classmethod
    def of(cls, design: CountDesign) -> "_TemplatePlan":
        keys = [name for name in design.cells.columns if name != "template"]
        first = ~design.cells.duplicated(keys).to_numpy()
        code = design.cells.groupby(keys, sort=False).ngroup().to_numpy().astype(np.int64)
        return cls(design, first, code)

    @property
    def cell_of(self) -> NDArray[np.int64]:
        return self.design.cell_of[self.first]

    def weight(self, weight: Floats) -> Floats:
        return np.bincount(self.code, weights=weight)

    def probabilities(self, b: Floats, a: Floats | None, stages: _Stages) -> tuple[Floats, Floats]:
        """Probability of an answer, and of a right one given an answer, in a fresh template."""
        yes = self._stage(b, stages.yes.arrays, stages.yes_hyper, "yes")
        given = np.ones_like(yes)
        if a is not None and stages.answered is not None and stages.answered_hyper is not None:
            given = self._stage(a, stages.answered.arrays, stages.answered_hyper, "answered")
        return given, np.where(self.design.gold[self.first] > 0, yes, 1 - yes)

    def _stage(self, coefficients: Floats, d: ModelArrays, hyper: HyperDraws, stage: str) -> Floats:
        columns = stage_columns(self.design, stage)
        names = [self.design.groups[g] for g in self.design.group[columns]]
        own = np.array([not name.startswith("template_") for name in names])
        matrix = self.design.matrix[self.first][:, columns[own]]
        return mean_logistic(
            coefficients[:, own] @ matrix.T, _fresh_variance(self.design, "template", d, hyper, stage=stage)
        )
