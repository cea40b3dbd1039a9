"""What must not change a result: order of rows and files, names of files and folders, one file or many.

The same 32 responses are written as standard tables, as Inspect logs and as lm-eval samples, each laid out in
several ways; what differs between two layouts is never what was answered.
"""

import csv
import functools
import itertools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.report.content import ReportContent
from analysis.schema.study import Study
from analysis.studies.run import RunSettings, run_report

#: Two names that differ in the provider alone, and replies by argument and polarity.
MODELS = {"acme/parrot": "YNYYNNYNYYNNYN?Y", "zeta/parrot": "YYYNYYYNNYYNYYYY"}
TEXTS = {"Y": "Yes.", "N": "No.", "?": "Hm."}
TABLES = ("estimates", "floor_tests", "uncertainty_bounds", "unit_sums", "statuses")
FORMATS = ("standard_csv", "standard_jsonl", "inspect_eval", "inspect_json", "lm_eval")
#: Columns that name the place and the time of a row, which a layout may change.
PLACES = ["source", "run", "timestamp"]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the logs are laid out: seed of the order of rows (None: as asked), and where each model's log goes."""

    order: int | None = None
    folders: dict[str, str] = field(default_factory=lambda: {"acme/parrot": "a", "zeta/parrot": "b"})
    names: dict[str, str] = field(default_factory=lambda: {"acme/parrot": "first", "zeta/parrot": "second"})
    stamps: dict[str, str] = field(default_factory=lambda: {"acme/parrot": "10", "zeta/parrot": "11"})


@dataclass(frozen=True, slots=True)
class Plain:
    """Report and rows of a format in the plain layout."""

    report: ReportContent
    rows: pd.DataFrame


PLAIN = Layout()
LAYOUTS = {
    "rows in another order": Layout(order=1),
    "files in the other order": Layout(
        names={"acme/parrot": "z", "zeta/parrot": "a"},
        folders={"acme/parrot": "z", "zeta/parrot": "a"},
        stamps={"acme/parrot": "11", "zeta/parrot": "10"},
    ),
    "names of other models": Layout(
        names={"acme/parrot": "zeta__parrot", "zeta/parrot": "acme__parrot"},
        folders={"acme/parrot": "zeta__parrot", "zeta/parrot": "acme__parrot"},
    ),
    "odd names": Layout(names={"acme/parrot": "logs 1 (copy) é", "zeta/parrot": "samples_results.csv"}),
    "one folder": Layout(folders={"acme/parrot": ".", "zeta/parrot": "."}),
    "deep folders": Layout(folders={"acme/parrot": "x/2025/03", "zeta/parrot": "y"}, order=3),
}


def asked() -> list[dict[str, str]]:
    """Sixteen questions on eight arguments, four of them valid."""
    return [
        {
            "item": f"q{number}-{polarity[:3]}",
            "unit": f"q{number}",
            "validity": validity,
            "polarity": polarity,
            "gold": "Yes" if (validity == "valid") == (polarity == "affirmative") else "No",
        }
        for number in range(8)
        for validity in ["valid" if number % 2 else "invalid"]
        for polarity in ("affirmative", "negated")
    ]


def replies(model: str, layout: Layout) -> list[tuple[dict[str, str], str]]:
    """Questions with the model's texts, in the order of the layout."""
    pairs = [(question, TEXTS[letter]) for question, letter in zip(asked(), MODELS[model], strict=True)]
    if layout.order is not None:
        random.Random(f"{layout.order} {model}").shuffle(pairs)
    return pairs


def write_standard(path: Path, model: str, pairs: list[tuple[dict[str, str], str]], *, jsonl: bool) -> None:
    """Write a table of one model."""
    rows = [{"model": model, "task": "twins", **question, "output": text} for question, text in pairs]
    with path.open("w", encoding="utf-8", newline="") as stream:
        if jsonl:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def inspect_log(
    build: SimpleNamespace, model: str, pairs: list[tuple[dict[str, str], str]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and samples of one model's log."""
    evaluation = {"model": model, "task": "twins", "run_id": model, "eval_id": f"eval of {model}"}
    dataset = {"name": "twins", "samples": 16, "sample_ids": [question["item"] for question in asked()]}
    samples = []
    for question, text in pairs:
        sample = build.sample(question["item"], target=question["gold"], metadata=question | {"gold": None})
        sample["output"]["choices"][0]["message"]["content"] = sample["output"]["completion"] = text
        samples.append(sample)
    return build.header(eval=evaluation | {"dataset": dataset}), samples


def write_inspect(path: Path, build: SimpleNamespace, header: dict[str, Any], samples: list[dict[str, Any]]) -> None:
    """Write a log as the ending of the name says."""
    if path.suffix == ".json":
        path.write_text(json.dumps(header | {"samples": samples}), encoding="utf-8")
    else:
        members = {f"samples/{sample['id']}_epoch_1.json": sample for sample in samples}
        build.eval(path, {"_journal/start.json": header} | members | {"header.json": header})


def lm_eval_rows(build: SimpleNamespace, pairs: list[tuple[dict[str, str], str]]) -> list[dict[str, Any]]:
    """Sample rows of one model."""
    place = {question["item"]: number for number, question in enumerate(asked())}
    return [
        build.text_row(place[q["item"]], (text,), doc=q, target=q["gold"], exact_match=float(text == q["gold"]))
        for q, text in pairs
    ]


def write_lm_eval(folder: Path, model: str, rows: list[dict[str, Any]], stamp: str, **style: Any) -> None:
    """Write a sample file with the results file that names the model."""
    time = f"2025-04-01T{stamp}-00-00.123456"
    text = "".join(json.dumps(row, **style) + "\n" for row in rows)
    (folder / f"samples_twins_{time}.jsonl").write_text(text, encoding="utf-8")
    results = {"results": {"twins": {}}, "configs": {}, "versions": {"twins": 1}, "model_name": model}
    (folder / f"results_{time}.json").write_text(json.dumps(results), encoding="utf-8")


def write_logs(root: Path, build: SimpleNamespace, form: str, layout: Layout = PLAIN) -> Path:
    """Write both models' logs in one format and layout."""
    for model in MODELS:
        folder = root / layout.folders[model]
        folder.mkdir(parents=True, exist_ok=True)
        pairs = replies(model, layout)
        if form.startswith("standard"):
            ending = form.removeprefix("standard_")
            write_standard(folder / f"{layout.names[model]}.{ending}", model, pairs, jsonl=ending == "jsonl")
        elif form.startswith("inspect"):
            path = folder / f"{layout.names[model]}.{form.removeprefix('inspect_')}"
            write_inspect(path, build, *inspect_log(build, model, pairs))
        else:
            write_lm_eval(folder, model, lm_eval_rows(build, pairs), layout.stamps[model])
    return root


@pytest.fixture
def write(tmp_path: Path, build: SimpleNamespace) -> Callable[..., Path]:
    """Write both models' logs below the test's own directory."""
    return lambda form, layout=PLAIN: write_logs(tmp_path / "logs", build, form, layout)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, build: SimpleNamespace) -> Callable[[str], Plain]:
    """What the plain layout of a format gives, analysed once."""

    @functools.cache
    def analysed(form: str) -> Plain:
        folder = tmp_path_factory.mktemp(form)
        root = write_logs(folder / "logs", build, form)
        return Plain(run_report([root], RunSettings()), stored([root], folder / "store.parquet"))

    return analysed


def stored(logs: list[Path], store: Path) -> pd.DataFrame:
    """Rows of the store in an order of their own, without the columns that name places."""
    intake = take_in(logs, Study(), IntakeSettings(), store)
    rows = pd.read_parquet(intake.store).drop(columns=PLACES)
    return rows.sort_values(["model", "item"], ignore_index=True)


def assert_same(found: ReportContent, expected: ReportContent) -> None:
    """Every table that estimates come from or go to is the same, to the last bit."""
    for table in TABLES:
        pd.testing.assert_frame_equal(found.data[table], expected.data[table], check_exact=True, obj=table)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", FORMATS)
def test_order_names_and_folders_do_not_change_the_result(write, plain, tmp_path, form, layout):
    """Catches rows paired by position, models or tasks named after files, and results that follow the reading order."""
    root, expected = write(form, LAYOUTS[layout]), plain(form)
    pd.testing.assert_frame_equal(stored([root], tmp_path / "s.parquet"), expected.rows, check_exact=True)
    assert_same(run_report([root], RunSettings()), expected.report)


@pytest.mark.parametrize("form", FORMATS)
def test_files_may_be_named_in_any_order(write, plain, form):
    """Catches a result that depends on the order of the arguments, or a file counted for its folder and for itself."""
    root = write(form)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    assert_same(run_report([files[-1], root, *files[::-1]], RunSettings()), plain(form).report)


@pytest.mark.parametrize("cuts", [(0, 32), (0, 5, 6, 32)])
def test_one_table_or_many_is_the_same(write, plain, tmp_path, cuts):
    """Catches models told apart by file: rows of both in one table, and in tables cut at odd places."""
    files = sorted(write("standard_jsonl").rglob("*.jsonl"))
    lines = [line for path in files for line in path.read_text().splitlines(keepends=True)]
    random.Random(5).shuffle(lines)
    root = tmp_path / "cut"
    root.mkdir()
    for start, end in itertools.pairwise(cuts):
        (root / f"{start}.jsonl").write_text("".join(lines[start:end]))
    assert_same(run_report([root], RunSettings()), plain("standard_jsonl").report)


@pytest.mark.parametrize("form", FORMATS)
def test_formats_give_the_same_estimates(plain, form):
    """Catches a format whose reader loses or rescores a row; lm-eval calls the items by number."""
    assert_same(plain(form).report, plain("standard_csv").report)


@pytest.mark.parametrize("form", FORMATS)
def test_models_that_differ_in_the_provider_stay_two(plain, form):
    """Catches names cut to their last part: one model of 32 responses, or one whose second half is a duplicate."""
    assert plain(form).rows["model"].value_counts().to_dict() == dict.fromkeys(MODELS, 16)
    accuracy = plain(form).report.data["estimates"].query("measure == 'accuracy'")
    assert accuracy.set_index("model")["estimate"].to_dict() == {
        model: sum(letter == q["gold"][0] for letter, q in zip(letters, asked(), strict=True)) / 16
        for model, letters in MODELS.items()
    }


def test_model_folders_that_differ_in_the_provider_stay_two(write, tmp_path):
    """Catches the provider cut off a folder's name where no results file names the model."""
    root = write("lm_eval", Layout(folders={"acme/parrot": "acme__parrot", "zeta/parrot": "zeta__parrot"}))
    for path in root.rglob("results_*.json"):
        path.unlink()
    counts = stored([root], tmp_path / "s.parquet")["model"].value_counts().to_dict()
    assert counts == {"acme__parrot": 16, "zeta__parrot": 16}


@pytest.mark.parametrize("form", FORMATS)
def test_a_copy_of_a_file_is_refused_with_both_names(write, form):
    """Catches a backup that counts every response twice."""
    root = write(form)
    log = next(path for path in sorted(root.rglob("*")) if path.is_file() and not path.name.startswith("results"))
    copy = root / "backup" / log.name
    copy.parent.mkdir()
    copy.write_bytes(log.read_bytes())
    with pytest.raises(AnalysisError) as caught:
        run_report([root], RunSettings())
    assert str(log.relative_to(root)) in str(caught.value)
    assert str(copy.relative_to(root)) in str(caught.value)


def again_as(form: str, root: Path, build: SimpleNamespace) -> tuple[str, str]:
    """Write the first model's run once more in other bytes; names of the file that is there and of the new one."""
    model, pairs = "acme/parrot", replies("acme/parrot", Layout(order=9))
    folder = root / "again"
    folder.mkdir()
    if form.startswith("standard"):
        write_standard(folder / "new.csv", model, pairs, jsonl=False)
        return f"a/first.{form.removeprefix('standard_')}", "again/new.csv"
    if form.startswith("inspect"):
        other = "json" if form.endswith("eval") else "eval"
        write_inspect(folder / f"new.{other}", build, *inspect_log(build, model, pairs))
        return f"a/first.{form.removeprefix('inspect_')}", f"again/new.{other}"
    write_lm_eval(folder, model, lm_eval_rows(build, pairs), "10", separators=(",", ":"))
    name = "samples_twins_2025-04-01T10-00-00.123456.jsonl"
    return f"a/{name}", f"again/{name}"


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_run_in_other_bytes_is_refused_with_both_names(write, build, form):
    """Catches a run exported twice (other order, spacing or container) whose responses all count twice."""
    root = write(form)
    before, again = again_as(form, root, build)
    with pytest.raises(AnalysisError, match="duplicate response") as caught:
        run_report([root], RunSettings())
    assert f"{before}:" in str(caught.value)
    assert f"{again}:" in str(caught.value)
    assert "16 responses" in str(caught.value)
