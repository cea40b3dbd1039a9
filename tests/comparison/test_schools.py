"""Frequentist, unpooled and pooled estimates side by side: every reason code is provoked on purpose."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.schools import REFERENCE, Columns, Thresholds, compare_schools
from analysis.comparison.shrinkage import between_variance, expected_shift

MODELS = tuple("abcdefgh")
#: Model d near the reference value, the two columns in the same place.
NEAR = {"f__estimate": -0.07, "f__ci_low": -0.13, "f__ci_high": -0.01}
NEAR |= {"p__estimate": -0.07, "p__ci_low": -0.128, "p__ci_high": -0.012}
TRUTHS = np.array([-0.4, -0.3, -0.2, -0.15, 0.15, 0.2, 0.3, 0.4])


def columns(
    *, measure: str = "answer_bias", failed: str = "", facts: dict[str, Any] | None = None, **change: Any
) -> Columns:
    """Eight models far apart, so that nothing is shrunk; ``change`` alters the row of model d."""
    truths = TRUTHS + REFERENCE[measure]
    base = {"measure": measure, "target": "these"}

    def table(width: float, **more: Any) -> pd.DataFrame:
        rows = [
            {"model": m, "estimate": t, "ci_low": t - width, "ci_high": t + width, **base, **more}
            for m, t in zip(MODELS, truths, strict=True)
        ]
        return pd.DataFrame(rows)

    frequentist = table(0.06, std_error=0.03)
    unpooled = table(0.059)
    pooled = table(0.058)
    away = pooled["estimate"] - REFERENCE[measure]
    pooled = pooled.assign(
        p_above=np.where(away > 0.03, 0.99, 0.1), p_below=np.where(away < -0.03, 0.99, 0.1), p_rope=0.0
    )
    row = frequentist.index[frequentist["model"] == "d"]
    for name, value in change.items():
        which, column = name.split("__")
        {"f": frequentist, "p": pooled, "u": unpooled}[which].loc[row, column] = value
    known = {"min_cell": 0.3, "max_cell": 0.8, "n_eff": 200.0, "deff": 1.0, "tail": False, "lost": 0.0, "bias_z": 9.0}
    fact_rows = pd.DataFrame([{"model": m, **known} for m in MODELS])
    for name, value in (facts or {}).items():
        fact_rows.loc[fact_rows["model"] == "d", name] = value
    return Columns(frequentist, unpooled, pooled, {}, fact_rows, failed)


def row_of(found: pd.DataFrame, model: str = "d") -> pd.Series:
    return found[found["model"] == model].iloc[0]


def test_columns_that_say_the_same_agree() -> None:
    """Catches thresholds so tight, or differences so scaled, that sound columns are flagged."""
    found = compare_schools(columns())
    assert set(found["verdict"]) == {"agree"}
    assert set(found["code"]) == {""}
    assert found["software_ok"].tolist() == [True] * len(MODELS)
    assert np.allclose(found["width_ratio"], 0.058 / 0.06)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("MCMC", {"failed": "R-hat 1.3 of bias"}),
        ("TARGET", {"p__target": "new_templates", "p__ci_low": -0.9, "p__ci_high": 0.9}),
        ("BOUNDARY", {"facts": {"min_cell": 0.01}, "p__estimate": -0.12}),
        ("TAIL", {"facts": {"tail": True}, "p__estimate": -0.12}),
        ("TAIL", {"facts": {"n_eff": 12.0}, "p__estimate": -0.12}),
        ("CLUSTER", {"facts": {"deff": 4.0}, "p__ci_low": -0.165, "p__ci_high": -0.135}),
        ("CENSOR", {"measure": "competence_floor", "facts": {"lost": 0.2}, "p__estimate": 0.38}),
        ("MIN", {"measure": "competence_floor", "facts": {"bias_z": 0.3}, "p__estimate": 0.38}),
        ("ROPE", {**NEAR, "p__p_below": 0.9}),
        ("UNEXPLAINED", {"p__estimate": 0.2, "p__ci_low": 0.14, "p__ci_high": 0.26, "p__p_above": 1.0}),
    ],
)
def test_each_reason_can_be_provoked(code: str, arguments: dict[str, Any]) -> None:
    """Catches a code that no data can give, and one that is given for another cause."""
    found = row_of(compare_schools(columns(**arguments)))
    assert found["code"] == code
    assert found["words"]
    assert found["verdict"] == {"MCMC": "not shown", "UNEXPLAINED": "differ"}.get(code, "explained")


def test_shrinkage_by_as_much_as_expected_agrees_and_by_more_is_named() -> None:
    """Catches pooling sold as a conflict, and a conflict sold as pooling."""
    rng = np.random.default_rng(5)
    close = columns()
    noisy = close.frequentist.assign(estimate=rng.normal(0, 0.05, len(MODELS)), std_error=0.04)
    noisy = noisy.assign(ci_low=noisy["estimate"] - 0.08, ci_high=noisy["estimate"] + 0.08)
    shift, reliability = expected_shift(noisy["estimate"], noisy["std_error"])
    assert (reliability < 0.9).all()
    width = 0.08 * np.sqrt(reliability)
    moved = noisy["estimate"] + shift * noisy["std_error"]
    pooled = close.pooled.assign(estimate=moved, ci_low=moved - width, ci_high=moved + width, p_above=0.2, p_below=0.2)
    facts = close.facts
    found = compare_schools(Columns(noisy, close.unpooled.assign(estimate=noisy["estimate"]), pooled, {}, facts))
    assert (found["verdict"] == "agree").all()
    over = pooled.assign(estimate=pooled["estimate"] + 1.5 * noisy["std_error"] * np.sign(shift))
    found = compare_schools(Columns(noisy, close.unpooled, over, {}, facts))
    assert (found["code"] == "SHRINK").all()


def test_the_software_check_fails_on_a_wrong_weight() -> None:
    """Catches a check that cannot fail: a column half a standard error off is named."""
    found = row_of(compare_schools(columns(u__estimate=TRUTHS[3] + 0.015)))
    assert found["software_ok"] is False or not found["software_ok"]
    assert row_of(compare_schools(columns(u__estimate=TRUTHS[3] + 0.006)))["software_ok"]


def test_undefined_values_are_not_compared() -> None:
    """Catches NaN taken as agreement."""
    found = row_of(
        compare_schools(columns(f__estimate=np.nan, f__ci_low=np.nan, f__ci_high=np.nan, f__std_error=np.nan))
    )
    assert found["verdict"] == "not compared"
    assert found["code"] == ""


def test_a_decision_by_a_test_wins_over_the_interval() -> None:
    """Catches an interval read as a test where an adjusted test was made."""
    base = columns(measure="competence_floor")
    decided = Columns(
        base.frequentist, base.unpooled, base.pooled, {("h", "competence_floor"): "undecided"}, base.facts
    )
    assert row_of(compare_schools(decided), "h")["decision"] == "undecided"
    assert row_of(compare_schools(base), "h")["decision"] == "above"


def test_thresholds_are_the_callers_to_change() -> None:
    """Catches constants that a setting does not reach."""
    strict = Thresholds(shift=0.0001)
    found = compare_schools(columns(p__estimate=TRUTHS[3] + 0.003), strict)
    assert row_of(found)["verdict"] != "agree"


def test_between_variance_by_moments() -> None:
    """Catches sampling variance counted as differences between models; worked by hand."""
    assert between_variance([0.0, 1.0, 2.0], [0.5, 0.5, 0.5]) == pytest.approx(1.0 - 0.25)
    assert between_variance([0.0, 0.1, 0.2], [1.0, 1.0, 1.0]) == 0.0
    assert np.isnan(between_variance([0.0, 1.0], [0.1, 0.1]))
    shift, reliability = expected_shift([0.0, 1.0], [0.1, 0.1])
    assert shift.tolist() == [0.0, 0.0]
    assert reliability.tolist() == [1.0, 1.0]
