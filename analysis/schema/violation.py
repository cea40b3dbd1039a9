"""One way in which rows break the standard schema, and the query that finds such rows."""

from dataclasses import dataclass
from typing import Final

import duckdb

EXAMPLES: Final = 5
ERROR: Final = "error"
WARNING: Final = "warning"
#: Rules in the order in which they are reported, within errors and within warnings.
RULES: Final = (
    "missing column",
    "missing value",
    "unknown level",
    "answer outside the vocabulary",
    "duplicate response",
    "gold against validity and polarity",
    "probability out of range",
    "truth out of range",
    "mixed scales",
    "item differs",
    "mixed kinds",
    "labels never meet",
    "prompt differs",
    "one prompt, several items",
    "model names",
    "simulated and real",
    "invalid score",
    "score is no number",
    "score scale",
    "yes and no in other words",
)
#: SQL for where a row comes from; its model and item where the log is not named.
SOURCE: Final = "coalesce(source, 'model ' || coalesce(model, '?') || ', item ' || coalesce(item, '?'))"
#: SQL aggregate: up to five sources, shortest first, so that line 2 comes before line 10.
SOURCES: Final = f"arg_min({SOURCE}, (length({SOURCE}), {SOURCE}), {EXAMPLES})"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that rows break.

    Attributes
    ----------
    severity : str
        ``error`` (no analysis before it is mended) or ``warning``.
    rule : str
        One of ``RULES``.
    message : str
        What was found.
    count : int
        Rows that break the rule; items or models where the message says so.
    examples : tuple of str
        At most five sources (file and line), sorted.
    fix : str
        What to do.
    """

    severity: str
    rule: str
    message: str
    count: int
    examples: tuple[str, ...]
    fix: str


def reporting_order(violation: Violation) -> tuple[bool, int, str]:
    """Errors first, then rules in their order, then by message."""
    return violation.severity != ERROR, RULES.index(violation.rule), violation.message


def rows_where(
    con: duckdb.DuckDBPyConnection, condition: str, parameters: tuple[object, ...] = ()
) -> tuple[int, tuple[str, ...]]:
    """Number of rows of ``responses`` that meet a condition, and examples of their sources."""
    query = f"SELECT count(*), {SOURCES} FROM responses WHERE {condition}"
    count, sources = con.execute(query, list(parameters)).fetchall()[0]
    return count, examples(sources)


def examples(sources: list[str] | None) -> tuple[str, ...]:
    """Sources in a fixed order, none twice."""
    return tuple(sorted(dict.fromkeys(sources or ()), key=lambda source: (len(source), source)))


def number(count: int, noun: str) -> str:
    """``1 row`` or ``1,200 rows``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
