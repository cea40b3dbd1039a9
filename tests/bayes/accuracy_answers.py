"""Simulated answers to benchmark items."""

import numpy as np
import pandas as pd
from scipy.special import expit

from analysis.bayes.accuracy_simulation import answer_rows


def answers_table(
    models: int,
    items: int,
    *,
    samples: int = 1,
    units: int | None = None,
    sd: float = 1.5,
    share: float = 0.3,
    phi: float | None = None,
    level: np.ndarray | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """One row per model and item: right answers of ``samples`` to items of normal difficulty."""
    rng = np.random.default_rng(seed)
    unit = np.arange(items) if units is None else np.arange(items) % units
    common = np.sqrt(share if units else 0.0) * rng.normal(size=items)
    effect = sd * (common[unit] + np.sqrt(1 - (share if units else 0.0)) * rng.normal(size=items))
    own = rng.normal(0.5, 0.8, models) if level is None else level
    p = expit(own[:, None] + effect)
    if phi is not None:
        p = rng.beta(phi * p, phi * (1 - p))
    return answer_rows(rng.binomial(samples, p), samples, unit)
