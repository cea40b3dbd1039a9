"""Keys of a declaration in TOML: each of its kind, and none that is unknown."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import Expression, parse_expression


def only_keys(raw: Mapping[str, Any], known: set[str], where: str) -> None:
    """Refuse keys beside those that are known."""
    if unknown := sorted(set(raw) - known):
        raise AnalysisError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def table_list(raw: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    """An array of tables; none where the key is absent."""
    found = raw.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise AnalysisError(f"{where}: [[{key}]] must be an array of tables")
    return found


def one_text(value: Any, where: str, *, empty: bool = False) -> str:
    """A text."""
    if not isinstance(value, str) or not (value or empty):
        raise AnalysisError(f"{where} must be a text")
    return value


def several_texts(value: Any, where: str, *, empty: bool = False) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list) or not (value or empty) or not all(isinstance(entry, str) for entry in value):
        raise AnalysisError(f"{where} must be a list of texts")
    return tuple(value)


def chosen_rows(value: Any, where: str) -> Mapping[str, tuple[str, ...]]:
    """Columns with the text, or the texts, that rows have in them."""
    if not isinstance(value, dict):
        raise AnalysisError(f"{where} maps columns to texts")
    found = {column: [texts] if isinstance(texts, str) else texts for column, texts in value.items()}
    for texts in found.values():
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise AnalysisError(f"{where} maps columns to texts")
    return {column: tuple(texts) for column, texts in found.items()}


def one_expression(text: str, where: str) -> Expression:
    """An expression, with the place in the message where it breaks the grammar."""
    try:
        return parse_expression(text)
    except AnalysisError as error:
        raise AnalysisError(f"{where}: {text[:80]!r}: {error}") from error


def one_of(value: str, known: Collection[str], where: str) -> str:
    """A word out of those that are known."""
    if value not in known:
        raise AnalysisError(f"{where} is one of {', '.join(known)}, not {value!r}")
    return value


def known_tables(names: Iterable[str], tables: Collection[str], where: str, *, when: str = "") -> None:
    """Refuse tables that are not declared."""
    for name in names:
        if name not in tables:
            raise AnalysisError(f"{where}: no table {name!r} is declared{when}")


def known_columns(used: set[str], known: set[str], where: str, *, of: str = "") -> None:
    """Refuse columns that a table does not list; ``of`` is its name."""
    if unknown := sorted(used - known):
        listed = f"columns of {of!r} does" if of else "columns does"
        raise AnalysisError(f"{where}: uses {unknown[0]!r}, which {listed} not list", offenders=unknown)
