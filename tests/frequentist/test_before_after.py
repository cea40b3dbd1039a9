"""Verdicts on a change, and gates: against independent tests, and under no change at all."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.errors import AnalysisError
from analysis.frequentist.before_after import before_after, with_verdicts
from analysis.frequentist.factor_levels import TreatedLevels, treated
from analysis.frequentist.gate_tests import Gate, gate_tests
from analysis.reduction.levels import level_arrays

NAMES = {"task": "", "before_model": "m", "after_model": "m"}


def sides(before: np.ndarray, after: np.ndarray) -> TreatedLevels:
    """Both sides from right answers (units, 2): one item per class, 20 responses each."""
    rows = [
        {
            "model": side, "item": f"{unit}{gold}", "unit": f"u{unit:03d}", "gold": gold, "cell": f"gold_{gold}",
            "n_planned": 20, "n_answered": 20, "n_uncertain": 0, "n_set_aside": 0, "n_yes": 0,
            "n_correct": right[unit, at],
        }
        for side, right in (("after", after), ("before", before))
        for unit in range(len(right))
        for at, gold in enumerate(("yes", "no"))
    ]  # fmt: skip
    return treated(level_arrays(pd.DataFrame(rows), None))


def compared(before: np.ndarray, after: np.ndarray, *, rope: float = 0.02) -> pd.DataFrame:
    rows = before_after(sides(before, after), rng=np.random.default_rng(1), flips=5000, rope=rope)
    return with_verdicts(rows.assign(**NAMES)).set_index("measure", drop=False)


def drawn(rng: np.random.Generator, yes: float, no: float, units: int = 40) -> np.ndarray:
    return rng.binomial(20, [yes, no], size=(units, 2))


def test_a_fall_is_worse_and_its_numbers_are_those_of_a_paired_t_test() -> None:
    """Catches before minus after, unpaired errors, and a verdict of the wrong sign."""
    rng = np.random.default_rng(2)
    before, after = drawn(rng, 0.8, 0.8), drawn(rng, 0.75, 0.5)
    found = compared(before, after)
    change = after.mean(axis=1) / 20 - before.mean(axis=1) / 20
    oracle = stats.ttest_1samp(change, 0)
    row = found.loc["accuracy"]
    assert row["estimate"] == pytest.approx(change.mean())
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert row["after"] - row["before"] == pytest.approx(row["estimate"])
    floor = found.loc["competence_floor"]
    assert floor["before"] == pytest.approx(before.mean(axis=0).min() / 20)
    assert floor["after"] == pytest.approx(after.mean(axis=0).min() / 20)
    assert found.loc[["competence_floor", "accuracy", "balanced_accuracy"], "verdict"].tolist() == ["worse"] * 3
    assert compared(after, before).loc["accuracy", "verdict"] == "better"


def test_bias_is_better_where_it_is_smaller_in_size_whatever_its_sign() -> None:
    """Catches a bias that falls from .3 to -.3 called better, and one that rises from -.3 to 0 called worse."""
    rng = np.random.default_rng(3)
    leaning, other = drawn(rng, 0.9, 0.5), drawn(rng, 0.5, 0.9)
    even = drawn(rng, 0.7, 0.7)
    assert compared(leaning, even).loc["answer_bias", "verdict"] == "better"
    assert compared(other, even).loc["answer_bias", "verdict"] == "better"
    assert compared(even, other).loc["answer_bias", "verdict"] == "worse"
    assert compared(leaning, other).loc["answer_bias", "verdict"] == "changed"


def test_no_change_is_unchanged_equivalent_or_undecided() -> None:
    """Catches `undecided` sold as `equivalent`, and identical logs that pass for a test."""
    rng = np.random.default_rng(4)
    before, after = drawn(rng, 0.8, 0.7), drawn(rng, 0.8, 0.7)
    assert set(compared(before, before)["verdict"]) == {"unchanged"}
    assert compared(before, before)["p_adjusted"].isna().all()
    assert compared(before[:6], after[:6]).loc["accuracy", "verdict"] == "undecided"
    assert compared(before, after, rope=0.15).loc["accuracy", "verdict"] == "equivalent"


def test_false_alarms_stay_within_the_level() -> None:
    """Catches tests that are not adjusted together: at 5 % each, one of them would alarm in far more runs."""
    rng = np.random.default_rng(5)
    runs = 120
    alarms = 0
    for _ in range(runs):
        base = rng.uniform(0.5, 0.9, size=(20, 2))
        before, after = rng.binomial(20, base), rng.binomial(20, base)
        rows = before_after(sides(before, after), rng=rng, flips=400, rope=0.001)
        alarms += bool(with_verdicts(rows)["verdict"].isin(["better", "worse", "changed"]).any())
    assert alarms <= stats.binom.ppf(0.999, runs, 0.05)


def test_gates_fail_where_the_one_sided_test_says_so() -> None:
    """Catches a gate on the point estimate, a threshold of the wrong sign, and the modes exchanged."""
    rng = np.random.default_rng(6)
    before, after = drawn(rng, 0.8, 0.8), drawn(rng, 0.72, 0.72)
    rows = compared(before, after).reset_index(drop=True)
    accuracy = rows[rows["measure"] == "accuracy"].iloc[0]
    for threshold in (-0.02, -0.08, -0.2):
        p = stats.t.cdf((accuracy["estimate"] - threshold) / accuracy["std_error"], accuracy["df"])
        gate = [Gate("accuracy", threshold)]
        shown = gate_tests(rows, gate, mode="shown").iloc[0]
        possible = gate_tests(rows, gate, mode="possible").iloc[0]
        assert shown["p_value"] == pytest.approx(p)
        assert shown["outcome"] == ("failed" if p <= 0.05 else "passed")
        assert possible["outcome"] == ("passed" if 1 - p <= 0.05 else "failed")
    rise = gate_tests(compared(after, before), [Gate("accuracy", 0.02)], mode="shown").iloc[0]
    assert (rise["guards"], rise["outcome"]) == ("rise", "failed")


def test_gates_on_nothing_are_refused_or_not_judged() -> None:
    """Catches a gate that passes since nobody looked: an unknown measure, one unit, no direction."""
    rng = np.random.default_rng(7)
    one = compared(drawn(rng, 0.9, 0.9, units=1), drawn(rng, 0.2, 0.2, units=1))
    assert gate_tests(one, [Gate("accuracy", -0.02)], mode="shown")["outcome"].tolist() == ["not judged"]
    assert gate_tests(one, [Gate("accuracy", -0.02)], mode="possible")["outcome"].tolist() == ["failed"]
    assert not one["ci_high"].gt(1).any()
    two = compared(np.array([[20, 0], [0, 20]]), np.array([[0, 20], [20, 20]]))
    assert (two.loc["accuracy", "ci_low"], two.loc["accuracy", "ci_high"]) == (-1, 1), "no difference lies beyond"
    assert one.loc["accuracy", "verdict"] in ("not tested", "undecided")
    same = compared(drawn(rng, 0.9, 0.9), drawn(rng, 0.9, 0.9))
    with pytest.raises(AnalysisError, match="polarity_sensitivity: not compared for any task"):
        gate_tests(same, [Gate("polarity_sensitivity", 0.1)], mode="shown")
    with pytest.raises(AnalysisError, match="neither direction is worse"):
        gate_tests(same, [Gate("answer_bias", 0)], mode="shown")
