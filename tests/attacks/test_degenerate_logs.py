"""Whole reports on logs that leave nothing to compare: no crash, and no number that is none."""

import re
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.report.content import ReportContent
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=200, resamples=200))
NOT_A_NUMBER = re.compile(r"\b(nan|inf|None|NaT)\b")


def questions(*, templates: tuple[str, ...] = ("t1", "t2"), units: int = 4) -> pd.DataFrame:
    """Two models on every unit × template × cell; B is wrong on negated questions of odd units."""
    cells = product("AB", range(units), templates, ("valid", "invalid"), ("affirmative", "negated"))
    table = pd.DataFrame(list(cells), columns=["model", "unit", "template", "validity", "polarity"])
    table["item"] = table[["unit", "template", "validity", "polarity"]].astype(str).agg("|".join, axis=1)
    right = (table["validity"] == "valid") == (table["polarity"] == "affirmative")
    wrong = (table["model"] == "B") & (table["polarity"] == "negated") & (table["unit"] % 2 == 1)
    table["answer"] = (right != wrong).map({True: "yes", False: "no"})
    return table


def report(folder: Path, rows: pd.DataFrame, study: str = "") -> ReportContent:
    rows.to_csv(folder / "log.csv", index=False)
    (folder / "study.toml").write_text(study)
    return run_report([folder], SETTINGS)


def sentences(content: ReportContent) -> list[str]:
    lead = [text for section in content.sections for text in (*section.lead, *section.notes)]
    return [*content.summary, *content.limits, *content.attention, *lead]


def test_conditions_that_never_meet_are_reported_without_a_crash(tmp_path) -> None:
    """Catches a KeyError: two conditions that change together leave no pair at all, of any model."""
    both = [questions().assign(**{"factor.n": n, "factor.k": f"{n}1"}) for n in ("x", "y")]
    content = report(tmp_path, pd.concat(both), '[study]\nconditions = ["n", "k"]\n')
    assert [text for text in sentences(content) if NOT_A_NUMBER.search(text)] == []


def test_only_errored_responses_give_no_sentence_with_nan(tmp_path) -> None:
    """Catches the mean of no value in the sentence about weightings."""
    content = report(tmp_path, questions().assign(answer="", status="errored"))
    assert [text for text in sentences(content) if NOT_A_NUMBER.search(text)] == []
    assert "No model has an accuracy under any weighting." in sentences(content)


@pytest.mark.parametrize("seed", [-1, 2**32, 10**23])
def test_a_seed_that_a_generator_cannot_take_is_refused_before_any_log_is_read(tmp_path, seed) -> None:
    """Catches a traceback after everything has been read, and Bayesian columns lost to "int too big to convert"."""
    with pytest.raises(AnalysisError, match=f"--seed must lie between 0 and 4294967295, not {seed}"):
        run_report([tmp_path], RunSettings(resampling=Resampling(seed=seed)))
