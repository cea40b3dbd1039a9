"""Section of a yes/no task: every table says what its numbers are, and why one is missing."""

import json
from pathlib import Path

import pytest

from analysis.report.content import Section
from analysis.report.formatted import format_table
from analysis.report.spec import Table
from analysis.studies.run import RunSettings, run_report

#: Right answers among eight items of each cell: validity, polarity, and what the model says where Yes is right.
KINDS = [("valid", "affirmative"), ("valid", "negated"), ("invalid", "affirmative"), ("invalid", "negated")]
YES = {("valid", "affirmative"), ("invalid", "negated")}


def row(model: str, item: str, gold: str, output: str, **factors: str) -> dict:
    """One response of the standard schema."""
    return {"task": "demo", "model": model, "item": item, "gold": gold, "output": output, **factors}


def responses(*, four: bool) -> list[dict]:
    """Models: always right; right a little more often than wrong; unreadable; asked for Yes alone."""
    rows = []
    for number in range(48):
        validity, polarity = KINDS[number % 4]
        gold = "yes" if (validity, polarity) in YES else "no"
        factors = {"validity": validity, "polarity": polarity} if four else {}
        wrong = "no" if gold == "yes" else "yes"
        rows.append(row("right", f"i{number}", gold, gold, **factors))
        rows.append(row("slightly", f"i{number}", gold, gold if number // 4 < 7 else wrong, **factors))
        rows.append(row("unreadable", f"i{number}", gold, "banana", **factors))
        if gold == "yes":
            rows.append(row("half asked", f"i{number}", gold, gold, **factors))
    return rows


def task_section(folder: Path, *, four: bool, uncertain: str = "incorrect", target: str = "these") -> Section:
    """The section of the task in a report on the responses."""
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in responses(four=four)))
    (folder / "study.toml").write_text(f'[study]\ntarget = "{target}"\n')
    content = run_report([folder], RunSettings(uncertain=uncertain))
    return next(section for section in content.sections if "Yes/no" in section.title)


@pytest.fixture(scope="module", params=[True, False], ids=["four cells", "gold alone"])
def section(request, tmp_path_factory) -> Section:
    """The section of the task."""
    return task_section(tmp_path_factory.mktemp("logs"), four=request.param)


def table(section, name: str) -> Table:
    """Table of the section by the start of its name."""
    return next(t for t in section.tables if t.spec.name.startswith(name))


def notes(shown: Table) -> str:
    """Everything under a table."""
    return " ".join(sentence for _, sentence in format_table(shown).notes)


def test_every_missing_value_has_a_reason(section) -> None:
    """Catches a dash without a letter: an excluded treatment without answers, a class that was not asked."""
    for shown in section.tables:
        assert "give no reason" not in notes(shown), shown.spec.name
    columns = [h.text for h in format_table(table(section, "uncertain")).headings]
    unreadable = next(r for r in format_table(table(section, "uncertain")).rows if r.cells[0].text == "unreadable")
    assert unreadable.cells[columns.index("excluded")].missing


@pytest.mark.parametrize("options", [{"uncertain": "excluded"}, {"uncertain": "half"}, {"target": "census"}])
@pytest.mark.parametrize("four", [True, False])
def test_every_missing_value_has_a_reason_under_other_settings(tmp_path, options, four) -> None:
    """Catches dashes without a letter where nothing was answered, and where nothing is tested."""
    for shown in task_section(tmp_path, four=four, **options).tables:
        assert "give no reason" not in notes(shown), shown.spec.name


def test_only_a_floor_that_is_shown_above_is_bold(section) -> None:
    """Catches bold print of an estimate above .5 whose test leaves it undecided."""
    shown = table(section, "cells")
    decisions = dict(zip(shown.rows["model"], shown.rows["decision"], strict=True))
    assert decisions["right"] == "above"
    assert decisions["slightly"] == "undecided"
    assert shown.rows.set_index("model").loc["slightly", "competence_floor"] > 0.5
    formatted = format_table(shown)
    place = [c.name for c in shown.columns()].index("competence_floor")
    assert {r.cells[0].text for r in formatted.rows if r.cells[place].bold} == {"right"}
    assert ("bold", "Floor shown above .5") in formatted.legend
    assert "not wherever the estimate exceeds it" in notes(shown)


def test_the_floor_is_among_the_first_columns(section) -> None:
    """Catches headline columns beyond the edge of a narrow window."""
    assert [c.name for c in table(section, "cells").columns()][:3] == ["label", "competence_floor", "n"]


def test_both_class_accuracies_are_printed_with_their_intervals(section) -> None:
    """Catches a task with four cells whose Acc(Yes) and Acc(No) no table shows."""
    shown = table(section, "classes")
    formatted = format_table(shown)
    assert [h.text for h in formatted.headings][1:3] == ["Acc(Yes) [95% CI]", "Acc(No) [95% CI]"]
    right = next(r for r in formatted.rows if r.cells[0].text == "right")
    assert right.cells[1].text.startswith("1.00 [0.")
    assert right.cells[1].text == "".join(right.cells[2].parts)


def test_tables_of_a_task_are_sorted_alike(section) -> None:
    """Catches a reader who compares the same line of two tables and sees two models."""
    orders = {tuple(r.cells[0].text for r in format_table(t).rows) for t in section.tables}
    assert len(orders) == 1, orders


def test_bounds_of_the_bias_say_that_they_mix_the_classes(section) -> None:
    """Catches bounds that readers take for all answers wrong or all right."""
    shown = table(section, "uncertain")
    assert "wrong where Yes is right and right where No is right" in notes(shown)
    unreadable = shown.rows.set_index("model").loc["unreadable"]
    assert (unreadable["bias_low"], unreadable["bias_high"]) == (-1.0, 1.0)
    assert (unreadable["floor_low"], unreadable["floor_high"]) == (0.0, 1.0)


def test_adjusted_columns_are_told_apart(section) -> None:
    """Catches two columns of one heading."""
    for shown in section.tables:
        if not shown.spec.spanners:
            heads = [h.text for h in format_table(shown).headings]
            assert len(heads) == len(set(heads))


def test_read_and_used_are_told_apart(section) -> None:
    """Catches a head that counts responses no estimate uses: 3 x 48 + 24 rows, all of them readable or uncertain."""
    assert section.lead[0].startswith("4 models, 48 items and 168 responses read, 168 responses used; ")


def test_each_note_says_a_thing_once(section) -> None:
    """Catches a sentence that stands twice under one table, and abbreviations without an explanation."""
    for shown in section.tables:
        said = [sentence for mark, sentence in format_table(shown).notes if not mark]
        assert len(said) == len(set(said))
    cells = notes(table(section, "cells"))
    assert all(f"{head}: " in cells for head in ("Acc.", "Unc.", "n", "Weighting"))
    assert "Weighting: micro." not in cells
