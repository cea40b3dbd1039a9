"""Section on the coherence of stated probabilities: residuals of identities, what persists, and what it goes with."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.frequentist.incoherence_errors import associations, causal_anomalies, error_means
from analysis.frequentist.incoherence_further import identity_summary, rewording_noise
from analysis.frequentist.incoherence_means import grouped_means
from analysis.frequentist.incoherence_robustness import robustness
from analysis.measures.identities_joined import ProbabilityTask
from analysis.measures.identities_residuals import identity_residuals
from analysis.reduction.moments import by_wording, instance_moments
from analysis.reduction.probability_answers import logged_settings, mean_costs
from analysis.report.content import Figure, Section
from analysis.report.figures.persistent import persistent_figure
from analysis.report.figures.tokens import tokens_figure
from analysis.report.numbers import counted
from analysis.report.spec import Table
from analysis.studies.census import without_inference
from analysis.studies.coherence_bayes import coherence_bayes_part
from analysis.studies.coherence_comparison import (
    accuracy_table,
    pair_tables,
    robustness_table,
    role_errors_table,
)
from analysis.studies.coherence_further import (
    causal_table,
    cost_table,
    divided_residuals,
    further_table,
    rewording_table,
)
from analysis.studies.coherence_group_schools import group_moments
from analysis.studies.coherence_groups import associations_table, groups_table
from analysis.studies.coherence_results import BACK_DOOR, CoherenceResults, coherence_results
from analysis.studies.coherence_sentences import coherence_attention, coherence_claims, coherence_limits, sums_attention
from analysis.studies.coherence_tables import (
    CAUSAL_NOTE,
    detection,
    families_table,
    incoherence_table,
    sizes_table,
    wordings_table,
)
from analysis.studies.context import Part, TaskContext, joined
from analysis.studies.summary import sentence
from analysis.studies.wide_table import table_name


def coherence_part(context: TaskContext) -> Part | None:
    """Coherence of stated probabilities, by moments and by both models; None where no identity joins the answers."""
    probabilities = context.probabilities
    if probabilities is None or not probabilities.joined:
        return None
    design, labels = context.design, model_labels(probabilities, context.labels)
    results = coherence_results(
        probabilities, design, context.study, resampling=context.resampling, ci_level=context.ci_level
    )
    further, further_rows = _further(context, probabilities, results, labels)
    incomplete = _incomplete(probabilities)
    if results is None:
        section = Section(_title(design.task), lead=(incomplete,), tables=further)
        limit = sentence(context.where, f"no incoherence in log-odds is estimated. {incomplete}")
        gaps = sums_attention(probabilities, labels, where=context.where)
        return Part((section,), limits=(limit,), attention=gaps)
    tables, data = _tables(context, results, labels)
    if design.target == "census":
        further = tuple(without_inference(table) for table in further)
    moments = Part(
        (Section(_title(design.task), lead=_lead(results, probabilities, incomplete), tables=(*tables, *further),
                 figures=_figures(context, results, labels)),),
        summary=coherence_claims(results, labels, where=context.where),
        limits=coherence_limits(results, design, where=context.where),
        attention=coherence_attention(results, probabilities, labels, where=context.where),
        methods=_methods(context, results),
        data={**data, **further_rows},
    )  # fmt: skip
    bayesian = coherence_bayes_part(context, results, labels)
    return moments if bayesian is None else joined([moments, bayesian])


def model_labels(probabilities: ProbabilityTask, labels: Mapping[str, str]) -> dict[str, str]:
    """Printed name of every model, with its condition where conditions make models of their own."""
    pairs = probabilities.answers[["logged_model", "model"]].drop_duplicates().astype(str)
    return {
        model: labels.get(logged, logged) + model.removeprefix(logged)
        for logged, model in pairs.itertuples(index=False, name=None)
    }


def _title(task: str) -> str:
    return f"Coherence of probabilities: {task}" if task else "Coherence of probabilities"


def _tables(
    context: TaskContext, results: CoherenceResults, labels: Mapping[str, str]
) -> tuple[list[Table], dict[str, pd.DataFrame]]:
    design, drawn = context.design, context.resampling
    instances = results.instances
    tables = [
        *families_table(design, results),
        incoherence_table(design, results, labels),
        detection(design, results, labels),
        sizes_table(design, results, labels),
    ]
    errors = error_means(
        instances,
        by=("model", "coherence"),
        rng=drawn.rng("errors"),
        resamples=drawn.resamples,
        ci_level=context.ci_level,
    )
    found = associations(instances, results.residuals, ci_level=context.ci_level)
    tables.append(associations_table(design, found, errors, labels))
    tables += _cost(context)
    tables += _group_tables(context, results, labels)
    robust = robustness(
        results.residuals,
        clip=context.study.coherence.clip,
        relation=results.identity.relation,
        renormalised=_matched(results.renormalised, results.residuals),
        sums=results.sums,
        answers=_answers_of(context, results),
    )
    if len(errors):
        tables.append(role_errors_table(design, results, errors, labels))
        overall = error_means(
            instances, by=("model",), rng=drawn.rng("accuracy"), resamples=drawn.resamples, ci_level=context.ci_level
        )
        tables.append(accuracy_table(design, results, overall, robust, labels))
    census = context.design.target == "census"
    tables += [] if census else pair_tables(context, instances, labels, shared=results.shared)
    tables.append(robustness_table(design, robust, labels, clip=context.study.coherence.clip))
    if (effects := wordings_table(design, results, labels)) is not None:
        tables.append(effects)
    data = {
        "instances": results.all_instances.assign(identity_name=results.identity.name),
        "residuals": results.residuals.assign(task=design.task),
        "incoherence": results.estimates,
        "persistent_tests": results.tests,
    }
    # What persists is tested over wordings, which a census of the questions does not exhaust.
    stays = table_name("persistent_tests", design)
    return [without_inference(t, tests=t.spec.name == stays) if census else t for t in tables], data


def _answers_of(context: TaskContext, results: CoherenceResults) -> pd.DataFrame | None:
    """Single answers of the sets that are compared."""
    if context.probabilities is None:
        return None
    sets = results.sets
    return context.probabilities.answers.iloc[np.unique(sets.row[results.compared[sets.set_of_row]])]


def _group_tables(context: TaskContext, results: CoherenceResults, labels: Mapping[str, str]) -> list[Table]:
    """Mean |r| by family and level, noise and persistent part by level; nothing where there is one group."""
    instances, drawn, made = results.instances, context.resampling, []
    both = pd.concat([instances, results.causal], ignore_index=True)
    keys = tuple(k for k in ("item_family", "level") if both[k].nunique() > 1)
    if keys:
        parts = [
            grouped_means(part, {"mean_abs_residual": "abs_residual"}, by=("model", *keys),
                          rng=drawn.rng(f"families {name}"), resamples=drawn.resamples, ci_level=context.ci_level)
            for name, part in both.groupby(list(keys), sort=True)
        ]  # fmt: skip
        means = pd.concat(parts, ignore_index=True)
        note = "Groups were not chosen after looking; intervals are not adjusted for their number."
        note += CAUSAL_NOTE if len(results.causal) else ""
        made.append(groups_table(context.design, means, labels, name="families_levels",
                                 title="Mean |r| by family and level", note=note,
                                 measures={"mean_abs_residual": "Mean |r|"}))  # fmt: skip
    by = next((key for key in ("level", "item_family") if instances[key].nunique() > 1), None)
    if by is not None:
        found = group_moments(instances, by, resampling=drawn, ci_level=context.ci_level)
        note = "A level in which a model's interval excludes 0 and one in which it does not are not thereby different."
        made.append(groups_table(context.design, found, labels, name="noise_levels",
                                 title=f"Noise and persistent residual by {by.replace('item_', '')}", note=note,
                                 measures={"noise": "Noise", "persistent": "Persistent"}))  # fmt: skip
    return made


def _matched(renormalised: pd.DataFrame | None, residuals: pd.DataFrame) -> pd.DataFrame | None:
    """Rows of the same instances as the residuals."""
    if renormalised is None:
        return None
    keys = ["model", "unit", "identity", "wording"]
    return renormalised.merge(residuals[keys], on=keys)


def _cost(context: TaskContext) -> list[Table]:
    """Settings and cost; nothing where the log has neither."""
    if context.probabilities is None:
        raise TypeError("coherence without probabilities")
    costs = mean_costs(context.probabilities.answers)
    settings = logged_settings(context.con, context.design, context.selection)
    if costs.shape[1] == 2 and settings.shape[1] == 1:
        return []
    return [cost_table(context.design, costs.merge(settings, on="model", how="left"), dict(context.labels))]


def _further(
    context: TaskContext,
    probabilities: ProbabilityTask,
    results: CoherenceResults | None,
    labels: Mapping[str, str],
) -> tuple[tuple[Table, ...], dict[str, pd.DataFrame]]:
    """Tables of the identities beside the main one, of rewording, and of interventions."""
    design, drawn = context.design, context.resampling
    rows, tables, data = [], [], {}
    for place, (identity, sets) in enumerate(probabilities.joined):
        main = results is not None and identity.name == results.identity.name
        if main or not sets.complete.any():
            continue
        residuals = by_wording(identity_residuals(sets, identity, clip=context.study.coherence.clip))
        summary = identity_summary(
            instance_moments(residuals, task=design.task), scale=identity.scale, relation=identity.relation,
            rng=drawn.rng(f"identity {identity.name}"), resamples=drawn.resamples, ci_level=context.ci_level,
        )  # fmt: skip
        rows.append(summary.assign(identity_name=identity.name, identity_place=place))
        if identity.name == BACK_DOOR:
            answers = probabilities.answers
            observed = answers[(answers["role"] == "observational") & answers["truth"].notna()]
            observed = observed.assign(unit=observed["unit"].astype(str))
            anomalies = causal_anomalies(residuals, observed[["unit", "truth"]])
            tables.append(causal_table(design, anomalies, labels))
            data["causal_answers"] = anomalies.assign(task=design.task, anomalous=anomalies["anomalous"].map(
                lambda value: "unknown" if value is None else str(bool(value)).lower()))  # fmt: skip
    if rows:
        tables.insert(0, further_table(design, pd.concat(rows, ignore_index=True), labels))
    noise = rewording_noise(
        probabilities.answers,
        rng=drawn.rng("rewording"),
        clip=context.study.coherence.clip,
        resamples=drawn.resamples,
        ci_level=context.ci_level,
    )
    if noise is not None:
        tables.append(rewording_table(design, noise, labels))
    more, rows_divided = divided_residuals(context, results, labels)
    return (*tables, *more), data | rows_divided


def _figures(context: TaskContext, results: CoherenceResults, labels: Mapping[str, str]) -> tuple[Figure, ...]:
    design = context.design
    made = [
        persistent_figure(results.estimates, name=table_name("persistent", design), labels=labels, subject=design.task)
    ]
    tokens = tokens_figure(results.estimates, name=table_name("tokens", design), labels=labels, subject=design.task)
    return tuple(made + ([tokens] if tokens is not None else []))


def _lead(results: CoherenceResults, probabilities: ProbabilityTask, incomplete: str) -> tuple[str, ...]:
    units = results.instances["unit"].nunique()
    instances = len(results.instances[["unit", "identity"]].drop_duplicates())
    repeated = int(results.tests["n"].max()) if len(results.tests) else 0
    lacking = results.instances["model"].nunique() < probabilities.answers["model"].nunique()
    every = "that every model with complete answers has" if lacking else "that every model has"
    whose = every if results.shared else "of any model (few are shared by all)"
    first = (
        f"Identity: {results.identity.name}. {counted(instances, 'instance')} {whose}, of {counted(units, 'unit')}; "
        f"at most {counted(repeated, 'instance')} of one model in two wordings or more."
    )
    decided = results.tests["decision"].value_counts()
    said = ", ".join(f"{int(n)} {word}" for word, n in decided.items())
    return (first, f"Persistent residual, one-sided at .025 for each model: {said}.", incomplete)


def _incomplete(probabilities: ProbabilityTask) -> str:
    """One sentence: how many sets are complete, and why the others are not."""
    said = []
    for identity, sets in probabilities.joined:
        left = sets.incomplete().groupby("reason")["sets"].sum().sort_values(ascending=False, kind="stable")
        why = "; ".join(f"{n:,} {reason}" for reason, n in left.items())
        complete = int(np.count_nonzero(sets.complete))
        said.append(
            f"{identity.name}: {complete:,} of {counted(len(sets.keys), 'set')} of answers complete"
            + (f" ({why})" if why else "")
        )
    return ". ".join(said) + "."


def _methods(context: TaskContext, results: CoherenceResults) -> tuple[str, ...]:
    clip = context.study.coherence.clip
    return (
        f"Residuals of the identity “{results.identity.name}” are differences of log-odds, of probabilities moved "
        f"to within [{clip:g}, {1 - clip:g}]; answers were joined by unit, identity, wording, model and sample.",
        "The squared persistent residual is the mean over instances of products of residuals from different wordings; "
        f"its interval is a studentised bootstrap of units ({context.resampling.resamples:,} resamples), and it was "
        f"tested by flipping the signs of a unit's wordings ({context.resampling.flips:,} flips).",
        "Models were compared on the units that both answered, by sign flips of unit differences, adjusted by Holm's "
        "procedure [@holm1979].",
    )
