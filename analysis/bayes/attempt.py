"""One attempt at a fit: sample every stage, compute what is reported, judge it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.bayes.augment import fitted_cells
from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.gates import Gate, failures, quantity_gates, sampler_gates
from analysis.bayes.model_arrays import ModelArrays
from analysis.bayes.models.surface_layer import ClusterEstimates
from analysis.bayes.models.unpooled import unpooled_accuracies
from analysis.bayes.posterior import AccuracyDraws, StageFit, count_accuracies, estimate_accuracies
from analysis.bayes.predictive import predictive_checks
from analysis.bayes.result import COUNTS, UNITS, AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings, sample
from analysis.bayes.sensitivity import power_scaling
from analysis.bayes.summaries import KERNELS, NOT_ASKED, NUMBERS, accuracy_table
from analysis.bayes.whitening import non_centred_coordinates, whitened_coordinates

NO_COVARIANCE = "no covariance by unit: a cell has no response of this model, or one unit only"
SILENT = "no answer of this model could be read"
#: Measures of how answers lean, undefined for a model that never answered.
LEANS: tuple[str, ...] = ("answer_bias", "polarity_sensitivity", "validity_contrast")
#: Measures whose sensitivity to the priors is reported.
SENSITIVE: tuple[str, ...] = ("answer_bias", "competence_floor")


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Stages of one attempt with the gates of their samplers."""

    stages: Mapping[str, StageFit]
    gates: tuple[Gate, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One fit with one set of sampler settings; ``run`` gives the result, passed or failed.

    ``design`` is without units; ``surfaces`` is the design of stage ``yes`` where units are effects.
    ``arrays`` maps a stage (``yes``, ``answered``, UNITS) to its model.
    """

    design: CountDesign
    surfaces: CountDesign | None
    arrays: Mapping[str, ModelArrays]
    clusters: ClusterEstimates | None
    settings: SamplerSettings
    ci_level: float
    treatments: tuple[str, ...]
    seed: int
    tell: Callable[[str], None]

    def run(self) -> AnswerBiasFit:
        sampled = self._sample()
        rng = np.random.default_rng([self.seed, 1])
        accuracy = self._accuracies(sampled, rng)
        table = self._table(accuracy)
        gates = {"sampler": sampled.gates, "reported": quantity_gates(table, fast=self.settings.fast)}
        problem = failures([gate for group in gates.values() for gate in group])
        unpooled = unpooled_accuracies(self.design, rng, treatments=self.treatments)
        return AnswerBiasFit(
            task=self.design.task,
            status="failed" if problem else "ok",
            reason=problem,
            table=table,
            unpooled=self._rows(unpooled, COUNTS, "none", self.design.models),
            glance=self._glance(sampled),
            gates=pd.DataFrame([{"group": group, **asdict(gate)} for group, found in gates.items() for gate in found]),
            predictive=self._predictive(sampled, rng),
            sensitivity=self._sensitivity(accuracy, sampled),
            augment=fitted_cells(self.surfaces or self.design, sampled.stages["yes"]),
            sentences=(*self.design.sentences, *sampled.notes, self._headline_sentence()),
            draws=_kept_draws(accuracy, sampled),
        )

    def _predictive(self, sampled: _Sampled, rng: np.random.Generator) -> pd.DataFrame:
        checked = self.surfaces or self.design
        answered = sampled.stages.get("answered") if self.surfaces is None else None
        return predictive_checks(checked, sampled.stages["yes"], answered, rng)

    @property
    def headline(self) -> str:
        """Likelihood of the headline rows."""
        return UNITS if self.clusters is not None and self.clusters.reused and self.surfaces is None else COUNTS

    def _sample(self) -> _Sampled:
        stages: dict[str, StageFit] = {}
        gates: list[Gate] = []
        notes: list[str] = []
        for name, arrays in self.arrays.items():
            approximation = whitened_coordinates(arrays)
            coordinates = approximation.coordinates
            if not approximation.converged:
                coordinates = non_centred_coordinates(arrays)
                notes.append(
                    f"The approximation to stage {name!r} did not settle; it was sampled in non-centred coordinates."
                )
            self.tell(f"sampling {name}: {coordinates.dimension} parameters")
            draws = sample(arrays, coordinates, self.settings, seed=self.seed)
            stages[name] = StageFit(arrays, coordinates, draws)
            gates += sampler_gates(draws, stage=name)
        return _Sampled(stages, tuple(gates), tuple(notes))

    def _accuracies(self, sampled: _Sampled, rng: np.random.Generator) -> list[tuple[str, AccuracyDraws]]:
        answered = sampled.stages.get("answered")
        distinct = self.treatments if answered is not None else self.treatments[:1]
        wanted = [("these", treatment) for treatment in distinct]
        if self.surfaces is None and any(name.startswith("template_") for name in self.design.groups):
            wanted.append(("new_templates", self.treatments[0]))
        counts = count_accuracies(
            self.design,
            sampled.stages["yes"],
            answered,
            rng,
            wanted=wanted,
            surface_design=self.surfaces,
            cores=self.settings.cores,
        )
        found = [(COUNTS, draws) for draws in counts]
        if self.clusters is not None:
            accuracy = estimate_accuracies(sampled.stages[UNITS])
            accuracy = np.where(self.clusters.known[:, None], accuracy, np.nan)
            found.append((UNITS, AccuracyDraws("these", self.clusters.uncertain, accuracy)))
        return found

    def _table(self, accuracy: list[tuple[str, AccuracyDraws]]) -> pd.DataFrame:
        parts = []
        for likelihood, draws in accuracy:
            models = self.clusters.models if likelihood == UNITS and self.clusters else self.design.models
            part = self._rows([draws], likelihood, "hierarchical", models)
            if likelihood == UNITS:
                part["reason"] = part["reason"].where(part["reason"] == "", NO_COVARIANCE)
            parts.append(part.assign(headline=likelihood == self.headline))
        if "answered" not in self.arrays:
            same = [part for part in parts if (part["target"] == "these").all()]
            parts += [part.assign(uncertain=other) for part in same for other in self.treatments[1:]]
        return pd.concat(parts, ignore_index=True)

    def _rows(
        self, draws: Sequence[AccuracyDraws], likelihood: str, pooling: str, models: tuple[str, ...]
    ) -> pd.DataFrame:
        scored = dict(zip(self.design.models, self.design.scored.sum(axis=1), strict=True))
        parts = []
        for part in draws:
            table = accuracy_table(
                part.accuracy,
                models,
                self.design.names,
                ci_level=self.ci_level,
                markov=pooling != "none",
                cores=self.settings.cores,
            )
            parts.append(table.assign(target=part.target, uncertain=part.uncertain))
        table = pd.concat(parts, ignore_index=True).assign(likelihood=likelihood, pooling=pooling)
        table = self._without_silent(table)
        table.insert(0, "task", self.design.task)
        return table.assign(n=table["model"].map(scored).fillna(0).astype(int))

    def _without_silent(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows blank that say how a model leans which never answered."""
        silent = np.array(self.design.models)[~self.design.has_answer.any(axis=1)]
        blank = table["model"].isin(silent) & (table["measure"].isin(LEANS) | (table["reason"] == NOT_ASKED))
        numbers = [name for name in NUMBERS if name in table.columns]
        table = table.assign(reason=table["reason"].mask(blank, SILENT))
        table[numbers] = table[numbers].mask(blank)
        return table

    def _sensitivity(self, accuracy: list[tuple[str, AccuracyDraws]], sampled: _Sampled) -> pd.DataFrame:
        names = (UNITS,) if self.headline == UNITS else tuple(name for name in sampled.stages if name != UNITS)
        stages = tuple(sampled.stages[name] for name in names)
        models = self.clusters.models if self.headline == UNITS and self.clusters else self.design.models
        draws = next(d for likelihood, d in accuracy if likelihood == self.headline and d.target == "these")
        known = np.isfinite(draws.accuracy).all(axis=(0, 1, 3))
        asked = tuple(model for model, is_known in zip(models, known, strict=True) if is_known)
        accuracies = draws.accuracy[:, :, known]
        return power_scaling({name: KERNELS[name][0](accuracies) for name in SENSITIVE}, asked, stages)

    def _glance(self, sampled: _Sampled) -> dict[str, Any]:
        return {
            "task": self.design.task,
            "models": len(self.design.models),
            "cells": int((self.design.scored > 0).sum()),
            "n": int(self.design.scored.sum()),
            "parameters": sum(fit.draws.z.shape[2] for fit in sampled.stages.values()),
            "chains": self.settings.chains,
            "draws": self.settings.draws,
            "divergences": int(sum(fit.draws.diverging.sum() for fit in sampled.stages.values())),
            "steps": float(np.mean([fit.draws.steps for fit in sampled.stages.values()])),
            "target_accept": self.settings.target_accept,
            "fast": self.settings.fast,
            "headline": self.headline,
            "seed": self.seed,
        }

    def _headline_sentence(self) -> str:
        if self.headline == UNITS:
            return (
                "Units are asked more than once: the rows to compare are fitted to the accuracies with their "
                "covariance by unit (Fay-Herriot); counts alone would give intervals that are too short."
            )
        if self.surfaces is not None:
            return "Units are effects of the model; the rows to compare integrate over new units."
        return "No unit is asked twice: the rows to compare are fitted to the counts."


def _kept_draws(accuracy: Sequence[tuple[str, AccuracyDraws]], sampled: _Sampled) -> dict[str, np.ndarray]:
    """Arrays to keep: accuracies (chains, draws, models, cells) and hyper-parameters by stage."""
    kept = {f"accuracy: {likelihood}, {d.target}, {d.uncertain}": d.accuracy for likelihood, d in accuracy}
    for name, fit in sampled.stages.items():
        kept[f"hyper: {name}"] = fit.hyper.value.reshape(*fit.shape, -1)
    return kept
