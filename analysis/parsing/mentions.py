"""Where a text mentions an answer word, and whether the mention is an answer.

"no" is an ordinary word of English ("no reason", "no doubt", "No. 3"), "true" even more so. A mention
counts by what stands left and right of it; whatever is not clearly an answer is passed over, so that the
reader errs towards "unparsed" and never towards the other polarity.
"""

import re
from dataclasses import dataclass

from analysis.parsing import contexts
from analysis.parsing.answer_words import NO, OPPOSITE, YES, AnswerWords

#: Strength of a mention: named as final answer, named as answer, standing first or last, standing inside.
FINAL, NAMED, STANDING, INSIDE = 4, 3, 2, 1
_LEFT_CHARS = 220
_LEFT_EDGE = re.compile(r"[\"'(\[ \t]+$")
_WRAPPED = ("boxed", "json", "tagged")


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention that counts: where, which answer, how strong, by which rule."""

    start: int
    polarity: str
    strength: int
    rule: str
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class Mentions:
    """Mentions that count, in order, and the reasons why others were passed over."""

    counted: tuple[Mention, ...]
    passed_over: frozenset[str]
    n_sentences: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the first sentence ends, where the last sentence and the last line begin, where questions end."""

    text: str
    first_end: int
    last_sentence: int
    last_line: int
    n_sentences: int


def answer_mentions(text: str, words: AnswerWords) -> Mentions:
    """Find and judge every mention of an answer word in a prepared text."""
    layout = _layout(text)
    judged = [_judge(layout, found, words) for found in words.word.finditer(text)]
    counted = tuple(m for m in judged if isinstance(m, Mention))
    return Mentions(counted, frozenset(m for m in judged if isinstance(m, str)), layout.n_sentences)


def _layout(text: str) -> _Layout:
    breaks = [b.end() for b in contexts.SENTENCE_BREAK.finditer(text)]
    first, last = (breaks[0], breaks[-1]) if breaks else (len(text), 0)
    return _Layout(text, first, last, text.rfind("\n") + 1, len(breaks) + 1)


def _judge(layout: _Layout, found: re.Match[str], words: AnswerWords) -> Mention | str:
    """A mention that counts, or the reason why it does not."""
    text, start = layout.text, found.start()
    word = " ".join(found[0].split())
    polarity, declared = words.table[word], word in words.declared
    if contexts.IS_ANSWER.match(text, found.end()):
        return Mention(start, polarity, NAMED, "final_answer")
    right = _right_reason(text, found.end(), word, polarity, declared)
    if right:
        return right
    at_end = _ends_here(text, found.end())
    left = _LEFT_EDGE.sub("", text[max(0, start - _LEFT_CHARS) : start]) + " "
    if contexts.OTHERWISE.search(left):
        return "conditional"
    if declared and (negated := _negated(layout, start, left, polarity)):
        return negated
    if contexts.NEGATES.search(left):
        return "negated"
    return (
        _named(start, left, polarity)
        or (_predicate(layout, start, left, polarity) if declared else None)
        or _standing(layout, start, left, polarity, at_end)
        or "inside"
    )


def _ends_here(text: str, end: int) -> bool:
    right = contexts.RIGHT.match(text, end)
    return right is not None and right["end"] is not None


def _right_reason(text: str, end: int, word: str, polarity: str, declared: bool) -> str:
    """Why what follows the word keeps it from being an answer; empty if nothing does."""
    right = contexts.RIGHT.match(text, end)
    if right is None:
        return "inside"
    if right["ask"]:
        return "question"
    if polarity == NO and contexts.NUMBER.match(text, end):
        return "inside"
    following = right["next"]
    if following is None:
        return ""
    following = following.strip("\"')")
    if contexts.CONDITION.fullmatch(following):
        return "conditional"
    if contexts.SUBJECT_OF.fullmatch(following) or (polarity == YES and following in ("cannot", "can't")):
        return "inside"
    if declared and contexts.ADJECTIVE_OF.fullmatch(following):
        return "inside"
    goes_on = contexts.GOES_ON.fullmatch(following) is not None or (polarity == YES and not declared)
    return "" if goes_on else "inside"


def _named(start: int, left: str, polarity: str) -> Mention | str | None:
    corrects = contexts.CORRECTS.search(left) is not None
    named = contexts.NAMED.search(left)
    if named is None:
        return Mention(start, polarity, STANDING, "self_correction", corrects=True) if corrects else None
    if not corrects and _is_hypothetic(left[: named.start()]):
        return "hypothetical"
    final = (named["final"] or "").strip()
    rule = final if final in _WRAPPED else "final_answer"
    return Mention(start, polarity, FINAL if final else NAMED, rule, corrects)


def _is_hypothetic(before: str) -> bool:
    clause = before
    for break_ in contexts.CLAUSE_START.finditer(before):
        clause = before[break_.end() :]
    return contexts.HYPOTHETIC.search(clause) is not None


def _negated(layout: _Layout, start: int, left: str, polarity: str) -> Mention | str | None:
    """A declared predicate that is denied: "not valid", "is not true"; its own rule, at either end only."""
    negation = contexts.NOT.search(left)
    if negation is None:
        return None
    subject = contexts.SUBJECT.search(left)
    leads = contexts.STARTS.search(left[: negation.start()]) or contexts.LEAD.search(left[: negation.start()])
    if (subject is None or subject["no"] is None) and leads is None:
        return "negated"
    return Mention(start, OPPOSITE[polarity], STANDING, "negated") if _at_either_end(layout, start) else "negated"


def _predicate(layout: _Layout, start: int, left: str, polarity: str) -> Mention | str | None:
    subject = contexts.SUBJECT.search(left)
    if subject is None:
        return None
    if not _at_either_end(layout, start) or _is_hypothetic(left[: subject.start() + 1]):
        return "inside"
    return Mention(start, polarity, STANDING, "predicate")


def _at_either_end(layout: _Layout, start: int) -> bool:
    return start < layout.first_end or start >= layout.last_sentence


def _standing(layout: _Layout, start: int, left: str, polarity: str, at_end: bool) -> Mention | str | None:
    starts, lead = contexts.STARTS.search(left), contexts.LEAD.search(left)
    whole_left = start <= _LEFT_CHARS
    if whole_left and (not left.strip() or (lead is not None and lead.start() == 0)):
        return Mention(start, polarity, STANDING, "first_word")
    opening = left.rstrip().endswith(",") and _opens(layout, start)
    listed = at_end and left.rstrip().endswith(",")
    if not (starts or lead or opening or listed):
        return None
    begins_last_line = start >= layout.last_line and not layout.text[layout.last_line : start].strip()
    if start >= layout.last_sentence or begins_last_line:
        return Mention(start, polarity, STANDING, "last_line")
    if left.rstrip().endswith("?"):
        return _after_question(layout, start, polarity)
    if start < layout.first_end:
        return Mention(start, polarity, STANDING, "first_word")
    return Mention(start, polarity, INSIDE, "only_one_polarity")


def _opens(layout: _Layout, start: int) -> bool:
    if not _at_either_end(layout, start):
        return False
    sentence = 0 if start < layout.first_end else layout.last_sentence
    return contexts.OPENING.match(layout.text[sentence:start]) is not None


def _after_question(layout: _Layout, start: int, polarity: str) -> Mention | str:
    """The answer to a restated question counts if it is the only question; others are steps of reasoning."""
    if layout.text.count("?") == 1 and start <= layout.first_end:
        return Mention(start, polarity, STANDING, "first_word")
    return "inside"
