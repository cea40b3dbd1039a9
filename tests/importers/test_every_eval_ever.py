"""Every Eval Ever instances of schema 0.2 and 0.3, synthetic: metrics merged, repeats, answers, damage."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import every_eval_ever
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions


def instance(identity: Any = "q1", **changes: Any) -> dict[str, Any]:
    """An instance of schema 0.2.2 whose reply names the second of three options; the third is right."""
    row = {
        "schema_version": "0.2.2",
        "evaluation_id": "run-1",
        "model_id": "acme/parrot",
        "evaluation_name": "colours",
        "sample_id": identity,
        "sample_hash": f"hash-{identity}",
        "interaction_type": "single_turn",
        "input": {"raw": f"Which is {identity}?", "choices": ["red", "blue", "green"], "reference": ["green"]},
        "output": {"raw": [" B"], "reasoning_trace": ["hm"]},
        "messages": None,
        "answer_attribution": [{"extracted_value": "B", "is_terminal": True}],
        "evaluation": {"score": 0.0, "is_correct": False},
        "token_usage": {"input_tokens": 7, "output_tokens": 1, "reasoning_tokens": 3},
        "performance": {"latency_ms": 10.0, "generation_time_ms": 2500.0},
        "error": None,
        "metadata": {"split": "test"},
    }
    return row | changes


def text_instance(identity: str = "q1", reply: Any = "blue", **changes: Any) -> dict[str, Any]:
    """An instance without options."""
    question = {"raw": f"Colour of {identity}?", "reference": ["green"]}
    whole = {"input": question, "output": {"raw": reply}, "answer_attribution": []}
    return instance(identity, **whole | changes)


def aggregate(**changes: Any) -> dict[str, Any]:
    results = [
        {"evaluation_result_id": f"r{n}", "evaluation_name": "colours", "metric_config": {"metric_id": metric}}
        for n, metric in enumerate(("accuracy", "f1"))
    ]
    results[0]["generation_config"] = {"generation_args": {"temperature": 0.5}}
    whole = {"schema_version": "0.3.0", "evaluation_id": "run-1", "source_metadata": {}, "evaluation_results": results}
    whole |= {"eval_library": {"name": "helm", "version": "0.5"}, "detailed_evaluation_results": {"total_rows": 3}}
    return whole | {"model_info": {"id": "acme/parrot"}} | changes


@pytest.fixture
def instances(tmp_path) -> Callable[..., Path]:
    """Write rows as instances, with an aggregate beside them if one is given."""

    def write(rows: list[Any], beside: Any = None, name: str = "u1_samples.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        if beside is not None:
            text = beside if isinstance(beside, str) else json.dumps(beside)
            (tmp_path / "u1.json").write_text(text, encoding="utf-8")
        return path

    return write


def rows(path: Path, options: ReadOptions):
    return [response for record in every_eval_ever.read(path, options) for response in record.responses]


def notes(path: Path, options: ReadOptions) -> list[str]:
    return [note for record in every_eval_ever.read(path, options) for note in record.notes]


def test_only_its_own_files_are_claimed(instances, tmp_path, options):
    """Catches an aggregate read as instances, and other JSON Lines with sample ids claimed."""
    path = instances([instance()], aggregate())
    assert every_eval_ever.sniff(probe(path)) is Claim.LOG
    assert every_eval_ever.sniff(probe(tmp_path / "u1.json")) is Claim.COMPANION
    assert every_eval_ever.sniff(probe(instances([{"sample_id": 1, "model_id": "m"}], name="x.jsonl"))) is Claim.NO
    with pytest.raises(LogError, match="aggregate only"):
        rows(tmp_path / "u1.json", options)


def test_columns_of_a_multiple_choice_instance(instances, options):
    """Catches the option's text as gold beside letters as answers, milliseconds as seconds, a cut model name."""
    (row,) = rows(instances([instance()]), options)
    assert (row.model, row.task, row.item, row.sample, row.run) == ("acme/parrot", "colours", "q1", "0", "run-1")
    assert (row.output, row.answer, row.rule, row.gold) == (" B", "B", "harness_choice", "C")
    assert (row.logged_score, row.score_value, row.extra["score.is_correct"]) == ("0.0", 0.0, "false")
    assert (row.tokens_in, row.tokens_out, row.tokens_reasoning, row.latency) == (7, 1, 3, 2.5)
    assert (row.prompt, row.prompt_hash, row.reasoning) == ("Which is q1?", "hash-q1", "hm")
    assert (row.extra["meta.split"], row.extra["meta.target"]) == ("test", "green")
    assert row.harness == "Every Eval Ever 0.2.2"
    assert row.source == "u1_samples.jsonl:1"


def test_rows_of_several_metrics_are_one_response(instances, options):
    """Catches n multiplied by the metrics, wherever their rows stand."""
    first = [instance(q, evaluation_result_id="r0", schema_version="0.3.0") for q in ("q1", "q2")]
    second = [row | {"evaluation_result_id": "r1", "evaluation": {"score": 0.75, "is_correct": None}} for row in first]
    path = instances([*first, *second], aggregate())
    found = list(every_eval_ever.read(path, options))
    assert [len(record.responses) for record in found] == [1, 1, 0, 0]
    assert all(record.set_aside.startswith("another metric") for record in found[2:])
    responses = rows(path, options)
    assert [(r.item, r.logged_score, r.extra["score.f1"]) for r in responses] == [
        (q, "0.0", "0.75") for q in ("q1", "q2")
    ]
    asked = rows(path, ReadOptions(options.root, scorer="f1"))
    assert [(r.score_value, r.extra["score.accuracy"]) for r in asked] == [(0.75, "0.0")] * 2
    assert any("announces 3 rows, the file has 4" in note for note in notes(path, options))
    assert {(r.harness, r.temperature) for r in responses} == {("helm 0.5 (Every Eval Ever 0.3.0)", "0.5")}


def test_the_order_of_rows_does_not_choose_the_score(instances, options):
    """Catches a main score that is whichever metric happens to come first."""
    metrics = [instance(evaluation_name=n, evaluation={"score": s}) for n, s in (("b", 0.5), ("a", 0.25))]
    for order in (metrics, metrics[::-1]):
        (row,) = rows(instances(order), options)
        assert (row.task, row.score_value, row.extra["score.b"]) == ("a", 0.25, "0.5")


def test_tasks_of_one_file_are_no_metrics_of_each_other(instances, options):
    """Catches rows of a second task that are unscored because the first names the main metric; ids may collide."""
    other = instance("q1", evaluation_name="shapes", input={"raw": "Round?", "reference": ["no"]}, sample_hash="h")
    first, second = rows(instances([instance("q1"), other]), options)
    assert [(r.task, r.item, r.logged_score) for r in (first, second)] == [
        ("colours", "q1", "0.0"),
        ("shapes", "q1", "0.0"),
    ]


def test_another_reply_to_the_same_question_is_a_sample(instances, options):
    """Catches repeats merged as if they were metrics, or refused as duplicates."""
    replies = [text_instance(reply=reply) for reply in ("blue", "green", "red")]
    assert [(r.sample, r.output) for r in rows(instances(replies), options)] == [
        ("0", "blue"),
        ("1", "green"),
        ("2", "red"),
    ]
    epochs = [text_instance(metadata={"epoch": n}) for n in (1, 2)]
    assert [(r.sample, r.output) for r in rows(instances(epochs), options)] == [("1", "blue"), ("2", "blue")]


def test_several_outputs_of_one_row(instances, options):
    """Catches the Python form of a list as a reply, and one score counted for each reply."""
    path = instances([text_instance(reply=["blue", "green"])])
    found = rows(path, options)
    assert [(r.sample, r.output, r.score_value) for r in found] == [("0.0", "blue", 0.0), ("0.1", "green", None)]


def test_the_first_schema_is_read_as_well(instances, options):
    """Catches letters of the converter taken for the reply: 0.2.0 keeps the whole reply in the conversation."""
    talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "ANSWER: C\n\nbecause"}]
    old = instance(3, schema_version="0.2.0", output={"raw": "C", "reasoning_trace": None}, interactions=talk)
    old["input"]["reference"] = "B"
    del old["messages"]
    old["answer_attribution"] = []
    (row,) = rows(instances([old]), options)
    assert (row.item, row.output, row.answer, row.gold) == ("3", "ANSWER: C\n\nbecause", "C", "B")
    python = [{"role": "assistant", "content": "[ContentText(text='C')]"}]
    (row,) = rows(instances([old | {"interactions": python}]), options)
    assert (row.output, row.answer) == ("C", None)


def test_conversations_without_an_output(instances, options):
    """Catches agents' rows called empty, and an absent reply called wrong."""
    talk = [{"role": "assistant", "content": "first"}, {"role": "tool", "content": "x"}]
    talk.append(
        {"role": "assistant", "content": [{"type": "text", "text": "last"}, {"type": "reasoning", "reasoning": "t"}]}
    )
    agent = text_instance(interaction_type="agentic", output=None, messages=talk)
    nothing = text_instance("q2", interaction_type="multi_turn", output=None)
    one, two = rows(instances([agent, nothing]), options)
    assert (one.output, one.reasoning, one.extra["meta.interaction_type"]) == ("last", "t", "agentic")
    assert (two.output, two.status, two.status_detail) == (None, "missing", "no output in the log")


def test_ids_of_two_types_stay_apart(instances, options):
    """Catches 1 and "1" merged into one item."""
    assert [r.item for r in rows(instances([text_instance(1), text_instance("1"), text_instance(2)]), options)] == [
        "1",
        '"1"',
        "2",
    ]


def test_choices_that_repeat_the_references_are_no_options(instances, options):
    """Catches free text read as a choice of letters."""
    question = {"raw": "?", "choices": ["a mascot", "the mascot"], "reference": ["a mascot", "the mascot"]}
    (row,) = rows(instances([instance(input=question, answer_attribution=[])]), options)
    assert (row.gold, row.answer) == (None, None)
    assert json.loads(row.extra["meta.target"]) == ["a mascot", "the mascot"]


def test_errors_and_missing_scores(instances, options):
    """Catches a failed call scored 0 as wrong, a null score as 0, and a continuous score with a threshold."""
    failed = text_instance("q1", error={"message": "timeout\nmore"}, output=None)
    unscored = text_instance("q2", evaluation={"score": None, "is_correct": None})
    flagged = text_instance("q3", evaluation={"score": None, "is_correct": True})
    shades = text_instance("q4", evaluation={"score": 0.7, "is_correct": None})
    found = rows(instances([failed, unscored, flagged, shades]), options)
    assert [(r.status, r.status_detail) for r in found[:2]] == [("errored", "timeout"), (None, None)]
    assert [r.score_value for r in found[1:]] == [None, 1.0, 0.7]
    assert "score.is_correct" not in found[3].extra
    assert "no score of its own in the log" in notes(instances([unscored]), options)


def test_metadata_named_like_a_factor_fills_it(instances, options):
    """Catches factors that a converter kept and that are lost among the metadata."""
    (row,) = rows(instances([text_instance(metadata={"polarity": "negated", "subject": "x"})]), options)
    assert (row.polarity, row.extra["meta.subject"]) == ("negated", "x")


def test_accidents_of_converters(instances, options):
    """Catches all runs called None, and unknown versions read without a word."""
    path = instances([text_instance(evaluation_id="None_samples", schema_version="instance_level_eval_0.9.1")])
    (row,) = rows(path, options)
    assert (row.run, row.harness) == ("u1_samples.jsonl", "Every Eval Ever 0.9.1")
    assert any("0.9.1 is not one" in note for note in notes(path, options))
    known = instances([text_instance(schema_version="instance_level_eval_0.2.2")])
    assert not any("is not one" in note for note in notes(known, options))


def test_a_damaged_aggregate_is_a_note(instances, options):
    """Catches responses lost with a file that only describes them."""
    path = instances([instance()], beside='{"evaluation_results": [')
    assert len(rows(path, options)) == 1
    assert any("aggregate beside the instances cannot be read" in note for note in notes(path, options))


@pytest.mark.parametrize(
    ("lines", "reason", "line"),
    [
        (["[]"], "no JSON object", 1),
        (['{"model_id": "m"}'], 'lacks "sample_id"', 1),
        (['{"sample_id": "q"}'], 'lacks "model_id"', 1),
        ([json.dumps(instance()), '{"sample_id": "q2", '], "JSON is cut off", 2),
    ],
)
def test_damage_is_named_with_its_line(tmp_path, options, lines, reason, line):
    """Catches tracebacks, and a cut last line that is left out in silence."""
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(LogError, match=reason) as caught:
        rows(path, options)
    assert caught.value.line == line
