"""Fitted share of right answers of every model and item of the accuracy model, with its interval."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_density import by_pattern, unit_kernel
from analysis.bayes.accuracy_points import points_for
from analysis.bayes.accuracy_sampling import AccuracyDraws
from analysis.bayes.compiled import compiled
from analysis.measures.rates import share as ratio

Floats = NDArray[np.float64]

#: Draws behind fitted values, fewer where models × items are many.
_DRAWS: Final = 200
_LEAST_DRAWS: Final = 60
_MOST_VALUES: Final = 12_000_000
#: Points on which effects are drawn lie this much closer than those of the likelihood.
_FINER: Final = 3.0


def fitted_answers(
    answers: AnswerSet, draws: AccuracyDraws, rng: np.random.Generator, *, ci_level: float
) -> pd.DataFrame:
    """Observed and fitted share of right answers by model and item.

    Parameters
    ----------
    answers : AnswerSet
    draws : AccuracyDraws
    rng : numpy.random.Generator
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``model, item, n, k`` (right), ``observed``, ``fitted`` (posterior mean of the probability of a right answer,
        without what samples of one item vary beyond it), ``fitted_low, fitted_high`` (equal-tailed, ``ci_level``),
        ``residual``: right minus expected answers in binomial standard deviations. Items that a model was not asked
        have no row; where a unit takes the place of its items, ``item`` names the unit.
    """
    flat = {name: x.reshape(-1, *x.shape[2:]) for name, x in draws.parameters().items()}
    many = int(np.clip(_MOST_VALUES // answers.n.size, _LEAST_DRAWS, _DRAWS))
    chosen = np.linspace(0, len(flat["sd"]) - 1, many).astype(int)
    level, sd, share, log_phi = (np.ascontiguousarray(flat[n][chosen]) for n in ("level", "sd", "share", "log_phi"))
    posterior, items = draws.posterior, len(answers.items)
    effect = drawn_effects(
        level,
        sd,
        share,
        log_phi,
        posterior.patterns,
        posterior.sizes,
        answers.unit,
        rng.random((many, items)),
        rng.random((many, int(answers.unit.max()) + 1)),
    )
    tail, parts = (1 - ci_level) / 2, []
    for m, model in enumerate(answers.models):
        asked = answers.n[m] > 0
        n, k = answers.n[m][asked], answers.right[m][asked]
        p = expit(level[:, [m]] + sd[:, None] * effect[:, asked])
        low, high = np.quantile(p, (tail, 1 - tail), axis=0)
        fitted = p.mean(axis=0)
        spread = np.sqrt(n * fitted * (1 - fitted))
        parts.append(
            pd.DataFrame(
                {"model": model, "item": np.array(answers.items, object)[asked], "n": n, "k": k}
                | {"observed": k / n, "fitted": fitted, "fitted_low": low, "fitted_high": high, "ci_level": ci_level}
                | {"residual": ratio(k - n * fitted, spread)}
            )
        )
    return pd.concat(parts, ignore_index=True)


@compiled()
def drawn_effects(level, sd, share, log_phi, patterns, sizes, unit, of_item, of_unit):  # type: ignore[no-untyped-def]
    """Effects (S, I) of items, in standard deviations, drawn given their answers and each of S sets of parameters.

    Parameters
    ----------
    level : ndarray (S, M)
    sd, share, log_phi : ndarray (S,)
    patterns : Patterns
    sizes : Sizes
    unit : ndarray of int (I,)
    of_item, of_unit : ndarray (S, I), (S, U)
        Uniform numbers; the second are read where units have effects.
    """
    found = np.zeros(of_item.shape)
    for s in range(len(sd)):
        points = points_for(sizes, sd[s], share[s], _FINER)
        z = points.item
        joint = by_pattern(level[s], sd[s], log_phi[s], patterns, z)
        for i in range(len(joint)):
            joint[i] = np.exp(joint[i] - joint[i].max())
        if len(patterns.start) == 1:
            weight = np.exp(-0.5 * z**2)
            for i in range(len(joint)):
                joint[i] = np.cumsum(joint[i] * weight)
            for i in range(of_item.shape[1]):
                total = joint[patterns.of_item[i]]
                found[s, i] = z[np.searchsorted(total, of_item[s, i] * total[-1])]
            continue
        kernel, x = unit_kernel(share[s], points), points.unit
        log_inner = np.log(np.dot(joint, kernel) + 1e-300)
        at = np.zeros(len(patterns.start) - 1, np.int64)
        for j in range(len(at)):
            own = -0.5 * x**2
            for e in range(patterns.start[j], patterns.start[j + 1]):
                own += patterns.times[e] * log_inner[patterns.place[e]]
            total = np.cumsum(np.exp(own - own.max()))
            at[j] = np.searchsorted(total, of_unit[s, j] * total[-1])
        for i in range(of_item.shape[1]):
            total = np.cumsum(joint[patterns.of_item[i]] * kernel[:, at[unit[i]]])
            found[s, i] = z[np.searchsorted(total, of_item[s, i] * total[-1])]
    return found
