"""Model families in the Bayesian columns: what they are, and the measures averaged over the models of each."""

from typing import Final

import pandas as pd

from analysis.bayes.families import AVERAGED, family_index
from analysis.report.columns import Count, Estimate, Text
from analysis.report.spec import OrderBy, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.comparison_table import HEADINGS
from analysis.studies.wide_table import UNEXPLAINED, table_name

#: Sentence of the methods section.
FAMILIES_METHODS: Final = (
    "What models of one family have in common is an effect of the model, for leaning to Yes, sensitivity, the pull of "
    "affirmative wording and blindness to negation; models without a family are one each."
)


def are_effects(models: pd.Series, families: dict[str, str]) -> bool:
    """Whether a fit of these models has effects of families."""
    return family_index(sorted(models.astype(str).unique()), families) is not None


def families_table(design: TaskDesign, rows: pd.DataFrame, *, mark: str = "") -> Table:
    """Measures averaged over the models of each family."""
    said = rows["reason"].where(rows["reason"] != "", UNEXPLAINED)
    shown = rows.assign(
        heading=[HEADINGS.get(name, name.replace("_", " ")) for name in rows["measure"]],
        reason=said.where(rows["estimate"].isna(), ""),
    )
    spec = TableSpec(
        table_name("model_families", design),
        title="Posterior of the mean over the models of a family" + (f": {design.task}" if design.task else "") + mark,
        columns=(
            Text("family", "Family"),
            Count("n_models", "Models"),
            Estimate("estimate", "Median", signed=True, digits=3),
        ),
        groups=("heading",),
        order=(OrderBy("measure", levels=AVERAGED), "-estimate", "family"),
        note=(
            "Mean over these models of the measure of each, hence of their floors, not the floor of a mean. The "
            "intervals speak of these models, not of others that a family may get; how far families differ as such is "
            "their standard deviation, in the table of standard deviations."
        ),
    )
    return Table(spec, shown, simulated=design.simulated)
