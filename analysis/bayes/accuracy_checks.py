"""Posterior predictive checks of the accuracy model, and accuracies of models by themselves."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_reactions import residuals_by_item
from analysis.bayes.accuracy_sampling import AccuracyDraws
from analysis.bayes.accuracy_simulation import simulated_right

Floats = NDArray[np.float64]

#: Most replicated data sets, and most answers in all of them.
_REPLICATES: Final = 200
_MOST_ANSWERS: Final = 8_000_000
_LEAST_REPLICATES: Final = 40


def predictive_checks(answers: AnswerSet, draws: AccuracyDraws, rng: np.random.Generator) -> pd.DataFrame:
    """Variance of items, of units, and of what items and units are to single models: observed and replicated.

    Returns
    -------
    DataFrame
        ``check, observed, expected`` (median), ``low, high`` (95 %), ``tail``: two-sided share of
        replicates as far out; ``p_adjusted``: share of replicates of which some check is as far out, in standard
        deviations of the check, so that a right model has one below .05 in at most 5 % of fits.

    References
    ----------
    Westfall and Young (1993), Resampling-Based Multiple Testing, section 2.3 (the largest statistic under resampling).
    """
    flat = {name: x.reshape(-1, *x.shape[2:]) for name, x in draws.parameters().items()}
    many = int(np.clip(_MOST_ANSWERS // answers.n.size, _LEAST_REPLICATES, _REPLICATES))
    chosen = np.linspace(0, len(flat["sd"]) - 1, many).astype(int)
    observed = _statistics(answers, answers.right)
    replicated = []
    for s in chosen:
        sd, share, log_phi, own = (float(flat[name][s]) for name in ("sd", "share", "log_phi", "reaction_sd"))
        right = simulated_right(answers, flat["level"][s], sd, share, log_phi, rng, reaction_sd=own)
        replicated.append(_statistics(answers, right))
    rows = []
    sets = np.array([list(one.values()) for one in (observed, *replicated)])
    for name, value, adjusted in zip(observed, observed.values(), adjusted_tails(sets), strict=True):
        values = np.array([one[name] for one in replicated])
        above, below = (np.sum(values >= value) + 1) / (many + 1), (np.sum(values <= value) + 1) / (many + 1)
        low, middle, high = np.quantile(values, (0.025, 0.5, 0.975))
        rows.append(
            {"check": name, "observed": value, "expected": middle, "low": low, "high": high}
            | {"tail": float(min(1.0, 2 * min(above, below))), "p_adjusted": float(adjusted), "replicates": many}
        )
    return pd.DataFrame(rows)


def adjusted_tails(sets: Floats) -> Floats:
    """Adjusted p-values (K,) of the statistics of the first of several data sets (R + 1, K), the others replicates.

    Statistics are standardised over all sets, the first included: were it drawn like the others, its place among them
    would be any with the same probability.
    """
    spread = sets.std(axis=0)
    away = np.abs(sets - sets.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    # Equal but for rounding is as far out.
    return np.asarray((away.max(axis=1)[:, None] >= away[0] - 1e-9).mean(axis=0))


def _statistics(answers: AnswerSet, right: NDArray[np.int64]) -> dict[str, float]:
    asked = answers.n > 0
    of_item, own = residuals_by_item(answers, right)
    found = {"variance of items": float(of_item.var())}
    if len(answers.models) > 1:
        found |= {"share of items that all models solve": float(((right == answers.n) | ~asked).all(axis=0).mean())}
        found |= {"share of items that no model solves": float((right == 0).all(axis=0).mean())}
    if answers.has_unit:
        units = int(answers.unit.max()) + 1
        size = np.bincount(answers.unit, minlength=units)
        found["variance of units"] = float((np.bincount(answers.unit, of_item, units) / size).var())
        if len(answers.models) > 1:
            sums = np.stack([np.bincount(answers.unit, row, units) for row in own]) / size
            found["variance of units in single models"] = float((sums**2).mean())
    return found


def unpooled_accuracy(answers: AnswerSet, *, ci_level: float) -> pd.DataFrame:
    """Accuracy of each model by itself: beta posterior under Jeffreys' prior, every item weighing the same.

    Exact where each item was asked once. Where it was asked more often, samples count as independent and their number
    is Kish's effective one, as in ``models.unpooled``.
    """
    asked = answers.n > 0
    weight = np.divide(1.0, answers.n, out=np.zeros(answers.n.shape), where=asked)
    items = asked.sum(axis=1)
    effective = items**2 / np.maximum(weight.sum(axis=1), 1e-12)
    right = effective * (weight * answers.right).sum(axis=1) / np.maximum(items, 1)
    a, b = right + 0.5, effective - right + 0.5
    tail = (1 - ci_level) / 2
    low, middle, high = (beta.ppf(p, a, b) for p in (tail, 0.5, 1 - tail))
    return pd.DataFrame(
        {"model": list(answers.models), "measure": "accuracy", "target": "these", "estimate": middle}
        | {"ci_low": low, "ci_high": high, "ci_level": ci_level, "ci_method": "jeffreys", "n": items}
    )
