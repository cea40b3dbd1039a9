"""Reads a stated probability from the text of a reply.

Rules in this order: ``exact`` (the whole reply), ``boxed``, ``json``, ``tagged``, ``last_line`` (a last line that is
only a probability), ``first_line`` (a first line that is only one, or "Answer: p"), ``final_answer`` (after "answer
is", "final answer:", "probability is"; the last of them), ``last_number`` (the last number that is written like a
probability: with a decimal point, a percent sign, as a fraction or in scientific notation).

Set aside, with the reason as rule: ``range`` ("0.6-0.7"), ``bound`` ("less than 5 %"), ``odds`` ("3:1"),
``out_of_range`` (outside [0, 1]: a scale is declared, never guessed), ``conflicting``.
"""

import re

from analysis.parsing.corrections import after_correction
from analysis.parsing.number_words import in_digits
from analysis.parsing.reading import Reading, unanswered
from analysis.parsing.refusal import is_refusal, is_undecided
from analysis.parsing.stated_numbers import BOUND, Stated, stated_numbers
from analysis.parsing.text import prepare, strip_reasoning
from analysis.schema.status import Status

_NAMED = re.compile(
    r"\b(?P<final>(?:final|boxed|json|tagged)\s+)?(?:answer|probability|estimate|likelihood|chance|forecast"
    r"|prediction|credence"
    r"|response|ans|i(?:'d| would)? (?:estimate|guess|say|assign|believe|give)(?: it|"
    r" this)?(?=\b[^.!?\n]*$))\b(?:\s*\([^()\n]{0,60}\))?"
    r"(?:\s+(?:of|that|to|for|here|is|given)\b[^.!?\n:=\d]{0,90}?)??"
    r"\s*(?:[:=≈~]|->|→|\b(?:is|would be|should be|must be|equals|of|at|as|to be)\b|(?<=estimate)|(?<=guess)"
    r"|(?<=say))\s*"
    r"(?:(?:therefore|thus|then|about|approximately|roughly|around|approx\.?|nearly|almost|circa|simply|exactly|a|an"
    r"|the|p|="
    r"|is|~|≈|:|p\([^()\n]{0,40}\))\s*)*$"
)
_ONLY_AROUND = re.compile(
    r"(?:(?:the|my|final|answer|probability|estimate|likelihood|chance|is|about|approximately|roughly|around|approx"
    r"|nearly|so"
    r"|p|of|a|therefore|p\([^()\n]{0,40}\))\b|[\s:=≈~.,;!\"'()\[\]-])*"
)
#: What stands around and between the numbers of a list.
_LIST_GAP = re.compile(r"(?:p\([^()\n]{0,20}\)|\b[a-z]\b|\band\b|[\s,;:=.()\"'])*")
_SEPARATES = re.compile(r"[)\"']*\s*(?:[,;\n]|and\b)")
_OPERATOR = re.compile(r"\s*[-+*×/·−]\s*\d")
_CHANCE = re.compile(r"\)?\s*(?:chance|probability|likelihood|possibility)\b")
_CLAUSE_END = re.compile(r"[.,;]|\band\b|\bwhile\b|\bbut\b")
_DENIES = re.compile(r"\bnot\b|n't\b|\bno\b")
_OF_THE_OPPOSITE = re.compile(r"(?:\bnot\b|n't\b|\bopposite\b|\bcomplement\b)[^.,;]{0,60}$")
_RESULT = re.compile(r"=\s*$|≈\s*$")
_EXPLAINED = re.compile(r"[\"')]*\s*(?:[.,;:](?=\s)|[—–(-]|because\b|since\b|as\b)(?!\s*[\d.]+\s*(?:$|[,;]|%))")
_LABELLED_LINE = re.compile(r"\s*(?:final\s+)?(?:answer|ans|a|probability|p|estimate)\s*[:=]\s*")


def read_probability(text: str, *, percent: bool = False) -> Reading:
    """Read a reply to a question for a probability.

    Parameters
    ----------
    text : str
    percent : bool
        Whether bare numbers are percentages, as the study declares; "%" always means percent.
    """
    stripped = strip_reasoning(text)
    prepared = prepare(stripped.text)
    reading = _read_prepared(prepared, percent) if prepared else unanswered("empty")
    if reading.probability is None and stripped.open_reasoning:
        return unanswered("open_reasoning", Status.TRUNCATED)
    return reading


def _read_prepared(text: str, percent: bool) -> Reading:
    text = in_digits(text)
    numbers = stated_numbers(text, percent=percent)
    if _is_list(text, numbers):
        return unanswered("several")
    corrected = _corrected(text, percent) if numbers else None
    if corrected is not None:
        return corrected
    if not numbers:
        if is_refusal(text):
            return unanswered("refusal", Status.REFUSED)
        return unanswered("undecided" if is_undecided(text) else "none")
    last_line = text.rfind("\n") + 1
    first_end = text.find("\n") if "\n" in text else len(text)
    candidates = (
        ("exact", _only(text, numbers, 0, len(text))),
        ("boxed", _after_marker(text, numbers, "boxed")),
        ("json", _after_marker(text, numbers, "json")),
        ("tagged", _after_marker(text, numbers, "tagged")),
        ("last_line", _only(text, numbers, last_line, len(text))),
        (
            "first_line",
            _only(text, numbers, 0, first_end) or _labelled(text, numbers, first_end) or _opening(text, numbers),
        ),
        ("final_answer", _after_marker(text, numbers, "final") or _named(text, numbers)),
        ("final_answer", _of_a_chance(text, numbers)),
        ("last_number", _last_likely(numbers)),
    )
    rule, chosen = next(((rule, number) for rule, number in candidates if number is not None), ("none", None))
    if chosen is None:
        return unanswered("none")
    if chosen.value is None:
        return unanswered(chosen.reason)
    return Reading(None, rule, Status.ANSWERED, chosen.value)


def _only(text: str, numbers: list[Stated], start: int, end: int) -> Stated | None:
    """The number of a stretch that holds one value and nothing else but its introduction."""
    inside = [n for n in numbers if start <= n.start and n.end <= end]
    if not inside or len({n.value for n in inside}) > 1:
        return None
    at = start
    for number in inside:
        gap = text[at : number.start]
        if _ONLY_AROUND.fullmatch(gap) is None:
            return None if number.reason != "bound" or at != start else number
        at = number.end
    return inside[0] if _ONLY_AROUND.fullmatch(text[at:end]) else None


def _is_list(text: str, numbers: list[Stated]) -> bool:
    """Whether a reply is nothing but different numbers side by side ("0.2, 0.3", "A: 0.3, B: 0.7")."""
    if len({n.value for n in numbers}) < 2:
        return False
    ends = [0, *(n.end for n in numbers)]
    gaps = [text[end : n.start] for end, n in zip(ends, numbers, strict=False)] + [text[ends[-1] :]]
    between = gaps[1:-1]
    return all(_LIST_GAP.fullmatch(gap) for gap in gaps) and all(_SEPARATES.match(gap) for gap in between)


def _corrected(text: str, percent: bool) -> Reading | None:
    """What a reply states behind its last correction, where that is a number and little else."""
    rest = after_correction(text)
    if not rest:
        return None
    numbers = stated_numbers(rest, percent=percent)
    number = _only(rest, numbers, 0, len(rest)) if numbers else None
    if number is None or number.value is None:
        return None
    return Reading(None, "self_correction", Status.ANSWERED, number.value)


def _labelled(text: str, numbers: list[Stated], end: int) -> Stated | None:
    label = _LABELLED_LINE.match(text[:end])
    return _next_number(text, numbers, label.end()) if label else None


def _next_number(text: str, numbers: list[Stated], at: int) -> Stated | None:
    return next((n for n in numbers if n.start >= at and not text[at : n.start].strip(" \"'(~≈<>≤≥")), None)


def _after_marker(text: str, numbers: list[Stated], kind: str) -> Stated | None:
    """The last number named as the answer by a marker of this kind (any kind if empty)."""
    for number in reversed(numbers):
        left = text[max(0, number.start - 200) : number.start]
        if number.reason == "bound":
            left = BOUND.sub("", left)
        named = _NAMED.search(left.rstrip("\"'(").rstrip() + " ")
        if named and (not kind or (named["final"] or "").strip() == kind) and not _OF_THE_OPPOSITE.search(left):
            return _result_of(text, numbers, number)
    return None


def _result_of(text: str, numbers: list[Stated], number: Stated) -> Stated:
    """The result of the calculation that a number begins ("1 - 0.3 = 0.7"), else the number itself."""
    if not _OPERATOR.match(text, number.end):
        return number
    return next((n for n in numbers if n.start > number.start and _RESULT.search(text[: n.start])), number)


def _of_a_chance(text: str, numbers: list[Stated]) -> Stated | None:
    """The last number that is called a chance ("a 30% chance"), unless it is that of the opposite."""
    for number in reversed(numbers):
        noun = _CHANCE.match(text, number.end)
        if noun and not _DENIES.search(_CLAUSE_END.split(text[noun.end() : noun.end() + 60])[0]):
            return number
    return None


def _named(text: str, numbers: list[Stated]) -> Stated | None:
    """The number named as the answer, unless a calculation goes on from it to a result."""
    named = _after_marker(text, numbers, "")
    last = _last_likely(numbers)
    if named is None or last is None or last.start <= named.start:
        return named
    result = _RESULT.search(text[named.end : last.start])
    return last if result and not text[last.end :].strip(" .!*)\"'") else named


def _opening(text: str, numbers: list[Stated]) -> Stated | None:
    """A number with which the reply begins and which a sentence explains; not one that is taken back."""
    first = numbers[0]
    if (
        not first.likely
        or first.value is None
        or _ONLY_AROUND.fullmatch(text[: first.start]) is None
        or not _EXPLAINED.match(text, first.end)
    ):
        return None
    return None if after_correction(text) else first


def _last_likely(numbers: list[Stated]) -> Stated | None:
    likely = [n for n in numbers if n.likely]
    if likely:
        return likely[-1]
    return numbers[0] if len(numbers) == 1 else None
