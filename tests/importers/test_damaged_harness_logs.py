"""Generated damage to logs of five harnesses: a clear error, or every record accounted for and fit for the store."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import LogError
from analysis.importers import every_eval_ever, helm, lighteval, openai_evals, opencompass
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.schema.responses import record_batch

FUZZ = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(
        [
            "A",
            "yes",
            "\ud800",
            {},
            [],
            [[]],
            [{}],
            {"": None},
            [None],
            {"text": {}},
            "[1, (2",
            10**400,
            "[1" + "0" * 400 + "]",
        ]
    ),
)

_REFERENCES = [{"output": {"text": t}, "tags": ["correct"] if t == "a" else []} for t in "ab"]
_TOKENS = [{"text": " a", "logprob": -1.0}]
_STATE = {
    "instance": {"input": {"text": "q"}, "references": _REFERENCES, "split": "test", "id": "i1"},
    "train_trial_index": 0,
    "output_mapping": {"A": "a", "B": "b"},
    "request": {"model": "m", "prompt": "q", "temperature": 0.0},
    "result": {"success": True, "completions": [{"text": " A", "tokens": _TOKENS}], "request_time": 1.0},
    "annotations": {"judge": {"score": 1.0}},
}
_STATS = [
    {"name": {"name": name, "split": "test"}, "count": 1, "sum": 1, "sum_squared": 1, "mean": 1.0}
    for name in ("exact_match", "predicted_index", "num_prompt_tokens")
]
_SEPARATE = {"output_mapping": None, "request_mode": "original"}


def _helm(method: str) -> dict[str, Any]:
    states = [_STATE, _STATE | {"train_trial_index": 1}]
    if method != "multiple_choice_joint":
        states = [_STATE | _SEPARATE | {"reference_index": index} for index in (0, 1)]
    adapter = {"method": method, "model": "m"}
    return {
        "run_spec.json": {"name": "t:model=m", "adapter_spec": adapter, "scenario_spec": {}},
        "scenario_state.json": {"adapter_spec": adapter, "request_states": states},
        "per_instance_stats.json": [{"instance_id": "i1", "train_trial_index": 0, "stats": _STATS}],
    }


_INSTANCE = {
    "schema_version": "0.2.2",
    "evaluation_id": "e",
    "model_id": "m",
    "evaluation_name": "t",
    "sample_id": "i",
    "interaction_type": "single_turn",
    "input": {"raw": "q", "choices": ["a", "b"], "reference": ["a"]},
    "output": {"raw": ["A"], "reasoning_trace": []},
    "messages": [{"role": "assistant", "content": "A."}],
    "answer_attribution": [{"extracted_value": "A", "is_terminal": True}],
    "evaluation": {"score": 1.0, "is_correct": True},
    "token_usage": {"input_tokens": 1},
    "performance": {"latency_ms": 1.0},
    "metadata": {"epoch": 1},
}
_RESULT = {
    "evaluation_result_id": "r",
    "metric_config": {"metric_id": "acc"},
    "generation_config": {"generation_args": {"temperature": 0}},
}
_AGGREGATE = {
    "schema_version": "0.3.0",
    "source_metadata": {},
    "eval_library": {"name": "l", "version": "1"},
    "model_info": {"id": "m"},
    "evaluation_results": [_RESULT],
    "detailed_evaluation_results": {"total_rows": 1},
}
_EVENTS = [
    {"spec": {"completion_fns": ["m"], "eval_name": "t", "run_id": "r"}},
    {
        "run_id": "r",
        "sample_id": "s",
        "type": "sampling",
        "data": {"prompt": [{"role": "u", "content": "q"}], "sampled": ["A"], "usage": {"prompt_tokens": 1}},
    },
    {"run_id": "r", "sample_id": "s", "type": "match", "data": {"correct": True, "expected": "A", "picked": "A"}},
    {"run_id": "r", "sample_id": "s", "type": "metrics", "data": {"score": 1.0, "choice": "A"}},
    {"run_id": "r", "sample_id": "z", "type": "error", "data": {"type": "E", "message": "x"}},
    {"final_report": {"accuracy": 1.0}},
]
_PREDICTIONS = {
    "0": {"origin_prompt": [{"role": "HUMAN", "prompt": "q"}], "prediction": "A", "gold": "A"},
    "1": {"origin_prompt": "q", "prediction": ["A", "B"], "refr": "x"},
    "2": {
        "label: A": {"testing input": "q", "PPL": 1.0},
        "label: B": {"testing input": "q", "PPL": 2.0},
        "prediction": "A",
        "gold": "A",
    },
    "3": {
        "testing input": "q",
        "prompt": "q",
        "choices": ["yes", "no"],
        "prediction": [0.5, 0.25],
        "pred_label": 0,
        "gold": 0,
    },
    "4": {"origin_prompt": [["q"], ["q"]], "prediction": ["A", "B"], "gold": ["A", "B"]},
}
_RESULTS = {"details": {"0": {"correct": True}}}

#: Name -> importer, what to read, and the files of a log: an object or, for JSON Lines, a list of lines.
LOGS: dict[str, tuple[ModuleType, str, dict[str, Any]]] = {
    "helm joint": (helm, "", _helm("multiple_choice_joint")),
    "helm separate": (helm, "", _helm("multiple_choice_separate_original")),
    "every eval ever": (
        every_eval_ever,
        "u_samples.jsonl",
        {"u_samples.jsonl": [_INSTANCE, _INSTANCE | {"sample_id": 2}], "u.json": _AGGREGATE},
    ),
    "openai evals": (openai_evals, "x.jsonl", {"x.jsonl": _EVENTS}),
    "opencompass": (
        opencompass,
        "predictions/m/d_0.json",
        {
            "predictions/m/d_0.json": _PREDICTIONS,
            "predictions/m/d_1.json": {"0": _PREDICTIONS["0"]},
            "results/m/d.json": _RESULTS,
        },
    ),
}
CASES = pytest.mark.parametrize("name", list(LOGS))

_DOC = {"query": "q", "choices": ["a", "b"], "gold_index": 0, "id": "1", "task_name": "t", "specific": {"k": "v"}}
_RESPONSE = {"text": ["a"], "text_post_processed": ["a"], "logprobs": [], "input": "q", "reasonings": ["r"]}
_SCORED = {"text": [], "logprobs": [-1.0, -2.0], "input_tokens": [1], "output_tokens": [[1]]}
ROWS = {
    "new, texts": {"doc": _DOC, "model_response": _RESPONSE, "metric": {"em": 1}},
    "new, options": {"doc": _DOC, "model_response": _SCORED, "metric": {"acc": 1.0}},
    "old": {
        "example": "q",
        "full_prompt": "q",
        "predictions": "[(-1.0, True), (-2.0, False)]",
        "choices": ["a", "b"],
        "gold_index": [0],
        "metrics": "{'acc': 1}",
        "input_tokens": [[1]],
        "specifics": "{}",
    },
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values inside a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


def damaged(value: Any, data: st.DataObject, count: int) -> Any:
    """A copy in which up to ``count`` values were removed, replaced or put in another's place."""
    value = copy.deepcopy(value)
    for _ in range(data.draw(st.integers(1, count))):
        found = list(places(value))
        if not found:
            return value
        *inner, last = data.draw(st.sampled_from(found))
        holder = value
        for key in inner:
            holder = holder[key]
        action = data.draw(st.sampled_from(["remove", "replace", "repeat"]))
        if action == "remove":
            del holder[last]
        elif action == "replace":
            holder[last] = copy.deepcopy(data.draw(VALUES))
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
    return value


def text_of(name: str, value: Any) -> str:
    return "\n".join(json.dumps(line) for line in value) if name.endswith(".jsonl") else json.dumps(value)


def check(module: ModuleType, path: Path, root: Path) -> None:
    """Read a log: an error with a reason, or records that add up and responses that fit the store."""
    assert isinstance(module.sniff(probe(path)), Claim)
    try:
        records = list(module.read(path, ReadOptions(root)))
    except LogError:
        return
    assert all(bool(record.responses) != (record.set_aside is not None) for record in records)
    responses = [response for record in records for response in record.responses]
    assert responses
    assert all(response.model and response.source for response in responses)
    extra = tuple(sorted({key for response in responses for key in response.extra}))
    assert record_batch(responses, extra).num_rows == len(responses)


@pytest.fixture
def write(tmp_path) -> Callable[[str, str], Path]:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


@CASES
def test_the_logs_are_read_before_they_are_damaged(name, write, tmp_path):
    """Catches a log that is refused for another reason than its damage."""
    module, target, files = LOGS[name]
    for file, value in files.items():
        write(file, text_of(file, value))
    assert module.sniff(probe(tmp_path / target)) is Claim.LOG
    assert list(module.read(tmp_path / target, ReadOptions(tmp_path)))


@CASES
@FUZZ
@given(data=st.data())
def test_missing_keys_and_wrong_types(name, write, tmp_path, data):
    """Catches tracebacks, and rows that are lost or have values of a wrong type."""
    module, target, files = LOGS[name]
    victim = data.draw(st.sampled_from(list(files)))
    for file, value in files.items():
        write(file, text_of(file, damaged(value, data, 4) if file == victim else value))
    check(module, tmp_path / target, tmp_path)


@CASES
@FUZZ
@given(data=st.data())
def test_files_that_are_cut_or_overwritten(name, write, tmp_path, data):
    """Catches tracebacks from any cut and any changed character."""
    module, target, files = LOGS[name]
    victim = data.draw(st.sampled_from(list(files)))
    for file, value in files.items():
        text = text_of(file, value)
        if file == victim:
            at = data.draw(st.integers(0, len(text) - 1))
            text = text[:at] + data.draw(
                st.sampled_from(["", "\0", "[", "}", '"', "9e999" + text[at:], "\\" + text[at:]])
            )
        write(file, text)
    check(module, tmp_path / target, tmp_path)


@pytest.mark.parametrize("layout", list(ROWS))
@FUZZ
@given(data=st.data())
def test_rows_of_details_with_other_values(layout, tmp_path, data):
    """Catches tracebacks from columns of another type than the harness writes."""
    row = damaged(ROWS[layout], data, 4)
    try:
        table = pa.Table.from_pylist([row, ROWS[layout]] if data.draw(st.booleans()) else [row])
        pq.write_table(table, tmp_path / "details_x.parquet")
    except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeError):
        return
    check(lighteval, tmp_path / "details_x.parquet", tmp_path)


@FUZZ
@given(data=st.data())
def test_details_with_changed_bytes(tmp_path, data):
    """Catches tracebacks from a Parquet file that is cut or damaged."""
    path = tmp_path / "details_x.parquet"
    pq.write_table(pa.Table.from_pylist([ROWS["new, options"]] * 3), path)
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        raw = raw[:at]
    else:
        raw[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(raw))
    check(lighteval, path, tmp_path)
