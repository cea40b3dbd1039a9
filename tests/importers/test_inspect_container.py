"""Containers of Inspect logs: zip archives with both compressions, crashed and damaged ones, documents."""

import json
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import LogError
from analysis.importers import inspect_ai
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.schema.responses import record_batch

SAME_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def rows(path, options):
    return [response for record in inspect_ai.read(path, options) for response in record.responses]


@pytest.fixture
def members(build):
    samples = {f"samples/{i}_epoch_1.json": build.sample(i) for i in (1, 2, 3)}
    header = build.header()
    start = {k: header[k] for k in ("version", "eval", "plan")}
    return {"_journal/start.json": start, **samples, "header.json": header}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_all_compressions_give_the_same_rows(tmp_path, build, members, options, method):
    """Catches archives of newer versions (Zstandard, method 93) that ``zipfile`` cannot read."""
    path = build.eval(tmp_path / "x.eval", members, method=method)
    assert [(r.item, r.output, r.logged_score) for r in rows(path, options)] == [(k, "No", "I") for k in "123"]
    assert inspect_ai.sniff(probe(path)) == Claim.LOG


def test_a_crashed_log_gives_the_samples_that_exist(eval_log, build, options):
    """Catches a log without ``header.json`` that is lost whole, or read as if it were complete."""
    found = list(inspect_ai.read(eval_log([build.sample(1)], crashed=True), options))
    assert [(r.in_file, r.responses[0].status) for r in found] == [(True, None), (False, "missing"), (False, "missing")]
    assert any("incomplete log" in note for note in found[0].notes)


def test_a_crashed_log_without_samples_is_refused(eval_log, options):
    """Catches rows from the journal alone."""
    with pytest.raises(LogError) as caught:
        rows(eval_log([], crashed=True), options)
    assert caught.value.reason == "incomplete log: no samples"
    with pytest.raises(LogError, match="header only, no samples"):
        rows(eval_log([]), options)


def test_member_names_are_never_paths(tmp_path, build, members, options):
    """Catches extraction: a name that climbs out of the archive, or is absolute, writes nothing."""
    members["samples/../../../evil.json"] = build.sample("x/../y")
    members["/etc/samples/z.json"] = b"not read"
    before = sorted(tmp_path.parent.rglob("*"))
    path = build.eval(tmp_path / "x.eval", members)
    assert [r.item for r in rows(path, options)] == ["1", "2", "3", "x/../y"]
    assert sorted(tmp_path.parent.rglob("*")) == sorted([*before, path])


def test_the_last_of_equal_member_names_counts_and_is_told(tmp_path, build, members, options):
    """Catches a sample read twice."""
    path = build.eval(tmp_path / "x.eval", members)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("samples/1_epoch_1.json", json.dumps(build.sample(1, output={"completion": "Yes"})))
    records = list(inspect_ai.read(path, options))
    assert [r.responses[0].output for r in records] == ["Yes", "No", "No"]
    assert any("repeat a name" in note for note in records[0].notes)


def test_the_sample_says_its_id_and_not_its_member(tmp_path, build, members, options):
    """Catches ids parsed from member names, where slashes and blanks are altered."""
    members["samples/a_b_epoch_9.json"] = build.sample("a/b", 2)
    found = rows(build.eval(tmp_path / "x.eval", members), options)
    assert (found[-1].item, found[-1].sample) == ("a/b", "2")
    assert found[-1].source == "x.eval:samples/a_b_epoch_9.json"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_a_bomb_is_refused_before_it_expands(tmp_path, build, members, method):
    """Catches a small archive that fills the memory."""
    members["samples/1_epoch_1.json"] = b" " * 3_000_000 + json.dumps(build.sample(1)).encode()
    path = build.eval(tmp_path / "x.eval", members, method=method)
    with pytest.raises(LogError, match=r"samples/1_epoch_1\.json: expands to"):
        rows(path, ReadOptions(tmp_path, max_member_bytes=1_000_000))
    assert len(rows(path, ReadOptions(tmp_path))) == 3


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_a_member_that_lies_about_its_size_is_damaged(tmp_path, build, members, method):
    """Catches trust in the directory: a member that claims ten bytes is not read as ten bytes."""
    path = build.eval(tmp_path / "x.eval", members, method=method)
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02", data.rindex(b"samples/3_epoch_1.json") - 46)
    data[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(LogError, match=r"samples/3_epoch_1\.json: damaged"):
        rows(path, ReadOptions(tmp_path))


def test_a_cut_archive_is_still_recognised(tmp_path, build, members, options):
    """Catches a truncated log listed as "not a log"."""
    path = build.eval(tmp_path / "x.eval", members)
    path.write_bytes(path.read_bytes()[:-200])
    assert inspect_ai.sniff(probe(path)) == Claim.LOG
    with pytest.raises(LogError, match="truncated or damaged zip archive; copy the log again"):
        rows(path, options)


@SAME_FILE
@given(data=st.data(), method=st.sampled_from([zipfile.ZIP_DEFLATED, 93]))
def test_damage_is_one_clear_error_or_harmless(tmp_path, build, members, data, method):
    """Catches tracebacks from any cut or any changed byte of an archive."""
    path = build.eval(tmp_path / "x.eval", members, method=method)
    raw = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(raw))
    assert inspect_ai.sniff(probe(path)) in Claim
    try:
        found = rows(path, ReadOptions(tmp_path))
    except LogError:
        return
    assert {r.model for r in found} == {"acme/parrot-1"}


@SAME_FILE
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"PK\x03\x04", b'{"status": "success", "eval": ', b"\x28\xb5\x2f\xfd", b"\x1f\x8b"]),
)
def test_random_bytes_are_one_clear_error(tmp_path, tail, start):
    """Catches tracebacks on files that only look like logs."""
    path = tmp_path / "x.eval"
    path.write_bytes(start + tail)
    assert inspect_ai.sniff(probe(path)) in Claim
    with pytest.raises(LogError):
        rows(path, ReadOptions(tmp_path))


odd_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value, path=()):
    """Paths to every value inside a log."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        yield from places(part, (*path, key))


@settings(SAME_FILE, max_examples=200)
@given(st.data())
def test_values_of_any_type_anywhere_are_read_or_refused(json_log, build, tmp_path, data):
    """Catches AttributeError and TypeError where a log holds another type than expected."""
    sample = build.sample(
        choices=["red", "blue"],
        input=[{"role": "user", "content": [{"type": "text", "text": "Red?"}]}],
        scores={"choice": {"value": "C", "answer": "A", "explanation": "x"}, "d": {"value": {"k": 1}}},
        limit={"type": "token"},
        events=[{"event": "model", "output": {"choices": [{"message": {"content": "ANSWER: A"}}]}}],
        model_usage={"acme/parrot-1": {"input_tokens": 3}},
        attachments={},
        error=None,
    )
    results = {"total_samples": 3, "scores": [{"name": "choice", "scorer": "choice"}]}
    log = {**build.header(results=results), "samples": [sample, build.sample("2")]}
    for path in data.draw(st.lists(st.sampled_from([p for p in places(log) if p]), min_size=1, max_size=2)):
        inside = log
        for key in path[:-1]:
            inside = inside[key] if isinstance(inside, (dict, list)) and key in dict(_pairs(inside)) else {}
        if isinstance(inside, (dict, list)) and path[-1] in dict(_pairs(inside)):
            inside[path[-1]] = data.draw(odd_values)
    path = json_log(None, log)
    try:
        found = rows(path, ReadOptions(tmp_path))
    except LogError:
        return
    extra = tuple(sorted({key for r in found for key in r.extra}))
    assert record_batch(found, extra).num_rows == len(found)


def _pairs(value):
    return value.items() if isinstance(value, dict) else enumerate(value)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ('{"status": "success", "eval": {"run_id": "r"}}', Claim.LOG),
        ('{"version": 2, "status": "error", "eval": {"task": "x', Claim.NO),
        ('{"a/b.eval": {"version": 2, "status": "success", "eval": {}}}', Claim.COMPANION),
        ('{"evalId": "x", "results": {"status": 1, "eval": 2}}', Claim.NO),
        ("[]", Claim.NO),
        ("{}", Claim.NO),
        ("", Claim.NO),
    ],
)
def test_documents_are_claimed_on_keys_that_no_other_harness_writes(tmp_path, text, claim):
    """Catches claims on nested keys, and a list of logs taken for a log."""
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    assert inspect_ai.sniff(probe(path)) == claim
