"""The parts of a report on one task, in the order of printing."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final

from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.floor_tests import floor_tests
from analysis.frequentist.uncertain_answers import flags, uncertainty_bounds
from analysis.measures.rates import UNCERTAIN_TREATMENTS
from analysis.report.figures.render import with_drawings
from analysis.studies.accuracy import accuracy_section
from analysis.studies.accuracy_bayes import accuracy_bayes_part
from analysis.studies.associations import associations_part, floor_bias_words
from analysis.studies.bayesian import bayesian_part
from analysis.studies.belief_bias_bayes import belief_bias_bayes_part
from analysis.studies.between_models import between_models_part
from analysis.studies.calibration import calibration_part
from analysis.studies.coherence import coherence_part
from analysis.studies.context import Part, TaskContext
from analysis.studies.design_tables import design_tables_part
from analysis.studies.external import external_part
from analysis.studies.factors import factors_part
from analysis.studies.heat_maps import heat_maps_part
from analysis.studies.judgement import JudgementResults, judgement_section
from analysis.studies.leaderboard import leaderboard_part
from analysis.studies.methods import accuracy_methods, judgement_methods
from analysis.studies.option_bias import option_bias_part
from analysis.studies.paired_contrasts import paired_contrasts_part
from analysis.studies.planning import planning_part
from analysis.studies.presets import Preset, preset_parts, with_preset
from analysis.studies.repeated import repeated_part
from analysis.studies.restrictions import restrictions_part
from analysis.studies.scaling import scaling_part
from analysis.studies.second_thread import Begin
from analysis.studies.summary import accuracy_claims, attention, claims, limits
from analysis.studies.templates import templates_part
from analysis.studies.token_probabilities import token_probabilities_part
from analysis.studies.uncertain_models import uncertain_models_part
from analysis.studies.weightings import weightings_part
from analysis.studies.weights import overall_accuracy, unit_used, weighted_sums, weights_used


@dataclass(frozen=True, slots=True)
class BegunParts:
    """Parts of a task in the order of printing, the long ones perhaps still in the making."""

    context: TaskContext
    preset: Preset | None
    made: tuple[Part | Future[Part | None] | None, ...]

    def with_drawings(self, *, simulated: bool) -> "BegunParts":
        """The same with the figures of the short parts drawn, if a long one is still being made."""
        if all(part.done() for part in self.made if isinstance(part, Future)):
            return self
        return replace(self, made=tuple(drawn(p, simulated=simulated) if isinstance(p, Part) else p for p in self.made))

    def all(self) -> list[Part]:
        """Every part, what the design could have shown and what the preset adds included; waits for the long ones."""
        made = [part.result() if isinstance(part, Future) else part for part in self.made]
        parts = [part for part in made if part is not None]
        planned = planning_part(self.context, parts)
        return preset_parts(self.context, self.preset, [*parts, planned] if planned is not None else parts)


def begun_parts(context: TaskContext, begin: Begin) -> BegunParts:
    """Every part that the design of a task allows; the frequentist estimates are made first, for all parts.

    Parameters
    ----------
    context : TaskContext
    begin : callable
        Of ``second_thread``: has the long parts made while this makes the others.
    """
    estimated, preset = with_preset(with_estimates(context), context.preset)
    long = {make: begin(make, estimated) for make in PARTS if make in LONG}
    return BegunParts(estimated, preset, tuple(long[make] if make in long else make(estimated) for make in PARTS))


def drawn(part: Part, *, simulated: bool) -> Part:
    """The part with its figures drawn."""
    return replace(part, sections=tuple(with_drawings(s, simulated=simulated) for s in part.sections))


def with_estimates(context: TaskContext) -> TaskContext:
    """The context with the sums by unit and the frequentist estimates that the counts allow."""
    if isinstance(context.counts, str):
        return context
    design = context.design
    sums = weighted_sums(context.counts, design)
    by_treatment = {
        treatment: overall_accuracy(
            answer_bias_estimates(
                sums,
                uncertain=treatment,
                ci_level=context.ci_level,
                target=design.target,
                unit=unit_used(design),
                weights=weights_used(design),
            ),
            design,
        )
        for treatment in UNCERTAIN_TREATMENTS
    }
    chosen = by_treatment[design.uncertain]
    results = None
    if design.cells is not None:
        tests = floor_tests(sums, uncertain=design.uncertain, ci_level=context.ci_level, target=design.target)
        flagged = flags(sums, ci_level=context.ci_level)
        results = JudgementResults(chosen, tests, uncertainty_bounds(sums), flagged, by_treatment)
    return replace(context, sums=sums, estimates=chosen, judgement=results)


def accuracy_part(context: TaskContext) -> Part | None:
    """Accuracy alone, where there is no answer bias to estimate, or the reason why there is none either."""
    design, labels = context.design, context.labels
    if context.probabilities is not None:
        return None
    if isinstance(context.counts, str):
        section = accuracy_section(design, None, context.counts, labels)
        return Part((section,), limits=(f"{context.where}no accuracy, {context.counts}.",))
    if context.judgement is not None or context.sums is None or context.estimates is None:
        return None
    return Part(
        (accuracy_section(design, context.estimates, "", labels),),
        summary=tuple(accuracy_claims(context.estimates, labels, where=context.where)),
        limits=(f"{context.where}no answer bias or floor, {design.cells_reason}.",),
        methods=accuracy_methods(design, ci_level=context.ci_level),
        data={"unit_sums": context.sums, "estimates": context.estimates},
    )


def judgement_part(context: TaskContext) -> Part | None:
    """Cells, answer bias and competence floor of a yes/no task."""
    results, labels, where = context.judgement, context.labels, context.where
    if results is None or context.sums is None:
        return None
    return Part(
        (judgement_section(context.design, results, labels, correlation=floor_bias_words(context, results.estimates)),),
        summary=tuple(claims(results, labels, where=where)),
        limits=tuple(limits(context.design, results, labels, where=where)),
        attention=tuple(attention(results, labels, where=where)),
        methods=judgement_methods(context.design, ci_level=context.ci_level),
        data={
            "unit_sums": context.sums,
            "estimates": results.estimates,
            "floor_tests": results.tests,
            "uncertainty_bounds": results.bounds,
        },
    )


#: Each gives None where the design of the task does not allow it.
PARTS: Final[tuple[Callable[[TaskContext], Part | None], ...]] = (
    accuracy_part,
    judgement_part,
    option_bias_part,
    coherence_part,
    calibration_part,
    bayesian_part,
    uncertain_models_part,
    design_tables_part,
    factors_part,
    paired_contrasts_part,
    templates_part,
    between_models_part,
    restrictions_part,
    weightings_part,
    scaling_part,
    associations_part,
    heat_maps_part,
    token_probabilities_part,
    leaderboard_part,
    accuracy_bayes_part,
    repeated_part,
    belief_bias_bayes_part,
    external_part,
)
#: Those that wait for a sampler, and read nothing that another part makes.
LONG: Final = frozenset({bayesian_part, accuracy_bayes_part, belief_bias_bayes_part})
