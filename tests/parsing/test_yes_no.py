"""The yes/no reader against labelled texts and under changes that must not, or must, change the answer."""

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_corpora import SOURCES, VOCABULARIES, Labelled, corpus

from analysis.errors import StudyError
from analysis.parsing.answer_words import answer_words
from analysis.parsing.yes_no import _plain, _read_whole, read_yes_no
from analysis.schema.status import Status

WORDS = answer_words({})
OPPOSITE = {"yes": "no", "no": "yes"}


@pytest.mark.parametrize("source", SOURCES)
def test_no_text_is_read_as_the_opposite(source: str) -> None:
    """Catches the worst mistake: a text that says one answer is read as the other."""
    texts = [t for t in corpus("yes_no", source=source) if t.expected is not None]
    assert [t.text for t in texts if t.found() == OPPOSITE[t.expected or ""]] == []


@pytest.mark.parametrize("source", SOURCES)
def test_labelled_texts_are_read_right(source: str) -> None:
    """Catches rules that read too little or too much."""
    texts = corpus("yes_no", source=source)
    missed = [(t.kind, t.text, t.expected, t.found()) for t in texts if t.found() != t.expected]
    assert len(missed) <= 0.03 * len(texts), missed


@pytest.mark.parametrize(
    ("text", "answer", "rule"),
    [
        ("Yes.", "yes", "exact"),
        ("\\boxed{No}", "no", "boxed"),
        ('{"answer": "yes"}', "yes", "json"),
        ("<answer>no</answer>", "no", "tagged"),
        ("So the answer is no.", "no", "final_answer"),
        ("Yes, it does.", "yes", "first_word"),
        ("It cannot be.\nNo", "no", "last_line"),
        ("No — wait, yes", "yes", "self_correction"),
        ("One moment. Yes, it does. The lamp is on.", "yes", "only_one_polarity"),
        ("", None, "empty"),
        ("Yes. No.", None, "conflicting"),
        ("yes and no", None, "hedge"),
        ("1. Yes\n2. Yes", None, "several"),
        ("The answer is not yes.", None, "negated"),
        ("Yes only if it rains.", None, "conditional"),
        ("No?", None, "question"),
        ("I cannot tell.", None, "undecided"),
        ("lol", None, "none"),
        ("Yes, I can help with that.", None, "offer"),
    ],
)
def test_each_rule_is_recorded_under_its_name(text: str, answer: str | None, rule: str) -> None:
    """Catches a right answer for the wrong reason: the audit counts rules."""
    reading = read_yes_no(text, WORDS)
    assert (reading.answer, reading.rule) == (answer, rule)


def test_statuses_of_texts_without_an_answer() -> None:
    """Catches refusals and cut-off reasoning counted among the merely unreadable."""
    assert read_yes_no("I'm sorry, but I can't help with that.", WORDS).status is Status.REFUSED
    assert read_yes_no("<think>the answer is yes", WORDS).status is Status.TRUNCATED
    assert read_yes_no("Hm.", WORDS).status is Status.UNPARSED


@pytest.mark.parametrize(
    "text",
    ["incorrect", "not incorrect", "It is correct.", "That is not true.", "invalid", "not", "Not really", "yesterday"],
)
def test_words_that_were_not_declared_are_no_answers(text: str) -> None:
    """Catches "correct" found inside "incorrect" and "not" taken for no."""
    assert read_yes_no(text, WORDS).answer is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [("incorrect", "no"), ("Correct!", "yes"), ("It is not correct.", "no"), ("It is not incorrect.", "yes")],
)
def test_declared_adjectives_are_whole_words_and_their_negation_has_its_own_rule(text: str, answer: str) -> None:
    """Catches "incorrect" read as "correct" and a negation that is ignored."""
    reading = read_yes_no(text, answer_words(VOCABULARIES["correct_incorrect"]))
    assert reading.answer == answer
    assert (reading.rule == "negated") == ("not" in text)


def test_vocabularies_that_contradict_themselves_are_refused() -> None:
    """Catches a study whose synonym means both answers, or whose key is misspelt."""
    with pytest.raises(StudyError, match="both yes and no"):
        answer_words({"yes": ["true"], "no": ["True"]})
    with pytest.raises(StudyError, match="both yes and no"):
        answer_words({"yes": ["no"]})
    with pytest.raises(StudyError, match="unknown key"):
        answer_words({"maybe": ["perhaps"]})


PLAIN = st.sampled_from(
    ["Yes", "No", "Yes, it does.", "No, it does not.", "The answer is yes.", "Answer: no", "So the final answer is no."]
)
AROUND = st.sampled_from(
    [
        *[("", ""), ("**", "**"), ("*", "*"), ("_", "_"), ("`", "`"), ('"', '"'), ("(", ")"), ("# ", ""), ("> ", "")],
        *[("- ", ""), ("<p>", "</p>"), ("\n\n", "\n"), ("```\n", "\n```"), ("<think>\nno, yes?\n</think>\n", "")],
        ("\u200b", "\ufeff"),
    ]
)
CASES = st.sampled_from([str, str.upper, str.lower, str.title])


@given(text=PLAIN, around=st.lists(AROUND, max_size=2), case=CASES)
def test_case_and_wrappers_never_change_an_unambiguous_reply(
    text: str, around: list[tuple[str, str]], case: Callable[[str], str]
) -> None:
    """Catches an answer lost, or turned, by markdown, quotes, tags, blank characters or letter case."""
    expected = read_yes_no(text, WORDS).answer
    wrapped = case(text)
    for before, after in around:
        wrapped = before + wrapped + after
    assert expected is not None
    assert read_yes_no(wrapped, WORDS).answer == expected


def exchanged(text: str) -> str:
    """The text with the words yes and no exchanged, in their letter case."""
    swap = {"yes": "no", "no": "yes", "Yes": "No", "No": "Yes", "YES": "NO", "NO": "YES"}
    return re.sub(r"(?<![\w-])(?:yes|no)(?![\w-])", lambda m: swap.get(m[0], m[0]), text, flags=re.IGNORECASE)


#: Where "no" is an ordinary word, exchanging the two words changes more than the answer.
DETERMINER = re.compile(r"\bno \w|\bno\b.* no \w|with no|(?<!\w)no (?:dog|cat|flower|bird)", re.IGNORECASE)
NOT_EXCHANGEABLE = {"other_words", "declared", "language", "refusal", "offer"}
TO_EXCHANGE = [
    t
    for t in corpus("yes_no")
    if t.kind not in NOT_EXCHANGEABLE and exchanged(t.text) != t.text and not DETERMINER.search(t.text)
]


@pytest.mark.parametrize("labelled", TO_EXCHANGE, ids=lambda t: t.text[:40])
def test_exchanging_the_words_exchanges_the_answer(labelled: Labelled) -> None:
    """Catches a rule that treats yes and no differently where language does not."""
    turned = read_yes_no(exchanged(labelled.text), answer_words(VOCABULARIES[labelled.words])).answer
    assert turned == OPPOSITE.get(labelled.expected or "")


def test_the_short_cut_agrees_with_the_full_reading() -> None:
    """Catches a fast path that reads, or names a rule, differently from the rules it stands for."""
    endings = [
        "",
        " The lamp is on.",
        "\n\nThe answer is no.",
        " So the answer is yes.",
        "\nNo.",
        "\n\nYes",
        " 2 + 2 = 4.",
    ]
    words = {"-": WORDS}
    labelled = [t for source in SOURCES for t in corpus("yes_no", source=source)]
    texts = [(t.text + ending, t.words) for t in labelled for ending in (endings if t.words == "-" else [""])]
    differing = []
    for text, vocabulary in texts:
        known = words.setdefault(vocabulary, answer_words(VOCABULARIES[vocabulary]))
        plain = _plain(text, known)
        whole = _read_whole(text, known)
        if plain is not None and whole.rule != "exact" and (plain.answer, plain.status) != (whole.answer, whole.status):
            differing.append((text, plain, whole))
    assert not differing


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Catches an exception on strange input, and an answer without a rule."""
    reading = read_yes_no(text, WORDS)
    assert reading.rule
    assert (reading.answer is not None) == (reading.status is Status.ANSWERED)


PIECES = [*"yes no not answer is wait if so the or and true invalid".split(), *'.:,?}"\n—', "**", "1.", "\\boxed{"]  # noqa: SIM905
PIECES += ["<think>", "</think>", '{"answer":']


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_mixture_of_marks_and_words_is_read_without_an_error(text: str) -> None:
    """Catches an exception in the rules themselves, which random text rarely reaches."""
    declared = answer_words({"yes": ["true", "does follow"], "no": ["invalid"]})
    assert read_yes_no(text, declared).rule


HOSTILE = (
    *("no ", "yes, ", "so  ", "(", '"', " ", "\n", "<think>", "\\boxed{", '{"answer": "', "answer to ", "wait, ", "~~"),
    *("\ufdfa", "1. no\n", "the answer is "),
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_reading_time_is_linear(unit: str) -> None:
    """Catches a pattern that backtracks: a megabyte of hostile text takes under a second."""
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    start = time.process_time()
    read_yes_no(text, WORDS)
    assert time.process_time() - start < 1.0


def test_of_a_long_text_the_beginning_and_the_end_are_read() -> None:
    """Catches an answer missed at the end of a long argument, and one taken from its middle."""
    filler = "The lamp stands beside the box. " * 1000
    assert read_yes_no(filler + "The answer is no.", WORDS).answer == "no"
    assert read_yes_no("Yes. " + filler, WORDS).answer == "yes"
    assert read_yes_no(filler + "The answer is no. " + filler, WORDS).answer is None
