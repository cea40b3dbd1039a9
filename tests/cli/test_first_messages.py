"""What a stranger meets first: messages on tables, settings and files that are almost right."""

import re
import tarfile
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


PLAIN = "model,item,gold,answer\nm,q1,yes,yes\nm,q2,no,no\n"


def test_names_that_differ_by_capitals_are_pointed_at(tmp_path, capsys):
    """Catches `lacks model` for a table that plainly has a column Model."""
    (tmp_path / "a.csv").write_text("Model, item,Gold,Output\nm,q1,yes,Yes\n", encoding="utf-8")
    assert 'though it has "Model", " item", "Output"' in said(capsys, "validate", tmp_path)[1].replace('"Gold", ', "")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_text_in_another_encoding_beside_a_log_is_not_passed_over(tmp_path, capsys, encoding):
    """Catches a lost log listed among the files that are none, and `no known format` without a way out."""
    (tmp_path / "a.csv").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "b.csv").write_bytes(PLAIN.replace("q", "é").encode(encoding))
    status, text = said(capsys, "validate", tmp_path)
    assert status == 1
    assert "error: not read: b.csv: text in UTF-" in text
    assert "save the file as UTF-8" in text


def test_an_archive_of_any_kind_is_to_be_unpacked(tmp_path, capsys):
    """Catches `no known format` for logs.tar.gz."""
    (tmp_path / "a.csv").write_text(PLAIN, encoding="utf-8")
    with tarfile.open(tmp_path / "logs.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.csv", "a.csv")
    (tmp_path / "a.csv").unlink()
    assert "logs.tar.gz: an archive; unpack it" in said(capsys, "validate", tmp_path)[1]


def test_a_table_separated_by_bars_is_read(tmp_path, capsys):
    """Catches a table of a database refused for its delimiter."""
    (tmp_path / "a.psv").write_text(PLAIN.replace(",", "|"), encoding="utf-8")
    assert said(capsys, "validate", tmp_path) == (0, "2 responses in 1 file: 0 errors, 0 warnings\n")


def test_skipping_files_is_offered_where_others_remain(tmp_path, capsys):
    """Catches advice that cannot help: to skip the only file there is."""
    (tmp_path / "a.csv").write_text(PLAIN + "m,q3\n", encoding="utf-8")
    status, text = said(capsys, "report", tmp_path, "--out", tmp_path / "out")
    assert status == 2
    assert "1 of 1 file cannot be read; repair or remove them:" in text
    assert "a.csv: line 4: has 2 cells where the header has 4; check its delimiters and quotes" in text
    (tmp_path / "b.csv").write_text(PLAIN, encoding="utf-8")
    assert "or use --keep-going to skip them:" in said(capsys, "report", tmp_path, "--out", tmp_path / "out")[1]


def test_validate_tells_what_was_odd_about_values(tmp_path, capsys):
    """Catches NaN and Infinity as probabilities with `0 errors, 0 warnings` and no other word."""
    rows = [f'{{"model": "m", "item": "q{n}", "probability": {p}}}' for n, p in enumerate(("NaN", "Infinity", "0.5"))]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    text = said(capsys, "validate", tmp_path)[1]
    assert "note: a.jsonl: invalid probability NaN (no number is kept), first at a.jsonl:1" in text
    assert "note: a.jsonl: invalid probability Infinity (no number is kept), first at a.jsonl:2" in text


def test_a_report_that_claims_nothing_says_why(tmp_path, capsys):
    """Catches `Nothing in these logs allows a claim` as the last word, and `1 responses`."""
    (tmp_path / "a.csv").write_text("model,item,role,probability\nm,q1,target,0.5\n", encoding="utf-8")
    status, text = said(capsys, "report", tmp_path, "--out", tmp_path / "out", "--no-bayes", "--no-pdf")
    assert status == 0
    assert "1 response read, 0 used" in text
    assert "cannot be claimed:\n  The questions" in text


def test_probabilities_of_ones_own_table_become_a_log_by_its_draft(tmp_path, capsys):
    """Catches a draft that never mentions what each probability is of, nor that several columns name a question."""
    asked = {"P(S)": 0.4, "P(T|S)": 0.5, "P(T|no S)": 0.2, "P(T)": 0.3}
    rows = "".join(f"m,v{n},{a},w{w},{p}\n" for n in range(3) for w in (1, 2) for a, p in asked.items())
    (tmp_path / "a.csv").write_text("Respondent,Vignette,Asked,Wording,Estimate\n" + rows, encoding="utf-8")
    assert said(capsys, "study", "init", tmp_path)[0] == 0
    draft = (tmp_path / "study.toml").read_text(encoding="utf-8")
    words = '"P(S)" = "…", "P(T|S)" = "…", "P(T|no S)" = "…", "P(T)" = "…"'
    for line in ('model = "Respondent"', 'unit = "Vignette"', 'probability = "Estimate"', 'wording = "Wording"'):
        assert f"# {line}" in draft.splitlines()
    for line in ("role", "state", 'item = { from = ["…", "…"] }'):
        assert f"# {line}" in draft
    roles = dict(zip(asked, ("latent", "conditional", "conditional", "target"), strict=True))
    states = dict(zip(asked, ("S", "S", "not S", ""), strict=True))
    for values in (roles, states):
        assert words in draft
        draft = draft.replace(words, ", ".join(f'"{word}" = "{value}"' for word, value in values.items()), 1)
    draft = draft.replace('["…", "…"]', '["Vignette", "Asked", "Wording"]')
    chosen = ('# model = "R', "# unit", "# probability", "# wording", "# role", "# state", "# item = {")
    lines = [line[2:] if line.startswith(chosen) else line for line in draft.splitlines()]
    (tmp_path / "study.toml").write_text("\n".join(lines), encoding="utf-8")
    assert said(capsys, "validate", tmp_path) == (0, "24 responses in 1 file: 0 errors, 0 warnings\n")


def test_names_alike_by_accident_are_no_candidates(tmp_path, capsys):
    """Catches Temp offered as the item, and a respondent as the response."""
    (tmp_path / "a.csv").write_text("Respondent,Temp,Prompt Text,LLM name\nm,0.7,Is it?,x\n", encoding="utf-8")
    said(capsys, "study", "init", tmp_path)
    lines = (tmp_path / "study.toml").read_text(encoding="utf-8").splitlines()
    assert {'# item = "…"', '# output = "…"', '# strategy = "…"', '# temperature = "Temp"'} <= {*lines}
    assert {'# model = "LLM name"', '# prompt = "Prompt Text"'} <= {*lines}


def test_a_foreign_column_called_like_one_of_the_schema_can_be_left_out(tmp_path, capsys):
    """Catches a table refused for its own column truth, which [map] reads as gold, and advice that does not help."""
    (tmp_path / "a.csv").write_text("model,item,truth,answer\nm,q1,WAHR,yes\nm,q2,FALSCH,no\n", encoding="utf-8")
    rule = '[map]\ngold = { from = "truth", values = { WAHR = "yes", FALSCH = "no" } }\n'
    (tmp_path / "study.toml").write_text(rule, encoding="utf-8")
    status, text = said(capsys, "validate", tmp_path)
    assert status == 2
    (line,) = re.findall(r"truth = \{.*?\}", text)
    (tmp_path / "study.toml").write_text(rule + line, encoding="utf-8")
    assert said(capsys, "validate", tmp_path) == (0, "2 responses in 1 file: 0 errors, 0 warnings\n")


def test_a_plan_without_a_study_says_how_to_draft_one(tmp_path, capsys):
    """Catches `No such file or directory` for a file that nobody named."""
    assert f"`evenhand study init {tmp_path}` drafts one" in said(capsys, "study", "plan", tmp_path)[1]


def test_a_report_inside_of_the_logs_is_not_read_as_logs(tmp_path, capsys):
    """Catches tables of a report, which hold models and items, counted as further responses."""
    (tmp_path / "a.csv").write_text(PLAIN, encoding="utf-8")
    report = tmp_path / "reports" / "logs"
    for folder in ("tables", "data"):
        (report / folder).mkdir(parents=True)
    for name in ("index.html", "manifest.json", "numbers.tex", "report.tex"):
        (report / name).write_text("{}", encoding="utf-8")
    (report / "tables" / "answers.csv").write_text(PLAIN.replace("q", "r"), encoding="utf-8")
    assert said(capsys, "validate", tmp_path) == (0, "2 responses in 1 file: 0 errors, 0 warnings\n")
    assert "a report, not logs" in said(capsys, "validate", report)[1]


def test_statuses_in_other_words_are_to_be_translated(tmp_path, capsys):
    """Catches failed calls that count as wrong, with 0 errors, because their status is written in other words."""
    (tmp_path / "a.csv").write_text(
        "model,item,gold,answer,status\nm,q1,yes,yes,done\nm,q2,no,,timeout\n", encoding="utf-8"
    )
    status, text = said(capsys, "validate", tmp_path)
    assert status == 1
    assert 'status of 2 rows is "done" or "timeout", not answered, unparsed,' in text
    rule = 'status = { from = "status", values = { done = "answered", timeout = "errored" } }'
    (tmp_path / "study.toml").write_text(f"[map]\n{rule}\n", encoding="utf-8")
    assert said(capsys, "validate", tmp_path) == (0, "2 responses in 1 file: 0 errors, 0 warnings\n")
