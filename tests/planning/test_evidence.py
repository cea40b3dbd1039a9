"""What the page on planning says of its evidence is what the evidence holds."""

from pathlib import Path

import pandas as pd

from analysis.planning.assumed import assumed_question
from analysis.planning.assumptions import Assumptions

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "planning_power.csv"


def test_predicted_power_is_near_the_simulated_and_is_that_of_the_code() -> None:
    """Catches results of another version of the formulas, and a claim of precision that they do not bear."""
    found = pd.read_csv(RESULTS)
    assert found["predicted"].notna().all()
    two = found["design"].str.contains("x 2 wordings")
    assert found.loc[~two, "difference"].abs().max() < 0.035
    assert found.loc[two, "difference"].abs().max() < 0.045
    row = found[found["design"].str.startswith("80 units x 2 per class, rho 0, gap 0.2") & (found["effect"] == 0.05)]
    question = assumed_question("floor", Assumptions(units=80, rows_per_unit=2, gap=0.2))
    assert abs(question.power(0.05, 80) - row["predicted"].iloc[0]) < 1e-4
