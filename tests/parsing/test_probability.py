"""The reader of stated probabilities against labelled texts and arithmetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_corpora import SOURCES, corpus

from analysis.parsing.probability import read_probability


@pytest.mark.parametrize("source", SOURCES)
def test_labelled_texts_are_read_right(source: str) -> None:
    """Catches a number missed or taken from the wrong place."""
    texts = corpus("probability", source=source)
    missed = [(t.text, t.expected, t.found()) for t in texts if t.found() != t.expected]
    assert len(missed) <= 0.03 * len(texts), missed


@given(st.integers(0, 1000))
def test_the_same_value_is_read_in_every_notation(thousandths: int) -> None:
    """Catches a notation on another scale: percent, fraction, scientific."""
    value = thousandths / 1000
    for text in (f"{value}", f"{thousandths / 10:g}%", f"{thousandths}/1000", f"{thousandths} in 1000", f"{value:.3e}"):
        read = read_probability(text).probability
        assert read is not None, text
        assert math.isclose(read, value, abs_tol=1e-12), text


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error_and_stays_in_range(text: str) -> None:
    """Catches an exception, and a value that is no probability."""
    value = read_probability(text).probability
    assert value is None or 0 <= value <= 1


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("0.6-0.7", "range"),
        ("less than 5%", "bound"),
        ("3:1", "odds"),
        ("70", "out_of_range"),
        ("", "empty"),
        ("Hm.", "none"),
    ],
)
def test_what_is_set_aside_says_why(text: str, rule: str) -> None:
    """Catches a range read as its first end, and a percentage guessed from its size."""
    reading = read_probability(text)
    assert (reading.probability, reading.rule) == (None, rule)


def test_a_declared_percent_scale_applies_to_bare_numbers_only() -> None:
    """Catches "0.7" rescaled by guess and "70%" divided twice."""
    assert read_probability("70", percent=True).probability == pytest.approx(0.7)
    assert read_probability("70%", percent=True).probability == pytest.approx(0.7)
    assert read_probability("1/2", percent=True).probability == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Of 3 urns, 2 are full.\n0.4", "last_line"),
        ("0.4\nOf 3 urns with 0.9 each, 2 are full.", "first_line"),
        ("Answer: 0.4\nOf 3 urns with 0.9 each, 2 are full.", "first_line"),
        ("With 0.9 each the answer is 0.4, all things and 0.1 considered.", "final_answer"),
        ("With 0.9 each it comes to 0.4 or so", "last_number"),
    ],
)
def test_rules_apply_in_their_order(text: str, rule: str) -> None:
    """Catches a number of the argument read in place of the stated one."""
    reading = read_probability(text)
    assert (reading.probability, reading.rule) == (0.4, rule)
