"""``evenhand simulate``: what it writes, what it refuses, and the example that ships with the project."""

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest

from analysis.cli import simulate
from analysis.errors import AnalysisError

EXAMPLE = Path(__file__).resolve().parents[2] / "logs" / "example"


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    simulate.add_parser(parser.add_subparsers())
    args = parser.parse_args(["simulate", *argv])
    return args.run(args)


def test_a_small_study_is_written_with_its_truth_and_said_in_one_line(tmp_path, capsys):
    """Catches options that do not reach the generator: 3 models × (2 + 1) arguments × 5 surfaces × 12 questions."""
    assert run(str(tmp_path / "out"), "--models", "3", "--surfaces", "5", "--valid", "2", "--invalid", "1") == 0
    files = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert files == [*(f"simulated-model-0{k}.jsonl" for k in (1, 2, 3)), "study.toml", "truth.json"]
    assert capsys.readouterr().out.startswith("540 simulated responses of 3 models")
    lines = [line for p in (tmp_path / "out").glob("*.jsonl") for line in p.read_text().splitlines()]
    assert len(lines) == 3 * 3 * 5 * 12


def test_yes_no_study_with_samples_given_answers_and_csv(tmp_path):
    """Catches the plain study ignoring items, samples or --answers."""
    run(str(tmp_path / "out"), "--study", "yes-no", "--responders", "coin", "--items", "6", "--samples", "3",
        "--answers", "--format", "csv")  # fmt: skip
    lines = (tmp_path / "out" / "simulated-coin.csv").read_text().splitlines()
    assert len(lines) == 1 + 18
    assert "answer" in lines[0].split(",")
    assert "output" not in lines[0].split(",")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--models", "2", "--responders", "coin"], "not both"),
        (["--models", "0"], "at least one"),
        (["--seed", "-1"], "negative"),
        (["--long-share", "1.5"], "long-share"),
        (["--responders", "coinn"], "coin"),
        (["--surfaces", "0"], "surfaces"),
    ],
)
def test_impossible_options_write_nothing(tmp_path, argv, message):
    """Catches a traceback, or a half-written directory that blocks the next try."""
    with pytest.raises(AnalysisError, match=message):
        run(str(tmp_path / "out"), *argv)
    assert not (tmp_path / "out").exists()


def test_a_directory_with_files_is_refused(tmp_path):
    """Catches simulated logs mixed into real ones."""
    (tmp_path / "real.jsonl").write_text("{}\n")
    with pytest.raises(AnalysisError, match="empty"):
        run(str(tmp_path), "--models", "1", "--surfaces", "1")


def test_example_logs_are_what_their_readme_says(tmp_path):
    """Catches example files that drifted from the stated command, or grew beyond 2 MB."""
    command = re.search(r"evenhand simulate logs/example (.*?)\n\n", (EXAMPLE / "README.md").read_text(), re.DOTALL)
    run(str(tmp_path / "out"), *shlex.split(command[1].replace("\\\n", " ")))
    made = {p.name: p for p in (tmp_path / "out").iterdir()}
    kept = {p.name: p for p in EXAMPLE.iterdir() if p.name != "README.md"}
    assert set(made) == set(kept)
    for name, path in kept.items():
        if path.suffix == ".jsonl":
            assert [json.loads(x) for x in path.open()] == [json.loads(x) for x in made[name].open()]
            assert all(json.loads(x)["simulated"] is True for x in path.open())
        else:
            assert path.read_text() == made[name].read_text()
    assert sum(p.stat().st_size for p in EXAMPLE.iterdir()) < 2_000_000
