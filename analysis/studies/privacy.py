"""What a report keeps to itself: users' directories and hosts always, raw texts where that is asked for."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import duckdb
import pandas as pd

from analysis.reduction.intake import Intake
from analysis.reduction.selection import Condition, Selection
from analysis.schema.private_values import hide_places, withhold_texts, without_places, without_quotes
from analysis.schema.study import Study
from analysis.schema.violation import Violation


def private_names(
    con: duckdb.DuckDBPyConnection, study: Study, selection: Selection, *, no_text: bool
) -> tuple[Study, Selection]:
    """Hide what is private in the rows to be estimated from, and name models in the settings as the rows do then.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        As ``open_store`` returns, with the answers of a person applied.
    study : Study
    selection : Selection
    no_text : bool
        Whether raw texts are left out too.
    """
    shown = hide_places(con)
    if no_text:
        withhold_texts(con, kept=_named_levels(study, selection))
    if not shown:
        return study, selection
    models = {shown.get(name, name): entry for name, entry in study.models.items()}
    conditions = tuple(_renamed(condition, shown) for condition in selection.conditions)
    return replace(study, models=models), Selection(conditions)


def private_intake(intake: Intake, *, no_text: bool) -> Intake:
    """What was read, with nothing private in the reasons and remarks."""
    return replace(
        intake,
        files=_private_column(intake.files, "reason", no_text=no_text),
        set_aside=_private_column(intake.set_aside, "reason", no_text=no_text),
        notes=_private_column(intake.notes, "note", no_text=no_text),
    )


def private_sentence(text: str, *, no_text: bool, known: Collection[str] = ()) -> str:
    """A sentence that may quote the logs, with nothing private in it; ``known`` names may be quoted."""
    hidden = without_places(text)
    return without_quotes(hidden, known=known) if no_text else hidden


def private_violation(violation: Violation, *, known: Collection[str] = ()) -> Violation:
    """What breaks a rule, without what it quotes from the logs but for ``known`` names, and without places."""
    return replace(
        violation,
        message=private_sentence(violation.message, no_text=True, known=known),
        examples=tuple(without_places(source) for source in violation.examples),
        fix=private_sentence(violation.fix, no_text=True, known=known),
    )


def names_in(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Models and tasks of the rows."""
    rows = con.execute("SELECT DISTINCT model FROM responses UNION SELECT DISTINCT task FROM responses").fetchall()
    return {name for (name,) in rows if name}


def _private_column(table: pd.DataFrame, name: str, *, no_text: bool) -> pd.DataFrame:
    texts = [private_sentence(v, no_text=no_text) if isinstance(v, str) else v for v in table[name]]
    return table.assign(**{name: pd.Series(texts, index=table.index, dtype=table[name].dtype)})


def _renamed(condition: Condition, shown: Mapping[str, str]) -> Condition:
    if condition.column != "model":
        return condition
    values = tuple(shown.get(value, value) for value in condition.values)
    return replace(condition, values=values, text=without_places(condition.text))


def _named_levels(study: Study, selection: Selection) -> set[str]:
    """Levels that the user's own settings name: they are no texts of the logs alone."""
    listed = [
        *study.exclude.values(),
        *(contrast.levels for contrast in study.contrasts),
        *(levels for contrast in study.contrasts for levels in contrast.where.values()),
        *(levels for part in study.restrictions for levels in (*part.keep.values(), *part.drop.values())),
        tuple(study.baselines.values()),
        *(condition.values for condition in selection.conditions),
    ]
    return {level for levels in listed for level in levels}
