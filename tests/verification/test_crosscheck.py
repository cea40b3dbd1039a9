"""The recomputation of a report: it agrees with a right one and finds a wrong one."""

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.cli.main import main
from analysis.errors import AnalysisError
from analysis.verification.crosscheck import crosscheck_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report on four cells, three models, unbalanced units, some unreadable answers."""
    folder = tmp_path_factory.mktemp("crosscheck")
    rows = []
    for m, model in enumerate(("a", "b", "c")):
        for unit in range(9):
            for copy in range(1 + unit % 3):
                for v, validity in enumerate(("valid", "invalid")):
                    for p, polarity in enumerate(("affirmative", "negated")):
                        says = (unit * 7 + copy * 3 + v + 2 * p + m * 5) % 11
                        rows.append(
                            {
                                "model": model,
                                "item": f"{unit}-{copy}-{v}-{p}",
                                "unit": f"u{unit}",
                                "validity": validity,
                                "polarity": polarity,
                                "output": "?" if says == 10 else "Yes" if says < 5 + m else "No",
                            }
                        )
    logs = folder / "logs"
    logs.mkdir()
    (logs / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["report", "--no-bayes", str(logs), "--out", str(folder / "out")]) == 0
    return folder / "out"


def test_independent_libraries_agree_with_the_report(report: Path) -> None:
    """Catches an estimate, error, limit or adjustment of ours that statsmodels and pingouin do not give."""
    result = crosscheck_report(report)
    assert result.n_different == 0
    counts = result.rows["checked_with"].value_counts()
    assert counts["statsmodels WLS"] == 3 * 10
    assert counts["statsmodels cluster (CR0)"] == 3 * 10
    assert counts["statsmodels Holm"] == 6 + 3 * 4
    assert counts["statsmodels Wilson"] > 30


@pytest.mark.parametrize(
    ("table", "column", "shift"),
    [
        ("estimates", "estimate", 1e-4),
        ("estimates", "std_error", 0.02),
        ("estimates", "ci_low", 1e-3),
        ("floor_tests", "p_adjusted", 1e-3),
    ],
)
def test_a_changed_number_is_found(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture, table: str, column: str, shift: float
) -> None:
    """Catches a cross-check that cannot fail: one wrong column of a report has to be named."""
    copy = tmp_path / "copy"
    (copy / "data").mkdir(parents=True)
    (copy / "manifest.json").write_bytes((report / "manifest.json").read_bytes())
    for path in (report / "data").iterdir():
        frame = pd.read_parquet(path)
        if path.stem == table:
            frame[column] = frame[column] + shift
        frame.to_parquet(copy / "data" / path.name)
    assert main(["crosscheck", str(copy)]) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    """Catches an empty folder that passes the cross-check."""
    with pytest.raises(AnalysisError, match="holds no report"):
        crosscheck_report(tmp_path)


def test_a_report_without_yes_no_answers_has_nothing_to_check(tmp_path, capsys) -> None:
    """Catches exit 2 on a sound report of scores, and a folder that is no report taken for one."""
    (tmp_path / "manifest.json").write_text('{"format": "evenhand report", "format_version": 1, "outputs": {}}')
    assert main(["crosscheck", str(tmp_path)]) == 0
    assert "nothing to check" in capsys.readouterr().out
    (tmp_path / "manifest.json").unlink()
    assert main(["crosscheck", str(tmp_path)]) == 2
