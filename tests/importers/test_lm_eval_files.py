"""Files of lm-evaluation-harness: names, the results beside the samples, recognition, damage."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import LogError
from analysis.importers import lm_eval
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.schema.responses import record_batch

SAME_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)


def rows(path, options):
    return [response for record in lm_eval.read(path, options) for response in record.responses]


def notes(path, options):
    return " | ".join(note for record in lm_eval.read(path, options) for note in record.notes)


def results(path, **changes):
    value = {"results": {"even": {"acc,none": 1.0}}, "configs": {}, "versions": {}, "lm_eval_version": "0.4.9"}
    path.write_text(json.dumps(value | changes), encoding="utf-8")


def test_the_model_is_named_by_the_results_file_of_the_same_time(samples_file, build, options, tmp_path):
    """Catches the results of another run in the same folder, and folder names where the true name is known."""
    path = samples_file([build.text_row()], "acme__a/samples_even_2025-04-01T12-00-00.5.jsonl")
    results(path.with_name("results_2025-04-01T12-00-00.9.json"), model_name="acme/other")
    assert rows(path, options)[0].model == "acme__a"
    assert "named after its folder" in notes(path, options)
    results(path.with_name("results_2025-04-01T12:00:00.5.json"), model_name="acme/a:b")
    (row,) = rows(path, options)
    assert (row.model, row.harness, notes(path, options)) == ("acme/a:b", "lm-eval 0.4.9", "")


@pytest.mark.parametrize(
    ("changes", "model"),
    [
        ({"config": {"model": "hf", "model_args": "pretrained=acme/a,dtype=auto"}}, "acme/a"),
        ({"config": {"model": "hf", "model_args": {"dtype": "auto", "pretrained": "acme/a"}}}, "acme/a"),
        ({"config": {"model": "dummy", "model_args": ""}}, "dummy"),
        ({"model_name": "", "config": None}, "unknown"),
    ],
)
def test_older_results_files_name_the_model_in_its_arguments(samples_file, build, options, tmp_path, changes, model):
    """Catches "hf" taken for a model."""
    path = samples_file([build.text_row()], "samples_even_2025-04-01T12-00-00.5.jsonl")
    results(tmp_path / "results_2025-04-01T12-00-00.5.json", **changes)
    assert rows(path, options)[0].model == model


def test_a_folder_that_anybody_may_have_named_is_no_model(samples_file, build, options):
    """Catches "results" as the name of a model."""
    path = samples_file([build.text_row()], "results/samples_even_2025-04-01T12-00-00.5.jsonl")
    assert rows(path, options)[0].model == "unknown"
    assert "names the model" in notes(path, options)


def test_the_task_of_the_oldest_names_is_known_from_the_results(samples_file, build, options, tmp_path):
    """Catches model arguments as part of the task where names have no time stamp."""
    path = samples_file([build.text_row()], "pretrained__acme__a_odd_even.jsonl", array=True)
    assert rows(path, options)[0].task == "pretrained__acme__a_odd_even"
    config = {"model": "hf", "model_args": "pretrained=acme/a"}
    results(tmp_path / "results.json", results={"even": {}, "odd_even": {}}, config=config)
    assert [(r.task, r.model) for r in rows(path, options)] == [("odd_even", "acme/a")]


def test_a_damaged_results_file_costs_the_name_and_not_the_rows(samples_file, build, options, tmp_path):
    """Catches samples refused for a fault in another file."""
    path = samples_file([build.text_row()], "samples_even_2025-04-01T12-00-00.5.jsonl")
    (tmp_path / "results_2025-04-01T12-00-00.5.json").write_text('{"results": ', encoding="utf-8")
    assert rows(path, options)[0].model == "unknown"
    assert "cannot be read" in notes(path, options)


def test_an_aggregate_is_a_companion_and_named_alone_an_error(options, tmp_path):
    """Catches an accuracy of a results file turned into rows."""
    path = tmp_path / "results_2025-04-01T12-00-00.5.json"
    results(path)
    assert lm_eval.sniff(probe(path)) == Claim.COMPANION
    with pytest.raises(LogError, match="--log_samples") as caught:
        rows(path, options)
    assert caught.value.reason == "aggregate only"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ('{"doc_id": 0, "doc": {"results": 1}, "target": "x', Claim.LOG),
        ('[\n {"doc_id": 0, "doc": {}, "resps": []}', Claim.LOG),
        ('{"doc": {"doc_id": 0}, "resps": 1}', Claim.NO),
        ('{"results": {"a": {"acc": 0.5}}, "versions": {"a": 0}, "config": {}}', Claim.COMPANION),
        ('{"results": [{"a,none": 1}], "stats": {}, "evalId": "x"}', Claim.NO),
        ('{"config_general": {}, "results": {}, "versions": {}}', Claim.NO),
        ("", Claim.NO),
        ("{}", Claim.NO),
    ],
)
def test_files_are_claimed_on_keys_that_no_other_harness_writes(tmp_path, text, claim):
    """Catches claims on nested keys and on other harnesses' aggregates."""
    path = tmp_path / "x.txt"
    path.write_text(text, encoding="utf-8")
    assert lm_eval.sniff(probe(path)) == claim


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"doc_id": 0, "doc": {}}\n{"doc_id": 1, "doc', ":2: JSON is cut off"),
        ('{"doc_id": 0, "doc": {}}\n[1]\n', "line 2 is no JSON object"),
        ('{"doc_id": 0, "doc": {}}\n{"doc": {}}\n', 'line 2 is no sample: it lacks "doc_id"'),
        ("[]", "no samples in the file"),
        ("[1", "cut off"),
        (" \n", "holds nothing but blanks"),
    ],
)
def test_files_that_cannot_be_read_name_the_line(tmp_path, options, text, message):
    """Catches tracebacks and messages without a place."""
    path = tmp_path / "samples_x_2025-04-01T12-00-00.5.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError) as caught:
        rows(path, options)
    assert message in str(caught.value)
    assert str(caught.value).startswith(path.name)


odd_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "acc", "exact_match", "doc_hash"]


@SAME_FILE
@given(st.booleans(), st.dictionaries(st.sampled_from(KEYS), odd_values, max_size=3), st.data())
def test_values_of_any_type_are_read_or_refused(samples_file, build, tmp_path, text, changes, data):
    """Catches AttributeError and TypeError where a row holds another type than expected."""
    row = (build.text_row() if text else build.choice_row()) | changes
    if data.draw(st.booleans()) and "resps" not in changes:
        row["resps"][0] = data.draw(odd_values)
    if data.draw(st.booleans()) and "arguments" not in changes:
        row["arguments"]["gen_args_0"] = data.draw(odd_values)
    path = samples_file([row])
    try:
        found = rows(path, ReadOptions(tmp_path))
    except LogError:
        return
    extra = tuple(sorted({key for r in found for key in r.extra}))
    assert record_batch(found, extra).num_rows == len(found)


@SAME_FILE
@given(st.integers(0, 2000), st.booleans())
def test_a_cut_file_is_one_clear_error_or_whole_lines(samples_file, build, tmp_path, cut, array):
    """Catches tracebacks, and half a row read as a row."""
    path = samples_file([build.text_row(i) for i in range(3)], array=array)
    data = path.read_bytes()[:cut]
    path.write_bytes(data)
    try:
        found = rows(path, ReadOptions(tmp_path))
    except LogError:
        return
    assert len(found) == 3 if array else len(found) in (data.count(b"\n"), data.count(b"\n") + 1)
