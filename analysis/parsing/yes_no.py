"""Reads yes or no from the text of a reply.

Rules that give an answer: ``exact`` (the whole reply is the word), ``boxed``, ``json``, ``tagged``,
``final_answer``, ``first_word``, ``last_line``, ``predicate`` and ``negated`` (declared words only: "is
valid", "not valid"), ``only_one_polarity``, ``self_correction``. Rules that give none: ``empty``, ``none``,
``hedge``, ``conflicting``, ``several``,
``offer`` ("Yes, I can help"), ``conditional``, ``negated``, ``question``, ``undecided``,
``refusal``, ``open_reasoning``.
"""

import re

from analysis.parsing import mentions as found_in
from analysis.parsing.answer_words import EDGES, NO, YES, AnswerWords
from analysis.parsing.contexts import BOTH_WORDS
from analysis.parsing.corrections import is_conclusion, is_corrected, is_retracted
from analysis.parsing.fields import answer_field
from analysis.parsing.following import right_reason
from analysis.parsing.mentions import Mention, Mentions, answer_mentions
from analysis.parsing.plain_replies import plain_answer
from analysis.parsing.reading import Reading, answered, unanswered
from analysis.parsing.refusal import begins_with_offer, begins_with_refusing_no, is_refusal, is_undecided
from analysis.parsing.text import HEAD_CHARS, before_run_on, fold, prepare, strip_reasoning
from analysis.schema.status import Status

#: A lone standing word inside a text is read only if the text is short; a long one argues in steps.
_SHORT_TEXT_SENTENCES = 4
_MARKED_INSIDE = re.compile(r"\w\*+\w")
_MAY_WRAP = re.compile(r"[_<\[◁\\{~&|☐☑]")
_ENUMERATED = re.compile(
    r"(?:^|(?<=[\s,;.]))[ \t]*\(?(?:(?:q|question|part|item)\s*)?\(?(?:\d{1,2}|[a-e])[.):]+[ \t]*(\S+)", re.MULTILINE
)
#: Behind a list: what its items come to.
_SUMS_UP = re.compile(r"\b(?:overall|final(?: answer| verdict)?|in (?:sum|total|conclusion)|therefore|so|thus)\b")
_SHORT_ANSWER = re.compile(
    r"\b(?:(?:answer|ans|a)\s*[:=\s]\s*[\"'(]*([yn])[\"')]*[.!]?|answer\s+is\s*:?\s*(?:[\"'(]+([yn])[\"')]+[.!]?"
    r"|([yn])[.!]))$"
)
_INSTRUCTS = re.compile(r"(?:instructions?|answer|respond|reply|please|options?|prompt|task)\b")
_SPELLED = re.compile(r"(?:(y)[ .-]e[ .-]s|n[ .-]o)\.?")
#: Replies without an answer word that mean one all the same, as a sentence of their own at the beginning.
_EMPHATIC = re.compile(
    r"(?:(?:oh|well|hell)[\s,]+)?(?:(?P<no>(?:absolutely|definitely|certainly|most certainly|surely|obviously"
    r"|clearly|of course)"
    r" not|no way)(?=\s*[.!,;:—–-]|\s*$)|(?:absolutely|definitely|certainly|of course|most certainly)[\s.!]*$)"
)
_CONCEDES = re.compile(r"[^.!?\n]*\b(?:but|however|yet|although|though)\b")
_BOTH = f" {BOTH_WORDS} "
_NO_MENTIONS = Mentions((), {})
#: Rules whose answer stands in a field of its own; an explanation in another field may follow.
_FIELDS = ("json", "tagged")
_PASSED_RULES = ("otherwise", "conditional", "negated", "question")


def read_yes_no(text: str, words: AnswerWords) -> Reading:
    """Read a reply to a yes/no question.

    Parameters
    ----------
    text : str
        The reply as logged, without the echoed prompt.
    words : AnswerWords
        What means yes and no in this study.
    """
    exact = words.whole.get(text.casefold().strip(EDGES)) if len(text) <= 40 else None
    if exact is not None and "?" not in text and "~~" not in text:
        return answered(exact, "exact")
    return _plain(text, words) or _read_whole(text, words)


def _plain(text: str, words: AnswerWords) -> Reading | None:
    """The common cases, for speed, with the result of the full reading; no answer word at all is one of them."""
    if len(text) > HEAD_CHARS or _MAY_WRAP.search(text) or ("*" in text and _MARKED_INSIDE.search(text)):
        return None
    folded = fold(text).strip()
    first = words.word.search(folded)
    if first is None:
        return _unread(folded, False, _NO_MENTIONS, words) if folded.strip(EDGES) and "*" not in folded else None
    return plain_answer(folded, first, words)


def _read_whole(text: str, words: AnswerWords) -> Reading:
    if not text.strip():
        return unanswered("empty")
    stripped = strip_reasoning(text)
    prepared = prepare(stripped.text)
    reading = _read_prepared(prepared, words) if prepared else None
    if reading is not None and reading.answer is not None:
        return reading
    if stripped.open_reasoning:
        return unanswered("open_reasoning", Status.TRUNCATED)
    return reading or unanswered("empty")


def _read_prepared(text: str, words: AnswerWords) -> Reading:
    """The first answer of a text that runs on into invented questions, else the whole text's."""
    if _is_numbered(text, words):
        return unanswered("several")
    field = answer_field(text)
    if field is not None:
        reading = _read_one(field, words)
        if reading.answer is not None and reading.rule in ("exact", "first_word"):
            return answered(reading.answer, "final_answer")
    first = before_run_on(text)
    if first is not None:
        reading = _read_one(first, words)
        if reading.rule == "hedge" and _INSTRUCTS.match(first):
            return _read_one(text, words)
        if reading.answer is not None or reading.rule in ("conflicting", "hedge", "several", "refusal"):
            return reading
    return _read_one(text, words)


def _read_one(text: str, words: AnswerWords) -> Reading:
    exact = words.whole.get(text.strip(EDGES))
    if exact is not None and "?" not in text:
        return answered(exact, "exact")
    if begins_with_refusing_no(text):
        return unanswered("refusal", Status.REFUSED)
    if begins_with_offer(text):
        return unanswered("offer")
    found = words.word.findall(text)
    if not found:
        return _unread(text, False, _NO_MENTIONS, words)
    masked, hedged = text, False
    if len(found) > 1:
        if len({words.table[" ".join(word.split())] for word in found}) > 1:
            hedged = words.hedge.search(text) is not None
            masked = words.pair.sub(_BOTH, words.hedge.sub(_BOTH, text) if hedged else text)
            masked = words.instruction.sub(_BOTH, masked)
        row = _row(masked, found, words)
        if row:
            if len(set(row)) == 1:
                return answered(row[0], "repeated")
            return unanswered("several" if len(row) > 2 else "conflicting")
    mentions = answer_mentions(masked, words)
    if hedged and not any(m.strength >= found_in.NAMED for m in mentions.counted):
        return unanswered("hedge")
    if _concedes(masked, mentions, words):
        return unanswered("hedge")
    return _decided(mentions, masked) or _unread(text, masked != text, mentions, words)


def _is_numbered(text: str, words: AnswerWords) -> bool:
    """Answers to several questions in a numbered list."""
    numbered = [n for n in _ENUMERATED.finditer(text) if _answers(text, n, words)]
    if len(numbered) < 2 or _SUMS_UP.search(text, numbered[-1].end()):
        return False
    first = words.word.search(text)
    return first is not None and first.start() >= numbered[0].start()


def _answers(text: str, numbered: re.Match[str], words: AnswerWords) -> bool:
    """Whether an item of a list is an answer, and not a statement such as "No A are B"."""
    found = words.word.search(text, numbered.start(1), numbered.end(1))
    if numbered[1].strip(EDGES) not in words.table or found is None:
        return False
    word = found[0]
    return not right_reason(text, found.end(), word, words.table[word], word in words.declared)


def _row(text: str, found: list[str], words: AnswerWords) -> list[str]:
    """Polarities of answers in a row with nothing else; empty if there is anything else."""
    if len(text) > 12 * len(found):
        return []
    items = [item.strip(EDGES) for item in re.split(r"[\s,;/.!]+", text.strip(EDGES)) if item.strip(EDGES)]
    return [words.table[item] for item in items] if len(items) > 1 and all(i in words.table for i in items) else []


def _concedes(text: str, mentions: Mentions, words: AnswerWords) -> bool:
    """ "True, all dogs bark, but ...": a declared word that grants a point and is no answer."""
    first = mentions.counted[0] if mentions.counted else None
    if first is None or first.rule != "first_word" or len(mentions.counted) > 1:
        return False
    word = words.word.match(text, first.start)
    return word is not None and word[0] in words.declared and _CONCEDES.match(text, word.end()) is not None


def _decided(mentions: Mentions, text: str) -> Reading | None:
    counted, corrected = _after_correction(mentions.counted, text)
    if not any(m.strength > found_in.CONTRARY for m in counted):
        return None
    if _is_conditional(mentions, counted, text):
        return unanswered("conditional")
    if is_retracted(text, counted[-1].start, corrected=corrected):
        return unanswered("retracted")
    counted = _without_asides(counted)
    strongest = max(counted, key=lambda m: m.strength)
    if len({m.polarity for m in counted}) == 1:
        if strongest.strength == found_in.INSIDE and found_in.n_sentences(text) > _SHORT_TEXT_SENTENCES:
            return None
        return answered(strongest.polarity, "self_correction" if corrected else _plain_rule(strongest))
    if strongest.strength < found_in.NAMED or not _stands_last(counted, strongest.strength, text):
        return unanswered("conflicting")
    return answered(strongest.polarity, "self_correction" if corrected else strongest.rule)


def _plain_rule(mention: Mention) -> str:
    """A correction of nothing is an answer in last place."""
    return "last_line" if mention.rule == "self_correction" else mention.rule


def _is_conditional(mentions: Mentions, counted: tuple[Mention, ...], text: str) -> bool:
    """Whether an answer is made to depend on something, and none is drawn from that."""
    at = max(mentions.passed_over.get("conditional", -1), mentions.passed_over.get("otherwise", -1))
    if at < 0 or max(m.strength for m in counted) >= found_in.NAMED:
        return False
    first, last = counted[0], counted[-1]
    if (
        first.rule in ("first_word", "predicate", "negated")
        and first.start < at
        and "otherwise" not in mentions.passed_over
    ):
        return False
    return not (last.strength == found_in.STANDING and last.start > at and is_conclusion(text, last.start))


def _without_asides(counted: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Where a reply begins with its answer, points conceded and questions of its own on the way count for nothing."""
    if counted[0].rule != "first_word":
        return counted
    return tuple(m for m in counted if not m.aside)


def _after_correction(counted: tuple[Mention, ...], text: str) -> tuple[tuple[Mention, ...], bool]:
    """Mentions from the last explicit correction on, and whether it changed the answer."""
    last = counted[-1] if counted else None
    if last is None or last.strength == found_in.CONTRARY or last.aside:
        return counted, False
    others = [at for at, m in enumerate(counted) if m.polarity != last.polarity]
    if not others:
        return counted, False
    since = counted[others[-1] + 1 :]
    if any(m.corrects for m in since) or is_corrected(text, counted[others[-1]].start, last.start):
        return since, True
    return counted, False


def _stands_last(counted: tuple[Mention, ...], strength: int, text: str) -> bool:
    """Whether the strongest mentions agree, and no other answer follows or shares their sentence."""
    strongest = [m for m in counted if m.strength == strength]
    polarity, last = strongest[0].polarity, strongest[-1]
    if any(m.polarity != polarity for m in strongest):
        return False
    others = [m for m in counted if m.polarity != polarity]
    if others[0].rule == "first_word" and strength < found_in.FINAL:
        return False
    if last.rule in _FIELDS:
        return all(m.strength < found_in.NAMED for m in others if m.start > last.start)
    if any(m.start > last.start for m in others):
        return False
    between = text[others[-1].start : last.start]
    return strength == found_in.FINAL or re.search(r"[.!?]\s|\n", between) is not None


def _unread(text: str, has_pair: bool, mentions: Mentions, words: AnswerWords) -> Reading:
    spelled = _SPELLED.fullmatch(text) if len(text) < 10 else None
    if spelled:
        return answered(YES if spelled[1] else NO, "exact")
    short = _SHORT_ANSWER.search(text[-40:]) if not mentions.counted else None
    letter = short and (short[1] or short[2] or short[3])
    if letter and letter in words.whole:
        return answered(words.whole[letter], "final_answer")
    emphatic = _EMPHATIC.match(text) if not mentions.counted else None
    if emphatic:
        return answered(NO if emphatic["no"] else YES, "emphatic")
    if is_refusal(text):
        return unanswered("refusal", Status.REFUSED)
    for rule in _PASSED_RULES:
        if rule in mentions.passed_over:
            return unanswered("conditional" if rule == "otherwise" else rule)
    if is_undecided(text):
        return unanswered("undecided")
    return unanswered("hedge" if has_pair else "none")
