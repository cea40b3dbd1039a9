"""Tests of reading promptfoo's JSON: every generation, and what is no score."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import promptfoo
from analysis.importers.probe import probe
from analysis.importers.promptfoo_eval import NO_MODEL, ONLY_PROVIDER, SAME_PROVIDER
from analysis.importers.promptfoo_results import CACHED, CACHED_REPEAT, UNSCORED
from analysis.importers.protocol import Claim, ReadOptions

EQUALS = {"type": "equals", "value": "yes"}


def result(test: int = 0, column: int = 0, /, **changes: Any) -> dict[str, Any]:
    """A passed result of version 3 with one assertion."""
    variables = {"object": f"thing {test}"}
    found = {
        "promptIdx": column,
        "testIdx": test,
        "provider": {"id": "acme:parrot", "label": ""},
        "prompt": {"raw": f"Is thing {test} red?", "label": "Is {{object}} red?"},
        "vars": variables,
        "response": {"output": "yes", "tokenUsage": {"prompt": 7, "completion": 1}, "cached": False},
        "success": True,
        "score": 1,
        "failureReason": 0,
        "latencyMs": 1500,
        "gradingResult": {"pass": True, "score": 1, "reason": "All assertions passed"},
        "testCase": {"vars": variables, "assert": [EQUALS], "metadata": {"polarity": "negated", "set": "a"}},
    }
    return found | changes


def version_3(entries: list[dict[str, Any]], /, **changes: Any) -> dict[str, Any]:
    inner = {"version": 3, "timestamp": "2025-01-02T03:04:05Z", "prompts": [], "results": entries, "stats": {}}
    whole = {"evalId": "eval-1", "results": inner | changes.pop("results", {}), "config": {}, "shareableUrl": None}
    return whole | {"metadata": {"promptfooVersion": "0.120.8"}} | changes


@pytest.fixture
def rows(tmp_path: Path):
    """Write a document, check that it is claimed, and read it."""

    def read(document: Any, name: str = "out.json", scorer: str | None = None):
        path = tmp_path / name
        lines = document if isinstance(document, str) else json.dumps(document, indent=2)
        path.write_text(lines, encoding="utf-8")
        assert promptfoo.sniff(probe(path)) is Claim.LOG
        records = list(promptfoo.read(path, ReadOptions(tmp_path, scorer=scorer)))
        notes = [note for record in records for note in record.notes]
        return [r for record in records for r in record.responses], notes

    return read


def test_a_result_of_version_3_fills_its_columns(rows):
    """Catches columns exchanged with each other."""
    (row,), notes = rows(version_3([result()]))
    assert (row.model, row.output, row.gold, row.logged_score, row.score_value) == (
        "acme:parrot",
        "yes",
        "yes",
        "true",
        1.0,
    )
    assert (row.run, row.timestamp, row.harness) == ("eval-1", "2025-01-02T03:04:05Z", "promptfoo 0.120.8")
    assert (row.tokens_in, row.tokens_out, row.latency) == (7, 1, 1.5)
    assert (row.prompt, row.polarity, row.extra["meta.set"]) == ("Is thing 0 red?", "negated", "a")
    assert (row.extra["meta.vars.object"], row.extra["score.score"]) == ("thing 0", "1")
    assert row.source == "out.json#1"
    assert notes == []


def test_success_without_assertions_is_no_score(rows):
    """Catches a call that worked counted as a right answer."""
    bare = result(testCase={"vars": {}, "assert": []}, gradingResult={"pass": True, "reason": "No assertions"})
    (row,), notes = rows(version_3([bare]))
    assert (row.logged_score, row.score_value) == (None, None)
    assert row.extra["meta.success"] == "true"
    assert UNSCORED in notes


def test_a_failed_call_is_errored_and_a_failed_assertion_is_wrong(rows):
    """Catches score 0 of a call that never came back counted as wrong; ``error`` also holds assertion messages."""
    failed = result(0, success=False, score=0, failureReason=2, error="API error: 429\nmore", response=None)
    wrong = result(1, success=False, score=0, failureReason=1, error="Expected output yes")
    before = result(2, success=False, score=0, error="timeout", response={"error": "timeout"})
    del before["failureReason"]
    found, _ = rows(version_3([failed, wrong, before]))
    assert [(r.status, r.score_value) for r in found] == [("errored", None), (None, 0.0), ("errored", None)]
    assert found[0].status_detail == "API error: 429"
    assert found[1].status_detail is None


def test_refusals_and_stop_reasons_are_kept(rows):
    refused = result(response={"output": "I cannot", "isRefusal": True, "finishReason": "stop"})
    (row,), _ = rows(version_3([refused]))
    assert (row.status, row.extra["meta.stop_reason"]) == ("refused", "stop")


def test_an_output_that_is_an_object_is_its_json(rows):
    """Catches Python's spelling of a dictionary as the model's words."""
    (row,), _ = rows(version_3([result(response={"output": {"answer": True}})]))
    assert row.output == '{"answer": true}'


def test_two_providers_on_one_test_answer_one_item(rows):
    """Catches an item that counts columns: promptIdx runs over providers too, and pairs would be lost."""
    other = result(0, 1, provider={"id": "acme:owl", "label": ""})
    found, _ = rows(version_3([result(0, 0), other]))
    assert len({r.item for r in found}) == 1
    assert [r.model for r in found] == ["acme:parrot", "acme:owl"]


def test_items_do_not_depend_on_the_order_of_results(rows):
    """Catches numbering by place: results come as calls return."""
    one, _ = rows(version_3([result(0), result(1)]))
    two, _ = rows(version_3([result(1), result(0)]), "b.json")
    assert {(r.item, r.prompt) for r in one} == {(r.item, r.prompt) for r in two}


def test_two_prompts_on_one_test_are_two_items_of_one_unit(rows):
    rewording = {"raw": "Red, thing 0?", "label": "Red, {{object}}?"}
    found, _ = rows(version_3([result(0, 0), result(0, 1, prompt=rewording)]))
    assert len({r.item for r in found}) == 2
    assert len({r.unit for r in found}) == 1


def test_repeats_are_samples_and_cached_ones_are_named(rows):
    """Catches repeats as items, and copies that pass for independent samples."""
    copy = result(response={"output": "yes", "cached": True})
    found, notes = rows(
        version_3([result(), copy, result(5, vars={"object": "thing 0"}, testCase=result()["testCase"])])
    )
    assert [r.sample for r in found] == ["0", "1", "2"]
    assert len({r.item for r in found}) == 1
    assert found[1].latency is None
    assert notes.count(CACHED) == notes.count(CACHED_REPEAT) == 1


def test_tests_of_one_content_that_assert_different_things_are_two_items(rows):
    """Catches two tests merged: their right answers contradict each other."""
    other = result(1, testCase={"vars": {"object": "thing 0"}, "assert": [EQUALS | {"value": "no"}]})
    found, _ = rows(version_3([other, result(0)]))
    assert [r.gold for r in found] == ["no", "yes"]
    assert [r.item.rpartition("#")[2] for r in found] == ["2", "1"]


def test_labels_of_one_provider_are_not_merged(rows):
    """Catches two configurations of a model counted as samples of one."""
    found, notes = rows(
        version_3(
            [result(0, 0, provider={"id": "m", "label": "cold"}), result(0, 1, provider={"id": "m", "label": "hot"})]
        )
    )
    assert [r.model for r in found] == ["m [cold]", "m [hot]"]
    assert SAME_PROVIDER in notes


@pytest.mark.parametrize(
    ("config", "model", "temperature", "note"),
    [
        ({"providers": ["acme:owl"]}, "acme:owl", None, ONLY_PROVIDER),
        ({"providers": "acme:owl"}, "acme:owl", None, ONLY_PROVIDER),
        ({"providers": [{"id": "acme:owl", "config": {"temperature": 0.5}}]}, "acme:owl", "0.5", ONLY_PROVIDER),
        ({"providers": [{"acme:owl": {"config": {"temperature": 0}}}]}, "acme:owl", "0", ONLY_PROVIDER),
        ({"providers": ["acme:owl", "acme:jay"]}, "unknown", None, NO_MODEL),
        ({}, "unknown", None, NO_MODEL),
    ],
)
def test_without_a_provider_the_only_one_of_the_configuration_is_the_model(rows, config, model, temperature, note):
    """Catches a guess among several providers."""
    bare = result()
    del bare["provider"]
    (row,), notes = rows(version_3([bare], config=config))
    assert (row.model, row.temperature) == (model, temperature)
    assert notes == [note]


def test_the_column_of_a_result_names_its_provider(rows):
    bare = result(0, 1)
    del bare["provider"]
    prompts = [{"provider": "acme:jay"}, {"provider": "acme:owl"}]
    (row,), _ = rows(version_3([bare], results={"prompts": prompts}))
    assert row.model == "acme:owl"


def test_a_table_that_repeats_the_results_is_not_read(rows):
    """Catches every answer counted twice."""
    old = {key: result()[key] for key in ("prompt", "vars", "response", "success", "score")}
    table = {
        "head": {"prompts": [{}], "vars": ["object"]},
        "body": [{"outputs": [{"text": "yes"}], "vars": ["thing 0"]}],
    }
    inner = {
        "version": 2,
        "results": [old, old | {"success": False, "error": "Expected yes"}],
        "stats": {},
        "table": table,
    }
    found, notes = rows({"results": inner, "config": {"providers": ["m"]}, "shareableUrl": None})
    assert [(r.model, r.logged_score) for r in found] == [("m", None), ("m", "false")]
    assert '"table" repeats the results and is not read' in notes


def test_assertions_of_the_configuration_make_successes_scores(rows):
    old = {key: result()[key] for key in ("prompt", "vars", "response", "success", "score")}
    config = {"providers": ["m"], "tests": [{"vars": {}, "assert": [EQUALS]}]}
    (row,), _ = rows({"results": {"version": 2, "results": [old], "stats": {}, "table": {}}, "config": config})
    assert row.logged_score == "true"


@pytest.mark.parametrize("table", [[["Is {{object}} red?", "object"]], {"head": {}, "body": []}])
@pytest.mark.parametrize("top", [{}, {"version": 1}])
def test_objects_of_2023(rows, table, top):
    """Catches HTML entities in the item, and the table of either shape as results."""
    old = {
        "prompt": {"raw": "Is it&#39;s red?", "display": "Is {{object}} red?"},
        "vars": {"object": "it's", "__expected": "no"},
        "response": {"output": "yes", "tokenUsage": {"total": 9}},
        "success": False,
        "error": "Expected: no",
    }
    found, notes = rows(top | {"results": [old], "stats": {}, "table": table})
    assert [(r.gold, r.score_value, r.status, r.extra["meta.vars.object"]) for r in found] == [
        ("no", 0.0, None, "it's")
    ]
    assert "meta.vars.__expected" not in found[0].extra
    assert any("HTML entities" in note for note in notes)
    assert '"table" repeats the results and is not read' in notes


def test_lists_of_2023_with_variables_inside_and_inlined(rows):
    """Catches one generation whose items differ from those of the other."""
    inlined = [{"prompt": "Is {{object}} red?", "output": "yes", "object": "thing 0"}]
    inside = [{"prompt": "Is {{object}} red?", "output": "yes", "vars": {"object": "thing 0"}}]
    one, _ = rows(inlined)
    two, _ = rows(inside, "b.json")
    new, _ = rows(version_3([result()]), "c.json")
    assert one[0].item == two[0].item == new[0].item
    assert one[0].extra["meta.vars.object"] == "thing 0"
    assert (one[0].prompt, one[0].logged_score) == (None, None)


def test_json_lines_are_read(rows):
    text = "".join(json.dumps(result(n)) + "\n" for n in range(3))
    found, _ = rows(text, "out.jsonl")
    assert [r.source for r in found] == ["out.jsonl:1", "out.jsonl:2", "out.jsonl:3"]


def test_scorer_chooses_the_score_and_a_missing_one_is_said(rows):
    graded = result(score=0.25, namedScores={"tone": 0.5})
    (row,), _ = rows(version_3([graded]), scorer="score")
    assert (row.logged_score, row.extra["score.success"], row.extra["score.tone"]) == ("0.25", "true", "0.5")
    (row,), _ = rows(version_3([graded]), "b.json", scorer="tone")
    assert row.score_value == 0.5
    (row,), notes = rows(version_3([graded]), "c.json", scorer="style")
    assert row.score_value is None
    assert any('no score "style"' in note for note in notes)


def test_scores_that_are_no_numbers_are_missing(rows):
    """Catches NaN counted as 0."""
    text = json.dumps(version_3([result(score=float("nan"))]))
    (row,), notes = rows(text, scorer="score")
    assert (row.logged_score, row.score_value) == ("NaN", None)
    assert any("no score, kept as missing" in note for note in notes)


def test_unknown_versions_are_named(rows):
    _, notes = rows(version_3([result()], results={"version": 9}))
    assert any("version 9 of the results is not known" in note for note in notes)


@pytest.mark.parametrize(
    "document",
    [
        [{"prompt": "p", "output": "yes", "model": "m", "item": "1"}],
        [{"prompt": "p", "output": "yes", "label": "a"}],
        [{"prompt": "p", "completion": "yes", "vars": {}}],
        {"results": [{"name": "x"}], "stats": {}},
        {"results": {"task": {"acc,none": 1.0}}, "versions": {}, "configs": {}},
        {"promptIdx": 1},
        [1, 2],
        [[{"prompt": "p"}]],
    ],
)
def test_what_others_write_is_not_claimed(tmp_path, document):
    """Catches arrays of prompts and outputs, which everybody writes."""
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert promptfoo.sniff(probe(tmp_path / "x.json")) is Claim.NO


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(version_3([])), "no results in the file"),
        (json.dumps(version_3([result()]))[:300], "cut off"),
        (json.dumps(version_3([{"prompt": {}}])), "entry 1 is no result"),
        (json.dumps(version_3([result()])) + "{}", "text follows"),
    ],
)
def test_damage_is_an_error_with_its_reason(tmp_path, text, reason):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(LogError, match=reason):
        list(promptfoo.read(path, ReadOptions(tmp_path)))
