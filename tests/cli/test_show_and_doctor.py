"""``show`` and ``doctor``: a report read back, and what the machine has."""

import json
import math
import re

import pandas as pd
import pytest

from analysis.cli import doctor
from analysis.cli.main import main


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("show")
    log = folder / "log.csv"
    rows = [f"m{m},i{i},{'yes' if (i + m) % 3 else 'no'},{'yes' if i % 2 else 'no'}" for m in (1, 2) for i in range(20)]
    log.write_text("model,item,answer,gold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert main(["report", "--no-bayes", str(log), "--out", str(folder / "report"), "--quiet", "--no-pdf"]) == 0
    return folder / "report"


def test_tables_are_listed_and_printed(report, capsys):
    """Catches a table that the report wrote and the command does not know, or the other way round."""
    assert main(["show", str(report)]) == 0
    names = capsys.readouterr().out.split()
    assert "cells" in names
    assert sorted(names) == sorted(path.stem for path in (report / "tables").glob("*.csv"))
    for name in names:
        assert main(["show", str(report), name]) == 0
        assert capsys.readouterr().out == (report / "tables" / f"{name}.txt").read_text(encoding="utf-8")


def test_json_holds_the_unrounded_numbers(report, capsys):
    """Catches rounded numbers, texts in place of numbers, and NaN, which is no JSON."""
    assert main(["show", str(report), "cells", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in rows} == {"m1", "m2"}
    for row in rows:
        assert math.isclose(row["answer_bias"], row["acc_yes"] - row["acc_no"], abs_tol=1e-12)
        assert isinstance(row["n"], int)


def test_unknown_table_and_other_folder_get_one_message(report, tmp_path, capsys):
    """Catches a traceback, or a path taken from the command line into the report's folder."""
    assert main(["show", str(report), "../manifest"]) == 2
    assert "no table '../manifest'; there are" in capsys.readouterr().err
    assert main(["show", str(tmp_path)]) == 2
    assert "holds no report" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tables", "asked", "found"),
    [
        (("cells_t", "classes_t"), "cells", "cells_t"),
        (("cells", "cells_t"), "cells", "cells"),
        (("cells_t", "cells_u"), "cells", "several begin with it: cells_t, cells_u"),
        (("cells_t",), "cell", "there are cells_t"),
    ],
)
def test_a_table_of_the_only_task_needs_no_name_of_the_task(tables, asked, found, tmp_path, capsys):
    """Catches a name that must be looked up first, and one of two tables shown for a name that both begin with."""
    (tmp_path / "tables").mkdir()
    outputs = {f"tables/{name}.csv": {} for name in tables}
    manifest = {"format": "evenhand report", "format_version": 1, "outputs": outputs}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for name in tables:
        (tmp_path / "tables" / f"{name}.txt").write_text(f"table {name}\n")
    status = main(["show", str(tmp_path), asked])
    said = capsys.readouterr()
    assert (status, said.out) == ((0, f"table {found}\n") if found in tables else (2, ""))
    assert found in tables or found in said.err


def test_report_of_another_format_says_what_to_do(report, tmp_path, capsys):
    """Catches a newer report read as if nothing had changed."""
    text = (report / "manifest.json").read_text(encoding="utf-8")
    (tmp_path / "manifest.json").write_text(re.sub(r'"format_version": 1', '"format_version": 99', text), "utf-8")
    assert main(["show", str(tmp_path)]) == 2
    assert "format 99, this version reads 1; make the report anew" in capsys.readouterr().err


def test_doctor_finds_what_is_there_and_what_is_not(monkeypatch, capsys):
    """Catches an examination that always says all is well."""
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "MISSING" not in out
    assert re.search(r"ok +pymc: \d", out)
    monkeypatch.setattr(doctor, "NEEDED", ("numpy", "no-such-package"))
    monkeypatch.setenv("PATH", "")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"MISSING +no-such-package: not installed", out)
    assert "report.pdf is not" in out


@pytest.mark.parametrize(
    ("tasks", "asked", "found"),
    [
        (["t"], "belief_bias", "belief_bias_t"),
        (["t", "labelled_t"], "belief_bias", "several begin with it"),
        (["t"], "belief", "several begin with it"),
        (["t"], "bias", "did you mean belief_bias_labelled_t, belief_bias_t?"),
        (["t"], "zzz", "there are 11 others"),
    ],
)
def test_a_name_goes_on_with_the_only_task(tmp_path, capsys, tasks, asked, found):
    """Catches a table that is only found with its task, a guess between tasks, and a list that fills the screen."""
    names = ["belief_bias_t", "belief_bias_labelled_t", "belief_cells_t", *(f"other{i}_t" for i in range(8))]
    (tmp_path / "tables").mkdir()
    (tmp_path / "data").mkdir()
    for name in names:
        (tmp_path / "tables" / f"{name}.txt").write_text(name)
    outputs = {f"tables/{name}.csv": {} for name in names}
    manifest = {"format": "evenhand report", "format_version": 1, "outputs": outputs}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    pd.DataFrame({"task": tasks}).to_parquet(tmp_path / "data" / "statuses.parquet")
    assert main(["show", str(tmp_path), asked]) == (0 if found in names else 2)
    said = capsys.readouterr()
    assert found in said.out + said.err
