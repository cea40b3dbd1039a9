"""One attempt at a fit of the endorsement model: sample, compute what is reported, judge it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from analysis.bayes.belief_bias_arrays import Endorsement
from analysis.bayes.belief_bias_checks import fitted_questions, predictive_checks
from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_program import Parameters
from analysis.bayes.belief_bias_rates import (
    Profiles,
    accuracy,
    cell_rates,
    complete_sets,
    consistency,
    endorsement_rates,
    item_variance,
)
from analysis.bayes.belief_bias_result import NEW_MODEL, NEW_MODELS, BeliefBiasFit, level_name
from analysis.bayes.belief_bias_sampling import EndorsementDraws, sample_endorsements
from analysis.bayes.belief_bias_sensitivity import belief_sensitivity, belief_spreads
from analysis.bayes.belief_bias_unpooled import matched_questions, unpooled_endorsements
from analysis.bayes.gates import failures, quantity_gates, sampler_gates
from analysis.bayes.sampling import SamplerSettings
from analysis.bayes.summaries import quantity_summary
from analysis.measures.belief import BELIEF_CELLS, BELIEF_WEIGHTS, INTERACTION_WEIGHTS, SHIFT_WEIGHTS

Floats = NDArray[np.float64]
Pairs = Mapping[str, tuple[tuple[str, str], ...]]

#: Measure -> scale, in the order of printing.
MEASURES: Final[dict[str, str]] = {
    **{f"acc_{name.lower()}": "probability" for name in BELIEF_CELLS},
    "congruent": "probability",
    "incongruent": "probability",
    "belief_bias": "probability difference",
    "discrimination_difference": "probability difference",
    "endorsement_log_odds_shift": "log_odds",
    "endorsement_log_odds_interaction": "log_odds",
    "accuracy": "probability",
    "consistency_all": "probability",
}
#: Measures of questions with believability, and of all questions.
OF_BELIEF: Final = tuple(MEASURES)[:10]
OF_ALL: Final = tuple(MEASURES)[10:]
#: Most draws over which the chance of equal answers is integrated.
_CONSISTENCY_DRAWS: Final = 2000
NO_CELL: Final = "no answer of this model in a cell of validity and believability that this needs"
NO_ANSWER: Final = "no readable answer of this model"
NO_SETS: Final = "no unit whose versions all have a readable answer"
NOT_MATCHED: Final = "no question that this model answered under both levels"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One fit with one set of sampler settings; ``run`` gives the result, passed or failed.

    ``measures`` are those to report; ``name`` says which fit it is.
    """

    design: BeliefDesign
    model: Endorsement
    settings: SamplerSettings
    pairs: Pairs
    ci_level: float
    seed: int
    measures: tuple[str, ...] = tuple(MEASURES)
    name: str = "endorsement model"

    def run(self) -> BeliefBiasFit:
        draws = sample_endorsements(self.model, self.settings, seed=self.seed)
        all_ = draws.parameters()
        found = self._quantities(draws, all_)
        table, contrasts = self._tables(found, draws.shape)
        reported = pd.concat([table, contrasts.drop(columns=["factor", "first", "second"])], ignore_index=True)
        gates = {
            f"{self.name}, sampler": sampler_gates(draws.sampler, stage=self.name),
            f"{self.name}, reported": quantity_gates(reported, fast=self.settings.fast),
        }
        problem = failures([gate for group in gates.values() for gate in group])
        rng = np.random.default_rng([self.seed, 2])
        spreads = belief_spreads(
            self.design,
            draws,
            all_,
            found,
            ci_level=self.ci_level,
            rng=np.random.default_rng([self.seed, 4]),
            fast=self.settings.fast,
        )
        return BeliefBiasFit(
            task=self.design.task,
            status="failed" if problem else "ok",
            reason=problem,
            table=table,
            contrasts=contrasts,
            glance=self._glance(draws, all_),
            unpooled=unpooled_endorsements(
                self.design, self.pairs, np.random.default_rng([self.seed, 5]), ci_level=self.ci_level
            ),
            gates=pd.DataFrame([{"group": group, **asdict(gate)} for group, own in gates.items() for gate in own]),
            sensitivity=belief_sensitivity(self.design, draws, all_, found),
            spreads=spreads.assign(fit=self.name),
            predictive=predictive_checks(self.design, draws, rng),
            augment=fitted_questions(self.design, draws),
            sentences=self.design.sentences,
            draws={
                key if isinstance(key, str) else level_name(*key): x.reshape(draws.shape[0], -1, x.shape[-1])
                for key, x in found.items()
            },
        )

    def _quantities(self, draws: EndorsementDraws, all_: Parameters) -> dict[Any, Floats]:
        """Draws (S, M [+ 1]) by measure, and by (factor, first, second)."""
        few = draws.parameters(most=_CONSISTENCY_DRAWS)
        profiles, variance = Profiles.of(self.design), item_variance(all_)
        asked = self.design.answered > 0
        fresh = _new_model(all_, self.model, np.random.default_rng([self.seed, 1]))
        by_model: list[dict[Any, Floats]] = []
        for m in range(len(self.design.models)):
            rates = endorsement_rates(all_.coefficient[:, m], variance, profiles)
            one = self.of_rates(rates, profiles.weights(asked[m]), profiles)
            if self._versions and "consistency_all" in self.measures:
                sets, counts = complete_sets(asked[m], self.design, profiles)
                one["consistency_all"] = consistency(few.coefficient[:, m], few, sets, counts, profiles)
            by_model.append(one | self._contrasts(rates, asked[m], profiles))
        if fresh is not None:
            rates = endorsement_rates(fresh, variance, profiles)
            every = asked.any(axis=0)
            fresh_rates = self.of_rates(rates, profiles.weights(every), profiles)
            by_model.append(fresh_rates | self._contrasts(rates, every, profiles))
        return _stacked(by_model)

    @property
    def _versions(self) -> bool:
        return bool(self.design.questions["variant"].nunique() > 1)

    def of_rates(self, rates: Floats, weight: Floats, profiles: Profiles) -> dict[Any, Floats]:
        """Measures (S,) of one model from its rates (S, R) and the weights of rows (R,)."""
        found: dict[Any, Floats] = {}
        if self.design.has_belief and "belief_bias" in self.measures:
            said = cell_rates(rates, weight, profiles)
            right = np.where(np.arange(4) < 2, said, 1 - said)
            values = [*right.T, *(right @ BELIEF_WEIGHTS.T).T]
            values += [logit(said) @ row for row in (SHIFT_WEIGHTS, INTERACTION_WEIGHTS)]
            found = dict(zip(OF_BELIEF, values, strict=True))
        if "accuracy" in self.measures:
            found["accuracy"] = accuracy(rates, weight, profiles)
        return found

    def _contrasts(self, rates: Floats, asked: NDArray[np.bool_], profiles: Profiles) -> dict[Any, Floats]:
        """Contrasts (S,) of levels of one model by (factor, first, second)."""
        return {
            (factor, first, second): self._contrast(rates, asked, factor, (first, second), profiles)
            for factor, pairs in self.pairs.items()
            for first, second in pairs
        }

    def _contrast(
        self, rates: Floats, asked: NDArray[np.bool_], factor: str, pair: tuple[str, str], profiles: Profiles
    ) -> Floats:
        """Accuracy under the first minus the second level, over questions × other conditions answered under both."""
        sides = matched_questions(self.design, asked, factor, pair)
        first, second = (accuracy(rates, profiles.weights(side), profiles) for side in sides)
        return first - second

    def _tables(self, found: Mapping[Any, Floats], shape: tuple[int, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
        models = self.design.models
        n = {model: int((self.design.answered[m] > 0).sum()) for m, model in enumerate(models)}
        clusters = {model: len(set(self.design.unit[row.any(axis=0)])) for model, row in self._asked()}
        parts: dict[bool, list[pd.DataFrame]] = {True: [], False: []}
        for key, values in found.items():
            plain = isinstance(key, str)
            names = (*models, NEW_MODEL)[: values.shape[1]]
            keys = pd.DataFrame({"model": names, "measure": key if plain else "accuracy_difference"})
            keys = keys.assign(scale=MEASURES[key] if plain else "probability difference")
            if not plain:
                keys = keys.assign(factor=key[0], first=key[1], second=key[2])
            chains = values.reshape(shape[0], -1, values.shape[1])
            rows = quantity_summary(chains, keys, ci_level=self.ci_level)
            undefined = rows["estimate"].isna()
            parts[plain].append(rows.assign(reason=rows["reason"].mask(undefined, _reason(key))))
        empty = pd.DataFrame(columns=["model", "measure", "factor", "first", "second", "ci_low"])
        tables = [pd.concat(parts[plain], ignore_index=True) if parts[plain] else empty for plain in (True, False)]
        return tuple(
            table.assign(
                task=self.design.task,
                target=np.where(table["model"] == NEW_MODEL, NEW_MODELS, "these"),
                uncertain="excluded",
                n=table["model"].map(n).fillna(0).astype(int),
                n_clusters=table["model"].map(clusters).fillna(0).astype(int),
            )
            for table in tables
        )  # type: ignore[return-value]

    def _asked(self) -> list[tuple[str, NDArray[np.bool_]]]:
        return list(zip(self.design.models, self.design.answered > 0, strict=True))

    def _glance(self, draws: EndorsementDraws, all_: Parameters) -> dict[str, Any]:
        return {
            "task": self.design.task,
            "models": len(self.design.models),
            "configurations": len(self.design.configurations),
            "questions": len(self.design.questions),
            "units": int(self.design.unit.max()) + 1,
            "n": int(self.design.answered.sum()),
            "parameters": int(draws.sampler.z.shape[2]),
            "chains": draws.shape[0],
            "draws": draws.shape[1],
            "divergences": int(draws.sampler.diverging.sum()),
            "steps": draws.sampler.steps,
            "fast": self.settings.fast,
            "seed": self.seed,
        } | {f"{name}, median": float(np.median(values)) for name, values in _item_sds(all_).items()}


def _item_sds(found: Parameters) -> dict[str, Floats]:
    return {
        name: values for name, values in found.sd.items() if name in ("sd: item", "sd: model × item", "sd: version")
    }


def _stacked(by_model: list[dict[Any, Floats]]) -> dict[Any, Floats]:
    """(S, models) by key; a measure that the last, a new model, lacks is that of the others."""
    return {key: np.stack([one[key] for one in by_model if key in one], axis=1) for key in by_model[0]}


def _new_model(found: Parameters, model: Endorsement, rng: np.random.Generator) -> Floats | None:
    """Coefficients (S, F) of a model drawn anew; None where one model says nothing of others."""
    if not model.data.pooled:
        return None
    spread = np.stack([found.sd[model.sds[at]] for at in model.data.sd_at], axis=1)
    return found.mean + spread * rng.standard_normal(spread.shape)


def _reason(key: Any) -> str:
    if not isinstance(key, str):
        return NOT_MATCHED
    if key == "accuracy":
        return NO_ANSWER
    return NO_SETS if key == "consistency_all" else NO_CELL
