"""OpenAI evals record logs, synthetic: joining, judges, repeats, errors, interrupted runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import openai_evals
from analysis.importers.openai_evals import model_of
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

SPEC = {"completion_fns": ["acme/parrot"], "eval_name": "colours.dev.v0", "base_eval": "colours", "run_id": "run1"}


def event(sample: Any, kind: str, data: Any, run: str = "run1") -> dict[str, Any]:
    created = "2024-01-01 10:00:00.5+00:00"
    return {"run_id": run, "event_id": 0, "sample_id": sample, "type": kind, "data": data, "created_at": created}


def sampling(sample: Any, reply: Any, prompt: Any = "Which?", **data: Any) -> dict[str, Any]:
    return event(sample, "sampling", {"prompt": prompt, "sampled": reply} | data)


def match(sample: Any, correct: bool, expected: Any = "red", **data: Any) -> dict[str, Any]:
    return event(sample, "match", {"correct": correct, "expected": expected, "picked": None} | data)


@pytest.fixture
def log(tmp_path) -> Callable[..., Path]:
    """Write a record log: specification, events, and a final report unless it is None."""

    def write(events: list[Any], report: Any = None, spec: Any = SPEC) -> Path:
        lines = [{"spec": spec}, *events]
        if report is not None:
            lines.insert(1, {"final_report": report})
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


def rows(path: Path, options: ReadOptions):
    return [response for record in openai_evals.read(path, options) for response in record.responses]


def notes(path: Path, options: ReadOptions) -> list[str]:
    return [note for record in openai_evals.read(path, options) for note in record.notes]


def test_the_specification_is_the_mark(log, tmp_path):
    """Catches any JSON Lines with samples claimed, and other objects with the key spec."""
    assert openai_evals.sniff(probe(log([]))) is Claim.LOG
    for text in ('{"spec": {"replicas": 1}}', '{"spec": {"eval_name": "x"}, "kind": "y"}', '{"sample_id": "a"}', "[]"):
        (tmp_path / "x.json").write_text(text, encoding="utf-8")
        assert openai_evals.sniff(probe(tmp_path / "x.json")) is Claim.NO


def test_events_are_joined_by_sample_whatever_their_order(log, options):
    """Catches a score joined by its place in the log: threads write in any order."""
    events = [
        sampling("c.dev.2", ["blue"]),
        match("c.dev.1", True),
        match("c.dev.2", False),
        sampling("c.dev.1", ["red"]),
    ]
    path = log(events, {"accuracy": 0.5})
    found = rows(path, options)
    assert [(r.item, r.output, r.logged_score, r.score_value) for r in found] == [
        ("c.dev.2", "blue", "false", 0.0),
        ("c.dev.1", "red", "true", 1.0),
    ]
    assert notes(path, options) == []
    assert [r.source for r in found] == ["log.jsonl:3", "log.jsonl:4"]


def test_columns(log, options):
    """Catches the snapshot in place of the model asked for, and messages printed as Python objects."""
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    path = log([sampling("s", "red", prompt, model="parrot-0613", usage=usage), match("s", True, ["red", "Red"])])
    (row,) = rows(path, options)
    assert (row.model, row.model_resolved, row.task, row.run) == (
        "acme/parrot",
        "parrot-0613",
        "colours.dev.v0",
        "run1",
    )
    assert (row.prompt, row.tokens_in, row.tokens_out) == ("system: Be brief.\nuser: Which?", 5, 2)
    assert (row.gold, row.answer, row.timestamp) == ("red", None, "2024-01-01 10:00:00.5+00:00")


def test_several_expected_answers(log, options):
    """Catches the first of several right answers taken as the only one."""
    (row,) = rows(log([sampling("s", "red"), match("s", True, ["red", "crimson"])]), options)
    assert (row.gold, json.loads(row.extra["meta.target"])) == (None, ["red", "crimson"])


def test_picked_says_nothing_about_readability(log, options):
    """Catches every wrong answer called unparsed: picked is null on all of them."""
    path = log([sampling("a", "blue"), match("a", False), sampling("b", "red"), match("b", True, picked="red")])
    first, second = rows(path, options)
    assert (first.status, first.answer, first.output) == (None, None, "blue")
    assert (second.answer, second.extra["meta.picked"]) == (None, "red")


def test_a_judge_is_no_response(log, options):
    """Catches the judge's text read as the answer, and two rows for one sample."""
    events = [
        sampling("s", ["It is red."]),
        sampling("s", ["Yes"], "Answer: It is red.\nIs that right?"),
        event("s", "metrics", {"choice": "Yes", "score": 1.0}),
    ]
    path = log(events, {})
    (row,) = rows(path, options)
    assert (row.output, row.score_value) == ("It is red.", 1.0)
    assert (row.extra["meta.judge_output"], row.extra["meta.choice"]) == ("Yes", "Yes")
    assert any("judge" in note for note in notes(path, options))
    two = SPEC | {"completion_fns": ["acme/parrot", "acme/judge"]}
    (row,) = rows(log([sampling("s", "red"), sampling("s", "B", "Grade it.")], {}, two), options)
    assert (row.output, row.extra["meta.judge_output"], row.model) == ("red", "B", "acme/parrot")


def test_the_reply_that_was_matched_is_the_answer(log, options):
    """Catches a chain of thought read as the answer where a second call drew the answer from it."""
    events = [sampling("s", "thinking"), sampling("s", "red"), match("s", True, sampled="red")]
    path = log(events, {})
    assert rows(path, options)[0].output == "red"
    assert any("further calls" in note for note in notes(path, options))


def test_several_replies_of_one_call(log, options):
    """Catches a list printed as one text, and its one score counted for each reply."""
    path = log([sampling("s", ["red", "blue"], usage={"prompt_tokens": 4}), match("s", True)], {})
    found = rows(path, options)
    assert [(r.sample, r.output, r.score_value, r.tokens_in) for r in found] == [
        ("0", "red", 1.0, 4),
        ("1", "blue", None, None),
    ]


def test_failures(log, options):
    """Catches a failed call scored as wrong, and a sample without a call that counts as empty."""
    error = event("a", "error", {"type": "Timeout", "message": "too slow\nat line 3"})
    events = [error, event("b", "metrics", {"score": None}), sampling("c", None), match("d", False, sampled="blue")]
    found = rows(log(events), options)
    assert [(r.item, r.status, r.output) for r in found] == [
        ("a", "errored", None),
        ("b", "missing", None),
        ("c", "missing", None),
        ("d", None, "blue"),
    ]
    assert found[0].status_detail == "too slow"


def test_metrics(log, options):
    """Catches a null score as 0, texts among the scores, and another metric in place of the one asked for."""
    path = log([sampling("s", "x"), event("s", "metrics", {"bleu": 0.25, "accuracy": 1.0, "score": None, "note": "n"})])
    (row,) = rows(path, options)
    assert (row.logged_score, row.extra["score.bleu"], row.extra["meta.note"]) == ("1.0", "0.25", "n")
    assert "score.score" not in row.extra
    assert rows(path, ReadOptions(options.root, scorer="bleu"))[0].score_value == 0.25
    assert rows(path, ReadOptions(options.root, scorer="f1"))[0].logged_score is None


def test_what_the_log_lacks_is_said(log, options):
    """Catches an interrupted run that looks complete, and an aggregate that fits other samples."""
    events = [sampling("s", "red"), match("s", True), event("s", "embedding", {"x": 1})]
    assert any("interrupted" in note for note in notes(log(events), options))
    assert any("says accuracy 0.25" in note for note in notes(log(events, {"accuracy": 0.25}), options))
    assert any("1 events of type embedding" in note for note in notes(log(events, {"accuracy": 1.0}), options))


def test_two_runs_in_one_file_stay_apart(log, options):
    """Catches samples of two runs joined because they have the same id."""
    other = SPEC | {"run_id": "run2", "completion_fns": ["acme/owl"]}
    events = [
        sampling("s", "red"),
        {"spec": other},
        event("s", "sampling", {"prompt": "Which?", "sampled": "blue"}, "run2"),
    ]
    assert [(r.run, r.model, r.output) for r in rows(log(events), options)] == [
        ("run1", "acme/parrot", "red"),
        ("run2", "acme/owl", "blue"),
    ]


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        ({"completion_fns": ["a/b", "judge"]}, ("a/b", 1)),
        ({"model_names": {"completions": ["old"]}}, ("old", 0)),
        ({"model_name": "older"}, ("older", 0)),
        ({}, ("unknown", 0)),
        ({"completion_fns": 3}, ("unknown", 0)),
    ],
)
def test_models_of_every_generation(spec, model):
    """Catches the judge taken as the model under test."""
    assert model_of(spec) == model


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"spec": {"run_id": "r"}}\n', "header only, no samples"),
        ('{"spec": 3}\n', "no object"),
        ('{"spec": {}}\n[]\n', "no JSON object"),
        ('{"spec": {}}\n{"type": "match"}\n', "no event"),
        ('{"spec": {}}\n{"type": "match", "sample_id": "s", "data": []}\n', "is no object"),
        ('{"spec": {}}\n{"type": "match", "sample_id"', "JSON is cut off"),
    ],
)
def test_damage_is_named(tmp_path, options, text, reason):
    """Catches tracebacks, and a header that is read as a log without answers."""
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=reason):
        rows(path, options)
