"""An imported file gives the report that its logs give, or the import says which settings it lacks."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import analysis as eh
from analysis.reduction.carried_settings import carry_settings, unheld_settings
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.study import Study, load_study

STUDY = """
[study]
unit = "Scenario"
factors = ["Topic"]

[map]
model = "LLM"
item = "Question"
output = "Response"
gold = { from = "Expected", values = { TRUE = "yes", FALSE = "no" } }
"""


@pytest.fixture
def logs(tmp_path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    rows = [
        f"{model},q{i},s{i // 3},{'law' if i < 12 else 'food'},{'TRUE' if i % 2 else 'FALSE'},"
        f"{'Yes.' if (i * k) % 5 < 3 else 'No.'}"
        for k, model in enumerate(("m", "n"), 2)
        for i in range(24)
    ]
    (folder / "a.csv").write_text("LLM,Question,Scenario,Topic,Expected,Response\n" + "\n".join(rows) + "\n")
    (folder / "study.toml").write_text(STUDY)
    return folder


def imported(logs: Path, store: Path) -> tuple[str, ...]:
    study = load_study(logs / "study.toml")
    take_in([logs], study, IntakeSettings(), store)
    return carry_settings(store, study)


def test_an_import_has_the_units_factors_and_estimates_of_its_logs(logs, tmp_path):
    """A unit that is lost makes every item independent: narrower intervals, other decisions."""
    store = tmp_path / "out" / "yn.parquet"
    assert imported(logs, store) == ()
    with (
        eh.read_logs(logs) as first,
        eh.read_logs(store) as second,
        eh.read_logs(store, study=logs / "study.toml") as third,
    ):
        for other in (second, third):
            factors = [
                {k.removeprefix("factor."): v for k, v in r.tasks[0].item_factors.items()} for r in (first, other)
            ]
            assert factors[0] == factors[1] == {"Topic": ("food", "law")}
            designs = [replace(r.tasks[0], unit="", assumptions=(), item_factors={}) for r in (first, other)]
            assert designs[0] == designs[1]
            assert designs[1].n_units == 8
            pd.testing.assert_frame_equal(
                eh.measures(first).drop(columns="unit"), eh.measures(other).drop(columns="unit")
            )


def test_a_unit_that_the_logs_name_themselves_is_kept_aside(logs, tmp_path):
    """Overwriting a column of the logs loses what they say."""
    text = (logs / "a.csv").read_text()
    (logs / "a.csv").write_text(text.replace("Topic", "unit", 1))
    (logs / "study.toml").write_text(STUDY.replace('factors = ["Topic"]\n', ""))
    imported(logs, tmp_path / "yn.parquet")
    query = f"SELECT DISTINCT unit, \"meta.unit\" FROM '{tmp_path / 'yn.parquet'}' WHERE item = 'q23'"
    assert duckdb.sql(query).fetchall() == [("s7", "food")]


def test_the_item_as_unit_overrides_a_unit_of_the_logs(logs, tmp_path):
    """Without the study a column unit would be believed again."""
    text = (logs / "a.csv").read_text()
    (logs / "a.csv").write_text(text.replace("Scenario", "unit", 1))
    (logs / "study.toml").write_text(STUDY.replace('"Scenario"', '"item"'))
    imported(logs, tmp_path / "yn.parquet")
    with eh.read_logs(tmp_path / "yn.parquet") as read:
        assert (read.tasks[0].n_units, read.tasks[0].unit_is_item) == (24, True)


def test_settings_without_a_column_are_named(logs, tmp_path):
    """A prior or an exclusion that is silently lost gives other numbers from the same rows."""
    (logs / "study.toml").write_text(
        STUDY.replace("[study]", '[study]\nexclude = { Topic = ["food"] }\ntarget = "new_items"')
        + '[priors]\ntemplate_sd = 2.0\n[models."m"]\nlabel = "M"\nsize = 7.5\n[[contrast]]\nfactor = "Topic"\n'
        'levels = ["law", "food"]\n'
    )
    assert imported(logs, tmp_path / "yn.parquet") == (
        "[study] target", "[study] exclude", "[models] label", "[[contrast]]", "[priors]",
    )  # fmt: skip
    assert unheld_settings(Study()) == ()
    query = f"SELECT DISTINCT model, model_size FROM '{tmp_path / 'yn.parquet'}' ORDER BY model"
    assert duckdb.sql(query).fetchall() == [("m", 7.5), ("n", None)]
