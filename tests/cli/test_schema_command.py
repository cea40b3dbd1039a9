"""``evenhand schema``, ``study init`` and ``validate``, as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.schema.study import load_study

SOUND = "model,item,gold,answer,unit\n" + "".join(
    f"m,i{i},{'yes' if i % 2 else 'no'},yes,u{i // 2}\n" for i in range(6)
)


def logs(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def test_schema_is_printed_as_a_table_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert "Standard schema, version 1" in capsys.readouterr().out
    assert main(["schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["$id"] == "urn:evenhand:schema:1"


def test_schema_does_not_wait_for_heavy_packages() -> None:
    """Catches an import at the top of a command that makes every command slow."""
    code = (
        "import sys; from analysis.cli.main import main; main(['schema']); "
        "print(sorted({'pandas', 'duckdb', 'matplotlib', 'pymc', 'scipy'} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr.strip() == "[]"


def test_validate_of_sound_logs_is_silent_but_for_the_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(logs(tmp_path, a=SOUND))]) == 0
    assert capsys.readouterr().out == "6 responses in 1 file: 0 errors, 0 warnings\n"


def test_validate_lists_every_violation_with_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a run that stops at the first violation, or forgets lines."""
    bad = "model,item,gold,answer,polarity,city\nm,i1,yes,yes,neg,x\nm,i1,no,yes,affirmative,y\n"
    assert main(["validate", str(logs(tmp_path, a=SOUND, b=bad))]) == 1
    assert capsys.readouterr().out == (
        'error: unknown level: polarity of 1 row is "neg", not affirmative or negated\n'
        "    b.csv:2\n"
        "    to do: translate it with values = { … } under [map] in study.toml\n"
        "error: duplicate response: 1 response in more than one run (3 rows in 2 runs)\n"
        "    a.csv:3 and b.csv:2\n"
        "    a.csv:3 and b.csv:3\n"
        "    …\n"
        "    to do: --runs latest uses the later run, --runs all makes the runs samples; "
        "or take one out of the directory\n"
        "error: duplicate response: 1 response logged more than once in one run "
        "(2 rows of the same model, task, item, sample)\n"
        "    b.csv:2 and b.csv:3\n"
        "    …\n"
        "    to do: delete rows that are copies; give repeats different samples, or name the factor that tells them "
        "apart under conditions in study.toml\n"
        'error: item differs: gold of 1 item differs between rows, as in item "i1": "no", "yes"\n'
        "    a.csv:3\n"
        "    b.csv:2\n"
        "    b.csv:3\n"
        "    to do: an item is one question exactly as asked: give these rows items of their own, or correct them\n"
        'error: item differs: polarity of 1 item differs between rows, as in item "i1": "affirmative", "neg"\n'
        "    b.csv:2\n"
        "    b.csv:3\n"
        "    to do: an item is one question exactly as asked: give these rows items of their own, or correct them\n"
        "columns without a use: meta.city\n"
        "8 responses in 2 files: 5 errors, 0 warnings\n"
    )


def test_validate_goes_on_past_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = "model,item,gold,answer\n,i1,yes,yes\n"
    assert main(["validate", str(logs(tmp_path, a=SOUND, b=broken))]) == 1
    out = capsys.readouterr().out
    assert out.startswith('error: not read: b.csv: 1 of 1 records lack "model"')
    assert out.endswith("6 responses in 1 file: 1 error, 0 warnings\n")


def test_validate_settles_runs_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = logs(tmp_path, a=SOUND, b=SOUND.replace("yes,u", "no,u"))
    assert main(["validate", str(folder)]) == 1
    assert main(["validate", str(folder), "--runs", "all"]) == 0
    capsys.readouterr()
    assert main(["validate", str(folder), "--runs", "latest"]) == 2
    assert "times are not logged" in capsys.readouterr().err


def test_validate_obeys_the_study_beside_the_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = logs(tmp_path, a="model,item,gold,answer,voice\nm,i,yes,yes,a\nm,i,yes,no,b\n")
    assert main(["validate", str(folder)]) == 1
    (folder / "study.toml").write_text('[study]\nconditions = ["voice"]\n')
    assert main(["validate", str(folder)]) == 0
    (folder / "study.toml").write_text('[study]\nconditionz = ["voice"]\n')
    capsys.readouterr()
    assert main(["validate", str(folder)]) == 2
    assert 'did you mean "conditions"' in capsys.readouterr().err


def test_validate_of_nothing_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a traceback, or success, for an empty or absent directory."""
    for path in (tmp_path, tmp_path / "none"):
        assert main(["validate", str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("evenhand: ")
        assert "Traceback" not in captured.err


def test_study_init_writes_a_study_that_validates_and_is_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = logs(tmp_path, a=SOUND)
    assert main(["study", "init", str(folder)]) == 0
    study = load_study(folder / "study.toml")
    assert (study.name, study.kind, study.unit) == (folder.name, "judgement", "unit")
    assert main(["validate", str(folder)]) == 0
    (folder / "study.toml").write_text("# mine\n")
    capsys.readouterr()
    assert main(["study", "init", str(folder)]) == 2
    assert "is not overwritten" in capsys.readouterr().err
    assert (folder / "study.toml").read_text() == "# mine\n"
    assert main(["study", "init", str(folder), "-o", str(folder / "other.toml")]) == 0
    assert load_study(folder / "other.toml").unit == "unit"


def test_study_init_leaves_nothing_when_the_logs_cannot_be_read(tmp_path: Path) -> None:
    assert main(["study", "init", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []
