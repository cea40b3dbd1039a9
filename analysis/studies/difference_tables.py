"""Tables of a difference between two sets of logs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pandas as pd

from analysis.frequentist.before_after import BETTER
from analysis.report import numbers
from analysis.report.columns import Column, Count, Decision, Estimate, Number, Proportion, PValue, Row, Signed, Text
from analysis.report.spec import Spanner, Table, TableSpec, Where
from analysis.studies.difference import LogsDifference

#: Units printed for every pair of models.
MOST_UNITS: Final = 5
HEADS: Final = {
    "competence_floor": "Competence floor",
    "balanced_accuracy": "Balanced accuracy",
    "answer_bias": "Answer bias",
    "polarity_sensitivity": "Polarity sensitivity",
    "accuracy": "Accuracy",
    "uncertain_rate": "Uncertain answers",
}
VERDICTS: Final = {
    "better": "better",
    "worse": "worse",
    "changed": "changed",
    "equivalent": "equivalent",
    "unchanged": "unchanged",
    "undecided": "undecided",
    "not tested": "not tested",
}
OUTCOMES: Final = {"passed": "passed", "failed": "FAILED", "not judged": "not judged"}
UNTESTED: Final = "not tested"


@dataclass(frozen=True, slots=True)
class Level(Number):
    """A measure on one side: with its sign where that says which way, as of a bias."""

    def text(self, value: float, row: Row) -> str:
        """One value as printed."""
        signed = BETTER.get(str(row["measure"])) == 0
        return numbers.signed(value, self.digits) if signed else numbers.fixed(value, self.digits)

    def needs(self) -> tuple[str, ...]:
        """Its own column, and which measure a row holds."""
        return (*Number.needs(self), "measure")


def difference_tables(found: LogsDifference, name: Callable[[str], str]) -> tuple[Table, ...]:
    """Differences, changes of questions, and the units that changed most.

    Parameters
    ----------
    found : LogsDifference
    name : callable
        Printed name of a model.
    """
    tables = [comparisons_table(found, name), changes_table(found, name)]
    return (*tables, units_table(found, name)) if len(found.units) else tuple(tables)


def comparisons_table(found: LogsDifference, name: Callable[[str], str]) -> Table:
    """Before, after, difference with interval, tests and verdict by measure."""
    rows = with_pairs(found.comparisons, name).assign(head=[HEADS[m] for m in found.comparisons["measure"]])
    for column in ("p_adjusted", "equivalent_p_adjusted"):
        why = rows["reason"].replace("", UNTESTED)
        rows[f"{column}_reason"] = why.where(rows[column].isna(), "")
    for side in ("before", "after", "estimate"):
        rows[f"{side}_reason"] = rows["reason"].where(
            rows[side].isna() | rows["ci_low"].isna() & (side == "estimate"), ""
        )
    bound = float(rows["rope_high"].iloc[0])
    within = f"within ±{bound:g}"
    spec = TableSpec(
        "before_after",
        title="Before and after, on the questions that both answered",
        columns=(
            Text("head", "Measure"),
            Level("before", "Before", digits=3),
            Level("after", "After", digits=3),
            Estimate("estimate", "Difference", signed=True),
            PValue("p_adjusted", "p", floor="adjusted_bound", reason="p_adjusted_reason"),
            PValue(
                "equivalent_p_adjusted",
                f"p ({within})",
                family="equivalent_family_size",
                reason="equivalent_p_adjusted_reason",
            ),
            Decision("verdict", "Verdict", labels=VERDICTS),
        ),
        groups=("pair",),
        note=_note(set(rows["measure"]), within),
        bold_where=(Where("verdict", "==", "worse", meaning="worse"),) if (rows["verdict"] == "worse").any() else (),
    )
    return Table(spec, rows, simulated=found.simulated)


def _note(measures: set[str], within: str) -> str:
    """How the measures of a table were compared and what the verdicts mean."""
    tests = "they are tested by sign flips of units"
    if "competence_floor" in measures:
        tests = "floors are compared by the delta method at the class where each side is worse, the rest by sign flips"
    said = [f"Differences are after minus before; {tests}.", "Unchanged: no unit differs."]
    said.append(f"Equivalent: the difference is shown to lie {within}. Undecided is not equivalent.")
    if "answer_bias" in measures:
        said.append(
            "Bias and polarity sensitivity are tested twice, for a difference and for which side is larger in size, so "
            "that the family has more tests than the table has p-values. For these two better means smaller in size, "
            "and changed that a difference is shown but not which of the two is larger in size."
        )
    return " ".join([*said, "Responses weigh alike within a class."])


def changes_table(found: LogsDifference, name: Callable[[str], str]) -> Table:
    """Questions by kind of change."""
    spec = TableSpec(
        "changed_questions",
        title="Questions whose outcome changed",
        columns=(
            Text("pair", "Model"),
            Count("questions", "Both"),
            Count("dropped", "Dropped"),
            Count("stayed", "Same"),
            Count("right_wrong", "Right → wrong"),
            Count("wrong_right", "Wrong → right"),
            Count("answered_unreadable", "Answered → unreadable"),
            Count("unreadable_answered", "Unreadable → answered"),
            Count("other", "Other"),
        ),
        note=(
            "A question's outcome is its most frequent one over its responses; other changes begin or end in a tie. "
            "Dropped questions were asked on one side only, have no response on one side, or another gold answer."
        ),
    )
    return Table(spec, with_pairs(found.changes, name), simulated=found.simulated)


def units_table(found: LogsDifference, name: Callable[[str], str]) -> Table:
    """Units whose right answers changed most, a few of every pair."""
    rows = with_pairs(found.units, name).groupby("pair", sort=False).head(MOST_UNITS).reset_index(drop=True)
    columns: tuple[Column, ...] = (
        Text("unit", "Unit"),
        Count("questions", "Questions"),
        Count("changed", "Changed"),
        Proportion("right_before", "before"),
        Proportion("right_after", "after"),
        Signed("change", "Change", digits=3),
    )
    spec = TableSpec(
        "changed_units",
        title="Units that changed most",
        columns=columns,
        groups=("pair",),
        spanners=(Spanner("Share right", ("right_before", "right_after")),),
        note=f"By the number of right answers gained or lost, at most {MOST_UNITS} of each model.",
    )
    return Table(spec, rows, simulated=found.simulated)


def gate_table(outcomes: pd.DataFrame, name: Callable[[str], str], *, simulated: bool) -> Table:
    """Thresholds, and whether the changes pass."""
    rows = with_pairs(outcomes, name).assign(
        head=[HEADS[m] for m in outcomes["measure"]],
        p_reason=outcomes["reason"].where(outcomes["p_adjusted"].isna(), ""),
    )
    shown = outcomes["mode"].iloc[0] == "shown"
    spec = TableSpec(
        "gate",
        title="Gate",
        columns=(
            Text("pair", "Model"),
            Text("head", "Measure"),
            Estimate("estimate", "Difference", signed=True, reason="reason"),
            Signed("change_limit", "Threshold", digits=3),
            Text("guards", "Against a"),
            PValue("p_adjusted" if shown else "p_value", "p", reason="p_reason"),
            Decision("outcome", "Outcome", labels=OUTCOMES),
        ),
        note=(
            "Fails where a change beyond the threshold is shown (one-sided t test)."
            if shown
            else "Fails unless a change beyond the threshold is ruled out (one-sided t test; each has to pass, so that "
            "there is nothing to adjust for)."
        ),
    )
    return Table(spec, rows, simulated=simulated)


def with_pairs(rows: pd.DataFrame, name: Callable[[str], str]) -> pd.DataFrame:
    """Rows with the printed name of task and models."""
    tasks = rows["task"].nunique() > 1
    pairs = []
    for task, before, after in rows[["task", "before_model", "after_model"]].itertuples(index=False, name=None):
        models = name(before) if before == after else f"{name(before)} → {name(after)}"
        pairs.append(f"{task or 'unnamed task'}: {models}" if tasks else models)
    return rows.assign(pair=pairs)
