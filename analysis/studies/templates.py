"""Templates: what each does to all models together, grouped by validity."""

import pandas as pd

from analysis.frequentist.factor_levels import level_estimates, treated
from analysis.frequentist.template_levels import spread_over_templates, template_summaries
from analysis.reduction.levels import factors_with_levels, level_arrays
from analysis.report.columns import Count, Estimate, Percent, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import counted, fixed
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import factor_label
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import table_name

#: More templates than this are kept in the data and not printed.
MOST_PRINTED = 60


def templates_part(context: TaskContext) -> Part | None:
    """Templates, or the patterns that they belong to, where there are two or more and cells to compare."""
    if isinstance(context.counts, str) or context.design.cells is None or context.design.target == "census":
        return None
    factors = factors_with_levels(context.design, context.counts)
    chosen = [name for name in ("item_family", "template") if name in factors]
    if not chosen:
        return None
    factor = chosen[0]
    data = treated(level_arrays(context.counts, factor), uncertain=context.design.uncertain)
    rows = template_summaries(data, ci_level=context.ci_level)
    rows = rows.assign(unit=unit_used(context.design), uncertain=context.design.uncertain)
    table = templates_table(context, rows, factor)
    by_model = level_estimates(data, ci_level=context.ci_level)
    tables = (table,) if len(rows) <= MOST_PRINTED else ()
    section = Section(f"{context.where}Templates", lead=(_sentence(rows, factor),), tables=tables)
    stored = {"templates": rows, "template_by_model": by_model}
    return Part((section,), data={name: t.assign(task=context.design.task) for name, t in stored.items()})


def templates_table(context: TaskContext, rows: pd.DataFrame, factor: str) -> Table:
    """Pooled accuracy, mean |bias| beside its noise, mean polarity sensitivity, direction."""
    four = context.design.cells == "validity_polarity"
    polarity = (Estimate("polarity", "Mean PS", low="polarity_low", high="polarity_high", signed=True),) if four else ()
    spec = TableSpec(
        table_name("templates", context.design),
        title=f"Models together, by {factor_label(factor)}",
        columns=(
            Text("level", factor_label(factor).capitalize()),
            Estimate("accuracy", "Accuracy", low="accuracy_low", high="accuracy_high", method="accuracy_method"),
            Estimate("abs_bias", "Mean |bias|", low="abs_bias_low", high="abs_bias_high"),
            Proportion("abs_bias_noise", "By chance"),
            *polarity,
            Percent("agree", "Agree"),
            Percent("agree_chance", "By chance"),
            Count("leaning_yes", "To Yes"),
            Count("leaning_no", "To No"),
            Count("n_models", "Models"),
        ),
        groups=("validity",) if four else (),
        order=("-validity", "level") if four else ("level",),
        note=(
            "Accuracy: all responses together. Mean |bias|: over models; by chance: what it would be without any bias, "
            "from the standard errors. Within a template of one validity bias is the difference of two cells, so that "
            "PS is the bias with its own sign (valid) or the opposite (invalid). Agree: models that lean in the more "
            "frequent direction; by chance: if each took one by the flip of a coin. To Yes, to No: models whose "
            "own interval excludes 0."
        ),
    )
    shown = rows.assign(accuracy_method="cluster Wilson (t)")
    return Table(spec, shown, simulated=context.design.simulated)


def _sentence(rows: pd.DataFrame, factor: str) -> str:
    sds = spread_over_templates(rows)
    text = f"{counted(len(rows), 'level')} of {factor_label(factor)}"
    parts = [f"standard deviation of mean |bias| {fixed(sds['abs_bias'], 3)}"] if pd.notna(sds["abs_bias"]) else []
    parts += [f"of mean PS {fixed(sds['polarity'], 3)}"] if pd.notna(sds["polarity"]) else []
    return f"{text}; over them {', '.join(parts)}." if parts else f"{text}."
