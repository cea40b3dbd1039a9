"""What a study plans: families of tests, primary estimates, tables of its own."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.cli.main import main
from analysis.errors import StudyError
from analysis.frequentist.multiplicity import holm
from analysis.report.terminal import render_text
from analysis.schema.plan import plan_digest
from analysis.schema.report_settings import Family, Report
from analysis.schema.study import Study, load_study
from analysis.studies.context import Part
from analysis.studies.primary import EXPLORATORY, NO_ESTIMATE, primary_part

PLAN = """
[report]
primary = ["answer_bias"]

[[family]]
name = "Floor and pairs"
tests = ["floor_tests", "model_pairs"]
where = { alternative = ["greater"], measure = ["competence_floor"] }

[[table]]
name = "main"
title = "What the paper prints"
columns = ["accuracy", "answer_bias"]
headers = { accuracy = "Acc." }
order = "-accuracy"
number = "4"
label = "tab:ours"
note = "A sentence of the study."

[[table]]
name = "topics"
title = "Topics"
rows = "topic"
columns = ["accuracy"]
intervals = false
digits = 3

[[table]]
name = "impossible"
title = "Not there"
columns = ["beauty"]
"""


def logs_in(folder: Path, plan: str = PLAN) -> Path:
    """Three models on forty questions of two topics; C always says yes."""
    rng = np.random.default_rng(3)
    folder.mkdir()
    rows = []
    for model, skill in (("A", 0.95), ("B", 0.7), ("C", None)):
        for i in range(40):
            gold = ("yes", "no")[i % 2]
            right = skill is not None and rng.random() < skill
            answer = "yes" if skill is None else gold if right else ("no", "yes")[i % 2]
            topic = ("law", "art")[i // 20]
            rows.append({"model": model, "item": f"i{i}", "gold": gold, "answer": answer, "factor.topic": topic})
    pd.DataFrame(rows).to_csv(folder / "log.csv", index=False)
    (folder / "study.toml").write_text(plan, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("planned")
    logs = logs_in(root / "logs")
    assert main(["report", str(logs), "--out", str(root / "out"), "--no-bayes", "--no-pdf", "--quiet"]) == 0
    return root / "out"


def test_a_family_is_adjusted_over_all_its_tests(report):
    """Catches an adjustment table by table, or over the tests that ``where`` leaves out."""
    found = pd.read_parquet(report / "data" / "families.parquet")
    floors = pd.read_parquet(report / "data" / "floor_tests.parquet")
    pairs = pd.read_parquet(report / "data" / "model_pairs.parquet")
    pairs = pairs[pairs["measure"] == "competence_floor"]
    raw = [*floors.loc[floors["alternative"] == "greater", "p_value"], *pairs["p_value"]]
    assert len(raw) == 6
    assert found["p_value"].tolist() == pytest.approx(raw, nan_ok=True)
    assert found["p_adjusted"].tolist() == pytest.approx(holm(raw), nan_ok=True)
    assert set(found["family_size"]) == {int(np.isfinite(raw).sum())}
    tested = found["p_value"].notna()
    assert (
        found.loc[tested, "decision"] == np.where(found.loc[tested, "p_adjusted"] <= 0.05, "shown", "not shown")
    ).all()


def test_tables_beside_the_plan_are_called_exploratory(report):
    """Catches a report in which planned and unplanned results look alike."""
    page = (report / "index.html").read_text(encoding="utf-8")
    assert page.index("Primary analysis</h2>") < page.index("Tables of the study</h2>") < page.index("Yes/no task</h2>")
    task = page[page.index("Yes/no task</h2>") :]
    assert task.index(EXPLORATORY) < task.index("<table")
    assert "Primary tests, Floor and pairs: " in page


@pytest.mark.parametrize("ending", ["tex", "html", "md", "csv", "txt", "typ"])
def test_a_declared_table_is_printed_in_every_format(report, ending):
    """Catches a caption, number, label, heading or order that one of the renderers drops."""
    text = (report / "tables" / f"main.{ending}").read_text(encoding="utf-8")
    if ending == "csv":
        assert pd.read_csv(report / "tables" / "main.csv")["label"].tolist() == ["A", "B", "C"]
        return
    assert "Acc." in text
    assert "A sentence of the study." in text
    if ending == "typ":
        assert 'numbering: _ => "4",' in text
        assert "<tab:ours>" in text
    elif ending == "tex":
        assert r"\def\thetable{4}" in text
        assert r"\label{tab:ours}" in text
    else:
        assert "Table 4. What the paper prints" in text.replace("\\", "")


def test_declared_numbers_are_those_of_the_report(report):
    """Catches a measure taken from another table of results, or levels of one model as those of all."""
    estimates = pd.read_parquet(report / "data" / "estimates.parquet")
    printed = pd.read_csv(report / "tables" / "main.csv")
    wide = estimates.pivot(index="model", columns="measure", values="estimate")
    assert printed["accuracy"].tolist() == pytest.approx(wide.loc[["A", "B", "C"], "accuracy"].tolist())
    pooled = pd.read_parquet(report / "data" / "levels_pooled.parquet")
    pooled = pooled[(pooled["measure"] == "accuracy")].set_index("level")["estimate"]
    topics = pd.read_csv(report / "tables" / "topics.csv").set_index("label")["accuracy"]
    assert topics.to_dict() == pytest.approx(pooled.to_dict())


def test_what_cannot_be_printed_is_said(report):
    """Catches a declared table that vanishes without a word."""
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "Table &#x27;impossible&#x27; of study.toml cannot be printed: no estimate of &#x27;beauty&#x27;" in page
    assert not (report / "tables" / "impossible.tex").exists()


def test_only_the_chosen_tables_are_printed(tmp_path):
    """Catches ``[report] tables`` read and not obeyed, and an unknown name passed over."""
    logs = logs_in(tmp_path / "logs", '[report]\ntables = ["cells", "floor_tests", "forms"]\n')
    out = tmp_path / "out"
    assert main(["report", str(logs), "--out", str(out), "--no-bayes", "--no-pdf", "--quiet"]) == 0
    assert {path.stem for path in (out / "tables").iterdir()} == {"cells", "floor_tests"}
    assert "no table is called &#x27;forms&#x27;" in (out / "index.html").read_text(encoding="utf-8")
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["rows"]["used"] == 120


def test_families_are_part_of_the_plan_and_tables_are_not(tmp_path):
    """Catches a family that can be changed after registration, and a hash that a caption changes."""
    path = tmp_path / "study.toml"

    def digest(text: str) -> str:
        path.write_text(text, encoding="utf-8")
        return plan_digest(load_study(path))

    assert digest(PLAN) != digest(PLAN.replace('"floor_tests", ', ""))
    assert digest(PLAN) == digest(PLAN.replace("What the paper prints", "Another caption"))
    assert digest("[report]\n") == plan_digest(Study())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[family]]\nname = "a"\n', "lacks 'tests'"),
        ('[[family]]\nname = "a"\ntests = ["x"]\nmethod = "tukey"\n', "unknown value 'tukey'"),
        ('[[table]]\nname = "A b"\ntitle = "t"\ncolumns = ["accuracy"]\n', "small letters"),
        ('[[table]]\nname = "a"\ntitle = "t"\ncolumns = ["accuracy"]\ndigits = 9\n', "from 0 to 6"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(tmp_path, text, words):
    """Catches a declaration that is ignored because one of its keys is wrong."""
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=words):
        load_study(path)


def test_a_test_that_was_not_run_does_not_count():
    """Catches a family made larger by tests without a p-value, which makes the others weaker."""
    tests = pd.DataFrame({"model": ["a", "b", "c"], "p_value": [0.02, 0.03, np.nan], "reason": ["", "", "one unit"]})
    study = Study(families=(Family("f", ("t", "u")),))
    part = primary_part(study, {"t": tests}, {"a": "Model A"}, ci_level=0.95, simulated=False)
    rows = part.data["families"]
    assert rows["p_adjusted"].tolist() == pytest.approx([0.04, 0.04, np.nan], nan_ok=True)
    assert rows["what"].tolist() == ["Model A", "b", "c"]
    assert rows["reason"].tolist() == [NO_ESTIMATE, NO_ESTIMATE, "one unit"]
    assert part.attention == ("Family of tests 'f': no table of tests is called 'u'; there is t.",)
    assert part.summary == ("Primary tests, f: 2 of 2 tests shown at 5% (Holm over the family): Model A; b.",)


def four_tests() -> pd.DataFrame:
    """Four tests: two models, two alternatives."""
    rows = {"model": ["a", "a", "b", "b"], "alternative": ["greater", "less"] * 2, "p_value": [0.01, 0.9, 0.03, 0.8]}
    return pd.DataFrame(rows)


def planned(data: dict[str, pd.DataFrame], *families: Family, primary: tuple[str, ...] = ()) -> Part:
    study = Study(families=families, report=Report(primary=primary))
    part = primary_part(study, data, {"a": "Model A"}, ci_level=0.95, simulated=False)
    assert part is not None
    return part


def test_a_test_keeps_its_name_where_the_family_holds_no_other():
    """Catches a family of one model, or of one test, whose table does not say of which model it is."""
    part = planned({"t": four_tests()}, Family("f", ("t",), {"model": ("a",), "alternative": ("greater",)}))
    assert part.data["families"]["what"].tolist() == ["Model A, greater"]
    assert part.data["families"]["p_adjusted"].tolist() == [0.01]
    assert part.summary == ("Primary tests, f: 1 of 1 test shown at 5% (Holm over the family): Model A, greater.",)


def test_tests_without_any_column_that_names_them_are_counted_still():
    """Catches a traceback where a table of tests holds neither model nor measure nor kind of test."""
    part = planned({"t": pd.DataFrame({"p_value": [0.2]})}, Family("f", ("t",)))
    assert part.data["families"]["what"].tolist() == ["the test"]


def test_a_level_that_no_test_has_is_said():
    """Catches a misspelt model that makes the family smaller, and so its adjustment weaker, without a word."""
    part = planned({"t": four_tests()}, Family("f", ("t",), {"model": ("a", "B")}))
    assert part.attention == ("Family of tests 'f': no test has model 'B'; those of the others are used.",)
    assert set(part.data["families"]["family_size"]) == {2}


def test_p_values_that_are_not_adjusted_are_not_called_so():
    """Catches a column "p, adjusted" and a note on an adjustment under ``method = "none"``."""
    part = planned({"t": four_tests()}, Family("f", ("t",), method="none"))
    text = render_text(part.sections[0].tables[0])
    assert "p, adjusted" not in text
    assert "adjusted over the family" not in text
    assert "which study.toml leaves unadjusted" in " ".join(text.split())


def test_one_adjusted_number_in_every_form(report):
    """Catches an adjusted p-value that differs between page, CSV, LaTeX, ``show`` and data."""
    stem = "family_floor_and_pairs"
    data = pd.read_parquet(report / "data" / "families.parquet")["p_adjusted"]
    printed = pd.read_csv(report / "tables" / f"{stem}.csv")
    assert printed["p_adjusted"].tolist() == pytest.approx(data.tolist(), nan_ok=True)
    forms = [(report / "tables" / f"{stem}.{ending}").read_text(encoding="utf-8") for ending in ("tex", "md", "html")]
    for form in (*forms, (report / "index.html").read_text(encoding="utf-8")):
        assert "adjusted by Holm, family of" in form
        for p in data.dropna():
            assert ("0.001" if p < 0.001 else f"{p:.3f}") in form


@pytest.mark.parametrize(("measure", "stem"), [("persistent", "incoherence"), ("f1", "classification_gold")])
def test_primary_measures_come_from_the_table_that_has_them(measure, stem):
    """Catches a primary measure of coherence, belief bias or consistency that is left out without a word."""
    numbers = {"estimate": [0.4], "ci_low": [0.2], "ci_high": [0.6], "ci_level": 0.95, "ci_method": "x", "reason": ""}
    rows = pd.DataFrame({"task": "", "model": ["a"], "measure": measure} | numbers)
    part = planned({stem: rows}, primary=(measure,))
    assert part.sections[0].tables[0].rows["estimate"].tolist() == [0.4]
    assert part.attention == ()


def test_a_primary_measure_that_these_logs_do_not_have_is_said():
    """Catches a section of primary results that is empty without a word."""
    part = planned({"estimates": pd.DataFrame()}, primary=("persistent",))
    assert part.attention == ("Primary measure 'persistent': no estimate of 'persistent' here; there are none.",)
    assert part.sections[0].lead[-1] == "These logs hold nothing of it."


def test_tables_of_the_study_are_exploratory_unless_primary(report):
    """Catches a declared table that passes for the primary analysis."""
    page = (report / "index.html").read_text(encoding="utf-8")
    own = page[page.index("Tables of the study</h2>") : page.index("Yes/no task</h2>")]
    assert EXPLORATORY in own
