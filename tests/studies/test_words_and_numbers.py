"""What a yes/no report says beside its numbers: no number without a value, words that hold for the settings."""

import json
from pathlib import Path

from analysis.report.content import ReportContent
from analysis.report.formatted import format_table
from analysis.report.spec import Table
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

FEW = Resampling(flips=300, resamples=200)


def row(model: str, item: int, *, wrong: bool, unit: str, **more: str) -> dict:
    """One response; even items have the right answer Yes."""
    gold, other = ("yes", "no") if item % 2 == 0 else ("no", "yes")
    return {"model": model, "item": f"i{item}", "gold": gold, "output": other if wrong else gold, "unit": unit, **more}


def reported(folder: Path, rows: list[dict], study: str = "", **settings: object) -> ReportContent:
    """Report on the rows."""
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows))
    (folder / "study.toml").write_text(study)
    return run_report([folder], RunSettings(resampling=FEW, **settings))  # type: ignore[arg-type]


def table(content: ReportContent, name: str) -> Table:
    """Table by the start of its name."""
    return next(t for t in content.tables if t.spec.name.startswith(name))


def notes(shown: Table) -> str:
    """Everything under a table."""
    return " ".join(sentence for _, sentence in format_table(shown).notes)


def sentences(content: ReportContent) -> list[str]:
    """Every sentence that a reader sees."""
    said = [*content.summary, *content.limits, *content.attention, *content.methods]
    for section in content.sections:
        said += [*section.lead, *section.notes]
    return said + [notes(shown) for shown in content.tables]


def test_levels_of_one_unit_have_a_reason_and_no_nan(tmp_path) -> None:
    """Catches "the largest of 2 models would be nan points on average and exceed nan" in a note."""
    rows = [
        row(model, item, wrong=item % 5 == shift, unit=f"u{item // 8}", activity=("walk", "play", "fair")[item // 8])
        for shift, model in enumerate("ab")
        for item in range(24)
    ]
    content = reported(tmp_path, rows, '[factor.activity]\nbaseline = "walk"\n')
    shown = table(content, "baseline_activity")
    assert "only one unit" in notes(shown)
    assert "give no reason" not in notes(shown)
    words = [word.strip(".,;()[]") for said in sentences(content) for word in said.lower().split()]
    assert not {"nan", "inf", "undefined"} & set(words)


def test_a_one_sided_decision_beside_a_two_sided_interval_says_so(tmp_path) -> None:
    """Catches "above .5" beside an interval that holds .5 without a word on the side of the test."""
    rows = [row("a", item, wrong=item % 10 in (4, 5), unit=f"u{item}") for item in range(60)]
    content = reported(tmp_path, rows)
    assert "one-sided test at 5%" in notes(table(content, "floor_tests"))
    assert any("one-sided tests at 5%" in said for said in sentences(content))
    assert any("one-sided intersection-union" in said for said in content.methods)


def unread(rows: list[dict], every: int) -> list[dict]:
    """Rows of which each ``every``-th says nothing readable."""
    return [line | ({"output": "banana"} if at % every == 0 else {}) for at, line in enumerate(rows)]


def test_n_and_words_follow_the_treatment_of_uncertain_answers(tmp_path) -> None:
    """Catches "scored responses, answered or uncertain" and their number beside estimates without uncertain ones."""
    rows = unread([row("a", item, wrong=item % 7 == 0, unit=f"u{item}") for item in range(40)], 10)
    cells = table(reported(tmp_path, rows, uncertain="excluded"), "cells")
    assert cells.rows["n"].tolist() == [36]
    assert "answered or uncertain" not in notes(cells)
    assert "accuracy over all responses" not in notes(cells)
    cells = table(reported(tmp_path, rows), "cells")
    assert cells.rows["n"].tolist() == [40]
    assert "answered or uncertain" in notes(cells)


def test_accuracies_of_classes_name_their_own_units(tmp_path) -> None:
    """Catches "20 independent units" where each class rests on ten."""
    rows = [row("a", item, wrong=item % 7 == 0, unit=f"u{item % 20}") for item in range(60)]
    said = notes(table(reported(tmp_path, rows), "classes"))
    assert "Acc(Yes) rests, per row, on 30 responses of 10 independent units." in said
    assert "20 independent units" not in said


def test_rows_that_a_contrast_uses_are_not_called_unused(tmp_path) -> None:
    """Catches "no estimate uses" over responses that a declared contrast compares."""
    rows = []
    for level in ("un", "not"):
        rows += [
            row(m, i, wrong=i % 5 == 0, unit=f"u{i}", negation=level, pair=f"p{i}") | {"item": f"{level}{i}"}
            for m in "ab"
            for i in range(20)
        ]
    study = (
        '[study]\nexclude = { negation = ["not"] }\n[[contrast]]\nname = "prefix or word"\nfactor = "negation"\n'
        'levels = ["un", "not"]\nmatch = ["pair"]\n'
    )
    content = reported(tmp_path, rows, study)
    assert (content.data["paired_contrasts"]["n"] == 20).all()
    aside = table(content, "set_aside")
    assert aside.rows["used_by"].tolist() == ["contrast: prefix or word"] * 2
    lead = next(s.lead[0] for s in content.sections if s.title == "What was read")
    assert "40 enter the main estimates, 40 do not (40 of these are there for declared contrasts)" in lead
    counts = content.manifest["rows"]
    assert counts["used"] + sum(counts["set_aside"].values()) == counts["responses"]
