"""Texts of simulated answers: unmistakable ones say Yes or No, the others neither."""

import re

import numpy as np
import pytest

from analysis.simulation.answer_texts import LONG, NO, OTHER, SHORT, YES, answer_texts


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


@pytest.mark.parametrize(("code", "said", "unsaid"), [(YES, "yes", "no"), (NO, "no", "yes")])
def test_answers_say_one_word_and_never_the_other(code, said, unsaid):
    """Catches a text whose true answer is a matter of the reading rule."""
    for text in (*SHORT[code], *LONG[code]):
        assert said in words(text), text
        assert not {unsaid, "not", "true", "false", "correct", "incorrect"} & words(text), text


def test_unreadable_texts_hold_no_answer_word():
    """Catches an "uncertain" text that a reader would rightly read."""
    for texts in OTHER.values():
        for text in texts:
            assert not {"yes", "no", "true", "false", "correct", "incorrect", "probable"} & words(text), text


def test_long_answers_have_about_a_hundred_characters():
    """Catches a full-size benchmark on texts much shorter than the size it states."""
    texts = answer_texts(np.random.default_rng(1), np.array([YES, NO] * 500, dtype=np.int8), long_share=1.0).to_pylist()
    assert 90 <= np.mean([len(text) for text in texts]) <= 120
    assert len(set(texts)) == 10


def test_a_response_that_does_not_exist_has_no_text():
    """Catches the first text standing in for a missing one (index -1 or 0)."""
    assert answer_texts(np.random.default_rng(1), np.array([5, YES, 6], dtype=np.int8)).null_count == 2
