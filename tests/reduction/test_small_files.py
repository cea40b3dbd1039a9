"""Small files are read and written together, and give what they would give one by one."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.reduction import file_reader, small_files
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.store import store_parts
from analysis.schema.study import Study

OPTIONS = (json.dumps(["Yes", "No"]), json.dumps(["red", "blue", "green"]))


def _write(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def _logs(folder: Path) -> Path:
    """Files of one row or two: texts, scores beside texts, options, further columns, one damaged, one copied."""
    folder.mkdir()
    for n in range(30):
        row = {
            "model": "m",
            "item": f"q{n}",
            "gold": ("yes", "no")[n % 2],
            "output": f"{('Yes', 'No')[n % 3 % 2]}, {n}.",
        }
        _write(folder, f"a{n:02}.jsonl", row, *([row | {"item": f"r{n}"}] if n % 7 == 0 else []))
    for n in range(6):
        given = {"output": "Yes."} if n % 2 else {"logged_score": str(n % 3)}
        row = {"model": "m", "task": "scored", "item": f"q{n}", "gold": "yes"}
        _write(folder, f"b{n}.jsonl", row | given, row | given | {"item": f"x{n}"})
        row = {
            "model": "m",
            "task": "options",
            "item": f"q{n}",
            "gold": "A",
            "output": "A",
            "meta.choices": OPTIONS[n > 3],
        }
        _write(folder, f"c{n}.jsonl", row)
        _write(folder, f"d{n}.jsonl", {"model": "m", "task": "more", "item": f"q{n}", "output": "No.", "Cell": "1"})
    _write(folder, "e.jsonl", *({"model": "m", "task": "long", "item": f"q{n}", "output": "Yes."} for n in range(200)))
    (folder / "f0.jsonl").write_text('{"model": "m", "item": "bad", "output": "Yes."}\n{"model": "m", ')
    (folder / "f1.jsonl").write_bytes((folder / "a03.jsonl").read_bytes())
    _write(folder, "g.jsonl", {"model": "m", "task": "last", "item": "q", "output": "Yes."})
    return folder


def _taken(logs: Path, store: Path) -> tuple[list[bytes], list[pd.DataFrame]]:
    told: list[int] = []
    settings = IntakeSettings(keep_going=True, progress=lambda _file, rows: told.append(rows))
    intake = take_in([logs], Study(), settings, store)
    assert told[-1] >= intake.rows
    return [part.read_bytes() for part in store_parts(intake.store)], [intake.files, intake.set_aside, intake.notes]


@pytest.mark.parametrize("waiting_rows", [1, 7, 8192])
def test_many_small_files_give_what_each_alone_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting_rows: int
) -> None:
    """Catches rows read under the facts of another file, swapped accounts, a damaged file that takes others along."""
    logs = _logs(tmp_path / "logs")
    monkeypatch.setattr(small_files, "WAITING_ROWS", waiting_rows)
    together = _taken(logs, tmp_path / "together")
    monkeypatch.setattr(file_reader, "is_small", lambda _rows: False)
    alone = _taken(logs, tmp_path / "alone")
    assert together[0] == alone[0]
    for found, expected in zip(together[1], alone[1], strict=True):
        pd.testing.assert_frame_equal(found, expected)
    verdicts = alone[1][0].set_index("file")["verdict"]
    assert verdicts[verdicts != "read"].to_dict() == {"f0.jsonl": "refused", "f1.jsonl": "refused"}


def test_small_files_are_read_a_few_thousand_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches work per file, and a pile of all files in memory: 30 files in batches of at most 12 rows and one file."""
    sizes: list[int] = []
    monkeypatch.setattr(small_files, "WAITING_ROWS", 12)
    monkeypatch.setattr(
        file_reader.AnswerReader,
        "read",
        lambda _self, batches, **_facts: (sizes.append(rows.num_rows) or rows for rows in batches),
    )
    (tmp_path / "logs").mkdir()
    for n in range(30):
        _write(tmp_path / "logs", f"{n:02}.jsonl", {"model": "m", "item": f"q{n}", "output": "Yes.", "answer": "yes"})
    take_in([tmp_path / "logs"], Study(), IntakeSettings(), tmp_path / "store")
    assert sizes == [12, 12, 6]
