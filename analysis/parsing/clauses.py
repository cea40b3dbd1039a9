"""What a clause does with the answer in it: asserts it, entertains it, makes it depend, reports or concedes it.

All functions take the text to the left of an answer word, or of the marker that names it.
"""

import re

from analysis.parsing.corrections import is_conclusion

#: A clause of this kind only entertains what follows.
_HYPOTHETIC = re.compile(
    r"\b(?:might|may|could|tempt\w*|whether|suppose|supposing|unless|at first|initially|intuitively|naively"
    r"|(?<!no )(?<!n't )(?<!not )(?<!no one )(?<!no-one )(?<!nobody )(?<!little )(?:doubt\w*|den(?:y|ies)|disagree\w*)"
    r"|misconception|myth|illusion|temptation|(?:false|untrue) that|(?<!\bit )seem\w*|before|until|(?<!\bi )had|no"
    r" way(?= (?:that|the|my|it|this)\b|\s*$)|(?:nobody|no one) (?:\w+ )?(?:would|could|can|says?|said|should"
    r"|answers)|fails? to see"
    r"|(?:know|determine|see|check|decide|find out|clear|sure|tell|asked?|ask(?:s|ing)) if"
    r"|(?:one|you|people|many|some|most|others|they|he|she|critics|someone) (?:\w+ )?"
    r"(?:would|can|will|sa(?:y|id)s?|thinks?|argues?)"
    r"|not (?:convinced|persuaded|ready|willing|the case|true|clear|obvious|evident|certain|sure|say|think|believe"
    r"|claim|mean|correct|right|that|because)"
    r"|(?:wrong|incorrect|mistake|error|mistaken) to|wrong(?:ly)?|if\b(?! i\b).*\b(?:were|was|would)|if(?=\s*$)"
    r"|i (?:\w+ )?(?:thought|assumed|believed|said|answered|guessed|figured|supposed|read it as)"
    r"|(?:one|another|other|(?<!only )possible|common|usual|popular|naive|gold|reference|initial|first|earlier"
    r"|previous|original|old|preliminary)(?=\s*$))\b"
    r"|(?:can't|cannot|can not|could not|couldn't|does not|doesn't|do not|don't|did not|not)\b(?: \w+)? (?:conclude"
    r"|follow|mean|imply"
    r"|infer|show|prove|establish|entail)\b"
    r"|n't (?:think|believe|say|mean|know|agree|claim|that|true|clear|obvious|certain|evident|the case)\b"
    r"|\b(?:if|when|should|would|could|can) i\b(?! (?:had|have|were|must|need|absolutely)\b)"
)
#: Of those, the ones that govern what follows even behind a comma ("one might think, at first, the answer is").
_GOVERNS = re.compile(
    r"\b(?:think|say|said|argue|believe|claim|conclude|answer|suppose|tempt\w*|guess|assume|whether|agree|doubt\w*"
    r"|den(?:y|ies)|disagree"
    r"|if|unless|supposing|were|had|mistake|error|wrong(?:ly)?)\b"
)
_SUBORDINATE = re.compile(
    r"\W*(?:(?:but|and|so),? )?(?:since|because|as|given|although|even|though|while|whereas|despite|in spite of|due"
    r" to|once|after|when)\b"
)
#: What may stand between a comma and a marker.
_AFTER_COMMA = re.compile(
    r"\s*(?:(?:and|so|then|meaning|meaning that|which means|hence|thus|therefore|on balance|overall|in the end"
    r"|in fact|in reality|in truth|all things considered|here|still"
    r"|ultimately|however|nevertheless|nonetheless|personally|strictly speaking|in this case)[\s,]+)*"
    r"(?:the\s+|my\s+|our\s+)?(?:correct\s+|right\s+|only\s+|real\s+|true\s+|final\s+|actual\s+)?"
)
#: A clause that concedes something ("even though the conclusion is").
_CONCEDED = re.compile(r"\b(?:even though|although|though|while|whereas|despite)\b[^.!?\n,;]*$")
#: Where the clause before a marker begins.
_CLAUSE_START = re.compile(
    r"[.!?\n;:]\s|(?:so|thus|hence|but|yet|however|therefore|consequently)(?<![a-z]so)(?<![a-z]but)(?<![a-z]yet),?\s"
)
#: What others say: "critics claim that", "according to the blog", "his".
_REPORTED = re.compile(
    r"\b(?!i |we )[\w']+ (?:\w+ly |would |will |might |have |has |had |used to )*"
    r"(?:claim(?:s|ed)?|argue[sd]?|insist(?:s|ed)?|thinks|thought|believes|believed|says|said|repl(?:y|ies|ied)"
    r"|wr(?:ote|ites?)"
    r"|answers|answered|stated?|maintain(?:s|ed)?)(?: that)?[ \t]*[:,]?[ \t]*[\"']*(?:the |its )?$"
    r"|\baccording to (?!(?:(?:the|these|this|all|both|what|our|line|premise|rule) )*(?:premises?|text|passage"
    r"|rules?|information|given|line"
    r"|statements?|definitions?|arguments?|data|evidence|above|facts?|story|question|logic|formal|classical|context"
    r"|is given|we|\d))"
    r"[^.!?\n]*$|(?:\b(?:his|her|their)|\w's|s')\s*$"
)
_COULD_BE = re.compile(
    r"\b(?:could|might|may)\s+(?:\w+\s+){0,4}be\s+(?:an?\s+)?$|(?:n't|not|cannot) (?:rule out|exclude)\s+(?:an?\s+)?$"
)
#: A clause with "if" before a marker in the irrealis ("if ..., the answer would be").
_IF_CLAUSE = re.compile(r"\b(?:if|unless|had|were)\b[^.!?\n]*$")
_TO_THE_QUESTION = re.compile(
    r"\b(?:to (?:the|your) question|(?:whether or not|(?:of|matter) whether|even (?:if|when"
    r"|though)))\b[^.!?\n]*,\s*(?:the\s+|my\s+)?$"
)
#: A condition that opens the sentence in which the word stands.
_CONDITION_BEFORE = re.compile(
    r"^[\s(\"']*(?:(?:so|but|then|and|however|though|now|yet),?\s+)?(?:only (?:if|when)|if(?! (?:(?:i|we|you) (?:have"
    r"|had|must|need|absolutely)|(?:forced|pressed|pushed|obliged|made|compelled)\b))|unless|in case|provided|were|had"
    r"|providing|as long as)\b[^.!?\n]{0,200}"
    r"[,:—–-]?\s*(?:then\s*,?\s*)?$"
)
_DEPENDS = re.compile(r"(?<!not )(?<!n't )\bdepend(?:s|ing)?\b[^.!?\n]*$")
_SUPPOSED = re.compile(r"\b(?:suppose|if|assume)\b[^.!?\n]{0,160}[,;:]?\s+then\s*,?\s*$")
#: A clause in which "could be" only entertains its answer.
_ENTERTAINED = re.compile(r"\b(?:how|if|were|had|why)\b[^.!?\n]*$")


def is_hypothetic(left: str) -> bool:
    """Whether a clause only entertains what follows: "one might think that", "whether"."""
    clause = _clause(_TO_THE_QUESTION.sub("", left))
    if _HYPOTHETIC.search(clause) is None:
        return False
    head, comma, tail = clause.rpartition(",")
    if not comma or _AFTER_COMMA.fullmatch(tail) is None:
        return True
    # The main clause behind a comma is entertained only if a verb before the comma governs it.
    return _SUBORDINATE.match(head) is None and _GOVERNS.search(head) is not None


def is_subordinate(left: str) -> bool:
    """Whether what stands before a comma is a subordinate clause ("since this may be false")."""
    return _SUBORDINATE.match(_clause(left)) is not None


def is_conditional(left: str) -> bool:
    """Whether the clause sets a condition: "if ..., then", "provided that"."""
    if _DEPENDS.search(left) is not None and not is_conclusion(left, len(left)):
        return True
    return _CONDITION_BEFORE.search(_clause(left.rstrip(" :"))) is not None or _SUPPOSED.search(left) is not None


def has_if(left: str) -> bool:
    """Whether the sentence has an "if" before a marker in the irrealis ("the answer would be")."""
    return _IF_CLAUSE.search(left) is not None


def is_reported(left: str) -> bool:
    """Whether the clause tells what others say."""
    return _REPORTED.search(left) is not None


def is_conceded(left: str) -> bool:
    """Whether the clause concedes something ("even though the conclusion is")."""
    return _CONCEDED.search(left) is not None


def is_possible(left: str) -> bool:
    """Whether the clause calls the answer possible: "it could be a"."""
    return _COULD_BE.search(left) is not None and _ENTERTAINED.search(left) is None


def _clause(left: str) -> str:
    """What stands before the word or marker in its clause."""
    start = 0
    for break_ in _CLAUSE_START.finditer(left):
        start = break_.end()
    return left[start:]
