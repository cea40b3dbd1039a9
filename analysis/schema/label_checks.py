"""Checks of answers against gold answers: words that never meet, and yes and no in other words."""

from collections.abc import Collection, Sequence, Set
from typing import Final

import duckdb

from analysis.schema.quoting import named_task
from analysis.schema.resolved import folded
from analysis.schema.status import Status
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.schema.toml_texts import toml_table, toml_texts
from analysis.schema.value_checks import MAP_VALUES, distinct_levels
from analysis.schema.violation import ERROR, EXAMPLES, WARNING, Violation, number, rows_where

#: Words that may stand for yes and for no.
YES_NO_PAIRS: Final = (
    ("yes", "no"),
    *(("true", "false"), ("1", "0"), ("1.0", "0.0"), ("t", "f"), ("y", "n")),
    *(("valid", "invalid"), ("correct", "incorrect"), ("right", "wrong")),
)
_YES_NO: Final = frozenset({"yes", "no"})


def as_yes_no(words: Collection[str]) -> dict[str, str]:
    """Words that are all of one pair -> yes or no; empty where they are not.

    Examples
    --------
    >>> as_yes_no(["True", "False"]), as_yes_no(["True", "maybe"])
    ({'True': 'yes', 'False': 'no'}, {})
    """
    known = {word: word.strip().casefold() for word in words}
    for yes, no in YES_NO_PAIRS:
        if known and set(known.values()) <= {yes, no}:
            return {word: "yes" if plain == yes else "no" for word, plain in known.items()}
    return {}


def answers_outside(con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], section: str) -> list[Violation]:
    """Answers and gold answers other than yes and no in judgement tasks."""
    found = []
    for design in designs:
        for column in ("answer", "gold") if design.kind == "judgement" else ():
            condition = f"{section} = ? AND {folded(column)} NOT IN ('yes', 'no')"
            count, sources = rows_where(con, condition, (design.task,))
            if count:
                levels = distinct_levels(con, column, condition, (design.task,))
                message = f"{named_task(design.task)}: {column} of {number(count, 'row')} is {levels}, not yes or no"
                fix = _synonyms(_labels(con, column, condition, design.task))
                if column == "answer":
                    fix += "; if these are whole replies, map their column to output, so that they are read"
                found.append(Violation(ERROR, "answer outside the vocabulary", message, count, sources, fix))
    return found


def _synonyms(words: Set[str]) -> str:
    """What to write in study.toml for answers in other words, ready to be pasted where they are known ones."""
    found = as_yes_no(words)
    if not found:
        return "give synonyms under [reading] in study.toml, or another kind under [study]"
    listed = {answer: toml_texts(sorted(w for w, a in found.items() if a == answer)) for answer in ("yes", "no")}
    given = ", ".join(f"{answer} = {texts}" for answer, texts in listed.items() if texts != "[]")
    return f"under [reading] in study.toml write synonyms = {{ {given} }}, or declare another kind under [study]"


def labels_apart(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], study: Study, section: str
) -> list[Violation]:
    """Tasks of choices in which no gold answer is ever an answer, so that every response would count as wrong.

    An error where the two are plainly written differently (yes and no against true and false, A against a).
    """
    found = []
    for design in designs:
        condition = f"{section} = ? AND status = '{Status.ANSWERED}' AND answer <> '' AND gold <> ''"
        count, sources = rows_where(con, condition, (design.task,)) if design.kind == "choice" else (0, ())
        if not count:
            continue
        given, right = (_labels(con, name, condition, design.task) for name in ("answer", "gold"))
        if given & right:
            continue
        folded_given, folded_right = ({label.casefold() for label in labels} for labels in (given, right))
        plain = folded_given <= _YES_NO or folded_right <= _YES_NO or bool(folded_given & folded_right)
        named_labels = [distinct_levels(con, name, condition, (design.task,)) for name in ("gold", "answer")]
        message = (
            f"{named_task(design.task)}: gold answers are {named_labels[0]}, answers {named_labels[1]}: none is right"
        )
        severity = ERROR if plain else WARNING
        source = study.map["gold"].source if "gold" in study.map else None
        fix = _gold_in_words(sorted(right), folded_given, source or "gold") if plain else MAP_VALUES
        found.append(Violation(severity, "labels never meet", message, count, sources, fix))
    return found


def _gold_in_words(right: Sequence[str], given: Set[str], source: str) -> str:
    """The line of study.toml that says gold answers in the words of the answers."""
    words = (as_yes_no(right) if given <= _YES_NO else {}) or dict.fromkeys(right[:EXAMPLES], "…")
    line = f"gold = {{ from = {toml_texts([source])[1:-1]}, values = {toml_table(words)} }}"
    more = " and so on" if len(right) > EXAMPLES else ""
    answers = f", with {toml_texts(sorted(given)[:EXAMPLES])[1:-1]} for …" if "…" in words.values() else ""
    return f"under [map] in study.toml write {line}{more}{answers}"


def _labels(con: duckdb.DuckDBPyConnection, column: str, condition: str, task: str) -> set[str]:
    query = f"SELECT DISTINCT trim({column}) FROM responses WHERE {condition}"
    return {row[0] for row in con.execute(query, [task]).fetchall()}


def yes_no_in_other_words(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], section: str
) -> list[Violation]:
    """Tasks whose every gold answer is one of a pair that may stand for yes and no."""
    found = []
    for design in designs:
        if design.kind not in ("choice", "score"):
            continue
        query = f"SELECT list(DISTINCT {folded('gold')}) FROM responses WHERE {section} = ? AND gold IS NOT NULL"
        golds = set(con.execute(query, [design.task]).fetchall()[0][0] or ())
        query = f"SELECT list(DISTINCT {folded('answer')}) FROM responses WHERE {section} = ? AND answer IS NOT NULL"
        answers = set(con.execute(query, [design.task]).fetchall()[0][0] or ())
        for yes, no in YES_NO_PAIRS[1:]:
            if golds == {yes, no} and (not answers or answers & golds):
                count, sources = rows_where(con, f"{section} = ? AND gold IS NOT NULL", (design.task,))
                message = f"{named_task(design.task)}: every gold answer is {yes} or {no}; answer bias is not estimated"
                fix = (
                    f'if they mean yes and no: [reading] synonyms = {{ yes = ["{yes}"], no = ["{no}"] }} in study.toml'
                )
                found.append(Violation(WARNING, "yes and no in other words", message, count, sources, fix))
    return found
