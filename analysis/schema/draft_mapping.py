"""A ``study.toml`` for tables that are no logs as they are: what each column may be, with the words of the table."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analysis.schema.label_checks import as_yes_no
from analysis.schema.number_texts import number_of
from analysis.schema.quoting import shown
from analysis.schema.toml_texts import toml_table, toml_text, toml_texts

_SHOWN: Final = 4
_COLUMNS: Final = 60
#: Columns that every draft offers; others where a column is called like them.
_ALWAYS: Final = ("model", "item", "output", "gold", "unit", "logged_score", "probability", "strategy")
#: Columns whose words have to be translated, and what to say of them.
_TRANSLATED: Final = {
    "role": "what each probability is of: target, latent, conditional, … (docs/coherence.md)",
    "state": "the state of a latent or conditional",
}
#: A column of roles has at most so many values.
_ROLES: Final = 12
_LETTER: Final = re.compile(r"[A-Za-z]")
#: Texts of this mean length are whole replies.
_REPLY: Final = 12


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Values of one column among the first rows of a table, each once, in order of appearance; empty cells left out."""

    values: tuple[str, ...] = ()


def draft_mapping(
    tables: Mapping[str, Mapping[str, ColumnValues]], found: Mapping[str, Sequence[str]], *, name: str
) -> str:
    """Text of a ``study.toml`` for tables that are no logs as they are: candidates for ``[map]``, all in comments.

    Parameters
    ----------
    tables : mapping of str to mapping of str to ColumnValues
        File -> its columns -> what is in them.
    found : mapping of str to sequence of str
        Column of the schema -> foreign columns that may hold it.
    name : str
        Name of the study.
    """
    columns = {column: values for table in tables.values() for column, values in table.items()}
    models = () if found.get("model") else _alike(columns, found)
    lines = ["[study]", f"name = {toml_text(name or 'study')}", ""]
    for file, table in tables.items():
        lines += [f"# {toml_text(file)} has the columns", *(_described(c, v) for c, v in [*table.items()][:_COLUMNS])]
        lines += [f"#   … and {len(table) - _COLUMNS} more"] if len(table) > _COLUMNS else []
    lines += ["# Nothing is guessed: take the # off the lines that are right, then run `evenhand validate`.", "[map]"]
    for column, names in found.items():
        kept = [foreign for foreign in names if foreign not in models]
        if column not in _ALWAYS and not kept:
            continue
        if column in _TRANSLATED:
            lines += [f"# {rule}   # {_TRANSLATED[column]}" for rule in _words(columns, column, kept)]
            continue
        others = {*models, *found.get("output", ())}
        rules = _gold(columns, kept, others) if column == "gold" else [f"{column} = {toml_text(c)}" for c in kept]
        lines += [f"# {rule}" for rule in rules] or [f'# {column} = "…"']
    lines += [
        '# model = { value = "…" }   # where one model gave all responses',
        '# item = { from = ["…", "…"] }   # where only several columns tell all questions and wordings apart',
    ]
    if found.get("probability"):
        lines += _asked(columns, found)
    if not any("values" in rule for rule in lines):
        lines.append('# gold = { from = "…", values = { TRUE = "yes", FALSE = "no" } }   # gold answers in other words')
    kind = _kind(columns[models[0]]) if models else "answer"
    lines += [
        "",
        "# [wide]      # where every model has a column of its own: then [map] needs no model",
        f"# models = {toml_texts(models or ('…', '…'))}",
        f"# value = {toml_text(kind)}   # what its cells hold: answer, output, logged_score or probability",
        "",
        "# [reading]   # where responses say yes and no in other words",
        '# synonyms = { yes = ["ja"], no = ["nein"] }',
    ]
    return "\n".join(lines) + "\n"


def _asked(columns: Mapping[str, ColumnValues], found: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines for probabilities that are to agree with each other: which column says what each is a probability of."""
    others = {name for names in found.values() for name in names}
    few = [name for name, cells in columns.items() if name not in others and 1 < len(cells.values) <= _ROLES]
    names = [*found.get("role", ()), *few, "…"][:1]
    return [
        f"# {rule}   # {said}"
        for column, said in _TRANSLATED.items()
        if not found.get(column)
        for rule in _words(columns, column, names)
    ]


def _words(columns: Mapping[str, ColumnValues], column: str, names: Sequence[str]) -> list[str]:
    """Rules that translate the words of a column, each of which is to be filled in."""
    rules = []
    for name in names:
        values = columns[name].values if name in columns else ()
        words = toml_table(dict.fromkeys(values[:_ROLES] or ("…",), "…"))
        left_out = ', default = ""' if column == "state" or len(values) > _ROLES else ""
        rules.append(f"{column} = {{ from = {toml_text(name)}, values = {words}{left_out} }}")
    return rules


def _described(column: str, cells: ColumnValues) -> str:
    values = cells.values
    listed = ", ".join(shown(value, limit=30) for value in values[:_SHOWN]) + (", …" if len(values) > _SHOWN else "")
    return f"#   {toml_text(column)}: {listed or 'empty'}"


def _gold(columns: Mapping[str, ColumnValues], names: Sequence[str], others: Collection[str]) -> list[str]:
    """Rules for the right answer: columns named so, and others that say yes and no in other words."""
    pairs = {c: as_yes_no(v.values) for c, v in columns.items() if c not in others and len(set(v.values)) == 2}
    rules = []
    for column in dict.fromkeys([*names, *(column for column, words in pairs.items() if words)]):
        words = pairs.get(column) or {}
        if all(word == answer for word, answer in words.items()):
            rules.append(f"gold = {toml_text(column)}")
        else:
            rules.append(f"gold = {{ from = {toml_text(column)}, values = {toml_table(words)} }}")
    return rules


def _alike(columns: Mapping[str, ColumnValues], found: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Columns that may be models: the largest set of two or more whose cells are of one kind and have no other use."""
    used = {name for key in ("item", "gold", "unit", "strategy") for name in found.get(key, ())}
    groups: dict[str, list[str]] = {}
    for column, cells in columns.items():
        if column not in used and (kind := _vocabulary(cells)):
            groups.setdefault(kind, []).append(column)
    largest = max(groups.values(), key=len, default=[])
    return tuple(largest) if len(largest) > 1 else ()


def _vocabulary(cells: ColumnValues) -> str:
    """What all cells of a column are; empty where they are nothing that answers are."""
    values = cells.values
    if not values:
        return ""
    if words := as_yes_no(values):
        return "yes/no" if all(w.strip().casefold() == a for w, a in words.items()) else "other words"
    if all(_LETTER.fullmatch(value.strip()) for value in values):
        return "letters"
    numbers = [number_of(value, hundred=1.0, decimal_comma=True) for value in values]
    if all(number is not None for number in numbers):
        return "shares" if all(0 <= (number or 0) <= 1 for number in numbers) else ""
    return "texts" if sum(map(len, values)) >= _REPLY * len(values) else ""


def _kind(cells: ColumnValues) -> str:
    kind = _vocabulary(cells)
    return {"shares": "logged_score", "texts": "output"}.get(kind, "answer")
