"""Columns of promptfoo's CSV tables: which are prompts, which belong to a prompt, which are variables."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.errors import LogError

MARKS = ("PASS", "FAIL", "ERROR")
#: Columns that follow the column of their prompt in files since 2025.
ASPECTS = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")
RED_TEAM_HEADER = (
    "Test ID",
    "Plugin",
    "Strategy",
    "Target",
    "Prompt",
    "Response",
    "Pass",
    "Score",
    "Reason",
    "Timestamp",
)
#: Columns that a red-team evaluation adds behind its prompts.
_RED_TEAM_EXTRAS = frozenset(
    {"Messages", "RedteamHistory", "RedteamTreeHistory", "pluginId", "strategyId", "sessionId", "sessionIds"}
)
_PROVIDER = re.compile(r"\[([^\]\n]+)\] (.*)", re.DOTALL)
MARK = re.compile(rf"\[({'|'.join(MARKS)})\](?=\s|\Z)")
#: Scores have two decimals in every file; named ones follow.
SCORE = re.compile(r"\s*\((?P<score>-?\d+\.\d\d)(?P<named>(?:, [^()\n]*)?)\)")
_VARIABLE = re.compile(r"\{[{%]-?[^}]*?\b([A-Za-z_]\w*)[^}]*\}")
_NO_PROVIDER = frozenset({"undefined", "null", ""})


@dataclass(frozen=True, slots=True)
class PromptColumn:
    """Column of the replies to one prompt.

    ``aspects`` are the positions of the columns that belong to it (Status, Score, ...), by name.
    """

    at: int
    template: str
    provider: str | None = None
    aspects: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a table.

    ``result`` is where a mark for the whole row stands (the oldest layout); ``scored`` tells whether a
    score follows the mark of a cell.
    """

    width: int
    prompts: tuple[PromptColumn, ...]
    variables: Mapping[str, int]
    others: Mapping[str, int] = field(default_factory=dict)
    result: int | None = None
    scored: bool = True


def layout_of(header: list[str], first: list[str] | None) -> str | None:
    """Name of the layout that a header, or the first row below it, shows; None where neither does."""
    header = [cell.lstrip("\ufeff") for cell in header]
    if tuple(header) == RED_TEAM_HEADER:
        return "red team"
    if any(tuple(header[at : at + len(ASPECTS)]) == ASPECTS for at in range(1, len(header))):
        return "columns"
    if any(_json_prompt(cell) is not None for cell in header):
        return "json header"
    if header[:1] == ["RESULT"] and len(header) > 1:
        return "row mark"
    if first is None or len(first) != len(header):
        return None
    marked = [at for at, cell in enumerate(first) if is_marked(cell)]
    if any(_PROVIDER.fullmatch(header[at]) for at in marked):
        return "providers"
    return "marks" if marked and marked[0] == 0 else None


def is_marked(cell: str) -> bool:
    """Whether a cell begins with a mark such as ``[PASS]``."""
    return MARK.match(cell) is not None


def table_columns(where: str, layout: str, header: list[str], rows: list[list[str]]) -> Columns:
    """Columns of a table of a known layout; ``rows`` are looked at where only the cells tell prompts from variables.

    Raises
    ------
    LogError
        No column can be told to be a prompt.
    """
    header = [header[0].lstrip("\ufeff"), *header[1:]]
    found = {
        "columns": _with_aspects,
        "json header": _json_header,
        "row mark": _row_mark,
        "providers": _with_providers,
        "marks": _marked_columns,
    }[layout](header, rows)
    if not found:
        raise LogError(where, "the header does not tell prompts from variables", line=1)
    taken = {p.at for p in found} | {at for p in found for at in p.aspects.values()}
    result = 0 if layout == "row mark" else None
    rest = [at for at in range(len(header)) if at not in taken and at != result]
    others = {
        header[at]: at
        for at in rest
        if layout == "columns" and (header[at] in _RED_TEAM_EXTRAS or (at == 0 and header[0] == "Description"))
    }
    variables = {header[at]: at for at in rest if header[at] not in others}
    if len(variables) + len(others) != len(rest):
        raise LogError(where, "has two variables of one name", line=1)
    scored = layout != "marks" or all(_has_score(row[p.at]) for row in rows for p in found if p.at < len(row))
    return Columns(len(header), tuple(found), variables, others, result, scored)


def _has_score(cell: str) -> bool:
    mark = MARK.match(cell)
    return mark is None or SCORE.match(cell, mark.end()) is not None


def _json_prompt(cell: str) -> str | None:
    """Template of a header cell that is a JSON object ``{"raw", "display"}``."""
    if not cell.startswith("{") or '"raw"' not in cell:
        return None
    try:
        prompt = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    texts = (prompt.get(key) for key in ("label", "display", "raw"))
    return next((text for text in texts if isinstance(text, str)), None)


def _json_provider(cell: str) -> str | None:
    provider = json.loads(cell).get("provider")
    return provider if isinstance(provider, str) and provider not in _NO_PROVIDER else None


def _json_header(header: list[str], _rows: list[list[str]]) -> list[PromptColumn]:
    templates = [(at, cell, _json_prompt(cell)) for at, cell in enumerate(header)]
    return [PromptColumn(at, text, _json_provider(cell)) for at, cell, text in templates if text is not None]


def _named(at: int, cell: str, aspects: Mapping[str, int] | None = None) -> PromptColumn:
    """Prompt column of a header cell ``[provider] prompt``, or of a prompt alone."""
    match = _PROVIDER.fullmatch(cell)
    if match is None:
        return PromptColumn(at, cell, None, aspects or {})
    provider = None if match[1] in _NO_PROVIDER else match[1]
    return PromptColumn(at, match[2], provider, aspects or {})


def _with_aspects(header: list[str], _rows: list[list[str]]) -> list[PromptColumn]:
    found = []
    for at, cell in enumerate(header):
        if tuple(header[at + 1 : at + 1 + len(ASPECTS)]) == ASPECTS:
            found.append(_named(at, cell, {name: at + 1 + i for i, name in enumerate(ASPECTS)}))
    return found


def _with_providers(header: list[str], rows: list[list[str]]) -> list[PromptColumn]:
    """Prompts carry their provider; a variable's name may begin with a bracket, its cells with no mark."""
    found = []
    for at, cell in enumerate(header):
        if _PROVIDER.fullmatch(cell) and _all_marked(at, rows):
            end = at + 1
            while end < len(header) and header[end] in ASPECTS:
                end += 1
            found.append(_named(at, cell, {header[i]: i for i in range(at + 1, end)}))
    return found


def _marked_columns(header: list[str], rows: list[list[str]]) -> list[PromptColumn]:
    """Prompts come first, and every cell of theirs has a mark."""
    found: list[PromptColumn] = []
    for at, cell in enumerate(header):
        if not _all_marked(at, rows):
            break
        found.append(PromptColumn(at, cell))
    return found


def _all_marked(at: int, rows: list[list[str]]) -> bool:
    cells = [row[at] for row in rows if at < len(row)]
    return any(cells) and all(is_marked(cell) or not cell for cell in cells)


def _row_mark(header: list[str], _rows: list[list[str]]) -> list[PromptColumn]:
    """``RESULT``, the prompts, then the variables: the first column that a prompt before it names is a variable."""
    for first in range(2, len(header) + 1):
        named = {name for prompt in header[1:first] for name in _VARIABLE.findall(prompt)}
        if first == len(header) or header[first] in named:
            return [PromptColumn(at, header[at]) for at in range(1, first)] if named else []
    return []
