"""What was asked: templates, question forms and versions with their items, from the levels in the logs."""

from typing import Final

from analysis.reduction.design_counts import design_counts
from analysis.report.columns import Column, Count, Text
from analysis.report.content import Section
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import factor_label
from analysis.studies.wide_table import table_name

#: Table -> the factor that it is about, and what is told with it where the logs have it.
TABLES: Final = {
    "design_templates": ("template", ("validity", "item_family")),
    "design_forms": ("form", ("polarity", "negation", "wording")),
    "design_variants": ("variant", ("validity", "believability")),
}
TITLES: Final = {
    "template": "Templates and their items",
    "form": "Question forms and their items",
    "variant": "Versions and their items",
}
#: More rows than this say nothing at a glance.
MOST_ROWS: Final = 60


def design_tables_part(context: TaskContext) -> Part | None:
    """Tables of the templates, the question forms and the versions, where there are two or more of them."""
    factors = context.design.item_factors
    tables, data = [], {}
    for name, (factor, beside) in TABLES.items():
        told = [other for other in beside if len(factors.get(other, ())) > 1]
        if len(factors.get(factor, ())) < 2:
            continue
        rows = design_counts(context.con, context.design, [factor, *told], context.selection)
        data[name] = rows.assign(task=context.design.task)
        if len(rows) > MOST_ROWS:
            continue
        left_out = (rows["left_out"] != "").any()
        shown = rows.assign(**{other: rows[other].replace("", "–") for other in (factor, *told)})
        shown["left_out"] = shown["left_out"].replace("", "–")
        columns: list[Column] = [Text(column, factor_label(column).capitalize()) for column in (factor, *told)]
        columns += [Count("n_items", "Items"), Count("n_clusters", "Units"), Count("n", "Responses")]
        columns += [Text("left_out", "Outside the cells")] if left_out else []
        spec = TableSpec(
            table_name(name, context.design),
            title=TITLES[factor],
            columns=tuple(columns),
            note="Levels as the logs have them; responses of all models, set-aside ones included.",
        )
        tables.append(Table(spec, shown, simulated=context.design.simulated))
    if not data:
        return None
    sections = (Section(f"{context.where}What was asked", tables=tuple(tables)),) if tables else ()
    return Part(sections, data=data)
