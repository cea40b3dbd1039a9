"""``evenhand export``: tables that add up to the logs, Stan data that say the same, names that do no harm."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.cli.main import main

HOSTILE = "=cmd|'`x`\n../../m"


def write_log(path: Path) -> Path:
    """Two models, two tasks whose names no file system keeps apart; one response unreadable, one errored."""
    rows = [
        (model, task, f"i{i}", f"u{i // 2}", "yes" if i % 2 else "no", "yes" if (i + k) % 3 else "no", "")
        for k, model in enumerate(("plain", HOSTILE))
        for task in ("a/b", "a?b")
        for i in range(6)
    ]
    rows[0] = (*rows[0][:5], "", "unparsed")
    rows[1] = (*rows[1][:5], "", "errored")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(("model", "task", "item", "unit", "gold", "answer", "status"))
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    out = folder / "out"
    assert main(["export", str(write_log(folder / "log.csv")), "-o", str(out)]) == 0
    return out


def test_counts_add_up_to_the_logs(exported: Path) -> None:
    """Catches rows lost on the way, and sums by unit that are not those of the items."""
    counts = pd.read_parquet(exported / "item_counts.parquet")
    sums = pd.read_parquet(exported / "unit_sums.parquet")
    assert counts[["n_planned", "n_uncertain", "n_set_aside"]].sum().tolist() == [24, 1, 1]
    assert (counts["n_planned"] == counts[["n_answered", "n_uncertain", "n_set_aside"]].sum(axis=1)).all()
    by = ["task", "model", "cell"]
    assert counts.groupby(by)["n_correct"].sum().tolist() == sums.groupby(by)["n_correct"].sum().tolist()
    facets = pd.read_parquet(exported / "facet_counts.parquet")
    assert int(facets["n_answered"].sum()) == 22


def test_both_formats_hold_the_same_numbers(exported: Path) -> None:
    """Catches a CSV that is rounded or lacks columns."""
    for path in exported.glob("*.parquet"):
        exact, text = pd.read_parquet(path), pd.read_csv(path.with_suffix(".csv"), keep_default_na=False)
        assert list(exact.columns) == list(text.columns)
        assert len(exact) == len(text)
        for name in exact.columns[[dtype.kind in "if" for dtype in exact.dtypes]]:
            values = pd.to_numeric(text[name], errors="coerce").to_numpy(float)
            assert values == pytest.approx(exact[name].to_numpy(float), rel=1e-15, nan_ok=True), (path.name, name)


def test_stan_data_are_the_counts_of_their_task(exported: Path) -> None:
    """Catches indices from 0, indices beyond their size, and labels of another task."""
    files = sorted(exported.glob("stan_data*.json"))
    assert [path.name for path in files] == ["stan_data_a_b.json", "stan_data_a_b_2.json"]
    labels = pd.read_parquet(exported / "stan_labels.parquet")
    counts = pd.read_parquet(exported / "item_counts.parquet")
    for path, task in zip(files, ("a/b", "a?b"), strict=True):
        data = json.loads(path.read_text(encoding="utf-8"))
        own = labels[labels["file"] == path.name]
        named = {v: dict(zip(g["index"], g["name"], strict=True)) for v, g in own.groupby("variable")}
        rows = counts[(counts["task"] == task) & (counts["n_answered"] + counts["n_uncertain"] > 0)]
        assert data["N"] == len(rows)
        for name in ("model", "item", "unit", "cell"):
            assert [named[name][i] for i in data[name]] == rows[name].tolist()
            assert max(data[name]) == data[f"n_{name}s"] == len(named[name])
        assert data["n_correct"] == rows["n_correct"].tolist()
        assert [a + b for a, b in zip(data["n_answered"], data["n_uncertain"], strict=True)] == data["n_scored"]
        assert all(isinstance(v, int) or all(isinstance(x, int) for x in v) for v in data.values()), (
            "Stan takes numbers"
        )


def test_names_from_logs_do_no_harm(exported: Path) -> None:
    """Catches a formula in a CSV, a file outside of the folder, and a name that ends its line in the README."""
    for path in exported.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            assert not [cell for row in csv.reader(stream) for cell in row if cell.startswith("=")], path.name
    assert not [path for path in exported.parent.iterdir() if path.name not in ("out", "log.csv")]
    assert "../m" not in (exported / "README.md").read_text(encoding="utf-8")
    assert HOSTILE in set(pd.read_parquet(exported / "item_counts.parquet")["model"]), "exact in Parquet"


def test_every_known_column_is_described(exported: Path) -> None:
    """Catches a table or column that the README leaves out."""
    readme = (exported / "README.md").read_text(encoding="utf-8")
    for path in exported.glob("*.parquet"):
        assert f"| `{path.stem}` |" in readme
        for name in pd.read_parquet(path).columns:
            assert f"`{name}`" in readme, name


def test_impossible_requests_get_one_message(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches an export over somebody's files, one of nothing, and settings that a report cannot take."""
    log = write_log(tmp_path / "log.csv")
    assert main(["export", str(log), "-o", str(exported)]) == 2
    assert "name a new or empty folder" in capsys.readouterr().err
    probabilities = tmp_path / "p" / "log.csv"
    probabilities.parent.mkdir()
    probabilities.write_text("model,item,probability\nm,1,0.2\nm,2,0.4\n", encoding="utf-8")
    assert main(["export", str(probabilities), "-o", str(tmp_path / "none")]) == 2
    assert "nothing to export" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_report_exports_what_it_keeps(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches data of the report that are left out, and silence on what a report does not have."""
    log, report, out = write_log(tmp_path / "log.csv"), tmp_path / "report", tmp_path / "out"
    assert main(["report", "--no-bayes", "--no-pdf", "--quiet", str(log), "--out", str(report)]) == 0
    assert main(["export", str(report), "-o", str(out)]) == 0
    kept = {path.stem for path in (report / "data").glob("*.parquet")}
    assert {path.stem for path in out.glob("*.parquet")} == kept
    assert "a report does not keep them" in (out / "README.md").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["export", str(report), "-o", str(tmp_path / "other"), "--model", "plain"]) == 2
    assert "give its logs" in capsys.readouterr().err
