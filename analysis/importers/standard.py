"""The standard schema as CSV, TSV, JSON Lines, a JSON array or Parquet, and tables that ``[map]`` makes one."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from analysis.errors import LogError
from analysis.importers.byte_streams import open_bytes, relative_name, text_encoding
from analysis.importers.json_rows import json_array_batches, json_line_batches
from analysis.importers.json_text import top_level_keys
from analysis.importers.mapped_columns import PLACE_SOURCES, MappedColumns
from analysis.importers.parquet_rows import MAGIC, is_store, parquet_batches, parquet_names
from analysis.importers.probe import HEAD_BYTES
from analysis.importers.protocol import Batch, Claim, Probe, ReadOptions
from analysis.importers.raw_rows import RawBatch
from analysis.importers.tabular_text import csv_batches, header_cells
from analysis.importers.typed_columns import REQUIRED, StandardColumns
from analysis.schema.map_rules import MapRule
from analysis.schema.probability_scale import hundred_percent
from analysis.schema.responses import COLUMN_BY_NAME

NAME = "standard schema"
VERSIONS = "1"
#: A first record is looked for in this many bytes when it is not in the head of the file.
_LONG_RECORD = 4 << 20
#: What stands between two records of JSON Lines or of an array.
_BETWEEN = re.compile(r"[\s,]*")
#: A log has at least one of these besides ``model`` and ``item``.
ANSWERS = ("answer", "output", "probability", "logged_score")


def sniff(probe: Probe) -> Claim:
    """Claim tables whose header has ``model``, ``item`` and an answer column."""
    return sniff_mapped(probe, {})


def sniff_mapped(probe: Probe, rules: Mapping[str, MapRule]) -> Claim:
    """Claim tables whose header, with the columns that ``[map]`` fills from it, makes a log."""
    return Claim.LOG if not missing_columns(column_names(probe), rules) else Claim.NO


def missing_columns(names: tuple[str, ...], rules: Mapping[str, MapRule]) -> tuple[str, ...]:
    """What a header lacks to be a log in the standard schema; all of it where there is no header."""
    mapped = {c for c, rule in rules.items() if all(s in PLACE_SOURCES or _has(names, s) for s in rule.sources)}
    columns = {*names, *mapped} if names else set()
    lacking = [name for name in REQUIRED if name not in columns]
    return (
        *lacking,
        *(() if columns.intersection(ANSWERS) else ("an answer (answer, output, probability or logged_score)",)),
    )


def nearly(names: tuple[str, ...], rules: Mapping[str, MapRule]) -> bool:
    """Whether a header lacks one thing only: a log that somebody forgot a column in, not a stranger."""
    return len(missing_columns(names, rules)) == 1


def _has(names: tuple[str, ...], source: str) -> bool:
    return source in names or source.split(".")[0] in names


def column_names(probe: Probe) -> tuple[str, ...]:
    """Columns of a table file from its first bytes, of JSON those of every record there; none when it is no table."""
    if probe.problem or not probe.head:
        return ()
    if probe.head.startswith(MAGIC):
        return parquet_names(probe)
    start = probe.text.lstrip()[:1]
    if start in ("{", "["):
        return _keys_of_whole_records(probe.text) or top_level_keys(_first_record(probe))
    header = probe.text.partition("\n")[0]
    return header_cells(probe.text) if "\0" not in header else ()


def is_damaged_parquet(probe: Probe) -> bool:
    """Whether a file begins as Parquet does and has no columns: cut off, or damaged at its end."""
    return probe.head.startswith(MAGIC) and not parquet_names(probe)


def _keys_of_whole_records(text: str) -> tuple[str, ...]:
    """Keys of every record that stands whole in a text: a record may leave out what it has no value for."""
    decoder, keys = json.JSONDecoder(strict=False), dict[str, None]()
    at = len(text) - len(text.lstrip().removeprefix("[").lstrip())
    while text.startswith("{", at):
        try:
            record, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        keys |= dict.fromkeys(record)
        at = end + len(_BETWEEN.match(text, end)[0])  # type: ignore[index]  # it matches an empty text too
    return tuple(keys)


def _first_record(probe: Probe) -> str:
    """Text that holds the first record whole, unless that is of another size than ours are."""
    if len(probe.head) < HEAD_BYTES or b"\n" in probe.head:
        return probe.text
    try:
        with open_bytes(probe.path, ReadOptions(probe.path.parent)) as stream:
            return stream.read(_LONG_RECORD).decode(text_encoding(probe.head), "replace")
    except (LogError, OSError):
        return probe.text


def read_batches(path: Path, options: ReadOptions) -> Iterator[Batch]:
    """Yield every record in file order, in the schema's types.

    Raises
    ------
    LogError
        The file is damaged, or a record lacks the model or the item, or has text for a number.
    AnalysisError
        ``[map]`` does not fit the file.
    """
    name = relative_name(path, options.root)
    declared = tuple(column for columns in options.study.columns.values() for column in columns)
    hundred = hundred_percent(options.study)
    standard = StandardColumns(name, tuple(c for c in declared if c not in COLUMN_BY_NAME), hundred)
    rules = options.study.map
    mapping = MappedColumns({} if rules and is_store(path) else rules, name)
    for raw in raw_batches(path, options):
        yield standard.batch(mapping.applied(raw))
    mapping.finish(standard.rows)
    standard.finish()


def raw_batches(path: Path, options: ReadOptions) -> Iterator[RawBatch]:
    """Rows of a table file of any kind, before its columns are known."""
    with open_bytes(path, options) as stream:
        head = stream.read(1 << 16)
    if head.startswith(MAGIC):
        yield from parquet_batches(path, options)
        return
    start = head.decode(text_encoding(head), "replace").lstrip()[:1]
    if start not in ("{", "["):
        yield from csv_batches(path, options)
        return
    name = relative_name(path, options.root)
    with open_bytes(path, options) as stream:
        yield from json_line_batches(stream, name) if start == "{" else json_array_batches(stream, name)
