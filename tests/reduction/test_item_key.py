"""A key of items joined to the logs: every item once, nothing contradicted, nothing lost."""

from pathlib import Path
from typing import Any

import pytest

from analysis.errors import AnalysisError, StudyError
from analysis.reduction.intake import Intake, IntakeSettings, take_in
from analysis.reduction.reconciliation import reconciliation_lines
from analysis.schema.store import open_store
from analysis.schema.study import load_study

LOG = "model,item,output\nm,1,Yes.\nm,2,No.\nm,3,Yes.\nn,1,No.\n"
KEY = "item,gold,unit,polarity,factor.domain,truth\n1,yes,a,affirmative,law,0.5\n2,no,a,negated,law,\n9,no,b,,tax,1\n"


def study_in(folder: Path, *, log: str = LOG, key: str = KEY, toml: str = '[items]\nfile = "key.csv"\n') -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "log.csv").write_text(log)
    (folder / "key.csv").write_text(key)
    (folder / "study.toml").write_text(toml)
    return folder


def taken(folder: Path, *, keep_going: bool = False) -> Intake:
    study = load_study(folder / "study.toml")
    return take_in([folder], study, IntakeSettings(keep_going=keep_going), folder.parent / "store")


def stored(intake: Intake, columns: str) -> list[tuple[Any, ...]]:
    with open_store(intake.store) as con:
        return con.execute(f"SELECT {columns} FROM responses ORDER BY ALL").fetchall()


def test_what_the_key_says_is_joined_before_answers_are_read(tmp_path: Path) -> None:
    """Catches a join after reading (no gold answer, nothing read), to the wrong item, or by position."""
    rows = stored(taken(study_in(tmp_path / "s")), 'item, model, gold, answer, unit, polarity, "factor.domain", truth')
    assert rows == [
        ("1", "m", "yes", "yes", "a", "affirmative", "law", 0.5),
        ("1", "n", "yes", "no", "a", "affirmative", "law", 0.5),
        ("2", "m", "no", "no", "a", "negated", "law", None),
        ("3", "m", None, None, None, None, None, None),
    ]


def test_items_without_a_partner_are_counted_both_ways(tmp_path: Path) -> None:
    """Catches items that vanish, or stay without a gold answer, unsaid."""
    intake = taken(study_in(tmp_path / "s"))
    files = intake.files.set_index("file")
    assert files.loc["key.csv", "verdict"] == "companion"
    said = 'key of 3 items: 2 in the logs, 1 in no log ("9"), 1 items of the logs are not in it ("3")'
    assert files.loc["key.csv", "reason"] == said
    assert files.loc["key.csv", "sha256"]
    assert intake.rows == 4
    lines = "\n".join(reconciliation_lines(intake.files, intake.set_aside, intake.notes))
    assert "note (1): response to an item that key.csv does not hold" in lines


def test_a_key_by_task_tells_items_of_two_tasks_apart(tmp_path: Path) -> None:
    """Catches an item id that two tasks share joined to the first of them."""
    log = "model,task,item,output\nm,s,1,Yes\nm,t,1,Yes\nm,,1,Yes\n"
    key = "task,item,gold\ns,1,yes\nt,1,no\n,1,no\n"
    rows = stored(taken(study_in(tmp_path / "s", log=log, key=key)), "task, gold")
    assert rows == [("", "no"), ("s", "yes"), ("t", "no")]


def test_a_value_of_the_log_stays_and_may_differ_in_writing_only(tmp_path: Path) -> None:
    """Catches a gold answer of the log overwritten, and "Yes." refused beside "yes"."""
    log = "model,item,output,gold,unit\nm,1,Yes,Yes.,\nm,2,No,,z\n"
    key = "item,gold,unit\n1,yes,a\n2,no,\n"
    assert stored(taken(study_in(tmp_path / "s", log=log, key=key)), "item, gold, unit") == [
        ("1", "yes", "a"),
        ("2", "no", "z"),
    ]


@pytest.mark.parametrize(
    ("log", "name"), [("gold\nm,1,Yes,no", "gold"), ("unit\nm,1,Yes,b", "unit"), ("truth\nm,1,Yes,0.4", "truth")]
)
def test_a_contradiction_refuses_the_log_with_both_places(tmp_path: Path, log: str, name: str) -> None:
    """Catches one of two gold answers taken silently."""
    folder = study_in(tmp_path / "s", log=f"model,item,output,{log}\n")
    with pytest.raises(AnalysisError, match=rf"log\.csv: item .1. has {name} .*key\.csv:2.*correct one"):
        taken(folder)
    (folder / "good.csv").write_text("model,item,output\nn,2,No\n")
    intake = taken(folder, keep_going=True)
    assert intake.rows == 1
    assert "1 in the logs" in intake.files.set_index("file").loc["key.csv", "reason"], (
        "items of refused logs count for nothing"
    )


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("item,gold\n1,yes\n2,no\n1,yes\n", r"key\.csv:4: item .1. stands in line 2 too"),
        ("id,gold\n1,yes\n", r'key\.csv:1: no column "item"'),
        ("item\n1\n", r"key\.csv:1: nothing beside the items"),
        ("item,gold,answer\n1,yes,no\n", r"key\.csv:1: column .answer. is none that says something of an item"),
        ("item,gold,gold\n1,yes,no\n", r"key\.csv:1: column .gold. stands there twice"),
        ("item,gold\n1,yes,no\n", r"key\.csv:2: 3 cells under 2 columns"),
        ("item,gold\n,yes\n", r"key\.csv:2: no item"),
        ("item,truth\n1,\n2,much\n", r"key\.csv:3: truth must be a number, not .much."),
        ("item,truth\n1,nan\n", r"key\.csv:2: truth must be finite"),
        ('item,gold\n1,"yes\n', r"key\.csv: cannot be read"),
    ],
)
def test_a_faulty_key_is_refused_with_its_line(tmp_path: Path, key: str, message: str) -> None:
    """Catches a key read as something else than it says."""
    with pytest.raises(AnalysisError, match=message):
        taken(study_in(tmp_path / "s", key=key))


@pytest.mark.parametrize("name", ["../key.csv", "sub/../../key.csv", "/etc/passwd", "C:\\\\key.csv", "absent.csv"])
def test_a_key_lies_in_the_directory_of_the_study(tmp_path: Path, name: str) -> None:
    """Catches a study from elsewhere that reads any file of this machine."""
    (tmp_path / "key.csv").write_text(KEY)
    with pytest.raises(StudyError, match=r"\[items\] file"):
        taken(study_in(tmp_path / "s", toml=f'[items]\nfile = "{name}"\n'))


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    """Catches the same by a symbolic link."""
    folder = study_in(tmp_path / "s")
    (tmp_path / "elsewhere.csv").write_text(KEY)
    (folder / "key.csv").unlink()
    (folder / "key.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(StudyError, match="link to a place outside"):
        taken(folder)


def test_a_key_that_would_pass_for_a_log_is_none(tmp_path: Path) -> None:
    """Catches the key read as responses because a rule of [map] names its columns."""
    toml = '[items]\nfile = "key.csv"\n[map]\noutput = "item"\nmodel = { value = "m" }\n'
    folder = study_in(tmp_path / "s", log="item,x\n1,2\n", toml=toml)
    assert taken(folder).rows == 1
