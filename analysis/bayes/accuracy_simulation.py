"""Parameters of the accuracy model drawn from its priors, and answers drawn from parameters."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_priors import AccuracyPriors

Floats = NDArray[np.float64]


def drawn_parameters(
    answers: AnswerSet, priors: AccuracyPriors, rng: np.random.Generator
) -> Mapping[str, Floats | float]:
    """``level`` (M,), ``sd, share, log_phi, sd_level, reaction_sd`` from the priors; 0 and infinite where not free."""
    p, models = priors, len(answers.models)
    sd_level = p.level_sd * abs(rng.standard_normal())
    mean = p.level_mean + p.level_mean_sd * rng.standard_normal()
    if models == 1:
        level = p.level_mean + np.hypot(p.level_mean_sd, p.level_sd) * rng.standard_normal(1)
    else:
        level = mean + sd_level * rng.standard_normal(models)
    phi = p.concentration_mean + p.concentration_sd * rng.standard_normal()
    return {
        "level": level,
        "sd": p.item_sd * abs(rng.standard_normal()) if answers.has_item else 0.0,
        "share": rng.beta(p.unit_shape, p.unit_shape) if answers.has_unit else 0.0,
        "log_phi": phi if answers.has_residual else np.inf,
        "sd_level": sd_level,
        "reaction_sd": p.reaction_sd * abs(rng.standard_normal()) if answers.has_reaction else 0.0,
    }


def simulated_right(
    answers: AnswerSet,
    level: Floats,
    sd: float,
    share: float,
    log_phi: float,
    rng: np.random.Generator,
    *,
    reaction_sd: float = 0.0,
) -> NDArray[np.int64]:
    """Right answers (M, I) of as many as there are, by new items in as many units.

    ``reaction_sd``: standard deviation of what a unit is to one model alone.
    """
    items = len(answers.items)
    unit = rng.standard_normal(int(answers.unit.max()) + 1)[answers.unit]
    effect = sd * (np.sqrt(share) * unit + np.sqrt(1 - share) * rng.standard_normal(items))
    eta = level[:, None] + effect
    if reaction_sd > 0:
        eta = eta + reaction_sd * rng.standard_normal((len(level), int(answers.unit.max()) + 1))[:, answers.unit]
    p = expit(eta)
    if answers.has_residual and np.isfinite(log_phi):
        phi = np.exp(log_phi)
        p = rng.beta(np.maximum(phi * p, 1e-12), np.maximum(phi * (1 - p), 1e-12))
    return np.asarray(rng.binomial(answers.n, p), np.int64)


def answer_rows(right: NDArray[np.int64], samples: int, unit: NDArray[np.int64]) -> pd.DataFrame:
    """Rows of model and item, as ``fit_accuracy`` takes them, of right answers (M, I) and the unit (I,) of items."""
    models, items = right.shape
    m, i = np.meshgrid(np.arange(models), np.arange(items), indexing="ij")
    return pd.DataFrame(
        {
            "model": [f"m{k:02d}" for k in m.ravel()],
            "item": [f"i{k:05d}" for k in i.ravel()],
            "unit": [f"u{unit[k]:05d}" for k in i.ravel()],
            "n_samples": samples,
            "n_right": right.ravel(),
        }
    )
