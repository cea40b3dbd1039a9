"""Names and values from logs, made safe for SQL text and for a terminal."""

_SHOWN = 80


def quote_identifier(name: str) -> str:
    """SQL identifier for a column or table of any name, quotes and control characters included."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(value: str) -> str:
    """SQL string literal; for definitions of views, which take no parameters."""
    return "'" + value.replace("'", "''") + "'"


def quote_texts(values: tuple[str, ...] | list[str]) -> str:
    """SQL list of string literals, for ``IN``; ``(NULL)``, which nothing equals, when there is none."""
    return "(" + (", ".join(quote_text(value) for value in values) or "NULL") + ")"


def named(column: str) -> str:
    """Name of a column for a message: as it is where that is plain, else as ``shown``."""
    return column if column.isprintable() and len(column) <= _SHOWN else shown(column)


def named_task(task: str) -> str:
    """A task for a message; logs without one hold the unnamed task."""
    return f"task {shown(task)}" if task else "the unnamed task"


def shown(value: str, *, limit: int = _SHOWN) -> str:
    """Value in quotes for a message: control and direction characters escaped, long values cut.

    Logs are untrusted: an escape sequence or a right-to-left mark in a name must not act on the
    terminal that prints it.
    """
    cut = value if len(value) <= limit else value[: limit - 1] + "…"
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + '"'
