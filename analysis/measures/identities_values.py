"""Both sides of an identity, evaluated on the probabilities of many sets of answers at once."""

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import Expression, Extreme, Number, Operation, OverStates, Role
from analysis.reduction.instances import AnswerSets

Floats = NDArray[np.float64]


def evaluated(expression: Expression, sets: AnswerSets) -> Floats:
    """Value of an expression, (N, S): by state, and the same in every column where no state is free.

    NaN where an answer that it needs is missing, and where something is divided by 0.

    Raises
    ------
    AnalysisError
        A role that no set has.
    """
    shape = sets.states.shape
    match expression:
        case Number(value=value):
            return np.full(shape, value)
        case Role(name=name, state=None):
            return _role(name, sets)
        case Role(name=name, state=str(state)):
            return np.broadcast_to(_one_state(name, state, sets)[:, None], shape)
        case Operation(sign=sign, left=left, right=right):
            return _joined(sign, evaluated(left, sets), evaluated(right, sets))
        case OverStates(name=name, inner=inner):
            return np.broadcast_to(_over_states(name, evaluated(inner, sets), sets)[:, None], shape)
        case Extreme(name=name, members=members):
            values = np.stack([evaluated(member, sets) for member in members])
            return values.min(axis=0) if name == "min" else values.max(axis=0)
    raise AnalysisError(f"an expression cannot hold {expression!r}")


def _role(name: str, sets: AnswerSets) -> Floats:
    if name not in sets.by_role:
        raise AnalysisError(f"no answer has the role {name!r}; there are {', '.join(sets.by_role)}")
    values = sets.by_role[name]
    return np.where(sets.has_states[name][:, None], values, values[:, :1])


def _one_state(name: str, state: str, sets: AnswerSets) -> Floats:
    values = _role(name, sets)
    here = (sets.states == state) & sets.has_states[name][:, None]
    return np.where(here.any(axis=1), np.where(here, values, 0).sum(axis=1), np.nan)


def _joined(sign: str, left: Floats, right: Floats) -> Floats:
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "*":
        return left * right
    return np.divide(left, right, out=np.full(left.shape, np.nan), where=right != 0)


def _over_states(name: str, values: Floats, sets: AnswerSets) -> Floats:
    """Sum, product, number, smallest or largest over the states of each set; NaN where one of them is unknown."""
    real = sets.states != None  # noqa: E711
    neutral = {"sum": 0.0, "count": 0.0, "prod": 1.0, "min": np.inf, "max": -np.inf}[name]
    if name == "count":
        return np.where(np.isnan(np.where(real, values, 0.0)).any(axis=1), np.nan, real.sum(axis=1))
    padded = np.where(real, values, neutral)
    found: Floats = getattr(np, name)(padded, axis=1)
    return found
