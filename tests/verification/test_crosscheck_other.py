"""The recomputation of reports that are not about yes and no: right ones agree, wrong numbers are found."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.cli.main import main
from analysis.verification.crosscheck import crosscheck_report

OPTIONS = "ABCD"


def report_of(folder: Path, *arguments: str) -> Path:
    assert main(["report", "--no-bayes", "--no-pdf", "--quiet", *arguments, "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture(scope="module", params=[12, 30], ids=["enumerated", "drawn"])
def choice(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report on four options, three models, units of three questions."""
    folder = tmp_path_factory.mktemp("choice")
    lines = ["model,item,unit,answer,gold"]
    for m, model in enumerate("abc"):
        for i in range(3 * request.param):
            gold = OPTIONS[i % 4]
            right = (i * 7 + i // 5 + m * 3) % 10 < 8 - 2 * m
            lines.append(f"{model},q{i},u{i // 3},{gold if right else OPTIONS[(i + 1 + m) % 4]},{gold}")
    (folder / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return report_of(folder, str(folder / "log.csv"))


@pytest.fixture(scope="module")
def coherence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report on simulated probabilities in two wordings."""
    folder = tmp_path_factory.mktemp("coherence")
    size = ["--units", "10", "--causal", "0", "--reworded", "10", "--wordings", "2", "--seed", "3"]
    names = ["--responders", "noisy", "leaning"]
    assert main(["simulate", str(folder / "logs"), "--study", "latent-coherence", *size, *names]) == 0
    return report_of(folder, str(folder / "logs"))


def changed(report: Path, to: Path, table: str, column: str, shift: float) -> Path:
    """A copy of a report with one number of one column moved."""
    (to / "data").mkdir(parents=True)
    (to / "manifest.json").write_bytes((report / "manifest.json").read_bytes())
    for path in (report / "data").glob("*.parquet"):
        frame = pd.read_parquet(path)
        if path.stem == table:
            at = frame.index[frame[column].notna()][0]
            frame.loc[at, column] += shift
        frame.to_parquet(to / "data" / path.name)
    return to


def test_accuracies_and_paired_differences_agree(choice: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches an accuracy, its error, a difference or its p that statsmodels and scipy do not give."""
    result = crosscheck_report(choice)
    assert result.n_different == 0
    counts = result.rows.groupby(["checked_with", "number"]).size()
    assert counts["statsmodels WLS", "estimate"] == 3
    assert counts["statsmodels cluster (CR0)", "std_error"] == 3
    assert counts["numpy means by unit", "difference"] == 2
    assert counts["scipy sign flips", "p_value"] == 2
    assert counts["statsmodels Holm", "p_adjusted"] == 5
    assert main(["crosscheck", str(choice)]) == 0
    assert "not recomputed: option_bias" in capsys.readouterr().out


def test_means_of_incoherence_agree(coherence: Path) -> None:
    """Catches a mean residual, a direction or a persistent part that is not that of the residuals kept."""
    result = crosscheck_report(coherence)
    assert result.n_different == 0
    found = result.rows[result.rows["checked_with"] == "pandas means"]
    assert found.groupby("measure").size().to_dict() == {"direction": 2, "mean_abs_residual": 2, "squared": 2}
    assert "calibration" not in result.rows["measure"].tolist()


@pytest.mark.parametrize(
    ("table", "column", "shift"),
    [
        ("estimates", "estimate", 1e-4),
        ("leaderboard", "difference", 1e-4),
        ("leaderboard", "p_value", 0.2),
        ("leaderboard", "p_adjusted", 1e-3),
        ("option_floors", "lean_p_adjusted", 1e-3),
        ("unit_sums", "w_correct", 1.0),
    ],
)
def test_a_changed_number_of_accuracies_is_found(
    choice: Path, tmp_path: Path, table: str, column: str, shift: float
) -> None:
    """Catches a recomputation that cannot fail."""
    assert crosscheck_report(changed(choice, tmp_path / "copy", table, column, shift)).n_different > 0


@pytest.mark.parametrize(
    ("table", "column", "shift"),
    [("incoherence", "estimate", 1e-4), ("persistent_tests", "squared", 1e-4), ("residuals", "residual", 0.01)],
)
def test_a_changed_number_of_coherence_is_found(
    coherence: Path, tmp_path: Path, table: str, column: str, shift: float
) -> None:
    assert crosscheck_report(changed(coherence, tmp_path / "copy", table, column, shift)).n_different > 0


def test_scores_keep_no_units_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a report of mean scores that passes as checked in full."""
    rng = np.random.default_rng(1)
    rows = [f"{m},q{i},{rng.random():.3f}" for m in "ab" for i in range(20)]
    (tmp_path / "log.csv").write_text("model,item,logged_score\n" + "\n".join(rows) + "\n", encoding="utf-8")
    report = report_of(tmp_path, str(tmp_path / "log.csv"))
    assert main(["crosscheck", str(report)]) == 0
    said = capsys.readouterr().out
    assert "statsmodels Holm: 1 of 1" in said
    assert "mean scores" in said


@pytest.mark.parametrize("command", ["crosscheck", "show", "export"])
def test_a_report_of_another_version_is_refused(
    command: str, choice: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a report of a format to come that is read as if nothing had changed."""
    manifest = json.loads((choice / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"format_version": 99}))
    extra = ["-o", str(tmp_path / "reduced")] if command == "export" else []
    assert main([command, str(tmp_path), *extra]) == 2
    assert "format 99, this version reads 1; make the report anew from its logs" in capsys.readouterr().err


def test_reports_of_two_versions_are_not_compared(
    choice: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((choice / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"format_version": 0}))
    assert main(["diff", str(choice), str(tmp_path)]) == 2
    assert "format 0, this version reads 1" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["crosscheck", "show", "export", "diff"])
@pytest.mark.parametrize("version", [0, "x"])
def test_a_report_of_another_schema_is_refused(
    command: str, version: object, choice: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches data under another standard schema that are read as if their columns still meant the same."""
    manifest = json.loads((choice / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"schema_version": version}))
    extra = {"export": ["-o", str(tmp_path / "reduced")], "diff": [str(choice)]}.get(command, [])
    assert main([command, str(tmp_path), *extra]) == 2
    said = f"version {version!r} of the standard schema, this version reads 1; make the report anew from its logs"
    assert said in capsys.readouterr().err
