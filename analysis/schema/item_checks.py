"""Checks across the rows of an item and across items: contradictions, prompts, kinds, names of models."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import duckdb

from analysis.schema.items import ItemFacts, high, low
from analysis.schema.kinds import Signals, task_signals
from analysis.schema.quoting import named, named_task, quote_identifier, shown
from analysis.schema.resolved import folded
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.schema.violation import ERROR, EXAMPLES, SOURCES, WARNING, Violation, examples, number, rows_where

_TEXT: Final = "CASE WHEN prompt IS NOT NULL THEN CAST(hash(prompt) AS VARCHAR) END"
#: What a question is: the logged hash of its content; and what a model was sent: the text, which may lack a part.
_QUESTION: Final = f"coalesce(prompt_hash, {_TEXT})"
_SENT: Final = f"coalesce({_TEXT}, prompt_hash)"


def contradicted_gold(con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], section: str) -> list[Violation]:
    """Rows whose gold answer is not what validity and polarity give."""
    yes = f"if(({folded('validity')} = 'valid') = ({folded('polarity')} = 'affirmative'), 'yes', 'no')"
    known = f"{folded('validity')} IN ('valid', 'invalid') AND {folded('polarity')} IN ('affirmative', 'negated')"
    found = []
    for design in designs:
        condition = f"{section} = ? AND {known} AND {folded('gold')} IN ('yes', 'no') AND {folded('gold')} <> {yes}"
        count, sources = rows_where(con, condition, (design.task,)) if design.kind == "judgement" else (0, ())
        if count:
            message = f"{named_task(design.task)}: gold of {number(count, 'row')} contradicts validity and polarity"
            fix = "gold is yes for valid-affirmative and invalid-negated, else no: correct one of the three columns"
            found.append(Violation(ERROR, "gold against validity and polarity", message, count, sources, fix))
    return found


def differing_items(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> list[Violation]:
    """Items whose gold answer, unit or factors differ between rows."""
    columns = dict.fromkeys([c for c in ("gold", "validity", "polarity", facts.meaning.unit) if c in facts.columns])
    found = (_differing(con, name) for name in dict.fromkeys((*columns, *facts.factors)))
    return [violation for violation in found if violation is not None]


def _differing(con: duckdb.DuckDBPyConnection, name: str) -> Violation | None:
    column = f"CAST({quote_identifier(name)} AS VARCHAR)"
    query = f"SELECT task, item, {low(name)}, {high(name)} FROM item_facts WHERE {low(name)} <> {high(name)}"
    count = con.execute(f"SELECT count(*) FROM ({query})").fetchall()[0][0]
    if not count:
        return None
    _, item, first, last = con.execute(f"{query} ORDER BY ALL LIMIT 1").fetchall()[0]
    sources = con.execute(
        f"SELECT {SOURCES} FROM responses SEMI JOIN ({query}) d USING (task, item) WHERE {column} IS NOT NULL"
    ).fetchall()[0][0]
    levels = f"{shown(first)}, {shown(last)}"
    message = f"{named(name)} of {number(count, 'item')} differs between rows, as in item {shown(item)}: {levels}"
    fix = "an item is one question exactly as asked: give these rows items of their own, or correct them"
    if name not in ("gold", "validity", "polarity", "unit"):
        fix += f"; if {named(name)} is meant to vary within items, name it under conditions in study.toml"
    return Violation(ERROR, "item differs", message, count, examples(sources), fix)


def differing_prompts(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> list[Violation]:
    """Items asked in different words under the same conditions."""
    keys = ", ".join(["task", "item", *(quote_identifier(name) for name in facts.conditions)])
    groups = (
        f"SELECT {keys} FROM responses WHERE item IS NOT NULL GROUP BY ALL HAVING min({_QUESTION}) <> max({_QUESTION})"
    )
    count, item = con.execute(f"SELECT count(DISTINCT (task, item)), min(item) FROM ({groups})").fetchall()[0]
    if not count:
        return []
    sources = con.execute(
        f"SELECT {SOURCES} FROM responses SEMI JOIN (SELECT DISTINCT task, item FROM ({groups})) d USING (task, item)"
    ).fetchall()[0][0]
    message = f"{number(count, 'item')} with different prompts in different rows, as item {shown(item)}"
    fix = "models are compared on the item; if the prompts are different questions, give them items of their own"
    return [Violation(WARNING, "prompt differs", message, count, examples(sources), fix)]


def shared_prompts(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    """Prompts that stand under several items with different gold answers."""
    prompts = f"""
        SELECT task, {_SENT} AS shared_ FROM responses WHERE item IS NOT NULL AND gold IS NOT NULL
        GROUP BY ALL HAVING shared_ IS NOT NULL AND min(item) <> max(item) AND min(gold) <> max(gold)
    """
    found = []
    for task, count in con.execute(f"SELECT task, count(*) FROM ({prompts}) GROUP BY task ORDER BY task").fetchall():
        sources = con.execute(
            f"""SELECT {SOURCES} FROM responses r SEMI JOIN ({prompts}) p ON r.task = p.task AND {_SENT} = p.shared_
            WHERE r.task = ?""",
            [task],
        ).fetchall()[0][0]
        message = f"{named_task(task)}: {number(count, 'prompt')} asked as several items with different gold answers"
        fix = "check that the logged prompt is the whole question, and that the gold answers are right"
        found.append(Violation(WARNING, "one prompt, several items", message, count, examples(sources), fix))
    return found


def mixed_kinds(con: duckdb.DuckDBPyConnection, facts: ItemFacts, study: Study) -> list[Violation]:
    """Tasks whose items are of several kinds: yes/no beside options, judgements beside probabilities."""
    found = []
    section = "?" if facts.pooled else "task"
    for task, signals in task_signals(con, facts).items():
        if study.kind_of(task) is not None:
            continue
        seen = _kinds_seen(signals)
        if len(seen) > 1:
            parameters = (facts.pooled, task) if facts.pooled else (task,)
            count, sources = rows_where(
                con, f"{section} = ? AND ({_minor(seen, 'gold' if signals.golds else 'answer')})", parameters
            )
            message = f"{named_task(task)} mixes kinds of answers: {', '.join(seen)}"
            fix = "split it into tasks, or declare kind for it under [study] in study.toml"
            found.append(Violation(ERROR, "mixed kinds", message, count, sources, fix))
    return found


def _kinds_seen(signals: Signals) -> dict[str, int]:
    """Kind -> items or rows that are of it, by the gold answers where there are any."""
    judged = signals.yes_no_golds if signals.golds else signals.yes_no_answers
    outcomes = signals.golds and signals.bare_probabilities and not signals.yes_no_answers
    kinds = {
        "judgement": 0 if outcomes else judged,
        "choice": signals.letter_golds if signals.golds else signals.letter_answers,
        "probability": signals.bare_probabilities,
    }
    return {kind: n for kind, n in kinds.items() if n}


def _minor(seen: dict[str, int], column: str) -> str:
    """SQL for rows of all kinds but the most frequent."""
    tests = {
        "judgement": f"{folded(column)} IN ('yes', 'no')",
        "choice": f"regexp_full_match(trim({column}), '[A-Za-z]')",
        "probability": "probability IS NOT NULL AND answer IS NULL",
    }
    main = max(seen, key=lambda kind: seen[kind])
    return " OR ".join(tests[kind] for kind in seen if kind != main)


def _difference(names: list[str]) -> str:
    """How models of one name, case and provider apart, differ."""
    if len({name.casefold() for name in names}) == 1:
        return "by case only"
    same = len({name.rsplit("/", 1)[-1] for name in names}) == 1
    return "only before the last /" if same else "only by case and before the last /"


def similar_models(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    """Models whose names differ by the provider's prefix only."""
    models = [
        row[0]
        for row in con.execute("SELECT DISTINCT model FROM responses WHERE model IS NOT NULL ORDER BY 1").fetchall()
    ]
    by_name: dict[str, list[str]] = defaultdict(list)
    for model in models:
        by_name[model.rsplit("/", 1)[-1].casefold()].append(model)
    found = []
    for names in by_name.values():
        if len(names) > 1:
            listed = ", ".join(shown(name) for name in names[:EXAMPLES]) + (", …" if len(names) > EXAMPLES else "")
            message = f"names differ {_difference(names)}: {listed}; they are kept as {len(names)} models"
            fix = "if they are one model, rename it in the logs, or give both one label in study.toml"
            found.append(Violation(WARNING, "model names", message, len(names), tuple(names[:EXAMPLES]), fix))
    return found


def simulated_and_real(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    """Generated logs among real ones."""
    count, sources = rows_where(con, "simulated")
    total = con.execute("SELECT count(*) FROM responses").fetchall()[0][0]
    if not 0 < count < total:
        return []
    message = f"{number(count, 'row')} of {total:,} come from generated logs, the others do not"
    return [Violation(WARNING, "simulated and real", message, count, sources, "report on them separately")]
