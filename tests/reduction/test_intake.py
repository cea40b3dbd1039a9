"""Tests of taking logs in: every record is accounted for, nothing of a refused file remains."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError, LogError
from analysis.importers import detect
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.reduction.intake import Intake, IntakeSettings, root_of, take_in
from analysis.reduction.reconciliation import FileAccount, reconciliation_lines
from analysis.schema.map_rules import read_rules
from analysis.schema.responses import Response
from analysis.schema.store import open_store
from analysis.schema.study import Study

HEAD = "model,item,output,gold\n"
PLAIN = IntakeSettings()
KEEP = IntakeSettings(keep_going=True)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    return path


def taken(logs: Path | list[Path], store: Path, study: Study | None = None, options: IntakeSettings = PLAIN) -> Intake:
    return take_in(logs if isinstance(logs, list) else [logs], study or Study(), options, store)


def stored(store: Path, columns: str = "model, item, sample, answer, status, source") -> list[tuple[Any, ...]]:
    with open_store(store) as con:
        return con.execute(f"SELECT {columns} FROM responses ORDER BY ALL").fetchall()


def by_file(intake: Intake, column: str) -> dict[str, Any]:
    return dict(zip(intake.files["file"], intake.files[column], strict=True))


def scripted(records: list[Record], *, error: LogError | None = None) -> ModuleType:
    """A harness whose files begin with ``@@`` and hold the given records, then an error."""

    def sniff(seen: Probe) -> Claim:
        return Claim.LOG if seen.head.startswith(b"@@") else Claim.NO

    def read(path: Path, options: ReadOptions) -> Iterator[Record]:
        yield from records
        if error is not None:
            raise error

    return cast(ModuleType, SimpleNamespace(NAME="scripted", VERSIONS="1", sniff=sniff, read=read))


def response(item: str, **values: Any) -> Response:
    return Response("m", item, **values)


def test_answers_are_read_and_defaults_filled(tmp_path):
    write(tmp_path / "logs" / "a.csv", HEAD + "m,1,Yes.,yes\nm,2,perhaps,no\n")
    intake = taken(tmp_path / "logs", tmp_path / "s.parquet")
    assert stored(intake.store) == [
        ("m", "1", "0", "yes", "answered", "a.csv:2"),
        ("m", "2", "0", None, "unparsed", "a.csv:3"),
    ]
    assert (intake.records, intake.rows) == (2, 2)
    row = intake.files.iloc[0]
    content = (tmp_path / "logs" / "a.csv").read_bytes()
    assert (row["sha256"], row["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content))


def test_the_order_of_files_and_rows_does_not_matter(tmp_path):
    """A store that depended on the order would give two reports from one set of logs."""
    lines = [f"m,{i},{'Yes' if i % 3 else 'No'},yes\n" for i in range(40)]
    write(tmp_path / "x" / "a.csv", HEAD + "".join(lines[:20]))
    write(tmp_path / "x" / "b.csv", HEAD + "".join(lines[20:]))
    write(tmp_path / "y" / "b.csv", HEAD + "".join(reversed(lines[:20])))
    write(tmp_path / "y" / "a.csv", HEAD + "".join(reversed(lines[20:])))
    columns = "model, item, answer, gold, status, rule"
    stores = [taken(tmp_path / name, tmp_path / f"{name}.parquet").store for name in "xy"]
    assert stored(stores[0], columns) == stored(stores[1], columns)


# ---- the account adds up

_RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["used", "aside", "absent"]), st.integers(1, 3), st.lists(st.sampled_from("xy"), max_size=2)
    ),
    max_size=30,
)


@settings(max_examples=30, deadline=None)
@given(_RECORDS)
def test_every_record_is_used_or_set_aside(tmp_path_factory, script):
    """Catches a count of responses taken for a count of records, and planned responses taken for records."""
    folder = tmp_path_factory.mktemp("account")
    records = []
    for number, (kind, size, notes) in enumerate(script):
        answers = tuple(response(f"{number}-{i}", output="yes") for i in range(size))
        if kind == "aside":
            records.append(Record(str(number), set_aside="another filter", notes=tuple(notes)))
        else:
            records.append(Record(str(number), answers, in_file=kind == "used", notes=tuple(notes)))
    write(folder / "logs" / "a.log", "@@")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detect, "IMPORTERS", (scripted(records),))
        intake = taken(folder / "logs", folder / "s.parquet")
    row = intake.files.iloc[0]
    sizes = {kind: [size for k, size, _ in script if k == kind] for kind in ("used", "aside", "absent")}
    assert row["records"] == len(sizes["used"]) + len(sizes["aside"])
    assert (row["used"], row["set_aside"]) == (len(sizes["used"]), len(sizes["aside"]))
    assert row["planned_absent"] == sum(sizes["absent"])
    assert row["rows"] == len(stored(intake.store)) == sum(sizes["used"]) + sum(sizes["absent"])
    assert intake.set_aside["records"].sum() == row["set_aside"]
    assert intake.notes["count"].sum() == sum(len(notes) for _, _, notes in script)


@pytest.mark.parametrize("record", [Record("1"), Record("1", (response("1"),), set_aside="why")])
def test_a_record_that_is_neither_or_both_stops_the_run(tmp_path, monkeypatch, record):
    """An importer that loses a record must not go unnoticed."""
    write(tmp_path / "logs" / "a.log", "@@")
    monkeypatch.setattr(detect, "IMPORTERS", (scripted([record]),))
    with pytest.raises(AnalysisError, match="loses or doubles records"):
        taken(tmp_path / "logs", tmp_path / "s.parquet")


def test_rows_that_do_not_reach_the_store_stop_the_run():
    account = FileAccount("a", rows=3, records=3, used=3)
    with pytest.raises(AnalysisError, match="3 responses read, but 2 written"):
        account.check(2)


def test_the_printed_account_adds_up(tmp_path, monkeypatch):
    write(tmp_path / "logs" / "a.log", "@@")
    write(tmp_path / "logs" / "notes.txt", "hello")
    records = [
        Record("1", (response("1"), response("2"))),
        Record("2", set_aside="another filter: maj@3", notes=("odd",)),
        Record("", (response("3", status="missing"),), in_file=False),
    ]
    monkeypatch.setattr(detect, "IMPORTERS", (scripted(records),))
    intake = taken(tmp_path / "logs", tmp_path / "s.parquet")
    assert reconciliation_lines(intake.files, intake.set_aside, intake.notes) == [
        "a.log (scripted): 2 records = 1 used + 1 set aside; 3 responses, 1 of them planned and absent",
        "    set aside 1: another filter: maj@3",
        "    note (1): odd",
        "notes.txt: not a log: no known format",
        "total, 1 of 2 files read: 2 records = 1 used + 1 set aside; 3 responses, 1 of them planned and absent",
    ]


# ---- what cannot be read


def test_all_refused_files_are_named_at_once_and_nothing_is_written(tmp_path):
    """Stopping at the first makes a user repair a hundred files one run at a time."""
    write(tmp_path / "logs" / "a.csv", HEAD + "m,1,yes\n")
    write(tmp_path / "logs" / "b.csv", HEAD + "m,1,yes,yes\n")
    write(tmp_path / "logs" / "c.eval", "version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "logs" / "d.jsonl").symlink_to("nowhere")
    with pytest.raises(AnalysisError, match=r"(?s)3 of 4 files cannot be read.*--keep-going") as stopped:
        taken(tmp_path / "logs", tmp_path / "s.parquet")
    assert stopped.value.offenders == ("a.csv", "c.eval", "d.jsonl")
    for reason in ("line 2: has 3 cells where the header has 4", "git lfs pull", "broken symbolic link"):
        assert reason in str(stopped.value)
    assert [p.name for p in tmp_path.iterdir()] == ["logs"]


def test_keep_going_leaves_refused_files_out_and_says_so(tmp_path):
    write(tmp_path / "logs" / "a.csv", HEAD + "m,1,yes\n")
    write(tmp_path / "logs" / "b.csv", HEAD + "m,1,yes,yes\n")
    (tmp_path / "logs" / "c.csv").symlink_to("nowhere")
    intake = taken(tmp_path / "logs", tmp_path / "s.parquet", options=KEEP)
    assert by_file(intake, "verdict") == {"a.csv": "refused", "b.csv": "read", "c.csv": "unreadable"}
    assert stored(intake.store, "source") == [("b.csv:2",)]


@pytest.mark.parametrize("name", ["s.parquet", "s"])
def test_rows_of_a_file_refused_half_way_are_taken_out_again(tmp_path, name):
    """Rows written before the damage was met would be estimates from part of a log."""
    good = "".join(f"m,{i},yes,yes\n" for i in range(9000))
    write(tmp_path / "logs" / "a.csv", HEAD + "m,first,yes,yes\n")
    write(tmp_path / "logs" / "b.csv", HEAD + good + "ragged\n")
    write(tmp_path / "logs" / "c.csv", HEAD.strip() + ",colour\nm,last,yes,yes,red\n")
    intake = taken(tmp_path / "logs", tmp_path / name, options=KEEP)
    assert stored(intake.store, "item") == [("first",), ("last",)]
    assert intake.rows == 2
    assert by_file(intake, "rows") == {"a.csv": 1, "b.csv": 0, "c.csv": 1}


def test_nothing_readable_is_an_error_even_when_told_to_keep_going(tmp_path):
    write(tmp_path / "logs" / "a.csv", HEAD + "m,1\n")
    with pytest.raises(AnalysisError, match="1 of 1 file cannot be read; repair or remove them:"):
        taken(tmp_path / "logs", tmp_path / "s.parquet", options=KEEP)


def test_one_content_under_two_names_is_refused_with_both(tmp_path):
    """A copied log doubles every response, and two runs of it would agree perfectly."""
    for name in ("a.csv", "copy of a.csv"):
        write(tmp_path / "logs" / name, HEAD + "m,1,yes,yes\n")
    with pytest.raises(AnalysisError, match=r"copy of a\.csv: the same content as a\.csv"):
        taken(tmp_path / "logs", tmp_path / "s.parquet")
    assert taken(tmp_path / "logs", tmp_path / "s.parquet", options=KEEP).rows == 1


def test_models_that_answer_alike_are_no_copies_where_only_the_folder_names_them(tmp_path, monkeypatch):
    """Two models that always say Yes have lm-eval sample files of the same content; one of them was lost."""

    def read(path: Path, options: ReadOptions) -> Iterator[Record]:
        yield Record(path.name, (Response(model=path.parent.name, item="1", answer="yes", gold="no"),))

    harness = scripted([])
    harness.read = read
    monkeypatch.setattr(detect, "IMPORTERS", (harness,))
    for folder in ("llama", "mistral"):
        write(tmp_path / "logs" / folder / "samples.txt", "@@")
    assert taken(tmp_path / "logs", tmp_path / "s.parquet").rows == 2
    write(tmp_path / "logs" / "llama" / "samples_copy.txt", "@@")
    with pytest.raises(AnalysisError, match=r"llama/samples_copy\.txt: the same content as llama/samples\.txt"):
        taken(tmp_path / "logs", tmp_path / "s.parquet")


@pytest.mark.parametrize(
    ("files", "looked"), [((), "the directory is empty"), (("x.txt", "y.txt"), "looked at 2 files")]
)
def test_a_directory_without_logs_says_what_was_looked_at(tmp_path, files, looked):
    (tmp_path / "logs").mkdir()
    for name in files:
        write(tmp_path / "logs" / name, "hello")
    with pytest.raises(
        AnalysisError, match=f"no logs found in .*logs: {looked}; known formats are Inspect AI, .*standard schema"
    ):
        taken(tmp_path / "logs", tmp_path / "s.parquet")


def test_tables_without_rows_are_refused_unless_another_has_some(tmp_path):
    """Catches an empty report of a header, and a table without rows that hides the logs beside it."""
    write(tmp_path / "logs" / "a.csv", HEAD)
    with pytest.raises(AnalysisError, match=r"no rows: a\.csv has a header and nothing below it"):
        taken(tmp_path / "logs", tmp_path / "s.parquet")
    write(tmp_path / "logs" / "b.csv", HEAD + "m,1,yes,yes\n")
    assert taken(tmp_path / "logs", tmp_path / "s.parquet").rows == 1


def test_the_output_is_not_read_as_a_log(tmp_path):
    """A second run into the same directory would read its own output and double every row."""
    write(tmp_path / "a.csv", HEAD + "m,1,yes,yes\n")
    taken(tmp_path, tmp_path / "s.parquet")
    with pytest.raises(AnalysisError, match=r"s\.parquet: is the file to write and lies among the logs"):
        taken(tmp_path, tmp_path / "s.parquet")


# ---- study.toml


def test_map_and_scale_are_applied_once_however_often_a_log_is_imported(tmp_path):
    """Dividing by 100 or translating again on the second import would change the data."""
    rules, problems = read_rules({"item": "question"}, ())
    assert problems == []
    study = Study(map=rules, probability_scale="percent", kind="probability")
    write(tmp_path / "logs" / "a.csv", "model,question,probability\nm,q1,70\n")
    once = taken(tmp_path / "logs", tmp_path / "once" / "s.parquet", study).store
    twice = taken(once, tmp_path / "twice.parquet", study).store
    assert (
        stored(once, "item, probability, source")
        == stored(twice, "item, probability, source")
        == [("q1", 0.7, "a.csv:2")]
    )


def test_map_applies_to_a_harness_where_it_has_the_source(tmp_path, monkeypatch):
    """A rule for another file must not empty a column of this one."""
    rules, _ = read_rules(
        {
            "item": "elsewhere",
            "polarity": {"from": "meta.kind", "values": {"aff": "affirmative", "neg": "negated"}},
        },
        (),
    )
    write(tmp_path / "logs" / "a.log", "@@")
    records = [Record(str(i), (response(f"i{i}", extra={"meta.kind": kind}),)) for i, kind in enumerate(["aff", "neg"])]
    monkeypatch.setattr(detect, "IMPORTERS", (scripted(records),))
    store = taken(tmp_path / "logs", tmp_path / "s.parquet", Study(map=rules)).store
    assert stored(store, "item, polarity") == [("i0", "affirmative"), ("i1", "negated")]


def test_given_answers_stay_unless_they_are_to_be_read_again(tmp_path):
    write(tmp_path / "logs" / "a.csv", "model,item,output,answer,gold\nm,1,No.,yes,yes\n")
    assert stored(taken(tmp_path / "logs", tmp_path / "a.parquet").store, "answer, rule") == [("yes", "given")]
    again = taken(tmp_path / "logs", tmp_path / "b.parquet", options=IntakeSettings(reread=True)).store
    assert stored(again, "answer") == [("no",)]


def test_progress_is_told_of_every_file(tmp_path):
    for name in "ab":
        write(tmp_path / "logs" / f"{name}.csv", HEAD + f"{name},1,yes,yes\n")
    calls: list[tuple[str, int]] = []
    taken(tmp_path / "logs", tmp_path / "s.parquet", options=IntakeSettings(progress=lambda f, n: calls.append((f, n))))
    assert calls == [("a.csv", 1), ("b.csv", 2)]


def test_names_are_relative_to_the_deepest_common_directory(tmp_path):
    a, b = write(tmp_path / "x" / "a.csv", HEAD), write(tmp_path / "y" / "a.csv", HEAD)
    assert root_of([a]) == tmp_path / "x"
    assert root_of([a, b]) == root_of([tmp_path / "x", b]) == tmp_path
    with pytest.raises(AnalysisError, match="no logs were named"):
        root_of([])


def test_real_logs_are_counted_as_expected(shared, tmp_path):
    """Rows and refusals of every file of two harnesses, against counts made without the importers."""
    intake = taken(shared / "logs", tmp_path / "store", options=KEEP)
    lines = (shared / "logs" / "EXPECTED.tsv").read_text().splitlines()
    head = lines[0].split("\t")
    expected = [dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:]]
    rows, verdicts = by_file(intake, "rows"), by_file(intake, "verdict")
    checked = [e for e in expected if e["path"].startswith(("inspect", "lm_eval"))]
    wrong = [
        (e["path"], rows[e["path"]], e["n_responses"])
        for e in checked
        if (rows[e["path"]] - by_file(intake, "planned_absent")[e["path"]]) != int(e["n_responses"])
    ]
    assert wrong == []
    assert all((verdicts[e["path"]] == "read") == (e["verdict"] == "read") for e in checked)
    assert len(checked) > 40


def test_every_named_path_gives_a_log(tmp_path):
    """Catches a misnamed directory that goes unnoticed because another one has logs."""
    write(tmp_path / "a" / "a.csv", HEAD + "m,1,Yes.,yes\n")
    write(tmp_path / "b" / "notes.txt", "nothing here")
    with pytest.raises(AnalysisError, match=r"no logs found in .*b; leave it out"):
        taken([tmp_path / "a", tmp_path / "b"], tmp_path / "s.parquet")
    assert taken([tmp_path / "a", tmp_path / "a" / "a.csv"], tmp_path / "s.parquet").rows == 1


def test_a_scorer_that_no_log_has_is_refused(tmp_path, monkeypatch):
    """Catches a misspelt --scorer after which every response is unscored."""
    write(tmp_path / "logs" / "a.log", "@@")
    note = 'no scorer "nope" in this log (it has: a, b): rows are unscored'
    monkeypatch.setattr(detect, "IMPORTERS", (scripted([Record("1", (response("1", output="x"),), notes=(note,))]),))
    with pytest.raises(AnalysisError, match='no log has a scorer "nope"; they have: a, b'):
        taken(tmp_path / "logs", tmp_path / "s.parquet", options=IntakeSettings(scorer="nope"))


def test_a_filter_that_a_log_lacks_is_no_damage(tmp_path, monkeypatch):
    """Catches the advice to repair a sound file."""
    write(tmp_path / "logs" / "a.log", "@@")
    error = LogError("a.log", 'no rows of filter "x"', hint="there are: none")
    monkeypatch.setattr(detect, "IMPORTERS", (scripted([], error=error),))
    with pytest.raises(AnalysisError, match=r"name another --filter(.|\n)*there are: none"):
        taken(tmp_path / "logs", tmp_path / "s.parquet", options=IntakeSettings(filter="x"))


def test_a_misspelt_column_of_the_map_is_named(tmp_path):
    """Catches "its columns lack item" where [map] names a column that is not there."""
    write(tmp_path / "a.csv", "model,question_id,output\nm,1,Yes\n")
    rules, _ = read_rules({"item": "Question_ID"}, ())
    with pytest.raises(AnalysisError, match=r'no column "Question_ID".*did you mean "question_id"'):
        taken(tmp_path / "a.csv", tmp_path / "s.parquet", Study(map=rules))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("x.json", '{"model":"x"', "broken JSON"),
        ("x.jsonl", '{"model":"x"', "broken JSON"),
        ("x.jsonl", "", "empty file"),
        ("x.eval", "no archive", "no zip archive"),
    ],
)
def test_damaged_files_beside_logs_say_what_is_wrong(tmp_path, name, text, reason):
    """Catches a cut-off log passed over as "no known format"."""
    write(tmp_path / "logs" / "a.csv", HEAD + "m,1,Yes.,yes\n")
    write(tmp_path / "logs" / name, text)
    intake = taken(tmp_path / "logs", tmp_path / "s.parquet")
    assert by_file(intake, "verdict")[name] == "not a log"
    assert reason in by_file(intake, "reason")[name]
