"""Recognises a reply that declines to answer, and one that says it cannot decide.

Both are looked for only where no answer was read: "I'm sorry, but no" is an answer.
"""

import re

_ACT = (
    r"(?:help|assist|answer|respond|provide|comply|fulfill?|engage|discuss|continue|complete|do (?:that|this)|offer"
    r"|give (?:you |an? )*(?:answer|opinion|response|advice|judge?ment)|support|share|participate|take part|generate"
    r"|create|produce|make (?:that|this|such)|comment|process|address|proceed|accommodate|talk about|go along)"
)
_CANNOT = (
    r"(?:can't|cannot|can not|won't|will not|am unable to|'m unable to|am not able to|'m not able to|could not"
    r"|couldn't)"
)
_REFUSAL = re.compile(
    rf"\bi(?:\s+(?:simply|really|just|therefore|unfortunately|respectfully))*\s*{_CANNOT}"
    rf"\s+(?:\w+\s+){{0,2}}?{_ACT}\b"
    rf"|\bunable to (?:\w+ )?{_ACT}\b"
    r"|\bi (?:must |have to |will have to |would prefer to |would rather |respectfully |politely )?(?:decline|refuse)\b"
    r"|\bi(?:'d| would) (?:rather|prefer) not\b|\bi prefer not to\b|\bi(?:'d| would) prefer to decline\b"
    r"|\bi(?:'m| am) not (?:comfortable|allowed|permitted|willing|going)\b"
    r"|\bas an? (?:ai|large language|language|artificial)\b[^.\n]{0,80}?"
    r"\b(?:can't|cannot|don't|do not|unable|not able|won't)\b"
    r"|\b(?:request|question|content) (?:was |is |has been )?(?:declined|blocked|refused|filtered)\b"
    r"|\b(?:against|violates?) (?:my|our|the) (?:guidelines|policy|policies|programming|content policy)\b"
)
_MAY_REFUSE = re.compile(
    r"can't|cannot|can not|won't|will not|unable|not|couldn't|declin|refuse|guideline|polic|programming|blocked"
    r"|filtered|an? ai"
)
_MAY_DOUBT = re.compile(
    r"n't|not|uns|unc|unkn|und|unable|idea|depend|insuff|little|maybe|perhaps|poss|ind|inc|neither|hard|diff|imp"
)
_UNDECIDED = re.compile(
    r"\b(?:cannot|can't|can not|could not|couldn't|impossible to|not possible to|unable to|hard to|difficult to)\s+"
    r"(?:be\s+)?(?:\w+\s+)?(?:determined?|say|tell|know|known|decided?|judged?|infer(?:red)?|conclude|assess)\b"
    r"|\b(?:don't|do not|didn't) (?:really )?know\b|\b(?:not|un)\s?(?:sure|certain|clear)\b|\bno idea\b"
    r"|\bit depends\b|\bdepends on\b|\b(?:insufficient|not enough|too little) (?:information|context|data|evidence)\b"
    r"|\b(?:maybe|perhaps|possibly|unknown|undetermined|indeterminate|inconclusive|neither)\b"
)
_NO_THEN_REFUSAL = re.compile(
    rf"(?:no|nope|nah)\b[\s.,;!—–-]+(?:(?:sorry|but)[\s,]+){{0,2}}(?:i\s*|(?<=sorry, ))(?:{_CANNOT}|'m not going to"
    rf"|am not going to|refuse to"
    rf"|decline to)"
    rf"\s+(?:\w+\s+){{0,2}}?{_ACT}\b"
)

_OFFER = re.compile(
    r"[\"']?(?:yes|yeah|yep)\b[\s.,;!—–-]+(?:(?:of course|sure|certainly|absolutely)[\s,.!]+)?(?:(?:but )?(?:please"
    r"|kindly|could you"
    r"|can you) (?:\w+ )?(?:provide|share|give|send|paste|tell|clarify)\b|"
    r"i(?:'d|'ll|'m| can| could| will| would| am)?"
    r"(?: (?:certainly|definitely|gladly|be|happy|glad|ready|here|able|to|and)){0,6}"
    r" (?:help|assist|happy to|glad to|ready to|understand|see what you mean)\b)"
)


def is_refusal(prepared: str) -> bool:
    """Whether a prepared text declines to answer."""
    return _MAY_REFUSE.search(prepared) is not None and _REFUSAL.search(prepared) is not None


def is_undecided(prepared: str) -> bool:
    """Whether a prepared text says that it cannot tell."""
    return _MAY_DOUBT.search(prepared) is not None and _UNDECIDED.search(prepared) is not None


def begins_with_refusing_no(prepared: str) -> bool:
    """Whether a "no" at the start declines the request ("No, I can't help with that")."""
    return prepared.startswith("no") and _NO_THEN_REFUSAL.match(prepared) is not None


def begins_with_offer(prepared: str) -> bool:
    """Whether a "yes" at the start only offers to help ("Yes, I can help with that")."""
    return prepared.lstrip("\"'")[:1] == "y" and _OFFER.match(prepared) is not None
