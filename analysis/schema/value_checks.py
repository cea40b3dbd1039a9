"""Checks of single values: required columns, levels, answers, probabilities, scores."""

from collections.abc import Sequence
from typing import Final

import duckdb

from analysis.schema.quoting import named, named_task, quote_identifier, quote_texts, shown
from analysis.schema.resolved import folded
from analysis.schema.responses import COLUMNS, Column
from analysis.schema.status import Status
from analysis.schema.store import store_columns
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.schema.violation import ERROR, EXAMPLES, SOURCES, WARNING, Violation, examples, number, rows_where

_ANSWERING: Final = ("answer", "output", "probability", "logged_score")
#: Share of answers in percent that lie between 0 and 1 from which on that is said.
MANY_SMALL: Final = 0.1
MAP_VALUES: Final = "translate it with values = { … } under [map] in study.toml"


def required_columns(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    """Columns and values without which a row is no response."""
    total = con.execute("SELECT count(*) FROM responses").fetchall()[0][0]
    if not total:
        return []
    found = []
    for column in COLUMNS:
        if column.required:
            found += _lacking(con, column.name, total)
    anything = " AND ".join(f"{name} IS NULL" for name in (*_ANSWERING, "score_value"))
    count, sources = rows_where(con, f"{anything} AND coalesce(status, '{Status.ANSWERED}') = '{Status.ANSWERED}'")
    if count == total:
        message = f"no row has one of {', '.join(_ANSWERING)}"
        found.append(
            Violation(ERROR, "missing column", message, count, sources, "name the column under [map] in study.toml")
        )
    elif count:
        message = f"{number(count, 'row')} without any of {', '.join(_ANSWERING)}"
        fix = "give a status: missing (planned, absent) or errored"
        found.append(Violation(ERROR, "missing value", message, count, sources, fix))
    return found


def _lacking(con: duckdb.DuckDBPyConnection, name: str, total: int) -> list[Violation]:
    count, sources = rows_where(con, f"coalesce(trim({quote_identifier(name)}), '') = ''")
    fix = f'add it, or name the column that holds it under [map] in study.toml ({name} = "…")'
    if count == total:
        return [Violation(ERROR, "missing column", f"no row has {name}", count, sources, fix)]
    return (
        [Violation(ERROR, "missing value", f"{number(count, 'row')} without {name}", count, sources, fix)]
        if count
        else []
    )


def unknown_levels(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    """Levels outside the schema, in the columns whose levels it fixes; case and blanks around them do not matter."""
    return [violation for column in COLUMNS if column.values for violation in _levels_outside(con, column)]


def _levels_outside(con: duckdb.DuckDBPyConnection, column: Column) -> list[Violation]:
    name = quote_identifier(column.name)
    level = name if column.name == "status" else folded(name)
    condition = f"{level} NOT IN {quote_texts(column.values)}"
    count, sources = rows_where(con, condition)
    if not count:
        return []
    levels = distinct_levels(con, name, condition)
    message = f"{column.name} of {number(count, 'row')} is {levels}, not {any_of(column.values)}"
    return [Violation(ERROR, "unknown level", message, count, sources, MAP_VALUES)]


def probabilities_out_of_range(con: duckdb.DuckDBPyConnection, section: str) -> list[Violation]:
    """Probabilities outside [0, 1], and tasks in which fractions and percentages are mixed."""
    found = []
    for column in ("probability", "p_yes"):
        query = f"""
            SELECT {section} AS task, count(*) FILTER (NOT {column} BETWEEN 0 AND 1) AS outside_,
                   count(*) FILTER ({column} > 1 AND {column} <= 100) AS percents,
                   count(*) FILTER ({column} > 0 AND {column} < 1) AS fractions,
                   {SOURCES} FILTER (NOT {column} BETWEEN 0 AND 1),
                   {SOURCES} FILTER (NOT {column} BETWEEN 0 AND 100)
            FROM responses WHERE {column} IS NOT NULL GROUP BY ALL HAVING outside_ > 0 ORDER BY ALL
        """
        for task, outside, percents, fractions, sources, beyond in con.execute(query).fetchall():
            where = f"{named_task(task)}: {column}"
            mixed = percents and fractions
            # A percent scale mends no mixture: it is advised only where every value may be one.
            wrong, interval = (outside - percents, "[0, 100]") if mixed else (outside, "[0, 1]")
            if wrong:
                message = f"{where} of {number(wrong, 'row')} lies outside {interval}"
                percent = 'if it holds percent, write probability_scale = "percent" under [study] in study.toml'
                fix = "correct the log" if mixed else f"correct the log; {percent}"
                lines = examples(beyond if mixed else sources)
                found.append(Violation(ERROR, "probability out of range", message, wrong, lines, fix))
            if mixed:
                message = (
                    f"{where} is above 1 in {number(percents, 'row')} and between 0 and 1 in {number(fractions, 'row')}"
                )
                fix = "bring all rows to one scale; which one a row uses is not guessed"
                found.append(Violation(ERROR, "mixed scales", message, percents, examples(sources), fix))
    return found


def fractions_among_percents(con: duckdb.DuckDBPyConnection, study: Study, section: str) -> list[Violation]:
    """Tasks in declared percent many of whose answers lie between 0 and 1, as fractions would."""
    if study.probability_scale != "percent":
        return []
    query = f"""
        SELECT {section} AS task, count(*) FILTER (probability > 0 AND probability < 0.01) AS small_, count(*) AS all_,
               {SOURCES} FILTER (probability > 0 AND probability < 0.01)
        FROM responses WHERE probability IS NOT NULL GROUP BY ALL HAVING small_ >= {MANY_SMALL} * all_ ORDER BY ALL
    """
    fix = "if they are fractions, bring all rows to one scale; as declared, 0.4 is read as 0.4 percent"
    return [
        Violation(
            WARNING,
            "mixed scales",
            f"{named_task(task)}: {small:,} of {rows:,} probabilities lie between 0 and 1 "
            "although the declared scale is percent",
            small,
            examples(sources),
            fix,
        )
        for task, small, rows, sources in con.execute(query).fetchall()
    ]


def truths_out_of_range(con: duckdb.DuckDBPyConnection, section: str) -> list[Violation]:
    """Truths of stated probabilities outside [0, 1]: neither a probability nor an outcome."""
    query = f"""
        SELECT {section} AS task, count(*), {SOURCES} FROM responses
        WHERE probability IS NOT NULL AND NOT truth BETWEEN 0 AND 1 GROUP BY ALL HAVING count(*) > 0 ORDER BY ALL
    """
    fix = "give truths as probabilities, or outcomes 0 and 1; probability_scale is that of the answers alone"
    return [
        Violation(
            ERROR,
            "truth out of range",
            f"{named_task(task)}: truth of {number(rows, 'row')} lies outside [0, 1]",
            rows,
            examples(sources),
            fix,
        )
        for task, rows, sources in con.execute(query).fetchall()
    ]


def invalid_scores(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    """Scores that are NaN or infinite, which readers of JSON let through as numbers."""
    columns = ["logged_score", *(name for name in store_columns(con) if name.startswith("score."))]
    found = []
    for name in columns:
        column = quote_identifier(name)
        value = f"TRY_CAST({column} AS DOUBLE)"
        bad = f"(isnan({value}) OR isinf({value}))"
        if name == "logged_score":
            bad = f"({bad} OR isnan(score_value) OR isinf(score_value))"
        count, sources = rows_where(con, f"coalesce({bad}, false)")
        if count:
            message = f"{named(name)} of {number(count, 'row')} is not a finite number"
            fix = "nothing needs doing: it counts as a missing score, not as 0"
            found.append(Violation(WARNING, "invalid score", message, count, sources, fix))
    return found


def scores_without_number(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], section: str
) -> list[Violation]:
    """Scores such as ``50%`` or ``good``, in tasks where the score alone says what is right."""
    found = []
    for design in designs:
        condition = f"{section} = ? AND score_value IS NULL AND trim(logged_score) <> ''"
        condition += " AND TRY_CAST(logged_score AS DOUBLE) IS NULL"
        count, sources = rows_where(con, condition, (design.task,)) if design.kind == "score" else (0, ())
        if count:
            levels = distinct_levels(con, "logged_score", condition, (design.task,))
            message = (
                f"{named_task(design.task)}: logged_score of {number(count, 'row')} is {levels}; they are set aside"
            )
            fix = 'translate it: logged_score = { from = "…", values = { … } } under [map] in study.toml'
            if rows_where(
                con, f"{condition} AND regexp_matches(trim(logged_score), '^[0-9]+,[0-9]+$')", (design.task,)
            )[0]:
                fix = f"write decimal points, 0.5 for 0,5: what a comma separates is not guessed; for words, {fix}"
            found.append(Violation(WARNING, "score is no number", message, count, sources, fix))
    return found


def scores_on_another_scale(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], section: str
) -> list[Violation]:
    """Scores beyond [0, 1], of which neither accuracy nor a mean is made, and what else they are mixed with."""
    found = []
    for design in designs:
        outside = f"{section} = ? AND score_value IS NOT NULL AND NOT score_value BETWEEN 0 AND 1"
        count, sources = rows_where(con, outside, (design.task,)) if design.kind == "score" else (0, ())
        if not count:
            continue
        query = f"""
            SELECT min(score_value), max(score_value), count(*) FILTER (score_value > 0 AND score_value <= 1)
            FROM responses WHERE {section} = ?
        """
        least, most, within = con.execute(query, [design.task]).fetchall()[0]
        message = (
            f"{named_task(design.task)}: scores run from {least:g} to {most:g}, {number(count, 'row')} outside [0, 1]"
            + (f" and {number(within, 'row')} above 0 and up to 1" if within else "")
            + ": nothing is estimated of them"
        )
        fix = "divide scores by the top of their scale in the log" + (
            "; if two scales are mixed, bring them to one: which one a row uses is not guessed" if within else ""
        )
        found.append(Violation(WARNING, "score scale", message, count, sources, fix))
    return found


def distinct_levels(
    con: duckdb.DuckDBPyConnection, column: str, condition: str, parameters: tuple[object, ...] = ()
) -> str:
    """The first levels of a column among some rows, for a message."""
    query = f"SELECT DISTINCT {column} AS level_ FROM responses WHERE {condition} ORDER BY level_ LIMIT {EXAMPLES + 1}"
    levels = [shown(row[0], limit=40) for row in con.execute(query, list(parameters)).fetchall()]
    return any_of(levels[:EXAMPLES]) + (", …" if len(levels) > EXAMPLES else "")


def any_of(levels: Sequence[str]) -> str:
    """Levels as alternatives."""
    return levels[0] if len(levels) == 1 else f"{', '.join(levels[:-1])} or {levels[-1]}"
