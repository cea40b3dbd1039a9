"""Scores of Inspect samples: which scorer is the main one, and on which scale its values are numbers."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

#: The harness's own numbers for its four letters.
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


def sample_scores(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Values of one sample by scorer; a value that is an object gives one entry ``scorer.key`` for each key."""
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        scores = {"score": sample["score"]} if isinstance(sample.get("score"), dict) else {}
    found: dict[str, Any] = {}
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found |= {f"{name}.{key}": part for key, part in value.items()}
        elif value is not None:
            found[name] = value
    return found


def as_number(value: Any) -> float | None:
    """A finite number, number text or truth value as a float; None for anything else."""
    if isinstance(value, str):
        value = float(value) if _NUMBER.fullmatch(value) else None
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_not_finite(value: Any) -> bool:
    """Whether a logged value is NaN or infinite, written bare or as text."""
    if isinstance(value, str):
        return value.strip().lower().lstrip("+-") in {"nan", "inf", "infinity"}
    return isinstance(value, float) and not math.isfinite(value)


def scale(values: Iterable[Any]) -> str:
    """Scale of all values of one scorer in one file: ``letters``, ``numbers``, ``words`` or ``mixed``.

    NaN and infinite values say nothing about it. Only ``letters`` (exactly C, P, I, N) and
    ``numbers`` have numeric values: the letter I of a scorer with other categories is no "incorrect".
    """
    kinds = set()
    for value in values:
        if is_not_finite(value):
            continue
        if isinstance(value, str) and value in LETTERS:
            kinds.add("letters")
        else:
            kinds.add("words" if as_number(value) is None else "numbers")
    if kinds == {"letters", "words"}:
        return "words"
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "words"


def score_number(value: Any, kind: str) -> float | None:
    """Value on its scale as a number, or None where the scale has none."""
    if kind == "letters":
        return LETTERS.get(value) if isinstance(value, str) else None
    return as_number(value) if kind == "numbers" else None


def main_scorer(header: Mapping[str, Any], scorers: Iterable[str], asked: str | None) -> str | None:
    """Name of the main scorer: the one asked for, else the first that the header lists, else the first seen.

    Parameters
    ----------
    header : mapping
        Header of the log.
    scorers : iterable of str
        Names as ``sample_scores`` gives them, in order of appearance.
    asked : str or None
        A name, or ``scorer`` for the first key of a scorer whose values are objects.
    """
    seen = list(scorers)
    for wanted in [asked] if asked is not None else _listed(header):
        for name in seen:
            if name == wanted or name.startswith(f"{wanted}."):
                return name
    return None if asked is not None or not seen else seen[0]


def _listed(header: Mapping[str, Any]) -> list[str]:
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, dict) else None
    named = [score for score in scores or [] if isinstance(score, dict)] if isinstance(scores, list) else []
    names = [f"{score.get('scorer')}.{score.get('name')}" for score in named]
    names = [name for pair in zip(names, [str(score.get("scorer")) for score in named], strict=True) for name in pair]
    evaluation = header.get("eval")
    scorers = evaluation.get("scorers") if isinstance(evaluation, dict) else None
    for scorer in scorers if isinstance(scorers, list) else []:
        name = scorer.get("name") if isinstance(scorer, dict) else None
        if isinstance(name, str):
            names += [name, name.rpartition("/")[2]]
    return names
