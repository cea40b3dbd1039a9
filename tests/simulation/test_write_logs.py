"""Simulated logs on disk: labelled, complete, the same for the same seed, never over existing files."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis.errors import AnalysisError
from analysis.schema.responses import COLUMN_BY_NAME
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.responders import Responder, named_responders
from analysis.simulation.write_logs import FORMATS, write_logs

SETTINGS = ProbabilityOperators(
    named_responders(["hesitant", "yes-leaning"]), surfaces=4, valid_templates=2, invalid_templates=1
)


def logs(seed: int = 5, settings: ProbabilityOperators = SETTINGS):
    return simulate_probability_operators(np.random.default_rng(seed), settings)


def rows_of(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_row_is_in_the_standard_schema_and_says_that_it_is_simulated(tmp_path, fmt):
    """Catches an unlabelled log, a column outside the schema, or a format that loses rows or newlines."""
    simulated = logs()
    paths = write_logs(simulated, tmp_path / "out", fmt=fmt, seed=5)
    assert len(paths) == 2
    for path, (model, table) in zip(paths, simulated.tables, strict=True):
        rows = rows_of(path)
        assert {name for name in rows[0] if not name.startswith("factor.")} <= set(COLUMN_BY_NAME)
        assert {str(row["simulated"]).lower() for row in rows} == {"true"}
        assert {row["model"] for row in rows} == {model}
        assert [row["output"] for row in rows] == table["output"].to_pylist()


def test_same_seed_same_bytes_and_another_seed_other_bytes(tmp_path):
    """Catches hidden global state, unordered output or a clock in the files."""
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        write_logs(logs(seed), tmp_path / name, fmt="jsonl", seed=seed)
    contents = [{p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in "abc"]
    assert contents[0] == contents[1]
    assert all(contents[0][name] != contents[2][name] for name in contents[0] if name != "study.toml")


def test_truth_names_seed_settings_and_every_model(tmp_path):
    """Catches a truth file that cannot be traced to the run that made it, or is no valid JSON."""
    simulated = logs()
    write_logs(simulated, tmp_path / "out", fmt="jsonl", seed=5)
    text = (tmp_path / "out" / "truth.json").read_text()
    truth = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in truth.json"))
    assert truth["simulated"] is True
    assert truth["seed"] == 5
    assert truth["settings"]["surfaces"] == 4
    assert set(truth["models"]) == {model for model, _ in simulated.tables}
    assert (tmp_path / "out" / "study.toml").read_text() == simulated.study_toml


def test_existing_files_are_never_touched(tmp_path):
    """Catches an overwrite of a user's logs; a file in place of the directory counts too."""
    (tmp_path / "notes.txt").write_text("mine")
    for out in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(AnalysisError, match="new or empty folder"):
            write_logs(logs(), out, fmt="jsonl", seed=5)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_names_of_models_never_leave_the_directory(tmp_path):
    """Catches a path made of a name: "../x" must not escape, and two names must not share a file."""
    hostile = tuple(Responder(name, 1, 1, 1, 1, spread=0) for name in ("../../x", "a/b", "a b", "…"))
    settings = ProbabilityOperators(hostile, surfaces=1, valid_templates=1, invalid_templates=1)
    paths = write_logs(logs(settings=settings), tmp_path / "deep" / "out", fmt="csv", seed=1)
    assert len(set(paths)) == 4
    assert {p.parent for p in paths} == {tmp_path / "deep" / "out"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep"]
