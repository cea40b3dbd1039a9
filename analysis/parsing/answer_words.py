"""The words that mean yes and no in one study: always yes and no, others by declaration."""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from analysis.errors import StudyError
from analysis.parsing.text import fold

YES, NO = "yes", "no"
OPPOSITE = {YES: NO, NO: YES}
#: Interjections that need no declaration.
_BASE = {YES: ("yes", "yeah", "yep", "yup", "yea"), NO: ("no", "nope", "nah")}
#: Read only where they are the whole reply or all that follows a marker.
_SHORT = {"y": YES, "n": NO}
#: Marks that may surround a word that is a whole reply; a question mark is not among them.
EDGES = string.whitespace + ".,;:!\"'`*_~()[]{}<>#$-–—…|\\/。，！、：；"


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """Vocabulary of one study, compiled.

    ``table`` maps a folded word to yes or no; ``whole`` adds the forms that count only as a whole reply;
    ``declared`` holds the words beyond the built-in ones; ``word`` finds whole words, ``pair`` mentions
    of both at once ("yes or no"), ``hedge`` their union ("yes and no"); ``head`` and ``tail`` the plainest
    forms of a reply that begins or ends with a built-in word.
    """

    table: Mapping[str, str]
    whole: Mapping[str, str]
    declared: frozenset[str]
    word: re.Pattern[str]
    pair: re.Pattern[str]
    hedge: re.Pattern[str]
    instruction: re.Pattern[str]
    head: re.Pattern[str]
    tail: re.Pattern[str]

    def polarity(self, text: str | None) -> str | None:
        """Yes or no for a label such as a gold answer ("Yes.", " No", a declared "TRUE"), else None."""
        return None if text is None else self.whole.get(fold(text).strip(EDGES))

    def word_polarity(self, text: str) -> str | None:
        """The same for full words only: where nothing says that yes or no is asked, "N" may be an option."""
        return self.table.get(fold(text).strip(EDGES))


def answer_words(synonyms: Mapping[str, Sequence[str]]) -> AnswerWords:
    """Compile the vocabulary; ``synonyms`` lists further words under ``yes`` and ``no``.

    Raises
    ------
    StudyError
        A key other than yes and no, a blank word, or one word under both.
    """
    unknown = sorted(set(synonyms) - {YES, NO})
    if unknown:
        raise StudyError(f"[reading] synonyms: unknown key {unknown[0]!r}; use yes and no", offenders=unknown)
    return _compiled(tuple(synonyms.get(YES, ())), tuple(synonyms.get(NO, ())))


@lru_cache(maxsize=64)
def _compiled(yes: tuple[str, ...], no: tuple[str, ...]) -> AnswerWords:
    declared = _declared(yes, no)
    table = {word: polarity for polarity, words in _BASE.items() for word in words} | declared
    base = _alternatives([word for words in _BASE.values() for word in words])
    sides = {polarity: _alternatives([w for w in table if table[w] == polarity]) for polarity in (YES, NO)}
    orders = [(sides[YES], sides[NO]), (sides[NO], sides[YES])]
    pairs = "|".join(
        rf"{a}[\"')\]]*\s*(?:,?\s*(?:\bn?or\b|\bvs?\.?|\bversus\b|\band/or\b)(?:\s+(?:a|an|the))?|/|\|)\s*[\"'(\[]*{b}"
        rf"|{a}[\"']*\s*,\s*[\"']*{b}[\"']*\s*,?\s*(?:or\s+|and\s+)?[\"']*(?:maybe|perhaps|unknown|unsure|unclear)\b"
        for a, b in orders
    )
    # A following noun makes "no" a determiner: "yes, and no further step".
    hedges = "|".join(
        rf"{a}[\"']*[\s,]+(?:and|but also|and also|&)\s+(?:also\s+)?[\"']*{b}(?![\"')]*\s+(?!depending|really|at"
        rf"|it\b|in\b|to\b|for\b|on\b|so\b|both|here|then)\w)"
        for a, b in orders
    )
    either = _alternatives(table)
    instructed = (
        rf"\bif [^.;\n]{{0,60}},? (?:then )?(?:please )?(?:write|say|answer|respond|reply|output|print|return|type"
        rf"|state|choose|select)"
        rf"(?: with)? [\"']*{either}[\"']*"
    )
    return AnswerWords(
        table=table,
        whole=table | {short: p for short, p in _SHORT.items() if short not in table},
        declared=frozenset(declared),
        word=_whole_words(table),
        pair=re.compile(rf"(?<!\w)(?<![/|])(?<![/|] )(?:(?:either|neither|both)\s+[\"']*)?(?:{pairs})(?!\w)"),
        hedge=re.compile(rf"(?<!\w)(?:{hedges})(?!\w)"),
        instruction=re.compile(instructed),
        head=re.compile(rf"[\s\"'(*_]*({base})[\"')*_]*(?:\s*[.!,;:]|\s*\n|\s+[–—-]|\s*$|\s+(?=because\b|since\b))"),
        tail=re.compile(
            r"(?:^\s*\**|[.!?][\s*]+|\n[\s*]*)(?:(?:(?:so|thus|therefore|hence),? )?(?:the |my )?(?:(?:correct"
            r"|final) )*answer"
            rf"(?:\*\*)?(?: is|:)[\s*:]+|(?<=\n)\**)[\"'*]*(?P<word>{base})[\"'*.!]*\s*$"
        ),
    )


def _declared(yes: tuple[str, ...], no: tuple[str, ...]) -> dict[str, str]:
    declared: dict[str, str] = {}
    for polarity, words in ((YES, yes), (NO, no)):
        for given in words:
            word = " ".join(fold(given).split()).strip(EDGES)
            if not word:
                raise StudyError(f"[reading] synonyms: a blank word under {polarity}; remove it")
            taken = declared.get(word) or next((p for p, base in _BASE.items() if word in base), polarity)
            if taken != polarity:
                raise StudyError(f"[reading] synonyms: {given!r} means both yes and no; keep one", offenders=[given])
            if word not in _BASE[polarity]:
                declared[word] = polarity
    return declared


def _whole_words(table: Mapping[str, str]) -> re.Pattern[str]:
    """Finds whole words; what stands to the left is looked at last, so that the search can skip by first letter."""
    longest_first = sorted(table, key=lambda word: (-len(word), word))
    single = [re.escape(word) for word in longest_first if " " not in word]
    phrases = [word for word in longest_first if " " in word]
    found = [rf"{word}(?<!\w{word})(?<!\w[-'’]{word})" for word in single]
    if phrases:
        found.insert(0, rf"(?<!\w){_alternatives(phrases)}")
    return re.compile(rf"(?:{'|'.join(found)})(?!\w|[-'’]\w)")


def _alternatives(words: Sequence[str] | Mapping[str, str]) -> str:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first) + ")"
