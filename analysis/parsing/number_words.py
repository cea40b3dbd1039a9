"""Numbers written out ("one in four", "sixty percent", "one half") put into digits."""

import re

# fmt: off
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}
# fmt: on
_VALUE = {word: at for at, word in enumerate(_ONES)} | _TENS | {"hundred": 100, "a hundred": 100, "one hundred": 100}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_NUMBER = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])}))?|(?:a |one )?hundred|{'|'.join(reversed(_ONES))})"
)
_SHARE = re.compile(rf"\b({_NUMBER})\s+(?:in|out of)\s+({_NUMBER})\b")
_PERCENT = re.compile(rf"\b({_NUMBER})\s+(percent|per cent)\b")
_FRACTION = re.compile(rf"\b(a|an|{_NUMBER})[ -]({'|'.join(_PARTS)})s?\b")
_ALONE = re.compile(rf"[\s\"'(*]*(?:(about|roughly|around)\s+)?({_NUMBER}|half)[\s.!\"')*]*")
_MAY_HOLD = re.compile(r"percent|per cent|half|third|quarter|fourth|fifth|tenth|\bin\b|out of")


def in_digits(prepared: str) -> str:
    """A prepared text without digits in which written shares, percentages and fractions stand in digits.

    A lone number word counts only where it is the whole reply. Texts with digits are left alone: they state
    their numbers in digits, and "one" is then an ordinary word.
    """
    if re.search(r"\d", prepared):
        return prepared
    alone = _ALONE.fullmatch(prepared) if len(prepared) < 40 else None
    if alone:
        return "0.5" if alone[2] == "half" else str(_value(alone[2]))
    if not _MAY_HOLD.search(prepared):
        return prepared
    text = _SHARE.sub(lambda found: f"{_value(found[1])} in {_value(found[2])}", prepared)
    text = _PERCENT.sub(lambda found: f"{_value(found[1])} percent", text)
    return _FRACTION.sub(lambda found: f"{_numerator(found[1])}/{_PARTS[found[2]]}", text)


def _numerator(word: str) -> int:
    return 1 if word in ("a", "an") else _value(word)


def _value(words: str) -> int:
    known = _VALUE.get(words)
    return known if known is not None else sum(_VALUE[word] for word in re.split(r"[- ]", words))
