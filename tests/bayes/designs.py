"""Counts by facet with known truth, for the tests of the Bayesian models."""

import numpy as np
import pandas as pd
from scipy.special import expit


def template_design(
    rng: np.random.Generator,
    *,
    models: int = 4,
    templates: int = 4,
    forms: int = 3,
    n: int = 20,
    concentration: float = 4.0,
    uncertain: float = 0.05,
) -> pd.DataFrame:
    """Counts of a template × form × polarity design; the last quarter of the templates is invalid."""
    t, f, p = (a.ravel() for a in np.meshgrid(np.arange(templates), np.arange(forms), [1, -1], indexing="ij"))
    v = np.where(t < templates - max(1, templates // 4), 1, -1)
    s = v * p
    cell = np.select([(v > 0) & (p > 0), (v > 0) & (p < 0), (v < 0) & (p > 0)], ["VA", "VN", "IA"], "IN")
    shared = rng.normal(size=(2, templates)) * 0.4
    tables = []
    for m in range(models):
        b = np.array([0.2, 1.0, 0.2, 0.3]) + rng.normal(size=4) * [0.8, 0.6, 0.3, 0.4]
        own = shared + rng.normal(size=(2, templates)) * 0.4
        eta = b[0] + b[1] * s + b[2] * p + b[3] * v + own[0][t] + own[1][t] * p + rng.normal(size=forms)[f] * 0.2
        q = rng.beta(concentration * expit(eta), concentration * expit(-eta))
        answered = rng.binomial(n, 1 - uncertain, len(t))
        yes = rng.binomial(answered, q)
        tables.append(
            pd.DataFrame(
                {
                    "task": "simulated",
                    "model": f"m{m:03d}",
                    "cell": cell,
                    "template": [f"t{i:02d}" for i in t],
                    "form": [f"f{i}" for i in f],
                    "n_answered": answered,
                    "n_uncertain": n - answered,
                    "n_correct": np.where(s > 0, yes, answered - yes),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def gold_design(accuracies: dict[str, tuple[float, float]], *, n: int = 100) -> pd.DataFrame:
    """Counts of a design with gold answers alone: model -> accuracy where Yes and where No is right."""
    rows = [
        {"task": "gold", "model": model, "cell": cell, "n_answered": n, "n_uncertain": 0, "n_correct": round(n * rate)}
        for model, rates in accuracies.items()
        for cell, rate in zip(("gold_yes", "gold_no"), rates, strict=True)
    ]
    return pd.DataFrame(rows)
