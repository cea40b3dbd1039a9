"""Section on what was read: counts of files and of responses under names of their own."""

import pandas as pd

from analysis.report.formatted import format_table
from analysis.studies.reading import NAMED, REMARKS_PRINTED, reading_section

FILES = pd.DataFrame(
    [("a.jsonl", "lm-eval", "read", 30, 10, 20, 10, "")]
    + [(f"stray-{i:02}.txt", "", "not a log", 0, 0, 0, 0, "no harness writes this") for i in range(12)],
    columns=["file", "format", "verdict", "records", "used", "set_aside", "rows", "reason"],
)
STATUSES = pd.DataFrame(
    [("t", "m", 10, 10, 9, 1, 0, 0, 0, 0)],
    columns=["task", "model", "items", "rows", "answered", "unparsed", "refused", "truncated", "errored", "missing"],
)
EXCLUDED = pd.DataFrame([("t", "m", "not selected", 4)], columns=["task", "model", "reason", "rows"])
ASIDE = pd.DataFrame(
    [("a.jsonl", "another filter: maj@3", 15), ("b.jsonl", "another filter: maj@3", 1), ("a.jsonl", "blank line", 4)],
    columns=["file", "reason", "records"],
)
NO_NOTES = pd.DataFrame(columns=["file", "note", "count"])


def section(notes=NO_NOTES):
    """The section of a small reading."""
    return reading_section(FILES, STATUSES, EXCLUDED, notes, records_set_aside=ASIDE, labels={}, simulated=False)


def shown(name: str):
    """One of its tables as readers see it."""
    return format_table(next(t for t in section().tables if t.spec.name == name))


def test_records_and_responses_have_names_of_their_own() -> None:
    """Catches "used" for both the records that a file gave and the responses that an estimate uses."""
    heads = [h.text for h in shown("files_read").headings]
    assert "Records read" in heads
    assert "Records skipped" in heads
    assert not {"Used", "Set aside"} & set(heads)
    assert section().lead == ("1 file gave 10 responses of 1 model: 6 enter the estimates, 4 do not.",)


def test_records_skipped_stand_on_the_page_by_reason() -> None:
    """Catches records of another filter that no table counts, or that are listed file by file."""
    rows = [[cell.text for cell in row.cells] for row in shown("records_skipped").rows]
    assert rows == [["another filter: maj@3", "16", "2"], ["blank line", "4", "1"]]


def test_files_that_are_no_logs_are_named() -> None:
    """Catches a mistyped log that hides behind a number."""
    notes = " ".join(sentence for _, sentence in shown("files_read").notes)
    assert "that are not logs: 12 (stray-00.txt, " in notes
    assert f"stray-{NAMED - 1:02}.txt and 2 more)" in notes


def test_remarks_are_said_once_with_their_counts() -> None:
    """Catches forty lines of one remark that leave no room for others, and "1 times"."""
    rows = [(f"f{i:03}", "no stop reason", 2) for i in range(100)] + [("x", "empty prompt", 1), ("y", "odd score", 3)]
    notes = pd.DataFrame(rows, columns=["file", "note", "count"])
    assert section(notes).notes == (
        "no stop reason (200 times in 100 files, first f000)",
        "x: empty prompt",
        "y: odd score (3 times)",
    )
    many = pd.DataFrame([("f", f"note {i}", 1) for i in range(REMARKS_PRINTED + 1)], columns=["file", "note", "count"])
    assert section(many).notes[-1].startswith("1 further remark:")
