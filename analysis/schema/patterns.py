"""Regular expressions of ``study.toml``, matched in a time that grows with the text and no faster.

Python's engine tries every way in which nested repeats can divide a text: ``^(a+)+$`` does not return on
sixty letters. RE2, which Arrow brings, has no such patterns; it has no lookaround and no back references either.

References
----------
Cox (2007), Regular Expression Matching Can Be Simple And Fast, https://swtch.com/~rsc/regexp/regexp1.html.
"""

import re
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

#: A replacement of RE2 names nine groups: the whole match, these, and one that tells that there are more.
MAX_GROUPS: Final = 7
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def pattern_problem(regex: str) -> str | None:
    """Why a text is no pattern, or None."""
    try:
        count = _groups(regex)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        reason = str(error).removeprefix("Invalid regular expression: ")
        return f"not a regular expression of RE2, which has no lookaround and no back references: {reason}"
    return f"has more than {MAX_GROUPS} groups" if count > MAX_GROUPS else None


def matched_parts(regex: str, texts: Sequence[str]) -> list[str | None]:
    """For each text the first group that matched something, or the whole match of a pattern without groups.

    Parameters
    ----------
    regex : str
        A pattern in which ``pattern_problem`` finds none.
    texts : sequence of str

    Returns
    -------
    list of str or None
        None where the pattern, or none of its groups, matches anything.
    """
    subjects = pa.array([_SURROGATE.sub("\ufffd", text) for text in texts], pa.string())
    matched = pc.match_substring_regex(subjects, regex).to_pylist()
    groups = range(2, 2 + _groups(regex)) or (1,)
    parts = [_replaced(subjects, regex, group).to_pylist() for group in groups]
    return [
        next((part for part in found if part), None) if hit else None
        for hit, *found in zip(matched, *parts, strict=True)
    ]


def _groups(regex: str) -> int:
    """Number of groups; one more than ``MAX_GROUPS`` where there are more."""
    nothing = pa.array([""], pa.string())
    pc.match_substring_regex(nothing, regex)
    count = 0
    while count <= MAX_GROUPS:
        try:
            _replaced(nothing, f"(?:{regex}|)", count + 2)
        except pa.ArrowInvalid:
            break
        count += 1
    return count


def _replaced(subjects: pa.Array, regex: str, group: int) -> pa.Array:
    """Texts of which one group of the first match is left; 1 is the whole match."""
    around = rf"\A(?s:.*?)({regex})(?s:.*)\z"
    return pc.replace_substring_regex(subjects, pattern=around, replacement=f"\\{group}", max_replacements=1)
