"""A key of items: gold answers, units and factors that lie in a second table and are joined to the logs by item."""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.errors import AnalysisError, LogError
from analysis.parsing.answer_words import answer_words
from analysis.parsing.option_labels import option_labels
from analysis.reduction.reconciliation import FileAccount
from analysis.schema.quoting import shown
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME, ITEM_FACTORS
from analysis.schema.study import Study
from analysis.schema.study_files import file_of_study
from analysis.schema.study_keys import suggestion

#: Columns of the schema that say something of an item, beside factors.
COLUMNS: Final = ("item", "task", "unit", "gold", "truth", *ITEM_FACTORS, "role", "state", "identity", "prompt")
_PREFIXES: Final = ("factor.", "meta.")
_NAMED: Final = 5
_BETWEEN: Final = "\x1f"


class ItemKey:
    """What a second table says of every item.

    Parameters
    ----------
    path : Path
        CSV in UTF-8 with a header: ``item``, perhaps ``task``, and columns that say something of an item.
    study : Study
        Its columns may stand in the key too; its words say which gold answers are the same.

    Raises
    ------
    AnalysisError
        The file cannot be read, lacks ``item``, has a column that says nothing of an item, a text where a number
        belongs, or an item twice; with its line.
    """

    def __init__(self, path: Path, study: Study) -> None:
        self.path = path
        self._words = answer_words(study.reading.synonyms)
        declared = tuple(name for names in study.columns.values() for name in names)
        self._names, rows = _read(path, declared)
        self._lines = [line for line, _ in rows]
        self._by_task = "task" in self._names
        keys = [self._key_text(cells) for _, cells in rows]
        self._refuse_twice(keys)
        self._keys = pa.array(keys, pa.string())
        self._columns = {
            name: _typed(path, name, self._lines, [cells[name] or None for _, cells in rows])
            for name in self._names
            if name not in ("item", "task")
        }
        self._found: dict[str, NDArray[np.bool_]] = {}
        self._strangers: dict[str, set[str]] = {}

    def joined(self, rows: pa.RecordBatch, account: FileAccount) -> pa.RecordBatch:
        """Rows with what the key says of their items; what a log says itself stays, and must not contradict the key.

        Raises
        ------
        LogError
            A value in the log differs from that of the key.
        """
        at = self._places(rows)
        known = np.asarray(pc.is_valid(at))
        self._found.setdefault(account.file, np.zeros(len(self._keys), bool))[np.asarray(at.drop_null())] = True
        unknown = int((~known).sum())
        if unknown:
            strangers = pc.unique(self._item_texts(rows).filter(pa.array(~known))).to_pylist()
            self._strangers.setdefault(account.file, set()).update(strangers)
            account.notes[f"response to an item that {self.path.name} does not hold"] += unknown
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        for name, values in self._columns.items():
            said = values.take(at)
            logged = columns.get(name)
            if logged is None or logged.null_count == len(logged):
                columns[name] = said
                continue
            logged = logged.cast(said.type) if logged.type != said.type else logged
            self._refuse_contradictions(name, logged, said, at, rows, account)
            columns[name] = pc.coalesce(logged, said)
        return pa.RecordBatch.from_pydict(columns)

    def account(self, file: str, read: Collection[str]) -> FileAccount:
        """The key among the files: how many of its items the logs have that were ``read``, and the reverse."""
        found = np.zeros(len(self._keys), bool)
        for log in self._found.keys() & set(read):
            found |= self._found[log]
        absent = [text.replace(_BETWEEN, ": ") for text in self._keys.filter(pa.array(~found)).to_pylist()]
        parts = [f"key of {len(self._keys):,} items: {int(found.sum()):,} in the logs"]
        if absent:
            parts.append(f"{len(absent):,} in no log ({_some(absent)})")
        unknown = {text for log in self._strangers.keys() & set(read) for text in self._strangers[log]}
        if unknown:
            strangers = sorted(text.replace(_BETWEEN, ": ") for text in unknown)
            parts.append(f"{len(strangers):,} items of the logs are not in it ({_some(strangers)})")
        account = FileAccount(file)
        account.refuse("companion", ", ".join(parts))
        return account

    def _key_text(self, cells: Mapping[str, str]) -> str:
        return cells["task"] + _BETWEEN + cells["item"] if self._by_task else cells["item"]

    def _item_texts(self, rows: pa.RecordBatch) -> pa.Array:
        items = rows.column("item")
        return pc.binary_join_element_wise(rows.column("task"), items, _BETWEEN) if self._by_task else items

    def _places(self, rows: pa.RecordBatch) -> pa.Array:
        """Row of the key for every response; missing where it has none."""
        return pc.index_in(self._item_texts(rows), value_set=self._keys)

    def _refuse_twice(self, keys: Sequence[str]) -> None:
        first: dict[str, int] = {}
        for line, key in zip(self._lines, keys, strict=True):
            if key in first:
                named = shown(key.replace(_BETWEEN, ": "))
                raise AnalysisError(f"{self.path}:{line}: item {named} stands in line {first[key]} too; keep one")
            first[key] = line

    def _refuse_contradictions(
        self, name: str, logged: pa.Array, said: pa.Array, at: pa.Array, rows: pa.RecordBatch, account: FileAccount
    ) -> None:
        differs = np.asarray(pc.fill_null(pc.not_equal(logged, said), False))
        if name == "gold" and differs.any():
            differs &= self._other_answers(logged, said, differs)
        if not differs.any():
            return
        first = int(np.flatnonzero(differs)[0])
        item, line = rows.column("item")[first].as_py(), self._lines[at[first].as_py()]
        raise LogError(
            account.file,
            f"item {shown(item)} has {name} {shown(str(logged[first]))}, and {shown(str(said[first]))} in "
            f"{self.path.name}:{line} ({int(differs.sum()):,} such responses)",
            hint="correct one of the two",
        )

    def _other_answers(self, logged: pa.Array, said: pa.Array, differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where two gold answers differ in more than their writing ("Yes." and "yes")."""
        pairs = list(zip(logged.to_pylist(), said.to_pylist(), strict=True))
        other = {pair: self._folded(pair[0]) != self._folded(pair[1]) for pair in set(pairs) if None not in pair}
        return np.array(
            [bool(is_other) and other.get(pair, False) for is_other, pair in zip(differs, pairs, strict=True)]
        )

    def _folded(self, gold: str) -> str:
        return self._words.polarity(gold) or option_labels().fold(gold) or gold.strip()


def item_key(study: Study) -> ItemKey | None:
    """The key that ``[items]`` of a study names; None without one."""
    if not study.items_file:
        return None
    return ItemKey(file_of_study(study.path, study.items_file, "[items] file"), study)


def _read(path: Path, declared: Sequence[str]) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Names of the columns, and for every row its line and cells."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            names = [name.strip() for name in next(reader, [])]
            _check_columns(path, names, declared)
            return names, list(_rows(path, names, reader))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AnalysisError(f"{path}: cannot be read: {error}; save it as CSV in UTF-8") from None


def _check_columns(path: Path, names: Sequence[str], declared: Sequence[str]) -> None:
    if "item" not in names:
        raise AnalysisError(f'{path}:1: no column "item"; the key of items has one row for each item')
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise AnalysisError(f"{path}:1: column {shown(twice)} stands there twice; keep one")
    for name in names:
        if name not in COLUMNS and not name.startswith(_PREFIXES) and name not in declared:
            known = suggestion(name, COLUMNS)
            raise AnalysisError(
                f'{path}:1: column {shown(name)} is none that says something of an item{known}; others are "factor.…" '
                'and "meta.…"'
            )
    if len(set(names) - {"item", "task"}) == 0:
        raise AnalysisError(f"{path}:1: nothing beside the items; add gold, unit or factors")


def _rows(path: Path, names: Sequence[str], reader: Iterator[list[str]]) -> Iterator[tuple[int, dict[str, str]]]:
    line = 1
    for row in reader:
        start, line = line + 1, getattr(reader, "line_num", line + 1)
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(names):
            raise AnalysisError(f"{path}:{start}: {len(row)} cells under {len(names)} columns; quote cells with commas")
        cells = dict(zip(names, (cell.strip() for cell in row), strict=True))
        if not cells["item"]:
            raise AnalysisError(f"{path}:{start}: no item")
        yield start, cells


def _typed(path: Path, name: str, lines: Sequence[int], texts: Sequence[str | None]) -> pa.Array:
    kind = COLUMN_BY_NAME[name].kind if name in COLUMN_BY_NAME else "text"
    if kind == "text":
        return pa.array(texts, pa.string())
    numbers: list[float | None] = []
    for line, text in zip(lines, texts, strict=True):
        try:
            numbers.append(None if text is None else float(text))
        except ValueError:
            raise AnalysisError(f"{path}:{line}: {name} must be a number, not {shown(text or '')}") from None
        if numbers[-1] is not None and not np.isfinite(numbers[-1]):
            raise AnalysisError(f"{path}:{line}: {name} must be finite, not {shown(text or '')}")
    return pa.array(numbers, ARROW_TYPES[kind])


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
