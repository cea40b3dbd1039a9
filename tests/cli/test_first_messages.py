"""What a stranger meets first: messages on tables, settings and files that are almost right."""

from pathlib import Path

import pytest

from analysis.cli.main import main

HEADER = "LLM,Question_ID,Scenario,Expected,Response\n"
ROWS = "m,q1,s1,yes,Yes.\nm,q2,s1,no,No.\nm,q3,s2,yes,Yes.\n"
STUDY = (
    '[study]\nunit = "Scenario"\n[map]\nmodel = "LLM"\nitem = "Question_ID"\noutput = "Response"\ngold = "Expected"\n'
)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(HEADER + ROWS, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path


def said(capsys: pytest.CaptureFixture, *arguments: object) -> tuple[int, str]:
    status = main([*map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_a_plan_is_found_by_the_directory_of_the_logs(logs, capsys):
    """Catches a command that alone wants the file, and says `is a directory`."""
    by_folder, by_file = said(capsys, "study", "plan", logs), said(capsys, "study", "plan", logs / "study.toml")
    assert by_folder == by_file
    assert by_folder[0] == 0


def test_a_header_alone_has_no_rows(logs, capsys):
    """Catches a missing column being blamed for a table without rows."""
    (logs / "a.csv").write_text(HEADER, encoding="utf-8")
    status, text = said(capsys, "validate", logs)
    assert status == 2
    assert "no rows: a.csv has a header and nothing below it" in text


def test_a_misspelt_source_of_the_map_is_named_with_the_nearest(logs, capsys):
    """Catches `lacks an answer` where the answer is mapped from a column that is not there."""
    (logs / "study.toml").write_text(STUDY.replace('"Response"', '"Respons"'), encoding="utf-8")
    _, text = said(capsys, "validate", logs)
    assert 'no column "Respons", which [map] output in study.toml reads; did you mean "Response"?' in text


def test_a_misspelt_unit_suggests_the_name_as_written_in_the_table(logs, capsys):
    """Catches the suggestion of a prefix that the user never wrote."""
    (logs / "study.toml").write_text(STUDY.replace('"Scenario"', '"Scenarios"'), encoding="utf-8")
    assert 'did you mean "Scenario"?' in said(capsys, "validate", logs)[1]


def test_copies_of_rows_are_advised_to_be_deleted(logs, capsys):
    """Catches advice that fits repeats only."""
    (logs / "a.csv").write_text(HEADER + ROWS + ROWS, encoding="utf-8")
    assert "delete rows that are copies" in said(capsys, "validate", logs)[1]


def test_a_draft_for_one_foreign_table_offers_its_unit(logs, capsys):
    """Catches `1 tables`, and a draft that never mentions the unit."""
    (logs / "study.toml").unlink()
    assert "but a table: choose" in said(capsys, "study", "init", logs)[1]
    assert '# unit = "Scenario"' in (logs / "study.toml").read_text(encoding="utf-8")


def test_a_table_without_a_declaration_gets_a_short_answer(tmp_path, capsys):
    """Catches a message of a hundred columns."""
    (tmp_path / "t.csv").write_text("model,x\na,1\n", encoding="utf-8")
    status, text = said(capsys, "check-tables", tmp_path / "t.csv")
    assert status == 2
    assert "no declaration fits its columns" in text
    assert "--declaration" in text
    assert len(text) < 900
