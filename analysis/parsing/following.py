"""What follows an answer word, and whether that keeps it from being an answer."""

from analysis.parsing import contexts, right_contexts
from analysis.parsing.answer_words import NO, YES, AnswerWords
from analysis.parsing.clauses import is_possible


def right_reason(text: str, end: int, word: str, polarity: str, declared: bool) -> str:
    """Why what follows the word keeps it from being an answer; empty if nothing does."""
    right = right_contexts.RIGHT.match(text, end)
    if right is None:
        return "inside"
    if contexts.SAID.match(text, end) or (end < len(text) and contexts.QUOTED_SUBJECT.match(text, end)):
        return "inside"
    if contexts.BREAKS_OFF.match(text, end) or (text[end : end + 1] == '"' and contexts.KEY.match(text, end)):
        return "inside"
    if right["ask"]:
        return "question"
    if polarity == NO and (right_contexts.NUMBER.match(text, end) or right_contexts.CLASS.match(text, end)):
        return "inside"
    following = right["next"]
    if right_contexts.MAYBE_AFTER.match(text, end):
        return "inside"
    if right_contexts.CONDITION_AFTER.match(text, end):
        return "conditional"
    if following is None or (declared and contexts.PREDICATE_NOUN.match(text, end)):
        return ""
    following = following.strip("\"')")
    if right_contexts.CONDITION.fullmatch(following):
        return "conditional"
    if right_contexts.SUBJECT_OF.fullmatch(following) or (polarity == YES and following in ("cannot", "can't")):
        return "inside"
    if declared and right_contexts.ADJECTIVE_OF.fullmatch(following):
        return "inside"
    goes_on = right_contexts.GOES_ON.fullmatch(following) is not None or (polarity == YES and not declared)
    return "" if goes_on else "inside"


def ends_clause(text: str, left: str, end: int) -> bool:
    """Whether a word ends a short clause set against another: "..., loosely speaking yes", "or maybe no"."""
    right = right_contexts.RIGHT.match(text, end)
    ends = right is not None and (right["end"] is not None or right["stop"] is not None)
    if not ends:
        return False
    return is_possible(left) or contexts.SET_AGAINST.search(left) is not None


def another_next(text: str, end: int, polarity: str, words: AnswerWords) -> bool:
    """Whether the opposite answer follows at once: "yes no"."""
    following = words.word.match(text, end + 1) if text[end : end + 1] == " " else None
    if following is None:
        return False
    word = " ".join(following[0].split())
    other = words.table[word]
    return other != polarity and right_reason(text, following.end(), word, other, word in words.declared) != "inside"


def ends_text(text: str, end: int) -> bool:
    """Whether nothing but marks follows."""
    right = right_contexts.RIGHT.match(text, end)
    return right is not None and right["end"] is not None
