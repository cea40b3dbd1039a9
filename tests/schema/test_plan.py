"""The plan's hash: equal for equal settings, another for every setting that can change a number."""

import json

import pytest

from analysis.cli.main import main
from analysis.schema.map_rules import MapRule
from analysis.schema.plan import analysis_plan, plan_digest
from analysis.schema.study import Study, load_study

TEXT = """
[study]
unit = "surface"
target = "these"
exclude = { negation = ["not"] }

[models."a/b"]
label = "A"
family = "F"

[report]
primary = ["competence_floor", "answer_bias"]
"""


def _written(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def digest(tmp_path, text, name="study.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return plan_digest(load_study(path))


def test_order_comments_labels_and_place_do_not_matter(tmp_path):
    """Catches a hash of the file's bytes, which no second file of the same plan would have."""
    other = """
# a comment
[report]
primary = ["competence_floor", "answer_bias"]
tables = ["cells"]
[study]
name = "Named"
exclude = { negation = ["not"] }
unit = "surface"
[models."a/b"]
family = "F"
label = "Another"
"""
    assert digest(tmp_path, TEXT) == digest(tmp_path, other, "other.toml")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"surface"', '"item"'),
        ('"these"', '"new_templates"'),
        ('["not"]', '["prefix"]'),
        ('"competence_floor", "answer_bias"', '"competence_floor"'),
        ('family = "F"', 'family = "G"'),
    ],
)
def test_what_changes_a_number_changes_the_hash(tmp_path, old, new):
    """Catches a setting left out of the plan."""
    assert old in TEXT
    assert digest(tmp_path, TEXT) != digest(tmp_path, TEXT.replace(old, new), "other.toml")


def test_every_setting_is_in_the_plan_or_presentation(tmp_path):
    """Catches a new setting that the plan forgets."""
    plan = analysis_plan(load_study(None))
    names = set(load_study(None).__dataclass_fields__)
    assert names - set(plan) == {"name", "path", "given", "tables", "families"}
    with_family = load_study(_written(tmp_path, '[[family]]\nname = "f"\ntests = ["floor_tests"]\n'))
    assert "families" in analysis_plan(with_family)


def test_command_prints_plan_and_hash(tmp_path, capsys):
    """Catches a printed plan of other settings than those hashed."""
    expected = digest(tmp_path, TEXT)
    assert main(["study", "plan", str(tmp_path / "study.toml")]) == 0
    printed, last = capsys.readouterr().out.rsplit("plan ", 1)
    assert last.strip() == expected
    assert json.loads(printed)["exclude"] == {"negation": ["not"]}


def test_report_prints_the_hash_of_its_plan(tmp_path):
    """Catches a report whose hash is not the one that was registered, and primary estimates that are not named."""
    logs = tmp_path / "logs"
    logs.mkdir()
    rows = [f"{m},i{i},{'yes' if i % 3 else 'no'},{'yes' if i % 2 else 'no'}" for m in "ab" for i in range(12)]
    (logs / "log.csv").write_text("model,item,answer,gold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    text = '[study]\ntarget = "these"\n[report]\nprimary = ["answer_bias"]\n'
    expected = digest(logs, text)
    out = tmp_path / "report"
    assert main(["report", str(logs), "--out", str(out), "--no-bayes", "--no-pdf", "--quiet"]) == 0
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["settings"]["plan"] == expected
    page = (out / "index.html").read_text(encoding="utf-8")
    assert expected[:16] in page
    assert "named in study.toml: answer bias; all others are exploratory" in page


def test_joined_columns_count_and_other_plans_keep_their_hash() -> None:
    """Catches a plan that was registered before columns could be joined and has another hash now."""
    alone, joined = Study(map={"item": MapRule("a")}), Study(map={"item": MapRule("a", joined=("b",))})
    assert "joined" not in analysis_plan(alone)["map"]["item"]
    assert analysis_plan(joined)["map"]["item"]["joined"] == ["b"]
    assert plan_digest(alone) != plan_digest(joined)
