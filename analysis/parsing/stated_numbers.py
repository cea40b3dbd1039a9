"""Numbers stated in a text and what each is worth as a probability: percentages, fractions, powers, ranges, bounds."""

import re
from typing import NamedTuple

_THOUSANDS = r"[1-9]\d{0,2}(?:,\d{3})+"
_DIGITS = (
    rf"(?:{_THOUSANDS}(?:[.]\d{{1,20}})?|\d{{1,9}}(?:[.]\d{{1,20}})?|[.]\d{{1,20}}|0,\d{{1,20}}"
    r"|\d{1,2},\d{1,2}(?=[ ]?%))"
)
_POWER = r"10[ ]?(?:\^|\*\*)[ ]?[({]?[ ]?(?P<power>[-+]?\d{1,3})[)}]?"
_SCIENTIFIC = (
    rf"{_DIGITS}[ ]?(?:e|(?:x|×|\*|\\times)[ ]?10[ ]?\^?[ ]?)[ ]?[({{]?[ ]?(?P<exponent>[-+]?\d{{1,3}})[)}}]?|{_POWER}"
)
_PERCENT = r"[ ]?(?:\\?%|percent\b|per cent\b|pct\b)"
#: One number with what belongs to it, from the longest form to the shortest.
_NUMBER = re.compile(
    rf"(?<![\w.,/:])(?P<sign>-[ ]?)?(?:(?P<sci>{_SCIENTIFIC})"
    rf"|(?P<odd_a>\d{{1,6}})[ ]?:[ ]?(?P<odd_b>\d{{1,6}})"
    rf"|(?P<num>{_DIGITS})[ ]?(?:/|(?<!\.\d )(?<!\.\d\d )(?:\bin\b|\bout of\b|\bof\b))[ ]?(?P<den>{_DIGITS})(?![ ]?/)"
    rf"|(?P<plain>{_DIGITS})(?P<percent>{_PERCENT})?)(?![\w/]|[.,]\d)"
)
_RANGE = re.compile(
    rf"(?:\bbetween\s+)?(?<![\w.])(?P<low>{_DIGITS})(?P<low_percent>{_PERCENT})?[ ]?(?:-|–|—|\bto\b|\band\b|\bor\b)[ ]?"
    rf"(?P<high>{_DIGITS})(?P<high_percent>{_PERCENT})?(?!\w|[.]\d)"
    rf"|[\[(][ ]?(?P<from>{_DIGITS}),[ ]?(?P<upto>{_DIGITS})[ ]?[\])]|\bfrom {_DIGITS}/{_DIGITS} to {_DIGITS}/{_DIGITS}"
)
#: What makes a range a mere addition to the number itself.
_ALSO_RANGE = re.compile(
    r"\b(?:range|interval|ci|bounds?)\b(?: of| is|from|between|[\s:=])*[\[(]*$|[\d%] ?\((?:between )?$"
)
_FIFTY = re.compile(r"\b50\s?[-/:–]\s?50\b|\bfifty[- ]fifty\b")
BOUND = re.compile(
    r"(?:[<>≤≥]=?|\b(?:less|more|greater|lower|higher|fewer|smaller|larger) than|\bat (?:least|most)"
    r"|\b(?:over|under|below|above|exceeds|up to|no more than|no less than))\s*$"
)
_MARGIN = re.compile(r"(?:±|\+/-|\+-)\s*$")
_CONFIDENCE_BEFORE = re.compile(r"\bconfiden(?:ce|t)\b(?: level)?(?: is| of)?[\s:=(\"']*$")
_CONFIDENCE_AFTER = re.compile(r"\s*(?:confiden|credible|ci\b)")


class Stated(NamedTuple):
    """One number of a text: where, its value in [0, 1] or None with the reason, and whether it looks like one."""

    start: int
    end: int
    value: float | None
    reason: str
    likely: bool


def stated_numbers(text: str, *, percent: bool = False) -> list[Stated]:
    """Every number of a prepared text with its value as a probability, in order."""
    found = [Stated(m.start(), m.end(), 0.5, "", True) for m in _FIFTY.finditer(text)]
    taken = [(s.start, s.end) for s in found]
    for span in _RANGE.finditer(text):
        if _is_range(span) and not _overlaps(span, taken):
            found.append(Stated(span.start(), span.end(), None, "range", True))
            taken.append(span.span())
    for number in _NUMBER.finditer(text):
        if not _overlaps(number, taken) and not _is_margin(text, number):
            found.append(_stated(text, number, percent))
    stated = sorted(found)
    return [n for n in stated if not _is_beside(text, n)] or stated


def _is_margin(text: str, number: re.Match[str]) -> bool:
    return _MARGIN.search(text[max(0, number.start() - 6) : number.start()]) is not None


def _is_beside(text: str, number: Stated) -> bool:
    """A level of confidence, or a range, beside the probability itself."""
    if number.reason == "range":
        return _ALSO_RANGE.search(text[max(0, number.start - 24) : number.start]) is not None
    before, after = text[max(0, number.start - 24) : number.start], text[number.end : number.end + 16]
    return _CONFIDENCE_BEFORE.search(before) is not None or _CONFIDENCE_AFTER.match(after) is not None


def _is_range(span: re.Match[str]) -> bool:
    if span["low"] is None:
        return span["from"] is None or _decimal(span["from"]) < _decimal(span["upto"])
    low, high = _decimal(span["low"]), _decimal(span["high"])
    if span["high_percent"] and not span["low_percent"] and low < 1 <= high:
        return low != high / 100
    return low < high


def _overlaps(found: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(found.start() < end and start < found.end() for start, end in taken)


def _stated(text: str, number: re.Match[str], percent: bool) -> Stated:
    value, reason, likely = _value(number, percent)
    if reason == "" and BOUND.search(text[max(0, number.start() - 24) : number.start()]):
        value, reason = None, "bound"
    elif reason == "" and value is not None and (number["sign"] or not 0 <= value <= 1):
        value, reason = None, "out_of_range"
    return Stated(number.start(), number.end(), value, reason, likely)


def _value(number: re.Match[str], percent: bool) -> tuple[float | None, str, bool]:
    if number["odd_a"]:
        return None, "odds", False
    scale = 100 if percent else 1
    if number["power"]:
        return 10.0 ** int(number["power"]) / scale, "", True
    if number["sci"]:
        mantissa = re.match(_DIGITS, number["sci"])
        return (_decimal(mantissa[0]) if mantissa else 0.0) * 10.0 ** int(number["exponent"]) / scale, "", True
    if number["den"]:
        below = _decimal(number["den"])
        return (None, "out_of_range", False) if below == 0 else (_decimal(number["num"]) / below, "", True)
    plain = _decimal(number["plain"])
    if number["percent"]:
        return plain / 100, "", True
    return plain / scale, "", percent or not number["plain"].isdigit()


def _decimal(digits: str) -> float:
    return float(digits.replace(",", "" if re.match(_THOUSANDS, digits) else "."))
