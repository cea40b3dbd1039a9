"""The plainest replies, read without weighing every mention: for speed, with the result of the full reading.

A built-in word begins the reply, or ends it, or is named as the answer at its end, and no other answer word stands
in it except "no" before a noun.
"""

import re

from analysis.parsing import contexts, right_contexts
from analysis.parsing.answer_words import EDGES, NO, AnswerWords
from analysis.parsing.corrections import is_retracted
from analysis.parsing.reading import Reading, answered
from analysis.parsing.refusal import begins_with_offer, begins_with_refusing_no

#: Characters from the end of a reply in which its last answer is looked for.
_TAIL = 60
#: What follows a word that is no answer as it stands: one search for all.
_QUALIFIES = re.compile(
    "|".join(
        pattern.pattern
        for pattern in (
            *(
                right_contexts.NUMBER,
                right_contexts.CLASS,
                right_contexts.CONDITION_AFTER,
                right_contexts.CONDITION_ENDS,
            ),
            *(right_contexts.MAYBE_AFTER, contexts.SAID, contexts.TO_PART),
        )
    )
)
_DETERMINED = re.compile(r" ([a-z]+)\b")


def plain_answer(folded: str, first: re.Match[str], words: AnswerWords) -> Reading | None:
    """Answer of a folded text whose first answer word is ``first``; None where the full reading must decide."""
    head = words.head.match(folded)
    if head is not None and head.start(1) == first.start():
        if _is_alone(folded, head.end(1), words) and _is_answer(folded, head):
            return answered(words.table[head[1]], "first_word")
        return None
    if words.word.search(folded, first.end()):
        return None
    tail = words.tail.search(folded, max(0, len(folded) - _TAIL))
    if tail is None:
        return None
    return answered(words.table[tail["word"]], "final_answer" if "answer" in tail[0] else "last_line")


def _is_alone(folded: str, start: int, words: AnswerWords) -> bool:
    """Whether every further answer word is a "no" before a noun."""
    for found in words.word.finditer(folded, start):
        if words.table.get(found[0]) != NO or found[0] in words.declared:
            return False
        following = _DETERMINED.match(folded, found.end())
        speaks_on = following is None or right_contexts.SPEAKS_ON.fullmatch(following[1]) is not None
        if speaks_on and right_contexts.CLASS.match(folded, found.end()) is None:
            return False
    return True


def _is_answer(folded: str, head: re.Match[str]) -> bool:
    """Whether nothing behind the first word denies that it is the answer."""
    if _QUALIFIES.match(folded, head.end(1)) or folded[head.end() :].lstrip(EDGES)[:1].isdigit():
        return False
    return not (begins_with_refusing_no(folded) or begins_with_offer(folded) or is_retracted(folded, head.start(1)))
