"""Rows of a fit of incoherence completed: prior odds, decisions, instances, and what has to be said."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.bayes.incoherence_attempt import THESE, ModelFit
from analysis.bayes.incoherence_data import (
    LEAST_PAIRED_UNITS,
    ONE_WORDING,
    SHARED_ROUNDING,
    Instances,
    variance_of_mean,
)
from analysis.bayes.incoherence_priors import IncoherencePriors, PriorPredictive, prior_predictive
from analysis.bayes.incoherence_result import LINKED, MCMC, NORMAL
from analysis.bayes.incoherence_summary import ROPE, bayes_factor, decision

#: Most simulated instances of a prior check, which memory has to hold.
_PRIOR_VALUES: Final = 5_000_000
#: Column order of the table; others follow.
FIRST: Final = (
    "task",
    "variant",
    "model",
    "measure",
    "target",
    "item_family",
    "level",
    "estimate",
    "ci_low",
    "ci_high",
    "upper_bound",
    "hdi_low",
    "hdi_high",
    "threshold",
    "p_present",
    "prior_p_present",
    "bayes_factor",
    "bayes_factor_bound",
    "decision",
    "p_direction",
)


def prior_checks(
    models: list[Instances], priors: IncoherencePriors, seed: int
) -> dict[tuple[str, str], PriorPredictive]:
    """What the priors imply for each variant and model; models of one design share a simulation."""
    found: dict[tuple[str, int, bytes], PriorPredictive] = {}
    by_model = {}
    for variant in (LINKED, NORMAL):
        for one in models:
            key = (variant, one.size, one.unit_at.tobytes() + one.paired.tobytes())
            if key not in found:
                rng = np.random.default_rng([seed, len(variant), one.size])
                draws = int(np.clip(_PRIOR_VALUES // one.size, 2_000, 20_000))
                found[key] = prior_predictive(
                    priors, rng, unit_at=one.unit_at, paired=one.paired, draws=draws, linked=variant == LINKED
                )
            by_model[variant, one.model] = found[key]
    return by_model


def completed_table(
    parts: list[pd.DataFrame], checks: dict[tuple[str, str], PriorPredictive], *, task: str
) -> pd.DataFrame:
    """All rows with prior probability, Bayes factor and decision of persistent incoherence of whole models."""
    table = pd.concat(parts, ignore_index=True)
    whole = (table["item_family"] == "") & (table["level"] == "") & table["ci_low"].notna()
    rows = table[whole & (table["measure"] == "persistent")]
    table["prior_p_present"], table["bayes_factor"] = np.nan, np.nan
    table["bayes_factor_bound"], table["decision"] = "", ""
    for at, row in rows.iterrows():
        check = checks[row["variant"], row["model"]]
        prior = check.p_present if row["target"] == THESE else check.p_present_population
        table.loc[at, "prior_p_present"] = prior
        effective = row["ess_bulk"] if np.isfinite(row["ess_bulk"]) else 1.0
        if 0 < prior < 1:
            value, bound = bayes_factor(prior, row["p_present"], effective)
            table.loc[at, "bayes_factor"] = value
            table.loc[at, "bayes_factor_bound"] = bound
        if row["target"] == THESE and not row["reason"].startswith(MCMC):
            table.loc[at, "decision"] = str(decision(np.array(row["p_present"])))
    table = table.assign(task=task, headline=table["variant"] == LINKED)
    rest = [name for name in table.columns if name not in FIRST]
    return table.reindex(columns=[*FIRST, *rest])


def augmented(fit: ModelFit, *, ci_level: float) -> pd.DataFrame:
    """One row per instance of a model: the data, its mean and noise under SSL, and whether it is incoherent.

    Returns
    -------
    DataFrame
        The instance's columns with ``fitted`` (posterior mean of mu), ``ci_low``, ``ci_high``, ``noise``
        (root of the posterior mean variance), ``p_incoherent``, ``residual`` (mean minus fitted in its standard
        errors), ``reason``. Instances in one wording are set aside.
    """
    tail = (1 - ci_level) / 2
    mu = fit.draws.mu.reshape(-1, fit.instances.size)
    low, high = np.quantile(mu, [tail, 1 - tail], axis=0)
    noise = np.sqrt(fit.draws.variance.mean(axis=(0, 1)))
    fitted = mu.mean(axis=0)
    rows = fit.instances.rows.assign(
        fitted=fitted,
        ci_low=low,
        ci_high=high,
        ci_level=ci_level,
        ci_method="eti",
        noise=noise,
        p_incoherent=fit.draws.incoherent.mean(axis=(0, 1)),
        residual=(fit.instances.mean - fitted) / np.sqrt(variance_of_mean(noise**2, fit.instances.k)),
        reason=MCMC + fit.problem if fit.problem else "",
    )
    return pd.concat([rows, fit.instances.set_aside.assign(reason=ONE_WORDING)], ignore_index=True)


def sentences(models: list[Instances], fitted: list[Instances], check: PriorPredictive | None) -> tuple[str, ...]:
    """What a reader has to know about the fits."""
    used, aside = (sum(len(getattr(one, name)) for one in models) for name in ("rows", "set_aside"))
    found = [
        f"{used} instances in at least two wordings are used; {aside} in one wording are set aside, as noise cannot "
        "be told from incoherence there.",
        "Models are fitted separately; their differences pair draws of independent fits, over the instances that "
        f"both have. They are not adjusted for the number of pairs; within {ROPE:.2f} log-odds they count as none.",
        "Noise that all wordings of an instance share, and noise that the identities of a unit share, counts as "
        "persistent incoherence: the models do not know it, but for a rounding of answers to two decimals "
        f"({SHARED_ROUNDING:.2f} log-odds) that is the same in all wordings.",
    ]
    few = [one for one in fitted if one.paired_units and not one.paired.any()]
    if few:
        found.append(
            f"The correlation of the identities of a unit is not modelled: fewer than {LEAST_PAIRED_UNITS} units carry "
            f"two ({', '.join(f'{one.model}: {one.paired_units}' for one in few)})."
        )
    if check is not None:
        found.append(check.sentence)
    return tuple(found)
