"""What of the logs a report never shows, and what it leaves out when asked: user names in paths, raw texts."""

import re
from collections.abc import Collection
from typing import Final

import duckdb

from analysis.schema.quoting import quote_identifier, quote_text, quote_texts
from analysis.schema.responses import COLUMN_BY_NAME
from analysis.schema.store import store_columns

#: Directory of a user, up to their name, where a path begins: on Linux, macOS and Windows.
_HOME: Final = re.compile(r"(?<![\w.~-])(?:/(?:home|Users)|[A-Za-z]:[\\/]Users)[\\/]([^\\/\s,;]+)")
#: Host of an address, with the user and the port beside it.
_HOST: Final = re.compile(r"\b([a-z][a-z0-9+.-]*://)[^/\s,;\"'()]+", re.IGNORECASE)
#: Both as a filter in SQL, whose expressions look neither ahead nor back.
_PERHAPS_PRIVATE: Final = r"[/\\:](home|Users)[\\/]|://"
#: Columns whose values name things that a report prints.
_NAMING: Final = ("model", "model_resolved", "run", "task", "item", "unit")
#: Those of them in which an address is that of a question's source, not of a machine.
_CONTENT: Final = frozenset({"task", "item", "unit"})
#: Columns that hold nothing but raw text.
_RAW: Final = ("output", "reasoning", "status_detail")
#: Columns of text whose values the schema or the reader fixes, or that name models and runs.
_FIXED: Final = frozenset(
    {"model", "model_resolved", "model_family", "task", "sample", "run", "rule", "status", "validity", "polarity"}
) | frozenset({"believability", "temperature", "timestamp", "harness", "prompt_hash", "source", *_RAW, "prompt"})
#: Columns of answers, whose labels of options are no longer than the third length, or words that say yes and no.
_ANSWERS: Final = ("answer", "gold")
_LABELS: Final = ("yes", "no", "true", "false", "valid", "invalid")
#: Names of items and units have no blanks and are no longer than this; levels are no longer than the second.
NAME_LENGTH, LEVEL_LENGTH, LABEL_LENGTH = 64, 40, 3
WITHHELD: Final = "text "
_QUOTED: Final = re.compile(r"\"[^\"]*\"|(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|“[^”]*”")


def without_places(text: str, *, number: int = 1, hosts: bool = True) -> str:
    """Text whose paths begin with ``~`` instead of a user's home directory, and whose addresses name no host.

    Parameters
    ----------
    text : str
    number : int
        From 2 on, it stands behind the replacements.
    hosts : bool
        Whether hosts are replaced too.

    Examples
    --------
    >>> without_places("pretrained=/home/ada/models/small")
    'pretrained=~/models/small'
    >>> without_places("http://gpu7.example.org:8000/v1", number=2)
    'http://host2/v1'
    """
    behind = "" if number == 1 else str(number)
    at_home = _HOME.sub(f"~{behind}", text)
    return _HOST.sub(rf"\g<1>host{behind}", at_home) if hosts else at_home


def hide_places(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Replace users' home directories in the names of models, runs, tasks, items and units; hosts in the first two.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        As ``open_store`` returns; call this before anything is estimated. The view ``logged_responses``,
        and so ``responses``, changes where a name holds such a place.

    Returns
    -------
    dict of str to str
        Names of models as logged -> as shown. Names that differ in the place alone stay apart (``~2``).
    """
    by_column = {column: _with_places(con, column) for column in _NAMING}
    shown = {
        column: _apart(names, _others(con, column, names), hosts=column not in _CONTENT)
        for column, names in by_column.items()
        if names
    }
    if shown:
        con.execute("CREATE OR REPLACE TABLE shown_names (of_column VARCHAR, logged VARCHAR, shown VARCHAR)")
        rows = [[column, logged, name] for column, names in shown.items() for logged, name in names.items()]
        con.executemany("INSERT INTO shown_names VALUES (?, ?, ?)", rows)
        replaced = {
            column: f"coalesce((SELECT s.shown FROM shown_names s WHERE s.of_column = {quote_text(column)} "
            f"AND s.logged = r.{column}), r.{column})"
            for column in shown
        }
        _replace_view(con, "responses_with_places", replaced)
    return shown.get("model", {})


def _with_places(con: duckdb.DuckDBPyConnection, column: str) -> list[str]:
    query = f"SELECT DISTINCT {column} FROM logged_responses WHERE regexp_matches({column}, ?) ORDER BY 1"
    hosts = column not in _CONTENT
    found = (name for (name,) in con.execute(query, [_PERHAPS_PRIVATE]).fetchall())
    return [name for name in found if without_places(name, hosts=hosts) != name]


def _others(con: duckdb.DuckDBPyConnection, column: str, names: list[str]) -> set[str]:
    """Names of the column that are shown as they are and could be mistaken for a replaced one."""
    query = f"SELECT DISTINCT {column} FROM logged_responses WHERE regexp_matches({column}, '~|://')"
    return {name for (name,) in con.execute(query).fetchall()} - set(names)


def _apart(names: list[str], taken: set[str], *, hosts: bool) -> dict[str, str]:
    """Every name without places, numbered where two would be the same."""
    shown: dict[str, str] = {}
    used = set(taken)
    for name in names:
        number = 1
        while (new := without_places(name, number=number, hosts=hosts)) in used:
            number += 1
        used.add(new)
        shown[name] = new
    return shown


def withhold_texts(con: duckdb.DuckDBPyConnection, *, kept: Collection[str] = ()) -> None:
    """Take raw texts out of the view ``logged_responses``, and so out of everything that is made from it.

    Texts of responses are emptied; names of items and units, answers and levels that are texts rather than names
    become ``text`` and 16 hexadecimal digits, the same for the same text but for case and blanks around it.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        As ``open_store`` returns; call this after the answers have been read and overridden.
    kept : collection of str
        Levels that the user's own settings name.
    """
    replaced = {name: f"CASE WHEN {name} IS NOT NULL THEN '' END" for name in _RAW}
    replaced["prompt"] = "md5(prompt)"
    for name in store_columns(con, "logged_responses"):
        kind = COLUMN_BY_NAME[name].kind if name in COLUMN_BY_NAME else "text"
        if kind == "text" and name not in _FIXED:
            replaced[name] = _withheld_sql(name, kept)
    _replace_view(con, "responses_with_texts", replaced)


def _withheld_sql(name: str, kept: Collection[str]) -> str:
    column = quote_identifier(name)
    if name in ("item", "unit"):
        is_text = f"(length({column}) > {NAME_LENGTH} OR regexp_matches({column}, '\\s'))"
    elif name in _ANSWERS:
        is_text = f"(length({column}) > {LABEL_LENGTH} AND lower(trim({column})) NOT IN {quote_texts(_LABELS)})"
    else:
        is_text = f"(length({column}) > {LEVEL_LENGTH} OR contains({column}, chr(10)))"
    is_text += f" AND {column} NOT IN {quote_texts(sorted(kept))}" if kept else ""
    digest = f"{quote_text(WITHHELD)} || left(sha256(lower(trim({column}))), 16)"
    return f"CASE WHEN {is_text} THEN {digest} ELSE {column} END"


def without_quotes(sentence: str, *, known: Collection[str] = ()) -> str:
    """A sentence about the logs without what it quotes from them, but for ``known`` names.

    Examples
    --------
    >>> without_quotes('task "a": answers are "perhaps not", not yes or no', known={"a"})
    'task "a": answers are "…", not yes or no'
    """
    return _QUOTED.sub(lambda quoted: quoted[0] if quoted[0][1:-1] in known else '"…"', sentence)


def _replace_view(con: duckdb.DuckDBPyConnection, former: str, replaced: dict[str, str]) -> None:
    """Put a view with replaced columns in the place of ``logged_responses``, which keeps on as ``former``."""
    listed = ", ".join(f"{value} AS {quote_identifier(name)}" for name, value in replaced.items())
    con.execute(f"ALTER VIEW logged_responses RENAME TO {former}")
    con.execute(f"CREATE VIEW logged_responses AS SELECT r.* REPLACE ({listed}) FROM {former} r")
