"""Counts of endorsements for the tests of the endorsement model: simulated syllogisms, and small designs by hand."""

import numpy as np
import pandas as pd

from analysis.simulation.syllogisms import VARIANTS, YES, SimulatedSyllogisms

CONDITIONS = ("strategy", "temperature")


def syllogism_counts(simulated: SimulatedSyllogisms) -> pd.DataFrame:
    """Readable votes, and those for valid, by model, question and configuration."""
    asked, settings = simulated.questions, simulated.settings
    names = np.array(asked.names())
    s, t, i = (
        x.ravel()
        for x in np.meshgrid(
            np.arange(len(settings.strategies)),
            np.arange(len(settings.temperatures)),
            np.arange(len(names)),
            indexing="ij",
        )
    )
    questions = {
        "unit": np.array([name.rsplit("_", 1)[0] for name in names])[i],
        "item": names[i],
        "gold": np.where(asked.valid == 1, "yes", "no")[i],
        "believability": np.array(["unbelievable", "", "believable"])[asked.believed + 1][i],
        "variant": np.array(VARIANTS)[asked.variant][i],
        "strategy": np.array(settings.strategies)[s],
        "temperature": np.array(settings.temperatures)[t],
    }
    parts = []
    for model in simulated.models:
        readable = (model.votes >= 0) & (model.votes <= YES)
        counts = {"n": readable.sum(axis=-1).ravel(), "k": (model.votes == YES).sum(axis=-1).ravel()}
        parts.append(pd.DataFrame({"model": model.name, **questions, **counts}))
    return pd.concat(parts, ignore_index=True)


def small_counts(
    rng: np.random.Generator,
    *,
    models: int = 3,
    units: int = 8,
    versions: tuple[str, ...] = ("N", "X"),
    strategies: tuple[str, ...] = ("a", "b"),
    votes: int = 3,
) -> pd.DataFrame:
    """Random counts of a small design; every second version is nonsense."""
    rows = [
        {
            "model": f"m{m}",
            "unit": f"u{u:02d}",
            "item": f"u{u:02d}_{version}",
            "gold": "yes" if u % 4 < 2 else "no",
            "believability": "" if at % 2 else ("believable" if u % 2 else "unbelievable"),
            "variant": version if len(versions) > 1 else "",
            "strategy": strategy,
            "n": votes,
        }
        for m in range(models)
        for u in range(units)
        for at, version in enumerate(versions)
        for strategy in strategies
    ]
    table = pd.DataFrame(rows)
    return table.assign(k=rng.binomial(votes, 0.5, len(table)))
