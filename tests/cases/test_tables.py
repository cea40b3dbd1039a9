"""T1 to T4: faults that users of other tools met in tables, and what happens here; with names that break pages."""

import csv
import json
import os
import random
import re
import shutil
import subprocess

import pytest

from analysis.report.content import check_names
from analysis.report.delimited import render_csv
from analysis.report.html_table import render_html
from analysis.report.latex import render_latex
from analysis.report.markdown import render_markdown

HOSTILE = (
    "a_b",
    "50%",
    "R&D #1",
    "<script>alert(1)</script>",
    "$x$",
    "=cmd()",
    "+1",
    "@sum",
    "two\nlines",
    "模型",
    "rocket \U0001f680",
    "\u202eltr \u200f",
    "x" * 300,
    "{open",
    "back\\slash ~^",
    'quo"te|pipe`tick',
)
DOCUMENT = (
    r"\documentclass{article}\usepackage{iftex}\ifPDFTeX\usepackage[T1]{fontenc}\usepackage{lmodern}\fi"
    r"\usepackage{booktabs,longtable,graphicx}\begin{document}" + "\n%s\n" + r"\end{document}" + "\n"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, report, logs_of):
    """Content of a report on models, items, units and a task with hostile names; some values are undefined."""
    rows = [
        row | {"item": f"{name} {row['item']}", "unit": f"{name} {row['item'][-1]}"}
        for i, name in enumerate(HOSTILE)
        for row in logs_of.judged(
            name, {"yes": ["Yes", "No", "?", "Yes"][: 2 + i % 3], "no": ["No", "No"][: i % 4]}, task="<b>50%_$task$"
        )
    ]
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return report(folder)


@pytest.fixture
def available():
    """Skip without a program; fail where the environment promises it."""

    def check(program: str) -> None:
        if shutil.which(program) is None:
            if os.environ.get("EVENHAND_NO_SKIPS"):
                pytest.fail(f"not available, and EVENHAND_NO_SKIPS is set: {program}")
            pytest.skip(f"no {program}")

    return check


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_t1_every_table_compiles_with_hostile_names(hostile, engine, tmp_path, available):
    """T1: catches a raw _, %, &, # or $, an open brace, a character that the engine lacks."""
    available(engine)
    source = DOCUMENT % "\n".join(render_latex(table) + r"\clearpage" for table in hostile.tables)
    (tmp_path / "all.tex").write_text(source, encoding="ascii")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout.decode("utf-8", "replace")[-2000:]
    assert "Missing character" not in (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")


def test_t1_hostile_names_run_nothing_on_pages_and_in_spreadsheets(hostile):
    """T1: catches markup of a name that reaches the page, and a cell that a spreadsheet would execute."""
    for table in hostile.tables:
        assert "<script>" not in render_html(table)
        assert "<b>50%" not in render_html(table)
        cells = [cell for row in csv.reader(render_csv(table).splitlines(keepends=True)) for cell in row]
        assert not [c for c in cells if c[:1] in "=+@\t\r" and c and not _is_number(c)]
        assert not [c for c in cells if c.startswith("-") and not _is_number(c)]
    printed = render_markdown(hostile.tables[0])
    assert len({name for name in hostile.tables[0].rows["label"]}) == len(HOSTILE)
    assert printed.count("\n|") >= len(HOSTILE)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_t1_tasks_whose_names_give_one_file_name_are_both_reported(write, report, logs_of):
    """T1: catches a report refused, or a table overwritten, because two tasks share their letters and digits."""
    tasks = ("模型一", "模型二", "2")
    rows = [row for task in tasks for row in logs_of.judged("m", {"yes": "Yes", "no": "No"}, n=4, task=task)]
    content = report(write(rows))
    check_names(content)
    names = [table.spec.name for table in content.tables]
    assert len(set(names)) == len(names)
    titles = [table.spec.title for table in content.tables if table.spec.name.startswith("cells")]
    assert sorted(title.rsplit(": ", 1)[1] for title in titles) == sorted(tasks)


def test_t2_missing_values_have_a_dash_and_a_reason_in_every_format(write, report, logs_of):
    """T2: catches a footnote that one format loses, and None, nan or inf printed for what is undefined."""
    rows = logs_of.judged("whole", {"yes": ["Yes"] * 9 + ["?"] * 3, "no": "No"})
    rows += logs_of.judged("one class", {"yes": "Yes"})
    rows += logs_of.judged("unread", {"yes": "?", "no": ""}) + logs_of.judged("one item", {"yes": ["No"]})
    content = report(write(rows))
    for table in content.tables:
        texts = {
            "tex": render_latex(table),
            "html": re.sub(r"<[^>]+>", " ", render_html(table)),
            "md": render_markdown(table),
            "csv": render_csv(table),
        }
        for kind, text in texts.items():
            assert not re.search(r"\b(None|nan|NaN|NaT|inf|Infinity|<NA>)\b", text), (table.spec.name, kind)
    for name in ("cells", "floor_tests", "contrasts"):
        table = next(t for t in content.tables if t.spec.name == name)
        for text in (render_latex(table), render_html(table), render_markdown(table), render_csv(table)):
            assert "no scored response with gold no" in re.sub(r"\s+", " ", text), name
            assert all(model in text for model in ("whole", "one class", "unread", "one item"))


def test_t2_notes_do_not_promise_a_style_that_a_format_lacks(write, report, logs_of):
    """T2: catches a note on underlined cells beside a Markdown table, which sets them in italics."""
    content = report(write(logs_of.judged("m", {"yes": "Yes", "no": "Yes"})))
    table = next(t for t in content.tables if t.spec.name == "cells")
    assert "nderlined" not in render_markdown(table)
    assert "Italic: Acc(Yes), Acc(No) &lt; 0.5." in render_markdown(table)
    assert "Underlined: Acc(Yes), Acc(No) &lt; 0.5." in render_html(table)


MODELS = {f"model {k}": (k, 12 - (k * 5) % 12) for k in range(1, 13)}


def test_t3_twelve_models_keep_their_values_under_any_shuffle(write, report, logs_of):
    """T3: catches "model 10" sorted between 1 and 2 in one column only, and an interval under the wrong model."""
    rows = [
        row
        for name, (yes, no) in MODELS.items()
        for row in logs_of.judged(
            name, {"yes": ["Yes"] * yes + ["No"] * (12 - yes), "no": ["No"] * no + ["Yes"] * (12 - no)}
        )
    ]
    printed = []
    for seed in (1, 2):
        random.Random(seed).shuffle(rows)
        content = report(write(rows))
        printed.append([render_markdown(t) for t in content.tables if t.spec.name != "files_read"])
    assert printed[0] == printed[1]
    estimates = content.data["estimates"].set_index(["model", "measure"])
    lines = {line.split("|")[1].strip(): line for line in printed[0][0].splitlines() if "| model" in line}
    assert set(lines) == set(MODELS)
    for name, (yes, no) in MODELS.items():
        floor = estimates.loc[(name, "competence_floor")]
        assert floor["estimate"] == pytest.approx(min(yes, no) / 12)
        assert f"\\[{floor['ci_low']:.3f}, {floor['ci_high']:.3f}\\]" in lines[name]
    floors = [min(MODELS[name]) for name in lines]
    assert floors == sorted(floors, reverse=True)


def test_t4_both_weightings_can_be_had_and_are_named(write, report, logs_of):
    """T4: catches one overall number of two weightings (.8654 by item, .7 by template) printed without saying which."""
    rows = [
        row | {"template": template, "item": f"{template}-{row['item']}"}
        for template, n, right in (("large", 50, 45), ("small", 5, 2))
        for gold, word in (("yes", "no"), ("no", "yes"))
        for row in logs_of.judged("m", {gold: [gold] * right + [word] * (n - right)})
    ]
    found = {}
    for weights in ("micro", "template"):
        content = report(write(rows, study=f'[study]\nweights = "{weights}"\n'))
        row = content.data["estimates"].set_index("measure").loc["acc_yes"]
        found[row["weights"]] = row["estimate"]
        printed = render_markdown(next(t for t in content.tables if t.spec.name == "cells"))
        assert f"Weighting: {row['weights']}, every {row['weights']} weighs the same within its cell." in printed
        assert content.manifest["settings"]["weights"] == row["weights"]
    assert found == pytest.approx({"item": 47 / 55, "template": 0.65})
