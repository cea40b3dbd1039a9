"""Section of a task without yes/no gold answers: what can be said, and why bias and floor cannot."""

from collections.abc import Mapping

import pandas as pd

from analysis.report.columns import Count, Text
from analysis.report.content import Section
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.wide_table import estimate_column, read_and_used, table_name, wide_estimates


def accuracy_section(
    design: TaskDesign, estimates: pd.DataFrame | None, reason: str, labels: Mapping[str, str]
) -> Section:
    """Accuracy with clustered intervals where scores say right or wrong, else the reason why there is none.

    ``estimates`` is None where the task has no right-or-wrong scores; ``reason`` then says so.
    """
    lead = [
        f"{read_and_used(design, estimates)}; answers of kind “{design.kind}” ({design.kind_reason}).",
        f"Answer bias and competence floor are not estimated: {design.cells_reason}.",
    ]
    if estimates is None:
        lead.append(f"Accuracy is not estimated: {reason}.")
        tables: tuple[Table, ...] = ()
    else:
        wide = wide_estimates(estimates, labels)
        # A harness that scores every response leaves none unread: a column of zeros would say nothing.
        unread = design.kind != "score" or bool((wide["uncertain_rate"] > 0).any())
        spec = TableSpec(
            table_name("accuracy", design),
            title="Accuracy" + (f": {design.task}" if design.task else ""),
            columns=(
                Text("label", "Model"),
                estimate_column("accuracy", "Accuracy"),
                *((estimate_column("uncertain_rate", "Uncertain"),) if unread else ()),
                Count("n", "n", help="scored responses, answered or uncertain"),
                Count("n_clusters", "Units", help="independent units"),
            ),
            order=("-accuracy", "label"),
        )
        tables = (Table(spec, wide, simulated=design.simulated),)
    title = f"Task {design.task}" if design.task else "All items"
    return Section(title, lead=tuple(lead), tables=tables, notes=design.assumptions)
