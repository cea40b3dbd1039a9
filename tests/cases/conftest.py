"""Logs written to disk and followed through the public path: taken in, checked, reduced, estimated, reported."""

import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.floor_tests import floor_tests
from analysis.frequentist.uncertain_answers import flags, uncertainty_bounds
from analysis.reduction.cells import item_counts
from analysis.reduction.intake import Intake, IntakeSettings, take_in
from analysis.report.content import ReportContent
from analysis.schema.checks import Violation, check_responses
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.store import open_store
from analysis.schema.study import find_study, load_study
from analysis.studies.run import RunSettings, run_report
from analysis.studies.weights import weighted_sums, weights_used

Row = Mapping[str, Any]


def json_lines(rows: Iterable[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a log (text, or rows as JSON Lines) into the directory of logs, which is returned."""

    def put(content: str | bytes | Iterable[Row], name: str = "log.jsonl", *, study: str = "") -> Path:
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json_lines(content)
            path.write_text(text, encoding="utf-8", newline="")
        if study:
            (tmp_path / "logs" / "study.toml").write_text(study, encoding="utf-8")
        return tmp_path / "logs"

    return put


@dataclass(frozen=True)
class Taken:
    """A directory of logs after intake and checks."""

    intake: Intake
    rows: pd.DataFrame
    violations: list[Violation]

    @property
    def rules(self) -> list[str]:
        return [violation.rule for violation in self.violations]


@pytest.fixture
def taken(tmp_path: Path) -> Callable[..., Taken]:
    """Take logs in, read the answers, check the schema."""

    def take(logs: Path, **settings: Any) -> Taken:
        study = load_study(find_study([logs]))
        intake = take_in([logs], study, IntakeSettings(**settings), tmp_path / "store")
        with open_store(intake.store) as con:
            violations = check_responses(con, read_designs(con, study), study)
            rows = con.execute("SELECT * FROM responses").df()
        return Taken(intake, rows, violations)

    return take


@dataclass(frozen=True)
class Reduced:
    """One task after reduction, ready for estimates."""

    counts: pd.DataFrame
    sums: pd.DataFrame
    weights: str

    def estimates(self, **options: Any) -> pd.DataFrame:
        """Tidy estimates."""
        return answer_bias_estimates(self.sums, weights=self.weights, **options)

    def values(self, **options: Any) -> pd.DataFrame:
        """Estimates, a row per model and a column per measure."""
        return self.estimates(**options).pivot(index="model", columns="measure", values="estimate")

    def tests(self, **options: Any) -> pd.DataFrame:
        return floor_tests(self.sums, **options)

    def bounds(self) -> pd.DataFrame:
        return uncertainty_bounds(self.sums)

    def flags(self) -> pd.DataFrame:
        return flags(self.sums)


@pytest.fixture
def reduced(tmp_path: Path) -> Callable[..., Reduced]:
    """From logs of one task to its sums by unit."""

    def reduce(logs: Path, **settings: Any) -> Reduced:
        study = load_study(find_study([logs]))
        intake = take_in([logs], study, IntakeSettings(**settings), tmp_path / "store")
        with open_store(intake.store) as con:
            (design,) = designs = read_designs(con, study)
            create_analysed_view(con, designs, study)
            counts = item_counts(con, design, study)
        return Reduced(counts, weighted_sums(counts, design), weights_used(design))

    return reduce


@pytest.fixture(scope="session")
def report() -> Callable[..., ReportContent]:
    """The content of the report on logs, without the cost of drawing it."""
    return lambda logs, **settings: run_report([logs], RunSettings(**settings))


def judged(model: str, said: Mapping[str, str | Iterable[str]], n: int = 12, **columns: Any) -> list[dict[str, Any]]:
    """Items per gold answer, each with the text that the model said: the same for ``n`` items, or one for each."""
    return [
        {"model": model, "item": f"{gold}-{i:03d}", "gold": gold, "output": text, **columns}
        for gold, texts in said.items()
        for i, text in enumerate([texts] * n if isinstance(texts, str) else texts)
    ]


def inspect_log(model: str, samples: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """An Inspect document; ``changes`` replace keys of the header, those of ``eval`` are merged."""
    evaluation = {
        "run_id": "run-1",
        "eval_id": "eval-1",
        "created": "2025-03-01T10:00:00+00:00",
        "task": "dogs",
        "dataset": {"samples": len(samples), "sample_ids": [sample["id"] for sample in samples]},
        "model": model,
        "config": {"epochs": 1},
        "packages": {"inspect_ai": "0.3.200"},
        "scorers": [{"name": "match"}],
    } | changes.pop("eval", {})
    header = {"version": 2, "status": "success", "eval": evaluation, "plan": {}, "results": None}
    return header | changes | {"samples": samples}


def inspect_sample(sample_id: Any, text: str, target: str, value: Any = "I", **changes: Any) -> dict[str, Any]:
    """A sample with one score; ``value=None`` leaves the scores empty."""
    return {
        "id": sample_id,
        "epoch": 1,
        "input": f"Is there a dog in picture {sample_id}?",
        "target": target,
        "output": {
            "model": "resolved",
            "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
            "completion": text,
        },
        "scores": {} if value is None else {"match": {"value": value, "answer": text}},
        "metadata": {},
    } | changes


def inspect_archive(path: Path, log: Mapping[str, Any], *, shuffled: bool = False) -> Path:
    """The same log as an ``.eval`` archive, its samples in the order given or in reverse."""
    header = {key: value for key, value in log.items() if key != "samples"}
    samples = list(reversed(log["samples"])) if shuffled else log["samples"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({k: header[k] for k in ("version", "eval", "plan")}))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
    return path


def lm_eval_row(doc_id: int, text: str, target: str, score: Any = 1.0, **changes: Any) -> dict[str, Any]:
    """A row of a generation task; ``score=None`` leaves the metric out."""
    row = {
        "doc_id": doc_id,
        "doc": {"question": f"Is picture {doc_id} of a dog?"},
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": f"Q: Is picture {doc_id} of a dog?\nA:", "arg_1": {}}},
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": f"{doc_id:064x}",
        "exact_match": score,
    } | changes
    return {key: value for key, value in row.items() if not (key == "exact_match" and score is None)}


@pytest.fixture(scope="session")
def logs_of() -> SimpleNamespace:
    """What the tests write logs from."""
    return SimpleNamespace(
        judged=judged,
        inspect_log=inspect_log,
        inspect_sample=inspect_sample,
        inspect_archive=inspect_archive,
        lm_eval_row=lm_eval_row,
    )
