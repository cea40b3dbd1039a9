"""How results show themselves: one short text, and the same with its table for notebooks."""

import html
from collections.abc import Mapping, Sequence

import pandas as pd

_ROWS = 20


def summary_text(title: str, lines: Sequence[str], tables: Mapping[str, pd.DataFrame]) -> str:
    """A title, one line each, and the sizes of the tables; characters that steer a terminal are left out."""
    sizes = [f"{name}: {len(table):,} rows" for name, table in tables.items() if len(table)]
    text = "\n".join([title, *(f"  {line}" for line in (*lines, *sizes) if line)])
    return "".join(character if character == "\n" or character.isprintable() else " " for character in text)


def summary_html(title: str, lines: Sequence[str], tables: Mapping[str, pd.DataFrame]) -> str:
    """The same for notebooks, with the first rows of each table; text from logs is escaped."""
    said = "".join(f"<li>{html.escape(line)}</li>" for line in lines if line)
    parts = [f"<p><b>{html.escape(title)}</b></p>", f"<ul>{said}</ul>" if said else ""]
    for name, table in tables.items():
        if len(table):
            shown = table.head(_ROWS).dropna(axis="columns", how="all")
            more = f", first {_ROWS} of {len(table):,} rows" if len(table) > _ROWS else f", {len(table):,} rows"
            parts.append(f"<p>{html.escape(name)}{more}</p>{shown.to_html(index=False, escape=True, border=0)}")
    return "".join(character if character == "\n" or character.isprintable() else " " for character in "".join(parts))
