"""Verdicts are read as the yes or no that they stand for."""

import pytest

from analysis.errors import StudyError
from analysis.parsing.verdict import read_verdict, verdict_synonyms, verdict_words

WORDS = verdict_words()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("A: No.", "no"),
        ("A: Invalid.", "no"),
        ("Valid", "yes"),
        ("**Invalid** - the middle term is undistributed.", "no"),
        ("The argument is not valid.", "no"),
        ("The argument is not incorrect.", "yes"),
        ("The statement is false.", "no"),
        ("The argument is invalid even though the conclusion is true.", "no"),
        ("Although every premise is true, the argument is invalid.", "no"),
        ("The argument is valid. It would be invalid if premise 1 said some.", "yes"),
        ("Yes, it is valid.", "yes"),
        ("The validity is what we have to check.", None),
        ("Neither valid nor invalid.", None),
        ("Valid or invalid?", None),
    ],
)
def test_verdicts_of_every_pair(text: str, answer: str | None) -> None:
    """Catches "valid" found inside "invalid", a denial that is ignored, and a concession taken for the verdict."""
    assert read_verdict(text, WORDS).answer == answer


def test_only_the_pairs_asked_for_are_verdicts() -> None:
    """Catches truth read where validity is asked for."""
    words = verdict_words(["valid"])
    assert read_verdict("True.", words).answer is None
    assert read_verdict("Invalid.", words).answer == "no"
    assert verdict_synonyms(["valid"]) == {"yes": ("valid",), "no": ("invalid",)}


def test_an_unknown_pair_is_refused() -> None:
    """Catches a misspelt pair that would read nothing."""
    with pytest.raises(StudyError, match="unknown verdict 'sound'"):
        verdict_synonyms(["sound"])
