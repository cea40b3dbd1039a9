"""Accuracy against a table of one number per model from elsewhere."""

import pandas as pd

from analysis.frequentist.rank_correlation import KINDS, correlation
from analysis.reduction.external_table import ExternalValues, external_values
from analysis.report.columns import Estimate, Number, Text
from analysis.report.content import Section
from analysis.report.figures.external_rank import external_rank_figure
from analysis.report.numbers import counted
from analysis.report.spec import Table, TableSpec
from analysis.studies.answers import labelled
from analysis.studies.context import Part, TaskContext
from analysis.studies.correlation_table import correlation_rows, correlation_table
from analysis.studies.wide_table import table_name


def external_part(context: TaskContext) -> Part | None:
    """Section on the table that ``[external]`` names; None without one, or without accuracies."""
    settings, design = context.study.external, context.design
    if settings is None or context.estimates is None:
        return None
    accuracy = context.estimates[context.estimates["measure"] == "accuracy"]
    found = external_values(settings, context.study.path, accuracy["model"].astype(str))
    name = settings.name or settings.value
    points = accuracy.assign(model=accuracy["model"].astype(str))[["model", "estimate", "ci_low", "ci_high"]]
    points = points.assign(
        value=points["model"].map(found.values), ci_level=context.ci_level, ci_method="cluster Wilson (t)"
    )
    known = points[points["value"].notna()]
    tests = [
        correlation(
            known["estimate"],
            known["value"],
            rng=context.resampling.rng(f"external {kind}"),
            kind=kind,
            permutations=context.resampling.flips,
            ci_level=context.ci_level,
        )
        for kind in KINDS
    ]
    rows = correlation_rows([("accuracy", name, test) for test in tests])
    spec = TableSpec(
        table_name("external_values", design),
        title=f"Accuracy and {name}" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Accuracy", digits=3),
            Number("value", name, digits=0 if known["value"].map(float.is_integer).all() else 2),
        ),
        order=("value", "label") if settings.lower_is_better else ("-value", "label"),
        note=f"{name}: {settings.file}, column {settings.value}."
        + " Accuracy: of single responses, not of the majorities of votes." * _voted(context),
    )
    sign = " Lower numbers are better: a negative correlation says that better models there are better here."
    section = Section(
        f"Accuracy against {name}" + (f": {design.task}" if design.task else ""),
        lead=(_matched(found, name),),
        tables=(
            Table(spec, labelled(known, context.labels), simulated=design.simulated),
            correlation_table(context, rows, "external_correlation", f"Accuracy and {name} over models"),
        ),
        figures=(
            external_rank_figure(
                known, value=name, name=table_name("external_rank", design), subject=design.task,
                lower_is_better=settings.lower_is_better, labels=context.labels, ci_level=context.ci_level,
            ),
        ),
        notes=("A correlation over a few models that nobody drew at random describes them." + (
            sign if settings.lower_is_better else ""),),
    )  # fmt: skip
    return Part((section,), attention=_attention(context, found, name), data={"external": pd.DataFrame(points)})


def _voted(context: TaskContext) -> bool:
    """Whether some question was answered several times under one configuration."""
    counts = context.counts
    return isinstance(counts, pd.DataFrame) and bool((counts["n_planned"] > 1).any())


def _matched(found: ExternalValues, name: str) -> str:
    return f"{counted(len(found.values), 'model')} with {name}, matched by exact names."


def _attention(context: TaskContext, found: ExternalValues, name: str) -> tuple[str, ...]:
    said = []
    if found.unmatched_models:
        said.append(f"{context.where}no {name} for {', '.join(found.unmatched_models)}: left out of the correlation.")
    if found.unmatched_names:
        said.append(f"{context.where}rows of {name} without a model in the logs: {', '.join(found.unmatched_names)}.")
    return tuple(said)
