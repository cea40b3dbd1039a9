"""Heat map of accuracy by template, polarity, question form and model."""

import pandas as pd

from analysis.comparison.facet_rates import facet_rates
from analysis.reduction.cells import facet_counts
from analysis.report.content import Section
from analysis.report.figures.heat_map import heat_map_figure
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import table_name

#: More models or templates than this cannot be read in one figure.
MOST_MODELS, MOST_TEMPLATES, MOST_FORMS = 60, 40, 8


def heat_maps_part(context: TaskContext) -> Part | None:
    """The figure, where there are two templates or more and both polarities."""
    design = context.design
    factors = design.item_factors
    if isinstance(context.counts, str) or context.judgement is None or design.cells != "validity_polarity":
        return None
    if len(factors.get("template", ())) < 2 or len(factors.get("form", ())) > MOST_FORMS:
        return None
    if design.n_models > MOST_MODELS or len(factors["template"]) > MOST_TEMPLATES:
        words = f"no heat map: {design.n_models} models and {len(factors['template'])} templates are too many to read."
        return Part(limits=(f"{context.where}{words}",))
    by = ("validity", "template", "polarity", *(("form",) if "form" in factors else ()))
    counts = facet_counts(context.con, design, context.study, context.selection, by=by)
    rows = facet_rates(counts, context.judgement.estimates, context.labels, uncertain=design.uncertain)
    figure = heat_map_figure(rows, name=table_name("heat_map", design), subject=design.task)
    section = Section(f"{context.where}Every template and form", figures=(figure,))
    return Part((section,), data={"facets": pd.DataFrame(rows).assign(task=design.task)})
