"""CSV tables of promptfoo: every layout since 2023, and the report of a red-team run."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.content_digest import content_digest, content_name
from analysis.importers.inspect_scores import as_number
from analysis.importers.promptfoo_cells import Cell, read_cell
from analysis.importers.promptfoo_columns import Columns, PromptColumn, layout_of, table_columns
from analysis.importers.promptfoo_eval import NO_MODEL, UNKNOWN, question_name
from analysis.importers.promptfoo_results import UNSCORED
from analysis.importers.protocol import ReadOptions, Record
from analysis.importers.tabular_text import csv_records, ragged
from analysis.schema.responses import Response
from analysis.schema.status import Status

ROW_MARK = "RESULT stands once per row: it marks the answers of all its prompts"
NO_REASON = "pass marks without reasons: the file does not say whether there were assertions"
FAILED_EMPTY = "a failed cell without a text: a failed call and an empty reply look alike, it is not scored"
NO_CELL = "an empty cell: this prompt has no result in this row"
RED_TEAM = "report of a red-team run: Pass means that the attack failed"
_PASSED = {"PASS": 1.0, "FAIL": 0.0}


def layout_of_head(text: str) -> str | None:
    """Name of the CSV layout that the first records of a file have, None where it is no table of promptfoo."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, [])
        first = next(reader, [])
    except csv.Error:
        return None
    return layout_of([cell.lstrip("\ufeff") for cell in header], first)


def read_table(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per row of a table, with a response for every prompt column.

    Raises
    ------
    LogError
        The table is damaged, has no rows, or does not tell prompts from variables.
    """
    where = relative_name(path, options.root)
    records = csv_records(path, options)
    _, header = next(records, (1, []))
    rows = list(records) if layout_of(header, None) is None else None
    first = rows[0][1] if rows else None
    layout = layout_of(header, first)
    if layout is None:
        raise LogError(where, "no table of promptfoo", line=1)
    if layout == "red team":
        yield from _red_team(where, header, records)
        return
    # Where only the cells tell which columns are prompts, all of them are looked at.
    columns = table_columns(where, layout, header, [cells for _, cells in rows or ()])
    yield from _table(where, columns, iter(rows) if rows is not None else records)


def _table(where: str, columns: Columns, records: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
    asked: dict[tuple[int, str], int] = {}
    notes: tuple[str, ...] = ()
    read = 0
    for line, cells in records:
        if len(cells) != columns.width:
            raise ragged(where, len(cells), columns.width, line=line)
        read += 1
        responses: list[Response] = []
        for number, column in enumerate(columns.prompts):
            response, more = _response(where, line, columns, column, cells)
            sample = asked.get((number, response.item), 0)
            asked[number, response.item] = sample + 1
            responses.append(replace(response, sample=str(sample)))
            notes += more
        yield Record(f"{where}:{line}", tuple(responses), notes=notes)
        notes = ()
    if not read:
        raise LogError(where, "no rows below the header")


def _response(
    where: str, line: int, columns: Columns, column: PromptColumn, cells: list[str]
) -> tuple[Response, tuple[str, ...]]:
    variables = {name: cells[at] for name, at in columns.variables.items()}
    extra = {f"meta.vars.{name}": value for name, value in variables.items()}
    extra["meta.prompt"] = column.template
    cell = read_cell(cells, columns, column)
    if cell.reason:
        extra["meta.reason"] = cell.reason
    for name, value in cell.others.items():
        extra[f"meta.{name}"] = value
    status, detail = _status(cell)
    scores, notes = _scores(cell, columns, status, extra)
    response = Response(
        model=column.provider or UNKNOWN,
        item=question_name(column.template, variables),
        unit=content_name(variables) if variables else question_name(column.template, variables),
        run=where,
        output=cell.text,
        status=status,
        status_detail=detail,
        prompt_hash=content_digest([column.template, variables]),
        harness="promptfoo",
        source=f"{where}:{line}",
        extra=extra,
        logged_score=scores[0],
        score_value=scores[1],
    )
    return response, notes + (() if column.provider else (NO_MODEL,))


def _status(cell: Cell) -> tuple[str | None, str | None]:
    if cell.mark is None and cell.text is None:
        return Status.MISSING, NO_CELL
    if cell.mark == "ERROR":
        return Status.ERRORED, cell.error or "failed call without a message"
    return None, None


def _scores(
    cell: Cell, columns: Columns, status: str | None, extra: dict[str, str]
) -> tuple[tuple[str | None, float | None], tuple[str, ...]]:
    if status is not None or cell.mark is None:
        return (None, None), ()
    if cell.reason == "No assertions":
        extra |= {"meta.success": cell.mark} | ({"meta.score": cell.score} if cell.score else {})
        return (None, None), (UNSCORED,)
    if cell.mark == "FAIL" and not cell.text:
        return (None, None), (FAILED_EMPTY,)
    if cell.score:
        extra["score.score"] = cell.score
    extra |= {f"score.{name}": value for name, value in cell.named.items()}
    notes = (ROW_MARK,) if columns.result is not None and len(columns.prompts) > 1 else ()
    return (cell.mark, _PASSED[cell.mark]), notes + (() if cell.reason else (NO_REASON,))


def _red_team(where: str, header: list[str], records: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
    asked: dict[tuple[str, ...], int] = {}
    notes: tuple[str, ...] = (RED_TEAM,)
    read = 0
    for line, cells in records:
        if len(cells) != len(header):
            raise ragged(where, len(cells), len(header), line=line)
        read += 1
        row = dict(zip(header, cells, strict=True))
        key = (row["Target"], row["Test ID"], row["Strategy"])
        asked[key] = asked.get(key, -1) + 1
        model_notes = () if row["Target"] else (NO_MODEL,)
        yield Record(f"{where}:{line}", (_attack(where, line, row, asked[key]),), notes=notes + model_notes)
        notes = ()
    if not read:
        raise LogError(where, "no rows below the header")


def _attack(where: str, line: int, row: dict[str, str], sample: int) -> Response:
    score = row["Pass"].strip().lower()
    verdict = {"true": 1.0, "pass": 1.0, "false": 0.0, "fail": 0.0}.get(score)
    extra = {"meta.plugin": row["Plugin"], "meta.reason": row["Reason"]}
    if as_number(row["Score"]) is not None:
        extra["score.score"] = row["Score"].strip()
    return Response(
        model=row["Target"] or UNKNOWN,
        item=row["Test ID"] or content_name(row["Prompt"]),
        task="red team",
        sample=str(sample),
        run=where,
        strategy=row["Strategy"] or None,
        output=row["Response"] or None,
        prompt=row["Prompt"] or None,
        prompt_hash=content_digest(row["Prompt"]) if row["Prompt"] else None,
        logged_score=row["Pass"] if verdict is not None else None,
        score_value=verdict,
        timestamp=row["Timestamp"] or None,
        harness="promptfoo",
        source=f"{where}:{line}",
        extra=extra,
    )
