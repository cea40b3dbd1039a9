"""Answers of log-likelihood multiple choice: labels, argmax, ties, gold, probability of yes."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.importers.json_text import as_text
from analysis.importers.lm_eval_requests import Request, loglikelihood
from analysis.schema.status import Status

ARGMAX, TIE = "argmax", "tie"
#: Longest text that is used as the label of its choice; longer choices are called A, B, C ...
LABEL_LENGTH = 20
TIED = "log-likelihoods tie at the top: no answer (the harness takes the first of them)"
NO_NUMBER = "a log-likelihood is no number: no answer"
CONTRADICTED = "target and acc disagree about the right choice: no gold answer"
_SEVERAL = re.compile(r"mc2(?:\b|_)")


@dataclass(frozen=True, slots=True)
class Choice:
    """Outcome of one multiple-choice document; ``gold`` is None where no single choice is right."""

    labels: tuple[str, ...]
    answer: str | None
    rule: str | None
    status: str | None
    gold: str | None
    p_yes: float | None
    loglikelihoods: tuple[float, ...]
    notes: tuple[str, ...]


def choice_labels(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Labels of choices: their own words where these are short and distinct, else letters by position.

    Yes and no are written as the standard vocabulary has them.
    """
    stripped = tuple(text.strip() for text in texts)
    folded = tuple(text.casefold() if text.casefold() in {"yes", "no"} else text for text in stripped)
    short = all(0 < len(text) <= LABEL_LENGTH and not re.search(r"\s", text) for text in stripped)
    if short and len(set(folded)) == len(folded):
        return folded
    if len(texts) > 26:
        return tuple(str(i + 1) for i in range(len(texts)))
    return tuple(chr(ord("A") + i) for i in range(len(texts)))


def read_choice(competing: tuple[Request, ...], target: Any, accuracy: Any, task: str) -> Choice:
    """Find answer and gold of one document.

    Parameters
    ----------
    competing : tuple of Request
        One request per choice.
    target : any
        Logged target: an index, a letter, a choice's text, or something that names no single choice.
    accuracy : any
        Logged ``acc``, which decides where the target can be read in two ways.
    task : str
        Name of the task; of ``truthfulqa_mc2`` and its kin the target says nothing.
    """
    texts = tuple(request.continuation or "" for request in competing)
    labels = choice_labels(texts)
    values = tuple(loglikelihood(request.replies[0]) if request.replies else math.nan for request in competing)
    if any(math.isnan(value) for value in values):
        gold, notes = _gold(labels, texts, target, None, None, task)
        return Choice(labels, None, None, Status.UNPARSED, gold, None, values, (NO_NUMBER, *notes))
    top = [i for i, value in enumerate(values) if value == max(values)]
    # The harness itself takes the first of tied choices.
    gold, notes = _gold(labels, texts, target, accuracy, top[0], task)
    p_yes = yes_probability(labels, values)
    if len(top) > 1:
        return Choice(labels, None, TIE, Status.UNPARSED, gold, p_yes, values, (TIED, *notes))
    return Choice(labels, labels[top[0]], ARGMAX, None, gold, p_yes, values, notes)


def yes_probability(labels: tuple[str, ...], values: tuple[float, ...]) -> float | None:
    """Share of yes in the probability of the two choices yes and no; None for other choices.

    Parameters
    ----------
    labels : tuple of str
    values : tuple of float
        Log-likelihoods, natural logarithm.
    """
    if sorted(labels) != ["no", "yes"]:
        return None
    yes, no = values[labels.index("yes")], values[labels.index("no")]
    if math.isinf(yes) and math.isinf(no):
        return None
    gap = no - yes
    return 1 / (1 + math.exp(gap)) if gap < 0 else math.exp(-gap) / (1 + math.exp(-gap))


def _gold(
    labels: tuple[str, ...], texts: tuple[str, ...], target: Any, accuracy: Any, first_top: int | None, task: str
) -> tuple[str | None, tuple[str, ...]]:
    if _SEVERAL.search(task):
        return None, ()
    meant = _positions(labels, texts, as_text(target).strip())
    if len(texts) > 1 and len(set(texts)) == 1:
        # The choices are in the contexts, and the target repeats what follows all of them.
        meant = list(range(len(texts)))
    right = _right_or_wrong(accuracy)
    if right is None and isinstance(accuracy, (int, float)):
        # A share of probability: several choices are right.
        return None, ()
    fits = [at for at in meant if right is None or first_top is None or (at == first_top) == right]
    if meant and not fits:
        return None, (CONTRADICTED,)
    return (labels[fits[0]], ()) if len(fits) == 1 else (None, ())


def _right_or_wrong(accuracy: Any) -> bool | None:
    return bool(accuracy) if isinstance(accuracy, (bool, int, float)) and accuracy in (0, 1) else None


def _positions(labels: tuple[str, ...], texts: tuple[str, ...], target: str) -> list[int]:
    """Positions that a target may mean: as an index, as a choice's text or label, as a letter."""
    found: set[int] = set()
    if target.isascii() and target.isdigit() and len(target) < 6 and int(target) < len(texts):
        found.add(int(target))
    named = [i for i, text in enumerate(texts) if target and text.strip() == target]
    named = named or [i for i, label in enumerate(labels) if target and label == target.casefold()]
    if len(named) == 1:
        found.add(named[0])
    elif not named and len(target) == 1 and "A" <= target <= "Z" and ord(target) - ord("A") < len(texts):
        found.add(ord(target) - ord("A"))
    return sorted(found)


def choice_columns(choice: Choice, texts: tuple[str, ...], target: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Columns and extra columns of one document's only response."""
    columns: Mapping[str, Any] = {
        "answer": choice.answer,
        "rule": choice.rule,
        "status": choice.status,
        "gold": choice.gold,
        "p_yes": choice.p_yes,
    }
    extra = {
        "meta.choices": as_text([text.strip() for text in texts]),
        "meta.loglikelihood": as_text(list(choice.loglikelihoods)),
        "meta.target": as_text(target).strip(),
    }
    return dict(columns), extra
