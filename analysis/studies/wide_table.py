"""One row per model with all measures side by side: what the tables of a task print."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.report.columns import Estimate
from analysis.report.content import file_stem
from analysis.report.numbers import counted
from analysis.schema.task_design import TaskDesign

#: Why a value is missing where the estimate itself does not say.
UNEXPLAINED = "not defined for these responses"
#: Accuracies of the cells validity × polarity.
CELLS = ("acc_va", "acc_vn", "acc_ia", "acc_in")
#: Measures that the tables of a task print, each as estimate with interval.
PRINTED = (
    "accuracy", "uncertain_rate", "acc_yes", "acc_no", *CELLS, "balanced_accuracy", "answer_bias",
    "polarity_sensitivity", "validity_contrast", "competence_floor", "affirmative_floor", "cell_floor", "d_prime",
    "criterion_c", "yes_rate",
)  # fmt: skip


def table_name(kind: str, design: TaskDesign) -> str:
    """Stem of a table or figure, with the task's name where it has one."""
    return file_stem(kind, design.task)


def titled(title: str, design: TaskDesign, mark: str = "") -> str:
    """A title with the task's name where it has one, and the mark of a quick look."""
    return title + (f": {design.task}" if design.task else "") + mark


def wide_estimates(
    estimates: pd.DataFrame, labels: Mapping[str, str], measures: Sequence[str] = PRINTED
) -> pd.DataFrame:
    """One row per model: each measure with its ends and reason (``<measure>_low``, ...), and shared columns."""
    rows = []
    for model, group in estimates.groupby("model", sort=False, observed=True):
        by_measure = {row["measure"]: row for row in group.to_dict("records")}
        row: dict[str, Any] = {"model": model, "label": labels.get(str(model), str(model))}
        row |= {name: group[name].iloc[0] for name in ("ci_level", "unit", "uncertain", "weights", "target")}
        # The share of uncertain answers is over them too, also where everything else leaves them out.
        counted_rows = group[group["measure"] != "uncertain_rate"]
        row |= {name: counted_rows[name].max() for name in ("n", "n_clusters")}
        for measure in measures:
            row |= _named(measure, by_measure.get(measure))
        rows.append(row)
    return pd.DataFrame(rows)


def _named(measure: str, found: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Columns of one measure of a wide table."""
    if found is None:
        found = {"reason": "not identified by this design"}
    ends = {f"{measure}_low": "ci_low", f"{measure}_high": "ci_high", f"{measure}_method": "ci_method"}
    values = {measure: found.get("estimate")} | {name: found.get(column) for name, column in ends.items()}
    values |= {f"{measure}_n": found.get("n", 0), f"{measure}_n_clusters": found.get("n_clusters", 0)}
    missing = pd.isna(found.get("estimate"))
    reason = found["reason"] or (UNEXPLAINED if missing else "")
    return values | {f"{measure}_reason": reason, f"{measure}_missing": reason if missing else ""}


def sizes_of(wide: pd.DataFrame, measure: str) -> str:
    """Responses and independent units of one measure over the rows of a wide table, in words."""
    said = []
    for name, noun in ((f"{measure}_n", "response"), (f"{measure}_n_clusters", "independent unit")):
        least, most = int(wide[name].min()), int(wide[name].max())
        said.append((f"{least:,} to " if least != most else "") + counted(most, noun))
    return " of ".join(said)


def estimate_column(measure: str, header: str, *, signed: bool = False, digits: int = 3, help: str = "") -> Estimate:
    """Estimate with interval of one measure of a wide table."""
    return Estimate(
        measure, header, low=f"{measure}_low", high=f"{measure}_high", method=f"{measure}_method", digits=digits,
        signed=signed, reason=f"{measure}_reason", help=help,
    )  # fmt: skip


def read_and_used(design: TaskDesign, estimates: pd.DataFrame | None) -> str:
    """Models, items and responses of a task that were read, and how many responses its estimates use."""
    asked = [counted(design.n_models, "model"), counted(design.n_items, "item"), counted(design.n_rows, "response")]
    read = f"{', '.join(asked[:2])} and {asked[2]} read"
    if estimates is None:
        return read
    used = int(estimates.loc[estimates["measure"] == "uncertain_rate", "n"].sum())
    return f"{read}, {counted(used, 'response')} used"
