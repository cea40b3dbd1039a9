"""JSON as harnesses write it: values, lines, encodings, and messages for what cannot be read."""

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import LogError
from analysis.importers.json_text import (
    DUPLICATE_KEYS,
    REPLACED_BYTES,
    REPLACED_SURROGATES,
    JsonParser,
    read_lines,
    read_text,
    top_level_keys,
    walk_object,
)
from analysis.importers.protocol import ReadOptions


def lines(path: Path, data: bytes, **how):
    path.write_bytes(data)
    return list(read_lines(path, ReadOptions(path.parent), **how))


def test_nan_and_infinity_are_values_and_not_zero_or_missing():
    """Catches a strict parser, and one that turns NaN into None or 0."""
    value, _ = JsonParser("f").parse('{"a": NaN, "b": -Infinity, "c": null, "d": 0}')
    assert math.isnan(value["a"])
    assert value["b"] == -math.inf
    assert value["c"] is None
    assert value["d"] == 0


def test_lines_end_at_newline_alone_and_keep_their_physical_numbers(tmp_path):
    """Catches ``str.splitlines``, which cuts at U+2028, U+0085, vertical tab; and numbers that skip blank lines."""
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\U000e0041"
    data = b"\n" + json.dumps({"t": text}, ensure_ascii=False).encode() + b"\r\n\r\n" + b'{"t": "last"}'
    found = lines(tmp_path / "x.jsonl", data)
    assert [(line.number, line.value["t"]) for line in found] == [(2, text), (4, "last")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_every_encoding_gives_the_same_rows(tmp_path, encoding):
    """Catches a byte-order mark read as part of the first key, and UTF-16 cut inside a character."""
    text = '{"ä": "\u0a0a\u2028"}\n{"ä": "\u0a0d"}\n'
    data = text.encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    found = lines(tmp_path / "x.jsonl", data)
    assert [(line.number, line.value) for line in found] == [(1, {"ä": "\u0a0a\u2028"}), (2, {"ä": "\u0a0d"})]


def test_compressed_lines_are_read(tmp_path):
    """Catches a reader that takes the compressed bytes for text."""
    assert lines(tmp_path / "x.jsonl.gz", gzip.compress(b'{"a": 1}\n'))[0].value == {"a": 1}


def test_a_repeated_key_is_noted_and_the_last_value_taken():
    """Catches silence about a key that stands twice, also in a nested object."""
    value, notes = JsonParser("f").parse('{"a": {"b": 1, "b": 2}}')
    assert value == {"a": {"b": 2}}
    assert notes == (DUPLICATE_KEYS,)
    assert JsonParser("f").parse('{"a": 1}')[1] == ()


def test_half_a_surrogate_pair_is_replaced_and_noted():
    """Catches texts that fail only when they are stored as UTF-8."""
    value, notes = JsonParser("f").parse(r'{"a": ["\ud83d", "\ud83d\ude00"]}')
    assert value == {"a": ["\ufffd", "\U0001f600"]}
    assert notes == (REPLACED_SURROGATES,)


def test_bytes_that_are_not_utf8_are_replaced_and_noted(tmp_path):
    """Catches one bad byte that loses a whole log, or a replacement nobody is told of."""
    (line,) = lines(tmp_path / "x.jsonl", b'{"a": "\xff"}')
    assert line.value == {"a": "\ufffd"}
    assert line.notes == (REPLACED_BYTES,)


@pytest.mark.parametrize(
    ("data", "number", "reason"),
    [
        (b'{"a": 1}\n{"a": 2', 2, "cut off"),
        (b'{"a": 1}\n\n{"a": "x', 3, "cut off"),
        (b'{"a": 1}\n{"a" 2}\n', 2, "not valid JSON"),
        (b'{"a": 1} {"a": 2}\n', 1, "text follows"),
        (b'{"a": ' + b"[" * 100_000 + b"\n", 1, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}\n", 1, "not readable as JSON"),
    ],
)
def test_a_line_that_is_not_json_is_named(tmp_path, data, number, reason):
    """Catches tracebacks (recursion, huge integers), and errors without the line."""
    with pytest.raises(LogError) as caught:
        lines(tmp_path / "x.jsonl", data)
    assert caught.value.line == number
    assert reason in caught.value.reason


def test_a_line_beyond_the_limit_is_refused_and_one_at_the_limit_read(tmp_path):
    """Catches unbounded memory for a line that never ends, and a limit that is off by one."""
    data = b'{"a": "' + b"x" * 40 + b'"}'
    assert len(lines(tmp_path / "x.jsonl", data, max_line_bytes=len(data))) == 1
    with pytest.raises(LogError, match="longer than"):
        lines(tmp_path / "x.jsonl", data, max_line_bytes=len(data) - 1)


def test_a_pointer_of_git_lfs_is_told_from_a_damaged_log(tmp_path):
    """Catches "not valid JSON" where the remedy is to fetch the file."""
    with pytest.raises(LogError, match="git lfs pull"):
        lines(tmp_path / "x.jsonl", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")


def test_a_document_beyond_the_limit_is_refused(tmp_path):
    """Catches a document read without any bound."""
    path = tmp_path / "x.json"
    path.write_bytes(b"[" + b" " * 100 + b"]")
    with pytest.raises(LogError, match="larger than the 50 bytes"):
        read_text(path, ReadOptions(tmp_path, max_member_bytes=50))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(), json_values, max_size=5), st.lists(json_values, max_size=4), st.sampled_from([None, 2])
)
def test_walking_an_object_gives_what_parsing_it_gives(value, items, indent):
    """Catches lost members, misplaced items, and arrays confused with the streamed one."""
    text = json.dumps(value | {"samples": items}, indent=indent)
    whole = json.loads(text)
    members = list(walk_object(text, "f", stream="samples"))
    plain = {m.key: m.value for m in members if m.key != "samples"}
    assert plain == {k: v for k, v in whole.items() if k != "samples"}
    streamed = [m for m in members if m.key == "samples"]
    assert [m.index for m in streamed] == [None, *range(len(whole["samples"]))]
    assert [m.value for m in streamed[1:]] == whole["samples"]


@given(st.dictionaries(st.text(), json_values, max_size=4), st.integers(0, 200))
def test_a_cut_object_never_shows_keys_that_it_does_not_have(value, cut):
    """Catches keys found inside a text that the cut left open."""
    text = json.dumps(value, ensure_ascii=True)
    written = [json.dumps(key)[1:-1] for key in value]
    assert list(top_level_keys(text)) == written
    assert list(top_level_keys(text[:cut])) == written[: len(top_level_keys(text[:cut]))]
    assert list(top_level_keys("[" + text + "," + text + "]")) == written


@given(st.dictionaries(st.text(max_size=3), json_values, min_size=1, max_size=4), st.data())
def test_a_cut_document_is_an_error_and_nothing_else(value, data):
    """Catches endless loops and other exceptions on truncated documents."""
    text = json.dumps(value | {"samples": [1, 2]})
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(LogError):
        list(walk_object(text[:cut], "f", stream="samples"))
