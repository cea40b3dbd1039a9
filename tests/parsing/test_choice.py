"""The option reader against labelled texts, and what it must not take for an option."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_corpora import SOURCES, corpus

from analysis.parsing.choice import read_choice
from analysis.parsing.option_labels import option_labels

LETTERS = option_labels()


@pytest.mark.parametrize("source", SOURCES)
def test_labelled_texts_are_read_right(source: str) -> None:
    """Catches an option missed, and a wrong one read (which must not happen at all)."""
    texts = corpus("choice", source=source)
    missed = [(t.text, t.expected, t.found()) for t in texts if t.found() != t.expected]
    assert not [m for m in missed if m[1] is not None and m[2] is not None]
    assert len(missed) <= 0.03 * len(texts), missed


@given(word=st.from_regex(r"[a-z]{2,10}", fullmatch=True), letter=st.sampled_from("AI"))
def test_a_letter_is_never_taken_from_an_ordinary_phrase(word: str, letter: str) -> None:
    """Catches the article "A" and the pronoun "I" read as options."""
    assert read_choice(f"{letter} {word} stood there", LETTERS).answer is None
    assert read_choice(f"Perhaps {letter.lower()} {word}", LETTERS).answer is None


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Catches an exception on strange input."""
    assert read_choice(text, LETTERS).rule


def test_other_labels_are_read_when_they_are_declared() -> None:
    """Catches labels longer than a letter that are cut, and letters read where digits are the options."""
    options = option_labels(("entailment", "neutral", "contradiction"))
    assert read_choice("The answer is neutral.", options).answer == "neutral"
    assert read_choice("**Contradiction**", options).answer == "contradiction"
    digits = option_labels(("1", "2", "3"))
    assert read_choice("Answer: 2", digits).answer == "2"
    assert read_choice("Answer: B", digits).answer is None


@pytest.mark.parametrize(
    ("text", "label"), [(" B", "B"), ("(c).", "C"), ("D)", "D"), ("Bat", None), ("AB", None), ("", None)]
)
def test_gold_labels_are_folded(text: str, label: str | None) -> None:
    """Catches a gold answer with a leading blank or bracket that never equals an answer."""
    assert LETTERS.fold(text) == label
