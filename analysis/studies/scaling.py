"""Does size matter? Accuracy, |bias|, polarity sensitivity and uncertain answers by model size within families."""

import pandas as pd

from analysis.comparison.associations import size_table
from analysis.reduction.levels import model_facts
from analysis.report.columns import Column, Count, Estimate, Number, PValue, Text
from analysis.report.content import Section
from analysis.report.figures.scaling import scaling_figure
from analysis.report.numbers import level
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import named
from analysis.studies.scaling_slopes import no_slopes, slope_rows, slopes_table
from analysis.studies.wide_table import CELLS, estimate_column, table_name, wide_estimates

MEASURES = {
    "accuracy": "accuracy",
    "abs_bias": "|bias|",
    "polarity_sensitivity": "PS",
    "competence_floor": "floor",
    "uncertain_rate": "uncertain",
}
#: Fewer sizes than this in every family show nothing.
FEWEST_SIZES = 2


def scaling_part(context: TaskContext) -> Part | None:
    """Table, correlations and figure by size, where a family has two sizes or more."""
    if context.estimates is None or context.judgement is None:
        return None
    facts = model_facts(context.con, context.design, context.study).dropna(subset=["family", "size"])
    sizes = facts.groupby("family")["size"].nunique()
    facts = facts[facts["family"].isin(sizes[sizes >= FEWEST_SIZES].index)]
    if facts.empty:
        return None
    facts = facts.sort_values(["family", "size", "model"], kind="stable")
    wide = facts.merge(wide_estimates(context.estimates, context.labels), on="model", validate="one_to_one")
    wide = wide.assign(abs_bias=wide["answer_bias"].abs())
    names = [name for name in MEASURES if wide[name].notna().any()]
    census = context.design.target == "census"
    found = pd.DataFrame() if census else _correlations(context, wide, names)
    tables = [sizes_table(context, wide)]
    if not found.empty:
        tables.append(correlations_table(context, found))
    slopes = pd.DataFrame()
    if context.bayes is not None and not census:
        slopes = slope_rows(context.estimates, facts, MEASURES, ci_level=context.ci_level)
    refused = no_slopes(slopes)
    if len(slopes) and not refused:
        tables.append(slopes_table(context.design, slopes, MEASURES))
    four = context.design.cells == "validity_polarity"
    rows = context.estimates.merge(facts, on="model", how="inner")
    figure = scaling_figure(
        rows,
        name=table_name("scaling", context.design),
        measures=CELLS if four else ("acc_yes", "acc_no"),
        intervals=f"{level(context.ci_level)} intervals by unit" if rows["ci_low"].notna().any() else "",
        subject=context.design.task,
    )
    notes = () if census else (_NOTE, refused) if refused else (_NOTE,)
    section = Section(f"{context.where}Model size", tables=tuple(tables), figures=(figure,), notes=notes)
    stored = {"model_sizes": facts} | ({} if census else {"size_correlations": found})
    if len(slopes):
        stored["size_slopes"] = slopes
    methods = _METHODS if "size_slopes" in stored and not refused else ()
    return Part(
        (section,), methods=methods, data={name: t.assign(task=context.design.task) for name, t in stored.items()}
    )


def _correlations(context: TaskContext, wide: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return size_table(
        wide[["model", "family", "size", *names]],
        rng=context.resampling.rng("size"),
        permutations=context.resampling.flips,
        ci_level=context.ci_level,
    )


_METHODS = (
    "Slopes on the logarithm of model size are those of a hierarchical line with a level and a slope of each family, "
    "slopes pooled over families, fitted to the estimates of the models with their standard errors; its two standard "
    "deviations were integrated on a grid.",
)
_NOTE = (
    "Rank correlations over few models say little: with four sizes no two-sided p-value can be below .083, with three "
    "none below .333."
)


def sizes_table(context: TaskContext, wide: pd.DataFrame) -> Table:
    """One row per model, by family and size."""
    rows = named(wide, context.labels).assign(abs_bias_reason=wide["answer_bias_missing"])
    four = context.design.cells == "validity_polarity"
    columns: list[Column] = [
        Text("label", "Model"),
        Number("size", "Size", digits=1, unit="B"),
        estimate_column("accuracy", "Accuracy"),
        Number("abs_bias", "|Bias|", digits=3, reason="abs_bias_reason"),
        estimate_column("answer_bias", "Bias", signed=True, digits=2),
    ]
    if four:
        columns.append(estimate_column("polarity_sensitivity", "PS", signed=True, digits=2))
    columns += [estimate_column("competence_floor", "Floor"), estimate_column("uncertain_rate", "Uncertain")]
    spec = TableSpec(
        table_name("model_sizes", context.design),
        title="Models by family and size",
        columns=tuple(columns),
        groups=("family",),
        note="Size in billions of parameters, as the logs or study.toml give it.",
    )
    return Table(spec, rows, simulated=context.design.simulated)


def correlations_table(context: TaskContext, found: pd.DataFrame) -> Table:
    """Spearman's and Kendall's correlation of size with each measure, by family."""
    rows = found.assign(
        shown=found["family"].replace("", "all models"), what=[MEASURES[name] for name in found["measure"]]
    )
    spec = TableSpec(
        table_name("size_correlations", context.design),
        title="Rank correlation of size with each measure",
        columns=(
            Text("shown", "Family"),
            Text("what", "Measure"),
            Text("kind", "Correlation"),
            Estimate("estimate", "r", signed=True, digits=2),
            PValue("p_value", "p"),
            Text("p_method", "by", reason="reason"),
            Count("n_models", "Models"),
        ),
        note="p-values are exact for nine models or fewer, and not adjusted. Values of the models are taken as known.",
    )
    return Table(spec, rows, simulated=context.design.simulated)
