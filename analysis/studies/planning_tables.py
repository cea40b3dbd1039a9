"""Tables and figures of what a design can show, for the command and for the report."""

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis.planning.answers import by_units, curves
from analysis.planning.question import Question
from analysis.report.columns import Count, Flag, Number, Proportion, Text
from analysis.report.content import Figure, file_stem
from analysis.report.figures.power_curve import power_curve_figure
from analysis.report.numbers import fixed, percent
from analysis.report.spec import Spanner, Table, TableSpec

#: Estimand -> its name in a table.
NAMES = {
    "competence_floor": "Competence floor",
    "balanced_accuracy": "Balanced accuracy",
    "answer_bias": "Answer bias",
    "polarity_sensitivity": "Polarity sensitivity",
    "accuracy": "Accuracy",
    "mean_score": "Mean score",
    "belief_bias": "Belief bias",
    "discrimination_difference": "Discrimination by belief",
    "persistent": "Persistent incoherence",
    "change": "Paired change",
    "range": "Range over levels",
    "class_accuracy": "Class accuracy, new templates",
}
REFERENCES = {"competence_floor": " above .5", "balanced_accuracy": " beyond .5", "accuracy": " beyond a value",
              "mean_score": " beyond a value"}  # fmt: skip


def question_name(row: Mapping[str, object] | pd.Series) -> str:
    """An estimand with what it is compared with, from a row of ``planning.observed``."""
    measure, contrast, kind = str(row["measure"]), str(row["contrast"]), str(row["asked"]).split(":")[0]
    name = NAMES.get(measure, measure)
    if kind == "range":
        return f"{name}: range over {contrast.removeprefix('factor.').replace('_', ' ')}"
    if contrast:
        return f"{name}: {contrast}"
    return name + REFERENCES.get(measure, "")


def answers_table(rows: pd.DataFrame, *, name: str, title: str, notes: Sequence[str], simulated: bool = False) -> Table:
    """What each question can show; ``rows`` have ``label`` and the columns of ``planning.answers.answer``."""
    power = percent(float(rows["target_power"].iloc[0]), 0) if len(rows) else "80"
    columns = [
        Text("label", "Question"),
        Count("n_clusters", "Units"),
        Number("detectable_effect", "Detectable", digits=3, help=f"smallest effect shown in {power}% of such studies"),
        Number("asked_effect", "Effect", digits=3),
        Proportion("power_at_effect", "Power", digits=2),
        Count("units_needed", "Units needed", help=f"fewest units with which the effect is shown in {power}%"),
        Text("test", "Test"),
    ]
    spec = TableSpec(
        name,
        title=title,
        columns=tuple(columns),
        spanners=(Spanner("For this effect", ("asked_effect", "power_at_effect", "units_needed")),),
        note=" ".join(notes),
    )
    return Table(spec, rows.drop(columns=["unit", "scale"]), simulated=simulated)


def sizes_table(sizes: pd.DataFrame, *, name: str, effect: float, power: float, simulated: bool = False) -> Table:
    """What fewer and more units would show; ``sizes`` are those of ``sizes_rows``."""
    spec = TableSpec(
        name,
        title="Fewer and more units",
        columns=(
            Count("n_clusters", "Units"),
            Number("detectable_effect", "Detectable", digits=3),
            Proportion("power_at_effect", f"Power at {fixed(effect, 3)}", digits=2),
            Flag("this_design", "Which", yes="this design", no=""),
        ),
        groups=("label",),
        note=f"Detectable: smallest effect shown with a probability of {fixed(power, 2)}; all else as it is.",
    )
    return Table(spec, sizes, simulated=simulated)


def sizes_rows(questions: Mapping[str, Question], effects: Mapping[str, float], power: float) -> pd.DataFrame:
    """Rows of ``sizes_table`` for several questions by name."""
    parts = [by_units(one, effect=effects[name], power=power).assign(label=name) for name, one in questions.items()]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def power_figure(name: str, question: Question, *, effect: float, power: float) -> Figure:
    """The power curve of one question."""
    return power_curve_figure(
        curves(question, effect=effect, power=power),
        by_units(question, effect=effect, power=power),
        name=file_stem("power", name),
        subject=name,
        effect=effect,
        power=power,
        unit=question.unit,
        scale=question.scale,
    )
