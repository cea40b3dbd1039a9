"""Where a text takes back what it said: marks of a correction, and answers that are taken back without another.

Some marks say so outright ("scratch that", "I misread"); others only open a second look ("hmm", "let me check"),
which may well confirm the first answer: behind those, another answer counts only where it is drawn as a conclusion.
"""

import re

_OUTRIGHT = (
    r"scratch that|strike that|i (?:take|took) (?:that|it|this) back|taking (?:that|it) back|i (?:misread|misspoke"
    r"|misjudged"
    r"|overlooked|missed|misinterpreted|misunderstood|miscounted|stand corrected|was wrong|was mistaken|made (?:a|an) "
    r"(?:mistake|error)|got that wrong|need to correct|must correct|have to correct|should correct|change my (?:mind"
    r"|answer))"
    r"|that (?:can't|cannot|can not|doesn't (?:seem|look|sound)|isn't|does not (?:seem|look|sound)) (?:be )?right\b"
    r"|(?:that|this|it)(?:'s| is| was)(?: actually)? (?:wrong|not right|an error|a mistake|a slip|a typo|too quick"
    r"|too hasty"
    r"|hasty|premature)(?= *(?:[.,;:!—–\n-]|$))|my (?:mistake|bad|error)\b|i (?:now|changed|have changed|'ve changed)\b"
    r"|(?:i'm|i am) (?:changing|revising|correcting)|i should (?:have|rather) sa(?:id|y)|make that\b|never ?mind\b"
    r"|(?:disregard|ignore|forget) (?:that|this|my|the)\b|i (?:retract|withdraw)\b|i see (?:it )?now\b|now i see\b"
    r"|(?:oh|ah),? i see\b|correction\b|edit(?:ed)?:"
    r"|update:|i meant?\b|or rather\b|let me (?:correct|rephrase|revise|fix)\b|oops\b|whoops\b|i apologi[sz]e"
    r"|revised\b|corrected\b|new answer\b"
)
_SECOND_LOOK = (
    r"(?:no,? )?wait\b|err?\b|after (?:re|double|check|look|think|closer|further|consider|some |careful)|hold on\b"
    r"|hang on\b|h+m+\b|actually\b|sorry\b|apologies\b|then again,"
    r"|(?:actually,? )?let me (?:re|double|think|look|check|try|start over|go back)|on second thoughts?\b"
    r"|(?:up)?on (?:closer|further|second|re-?reading|reflection|more careful|careful)"
    r"|looking (?:at (?:it|this) )?(?:again|closer|more closely)|thinking (?:about (?:it|this) )?(?:again|more"
    r"|further|harder)"
)
_CLAUSE = r"(?:^|[.!?;:…—–(\n,-]\s*(?:(?:but|and|oh|no|yes|ah|well|however)[\s,]+)?)"
_CORRECTION = re.compile(rf"\b(?:{_OUTRIGHT})")
_REVIEW = re.compile(rf"{_CLAUSE}(?:{_SECOND_LOOK})")
_CONCLUDES = re.compile(
    r"(?:\b(?:so|thus|hence|therefore|consequently|accordingly|conclusion|then)\b[,:]?\s*|\n\s*)[\"'(]*$"
)
_OPENING_MARKS = re.compile(r"^(?:[\s.,:;!?…—–-]|(?:no|it's|it is|i mean|i meant|should be|that's)\b)+")
_BARE = re.compile(r"\w+[\"')\]]*\s*(?:[.!…]|\n|$)")
#: Begins with a mark of punctuation, so that a search can skip to the next one.
_MARK = r"[.!?;:…—–(\n,-]\s*(?:(?:but|and|or|oh|no|although|though|however)[\s,]+)?"
#: Behind the last answer: it is in doubt again, or taken back, and nothing follows that settles it.
_DOUBTS = (
    r"(?:(?:no,? )?wait|hold on|hang on)\b(?= *(?:[.,;:!?…—–-]|\n|$|actually|no\b|let|i\b|that|this))|h+m+\b"
    r"|(?:now )?i(?:'m| am) (?:now )?(?:doubting|having doubts|not so sure|no longer (?:so )?sure"
    r"|not (?:so )?sure (?:any ?more|now|about that|of that))|i don't know\b|i can(?:'t|not) (?:decide|tell)\b"
    r"|(?:actually,? )?let me (?:re-?(?:consider|think|check|read|examine|evaluate|visit|do|vise|assess)|double"
    r"|think|correct"
    r"|look (?:again|at this again))|on (?:second thoughts?|reflection|re-?reading)|upon (?:closer|further) "
)
_WITHDRAWALS = (
    r"oops\b|whoops\b|scratch that|strike that|(?:actually,? )?i (?:take|took) (?:that|it|this) back|i misread|i"
    r" misspoke"
    r"|i was wrong|or rather\b|never ?mind|(?:disregard|ignore) (?:that|this)"
    r"|(?:that|this)(?:'s| is| was) (?:actually )?(?:wrong|a mistake|an error|not right)(?= *(?:[.,;!—–\n-]|$))"
)
_TAKEN_BACK = re.compile(r"take (?:it|that) back[.!\s]*$")
_DOUBT = re.compile(rf"{_MARK}(?:{_DOUBTS})")
_RETRACTION = re.compile(rf"{_MARK}(?:{_DOUBTS}|{_WITHDRAWALS})")


#: "No -> Yes (revised)".
_ARROW = re.compile(r"s?\W*(?:→|->|=>)\W*")
_REVISED = re.compile(r"\w+\W+(?:revised|corrected|changed|updated|correction|after)\b")


def is_corrected(text: str, earlier: int, later: int) -> bool:
    """Whether a text takes back the answer at ``earlier`` before it gives another at ``later``."""
    between = text[earlier + 2 : later]
    if _CORRECTION.search(between) or (_ARROW.fullmatch(between) and _REVISED.match(text, later)):
        return True
    if _REVIEW.search(between) is None:
        return False
    return _CONCLUDES.search(between) is not None or _BARE.match(text, later) is not None


def after_correction(text: str) -> str | None:
    """What follows the last mark of a correction; None without one, empty if a text ends by taking itself back."""
    marks = [found.end() for found in _CORRECTION.finditer(text)] + [found.end() for found in _REVIEW.finditer(text)]
    if not marks or not text[: min(marks)].strip():
        return None
    return _OPENING_MARKS.sub("", text[max(marks) :])


def is_conclusion(text: str, at: int) -> bool:
    """Whether the answer at ``at`` is introduced as one that follows, or has a line of its own."""
    return _CONCLUDES.search(text[max(0, at - 24) : at]) is not None


def is_retracted(text: str, at: int, *, corrected: bool = False) -> bool:
    """Whether a text takes back its last answer, at ``at``, and gives no other.

    Behind an answer that corrects an earlier one, "I misread it" is about the earlier one.
    """
    if corrected:
        return _DOUBT.search(text, at + 2) is not None
    return _RETRACTION.search(text, at + 2) is not None or _TAKEN_BACK.search(text, at + 2) is not None
