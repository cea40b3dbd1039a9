"""Tests of reading simple-evals: rows of simple-evals-ru, and all results of a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import simple_evals
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.schema.responses import record_batch

PAGE = (
    "<h3>Prompt</h3><pre>{text}</pre><p>Correct Answer: {gold}</p><p>Extracted Answer: {seen}</p><p>Score: {score}</p>"
)


def row(number: Any = 1, **changes: Any) -> dict[str, Any]:
    found = {
        "id": number,
        "instruction": "Is it red?",
        "answer": "It is.\n\nAnswer: yes\n",
        "usage": {"prompt_tokens": 5, "completion_tokens": 6},
        "pred": "yes",
        "is_correct": True,
        "finished_at": 1739437715.25,
    }
    return found | changes


@pytest.fixture
def read(tmp_path: Path):
    def run(name: str, text: str):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        assert simple_evals.sniff(probe(path)) is Claim.LOG
        records = list(simple_evals.read(path, ReadOptions(tmp_path)))
        return [r for record in records for r in record.responses], [n for record in records for n in record.notes]

    return run


def test_rows_name_their_model_by_the_file_and_say_so(read):
    """Catches a model called after nothing, without a word."""
    text = "".join(json.dumps(r) + "\n" for r in (row(7), row("a/2", is_correct=False)))
    found, notes = read("mgsm/02_owl.jsonl", text)
    assert [(r.model, r.task, r.item, r.score_value) for r in found] == [
        ("02_owl", "mgsm", "7", 1.0),
        ("02_owl", "mgsm", "a/2", 0.0),
    ]
    assert (found[0].tokens_in, found[0].tokens_out, found[0].extra["meta.pred"]) == (5, 6, "yes")
    assert notes == [simple_evals.FILE_MODEL]


def test_letters_of_the_judge_are_no_scores(read):
    """Catches C read as correct: here it means "not attempted"."""
    judged = row(judge_answer="C\n", judge_pred="not_attempted", is_correct=False)
    del judged["pred"]
    (found,), _ = read("simpleqa/m.jsonl", json.dumps(judged))
    assert (found.logged_score, found.extra["meta.judge_answer"]) == ("false", "C\n")
    (unscored,), notes = read("simpleqa/n.jsonl", json.dumps(judged | {"is_correct": None}))
    assert (unscored.logged_score, unscored.score_value) == (None, None)
    assert "no score of its own in the log" in notes


def test_all_results_are_read_by_place(read):
    """Catches a page whose escaped text is taken for the harness's own fields, and a missing score as 0."""
    trap = "&lt;p&gt;Score: 1.0&lt;/p&gt;"
    pages = [
        PAGE.format(text=trap, gold="A &amp; B", seen="A", score="0.0"),
        PAGE.format(text="x", gold="no", seen="None", score="None"),
    ]
    asked = {"role": "user", "content": "Red?"}
    convos = [[asked, {"role": "assistant", "content": "A"}], [asked]]
    whole = {"score": 0.0, "metrics": {}, "htmls": pages, "convos": convos, "metadata": None}
    found, notes = read("gpqa_acme_owl-1_allresults.json", json.dumps(whole))
    assert [(r.model, r.task, r.item) for r in found] == [("acme_owl-1", "gpqa", "1"), ("acme_owl-1", "gpqa", "2")]
    assert [(r.output, r.gold, r.score_value) for r in found] == [("A", "A & B", 0.0), (None, "no", None)]
    assert found[0].prompt == "user: Red?"
    assert simple_evals.BY_PLACE in notes
    read_rows = read_answers(record_batch(found, ("meta.extracted",)), ReadingPolicy())
    assert read_rows.column("status").to_pylist() == ["answered", "unparsed"]


def test_a_name_that_tells_no_model_is_said(read):
    whole = {"score": 0.0, "metrics": {}, "htmls": [], "convos": [[{"role": "assistant", "content": "A"}]]}
    found, notes = read("results.json", json.dumps(whole))
    assert found[0].model == "unknown"
    assert simple_evals.NO_NAME in notes


@pytest.mark.parametrize(
    "document", [{"id": 1, "answer": "x"}, {"score": 1, "metrics": {}}, {"id": 1, "is_correct": True, "pred": "x"}]
)
def test_what_others_write_is_not_claimed(tmp_path, document):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(document))
    assert simple_evals.sniff(probe(path)) is Claim.NO


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(row()) + "\n" + json.dumps(row(None)), 'x.jsonl:2: is no row .* lacks "id"'),
        (json.dumps(row())[:-9], "cut off"),
        (json.dumps({"score": 0, "metrics": {}, "htmls": [], "convos": []}), "no conversations"),
        (
            json.dumps({"score": 0, "metrics": {}, "htmls": [], "convos": ["x"]}),
            "conversation 1 is no list of messages",
        ),
    ],
)
def test_damage_is_an_error_with_its_place(tmp_path, text, reason):
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(LogError, match=reason):
        list(simple_evals.read(path, ReadOptions(tmp_path)))
