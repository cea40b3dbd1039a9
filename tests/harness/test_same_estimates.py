"""One study logged by Inspect AI, by lm-evaluation-harness and as standard CSV gives the same numbers.

The logs are written by the harnesses themselves, in the Python that EVENHAND_HARNESS_PYTHON names;
docs/formats/harness_check.md says how to make one.
"""

import csv
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from analysis.reduction.intake import IntakeSettings, take_in
from analysis.report.content import ReportContent
from analysis.schema.study import Study
from analysis.studies.run import RunSettings, run_report

pytestmark = pytest.mark.harness

VARIABLE = "EVENHAND_HARNESS_PYTHON"
WRITER = Path(__file__).with_name("write_logs.py")
PROBE = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('inspect_ai', 'lm_eval'))))"
#: Where each source keeps what the author logged with a question.
PREFIXES = {
    "standard": "",
    "inspect_eval": "meta.",
    "inspect_json": "meta.",
    "lm_eval": "meta.doc.",
    "lm_eval_choice": "meta.doc.",
}
OWN_MAP = """
unit = "{prefix}argument"
validity = {{ from = "{prefix}label", values = {{ follows = "valid", "does not follow" = "invalid" }} }}
polarity = {{ from = "{prefix}asked", values = {{ plain = "affirmative", turned = "negated" }} }}
"""
TABLES = ("estimates", "floor_tests", "uncertainty_bounds", "unit_sums")
CASES = [
    (names, repeats, source)
    for names in ("schema", "own")
    for repeats in (1, 2)
    for source in PREFIXES
    if source != "standard" and (source != "lm_eval_choice" or repeats == 1)
]


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of the study, written by the real harnesses."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no Python with inspect_ai and lm_eval (docs/formats/harness_check.md)")
    if shutil.which(python) is None or subprocess.run([python, "-c", PROBE], check=False, timeout=120).returncode:
        pytest.skip(f"{VARIABLE} is {python}, in which inspect_ai and lm_eval cannot both be imported")
    folder = tmp_path_factory.mktemp("harness")
    environment = os.environ | {"HF_HOME": str(tmp_path_factory.mktemp("hf")), "PYTHONDONTWRITEBYTECODE": "1"}
    written = subprocess.run(
        [python, str(WRITER), str(folder)],
        check=False,
        timeout=900,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert written.returncode == 0, written.stderr[-3000:]
    return folder


def analysed(logs: Path, source: str, names: str, work: Path) -> ReportContent:
    """The analysis of one source, with the study.toml that its user would write."""
    rules = []
    if names == "own":
        rules.append(OWN_MAP.format(prefix=PREFIXES[source]))
    if source.startswith("lm_eval"):
        rules.append(f'item = "meta.doc.{"question_id" if names == "own" else "item"}"')
    elif source == "standard" and names == "own":
        rules.append('item = "question_id"')
    study = work / f"{source}.toml"
    study.write_text("[map]\n" + "\n".join(rules) if rules else "", encoding="utf-8")
    return run_report([logs / source], RunSettings(study=study))


def assert_same(found: ReportContent, expected: ReportContent) -> None:
    """Every table that estimates come from or go to is the same, to the last bit."""
    for table in TABLES:
        pd.testing.assert_frame_equal(found.data[table], expected.data[table], check_exact=True, obj=table)


@pytest.mark.parametrize(("names", "repeats", "source"), CASES)
def test_source_gives_the_estimates_of_the_csv(
    logs: Path, tmp_path: Path, names: str, repeats: int, source: str
) -> None:
    """Catches a reader that loses, doubles, shifts or rescores rows, or that pairs items by another id."""
    folder = logs / f"{names}_{repeats}"
    expected = analysed(folder, "standard", names, tmp_path)
    found = analysed(folder, source, names, tmp_path)
    assert_same(found, expected)
    assert found.manifest["rows"]["used"] == 48 * repeats


@pytest.mark.parametrize("source", ["inspect_eval", "inspect_json"])
def test_failed_calls_are_set_aside_as_the_csv_says(logs: Path, tmp_path: Path, source: str) -> None:
    """Catches errored samples that count as wrong, or that vanish from the planned ones."""
    expected = analysed(logs / "errored", "standard", "schema", tmp_path)
    found = analysed(logs / "errored", source, "schema", tmp_path)
    assert_same(found, expected)
    assert found.data["unit_sums"]["n_set_aside"].sum() == 4


@pytest.mark.parametrize("repeats", [1, 2])
def test_csv_gives_the_counts_of_the_script(logs: Path, tmp_path: Path, repeats: int) -> None:
    """Catches all sources being wrong alike: the counts per cell follow from what the script means."""
    sums = analysed(logs / f"schema_{repeats}", "standard", "schema", tmp_path).data["unit_sums"]
    planned, right, unreadable = Counter(), Counter(), Counter()
    with (logs / "meanings.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if int(row["repeat"]) < repeats:
                cell = row["model"], row["validity"][0].upper() + row["polarity"][0].upper()
                planned[cell] += 1
                right[cell] += row["meaning"] == row["gold"][0]
                unreadable[cell] += row["meaning"] == "?"
    found = sums.groupby(["model", "cell"])[["n_planned", "n_correct", "n_uncertain"]].sum()
    assert {key: tuple(values) for key, values in zip(found.index, found.to_numpy().tolist(), strict=True)} == {
        key: (planned[key], right[key], unreadable[key]) for key in planned
    }


def test_scores_of_the_harness_are_kept_and_differ_from_the_reading(logs: Path, tmp_path: Path) -> None:
    """Catches scores that are lost, and answers that follow the harness's strict match instead of the text."""
    intake = take_in([logs / "schema_1" / "inspect_eval"], Study(), IntakeSettings(), tmp_path / "store.parquet")
    rows = pd.read_parquet(intake.store)
    ours = (rows["answer"] == rows["gold"]).astype(float)
    assert rows["score_value"].notna().all()
    assert rows["score_value"].sum() < ours.sum()
    bare = rows["output"].isin(["Yes", "No"])
    assert (rows.loc[bare, "score_value"] == ours[bare]).all()
