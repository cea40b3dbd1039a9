"""Reads a verdict (valid or invalid, true or false, correct or incorrect) as the yes or no that it stands for.

A thin layer over the yes/no reader: the pairs that are asked for are declared as its synonyms, so that every rule
and every reason is the same. "A: No." and "Yes, it is valid" are verdicts too.
"""

from collections.abc import Iterable, Mapping

from analysis.errors import StudyError
from analysis.parsing.answer_words import NO, YES, AnswerWords, answer_words
from analysis.parsing.reading import Reading
from analysis.parsing.yes_no import read_yes_no

#: Pairs by name: what stands for yes, what stands for no.
VERDICT_PAIRS: Mapping[str, tuple[str, str]] = {
    "valid": ("valid", "invalid"),
    "correct": ("correct", "incorrect"),
    "true": ("true", "false"),
}


def verdict_synonyms(pairs: Iterable[str] = tuple(VERDICT_PAIRS)) -> dict[str, tuple[str, ...]]:
    """Synonyms that declare pairs by name; what ``[reading] synonyms`` of a study takes.

    Raises
    ------
    StudyError
        A name that is none of ``VERDICT_PAIRS``.
    """
    names = tuple(pairs)
    unknown = [name for name in names if name not in VERDICT_PAIRS]
    if unknown:
        raise StudyError(f"unknown verdict {unknown[0]!r}; use {', '.join(VERDICT_PAIRS)}", offenders=unknown)
    return {
        YES: tuple(VERDICT_PAIRS[name][0] for name in names),
        NO: tuple(VERDICT_PAIRS[name][1] for name in names),
    }


def verdict_words(pairs: Iterable[str] = tuple(VERDICT_PAIRS)) -> AnswerWords:
    """Vocabulary of some pairs, for ``read_verdict``."""
    return answer_words(verdict_synonyms(pairs))


def read_verdict(text: str, words: AnswerWords) -> Reading:
    """Read a reply to a question for a verdict; its answer is yes or no, the polarity of the verdict's word."""
    return read_yes_no(text, words)
