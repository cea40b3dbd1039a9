"""Which hyper-parameter of a fitted stage is the standard deviation of what."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.design_matrix import SIGNS, CountDesign
from analysis.bayes.model_arrays import ESTIMATES, ModelArrays
from analysis.bayes.models.answer_bias import dense, stage_columns
from analysis.bayes.result import UNITS
from analysis.measures.yes_no_bias import FOUR_CELLS

#: What the coefficients of a component differ between.
LEVELS: Final = "levels"
MODELS: Final = "models"
CELLS: Final = "cells"
RESIDUAL: Final = "residual"


@dataclass(frozen=True, slots=True)
class Component:
    """One batch of coefficients that share a standard deviation.

    Attributes
    ----------
    factor : str
        ``model``, ``family``, ``template``, ``form``, ``unit`` or ``residual``.
    between : str
        ``levels`` of the factor, common to all models; ``models``; ``cells`` (the residual).
    term : str
        What the coefficients multiply: ``yes``, ``sensitivity``, ``polarity``, ``validity``; ``residual``.
    at : int
        Its hyper-parameter: the log standard deviation, of a residual without coefficients the log concentration.
    concentration : bool
        Whether that is a log concentration.
    mean_square : float
        Mean over the cells asked of the sum of its squared columns: how much its variance adds to a cell's.
    n_levels : int
        Coefficients behind the standard deviation.
    fewest : int
        The same, of templates in the validity class with fewer of them.
    prior : str
        Name in ``priors.Priors`` of the half-normal scale (of a concentration: of its normal prior).
    scale : float
        Its value.
    means : tuple of int
        Hyper-parameters whose standard deviation it is; empty where those coefficients are no hyper-parameters.
    """

    factor: str
    between: str
    term: str
    at: int
    concentration: bool
    mean_square: float
    n_levels: int
    fewest: int
    prior: str
    scale: float
    means: tuple[int, ...]


def stage_components(
    arrays: ModelArrays, groups: tuple[str, ...], stage: str, *, fewest: int | None = None
) -> tuple[Component, ...]:
    """Components of one stage: models, then each factor's levels and what they do to single models, then cells.

    Parameters
    ----------
    arrays : ModelArrays
    groups : tuple of str
        Names of the groups of ``arrays``, in their order.
    stage : str
        ``yes``, ``answered`` or that of the layer of units.
    fewest : int, optional
        Of ``fewest_templates``.
    """
    squares = _mean_squares(arrays, len(groups))
    scale = np.exp(arrays.prior_log_sd)
    pooled = len(arrays.yes) > 1
    found: list[Component] = []

    def add(factor: str, between: str, term: str, at: int, square: float, n: int, means: tuple[int, ...] = ()) -> None:
        least = min(n, fewest) if fewest is not None and factor == "template" and between == LEVELS else n
        is_phi = at == arrays.log_phi_at
        prior = "concentration_sd" if is_phi else _prior_name(factor, between, term, stage)
        name = factor or ("model" if between != CELLS else RESIDUAL)
        found.append(Component(name, between, term, at, is_phi, square, n, least, prior, float(scale[at]), means))

    for g, name in enumerate(groups):
        factor, _, term = name.rpartition("_")
        means = arrays.mean_at[arrays.group == g]
        tau, own = arrays.prior_sd_at[means[0]] if means[0] >= 0 else -1, arrays.log_sd_at[g]
        if tau >= 0:
            add(factor, LEVELS, term, int(tau), float(squares[g]), len(means), tuple(int(i) for i in means))
        families = _families(arrays, g)
        if families:
            tau = int(arrays.prior_sd_at[families[0]])
            add("family", LEVELS, term, tau, float(squares[g]), len(families), families)
        if own >= 0:
            between = CELLS if name == RESIDUAL else MODELS if pooled else LEVELS
            add(factor, between, term, int(own), float(squares[g]), len(means) * len(arrays.yes))
    if arrays.log_phi_at >= 0:
        asked = int(((arrays.yes + arrays.no) > 0).sum())
        add("", CELLS, RESIDUAL, arrays.log_phi_at, 1.0, asked)
    order = (MODELS, LEVELS, CELLS)
    factors = ("model", "family", "template", "form", "unit", RESIDUAL)
    return tuple(
        sorted(found, key=lambda c: (factors.index(c.factor), -order.index(c.between) if c.factor != "model" else 0))
    )


def _families(arrays: ModelArrays, group: int) -> tuple[int, ...]:
    """Hyper-parameters that families add to the mean of a group."""
    own = np.unique(arrays.family_at[:, arrays.group == group])
    return tuple(int(at) for at in own[own >= 0])


def stage_groups(design: CountDesign, stage: str) -> tuple[str, ...]:
    """Names of the groups of ``models.answer_bias.stage_arrays``, in its order."""
    used = sorted(set(design.group[stage_columns(design, stage)]))
    return tuple(design.groups[g] for g in used)


def fewest_templates(design: CountDesign) -> int | None:
    """Templates in the validity class with fewer of them; None without templates or validity."""
    if design.names != FOUR_CELLS or "template" not in design.cells.columns:
        return None
    valid = np.array([SIGNS[cell][2] for cell in design.cells["cell"]])
    return min(int(design.cells.loc[valid == sign, "template"].nunique()) for sign in (1, -1))


def any_asked(arrays: ModelArrays) -> bool:
    """Whether a stage has a response, or an estimate, that its standard deviations could be learnt from."""
    return bool(_asked(arrays).any())


def _asked(arrays: ModelArrays) -> NDArray[np.bool_]:
    return np.ones(arrays.yes.shape, bool) if arrays.kind == ESTIMATES else (arrays.yes + arrays.no) > 0


def _mean_squares(arrays: ModelArrays, groups: int) -> NDArray[np.float64]:
    """Mean over the cells asked of the sum over each group's columns of their squares, (groups,)."""
    asked = _asked(arrays)
    by_column = (asked.sum(axis=0) @ dense(arrays) ** 2) / asked.sum()
    return np.bincount(arrays.group, weights=by_column, minlength=groups)


def _prior_name(factor: str, between: str, term: str, stage: str) -> str:
    if term == RESIDUAL:
        return "residual_sd"
    if stage not in ("yes", UNITS):
        return "answered_sd" if not factor and term == "yes" else "answered_effect_sd"
    if not factor:
        return f"{term}_sd"
    if factor == "unit":
        return "surface_sd"
    return f"{factor}_sd" if between == LEVELS else f"model_{factor}_sd"
