"""Real logs without a harness of our other tests against counts made without the importers (``EXPECTED.tsv``)."""

import csv
import math
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from analysis.importers.detect import find_logs
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.responses import record_batch
from analysis.schema.store import open_store
from analysis.schema.study import Study, Wide, load_study

FOLDERS = ("csv_scores", "deepeval", "llm_logic", "probability_judgments", "promptfoo", "simple_evals")
WIDE = Study(wide=Wide(("*",)))
GRADES = """
[map]
model = "LLM"
logged_score = "score"
item = { value = "unknown" }
sample = "@row"
factor.grader = "grader"
"""


@cache
def expected_rows(shared: Path) -> tuple[dict[str, str], ...]:
    with (shared / "logs" / "EXPECTED.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(row for row in rows if row["path"].split("/")[0] in FOLDERS)


@cache
def records(shared: Path, path: str):
    root = shared / "logs"
    study = WIDE if "langchain" in path else Study()
    (found,) = find_logs([root / path], root, wide=study.wide)
    assert found.claim is Claim.LOG
    return tuple(cast(Any, found.importer).read(root / path, ReadOptions(root, study=study)))


def logs(shared: Path, *formats: str):
    """Every file of these formats: what is expected, its records and its responses."""
    for row in expected_rows(shared):
        if row["format"].startswith(formats) and row["format"] != "long csv of grades":
            found = records(shared, row["path"])
            yield row, found, [response for record in found for response in record.responses]


def score_of(row: dict[str, str], response) -> float | None:
    """The number that the list calls the score: ratings are probabilities, token probabilities are ``p_yes``."""
    named = {"answer (0-100)": response.probability, "yes_prob": response.p_yes}
    return named.get(row["score_name"], response.score_value)


def test_the_list_has_the_files_this_test_is_about(shared):
    """Catches a filter that leaves nothing to compare."""
    assert Counter(row["path"].split("/")[0] for row in expected_rows(shared)) == {
        "csv_scores": 2,
        "deepeval": 2,
        "llm_logic": 12,
        "probability_judgments": 2,
        "promptfoo": 12,
        "simple_evals": 2,
    }
    assert {row["verdict"] for row in expected_rows(shared)} == {"read"}


def test_every_file_is_claimed_by_its_importer_alone(shared):
    """Catches markers that other formats have too: ``find_logs`` refuses a file with two claims."""
    root = shared / "logs"
    names = Counter(f.importer.NAME for f in find_logs([root], root) if f.importer is not None and f.claim is Claim.LOG)
    assert names["promptfoo"] == 12
    assert (names["llm-logic"], names["DeepEval"], names["simple-evals"]) == (12, 2, 2)
    assert (names["likelihood ratings"], names["consistency ratings"], names["wide table"]) == (1, 1, 0)
    assert (names["syllogism votes"], names["probability tuples"]) == (0, 0)


def test_counts_of_records_responses_items_and_models(shared):
    """Catches tables counted beside their results, repeats as records, and lost or invented rows."""
    checked = 0
    for row, found, responses in logs(shared, ""):
        checked += 1
        models = {re.sub(r" \(details\d\)$", "", name) for name in row["models"].split("; ")}
        per_item = Counter((r.model, r.item) for r in responses)
        counted = {
            "n_records": len(found),
            "n_responses": len(responses),
            "n_items": len({r.item for r in responses}),
            "samples_per_item": f"{min(per_item.values())},{max(per_item.values())}",
            "errored": sum(r.status == "errored" for r in responses),
        }
        assert {key: str(value) for key, value in counted.items()} == {key: row[key] for key in counted}, row["path"]
        assert {r.model for r in responses} == models, row["path"]
        assert all(record.in_file and record.set_aside is None for record in found)
        assert len({(r.model, r.task, r.item, r.strategy, r.sample) for r in responses}) == len(responses), row["path"]
    assert checked == 31


def test_responses_fit_the_store_and_name_their_source(shared):
    """Catches values of a wrong type and sources that are not relative."""
    for row, _, responses in logs(shared, ""):
        extra = tuple(sorted({key for r in responses for key in r.extra}))
        assert record_batch(responses, extra).num_rows == len(responses)
        assert all(r.source.startswith(row["path"]) for r in responses)


def test_unscored_rows_have_neither_text_nor_number(shared):
    """Catches "success" of a call without assertions counted as a right answer, and NaN as 0."""
    for row, _, responses in logs(shared, ""):
        unscored = [r for r in responses if r.logged_score is None and r.status != "errored"]
        if row["score_name"] not in ("answer (0-100)",):
            assert len(unscored) == int(row["unscored"]), row["path"]
        assert all(r.score_value is None for r in unscored), row["path"]


def test_gold_answers(shared):
    """Catches a right answer invented where the file has none."""
    for row, _, responses in logs(shared, ""):
        if row["gold_counts"] == "none":
            assert all(r.gold is None and r.truth is None for r in responses), row["path"]
        elif row["gold_counts"].startswith("text"):
            assert len({r.gold for r in responses} - {None}) == int(re.search(r"\d+", row["gold_counts"])[0])
        else:
            assert row["gold_counts"].startswith("0=420; 1=480")
            assert Counter(r.truth for r in responses) == {0.0: 420, 1.0: 480}


def test_means_of_scores_are_rebuilt_exactly(shared):
    """Catches scores of the wrong metric, rescaled ones, and unscored rows in the mean."""
    checked = 0
    for row, _, responses in logs(shared, "wide", "deepeval", "likelihood", "simple"):
        wanted = re.search(r"mean=([\d.]+) over (\d+)", row["score_summary"])
        values = [v for r in responses if (v := score_of(row, r)) is not None]
        assert len(values) == int(wanted[2])
        assert math.isclose(math.fsum(values) / len(values), float(wanted[1]), rel_tol=1e-15), row["path"]
        checked += 1
    assert checked == 6


def test_verdicts_of_promptfoo(shared):
    """Catches the mark of the wrong cell, and a reason or a mark left in the text."""
    for row, _, responses in logs(shared, "promptfoo"):
        marks = Counter((r.logged_score or r.extra.get("meta.success") or "").lower() for r in responses)
        wanted = {k.lower(): int(v) for k, v in re.findall(r"\b(True|False|PASS|FAIL)=(\d+)", row["score_summary"])}
        assert {k: v for k, v in marks.items() if k} == wanted, row["path"]
        assert not any(r.output.startswith(("[PASS]", "[FAIL]")) or "Reason: No" in r.output for r in responses)
        mean = re.search(r"mean(?: score in cells)?=([\d.]+)", row["score_summary"])
        scores = [float(v) for r in responses for v in (r.extra.get("score.score", r.extra.get("meta.score")),) if v]
        assert not mean or sum(scores) / len(responses) == float(mean[1]), row["path"]
        cached = re.search(r"cached responses=(\d+)", row["note"])
        assert sum(r.extra.get("meta.cached") == "true" for r in responses) == int(cached[1] if cached else 0)


def test_deepeval_keeps_both_metrics_and_no_spans(shared):
    """Catches scores of spans (0.91, 0.88) taken for those of the test case."""
    found = [r for _, _, responses in logs(shared, "deepeval") for r in responses]
    assert [r.score_value for r in found] == [1.0, 0.92]
    assert found[1].extra["score.Faithfulness"] == "0.45"


def test_wide_table_by_model(shared):
    """Catches columns out of step with their names."""
    ((row, _, responses),) = logs(shared, "wide")
    right = Counter({r.model: 0 for r in responses})
    right.update(r.model for r in responses if r.score_value == 1.0)
    wanted = dict(re.findall(r"; ([^;=]+)=(\d+) of 20", row["score_summary"]))
    assert {model: str(count) for model, count in right.items()} == wanted
    assert [r.item for r in responses[::9]] == [str(n) for n in range(1, 21)]


def test_consistency_ratings_by_item(shared):
    """Catches ratings of the one model beside replies of the other, and NaN as 0."""
    ((row, _, responses),) = logs(shared, "consistency")
    values = defaultdict(list)
    for r in responses:
        if r.score_value is not None:
            values[r.model, r.item].append(r.score_value)
    for family, item, mean, count in re.findall(r"scores(\d)\[(\d)\] mean=([\d.]+) \(n=(\d+)\)", row["score_summary"]):
        found = values[{"3": "gpt-3.5", "4": "gpt-4"}[family], item]
        assert (len(found), sum(found) / len(found)) == (int(count), float(mean))
    assert sum(bool(r.output) for r in responses) == 596


def test_yes_and_no_answers(shared):
    """Catches the first of three answers read for all, and a tie of words read as a yes."""
    for row, _, responses in logs(shared, "llm-logic"):
        wanted = dict(re.findall(r"(yes|no|other)=(\d+)", row["yes_no_table"]))
        extra = tuple(sorted({key for r in responses for key in r.extra}))
        read = read_answers(record_batch(responses, extra), ReadingPolicy(kind="judgement"))
        counts = Counter(read.column("answer").to_pylist())
        assert {k: str(counts[k if k != "other" else None]) for k in wanted} == wanted, row["path"]


def test_token_probabilities(shared):
    (response,) = [r for row, _, rs in logs(shared, "llm-logic") for r in rs if row["score_name"] == "yes_prob"]
    assert (response.p_yes, response.answer, response.rule, response.output) == (
        0.9999996977883252,
        "yes",
        "argmax",
        None,
    )


def test_long_table_of_grades_through_map(shared, tmp_path):
    """Catches graders that replace each other where the file has no item; the row number keeps them apart."""
    (row,) = [row for row in expected_rows(shared) if row["format"] == "long csv of grades"]
    study = tmp_path / "study.toml"
    study.write_text(GRADES, encoding="utf-8")
    intake = take_in([shared / "logs" / row["path"]], load_study(study), IntakeSettings(), tmp_path / "store.parquet")
    assert (intake.records, intake.rows) == (530, 530)
    with open_store(tmp_path / "store.parquet") as con:
        means = con.execute(
            'SELECT model, "factor.grader", avg(score_value), count(*) FROM responses GROUP BY 1, 2 ORDER BY 1, 2'
        ).fetchall()
        assert con.execute("SELECT count(DISTINCT item), count(DISTINCT sample) FROM responses").fetchone() == (1, 530)
    wanted = re.findall(r"(LLM \w) by ([\w ]+?) mean=([\d.]+) \(n=(\d+)\)", row["score_summary"])
    for (model, grader, mean, count), (m, g, value, n) in zip(wanted, means, strict=True):
        assert (model, grader, int(count)) == (m, g, n)
        assert math.isclose(float(mean), value, rel_tol=1e-12)


def twins(shared: Path, folder: str):
    """Rows of a JSON and a CSV export of one evaluation, by item."""
    paths = sorted(row["path"] for row in expected_rows(shared) if f"/{folder}/" in row["path"])
    pair = [path for path in paths if path.endswith(("output.csv", "output.json", "14038.json"))]
    return [{r.item: r for record in records(shared, path) for r in record.responses} for path in pair]


@pytest.mark.parametrize("folder", ["llama4-scout", "simple-cli"])
def test_csv_and_json_of_one_evaluation_are_equal_rows(shared, folder):
    """Catches pairing by place: the results of the JSON file are not in the order of the tests."""
    table, results = twins(shared, folder)
    assert table.keys() == results.keys()
    for item, row in table.items():
        other = results[item]
        assert (row.output, row.unit) == (other.output, other.unit)
        shown = [
            {k: v for k, v in r.extra.items() if k.startswith("meta.vars") or k == "meta.prompt"} for r in (row, other)
        ]
        assert shown[0] == shown[1]


def test_the_same_example_has_the_same_items_in_every_generation(shared):
    """Catches an item that depends on how a generation of files writes prompts and variables."""
    by_file = {
        row["path"].rpartition("/")[2]: {(r.item, r.output) for r in responses}
        for row, _, responses in logs(shared, "promptfoo json 2023")
        if "simple-cli" in row["path"]
    }
    assert len(by_file) == 3
    assert len(set(map(frozenset, by_file.values()))) == 1


def test_a_folder_name_is_no_model(shared):
    """The folder is called after another model than the one that answered."""
    _, results = twins(shared, "llama4-scout")
    assert {r.model.split(":")[1] for r in results.values()} == {"replicate/llama70b-v2-chat"}
