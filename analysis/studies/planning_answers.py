"""Answers of ``evenhand power``: questions under assumptions, or the estimands of logs and of reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pandas as pd

from analysis.errors import AnalysisError
from analysis.planning.answers import answer
from analysis.planning.assumed import KINDS, assumed_question, wordings_needed
from analysis.planning.assumptions import Assumptions
from analysis.planning.observed import observed_designs, observed_question
from analysis.planning.persistent_power import FEW_INSTANCES
from analysis.planning.question import Question, check_effect
from analysis.report.content import Figure
from analysis.report.escape import escape_terminal
from analysis.report.numbers import counted
from analysis.report.spec import Table
from analysis.schema.planning_settings import PlanningSettings
from analysis.studies.context import Resampling
from analysis.studies.planning_tables import answers_table, power_figure, question_name, sizes_rows, sizes_table

#: Standard errors do not depend on draws: what draws is given as little as it takes.
FEW_DRAWS: Final = Resampling(flips=99, resamples=99)
#: With more questions than this the terminal shows the answers alone; what fewer units show is in the files.
MOST_SIZES: Final = 3
_DESIGN: Final = (
    "At the observed variances, median over models, pairs or contrasts; not the power of these results. Tests are "
    "those of a report before they are adjusted for each other."
)


@dataclass(frozen=True, slots=True)
class Answers:
    """What was asked and found.

    Attributes
    ----------
    questions : mapping of str to Question
        By name, as printed.
    rows : DataFrame
        One row per question.
    sizes : DataFrame
        What fewer and more units would show, by question.
    power : float
    notes : tuple of str
        What the answers rest on.
    simulated : bool
    """

    questions: Mapping[str, Question]
    rows: pd.DataFrame
    sizes: pd.DataFrame
    power: float
    notes: tuple[str, ...]
    simulated: bool = False

    def tables(self) -> tuple[Table, ...]:
        """For the terminal."""
        title = "What this design can show"
        first = answers_table(self.rows, name="power", title=title, notes=self.notes, simulated=self.simulated)
        if len(self.questions) > MOST_SIZES or self.sizes.empty:
            return (first,)
        effect = float(self.rows["asked_effect"].iloc[0])
        return first, sizes_table(
            self.sizes, name="by_units", effect=effect, power=self.power, simulated=self.simulated
        )

    def figures(self) -> tuple[Figure, ...]:
        """One power curve per question, with names of their own."""
        effects = dict(zip(self.rows["label"], self.rows["asked_effect"], strict=True))
        made = [power_figure(n, one, effect=float(effects[n]), power=self.power) for n, one in self.questions.items()]
        names = [figure.name for figure in made]
        return tuple(
            replace(figure, name=f"{figure.name[:70]}_{i + 1}") if names.index(figure.name) != i else figure
            for i, figure in enumerate(made)
        )

    def readme(self, figures: Sequence[Figure]) -> str:
        """What the files hold, with the alternative text of every figure."""
        lines = ["# What this design can show", "", *(f"- {escape_terminal(note)}" for note in self.notes), ""]
        lines += ["`answers`: one row per question; `by_units`: fewer and more units.", ""]
        for figure in figures:
            lines += [
                f"## {escape_terminal(figure.title)}",
                "",
                f"![{escape_terminal(figure.alt)}]({figure.name}.png)",
                "",
            ]
            lines += [escape_terminal(figure.caption), ""]
        return "\n".join(lines)


def assumed_answers(
    asked: str,
    assumptions: Assumptions,
    *,
    effect: float | None = None,
    power: float | None = None,
    level: float | None = None,
) -> Answers:
    """Answers to one question under assumptions; of the floor, ``accuracy`` is the floor to show."""
    target = PlanningSettings().power if power is None else power
    if asked == "floor" and assumptions.accuracy is not None:
        effect, assumptions = _floor_effect(assumptions, effect), replace(assumptions, accuracy=None)
    question = assumed_question(asked, assumptions, level=level)
    kind = KINDS[asked]
    size = check_effect(question, kind.effect if effect is None else effect)
    name = f"{kind.asks[0].upper()}{kind.asks[1:]}"
    rows = pd.DataFrame([{"label": name, "asked": asked} | answer(question, effect=size, power=target)])
    unit = () if question.unit == "unit" else (f"a unit is one {question.unit}",)
    notes = [f"{said[0].upper()}{said[1:]}." for said in (*question.assumed, *unit)]
    if asked == "persistent":
        k = wordings_needed(assumptions, size, power=target, level=kind.level if level is None else level)
        notes.append(
            f"With {counted(question.units, 'instance')} the effect takes {counted(k, 'wording')}."
            if k == k
            else "No number of wordings up to 1,000 shows the effect in so few instances."
        )
        if question.units < FEW_INSTANCES:
            notes.append(f"Fewer than {FEW_INSTANCES} instances: a few may carry the effect; ask more items.")
    questions = {name: question}
    return Answers(questions, rows, sizes_rows(questions, {name: size}, target), target, tuple(notes))


def _floor_effect(assumptions: Assumptions, effect: float | None) -> float:
    if effect is not None:
        raise AnalysisError("floor: --accuracy is the floor to show, as --effect is; give one of them")
    floor = float(assumptions.accuracy or 0)
    if not 0.5 < floor < 1:
        raise AnalysisError(f"floor: --accuracy is the floor to show, above 0.5 and below 1, not {floor:g}")
    return floor - 0.5


def observed_answers(
    data: Mapping[str, pd.DataFrame],
    *,
    simulated: bool,
    tasks: tuple[str, ...] = (),
    effect: float | None = None,
    power: float | None = None,
    level: float | None = None,
    measures: tuple[str, ...] = (),
    planning: PlanningSettings | None = None,
) -> Answers:
    """Answers for every estimand of a report, from its data.

    Parameters
    ----------
    data : mapping of str to DataFrame
        Of a report, by stem.
    simulated : bool
    tasks, measures : tuple of str
        Those that are asked for; all by default.
    effect, level, power : float, optional
    planning : PlanningSettings, optional
        In place of effect and power that are not given; default those of the report's own table.

    Raises
    ------
    AnalysisError
        An effect or level that cannot be, a task or measure that is not there, or no standard error at all.
    """
    check_options(effect=effect, level=level)
    kept = of_tasks(data, tasks)
    of_interest = planning or settings_of(data)
    target = of_interest.power if power is None else power
    rows = observed_designs(
        kept, level=0.05 if level is None else level, power=target, effect=effect, planning=of_interest
    )
    if rows.empty:
        raise AnalysisError("no estimate with a standard error: nothing says how these logs vary")
    unknown = [measure for measure in measures if measure not in set(rows["measure"])]
    if unknown:
        raise AnalysisError(f"no measure {unknown[0]!r}; there are {', '.join(dict.fromkeys(rows['measure']))}")
    rows = rows[rows["measure"].isin(measures)].reset_index(drop=True) if measures else rows
    several = rows["task"].nunique() > 1
    labels = [(f"{row['task']}: " if several else "") + question_name(row) for _, row in rows.iterrows()]
    rows = rows.assign(label=labels)
    questions = {str(row["label"]): observed_question(row) for _, row in rows.iterrows()}
    effects = dict(zip(labels, rows["asked_effect"].astype(float), strict=True))
    return Answers(questions, rows, sizes_rows(questions, effects, target), target, (_DESIGN,), simulated)


def settings_of(data: Mapping[str, pd.DataFrame]) -> PlanningSettings:
    """Smallest effects of interest and power of a report, from its table ``planning``; the defaults without one."""
    rows = data.get("planning")
    if rows is None or rows.empty:
        return PlanningSettings()
    own: dict[str, float] = {"power": float(rows["target_power"].iloc[0])}
    in_log_odds = rows["scale"] == "log-odds"
    for name, part in (("log_odds", rows[in_log_odds]), ("effect", rows[~in_log_odds])):
        if len(part):
            own[name] = float(part["asked_effect"].iloc[0])
    return PlanningSettings(**own)


def of_tasks(data: Mapping[str, pd.DataFrame], tasks: tuple[str, ...]) -> Mapping[str, pd.DataFrame]:
    """Data of some tasks, by name; of all without names."""
    known = {str(task) for table in data.values() if "task" in table for task in table["task"].unique()}
    for task in tasks:
        if task not in known:
            raise AnalysisError(f"no task {task!r}; there are {', '.join(sorted(map(repr, known)))}")
    return {n: t[t["task"].isin(tasks)] if tasks and "task" in t else t for n, t in data.items()}


def check_options(*, effect: float | None, level: float | None) -> None:
    """Refuse an effect or a level that cannot be, before any log is read."""
    if level is not None and not 0 < level < 1:
        raise AnalysisError(f"--level must lie strictly between 0 and 1, not {level:g}; 0.05 stands for 5%")
    if effect is not None and not 0 < effect < float("inf"):
        raise AnalysisError(f"--effect must be a number above 0, not {effect:g}")
