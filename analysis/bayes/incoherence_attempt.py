"""One model's fit of incoherence: sample, compute what is reported, judge, and once more if a gate fails."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Final
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.gates import TOO_FEW_DRAWS, Gate, failures, quantity_gates, sampler_gates
from analysis.bayes.incoherence_data import GROUPINGS, LEAST_INSTANCES, Instances
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_quantities import instance_quantities, population_quantities
from analysis.bayes.incoherence_result import LINKED, MCMC, NORMAL
from analysis.bayes.incoherence_sampling import IncoherenceDraws, complete, sample_instances
from analysis.bayes.incoherence_summary import quantity_rows
from analysis.bayes.sampling import SamplerSettings, retry_settings

Floats = NDArray[np.float64]
Quantities = dict[tuple[str, str], Floats]

#: Targets, in words of the result tables.
THESE: Final = "these"
POPULATION: Final = "new_items"
#: Measures by item family and level.
BY_GROUP: Final = ("noise", "persistent", "direction", "incoherent_share")
TOO_FEW: Final = f"fewer than {LEAST_INSTANCES} instances in at least two wordings"
#: Most draws of a second attempt in those of the first, and what is added to the draws that it seems to need.
MOST_LONGER: Final = 6
_MARGIN: Final = 1.3
MOST_VALUES: Final = 30_000_000
NO_SHARE: Final = "in the normal model every instance has a mean of its own"


@dataclass(frozen=True, slots=True)
class ModelFit:
    """One variant fitted to one model: its draws, rows, gates, and what they cost."""

    instances: Instances
    variant: str
    draws: IncoherenceDraws
    quantities: Quantities
    rows: pd.DataFrame
    gates: tuple[Gate, ...]
    settings: SamplerSettings
    attempts: int
    seconds: float

    @property
    def problem(self) -> str:
        """Gates not passed, in one sentence; empty where all are."""
        return failures(self.gates)

    def gate_rows(self) -> list[dict[str, object]]:
        """One row per gate."""
        label = {"variant": self.variant, "model": self.instances.model}
        return [{**label, **asdict(gate)} for gate in self.gates]

    def glance(self) -> dict[str, object]:
        """One row about the fit."""
        found = self.draws.sampler
        return {
            "variant": self.variant,
            "model": self.instances.model,
            "n": self.instances.size,
            "n_set_aside": len(self.instances.set_aside),
            "n_clusters": self.instances.units,
            "paired_units": self.instances.paired_units,
            "item_effect": bool(self.instances.paired.any()),
            "chains": self.settings.chains,
            "draws": self.settings.draws,
            "tune": self.settings.tune,
            "target_accept": self.settings.target_accept,
            "fast": self.settings.fast,
            "divergences": int(found.diverging.sum()),
            "steps": found.steps,
            "attempts": self.attempts,
            "status": "failed" if self.problem else "ok",
            "reason": self.problem,
        }


def fit_seed(seed: int, model: str, variant: str) -> int:
    """Seed of one model's fit: depends on its name, not on which other models there are."""
    sequence = np.random.SeedSequence([seed, crc32(model.encode()), crc32(variant.encode())])
    return int(sequence.generate_state(1)[0]) // 2


def fit_model(
    instances: Instances,
    priors: IncoherencePriors,
    settings: SamplerSettings,
    *,
    linked: bool,
    ci_level: float,
    seed: int,
) -> ModelFit:
    """Sample one variant for one model; if a gate fails once more, with more draws and, if needed, shorter steps.

    A fast fit is not repeated.
    """
    start = perf_counter()
    settings = complete(settings)
    fit = _attempt(instances, priors, settings, linked=linked, ci_level=ci_level, seed=seed)
    attempts = 1
    if fit.problem and not settings.fast:
        longer = longer_settings(settings, fit.gates, size=instances.size)
        fit = _attempt(instances, priors, longer, linked=linked, ci_level=ci_level, seed=seed)
        attempts = 2
    return replace(fit, attempts=attempts, seconds=perf_counter() - start)


def longer_settings(settings: SamplerSettings, gates: tuple[Gate, ...], *, size: int) -> SamplerSettings:
    """Settings of the second attempt for ``size`` instances: as many draws as the worst precision asks for.

    That is two to MOST_LONGER times those of the first, and beyond twice at most MOST_VALUES draws of instances, which
    memory has to hold. Where more than precision failed, steps are shorter as well.
    """
    failed = [gate for gate in gates if not gate.passed]
    careful = not {gate.name for gate in failed} <= TOO_FEW_DRAWS
    wanted = [_MARGIN * _lack(gate) for gate in failed if gate.name in TOO_FEW_DRAWS and np.isfinite(gate.value)]
    held = MOST_VALUES // (settings.chains * settings.draws * size)
    times = max(2, min(int(np.ceil(max(wanted, default=2.0))), MOST_LONGER, held))
    return replace(retry_settings(settings, careful=careful), draws=times * settings.draws)


def _lack(gate: Gate) -> float:
    """How many times the draws a precision gate would have needed."""
    if gate.name.startswith("MCSE"):
        return (gate.value / gate.limit) ** 2
    return gate.limit / max(gate.value, 1.0)


def _attempt(
    instances: Instances,
    priors: IncoherencePriors,
    settings: SamplerSettings,
    *,
    linked: bool,
    ci_level: float,
    seed: int,
) -> ModelFit:
    variant = LINKED if linked else NORMAL
    of_model = fit_seed(seed, instances.model, variant)
    draws = sample_instances(instances, priors, settings, linked=linked, seed=of_model)
    quantities = reported(draws, linked=linked)
    sizes = {"n": instances.size, "n_clusters": instances.units}
    whole = _rows(instances, quantities, ci_level, sizes, item_family="", level="")
    judged = quantity_gates(whole[whole["posterior_sd"] > 0], fast=settings.fast)
    gates = (*sampler_gates(draws.sampler, stage=f"{variant} of {instances.model}"), *judged)
    if linked:
        rest = [judged_rows(part, fast=settings.fast) for part in _group_rows(instances, draws, ci_level)]
    else:
        rest = [_undefined(instances, NO_SHARE, (("incoherent_share", THESE), ("incoherent_share", POPULATION)))]
    table = pd.concat([whole, *rest], ignore_index=True).assign(variant=variant)
    if problem := failures(gates):
        table["reason"] = MCMC + problem
    return ModelFit(instances, variant, draws, quantities, table, gates, settings, 1, 0.0)


def judged_rows(rows: pd.DataFrame, *, fast: bool = False) -> pd.DataFrame:
    """Rows with their own gates: one that is too imprecise gets a reason, the others stand.

    ``fast`` as in ``gates.quantity_gates``.
    """
    if "r_hat" not in rows:
        return rows
    moving = rows["posterior_sd"] > 0
    problems = {at: failures(quantity_gates(rows.loc[[at]], fast=fast)) for at in rows.index[moving]}
    failed = [at for at, problem in problems.items() if problem]
    judged = rows.copy()
    judged.loc[failed, "reason"] = [MCMC + problems[at] for at in failed]
    return judged


def reported(draws: IncoherenceDraws, *, linked: bool) -> Quantities:
    """Draws (chains, draws) of what is reported, by measure and target."""
    these = instance_quantities(draws.mu, draws.variance, draws.incoherent)
    if not linked:
        del these["incoherent_share"]
    found = {(name, THESE): values for name, values in these.items()}
    return found | {(name, POPULATION): values for name, values in population_quantities(draws.hyper).items()}


def subset_quantities(draws: IncoherenceDraws, at: NDArray[np.bool_]) -> dict[str, Floats]:
    """Quantities of some of the instances, (chains, draws) by measure."""
    return instance_quantities(draws.mu[..., at], draws.variance[..., at], draws.incoherent[..., at])


def unfitted_rows(instances: Instances, variant: str) -> pd.DataFrame:
    """Rows of a model with too few instances."""
    keys = [(name, THESE) for name in (*BY_GROUP, "spread")]
    keys += [(name, POPULATION) for name in ("persistent", "spread", "direction", "incoherent_share")]
    return _undefined(instances, TOO_FEW, tuple(keys)).assign(variant=variant)


def _rows(
    instances: Instances,
    quantities: Mapping[tuple[str, str], Floats],
    ci_level: float,
    sizes: Mapping[str, int],
    **group: str,
) -> pd.DataFrame:
    keys = pd.DataFrame(
        [{"model": instances.model, "measure": name, "target": target, **group} for name, target in quantities]
    )
    table = quantity_rows(keys, np.stack(list(quantities.values()), axis=-1), ci_level=ci_level)
    return known_to_an_instance(table, size=sizes["n"]).assign(**sizes)


def known_to_an_instance(rows: pd.DataFrame, *, size: int) -> pd.DataFrame:
    """Rows with no error of an end of the share of these ``size`` instances that is at most one instance.

    Such a share is a count: where an end lies at a step no number of draws makes it more exact.
    """
    counted = (rows["measure"] == "incoherent_share") & (rows["target"] == THESE)
    exact = counted & (rows["mcse_end"] <= 1 / size + 1e-12)
    return rows.assign(mcse_share=rows["mcse_share"].mask(exact, 0.0))


def _group_rows(instances: Instances, draws: IncoherenceDraws, ci_level: float) -> list[pd.DataFrame]:
    """Rows by item family and by level, for these instances; a group too small says so.

    Instances without a family or level (missing, or empty as logs without the column have it) make no group: its
    rows could not be told from those of all instances.
    """
    parts = []
    for grouping in GROUPINGS:
        if grouping not in instances.rows:
            continue
        labels = instances.rows[grouping]
        for label in sorted(labels[labels != ""].dropna().unique(), key=str):
            at = (labels == label).to_numpy()
            group = {"item_family": "", "level": "", grouping: str(label)}
            sizes = {"n": int(at.sum()), "n_clusters": int(instances.rows.loc[at, "unit"].nunique())}
            if at.sum() < LEAST_INSTANCES:
                keys = tuple((name, THESE) for name in BY_GROUP)
                parts.append(_undefined(instances, TOO_FEW, keys).assign(**group, **sizes))
                continue
            found = subset_quantities(draws, at)
            kept = {(name, THESE): found[name] for name in BY_GROUP}
            parts.append(_rows(instances, kept, ci_level, sizes, **group))
    return parts


def _undefined(instances: Instances, reason: str, keys: tuple[tuple[str, str], ...]) -> pd.DataFrame:
    rows = [{"model": instances.model, "measure": name, "target": target} for name, target in keys]
    sizes = {"n": instances.size, "n_clusters": instances.units}
    numbers = dict.fromkeys(("posterior_sd", "ci_low"), np.nan)
    return pd.DataFrame(rows).assign(item_family="", level="", reason=reason, **sizes, **numbers)
