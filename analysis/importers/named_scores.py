"""Scores that a record carries by name: which of them is the main one, and the columns they fill."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.importers.inspect_scores import as_number, is_not_finite
from analysis.importers.json_text import as_text

UNSCORED = "no score of its own in the log"


def main_score(names: Iterable[str], asked: str | None, preferred: tuple[str, ...] = ()) -> str | None:
    """Name of the main score: the one asked for, else the first preferred one, else the first of all.

    Parameters
    ----------
    names : iterable of str
        Names that the log has, in order of appearance.
    asked : str or None
        Name that the user wants; nothing else is taken in its place.
    preferred : tuple of str
        Names in order of preference.
    """
    known = list(names)
    if asked is not None:
        return asked if asked in known else None
    return next((name for name in preferred if name in known), known[0] if known else None)


def absent_scorer(names: Iterable[str], asked: str | None) -> tuple[str, ...]:
    """The note that the scorer asked for is not in the log, if so."""
    known = list(names)
    if asked is None or asked in known:
        return ()
    return (f'no scorer "{asked}" in this log (it has: {", ".join(sorted(known)) or "none"}): rows are unscored',)


def score_columns(
    scores: Mapping[str, Any], main: str | None, source: str
) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    """Columns of the main score, extra columns ``score.<name>`` of the others, and notes.

    Parameters
    ----------
    scores : mapping
        Numbers, truth values and texts by name; None is no score.
    main : str or None
        Name of the main score.
    source : str
        Place of the record, for notes about values that are no number.
    """
    extra = {f"score.{name}": as_text(value) for name, value in scores.items() if name != main and value is not None}
    notes = tuple(
        f'score "{name}": {as_text(value)} is no score, kept as missing ({source})'
        for name, value in scores.items()
        if is_not_finite(value)
    )
    value = scores.get(main) if main is not None else None
    if value is None:
        return {}, extra, notes
    return {"logged_score": as_text(value), "score_value": as_number(value)}, extra, notes
