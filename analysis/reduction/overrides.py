"""Answers that a person read: ``overrides.csv`` beside the logs, applied to the store before anything is estimated.

Columns ``source`` (as the audit prints it), ``answer`` and, if wanted, ``note``. An answer is yes or no, an option's
label or a probability, as the response's question asks; ``unparsed`` says that nothing can be read.
"""

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import duckdb
import pandas as pd
import pyarrow as pa

from analysis.errors import AnalysisError
from analysis.parsing.answer_words import answer_words
from analysis.parsing.option_labels import option_labels
from analysis.parsing.policy import ReadingPolicy, kind_and_gold
from analysis.schema.status import SET_ASIDE, Status

FILE_NAME: Final = "overrides.csv"
RULE: Final = "override"
COLUMNS: Final = ("source", "answer", "note")
_QUOTED = 5


@dataclass(frozen=True, slots=True)
class OverrideAccount:
    """What became of a file of overrides.

    ``applied``: line, source, task, model, item, read (the answer before, empty if none), rule (before), answer
    (empty for ``unparsed``), changed, note; one row for every line of the file. ``n_changed`` of them gave another
    answer than the reader had.
    """

    path: Path
    applied: pd.DataFrame
    n_changed: int


@dataclass(slots=True)
class _Line:
    number: int
    source: str
    answer: str
    note: str
    problem: str = ""
    value: str | None = None
    probability: float | None = None
    row: dict[str, object] = field(default_factory=dict)


def find_overrides(paths: Iterable[Path]) -> Path | None:
    """The one ``overrides.csv`` beside the logs: in a directory that was named, or in that of a named file.

    Raises
    ------
    AnalysisError
        There are several.
    """
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in paths)
    found = [folder / FILE_NAME for folder in folders if (folder / FILE_NAME).is_file()]
    if len(found) > 1:
        named = " and ".join(str(path) for path in found)
        raise AnalysisError(f"{named}: two files of overrides; keep one", offenders=[str(path) for path in found])
    return found[0] if found else None


def apply_overrides(con: duckdb.DuckDBPyConnection, path: Path, policy: ReadingPolicy | None = None) -> OverrideAccount:
    """Replace answers in the view ``logged_responses``, and so in ``responses``; their rule becomes ``override``.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        As ``open_store`` returns; call this once, before runs are settled and designs are read.
    path : Path
        The file, as the module says.
    policy : ReadingPolicy, optional
        Words and kinds of the study.

    Raises
    ------
    AnalysisError
        The file cannot be read; or lines whose source no response has, or several have, whose answer the
        question does not allow, or whose response errored or is missing. Each line is named.
    """
    lines = list(_lines(path))
    _find_rows(con, lines)
    _fold_answers(lines, policy or ReadingPolicy())
    _refuse_problems(path, lines)
    _replace_view(con, lines)
    applied = pd.DataFrame([_account(line) for line in lines], columns=list(_account(_Line(0, "", "", ""))))
    return OverrideAccount(path, applied, int(applied["changed"].sum()))


def _lines(path: Path) -> Iterator[_Line]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            _check_columns(path, reader.fieldnames or [])
            for row in reader:
                if any(isinstance(value, list) for value in row.values()):
                    raise AnalysisError(f"{path}:{reader.line_num}: more cells than columns; quote cells with commas")
                cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
                if any(cells.values()):
                    yield _Line(reader.line_num, cells["source"], cells["answer"], cells["note"])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AnalysisError(f"{path}: cannot be read: {error}; save it as CSV in UTF-8") from None


def _check_columns(path: Path, found: Iterable[str]) -> None:
    names = list(found)
    missing = [name for name in COLUMNS[:2] if name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown:
        problem = f"no column {missing[0]!r}" if missing else f"unknown column {unknown[0]!r}"
        raise AnalysisError(f"{path}:1: {problem}; the columns are source, answer and perhaps note")


def _find_rows(con: duckdb.DuckDBPyConnection, lines: list[_Line]) -> None:
    """Attach to each line the response that its source names."""
    if not lines:
        return
    wanted = pa.table({"line": [line.number for line in lines], "wanted": [line.source for line in lines]})
    con.register("wanted_sources", wanted)
    rows = con.execute(
        """
        SELECT line, count(r.item) AS found, any_value({'task': task, 'model': model, 'item': item, 'gold': gold,
            'answer': answer, 'rule': rule, 'status': status, 'probability': probability,
            'judged': validity IS NOT NULL AND polarity IS NOT NULL,
            'asked': role IS NOT NULL OR truth IS NOT NULL}) FILTER (r.item IS NOT NULL) AS row
        FROM wanted_sources LEFT JOIN logged_responses r ON source = wanted GROUP BY line
        """
    ).fetchall()
    con.unregister("wanted_sources")
    known = {number: (found, row) for number, found, row in rows}
    first: dict[str, int] = {}
    for line in lines:
        found, row = known[line.number]
        other = first.setdefault(line.source, line.number)
        if other != line.number:
            line.problem = f"source {line.source!r} stands in line {other} too"
        elif found != 1:
            line.problem = f"{'no' if not found else format(found, ',')} responses have the source {line.source!r}"
        else:
            line.row = row


def _fold_answers(lines: list[_Line], policy: ReadingPolicy) -> None:
    words, labels = answer_words(policy.synonyms), option_labels(tuple(policy.labels))
    for line in lines:
        if line.problem or line.answer.casefold() == Status.UNPARSED:
            line.problem = line.problem or _unanswerable(line)
            continue
        row = line.row
        kind, _ = kind_and_gold(
            policy, _text(row["task"]), _text(row["gold"]), judged=bool(row["judged"]), asked=bool(row["asked"])
        )
        allowed = "a text"
        if kind == "judgement":
            line.value, allowed = words.polarity(line.answer), "yes or no"
        elif kind == "choice":
            line.value, allowed = labels.fold(line.answer), "the label of an option"
        elif kind == "probability":
            line.probability, allowed = _fraction(line.answer), "a number from 0 to 1"
        else:
            line.value = line.answer or None
        if line.value is None and line.probability is None:
            line.problem = f"answer {line.answer!r} is not {allowed}, and not unparsed"
        line.problem = line.problem or _unanswerable(line)


def _unanswerable(line: _Line) -> str:
    status = line.row.get("status")
    return f"the response of {line.source!r} is {status}: there is no text to read" if status in SET_ASIDE else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _fraction(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None


def _refuse_problems(path: Path, lines: list[_Line]) -> None:
    problems = [f"{path}:{line.number}: {line.problem}" for line in lines if line.problem]
    if problems:
        more = f"\n  and {len(problems) - _QUOTED:,} more" if len(problems) > _QUOTED else ""
        shown = "".join(f"\n  {problem}" for problem in problems[:_QUOTED])
        raise AnalysisError(
            f"{len(problems):,} overrides cannot be applied; correct them:{shown}{more}", offenders=problems
        )


def _replace_view(con: duckdb.DuckDBPyConnection, lines: list[_Line]) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE answer_overrides "
        "(overridden VARCHAR, new_answer VARCHAR, new_probability DOUBLE, new_status VARCHAR)"
    )
    if not lines:
        return
    status = [
        str(Status.UNPARSED if line.value is None and line.probability is None else Status.ANSWERED) for line in lines
    ]
    rows = [[line.source, line.value, line.probability, became] for line, became in zip(lines, status, strict=True)]
    con.executemany("INSERT INTO answer_overrides VALUES (?, ?, ?, ?)", rows)
    con.execute("ALTER VIEW logged_responses RENAME TO read_responses")
    con.execute(
        f"""
        CREATE VIEW logged_responses AS
        SELECT r.* REPLACE (
            CASE WHEN overridden IS NULL THEN answer ELSE new_answer END AS answer,
            CASE WHEN overridden IS NULL THEN probability ELSE new_probability END AS probability,
            CASE WHEN overridden IS NULL THEN status ELSE new_status END AS status,
            CASE WHEN overridden IS NULL THEN rule ELSE '{RULE}' END AS rule)
        FROM read_responses r LEFT JOIN answer_overrides ON source = overridden
        """
    )


def _account(line: _Line) -> dict[str, object]:
    row = line.row
    before = row.get("answer") if row.get("answer") is not None else row.get("probability")
    after = line.value if line.value is not None else line.probability
    return {
        "line": line.number,
        "source": line.source,
        **{name: row.get(name) or "" for name in ("task", "model", "item")},
        "read": "" if before is None else str(before),
        "rule": row.get("rule") or "",
        "answer": "" if after is None else str(after),
        "changed": before != after,
        "note": line.note,
    }
