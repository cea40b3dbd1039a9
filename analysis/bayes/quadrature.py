"""Expectations over normal effects by Gauss-Hermite quadrature, compiled once.

The odds of a sum are the product of the odds: one exp per log-odds and one per node serve every pair of them.
"""

from typing import Final

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.elementary_functions import FARTHEST, exponentials

Floats = NDArray[np.float64]

NODES, _RAW_WEIGHTS = hermegauss(15)
WEIGHTS: Final = _RAW_WEIGHTS / _RAW_WEIGHTS.sum()


def mean_logistic(eta: Floats, variance: Floats) -> Floats:
    """Mean of logistic(eta + x) over x ~ N(0, variance), with 15 nodes.

    Parameters
    ----------
    eta : ndarray (S, C)
    variance : ndarray (S,)

    Returns
    -------
    ndarray (S, C)
    """
    return np.asarray(_mean_logistic(_contiguous(eta), np.sqrt(_contiguous(variance)), NODES, WEIGHTS))


def chance_alike(eta: Floats, shared: Floats, own: Floats, *, outer: int, inner: int) -> Floats:
    """Chance that V answers are all yes or all no, whose log-odds have one effect in common and one each.

    Parameters
    ----------
    eta : ndarray (S, T, V)
    shared, own : ndarray (S,)
        Standard deviations of the effect in common and of the others; answers are independent given the first.
    outer, inner : int
        Nodes over each.

    Returns
    -------
    ndarray (S, T)
    """
    return np.asarray(
        _chance_alike(_contiguous(eta), _contiguous(shared), _contiguous(own), *_nodes(outer), *_nodes(inner))
    )


def _contiguous(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=float)


def _nodes(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of a standard normal."""
    nodes, weights = hermegauss(count)
    return nodes, weights / weights.sum()


@compiled()
def _mean_logistic(eta: Floats, sd: Floats, nodes: Floats, weights: Floats) -> Floats:
    found = np.zeros(eta.shape)
    odds, rest, of_nodes = np.empty(eta.shape[1]), np.empty(eta.shape[1]), np.empty(nodes.size)
    for s in range(eta.shape[0]):
        exponentials(eta[s], FARTHEST, odds, rest)
        exponentials(nodes * sd[s], FARTHEST, of_nodes, np.empty(nodes.size))
        for q in range(nodes.size):
            _add_logistic(odds, of_nodes[q], weights[q], found[s])
    return found


@compiled("contract", "arcp", "nsz")
def _add_logistic(odds: Floats, factor: float, weight: float, out: Floats) -> None:
    for i in range(odds.size):
        moved = odds[i] * factor
        out[i] += weight * moved / (1.0 + moved)


@compiled()
def _chance_alike(
    eta: Floats, shared: Floats, own: Floats, outer: Floats, outer_weight: Floats, inner: Floats, inner_weight: Floats
) -> Floats:
    draws, sets, versions = eta.shape
    found = np.zeros((draws, sets))
    odds, rest, rate = np.empty(sets * versions), np.empty(sets * versions), np.empty(sets * versions)
    of_inner = np.empty(inner.size)
    for s in range(draws):
        exponentials(eta[s].ravel(), FARTHEST, odds, rest)
        for o in range(outer.size):
            exponentials(inner * own[s] + outer[o] * shared[s], FARTHEST, of_inner, np.empty(inner.size))
            rate[:] = 0.0
            for i in range(inner.size):
                _add_logistic(odds, of_inner[i], inner_weight[i], rate)
            for t in range(sets):
                yes, no = 1.0, 1.0
                for v in range(t * versions, (t + 1) * versions):
                    yes *= rate[v]
                    no *= 1.0 - rate[v]
                found[s, t] += outer_weight[o] * (yes + no)
    return found
