"""Bayesian persistent incoherence of one task: both models of it for every language model, contrasts and checks."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.bayes.incoherence_attempt import (
    TOO_FEW,
    ModelFit,
    fit_model,
    fit_seed,
    judged_rows,
    reported,
    unfitted_rows,
)
from analysis.bayes.incoherence_cache import fit_key, keep_fit, load_fit
from analysis.bayes.incoherence_contrasts import Shared, contrast_table, shared_quantities
from analysis.bayes.incoherence_data import LEAST_INSTANCES, ONE_WORDING, Instances, checked_instances, model_instances
from analysis.bayes.incoherence_decisions import below_withheld
from analysis.bayes.incoherence_predictive import predictive_checks
from analysis.bayes.incoherence_priors import IncoherencePriors, sensitivity_priors
from analysis.bayes.incoherence_result import LINKED, MCMC, NORMAL, IncoherenceFit
from analysis.bayes.incoherence_sampling import (
    complete,
    incoherence_settings,
    sample_instances,
)
from analysis.bayes.incoherence_sensitivity import REFIT_CHAINS, REFIT_DRAWS, SENSITIVE, power_scaling
from analysis.bayes.incoherence_summary import quantity_rows
from analysis.bayes.incoherence_tables import augmented, completed_table, prior_checks, sentences
from analysis.bayes.sampling import SamplerSettings

__all__ = ["IncoherenceFit", "IncoherencePriors", "fit_incoherence"]

Floats = NDArray[np.float64]


def fit_incoherence(
    instances: pd.DataFrame,
    *,
    priors: IncoherencePriors | None = None,
    settings: SamplerSettings | None = None,
    ci_level: float = 0.95,
    seed: int = 0,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> IncoherenceFit:
    """Fit the slab linked to the noise (SSL), and the normal model beside it, to every model of one task.

    Parameters
    ----------
    instances : DataFrame
        One row per model and instance (an identity of a unit): ``task, model, unit, identity, k`` (wordings),
        ``mean`` (mean residual, log-odds), ``ss`` (sum of squared deviations from it over wordings), ``clipped``
        (share of its answers at the clip), optionally ``item_family, level``.
    priors : IncoherencePriors
    settings : SamplerSettings
        Default: 4 chains of 1000 draws.
    ci_level : float in (0, 1)
    seed : int
        Of everything that draws; results do not depend on the order of rows.
    cache : Path, optional
        Folder of kept fits: an equal fit is read from there, a new one is kept.
    progress : callable, optional
        Receives one sentence per step.

    Raises
    ------
    AnalysisError
        Instances that are not as described.

    Notes
    -----
    A fit that fails a gate is repeated once; see ``IncoherenceFit`` for what a second failure means. Models with
    fewer than LEAST_INSTANCES instances in two wordings have rows with a reason.
    """
    checked = checked_instances(instances)
    level = check_level(ci_level)
    priors, settings = priors or IncoherencePriors(), complete(settings or incoherence_settings())
    tell = progress or (lambda sentence: None)
    key = fit_key(checked, priors, settings, {"ci_level": level, "seed": seed})
    kept = load_fit(cache, key, tell=tell) if cache is not None else None
    if kept is not None:
        tell("the fit of incoherence is kept from an earlier run")
        return kept
    fit = replace(_Task(checked, priors, settings, level, seed, tell).run(), key=key)
    if cache is None:
        return fit
    keep_fit(cache, key, fit)
    # What is read back is what every later run gets: the same bytes from the first one on.
    return load_fit(cache, key) or fit


@dataclass(frozen=True, slots=True)
class _Parts:
    """What accumulates over models."""

    fits: list[ModelFit] = field(default_factory=list)
    shared: Shared = field(default_factory=dict)
    predictive: list[pd.DataFrame] = field(default_factory=list)
    sensitivity: list[pd.DataFrame] = field(default_factory=list)
    refits: list[pd.DataFrame] = field(default_factory=list)
    augment: list[pd.DataFrame] = field(default_factory=list)
    summaries: list[pd.DataFrame] = field(default_factory=list)
    draws: dict[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Task:
    """One task with its settings."""

    checked: pd.DataFrame
    priors: IncoherencePriors
    settings: SamplerSettings
    ci_level: float
    seed: int
    tell: Callable[[str], None]

    def run(self) -> IncoherenceFit:
        models = model_instances(self.checked)
        fitted = [one for one in models if one.size >= LEAST_INSTANCES]
        parts = _Parts()
        for one in models:
            if one.size < LEAST_INSTANCES:
                self._leave(one, parts)
        glances: list[dict[str, Any]] = []
        gates: list[dict[str, object]] = []
        for variant in (LINKED, NORMAL) if fitted else ():
            for one in fitted:
                fit = self._one(one, fitted, parts, linked=variant == LINKED)
                glances.append(fit.glance())
                gates += fit.gate_rows()
        failed = {g["model"]: g["reason"] for g in glances if g["variant"] == LINKED and g["status"] == "failed"}
        contrasts = self._contrasts(fitted, parts.shared, set(failed))
        reasons = [f"{model}: {reason}" for model, reason in failed.items()]
        if not fitted:
            reasons = [f"no model has {LEAST_INSTANCES} instances in at least two wordings"]
        checks = prior_checks(fitted, self.priors, self.seed)
        task = str(self.checked["task"].iloc[0])
        predictive = _joined(parts.predictive)
        return IncoherenceFit(
            task=task,
            status="failed" if reasons else "ok",
            reason="; ".join(reasons),
            table=below_withheld(completed_table(parts.summaries, checks, task=task), predictive),
            contrasts=contrasts.assign(task=task, target="these"),
            glance=pd.DataFrame(glances).assign(seed=self.seed),
            gates=pd.DataFrame(gates),
            predictive=predictive,
            sensitivity=_joined(parts.sensitivity),
            refits=_joined(parts.refits),
            augment=_joined(parts.augment),
            sentences=sentences(models, fitted, next(iter(checks.values()), None)),
            draws=parts.draws,
        )

    def _leave(self, one: Instances, parts: _Parts) -> None:
        parts.summaries.extend(unfitted_rows(one, variant) for variant in (LINKED, NORMAL))
        parts.augment.extend([one.rows.assign(reason=TOO_FEW), one.set_aside.assign(reason=ONE_WORDING)])

    def _one(self, one: Instances, fitted: list[Instances], parts: _Parts, *, linked: bool) -> ModelFit:
        fit = fit_model(one, self.priors, self.settings, linked=linked, ci_level=self.ci_level, seed=self.seed)
        verdict = fit.problem or "all gates passed"
        self.tell(f"{fit.variant} of {one.model}: {one.size} instances, {fit.seconds:.1f} s, {verdict}")
        rng = np.random.default_rng([fit_seed(self.seed, one.model, fit.variant), 2])
        parts.summaries.append(fit.rows)
        parts.predictive.append(predictive_checks(one, fit.draws, rng).assign(variant=fit.variant))
        prefix = f"{fit.variant}: {one.model}"
        parts.draws.update({f"{prefix}: {name}, {target}": x for (name, target), x in fit.quantities.items()})
        parts.draws.update({f"{prefix}: hyper: {name}": x for name, x in fit.draws.hyper.items()})
        if linked:
            parts.shared.update(shared_quantities(fitted, one, fit.draws))
            parts.sensitivity.append(power_scaling(one.model, fit.quantities, fit.draws, self.priors))
            parts.augment.append(augmented(fit, ci_level=self.ci_level))
            parts.refits.append(self._refits(fit))
        return fit

    def _contrasts(self, fitted: list[Instances], shared: Shared, failed: set[str]) -> pd.DataFrame:
        """Contrasts; those of failed models, and those that are too imprecise themselves, with their reason."""
        table = judged_rows(contrast_table(fitted, shared, ci_level=self.ci_level), fast=self.settings.fast)
        broken = table["model_a"].isin(failed) | table["model_b"].isin(failed)
        table.loc[broken, "reason"] = f"{MCMC}the fit of a model failed"
        if "decision" in table:
            table["decision"] = table["decision"].mask(table["reason"].str.startswith(MCMC), "").fillna("")
        return table

    def _refits(self, fit: ModelFit) -> pd.DataFrame:
        """The same model under other priors, with fewer chains and draws."""
        draws, chains = min(self.settings.draws, REFIT_DRAWS), min(self.settings.chains, REFIT_CHAINS)
        settings = replace(self.settings, draws=draws, chains=chains)
        one, parts = fit.instances, []
        default = fit.rows[(fit.rows["item_family"] == "") & (fit.rows["level"] == "")]
        default = default.set_index(["measure", "target"])
        for name, priors in sensitivity_priors(self.priors).items():
            seed = fit_seed(self.seed, one.model, name)
            found = sample_instances(one, priors, settings, linked=True, seed=seed)
            quantities = reported(found, linked=True)
            keys = pd.DataFrame([{"model": one.model, "prior": name, "measure": m, "target": t} for m, t in SENSITIVE])
            values = np.stack([quantities[key] for key in SENSITIVE], axis=-1)
            rows = quantity_rows(keys, values, ci_level=self.ci_level)
            of_default = default.loc[list(SENSITIVE)]
            sd = of_default["posterior_sd"].to_numpy()
            away = rows["estimate"].to_numpy() - of_default["estimate"].to_numpy()
            shift = np.divide(away, sd, out=np.zeros_like(away), where=sd > 0)
            parts.append(rows.assign(shift=shift, divergences=int(found.sampler.diverging.sum())))
        kept = ["model", "prior", "measure", "target", "estimate", "ci_low", "ci_high", "ci_level", "ci_method"]
        kept += ["upper_bound", "p_present", "shift", "scale", "r_hat", "divergences", "reason"]
        return pd.concat(parts, ignore_index=True)[kept]


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
