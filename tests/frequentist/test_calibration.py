"""Brier score and its parts, reliability curve."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.calibration import bin_numbers, brier_parts, probability_errors, reliability_curve


def answers(n: int = 200, *, units: int = 100) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    p = np.round(rng.random(n), 2)
    return pd.DataFrame(
        {"model": "m", "unit": [f"u{i % units}" for i in range(n)], "probability": p, "truth": rng.random(n) < p}
    ).astype({"truth": float})


def test_bins_are_closed_on_the_left() -> None:
    """.3 * 10 is 2.9999…: catches a bin below the one that a decimal names, and 1 in an eleventh bin."""
    assert list(bin_numbers([0, 0.1, 0.3, 0.7, 0.999, 1])) == [0, 1, 3, 7, 9, 9]
    with pytest.raises(AnalysisError, match="bins"):
        bin_numbers([0.5], bins=1)


@pytest.mark.parametrize("exact", [False, True])
def test_parts_of_the_brier_score_add_up(exact: bool) -> None:
    """Catches a sign, and the variance within bins left out."""
    table = answers()
    truth = table["probability"] ** 2 if exact else table["truth"]
    found = brier_parts(table["probability"], truth)
    total = found["miscalibration"] - found["resolution"] + found["uncertainty"] + found["within"]
    assert found["brier"] == pytest.approx(((table["probability"] - truth) ** 2).mean())
    assert total == pytest.approx(found["brier"])


def test_murphys_parts_by_hand() -> None:
    """Says .2 (true 1 of 4) and .8 (true 3 of 4): Brier .19 = .0025 - .0625 + .25."""
    p, y = [0.2] * 4 + [0.8] * 4, [1, 0, 0, 0, 1, 1, 1, 0]
    found = brier_parts(p, y)
    assert found == {
        "brier": pytest.approx(0.19),
        "miscalibration": pytest.approx(0.0025),
        "resolution": pytest.approx(0.0625),
        "uncertainty": pytest.approx(0.25),
        "within": pytest.approx(0.0, abs=1e-12),
    }


def test_curve_counts_every_answer_once() -> None:
    """Catches a bin lost, and an interval from a handful of units."""
    table = answers()
    curve = reliability_curve(table, rng=np.random.default_rng(0), resamples=499)
    assert curve["n"].sum() == len(table)
    lowest = table[table["probability"] < 0.1]
    assert curve["estimate"].iloc[0] == pytest.approx(lowest["truth"].mean())
    few = reliability_curve(answers(12, units=3), rng=np.random.default_rng(0), resamples=99)
    assert few["ci_low"].isna().all()
    assert (few["reason"] == "fewer than five units").all()


def test_errors_of_models_and_their_intervals() -> None:
    """Catches a bias with the sign of truth minus p."""
    table = answers()
    high = table.assign(model="high", probability=(table["probability"] + 0.3).clip(upper=1))
    found = probability_errors(pd.concat([table, high]), rng=np.random.default_rng(0), resamples=499).set_index("model")
    assert found.loc["high", "bias"] > 0.1
    assert found.loc["high", "bias_low"] > 0
    assert found.loc["m", "bias_low"] < 0 < found.loc["m", "bias_high"]
    assert list(found["n"]) == [200, 200]
