"""Tables of the cells of a yes/no task: floor and bias, accuracies with intervals, further contrasts."""

from typing import Final

import pandas as pd

from analysis.report.columns import Count, Percent, Proportion, Text
from analysis.report.spec import Spanner, Table, TableSpec, Where
from analysis.schema.task_design import TaskDesign
from analysis.studies.wide_table import CELLS, estimate_column, sizes_of, table_name

CELL_NAMES: Final = ("Valid affirmative", "Valid negated", "Invalid affirmative", "Invalid negated")
#: Treatment of uncertain answers -> what accuracy is over, and what its n counts.
COUNTED: Final = {
    "": ("responses", "scored responses, answered or uncertain"),
    "excluded": ("readable answers", "responses with a readable answer; uncertain ones are left out"),
}


def cells_table(design: TaskDesign, wide: pd.DataFrame) -> Table:
    """Floor, bias and cells, sorted by floor, with a rule where it crosses .5.

    ``wide`` has the column ``decision`` of the tests of the floor.
    """
    four = design.cells == "validity_polarity"
    cells = (
        tuple(
            Proportion(name, head, reason=f"{name}_missing")
            for name, head in zip(CELLS, ("Aff.", "Neg.", "Aff.", "Neg."), strict=True)
        )
        if four
        else (
            Proportion("acc_yes", "Acc(Yes)", reason="acc_yes_missing"),
            Proportion("acc_no", "Acc(No)", reason="acc_no_missing"),
        )
    )
    spanners = (Spanner("Valid", CELLS[:2]), Spanner("Invalid", CELLS[2:])) if four else ()
    polarity = (estimate_column("polarity_sensitivity", "PS", signed=True, digits=2),) if four else ()
    shown = CELLS if four else ("acc_yes", "acc_no")
    over, counted_as = COUNTED["excluded" if (wide["uncertain"] == "excluded").all() else ""]
    spec = TableSpec(
        table_name("cells", design),
        title="Accuracy by cell, answer bias and competence floor" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("competence_floor", "Floor"),
            Count("n", "n", help=counted_as),
            Proportion("accuracy", "Acc.", reason="accuracy_missing", help=f"accuracy over all {over}"),
            estimate_column("answer_bias", "Bias", signed=True, digits=2),
            *cells,
            *polarity,
            Percent(
                "uncertain_rate",
                "Unc.",
                reason="uncertain_rate_missing",
                help="share of scored responses that give no readable answer (unparsed, refused, truncated)",
            ),
        ),
        order=("-competence_floor", "label"),
        spanners=spanners,
        note=(
            "Bias: accuracy where Yes is right minus accuracy where No is right, above 0 leans to Yes. "
            + ("PS: affirmative minus negated accuracy. " if four else "")
            + "Floor: the worse of the two accuracies; bold only where the test, adjusted over models, shows it above "
            ".5, not wherever the estimate exceeds it."
        ),
        rule_where=Where("competence_floor", ">", 0.5),
        bold_where=(Where("decision", "==", "above", cells=("competence_floor",), meaning="shown above .5"),),
        underline_where=tuple(Where(name, "<", 0.5) for name in shown),
    )
    return Table(spec, wide, simulated=design.simulated)


def classes_table(design: TaskDesign, wide: pd.DataFrame) -> Table:
    """Accuracies of the two classes, and of the four cells where there are any, with intervals."""
    four = design.cells == "validity_polarity"
    heads = zip(CELLS, ("Aff.", "Neg.", "Aff.", "Neg."), strict=True)
    cells = tuple(estimate_column(name, head, digits=2) for name, head in heads) if four else ()
    spec = TableSpec(
        table_name("classes", design),
        title="Accuracy where Yes and where No is right" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("acc_yes", "Acc(Yes)", digits=2),
            estimate_column("acc_no", "Acc(No)", digits=2),
            *cells,
        ),
        order=("-competence_floor", "label"),
        spanners=(Spanner("Valid", CELLS[:2]), Spanner("Invalid", CELLS[2:])) if four else (),
        note=(
            "Acc(Yes), Acc(No): accuracy where Yes, where No is the right answer."
            + (
                " Yes is right for valid affirmative and invalid negated items, each half of Acc(Yes); No for the "
                "others, each half of Acc(No)."
                if four
                else ""
            )
        ),
    )
    shown = (("acc_yes", "Acc(Yes)"), ("acc_no", "Acc(No)"), *(zip(CELLS, CELL_NAMES, strict=True) if four else ()))
    own = tuple(f"{head} rests, per row, on {sizes_of(wide, name)}." for name, head in shown)
    rows = wide.drop(columns=["n", "n_clusters"])
    return Table(spec, rows, notes=own, simulated=design.simulated)


def contrasts_table(design: TaskDesign, wide: pd.DataFrame) -> Table:
    """The remaining contrasts of the cells, and the signal-detection reading."""
    four = design.cells == "validity_polarity"
    more = (
        (
            estimate_column("validity_contrast", "VAL", signed=True, digits=2),
            estimate_column("affirmative_floor", "Aff. floor", digits=2),
            estimate_column("cell_floor", "Cell floor", digits=2),
        )
        if four
        else ()
    )
    spec = TableSpec(
        table_name("contrasts", design),
        title="Balanced accuracy, further contrasts and signal detection" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("balanced_accuracy", "BA", digits=2),
            *more,
            estimate_column("d_prime", "d′", signed=True, digits=2),
            estimate_column("criterion_c", "c", signed=True, digits=2),
        ),
        order=("-competence_floor", "label"),
        note=(
            "Floor = BA − |Bias|/2. d′: sensitivity; c: criterion, below 0 leans to Yes; both with 0.5 added to the "
            "counts of each class so that a rate of 0 or 1 stays finite; where all answers of a class are right, or "
            "all wrong, the interval has no end on that side."
            + (" A cell floor above .5 rules out a responder that ignores the negation." if four else "")
        ),
    )
    return Table(spec, wide, simulated=design.simulated)
