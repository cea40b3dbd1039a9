"""Which models are persistently incoherent, and what that rests on: tests, wording effects, leading units."""

import numpy as np
import pandas as pd

from analysis.frequentist.incoherence import repeated_only
from analysis.frequentist.incoherence_tests import DETECTION_LEVEL, WordingFlipTest, wording_flip_test
from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.residual_noise import carried_by_few, unit_totals, without_top_units, wording_effects
from analysis.measures.coherence import persistent_share, root
from analysis.reduction.moments import residual_matrix

#: Share of a model's repeated instances that must have every wording, for effects of the wordings to be split off.
MOSTLY_CROSSED = 0.8


def with_wording_effects(instances: pd.DataFrame, residuals: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Instances with what each adds for these wordings (``q_these``), and the effects, where they are crossed."""
    parts, effects = [], []
    for model in sorted(residuals["model"].unique()):
        keys, wordings, matrix = residual_matrix(residuals[residuals["model"] == model])
        present = ~np.isnan(matrix)
        several, whole = present.sum(axis=1) > 1, present.all(axis=1)
        found = wording_effects(matrix[whole]) if whole.sum() >= MOSTLY_CROSSED * several.sum() else None
        if found is not None:
            parts.append(keys[whole].assign(model=model, q_these=found.products))
            effects.append(pd.DataFrame({"model": model, "wording": wordings, "effect": found.effects}))
    if not parts:
        return instances, pd.DataFrame(columns=["model", "wording", "effect"])
    with_products = instances.merge(pd.concat(parts), on=["model", "unit", "identity"], how="left")
    return with_products, pd.concat(effects, ignore_index=True)


def flip_tests(residuals: pd.DataFrame, *, rng: np.random.Generator, flips: int) -> dict[str, WordingFlipTest]:
    """Model -> its sign-flip test over units and wordings, from residuals by wording."""
    found = {}
    for model in sorted(residuals["model"].unique()):
        keys, _, matrix = residual_matrix(residuals[residuals["model"] == model])
        units = pd.factorize(keys["unit"], sort=True)[0]
        found[str(model)] = wording_flip_test(matrix, units, rng=rng, flips=flips)
    return found


def detection_table(
    instances: pd.DataFrame, flips: dict[str, WordingFlipTest], estimates: pd.DataFrame
) -> pd.DataFrame:
    """One row per model: T with its interval, the test, and what the estimate leans on.

    ``decision`` is taken at ``DETECTION_LEVEL`` of the unadjusted p-value, so that it agrees with the interval of one
    model; ``p_adjusted`` (Holm over models) is beside it. ``share`` is the persistent share of the mean square of the
    residual, ``without_top`` the persistent residual without the three units that contribute most, ``tail`` whether its
    square is then less than half.
    """
    persistent = estimates[estimates["measure"] == "persistent"].set_index("model")
    noise = estimates[estimates["measure"] == "noise"].set_index("model")["squared"]
    rows = []
    for model, test in flips.items():
        part = repeated_only(instances[instances["model"] == model])
        code, names = pd.factorize(part["unit"], sort=True)
        totals, sizes = unit_totals(np.stack([part["q"], np.ones(len(part))]), code, len(names))
        squared = persistent["squared"][model]
        rest = without_top_units(totals, sizes) if len(names) > 3 else np.nan
        rows.append(
            {
                "model": model,
                "squared": squared,
                "squared_low": persistent["squared_low"][model],
                "squared_high": persistent["squared_high"][model],
                "ci_level": persistent["ci_level"][model],
                "ci_method": "unit bootstrap-t",
                "p_value": test.p_value,
                "resolution": test.resolution,
                "share": float(persistent_share(squared, noise[model])),
                "without_top": float(root(rest)) if np.isfinite(rest) else np.nan,
                "tail": carried_by_few(totals, sizes),
                "n": test.n,
                "n_clusters": test.n_clusters,
                "reason": test.reason,
            }
        )
    table = pd.DataFrame(rows)
    adjusted = holm(table["p_value"])
    decided = np.where(table["p_value"] <= DETECTION_LEVEL, "detected", "not detected")
    return table.assign(
        task=instances["task"].iloc[0],
        test="sign-flip by unit and wording",
        alternative="greater",
        p_adjusted=adjusted,
        p_adjust_method="holm",
        family_size=family_size(table["p_value"]),
        decision=np.where(table["p_value"].isna(), "not tested", decided),
    )
