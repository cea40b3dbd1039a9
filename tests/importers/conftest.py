"""Synthetic logs of the harnesses, written file by file in the layout that each harness uses."""

import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard

from analysis.importers.protocol import ReadOptions


def inspect_header(**changes: Any) -> dict[str, Any]:
    """Header of a log of three items and one epoch; ``dataset`` and ``config`` are merged, the rest replaced."""
    evaluation: dict[str, Any] = {
        "eval_id": "eval-1",
        "run_id": "run-1",
        "created": "2025-03-01T10:00:00+00:00",
        "task": "colours",
        "dataset": {"name": "colours", "samples": 3, "sample_ids": [1, 2, 3]},
        "model": "acme/parrot-1",
        "config": {"epochs": 1},
        "packages": {"inspect_ai": "0.3.200"},
        "scorers": [{"name": "match"}],
    }
    evaluation |= changes.pop("eval", {})
    header = {"version": 2, "status": "success", "eval": evaluation, "plan": {"config": {}}, "results": None}
    return header | changes


def inspect_sample(sample_id: Any = 1, epoch: int = 1, **changes: Any) -> dict[str, Any]:
    """A scored sample whose model said "No" where "Yes" is right."""
    sample = {
        "id": sample_id,
        "epoch": epoch,
        "input": f"Is item {sample_id} red?",
        "target": " Yes",
        "output": {
            "model": "parrot-1-2025",
            "choices": [{"message": {"role": "assistant", "content": "No"}, "stop_reason": "stop"}],
            "completion": "No",
            "usage": {"input_tokens": 9, "output_tokens": 2},
        },
        "scores": {"match": {"value": "I", "answer": "No"}},
        "metadata": {},
        "total_time": 2.5,
    }
    return sample | changes


def write_eval(path: Path, members: dict[str, Any], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write an ``.eval`` archive; method 93 is written by hand, since ``zipfile`` does not know it."""
    contents = {k: v if isinstance(v, bytes) else json.dumps(v).encode() for k, v in members.items()}
    if method != 93:
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, data in contents.items():
                archive.writestr(name, data)
        return path
    body, directory = b"", b""
    for name, data in contents.items():
        packed, label = zstandard.compress(data), name.encode()
        sizes = (zlib.crc32(data), len(packed), len(data), len(label))
        # The local header has an extra field that the directory lacks, as real archives may.
        local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 63, 0, 93, 0, 33, *sizes, 4) + label + b"\x00\x00\x00\x00"
        directory += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 63, 63, 0, 93, 0, 33, *sizes, 0, 0, 0, 0, 0, len(body))
        directory += label
        body += local + packed
    count = len(contents)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + end)
    return path


@pytest.fixture
def eval_log(tmp_path: Path) -> Callable[..., Path]:
    """Write an ``.eval`` log from samples and a header (None: crashed, only the journal)."""

    def write(samples: list[dict[str, Any]], header: dict[str, Any] | None = None, **options: Any) -> Path:
        whole = inspect_header() if header is None else header
        members: dict[str, Any] = {"_journal/start.json": {k: whole[k] for k in ("version", "eval", "plan")}}
        members |= {f"samples/{s['id']!r}_epoch_{s['epoch']}.json": s for s in samples}
        if not options.pop("crashed", False):
            members["header.json"] = whole
        return write_eval(tmp_path / "log.eval", members | options.pop("members", {}), **options)

    return write


@pytest.fixture
def json_log(tmp_path: Path) -> Callable[..., Path]:
    """Write an Inspect ``.json`` log; ``samples=None`` leaves the key out."""

    def write(samples: list[dict[str, Any]] | None, header: dict[str, Any] | None = None) -> Path:
        log = inspect_header() if header is None else header
        path = tmp_path / "log.json"
        path.write_text(json.dumps(log if samples is None else log | {"samples": samples}), encoding="utf-8")
        return path

    return write


def text_row(doc_id: int = 0, replies: tuple[str, ...] = ("yes",), **changes: Any) -> dict[str, Any]:
    """A row of a generation task."""
    row: dict[str, Any] = {
        "doc_id": doc_id,
        "doc": {"question": f"Is {doc_id} even?", "answer": "yes"},
        "target": "yes",
        "arguments": {"gen_args_0": {"arg_0": f"Q: Is {doc_id} even?\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [list(replies)],
        "filtered_resps": [replies[0]],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": f"{doc_id:064x}",
        "exact_match": 1.0,
    }
    return row | changes


def choice_row(
    doc_id: int = 0,
    values: tuple[Any, ...] = ("-2.5", "-10.5"),
    choices: tuple[str, ...] = (" yes", " no"),
    **changes: Any,
) -> dict[str, Any]:
    """A row of a log-likelihood task; the values are texts, as newer versions write them."""
    arguments = {f"gen_args_{i}": {"arg_0": f"Q {doc_id}?", "arg_1": text} for i, text in enumerate(choices)}
    row: dict[str, Any] = {
        "doc_id": doc_id,
        "doc": {"question": f"Q {doc_id}?"},
        "target": "0",
        "arguments": arguments,
        "resps": [[[value, "False"]] for value in values],
        "filtered_resps": [[value, "False"] for value in values],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"{doc_id:064x}",
        "acc": 1.0,
    }
    return row | changes


@pytest.fixture
def samples_file(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as an lm-eval sample file, JSON Lines or an indented array."""

    def write(
        rows: list[dict[str, Any]], name: str = "samples_even_2025-04-01T12-00-00.123456.jsonl", **how: Any
    ) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if how.get("array"):
            path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
        else:
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def build() -> SimpleNamespace:
    """The parts of logs, for tests that change them."""
    return SimpleNamespace(
        header=inspect_header, sample=inspect_sample, eval=write_eval, text_row=text_row, choice_row=choice_row
    )


@pytest.fixture
def options(tmp_path: Path) -> ReadOptions:
    return ReadOptions(tmp_path)
