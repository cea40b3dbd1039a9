"""LightEval details of both layouts, synthetic: options, replies, ties, names, damage."""

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import LogError
from analysis.importers import lighteval
from analysis.importers.lighteval_rows import literal
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

TIME = "2025-09-01T10-00-00.123456"
NAME = f"details_colours|0_{TIME}.parquet"
FOLDER = f"details/acme/parrot/{TIME}"


def choice_row(identity: str = "7", values: tuple[float, ...] = (-2.0, -0.5), **changes: Any) -> dict[str, Any]:
    """A row of the new layout with scored options; no is right."""
    doc = {"query": f"Is {identity} red?", "choices": [" Yes", " No"], "gold_index": 1, "id": identity}
    doc |= {"task_name": "colours|0", "sampling_methods": ["LOGPROBS"]} | changes.pop("doc", {})
    response = {"text": [], "text_post_processed": [], "logprobs": list(values), "input": None, "reasonings": []}
    response |= {"input_tokens": [], "output_tokens": []} | changes.pop("model_response", {})
    return {"doc": doc, "model_response": response, "metric": {"acc": 1}} | changes


def text_row(identity: str = "7", replies: tuple[str | None, ...] = ("No",), **changes: Any) -> dict[str, Any]:
    """A row of the new layout with generated replies."""
    response = {"text": list(replies), "logprobs": []} | changes.pop("model_response", {})
    return choice_row(identity, (), model_response=response, **changes)


def old_row(**changes: Any) -> dict[str, Any]:
    """A row of the flat layout with scored options."""
    row = {
        "example": "Is it red?",
        "instruction": "",
        "full_prompt": "Answer.\nIs it red?",
        "predictions": [[-2.0, False], [-0.5, True]],
        "choices": [" Yes", " No"],
        "gold_index": [1],
        "gold": [],
        "metrics": {"acc": 1.0, "acc_norm": 0.0},
        "input_tokens": [[1, 2, 3], [1, 2]],
        "cont_tokens": [[4], [5]],
        "specifics": None,
    }
    return row | changes


@pytest.fixture
def details(tmp_path) -> Callable[..., Path]:
    """Write rows as a details file; ``results`` is the content of the results file of the same time."""

    def write(rows: list[dict[str, Any]], name: str = NAME, folder: str = FOLDER, results: Any = None) -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
        if results is not None:
            beside = tmp_path / "results" / "acme" / "parrot" / f"results_{TIME}.json"
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(results if isinstance(results, str) else json.dumps(results), encoding="utf-8")
        return path

    return write


def rows(path: Path, options: ReadOptions):
    return [response for record in lighteval.read(path, options) for response in record.responses]


def notes(path: Path, options: ReadOptions) -> list[str]:
    return [note for record in lighteval.read(path, options) for note in record.notes]


def test_only_details_and_results_are_claimed(details, tmp_path):
    """Catches any Parquet file claimed, or details known by their name alone."""
    assert lighteval.sniff(probe(details([choice_row()]))) is Claim.LOG
    assert lighteval.sniff(probe(details([old_row()], "renamed.parquet"))) is Claim.LOG
    assert lighteval.sniff(probe(details([{"model": "m", "item": "1"}], "details_x.parquet"))) is Claim.NO
    results = tmp_path / "r.json"
    results.write_text('{"config_general": {}, "results": {}, "versions": {}}', encoding="utf-8")
    assert lighteval.sniff(probe(results)) is Claim.COMPANION
    with pytest.raises(LogError, match="aggregate only"):
        rows(results, ReadOptions(tmp_path))


def test_columns_of_scored_options(details, options):
    """Catches labels with a blank, the gold index as gold, and p_yes of the wrong option."""
    settings = {"model_config": {"model_name": "acme/parrot-1", "generation_parameters": {"temperature": 0.7}}}
    path = details([choice_row()], results={"config_general": settings})
    (row,) = rows(path, options)
    assert (row.model, row.task, row.item, row.temperature) == ("acme/parrot-1", "colours|0", "7", "0.7")
    assert (row.answer, row.rule, row.gold, row.logged_score, row.score_value) == ("no", "argmax", "no", "1", 1.0)
    assert row.p_yes == pytest.approx(math.exp(-2.0) / (math.exp(-2.0) + math.exp(-0.5)), rel=1e-12)
    assert (row.run, row.timestamp) == (TIME, "2025-09-01T10:00:00.123456")
    assert row.source == f"{FOLDER}/{NAME}#1"
    assert json.loads(row.extra["meta.loglikelihood"]) == [-2.0, -0.5]


def test_a_tie_or_a_value_that_is_no_number_is_no_answer(details, options):
    """Catches argmax over NaN, and ties broken in silence."""
    path = details([choice_row("1", (-1.0, -1.0)), choice_row("2", (-1.0, math.nan))])
    first, second = rows(path, options)
    assert (first.answer, first.rule, first.status) == (None, "tie", "unparsed")
    assert (second.answer, second.status, second.p_yes) == (None, "unparsed", None)


def test_log_probabilities_that_do_not_match_the_options(details, options):
    """Catches labels given to the wrong values."""
    (row,) = rows(details([choice_row(values=(-1.0, -2.0, -3.0))]), options)
    assert (row.answer, row.status) == (None, "unparsed")
    assert row.gold == "no"


def test_the_model_is_named_by_results_or_folders(details, options):
    """Catches organisation and model joined or cut, and a guess where nothing names the model."""
    folders = details([choice_row()])
    assert rows(folders, options)[0].model == "acme/parrot"
    assert any("named after its folders" in note for note in notes(folders, options))
    alone = details([choice_row()], folder="somewhere")
    assert rows(alone, options)[0].model == "unknown"
    assert any("names the model" in note for note in notes(alone, options))
    older = details([choice_row()], results={"config_general": {"model_name": "acme/old"}})
    assert rows(older, options)[0].model == "acme/old"
    damaged = details([choice_row()], results='{"config_general": ')
    assert rows(damaged, options)[0].model == "acme/parrot"
    assert any("cannot be read" in note for note in notes(damaged, options))


def test_replies_are_samples_and_the_metric_stands_once(details, options):
    """Catches all replies but the first lost, and one metric counted for each reply."""
    response = {"text_post_processed": ["No", "no"], "reasonings": ["hm", None], "output_tokens": [[1, 2], [3]]}
    path = details([text_row(replies=("No", "no!"), model_response=response)])
    first, second = rows(path, options)
    assert [(r.sample, r.output, r.score_value) for r in (first, second)] == [("0", "No", 1.0), ("1", "no!", None)]
    assert (first.gold, first.answer, first.reasoning, second.reasoning) == ("No", None, "hm", None)
    assert (first.tokens_out, second.tokens_out) == (2, 1)
    assert "meta.post_processed" not in first.extra
    assert second.extra["meta.post_processed"] == "no"
    assert any("several replies" in note for note in notes(path, options))


def test_an_empty_reply_and_no_reply(details, options):
    """Catches an empty text that counts as missing, and nothing at all that counts as empty."""
    empty, none = rows(details([text_row("1", ("",)), text_row("2", ())]), options)
    assert (empty.output, empty.status) == ("", None)
    assert (none.output, none.status) == (None, "missing")


def test_lists_of_right_options(details, options):
    """Catches the first of several right options taken; an index without an option is no gold answer."""
    several = text_row("1", doc={"gold_index": [0, 1], "choices": ["blue", "green"]})
    same = text_row("2", doc={"gold_index": [0, 1], "choices": ["blue", "Blue"]})
    outside = text_row("3", doc={"gold_index": [5], "choices": ["blue", "green"]})
    found = rows(details([several, same, outside]), options)
    assert [r.gold for r in found] == [None, "blue", None]
    assert json.loads(found[0].extra["meta.target"]) == ["blue", "green"]


def test_metrics(details, options):
    """Catches a struct averaged, NaN as a number, and another metric in place of the one asked for."""
    path = details([choice_row(metric={"em": 0.0, "acc": 1.0, "parts": [1, 0], "judge": math.nan})])
    (row,) = rows(path, options)
    assert (row.logged_score, row.extra["score.em"], row.extra["meta.metric.parts"]) == ("1.0", "0.0", "[1, 0]")
    assert any("NaN is no score" in note for note in notes(path, options))
    assert rows(path, ReadOptions(options.root, scorer="em"))[0].logged_score == "0.0"
    assert rows(path, ReadOptions(options.root, scorer="f1"))[0].logged_score is None


def test_the_flat_layout_gives_the_same_answers(details, options):
    """Catches pairs of log-likelihood and flag taken for texts, and items without ids that are all one item."""
    path = details([old_row(), old_row(predictions=[[-0.1, False], [-0.5, True]])])
    first, second = rows(path, options)
    assert [(r.item, r.answer, r.gold, r.score_value) for r in (first, second)] == [
        ("1", "no", "no", 1.0),
        ("2", "yes", "no", 1.0),
    ]
    bare, nested = rows(details([old_row(predictions=[[-2.0], [-0.5]]), old_row(predictions=[[-2.0, -0.5]])]), options)
    assert (bare.answer, nested.answer) == ("no", "no")
    assert (first.task, first.prompt, first.extra["score.acc_norm"]) == ("colours|0", "Answer.\nIs it red?", "0.0")
    assert any("items are numbered by row" in note for note in notes(path, options))


def test_lists_written_as_python_texts(details, options):
    """Catches the letters of a text taken for a list, and numbers compared as texts."""
    stringified = {name: repr(value) for name, value in old_row().items()} | {"example": "Is it red?"}
    stringified |= {"full_prompt": "Answer.\nIs it red?"}
    generated = stringified | {"predictions": "['It is red.']", "choices": "[]", "gold": "['red']", "gold_index": "[]"}
    first, second = rows(details([stringified, generated]), options)
    assert (first.answer, first.gold, first.score_value) == ("no", "no", 1.0)
    assert (second.output, second.gold, second.answer) == ("It is red.", "red", None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[(-1.5, False), (-inf, True)]", [[-1.5, False], [-math.inf, True]]),
        ("[nan]", [None]),
        ("(1, 2)", [1, 2]),
        ("{'acc': 1}", {"acc": 1}),
        ("['nan', 'a inf']", ["nan", "a inf"]),
        ("[__import__('os').getcwd()]", "[__import__('os').getcwd()]"),
        ("[1, 2", "[1, 2"),
        ("[b'x', {1}]", ["x", "{1}"]),
        ("(" * 5000, "(" * 5000),
        ("plain", "plain"),
    ],
)
def test_python_texts_are_literals_or_stay_texts(text, value):
    """Catches evaluation of what a log says, and numbers replaced inside of texts."""
    assert literal(text) == value


def test_bytes_and_times_are_texts(details, options):
    """Catches values of Parquet that JSON has not: a column of bytes, a time among the metadata."""
    doc = {"id": b"7", "query": b"caf\xe9?", "specific": {"when": datetime(2025, 1, 2, tzinfo=UTC)}}
    (row,) = rows(details([text_row(doc=doc)]), options)
    assert (row.item, row.prompt, row.extra["meta.when"]) == ("7", "caf\ufffd?", "2025-01-02 00:00:00+00:00")


def test_old_replies_may_be_nested(details, options):
    """Catches a list of replies printed as one text."""
    (first, second) = rows(details([old_row(predictions=[["red", "blue"]], choices=[], gold=["red"])]), options)
    assert [(r.output, r.gold) for r in (first, second)] == [("red", "red"), ("blue", "red")]


def test_damage_is_named(details, options, tmp_path):
    """Catches tracebacks from cut files, other columns and rows of a wrong type."""
    whole = details([choice_row()]).read_bytes()
    cut = tmp_path / "details_cut.parquet"
    cut.write_bytes(whole[:-40])
    with pytest.raises(LogError, match="damaged Parquet file"):
        rows(cut, options)
    with pytest.raises(LogError, match="no details: its columns are"):
        rows(details([{"a": 1}]), options)
    with pytest.raises(LogError, match="row 1 is no document with a response"):
        rows(details([{"doc": "x", "model_response": {"text": ["a"]}, "metric": {"a": 1}}]), options)
    empty = details([choice_row()])
    pq.write_table(pq.read_table(empty).slice(0, 0), empty)
    with pytest.raises(LogError, match="no rows in the file"):
        rows(empty, options)
    pointer = tmp_path / "details_pointer.parquet"
    pointer.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    with pytest.raises(LogError, match="git lfs pull"):
        rows(pointer, options)
