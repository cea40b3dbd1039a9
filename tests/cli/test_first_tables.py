"""A stranger's own tables: what is refused says what to write, and what it says to write works."""

import re
import resource
import tomllib
import zipfile
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.store import open_store
from analysis.schema.study import Study


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    status = main([*map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def taken(path: Path, tmp_path: Path, column: str, study: Study | None = None) -> tuple[list[float | None], list[str]]:
    intake = take_in([path], study or Study(), IntakeSettings(), tmp_path / "store")
    with open_store(intake.store) as con:
        values = con.execute(f"SELECT {column} FROM responses ORDER BY item").fetchall()
    return [value for (value,) in values], intake.notes["note"].to_list()


def chosen(draft: str, *starts: str) -> str:
    """The draft with the # taken off the lines that begin so, each of which has to be there."""
    lines = draft.splitlines()
    assert all(any(line.startswith(f"# {start}") for line in lines) for start in starts)
    return "\n".join(line[2:] if line.startswith(tuple(f"# {s}" for s in starts)) else line for line in lines)


@pytest.mark.parametrize(
    ("table", "column", "expected", "note"),
    [
        ("model,item,probability\nm,a,35%\nm,b,0.4\nm,c,\n", "probability", [0.35, 0.4, None], '"35%" as 0.35'),
        ("model;item;probability\nm;a;0,25\nm;b;1\n", "probability", [0.25, 1.0], '"0,25" as 0.25'),
        ("model\titem\tlogged_score\nm\ta\t0,5\nm\tb\t80%\n", "score_value", [0.5, 0.8], '"80%" as 0.8'),
    ],
)
def test_numbers_of_spreadsheets_are_read_and_told(tmp_path, table, column, expected, note):
    """Catches a refused table, a value a hundredfold off, and a reading that nobody is told of."""
    (tmp_path / "a.csv").write_text(table, encoding="utf-8-sig")
    values, notes = taken(tmp_path / "a.csv", tmp_path, column)
    assert values == pytest.approx(expected)
    assert any(note in sentence for sentence in notes)


def test_percent_signs_and_the_declared_scale_agree(tmp_path):
    """Catches 35% divided twice where the scale is declared to be percent."""
    (tmp_path / "a.csv").write_text("model,item,probability,truth\nm,a,35%,50%\nm,b,35,0.5\n")
    study = Study(probability_scale="percent")
    assert taken(tmp_path / "a.csv", tmp_path, "probability", study)[0] == pytest.approx([0.35, 0.35])
    assert taken(tmp_path / "a.csv", tmp_path, "truth", study)[0] == pytest.approx([0.5, 0.5])


def test_a_mapped_column_is_read_like_one_of_the_schema(tmp_path, capsys):
    """Catches [map] that refuses what the column itself would take, and an error without its line."""
    (tmp_path / "a.csv").write_text("Model;Question;Sure\nm;a;35%\nm;b;0,4\n")
    (tmp_path / "study.toml").write_text('[map]\nmodel = "Model"\nitem = "Question"\nprobability = "Sure"\n')
    assert said(capsys, "validate", tmp_path)[1].endswith("2 responses in 1 file: 0 errors, 0 warnings\n")
    (tmp_path / "a.csv").write_text("Model;Question;Sure\nm;a;35%\nm;b;often\n")
    assert "a.csv: line 3: probability must be a number" in said(capsys, "validate", tmp_path)[1]


@pytest.mark.parametrize(
    ("gold", "answer", "section"),
    [
        (("True", "False"), ("yes", "no"), "map"),
        (("0", "1"), ("no", "yes"), "map"),
        (("yes", "no"), ("TRUE", "FALSE"), "reading"),
    ],
)
def test_gold_in_other_words_is_answered_with_the_line_to_write(tmp_path, capsys, gold, answer, section):
    """Catches advice that leaves the words to the user, or that is refused when it is followed."""
    rows = "".join(f"m,q{n},{gold[n % 2]},{answer[n // 2 % 2]}\n" for n in range(4))
    (tmp_path / "a.csv").write_text("model,item,gold,answer\n" + rows)
    status, text = said(capsys, "validate", tmp_path)
    assert status == 1
    (line,) = re.findall(r"write ((?:gold|synonyms) = \{.*\})", text)
    (tmp_path / "study.toml").write_text(f"[{section}]\n{line}\n")
    assert said(capsys, "validate", tmp_path) == (0, "4 responses in 1 file: 0 errors, 0 warnings\n")


def test_a_draft_lists_what_has_to_be_settled_and_leaves_the_kind_open(tmp_path, capsys):
    """Catches a draft that fixes the kind which a mistake in the table suggests."""
    (tmp_path / "a.csv").write_text("model,item,gold,answer\nm,a,True,yes\nm,b,False,no\n")
    assert "to do: under [map]" in said(capsys, "study", "init", tmp_path)[1]
    draft = (tmp_path / "study.toml").read_text()
    assert "kind" not in tomllib.loads(draft)["study"]
    (line,) = re.findall(r"write (gold = \{.*\})", draft)
    (tmp_path / "study.toml").write_text(draft + f"\n[map]\n{line}\n")
    assert said(capsys, "validate", tmp_path)[0] == 0


def test_the_draft_of_a_wide_table_works_when_its_lines_are_chosen(tmp_path, capsys):
    """Catches a draft that leaves names of models and words of gold answers to be typed."""
    rows = "".join(f"{n};{('geo', 'math')[n % 2]};{n % 3 == 0};{('yes', 'no')[n % 2]};no\n" for n in range(6))
    (tmp_path / "a.csv").write_text("nr;topic;correct;GPT Foo;b.c\n" + rows, encoding="utf-8-sig")
    assert said(capsys, "study", "init", tmp_path)[0] == 0
    path = tmp_path / "study.toml"
    path.write_text(chosen(path.read_text(), "gold = {", "[wide]", "models = ", "value = "))
    assert said(capsys, "validate", tmp_path)[1].endswith("12 responses in 1 file: 0 errors, 0 warnings\n")


@pytest.mark.parametrize(
    ("cells", "value"),
    [(("A", "b"), "answer"), (("35%", "0,5"), "logged_score"), (("It depends, I think.", "Yes, it is so."), "output")],
)
def test_the_draft_of_a_wide_table_says_what_its_cells_hold(tmp_path, capsys, cells, value):
    """Catches scores or whole replies declared to be answers."""
    (tmp_path / "a.tsv").write_text("item\tm1\tm2\n" + "".join(f"q{n}\t{cells[0]}\t{cells[1]}\n" for n in range(3)))
    said(capsys, "study", "init", tmp_path)
    draft = (tmp_path / "study.toml").read_text()
    assert f'# value = "{value}"' in draft
    assert '# models = ["m1", "m2"]' in draft


def test_a_table_in_another_encoding_is_told_to_be_saved_anew(tmp_path, capsys):
    """Catches a draft with names that are not those of the table, and missing columns blamed for an encoding."""
    (tmp_path / "a.csv").write_bytes("Mod\xe8le,Question,R\xe9ponse\nm,q,Oui\n".encode("latin-1"))
    for command in (("validate",), ("study", "init")):
        status, text = said(capsys, *command, tmp_path)
        assert status == 2
        assert "not valid UTF-8; save the file as UTF-8" in text
    assert not (tmp_path / "study.toml").exists()


@pytest.mark.parametrize("command", [("validate",), ("report", "--no-bayes"), ("study", "init")])
def test_a_header_alone_is_refused_without_settings_too(tmp_path, capsys, command):
    """Catches an empty report with exit status 0."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text("model,item,answer\n")
    first, *options = command
    named = ["init", tmp_path / "logs"] if options == ["init"] else [tmp_path / "logs", *options]
    out = ["--out", tmp_path / "out"] if first == "report" else []
    status, text = said(capsys, first, *named, *out)
    assert (status, "no rows: a.csv has a header and nothing below it" in text) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def test_a_draft_that_does_not_fit_on_the_disk_leaves_no_file(tmp_path, capsys):
    """Catches half a study.toml, which the next command would read, and an error that names no file."""
    (tmp_path / "a.csv").write_text("LLM,Q\nm,a\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        status, text = said(capsys, "study", "init", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 2
    assert "study.toml: cannot be written (File too large)" in text
    assert not (tmp_path / "study.toml").exists()


@pytest.mark.parametrize(
    ("name", "told"), [("a.zip", "an archive; unpack it"), ("a.xlsx", "a spreadsheet; save its table")]
)
def test_archives_and_spreadsheets_are_told_what_to_do(tmp_path, capsys, name, told):
    """Catches `no known format` for what a stranger has most often beside a CSV."""
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("inner.zip", b"PK")
    status, text = said(capsys, "validate", tmp_path)
    assert (status, f"{name}: {told}" in text) == (2, True)
