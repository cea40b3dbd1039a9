"""Damage to logs of the smaller harnesses: an error that names the file, or rows that are all accounted for."""

import copy
import csv
import io
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import LogError
from analysis.importers import (
    consistency_ratings,
    deepeval,
    likelihood_ratings,
    llm_logic,
    probability_tuples,
    promptfoo,
    simple_evals,
    syllogism_votes,
)
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions, Record
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.reduction.response_batches import completed
from analysis.schema.responses import record_batch

RESULT = {
    "promptIdx": 0,
    "testIdx": 0,
    "provider": {"id": "m", "label": "l"},
    "prompt": {"raw": "Is it red?", "label": "Is {{x}} red?"},
    "vars": {"x": "it"},
    "response": {"output": "yes", "tokenUsage": {"prompt": 1, "completionDetails": {"reasoning": 1}}, "cached": True},
    "success": False,
    "score": 0.5,
    "namedScores": {"tone": 1},
    "error": "Expected no",
    "failureReason": 1,
    "latencyMs": 3,
    "gradingResult": {"reason": "r", "componentResults": [{"assertion": {"type": "equals", "value": "no"}}]},
    "testCase": {"vars": {"x": "it"}, "assert": [{"type": "equals", "value": "no"}], "metadata": {"unit": 3}},
}
PROMPTFOO = {
    "evalId": "e",
    "results": {"version": 3, "timestamp": "t", "prompts": [{"provider": "m"}], "results": [RESULT, RESULT]},
    "config": {"providers": ["m", {"id": "m", "config": {"temperature": 0}}], "tests": [{"assert": [1]}]},
    "metadata": {"promptfooVersion": "1"},
}
METRIC = {"name": "Correct", "score": 0.5, "success": True, "evaluationModel": "j", "error": None}
CASE = {
    "name": "c",
    "input": "q",
    "actualOutput": "a",
    "expectedOutput": "g",
    "metricsData": [METRIC],
    "trace": {"a": 1},
}
TURNS = {"turns": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
DEEPEVAL = {"testRunData": {"testCases": [CASE], "conversationalTestCases": [TURNS], "hyperparameters": {"model": "m"}}}
EVALS_ROW = {"id": 1, "instruction": "q", "answer": "a", "usage": {"prompt_tokens": 1}, "pred": "a", "is_correct": True}
MESSAGES = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
ALL_RESULTS = {"score": 1, "metrics": {}, "htmls": ["<p>Score: 1</p>"], "convos": [MESSAGES]}
LOGIC = {"user_prompt": "q", "system_prompt": "s", "model": "m", "temperature": 0, "responses": [{"content": "yes"}]}
TOKENS = {"user_prompt": "q", "system_prompt": "s", "model": "m", "yes_prob": 0.5, "no_prob": 0.25}
TRIPLE = LOGIC | {"prompt_classes": ["A", "B"], "responses": [{"content": "yes, no"}]}
VOTE = {"iteration": 1, "response": "correct", "vote": "correct"}
VOTES = {
    "metadata": {"model": "m", "strategy": "s", "temperature": 0.5, "status": "partial", "total_instances": 3},
    "results": [
        {
            "syllogism_id": "S",
            "variant": "N",
            "ground_truth_syntax": "valid",
            "ground_truth_NLU": "believable",
            "predicted": "correct",
            "correct_count": 1,
            "incorrect_count": 0,
            "timestamp": "t",
            "raw_responses": [VOTE, VOTE | {"vote": "error"}],
        }
    ],
}
QUESTION = {"id": "a", "title": "t", "body": "b", "resolution": True, "elicited_prob": 0.5}
TUPLE = {
    "line": {"P": QUESTION, "Q_given_P": {"question": {"id": "b"}, "forecast": {"prob": 1}}},
    "violations": {"v": 1},
}
RATING = {"UID": 1, "run": "r", "premise": "p", "hypothesis": "h", "answer": 5.0, "hard_label": 1, "finish_reason": "f"}
CONSISTENCY = {"details3": [["a", "b"]], "scores3": [[1.0, 2.0]]}

#: Importer, seed document, how it is written.
SEEDS: list[tuple[ModuleType, Any, str]] = [
    (promptfoo, PROMPTFOO, "json"),
    (promptfoo, {"results": PROMPTFOO["results"], "config": {"providers": ["m"]}}, "json"),
    (promptfoo, {"results": [RESULT], "stats": {}, "table": [[]]}, "json"),
    (promptfoo, [{"prompt": "Is {{x}} red?", "output": "a", "vars": {"x": "it"}}], "json"),
    (promptfoo, RESULT, "jsonl"),
    (deepeval, DEEPEVAL, "json"),
    (simple_evals, EVALS_ROW, "jsonl"),
    (simple_evals, ALL_RESULTS, "json"),
    (llm_logic, LOGIC, "json"),
    (llm_logic, TOKENS, "json"),
    (llm_logic, TRIPLE, "json"),
    (syllogism_votes, VOTES, "json"),
    (probability_tuples, TUPLE, "jsonl"),
    (likelihood_ratings, RATING, "jsonl"),
    (consistency_ratings, CONSISTENCY, "json in json"),
]
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.sampled_from(["", "x", "\ud800", "\u2028", "{{x}}", "valid", "1" * 5000]),
    st.sampled_from([[], [[]], [None], [{}], {}, {"a": []}, {"id": 3}, {"": ""}]),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *places(value[key])]]


def damaged(document: Any, data: st.DataObject) -> Any:
    """A copy with one to three keys taken out or values exchanged for strange ones."""
    changed = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        if not (found := places(changed)):
            break
        container, key = data.draw(st.sampled_from(found))
        if data.draw(st.booleans()):
            container[key] = copy.deepcopy(data.draw(STRANGE))
        else:
            del container[key]
    return changed


def written(path: Path, document: Any, how: str) -> Path:
    text = json.dumps(document)
    path.write_text(json.dumps(text) if how == "json in json" else f"{text}\n{text}\n" if how == "jsonl" else text)
    return path


def outcome(module: ModuleType, path: Path) -> list[Record] | str:
    """Records of a file, or the message of its error; anything else escapes."""
    assert module.sniff(probe(path)) in Claim
    try:
        return list(module.read(path, ReadOptions(path.parent)))
    except LogError as error:
        return str(error)


def check(module: ModuleType, path: Path) -> None:
    """Every record is used or set aside, every row can be stored and read; or the error names the file."""
    records = outcome(module, path)
    if isinstance(records, str):
        assert path.name in records
        return
    assert records
    for record in records:
        assert record.source
        assert bool(record.responses) or record.set_aside is not None
        for response in record.responses:
            assert response.item
            assert response.model
            batch = completed(record_batch([response], tuple(response.extra)))
            assert read_answers(batch, ReadingPolicy(kind="judgement")).num_rows == 1


@pytest.mark.parametrize(
    ("module", "document", "how"), SEEDS, ids=[f"{m.NAME}-{i}" for i, (m, _, _) in enumerate(SEEDS)]
)
def test_every_seed_is_read(tmp_path, module, document, how):
    """Catches seeds that no longer say what damage is damage of."""
    path = written(tmp_path / "x.json", document, how)
    assert module.sniff(probe(path)) is Claim.LOG
    assert list(module.read(path, ReadOptions(tmp_path)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize(
    ("module", "document", "how"), SEEDS, ids=[f"{m.NAME}-{i}" for i, (m, _, _) in enumerate(SEEDS)]
)
@given(data=st.data())
def test_keys_lost_and_values_of_other_types(tmp_path, module, document, how, data):
    """Catches a traceback on what harnesses really write when something broke, and rows that vanish."""
    check(module, written(tmp_path / "x.json", damaged(document, data), how))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize(
    ("module", "document", "how"), SEEDS, ids=[f"{m.NAME}-{i}" for i, (m, _, _) in enumerate(SEEDS)]
)
@given(cut=st.floats(0.01, 0.99), junk=st.binary(max_size=4))
def test_files_cut_off_and_followed_by_junk(tmp_path, module, document, how, cut, junk):
    path = written(tmp_path / "x.json", document, how)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * cut)] + junk)
    check(module, path)


TABLES = [
    [["RESULT", "Say {{x}}", "x"], ["PASS", "a", "b"]],
    [["Say {{x}}", "x"], ["[PASS] a", "b"], ["[FAIL] r\n---\na", "c"]],
    [['{"raw":"Say {{x}}","display":"d"}', "x"], ["[PASS] (1.00) a", "b"]],
    [["x", "[m] Say"], ["b", "[FAIL] (0.00, t: 1.00)\n\na\n\nFail Reason: r"]],
    [["[m] Say", "Status", "Score", "Named Scores", "Grader Reason", "Comment"], ["a", "PASS", "1.00", "{}", "r", ""]],
    [
        ["Test ID", "Plugin", "Strategy", "Target", "Prompt", "Response", "Pass", "Score", "Reason", "Timestamp"],
        ["1", "p", "s", "t", "q", "a", "true", "1", "r", "d"],
    ],
]
CELLS = st.sampled_from(
    ["", "[PASS]", "[FAIL]", "[ERROR] x", "[PASS] (1.00)", '{"raw":3}', "{", "(", "PASS", "\n---\n", "x"]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("table", TABLES, ids=["row", "marks", "json", "providers", "columns", "red team"])
@given(data=st.data())
def test_tables_with_strange_cells(tmp_path, table, data):
    """Catches cells that the layout did not expect: empty ones, marks alone, broken JSON."""
    changed = copy.deepcopy(table)
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(changed))
        if row and data.draw(st.booleans()):
            row[data.draw(st.integers(0, len(row) - 1))] = data.draw(CELLS)
        elif row:
            del row[-1]
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(changed)
    path = tmp_path / "x.csv"
    text = stream.getvalue()
    path.write_text(text[: data.draw(st.integers(1, len(text)))] or "x", newline="")
    check(promptfoo, path)
