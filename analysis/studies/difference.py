"""Two sets of logs, before and after: every model and task that both have, compared on what both answered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.before_after import before_after, with_verdicts
from analysis.frequentist.factor_levels import treated
from analysis.frequentist.model_comparison import ROPE
from analysis.reduction.levels import level_arrays
from analysis.reduction.matched_sets import MatchedSets, change_counts, matched_sets, unit_changes
from analysis.schema.quoting import named_task, shown
from analysis.studies.context import TaskContext
from analysis.studies.factors import unit_counts
from analysis.studies.prepared import Prepared
from analysis.studies.weights import unit_used

#: Settings that both sides must share, since they say what is counted: attribute of a design -> its name.
_SHARED: Final = {"kind": "kind", "uncertain": "uncertain", "target": "target", "cells": "cells"}
_PAIR: Final = ("task", "before_model", "after_model")
_NO_POSTERIOR: Final = "No posterior contrasts: logs hold no fits; for these, compare two reports that keep theirs."


@dataclass(frozen=True, slots=True)
class LogsDifference:
    """What changed between two sets of logs.

    Attributes
    ----------
    comparisons : DataFrame
        One row per task, pair of models and measure: ``task, before_model, after_model`` and the columns of
        ``frequentist.before_after.with_verdicts``.
    changes : DataFrame
        One row per task and pair: questions compared, dropped, and how many changed in which way.
    questions : DataFrame
        Every question whose outcome changed: ``state_before``, ``state_after``.
    units : DataFrame
        Every unit with a change, the most changed of each pair first.
    dropped : DataFrame
        ``reason, questions`` by task and pair.
    notes : tuple of str
        What was not compared, and what the questions were not matched by.
    simulated : bool
    """

    comparisons: pd.DataFrame
    changes: pd.DataFrame
    questions: pd.DataFrame
    units: pd.DataFrame
    dropped: pd.DataFrame
    notes: tuple[str, ...]
    simulated: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    """One model of one task, before and after."""

    task: str
    before: str
    after: str
    matched: MatchedSets
    rows: pd.DataFrame

    def named(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows with the task and the two models in front."""
        named = rows.copy()
        for at, (name, value) in enumerate(zip(_PAIR, (self.task, self.before, self.after), strict=True)):
            named.insert(at, name, value)
        return named


def logs_difference(
    before: Prepared, after: Prepared, *, models: Sequence[str] = (), rope: float = ROPE
) -> LogsDifference:
    """Compare two sets of logs.

    Parameters
    ----------
    before, after : Prepared
    models : sequence of str
        ``before=after`` pairs of names; without any, models of one name, or the only model of each side.
    rope : float > 0
        Differences within +- ``rope`` count as none.

    Raises
    ------
    AnalysisError
        No task, no model or no question in common, or settings that make the two incomparable.
    """
    if not 0 < rope < 1:
        raise AnalysisError(f"differences that count as none must lie between 0 and 1, not {rope:g}")
    tasks = {context.design.task: context for context in after.contexts}
    shared = [(context, tasks[context.design.task]) for context in before.contexts if context.design.task in tasks]
    if not shared:
        raise AnalysisError(f"no task in common: before {_listed(before)}; after {_listed(after)}")
    _refuse_unscored(shared)
    notes = _one_sided("task", [c.design.task for c in before.contexts], list(tasks))
    chosen = model_pairs(_models(c for c, _ in shared), _models(c for _, c in shared), models)
    if not models:
        paired = {one for one, _ in chosen}, {two for _, two in chosen}
        notes += _left_out(_models(c for c, _ in shared), paired[0], "before")
        notes += _left_out(_models(c for _, c in shared), paired[1], "after")
    found: list[_Pair] = []
    for first, second in shared:
        pairs, said = _task_pairs(first, second, chosen, rope)
        found += pairs
        notes += said
    if not found:
        raise AnalysisError("nothing can be compared: " + "; ".join(note.rstrip(".") for note in notes))
    return _joined(found, [*notes, _NO_POSTERIOR], before.settings.ci_level, before.simulated or after.simulated)


def _refuse_unscored(shared: Sequence[tuple[TaskContext, TaskContext]]) -> None:
    """Refuse logs without a task whose answers are right or wrong on both sides, each with its reason."""
    reasons = []
    for pair in shared:
        why = [context.counts for context in pair if isinstance(context.counts, str)]
        if not why:
            return
        name = named_task(pair[0].design.task)
        reasons.append(why[0] if why[0].startswith(name) else f"{name}: {why[0]}")
    raise AnalysisError(
        "nothing can be compared: diff compares tasks whose answers are right or wrong (judgement and choice), "
        f"not stated probabilities and graded scores; {'; '.join(reasons)}",
        offenders=reasons,
    )


def model_pairs(before: Sequence[str], after: Sequence[str], named: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Models to compare, (before, after).

    Parameters
    ----------
    before, after : sequence of str
        Models of each side.
    named : sequence of str
        ``before=after``; names may hold an equals sign themselves.

    Raises
    ------
    AnalysisError
        A pair names no models of the two sides, or could mean several; or no models match.
    """
    if named:
        return [_named_pair(text, before, after) for text in dict.fromkeys(named)]
    same = [(name, name) for name in before if name in set(after)]
    if same:
        return same
    if len(before) == len(after) == 1:
        return [(before[0], after[0])]
    raise AnalysisError(
        f"no model in common: before {_some(before)}; after {_some(after)}; "
        "say which belong together with --models before=after"
    )


def _named_pair(text: str, before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    cuts = [(text[:at], text[at + 1 :]) for at, character in enumerate(text) if character == "="]
    fitting = [pair for pair in cuts if pair[0] in before and pair[1] in after]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise AnalysisError(f"--models {shown(text)}: could be cut at several equals signs")
    raise AnalysisError(
        f"--models {shown(text)}: write before=after with a model of each side; before there are {_some(before)}; "
        f"after {_some(after)}"
    )


def _task_pairs(
    before: TaskContext, after: TaskContext, chosen: Sequence[tuple[str, str]], rope: float
) -> tuple[list[_Pair], list[str]]:
    """Comparisons of one task, and why some are not made."""
    where = f"task {shown(before.design.task)}: " if before.design.task else ""
    for counts in (before.counts, after.counts):
        if isinstance(counts, str):
            return [], [f"{where}not compared, {counts}."]
    for attribute, name in _SHARED.items():
        first, second = getattr(before.design, attribute), getattr(after.design, attribute)
        if first != second:
            raise AnalysisError(
                f"{where}{name} is {shown(str(first))} before and {shown(str(second))} after; "
                "read both with the same settings (--study, --uncertain)"
            )
    if before.design.target == "census":
        return [], [f"{where}not compared, since target = 'census' makes no claim beyond these items."]
    pairs, notes = [], []
    tables = unit_counts(before), unit_counts(after)
    conditions = tuple(dict.fromkeys((*before.design.conditions, *after.design.conditions)))
    for first, second in chosen:
        earlier, later = tables[0][tables[0]["model"] == first], tables[1][tables[1]["model"] == second]
        if earlier.empty or later.empty:
            notes.append(f"{where}{_arrow(first, second)} not compared, one of them has no response here.")
            continue
        try:
            matched = matched_sets(earlier, later, conditions)
        except AnalysisError as error:
            notes.append(f"{where}{_arrow(first, second)} not compared, {error}.")
            continue
        notes += [
            f"{where}{_arrow(first, second)}: not matched by {name}, {_levels(a)} before and {_levels(b)} after."
            for name, (a, b) in matched.unmatched.items()
        ]
        pairs.append(_compared(before, first, second, matched, rope))
    return pairs, notes


def _compared(context: TaskContext, first: str, second: str, matched: MatchedSets, rope: float) -> _Pair:
    rows = before_after(
        treated(level_arrays(matched.counts, None), uncertain=context.design.uncertain),
        rng=context.resampling.rng(f"before and after: {first}={second}"),
        flips=context.resampling.flips,
        ci_level=context.ci_level,
        rope=rope,
    )
    rows = rows.assign(unit=unit_used(context.design), uncertain=context.design.uncertain)
    return _Pair(context.design.task, first, second, matched, rows)


def _joined(found: Sequence[_Pair], notes: Sequence[str], ci_level: float, simulated: bool) -> LogsDifference:
    changes = []
    questions, units = [], []
    for pair in found:
        asked = pair.matched.questions
        summary = {"questions": len(asked), "dropped": int(pair.matched.dropped["questions"].sum())}
        changes.append(pair.named(pd.DataFrame([summary | change_counts(asked)])))
        questions.append(pair.named(asked[asked["state_before"] != asked["state_after"]]))
        moved = unit_changes(asked)
        units.append(pair.named(moved[(moved["changed"] > 0) | (moved["change"] != 0)]))
    return LogsDifference(
        comparisons=with_verdicts(
            pd.concat([pair.named(pair.rows) for pair in found], ignore_index=True), ci_level=ci_level
        ),
        changes=pd.concat(changes, ignore_index=True),
        questions=pd.concat(questions, ignore_index=True),
        units=pd.concat(units, ignore_index=True),
        dropped=pd.concat([pair.named(pair.matched.dropped) for pair in found], ignore_index=True),
        notes=tuple(notes),
        simulated=simulated,
    )


def _models(contexts: Iterable[TaskContext]) -> list[str]:
    names: set[str] = set()
    for context in contexts:
        if isinstance(context.counts, pd.DataFrame):
            names |= set(context.counts["model"].astype("str"))
    return sorted(names)


def _left_out(names: Sequence[str], used: set[str], side: str) -> list[str]:
    rest = [name for name in names if name not in used]
    return [f"Models found {side} only, and not compared: {_some(rest)}."] if rest else []


def _one_sided(what: str, before: Sequence[str], after: Sequence[str]) -> list[str]:
    lost = [name for name in before if name not in set(after)]
    new = [name for name in after if name not in set(before)]
    said = [f"{what.capitalize()}s found before only, and not compared: {_some(lost)}."] if lost else []
    return said + ([f"{what.capitalize()}s found after only, and not compared: {_some(new)}."] if new else [])


def _listed(logs: Prepared) -> str:
    return _some([context.design.task for context in logs.contexts])


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(shown(name) if name else "(unnamed)" for name in names[:5])
    return (f"{listed} and {len(names) - 5:,} more" if len(names) > 5 else listed) or "none"


def _levels(levels: Sequence[str]) -> str:
    return _some(levels) if levels else "absent"


def _arrow(before: str, after: str) -> str:
    return shown(before) if before == after else f"{shown(before)} → {shown(after)}"
