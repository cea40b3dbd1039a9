"""The section on how answers come to be uncertain."""

from dataclasses import replace

import pandas as pd

from analysis.report.terminal import render_text
from analysis.studies import uncertain_models
from analysis.studies.uncertain_models import uncertain_models_part, uncertain_models_table
from tests.studies.task_designs import design


def found() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "account": ["two stages, by cell", "two stages", "softmax", "signal detection"],
            "elpd": [-100.0, -90.0, -101.0, -160.0],
            "difference": [0.0, 10.0, -1.0, -60.0],
            "std_error": [0.0, 3.0, 2.0, 8.0],
            "mc_error": [0.0, 0.1, 0.1, 0.1],
            "decision": ["reference", "better", "not told apart", "worse"],
            "reason": "",
            "n_units": 30,
            "n_folds": 20,
            "n": 900,
        }
    )


def test_the_table_lists_the_best_account_first_and_says_what_it_decides() -> None:
    """Catches an order by another column, a difference without its sign, a table that chooses a treatment."""
    text = render_text(uncertain_models_table(design(), found()))
    lines = text.splitlines()
    assert next(line for line in lines if "−90.0" in line).startswith("two stages, one share")
    assert "+10.0" in text
    assert "predicts worse" in text
    assert "changes no other number" in " ".join(lines)
    assert "softmax not told apart (−1.0, SE 2.0)" in uncertain_models._lead(found())[0]


def test_an_account_that_did_not_settle_is_blank_with_its_reason() -> None:
    """Catches a number from a fit that did not settle."""
    rows = found()
    rows.loc[3, ["elpd", "difference", "std_error", "mc_error"]] = float("nan")
    rows.loc[3, ["decision", "reason"]] = ["", "a fit did not settle"]
    assert "a fit did not settle" in render_text(uncertain_models_table(replace(design(), task=""), rows))


def test_without_bayesian_results_there_is_no_comparison() -> None:
    """Catches fits under --no-bayes."""

    class Nothing:
        bayes = None
        design = None

    assert uncertain_models_part(Nothing()) is None  # type: ignore[arg-type]
