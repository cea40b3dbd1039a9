"""Differences of incoherence between models, over the instances that both have."""

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.incoherence_attempt import subset_quantities
from analysis.bayes.incoherence_data import LEAST_INSTANCES, Instances
from analysis.bayes.incoherence_sampling import IncoherenceDraws
from analysis.bayes.incoherence_summary import CONTRASTED, contrast_rows

Floats = NDArray[np.float64]
#: Quantities of one model over the instances that it shares with another, by (model, other).
Shared = dict[tuple[str, str], dict[str, Floats]]


def shared_quantities(models: list[Instances], instances: Instances, draws: IncoherenceDraws) -> Shared:
    """Quantities of one model over what it shares with each other one, each distinct set computed once."""
    own = _names(instances)
    computed: dict[bytes, dict[str, Floats]] = {}
    found: Shared = {}
    for other in models:
        at = own.isin(_names(other)).to_numpy()
        if other.model == instances.model or at.sum() < LEAST_INSTANCES:
            continue
        if at.tobytes() not in computed:
            quantities = subset_quantities(draws, at)
            computed[at.tobytes()] = {name: quantities[name] for name in CONTRASTED}
        found[instances.model, other.model] = computed[at.tobytes()]
    return found


def contrast_table(models: list[Instances], shared: Shared, *, ci_level: float) -> pd.DataFrame:
    """One row per pair and measure: the first model minus the second, draws of separate fits paired at random.

    Pairs that share fewer than LEAST_INSTANCES instances have a row with a reason.
    """
    keys, draws, undefined = [], [], []
    for a, b in combinations(models, 2):
        both = int(_names(a).isin(_names(b)).sum())
        label = {
            "model_a": a.model,
            "model_b": b.model,
            "model": f"{a.model} - {b.model}",
            "n": both,
            "n_dropped": a.size + b.size - 2 * both,
        }
        if (a.model, b.model) not in shared or (b.model, a.model) not in shared:
            reason = f"fewer than {LEAST_INSTANCES} instances in common"
            undefined += [{**label, "measure": name, "reason": reason} for name in CONTRASTED]
            continue
        for name in CONTRASTED:
            keys.append({**label, "measure": name})
            draws.append(_difference(shared[a.model, b.model][name], shared[b.model, a.model][name]))
    parts = []
    for length in sorted({values.shape for values in draws}):
        at = [i for i, values in enumerate(draws) if values.shape == length]
        found = pd.DataFrame([keys[i] for i in at])
        parts.append(contrast_rows(found, np.stack([draws[i] for i in at], axis=-1), ci_level=ci_level))
    if undefined:
        parts.append(pd.DataFrame(undefined))
    if not parts:
        return pd.DataFrame(columns=["model_a", "model_b", "model", "measure", "reason"])
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values(["model_a", "model_b"], kind="stable").reset_index(drop=True)


def _difference(a: Floats, b: Floats) -> Floats:
    """Draws of a - b; where one fit was repeated with more draws, the first of these."""
    draws = min(a.shape[1], b.shape[1])
    return a[:, :draws] - b[:, :draws]


def _names(instances: Instances) -> pd.Series:
    return instances.rows["unit"] + "\x1f" + instances.rows["identity"]
