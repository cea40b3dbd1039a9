"""Everything that is estimated of the coherence of one task, before any table is declared."""

from dataclasses import dataclass
from typing import Final

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError, StudyError
from analysis.frequentist.incoherence import incoherence_estimates, median_estimates
from analysis.frequentist.incoherence_detection import detection_table, flip_tests, with_wording_effects
from analysis.measures.identities import BUILT_IN, Identity, identity
from analysis.measures.identities_joined import ProbabilityTask, probability_task
from analysis.measures.identities_residuals import (
    LATENT,
    identity_residuals,
    renormalised,
    sets_of_residuals,
    state_sums,
)
from analysis.reduction.instances import AnswerSets
from analysis.reduction.moments import by_wording, instance_moments, shared_instances
from analysis.reduction.probability_answers import probability_answers
from analysis.reduction.selection import Selection
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.studies.census import withheld
from analysis.studies.context import Resampling

#: Shared instances below this share of all make the comparison one of all instances, which is said.
ENOUGH_SHARED: Final = 0.5
BACK_DOOR: Final = "back-door adjustment"


@dataclass(frozen=True, slots=True)
class CoherenceResults:
    """Results of the identity that the tables are about.

    Attributes
    ----------
    identity : Identity
    residuals, instances : DataFrame
        By wording, and by instance; those that are compared between models.
    all_instances : DataFrame
        Of every model, whether the others have them or not.
    shared : bool
        ``instances`` are those that every model has.
    estimates : DataFrame
        Tidy, ``frequentist.incoherence``.
    tests : DataFrame
        One row per model: the sign-flip test and what goes with it.
    wordings : DataFrame
        ``model, wording, effect`` where the same wordings were put to all.
    renormalised, sums : DataFrame or None
        Residuals after rescaling the states, and the sums of the states in ``compared`` sets.
    sets : AnswerSets
    compared : ndarray of bool (N,)
        Sets whose residuals are in ``residuals``.
    causal : DataFrame
        Instances of the back-door adjustment beside another identity, of families or levels of their own; those that
        every model has where ``shared``.
    """

    identity: Identity
    residuals: pd.DataFrame
    instances: pd.DataFrame
    all_instances: pd.DataFrame
    shared: bool
    estimates: pd.DataFrame
    tests: pd.DataFrame
    wordings: pd.DataFrame
    renormalised: pd.DataFrame | None
    sums: pd.DataFrame | None
    sets: AnswerSets
    compared: NDArray[np.bool_]
    causal: pd.DataFrame


def identities_of(study: Study) -> tuple[Identity, ...]:
    """Identities that the study declares, or the built-in ones.

    Raises
    ------
    StudyError
        A declared one breaks the grammar.
    """
    declared = study.coherence.identities
    if not declared:
        return BUILT_IN
    try:
        return tuple(
            identity(e.name, e.left, e.right, relation=e.relation, scale=e.scale, declared=True) for e in declared
        )
    except AnalysisError as error:
        raise StudyError(f"{study.path}: [[identity]]: {error}; see docs/coherence.md") from error


def stated_probabilities(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study, selection: Selection
) -> ProbabilityTask | None:
    """Answers of a task of kind ``probability``, joined by identities; None for other kinds."""
    if design.kind != "probability":
        return None
    answers = probability_answers(con, design, selection)
    return probability_task(answers, identities_of(study), task=design.task)


@dataclass(frozen=True, slots=True)
class MainInstances:
    """Residuals and instances of the first identity with a complete set on the log-odds scale.

    ``instances`` are those that every model has where ``shared``, else ``everything``; ``residuals`` are theirs, by
    wording.
    """

    identity: Identity
    sets: AnswerSets
    residuals: pd.DataFrame
    everything: pd.DataFrame
    instances: pd.DataFrame
    shared: bool


def main_instances(probabilities: ProbabilityTask, design: TaskDesign, study: Study) -> MainInstances | None:
    """Instances that the tables, and the Bayesian models, are about; None where no set is complete."""
    chosen = next(
        (
            (one, sets)
            for one, sets in probabilities.joined
            if sets.complete.any() and one.scale == "log_odds" and one.relation == "="
        ),
        None,
    )
    if chosen is None:
        return None
    one, sets = chosen
    residuals = by_wording(identity_residuals(sets, one, clip=study.coherence.clip))
    everything = instance_moments(residuals, task=design.task)
    instances = shared_instances(everything)
    distinct = len(everything[["unit", "identity"]].drop_duplicates())
    shared = len(instances) >= ENOUGH_SHARED * distinct * everything["model"].nunique()
    instances = instances if shared else everything
    kept = residuals.merge(instances[["unit", "identity"]].drop_duplicates(), on=["unit", "identity"])
    return MainInstances(one, sets, kept, everything, instances, shared)


def coherence_results(
    probabilities: ProbabilityTask, design: TaskDesign, study: Study, *, resampling: Resampling, ci_level: float
) -> CoherenceResults | None:
    """Results of the first identity with a complete set on the log-odds scale; None where there is none."""
    main = main_instances(probabilities, design, study)
    if main is None:
        return None
    one, sets, kept = main.identity, main.sets, main.residuals
    clip = study.coherence.clip
    instances, effects = with_wording_effects(main.instances, kept)
    flips = flip_tests(kept, rng=resampling.rng("wordings"), flips=resampling.flips)
    unit = "item" if design.unit_is_item else design.unit
    estimates = incoherence_estimates(
        instances,
        rng=resampling.rng("incoherence"),
        resamples=resampling.resamples,
        ci_level=ci_level,
        flips=flips,
        unit=unit,
    )
    medians = median_estimates(instances, rng=resampling.rng("median"), ci_level=ci_level, unit=unit)
    found = pd.concat([estimates, medians], ignore_index=True)
    has_latent = LATENT in one.summed()
    scaled = by_wording(identity_residuals(renormalised(sets), one, clip=clip)) if has_latent else None
    compared = sets_of_residuals(sets, one, kept)
    sums = sets.keys[["model"]].assign(sum=state_sums(sets))[compared] if has_latent else None
    return CoherenceResults(
        identity=one,
        residuals=kept,
        instances=instances,
        all_instances=main.everything,
        shared=main.shared,
        estimates=withheld(found) if design.target == "census" else found,
        tests=detection_table(instances, flips, estimates),
        wordings=effects,
        renormalised=scaled,
        sums=sums,
        sets=sets,
        compared=compared,
        causal=_causal_instances(probabilities, main, design, clip=clip),
    )


def _causal_instances(
    probabilities: ProbabilityTask, main: MainInstances, design: TaskDesign, *, clip: float
) -> pd.DataFrame:
    """Instances of the back-door adjustment whose family and level the main instances do not have."""
    pairs = set(main.everything[["item_family", "level"]].itertuples(index=False, name=None))
    for one, sets in probabilities.joined:
        if one.name == BACK_DOOR and one.name != main.identity.name and sets.complete.any():
            rows = instance_moments(by_wording(identity_residuals(sets, one, clip=clip)), task=design.task)
            own = [pair not in pairs for pair in rows[["item_family", "level"]].itertuples(index=False, name=None)]
            rows = rows[own]
            held = rows.groupby(["unit", "identity"])["model"].transform("nunique")
            return rows[held == main.instances["model"].nunique()] if main.shared else rows
    return main.everything.head(0)
