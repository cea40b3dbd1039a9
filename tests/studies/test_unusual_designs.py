"""Designs of which some comparison cannot be made: what is said of it, and that nothing is said of models not asked."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.report.content import ReportContent
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=99, resamples=99))


def said_of(folder: Path, rows: pd.DataFrame) -> tuple[ReportContent, str]:
    rows.to_csv(folder / "log.csv", index=False)
    content = run_report([folder / "log.csv"], SETTINGS)
    lead = [text for section in content.sections for text in section.lead]
    notes = [text for section in content.sections for table in section.tables for text in table.notes]
    return content, "\n".join([*content.summary, *content.limits, *content.attention, *lead, *notes])


def syllogisms(models: int, strategies: tuple[str, ...] = ("direct", "steps")) -> pd.DataFrame:
    """Twelve items with believability under each strategy; every model answers some in another way."""
    rng = np.random.default_rng(1)
    cells = product(range(models), strategies, range(12))
    table = pd.DataFrame(list(cells), columns=["model", "strategy", "item"])
    table["gold"] = np.where(table["item"] % 2, "yes", "no")
    table["believability"] = np.where(table["item"] % 4 < 2, "believable", "unbelievable")
    lean = table["believability"].eq("believable") | (rng.random(len(table)) < 0.3)
    table["answer"] = np.where(lean, "yes", "no")
    return table.assign(model=table["model"].map("m{}".format))


def test_levels_that_no_model_has_both_of_are_not_compared(tmp_path: Path) -> None:
    """Catches a test that was not run reported as one that shows nothing, and a t test over 0 models."""
    rows = syllogisms(4)
    first = rows["model"].isin(["m0", "m1"])
    rows = rows[first == (rows["strategy"] == "direct")]
    _, said = said_of(tmp_path, rows)
    assert "strategy: no model answered a question under both of direct and steps: not compared." in said
    assert "no difference of accuracy is shown over" not in said
    assert "0 models" not in said
    assert "1 test could not be run." in said


def test_one_model_with_both_levels_says_nothing_of_others(tmp_path: Path) -> None:
    """Catches a t test over one model offered as a claim about other models."""
    rows = syllogisms(3)
    rows = rows[(rows["model"] == "m0") | (rows["strategy"] == "direct")]
    _, said = said_of(tmp_path, rows)
    assert "strategy: one model alone has both of direct and steps: nothing is known of other models." in said
    assert "t test over 1 model" not in said


def test_a_single_model_is_no_sample_of_models(tmp_path: Path) -> None:
    """Catches an interval over models from one of them, and a claim over "models and items"."""
    content, said = said_of(tmp_path, syllogisms(1))
    assert "One model: " in said
    assert "one model says nothing of others" in said
    assert "for other models too" not in said
    assert "ver models and items" not in said
    assert "other models is not shown" not in said
    assert any(line.startswith("strategy: no difference of accuracy is shown over") for line in content.limits)


@pytest.mark.parametrize(("models", "named"), [(2, "m0 and m1 alike"), (7, "m0, m1, m2, m3 and 3 more alike")])
def test_a_tie_at_the_first_place_names_all_that_share_it(tmp_path: Path, models: int, named: str) -> None:
    """Catches the first in the alphabet called the best of several that are equal."""
    cells = list(product(range(models), range(8)))
    rows = pd.DataFrame({"model": [f"m{m}" for m, _ in cells], "item": [f"q{i}" for _, i in cells]})
    content, _ = said_of(tmp_path, rows.assign(logged_score=[0.25 + 0.5 * (i % 2) for _, i in cells]))
    assert any(line.startswith(f"Mean score is highest for {named} (0.500); ") for line in content.summary)


def test_models_are_not_counted_as_units_of_the_design(tmp_path: Path) -> None:
    """Catches "from 4 to 12 units" where four are the models of a test over models."""
    _, said = said_of(tmp_path, syllogisms(4))
    assert "From 12 units at the observed variances" in said
