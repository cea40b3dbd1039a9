"""Where a text mentions an answer word, and whether the mention is an answer.

"no" is an ordinary word of English ("no reason", "no doubt", "No. 3"), "true" even more so. A mention
counts by what stands left and right of it; whatever is not clearly an answer is passed over, so that the
reader errs towards "unparsed" and never towards the other polarity.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from analysis.parsing import contexts, right_contexts
from analysis.parsing.answer_words import OPPOSITE, AnswerWords
from analysis.parsing.clauses import has_if, is_conceded, is_conditional, is_hypothetic, is_reported, is_subordinate
from analysis.parsing.corrections import is_conclusion
from analysis.parsing.following import another_next, ends_clause, ends_text, right_reason

#: Strength of a mention: named as final answer, named as answer, standing first or last, standing inside a text,
#: and one that can only contradict others ("yes for the first, no for the second").
FINAL, NAMED, STANDING, INSIDE, CONTRARY = 4, 3, 2, 1, 0
#: What may precede an answer as a preamble, and follow a conclusion as an afterword.
_PREAMBLE_CHARS, _PREAMBLE_SENTENCES, _AFTERWORD_SENTENCES = 90, 3, 3
_LEFT_CHARS = 220
_LEAD_CHARS = 90
#: What may precede the first hint at a marker and still belong to it ("overall answer", "this is").
_BEFORE_HINT = 10
#: Stands for what was cut off on the left, so that a pattern's beginning of text is the text's own.
_CUT = "\x00"
_QUOTES_AND_BLANKS = "\"' \t\n"
_LEFT_EDGE = re.compile(r"[\"'(\[ \t]+$")
_WRAPPED = ("boxed", "json", "tagged")


class Mention(NamedTuple):
    """One mention that counts: where, which answer, how strong, by which rule.

    ``corrects`` marks one that takes back what was said; ``aside`` one that answers a question of the text's own
    or fills a labelled line, which is set aside where the reply has begun with its answer.
    """

    start: int
    polarity: str
    strength: int
    rule: str
    corrects: bool = False
    aside: bool = False


class Mentions(NamedTuple):
    """Mentions that count, in order, and for each reason why others were passed over where the last of those is."""

    counted: tuple[Mention, ...]
    passed_over: Mapping[str, int]


class _Layout:
    """A text and, when asked, where its first sentence ends and its last sentence and last line begin."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _breaks(self) -> list[int]:
        return [b.end() for b in contexts.SENTENCE_BREAK.finditer(self.text)]

    @property
    def first_end(self) -> int:
        return self._breaks[0] if self._breaks else len(self.text)

    @property
    def last_sentence(self) -> int:
        return self._breaks[-1] if self._breaks else 0

    @cached_property
    def last_line(self) -> int:
        return self.text.rfind("\n") + 1


def answer_mentions(text: str, words: AnswerWords) -> Mentions:
    """Find and judge every mention of an answer word in a prepared text."""
    layout = _Layout(text)
    judged = [(found.start(), _judge(layout, found, words)) for found in words.word.finditer(text)]
    counted = tuple(m for _, m in judged if isinstance(m, Mention))
    return Mentions(counted, {m: start for start, m in judged if isinstance(m, str)})


def n_sentences(text: str) -> int:
    """Sentences and lines of a prepared text."""
    return 1 + sum(1 for _ in contexts.SENTENCE_BREAK.finditer(text))


def _judge(layout: _Layout, found: re.Match[str], words: AnswerWords) -> Mention | str:
    """A mention that counts, or the reason why it does not."""
    text, start = layout.text, found.start()
    word = " ".join(found[0].split())
    polarity, declared = words.table[word], word in words.declared
    if right_contexts.IS_ANSWER.match(text, found.end()):
        return Mention(start, polarity, NAMED, "final_answer")
    if right_contexts.IS_THE_OTHER.match(text, found.end()) and "not the" in text[max(0, start - 60) : start]:
        return Mention(start, polarity, NAMED, "final_answer")
    right = right_reason(text, found.end(), word, polarity, declared)
    if right:
        return "inside" if declared and contexts.IN_GENERAL.search(text, max(0, start - 60), start) else right
    if another_next(text, found.end(), polarity, words):
        return _contrary(start, polarity)
    left = _LEFT_EDGE.sub("", text[max(0, start - _LEFT_CHARS) : start]) + " "
    if start > _LEFT_CHARS:
        left = _CUT + left
    if contexts.OTHERWISE.search(left[-40:]):
        return "otherwise"
    if contexts.MAY_NEGATE.search(left[-60:]):
        if contexts.NOT_BUT.search(left):
            return Mention(start, polarity, NAMED, "final_answer")
        if declared and (negated := _negated(layout, start, left, polarity)):
            return negated
        if contexts.NEGATES.search(left[-60:]):
            return "negated"
    if declared and is_conceded(left):
        return "inside"
    return (
        (_predicate(layout, start, left, polarity) if declared else None)
        or _named(start, left, polarity, declared)
        or _standing(layout, start, left, polarity, found.end())
        or (_contrary(start, polarity) if ends_clause(text, left, found.end()) else "inside")
    )


def _contrary(start: int, polarity: str) -> Mention:
    return Mention(start, polarity, CONTRARY, "contrary")


def _named(start: int, left: str, polarity: str, declared: bool) -> Mention | str | None:
    near = left[-120:]
    corrects = contexts.MAY_CORRECT.search(near) is not None and contexts.CORRECTS.search(near) is not None
    hint = contexts.MAY_NAME.search(left)
    named = contexts.NAMED.search(left, max(0, hint.start() - _BEFORE_HINT)) if hint else None
    if named is None:
        return Mention(start, polarity, STANDING, "self_correction", corrects=True) if corrects else None
    before = left[: named.start()]
    final = (named["final"] or named["last"] or "").strip()
    if (
        not corrects
        and final not in _WRAPPED
        and not contexts.IF_I_MUST.search(named[0])
        and (
            is_hypothetic(before)
            or (is_reported(before[-90:]) and not (declared and contexts.JUDGED_PERSON.search(before)))
        )
    ):
        return "hypothetical"
    if contexts.IF_NAMED.search(before) or (("would" in named[0] or "depend" in left) and has_if(before)):
        return "conditional"
    rule = final if final in _WRAPPED else "final_answer"
    return Mention(start, polarity, FINAL if final else NAMED, rule, corrects)


def _negated(layout: _Layout, start: int, left: str, polarity: str) -> Mention | str | None:
    """A declared predicate that is denied: "not valid", "is not true"; its own rule, at either end only."""
    negation = contexts.NOT.search(left)
    if negation is None:
        return None
    if negation["cannot"]:
        return Mention(start, OPPOSITE[polarity], STANDING, "negated") if _at_either_end(layout, start) else "negated"
    subject = contexts.SUBJECT.search(left)
    before = left[: negation.start()]
    leads = (
        before.strip() in ("", "is", "it is") or contexts.STARTS.search(before[-24:]) or contexts.LEAD.search(before)
    )
    if (subject is None or subject["no"] is None) and not leads:
        return "negated"
    if is_conditional(left):
        return "conditional"
    return Mention(start, OPPOSITE[polarity], STANDING, "negated") if _at_either_end(layout, start) else "negated"


def _predicate(layout: _Layout, start: int, left: str, polarity: str) -> Mention | str | None:
    subject = contexts.SUBJECT.search(left) or contexts.SUBJECT_OF_VERB.search(left)
    if subject is None and contexts.SUBJECT_BEFORE.search(left) is None:
        return None
    if subject is not None and subject["no"]:
        return "negated"
    is_main = subject is not None and left[subject.start()] == "," and is_subordinate(left[: subject.start()])
    if not _at_either_end(layout, start) or (not is_main and is_hypothetic(left.replace(" seems ", " is "))):
        return "inside"
    if is_conditional(left):
        return "conditional"
    return Mention(start, polarity, STANDING, "predicate")


def _at_either_end(layout: _Layout, start: int) -> bool:
    return start < layout.first_end or start >= layout.last_sentence


def _standing(layout: _Layout, start: int, left: str, polarity: str, end: int) -> Mention | str | None:
    if contexts.TO_PART.match(layout.text, end):
        return _contrary(start, polarity)
    opening_label = left.strip(_QUOTES_AND_BLANKS)
    if contexts.OPENS_REPLY.fullmatch(opening_label):
        if contexts.ARTICLE.match(opening_label) and contexts.NOUN_GOES_ON.match(layout.text, end):
            return "inside"
        if right_contexts.CONDITION_ENDS.match(layout.text, end):
            return "conditional"
        return Mention(start, polarity, STANDING, "first_word")
    starts = contexts.STARTS.search(left[-24:])
    near = left if len(left) <= _LEAD_CHARS else _CUT + left[-_LEAD_CHARS:]
    lead = contexts.LEAD.search(near) if near is left or starts is None else None
    if lead is not None and lead.start() == 0 and lead[0][0].isalpha():
        return Mention(start, polarity, STANDING, "first_word")
    in_brackets = start > 1 and layout.text[start - 1] == "("
    after_comma = left.rstrip().endswith(",")
    opening = after_comma and _opens(layout, start)
    if in_brackets and layout.text[end : end + 1] == ")" and start >= layout.last_sentence and not is_hypothetic(left):
        return Mention(start, polarity, STANDING, "last_line", aside=True)
    if not (starts or lead):
        if not after_comma:
            return None
        if is_conditional(left) and not opening:
            return "conditional"
        if not (opening or ends_text(layout.text, end)) or is_hypothetic(left):
            return Mention(
                start, polarity, CONTRARY, "contrary", aside=contexts.BUT.match(layout.text, end) is not None
            )
    if contexts.ASIDE.search(left) or (end == len(layout.text) and contexts.ENUMERATES.search(left)):
        return "inside"
    if is_conditional(left):
        return "conditional"
    if contexts.EXPLAINS.match(left):
        return Mention(start, polarity, INSIDE, "only_one_polarity", aside=True)
    if start > 1 and layout.text[start - 1] == '"' and _is_in_dialogue(layout.text, start, end):
        return "inside"
    if is_reported(left[-60:]):
        return "inside"
    asked = left.rstrip().endswith("?")
    begins_last_line = start >= layout.last_line and not layout.text[layout.last_line : start].strip()
    if start >= layout.last_sentence or begins_last_line:
        aside = asked or in_brackets or contexts.BUT.match(layout.text, end) is not None
        return Mention(start, polarity, STANDING, "last_line", aside=aside)
    if asked:
        return _after_question(layout, start, polarity)
    if start < layout.first_end:
        return Mention(start, polarity, STANDING, "first_word")
    if not in_brackets and _is_prominent(layout, start):
        return Mention(start, polarity, STANDING, "only_one_polarity")
    return Mention(start, polarity, INSIDE, "only_one_polarity", aside=in_brackets)


def _is_in_dialogue(text: str, start: int, end: int) -> bool:
    """Whether a word behind a quotation mark begins a longer quotation, or answers another one."""
    return text[end : end + 2].strip(".,!?")[:1] != '"' or text[: start - 1].rstrip().endswith('"')


def _is_prominent(layout: _Layout, start: int) -> bool:
    """Whether a word inside a text stands where answers do: behind a preamble, or as a conclusion near the end."""
    before, behind = layout.text[:start], layout.text[start:]
    if len(before) <= _PREAMBLE_CHARS and n_sentences(before) <= _PREAMBLE_SENTENCES and "?" not in before:
        return contexts.STEP.match(before) is None
    return is_conclusion(layout.text, start) and n_sentences(behind) <= _AFTERWORD_SENTENCES and "?" not in behind


def _opens(layout: _Layout, start: int) -> bool:
    if not _at_either_end(layout, start):
        return False
    sentence = 0 if start < layout.first_end else layout.last_sentence
    return contexts.OPENING.match(layout.text[sentence:start]) is not None


def _after_question(layout: _Layout, start: int, polarity: str) -> Mention | str:
    """The answer to a restated question counts if it is the only question; others are steps of reasoning."""
    if layout.text.count("?") == 1 and start <= layout.first_end and not contexts.STEP.match(layout.text):
        return Mention(start, polarity, STANDING, "first_word")
    return "inside"
