"""Verdicts are read as the yes or no that they stand for."""

from pathlib import Path

import pytest

from analysis.errors import StudyError
from analysis.parsing.answer_words import AnswerWords, answer_words
from analysis.parsing.yes_no import read_yes_no
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.reading_settings import reading_of
from analysis.schema.store import open_store
from analysis.schema.study import load_study


def verdict_words(*pairs: str) -> AnswerWords:
    return answer_words(reading_of({"reading": {"verdicts": pairs}}).synonyms)


WORDS = verdict_words("valid", "correct", "true")


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
    assert read_yes_no(text, WORDS).answer == answer


def test_only_the_pairs_asked_for_are_verdicts() -> None:
    """Catches truth read where validity is asked for."""
    words = verdict_words("valid")
    assert read_yes_no("True.", words).answer is None
    assert read_yes_no("Invalid.", words).answer == "no"
    assert reading_of({"reading": {"verdicts": ("valid",)}}).synonyms == {"yes": ("valid",), "no": ("invalid",)}


def test_an_unknown_pair_and_a_contradicted_one_are_refused(tmp_path: Path) -> None:
    """Catches a misspelt pair that would read nothing, and a word of a pair that is declared as its opposite."""
    file = tmp_path / "study.toml"
    file.write_text('[reading]\nverdicts = ["sound"]\n')
    with pytest.raises(StudyError, match=r"verdicts.*sound"):
        load_study(file)
    file.write_text('[reading]\nverdicts = ["valid"]\nsynonyms = { yes = ["invalid"] }\n')
    with pytest.raises(StudyError, match="under two answers"):
        load_study(file)


def test_judges_verdicts_are_read_in_a_study(tmp_path: Path) -> None:
    """Catches a declaration that never reaches the reader: a judge's log from the file to the answers."""
    (tmp_path / "study.toml").write_text('[reading]\nverdicts = ["correct"]\n')
    (tmp_path / "log.csv").write_text(
        'model,item,output,gold\nj,1,"GRADE: INCORRECT",incorrect\nj,2,"The response is correct.",incorrect\n'
    )
    study = load_study(tmp_path / "study.toml")
    intake = take_in([tmp_path], study, IntakeSettings(), tmp_path / "store")
    with open_store(intake.store) as con:
        rows = con.execute("SELECT item, answer, gold FROM responses ORDER BY item").fetchall()
    assert rows == [("1", "no", "no"), ("2", "yes", "no")]
