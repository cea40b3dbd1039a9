"""Inspect AI logs: answers, statuses, scores, ids and the plan of samples."""

import json

import pytest

from analysis.errors import LogError
from analysis.importers import inspect_ai
from analysis.importers.inspect_scores import as_number, main_scorer, scale, score_number
from analysis.importers.protocol import ReadOptions


def rows(path, options):
    return [response for record in inspect_ai.read(path, options) for response in record.responses]


def notes(path, options):
    return " | ".join(note for record in inspect_ai.read(path, options) for note in record.notes)


def output(content, stop="stop", **more):
    return {"choices": [{"message": {"content": content}, "stop_reason": stop}], "model": "m", **more}


def test_one_sample_becomes_one_row_with_names_as_logged(json_log, build, options):
    """Catches a shortened model name, the resolved name as the model, and a gold answer with its blank."""
    (row,) = rows(json_log([build.sample()], build.header(eval={"dataset": {}})), options)
    assert (row.model, row.model_resolved, row.task) == ("acme/parrot-1", "parrot-1-2025", "colours")
    assert (row.item, row.sample, row.run) == ("1", "1", "run-1/eval-1")
    assert (row.output, row.gold, row.answer, row.status) == ("No", "Yes", None, None)
    assert (row.logged_score, row.score_value) == ("I", 0.0)
    assert (row.tokens_in, row.tokens_out, row.latency) == (9, 2, 2.5)
    assert (row.harness, row.source) == ("inspect_ai 0.3.200", "log.json:samples[0]")
    assert row.prompt == "Is item 1 red?"


def test_reasoning_stays_out_of_the_answer(json_log, build, options):
    """Catches a "Yes" of the reasoning read as the answer, and an answer lost where ``completion`` is absent."""
    parts = [{"type": "reasoning", "reasoning": "Yes? Hm."}, {"type": "text", "text": "No"}, {"type": "tool_use"}]
    (row,) = rows(json_log([build.sample(output=output(parts))], build.header(eval={"dataset": {}})), options)
    assert (row.output, row.reasoning) == ("No", "Yes? Hm.")


def test_every_failure_has_its_own_status(json_log, build, options):
    """Catches errored, refused and cut samples taken for wrong answers, and cut ones that still answered."""
    failed = build.sample(
        1, error={"message": "ValueError: no\nmore", "traceback": "..."}, scores={}, output=output("")
    )
    refused = build.sample(2, output=output("I cannot.", "content_filter"))
    cut = build.sample(3, limit={"type": "token", "limit": 5}, output={"choices": [], "completion": ""})
    answered = build.sample(4, limit={"type": "token", "limit": 5})
    long = build.sample(5, output=output("Well, let me", "max_tokens"))
    found = rows(json_log([failed, refused, cut, answered, long], build.header(eval={"dataset": {}})), options)
    assert [(r.status, r.status_detail) for r in found] == [
        ("errored", "ValueError: no"),
        ("refused", "content_filter"),
        ("truncated", "token limit"),
        (None, None),
        (None, None),
    ]
    assert found[4].extra["meta.stop_reason"] == "max_tokens"


def test_an_unscored_log_has_rows_without_scores(json_log, build, options):
    """Catches a missing score that becomes 0, or unscored samples that are dropped."""
    path = json_log([build.sample(scores={}), build.sample(2, scores=None)], build.header(eval={"dataset": {}}))
    assert [(r.logged_score, r.score_value, r.status) for r in rows(path, options)] == [(None, None, None)] * 2
    assert "no score of its own" in notes(path, options)


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        (["C", "P", "I", "N"], "letters", [1, 0.5, 0, 0]),
        (["C", float("nan")], "letters", [1, None]),
        (["I", "left"], "words", [None, None]),
        (["N", "E", "S"], "words", [None, None, None]),
        (["10", " 0.5 ", 3, True], "numbers", [10, 0.5, 3, 1]),
        (["NaN", float("inf"), "2"], "numbers", [None, None, 2]),
        (["C", 0.5], "mixed", [None, None]),
        (["1_0", "0x1"], "words", [None, None]),
        ([["a"]], "words", [None]),
        ([10**400], "words", [None]),
    ],
)
def test_letters_are_numbers_only_where_all_values_are_the_harness_letters(values, kind, numbers):
    """Catches I = 0 for a scorer of categories, half-read scales, NaN as 0, and Python's own number syntax."""
    assert scale(values) == kind
    assert [score_number(value, kind) for value in values] == numbers


def test_text_is_a_number_only_in_full():
    """Catches "3 of 5" read as 3."""
    assert [as_number(v) for v in ("3 of 5", "", ".5", "-1e2", None)] == [None, None, 0.5, -100.0, None]


def test_the_main_scorer_is_the_first_listed_unless_one_is_asked_for(json_log, build, options):
    """Catches the alphabetically first scorer, and a second scorer that counts the answer again."""
    scores = {"a": {"value": 3}, "match": {"value": "C"}, "d": {"value": {"x": 1, "y": float("nan")}}}
    path = json_log([build.sample(scores=scores)], build.header(eval={"dataset": {}}))
    (row,) = rows(path, options)
    assert (row.logged_score, row.score_value) == ("C", 1.0)
    assert {k: v for k, v in row.extra.items() if k.startswith("score")} == {
        "score.a": "3",
        "score.d.x": "1",
        "score.d.y": "NaN",
    }
    assert 'scorer "d.y": NaN is no score' in notes(path, options)
    (asked,) = rows(path, ReadOptions(options.root, scorer="d"))
    assert (asked.logged_score, asked.extra["score.match"]) == ("1", "C")
    lacking = ReadOptions(options.root, scorer="other")
    assert rows(path, lacking)[0].logged_score is None
    assert 'no scorer "other" in this log (it has: a, d.x, d.y, match)' in notes(path, lacking)


def test_the_order_of_results_decides_between_keys_of_a_dict():
    """Catches the first key of the sample where the header's first score is another one."""
    header = {"results": {"scores": [{"name": "no", "scorer": "d"}, {"name": "yes", "scorer": "d"}]}}
    assert main_scorer(header, ["d.yes", "d.no"], None) == "d.no"
    assert main_scorer({}, ["d.yes", "d.no"], None) == "d.yes"
    assert main_scorer({}, [], None) is None


def test_a_score_that_is_nan_is_kept_as_text_and_named(json_log, build, options):
    """Catches NaN in a column of numbers, and a NaN nobody hears of."""
    path = json_log([build.sample(scores={"match": {"value": float("nan")}})], build.header(eval={"dataset": {}}))
    (row,) = rows(path, options)
    assert (row.logged_score, row.score_value) == ("NaN", None)
    assert "NaN is no score, kept as missing (log.json:samples[0])" in notes(path, options)


def test_the_letter_of_a_multiple_choice_is_what_the_harness_recorded(json_log, build, options):
    """Catches the first capital letter of the reply taken as the choice, and letters that are no choice."""
    common = {"choices": ["red", "blue"], "target": "B"}
    right = build.sample(1, scores={"choice": {"value": "C", "answer": "B"}}, **common)
    none = build.sample(2, scores={"choice": {"value": "I", "answer": ""}}, **common)
    beyond = build.sample(3, scores={"choice": {"value": "I", "answer": "D"}}, **common)
    found = rows(json_log([right, none, beyond], build.header(eval={"dataset": {}})), options)
    assert [(r.answer, r.rule, r.gold) for r in found] == [
        ("B", "harness_choice", "B"),
        (None, None, "B"),
        (None, None, "B"),
    ]
    assert json.loads(found[0].extra["meta.choices"]) == ["red", "blue"]


def test_shuffled_choices_keep_the_letter_that_was_sent(json_log, build, options):
    """Catches position bias computed from letters that the harness moved back."""
    score = {"value": "C", "answer": "B", "explanation": "Choices were shuffled before generating: A) blue"}
    event = {"event": "model", "output": output("ANSWER: A")}
    sample = build.sample(choices=["red", "blue"], target="B", scores={"choice": score}, events=[event])
    (row,) = rows(json_log([sample], build.header(eval={"dataset": {}})), options)
    assert (row.answer, row.extra["meta.letter_sent"], row.extra["meta.choices_shuffled"]) == ("B", "A", "true")


@pytest.mark.parametrize(
    ("target", "gold", "kept"),
    [
        (" Yes", "Yes", None),
        (["No"], "No", None),
        (["no", " No"], "no", None),
        (["2", "2.0"], None, '["2", "2.0"]'),
        ("", None, None),
        ([], None, None),
        (7, "7", None),
    ],
)
def test_targets(json_log, build, options, target, gold, kept):
    """Catches a list of accepted answers cut to its first, and an empty target taken as an answer."""
    (row,) = rows(json_log([build.sample(target=target)], build.header(eval={"dataset": {}})), options)
    assert (row.gold, row.extra.get("meta.target")) == (gold, kept)


def test_ids_of_two_types_stay_two_items(json_log, build, options):
    """Catches 1 and "1" merged into one item, and quotes put where no other type asks for them."""
    header = build.header(eval={"dataset": {"sample_ids": [1, "1", "b"]}})
    both = rows(json_log([build.sample("1"), build.sample(1), build.sample("b")], header), options)
    assert [r.item for r in both] == ["1", '"1"', '"b"']
    plain = build.header(eval={"dataset": {"sample_ids": ["1", "b"]}})
    assert [r.item for r in rows(json_log([build.sample("1"), build.sample("b")], plain), options)] == ["1", "b"]


def test_rows_come_in_the_order_of_the_plan(eval_log, build, options):
    """Catches the order of completion, in which the archive holds its members."""
    header = build.header(eval={"dataset": {"sample_ids": ["b", "a"]}, "config": {"epochs": 2}})
    samples = [build.sample(k, e) for k, e in [("a", 2), ("b", 2), ("a", 1), ("b", 1)]]
    found = rows(eval_log(samples, header), options)
    assert [(r.item, r.sample) for r in found] == [("b", "1"), ("b", "2"), ("a", "1"), ("a", "2")]
    unplanned = build.header(eval={"dataset": {}})
    found = rows(eval_log([build.sample(10), build.sample("x"), build.sample(9)], unplanned), options)
    assert [r.item for r in found] == ["9", "10", "x"]


def test_planned_samples_that_are_absent_are_missing_and_not_in_the_file(json_log, build, options):
    """Catches a denominator that shrinks with a cancelled run, and gold answers forgotten for absent epochs."""
    header = build.header(status="cancelled", eval={"config": {"epochs": 2}, "dataset": {"sample_ids": [1, 2]}})
    records = list(inspect_ai.read(json_log([build.sample(1), build.sample(1, 2), build.sample(2)], header), options))
    absent = [r for r in records if not r.in_file]
    assert len(records) == 4
    (planned,) = [response for record in absent for response in record.responses]
    assert (planned.item, planned.sample, planned.status, planned.gold) == ("2", "2", "missing", "Yes")
    assert planned.output is planned.logged_score is None
    assert "cancelled" in planned.status_detail
    assert any('"cancelled"' in note for note in records[0].notes)


def test_a_count_without_ids_is_a_note_and_no_rows(json_log, build, options):
    """Catches missing rows invented for items that nobody can name."""
    header = build.header(results={"total_samples": 40, "scores": []}, eval={"dataset": {"sample_ids": [1]}})
    path = json_log([build.sample(1)], header)
    assert len(rows(path, options)) == 1
    assert "40 samples, 39 more than the file holds" in notes(path, options)


def test_ids_planned_as_text_are_the_numbers_of_the_samples(json_log, build, options):
    """Catches an item reported both as answered and as missing because the plan writes its id as text."""
    header = build.header(eval={"dataset": {"sample_ids": ["1", "2"]}})
    assert [(r.item, r.status) for r in rows(json_log([build.sample(1), build.sample(2)], header), options)] == [
        ("1", None),
        ("2", None),
    ]


def test_an_absent_id_is_missing_though_another_type_of_it_is_there(json_log, build, options):
    """Catches "1" taken for the number 1, which hides that it is absent."""
    header = build.header(eval={"dataset": {"sample_ids": [1, "1"]}})
    found = rows(json_log([build.sample(1)], header), options)
    assert [(r.item, r.status) for r in found] == [("1", None), ('"1"', "missing")]


def test_metadata_fills_known_factors_and_keeps_the_rest(json_log, build, options):
    """Catches nested metadata copied as text, and factors that end up under ``meta.``."""
    metadata = {
        "validity": "valid",
        "template": 3,
        "unit": "",
        "topic": "x",
        "nested": {"a": 1},
        "flag": True,
        "no": None,
    }
    (row,) = rows(json_log([build.sample(metadata=metadata)], build.header(eval={"dataset": {}})), options)
    assert (row.validity, row.template, row.unit) == ("valid", "3", None)
    assert {k: v for k, v in row.extra.items() if k != "meta.stop_reason"} == {"meta.topic": "x", "meta.flag": "true"}


def test_the_hash_of_a_prompt_ignores_random_ids_and_not_the_choices(json_log, build, options):
    """Catches hashes that differ between models because messages have random ids; and equal ones for other choices."""

    def digest(message_id, text="Red?", choices=None):
        parts = [{"type": "text", "text": text, "id": message_id}]
        messages = [{"id": message_id, "role": "user", "content": parts}]
        sample = build.sample(input=messages, choices=choices)
        (row,) = rows(json_log([sample], build.header(eval={"dataset": {}})), options)
        return row.prompt, row.prompt_hash

    assert digest("x") == digest("y")
    assert digest("x")[0] == "user: Red?"
    assert len({digest("x")[1], digest("x", "Blue?")[1], digest("x", choices=["a"])[1]}) == 3


def test_attachments_are_resolved(json_log, build, options):
    """Catches a reference printed in place of the text it stands for."""
    sample = build.sample(input="attachment://h1", attachments={"h1": "a long question"})
    assert rows(json_log([sample], build.header(eval={"dataset": {}})), options)[0].prompt == "a long question"


def test_a_version_that_is_not_known_is_named(json_log, build, options):
    """Catches silence about a format that may mean something else."""
    assert "log version 9" in notes(json_log([build.sample()], build.header(version=9)), options)


@pytest.mark.parametrize(("samples", "reason"), [(None, "header only, no samples"), ([], "samples list is empty")])
def test_a_log_without_samples_is_refused(json_log, build, options, samples, reason):
    """Catches rows made from the accuracy that the header states."""
    header = build.header(results={"scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.9}}}]})
    with pytest.raises(LogError) as caught:
        rows(json_log(samples, header), options)
    assert caught.value.reason == reason
