"""Questions: what they accept, how their answers hang together, and what is said where there is none."""

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from analysis.errors import AnalysisError
from analysis.frequentist.paired_intervals import paired_difference
from analysis.planning.answers import TOO_SMALL, answer, by_units, curves
from analysis.planning.assumed import KINDS, assumed_question, wordings_needed
from analysis.planning.assumptions import Assumptions
from analysis.planning.question import check_power, detectable_effect, power_curve, units_needed

USUAL: dict[str, dict[str, Any]] = {
    "change": {"discordant": 0.3},
    "persistent": {"noise": 0.3, "wordings": 3},
    "range": {"levels": 5},
    "score": {"score_sd": 0.3},
    "score-difference": {"score_sd": 0.3, "correlation": 0.4},
    "templates": {"template_sd": 0.3},
}


@pytest.mark.parametrize("name", KINDS)
def test_effect_units_and_power_are_one_relation(name: str) -> None:
    """Catches a search that solves another equation than the one whose power is printed."""
    question = assumed_question(name, Assumptions(units=400, **USUAL.get(name, {})))
    effect = detectable_effect(question)
    assert question.power(effect, 400) == pytest.approx(0.8, abs=1e-4)
    needed = int(units_needed(question, effect * 1.0001))
    assert needed <= 400
    assert question.power(effect * 1.0001, needed - 1) < 0.8
    assert np.all(np.diff(power_curve(question, np.linspace(effect / 5, effect * 1.2, 7).tolist())) > 0)
    sizes = by_units(question, effect=effect)
    assert np.all(np.diff(sizes["detectable_effect"]) < 0)
    assert sizes.loc[sizes["this_design"], "n_clusters"].tolist() == [400]


def test_new_units_beat_more_responses_per_unit() -> None:
    """Catches a design effect that does not grow with the responses of a unit: 320 single rows beat 400 on 80 units."""
    few = detectable_effect(assumed_question("floor", Assumptions(units=80, rows_per_unit=5, rho=0.3)))
    many = detectable_effect(assumed_question("floor", Assumptions(units=320, rows_per_unit=1, rho=0.3)))
    assert many < few


def test_more_wordings_beat_more_items_at_the_same_number_of_calls() -> None:
    """Catches the advice turned round: at 480 calls 5 wordings detect less than 3, and 3 less than 2."""
    found = [
        detectable_effect(assumed_question("persistent", Assumptions(units=480 // k, noise=0.3, wordings=k)))
        for k in (2, 3, 5)
    ]
    assert found[0] > found[1] > found[2]
    k = wordings_needed(Assumptions(units=83, noise=0.3), 0.1, power=0.8)
    question = [assumed_question("persistent", Assumptions(units=83, noise=0.3, wordings=int(k) - j)) for j in (0, 1)]
    assert question[0].power(0.1, 83) >= 0.8 > question[1].power(0.1, 83)
    assert np.isnan(wordings_needed(Assumptions(units=3, noise=5.0), 0.01, power=0.8))


def test_split_units_count_half_for_each_class() -> None:
    """Catches 80 items with one gold answer each counted as 80 for both classes."""
    whole = assumed_question("floor", Assumptions(units=40))
    split = assumed_question("floor", Assumptions(units=80, split_units=True))
    assert split.power(0.2, 80) == pytest.approx(whole.power(0.2, 40))


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("floors", {}, "no question 'floors'; there are floor,"),
        ("floor", {}, "floor: needs --units"),
        ("floor", {"units": 1}, "--units must be a whole number in"),
        ("floor", {"units": -5}, "--units must be"),
        ("floor", {"units": 80, "rho": 1.5}, r"--rho must lie in \[0, 1\], not 1.5"),
        ("floor", {"units": 80, "rho": float("nan")}, "--rho must lie in"),
        ("floor", {"units": 80, "rho": 0.1, "deff": 2}, "say the same thing"),
        ("floor", {"units": 80, "deff": 0.5}, "--deff must lie in"),
        ("floor", {"units": 80, "noise": 1}, "--noise says nothing about this question; it takes --units"),
        ("accuracy", {"units": 80, "accuracy": 1.0}, "--accuracy must lie above 0, below 1"),
        ("change", {"units": 80}, "change: needs --discordant"),
        ("change", {"units": 80, "discordant": 0}, "--discordant must lie above 0, below 1"),
        ("persistent", {"units": 80, "noise": -1, "wordings": 3}, "--noise must lie above 0, not -1"),
        ("persistent", {"units": 80, "noise": 1, "wordings": 1}, "--wordings must be a whole number"),
        ("range", {"units": 80, "levels": 1}, "--levels must be"),
        ("answer-bias", {"units": 80, "class_correlation": -2}, "--class-correlation must lie"),
        ("accuracy", {"units": 80, "rows_per_unit": 0}, "--rows-per-unit must lie"),
    ],
)
def test_assumptions_that_cannot_be_are_refused(name: str, given: dict, said: str) -> None:
    """Catches a traceback, a NaN or a silent answer for numbers out of their range."""
    with pytest.raises(AnalysisError, match=said):
        assumed_question(name, Assumptions(**given))


@pytest.mark.parametrize("power", [0, 1, -0.1, 80, float("nan")])
def test_powers_and_levels_are_checked(power: float) -> None:
    """Catches 80 for 80 %."""
    with pytest.raises(AnalysisError, match="power must lie strictly between 0 and 1"):
        check_power(power)
    with pytest.raises(AnalysisError, match="--level must lie strictly"):
        assumed_question("floor", Assumptions(units=80), level=power)


def test_a_design_that_shows_nothing_says_so() -> None:
    """Catches NaN without a word where no possible effect reaches the power."""
    question = assumed_question("change", Assumptions(units=4, discordant=0.1))
    found = answer(question, effect=0.5)
    assert np.isnan(found["detectable_effect"])
    assert found["reason"] == f"{TOO_SMALL}; an effect of 0.5 cannot be"
    small = assumed_question("floor", Assumptions(units=2))
    assert np.isnan(answer(small, effect=0.05)["detectable_effect"])
    assert answer(small, effect=0.05)["units_needed"] > 100


def test_curves_hold_this_design_and_others() -> None:
    """Catches a figure without the line of the design at hand."""
    found = curves(assumed_question("floor", Assumptions(units=80)), effect=0.05)
    assert set(found["n_clusters"]) == {40, 80, 160, 320}
    assert found.loc[found["this_design"], "n_clusters"].unique().tolist() == [80]
    assert found["power_at_effect"].between(0, 1).all()


@pytest.mark.parametrize(("units", "rows", "rho", "r", "d"), [(40, 1, 0.0, 0.5, 0.04), (25, 4, 0.3, 0.2, 0.05)])
def test_power_of_graded_scores_is_that_of_the_test_of_the_report(
    units: int, rows: int, rho: float, r: float, d: float
) -> None:
    """Catches the sd of right and wrong for graded scores, and models taken as independent: 4,000 simulated studies.

    Scores are normal with sd .1, so that none is outside [0, 1], ``rho`` within units,
    ``r`` between the means of both models; the test is the paired t over units of the order of models.
    """
    rng, sd, studies = np.random.default_rng(8), 0.1, 4000
    of = Assumptions(units=units, rows_per_unit=rows, rho=rho, score_sd=sd, correlation=r)
    predicted = assumed_question("score-difference", of).power(d, units)
    variance = sd**2 * (rho + (1 - rho) / rows)
    means = rng.multivariate_normal([0.5 + d, 0.5], variance * np.array([[1, r], [r, 1]]), size=(studies, units))
    n = np.full((studies, units), float(rows))
    found = paired_difference(n, rows * means[..., 0], rows * means[..., 1], ci_level=0.95)
    simulated = (found.p_value <= 0.05).mean()
    assert predicted == pytest.approx(simulated, abs=3 * np.sqrt(0.25 / studies))


def test_score_question_is_that_of_one_mean() -> None:
    """Catches a design effect that is lost: statsmodels' power of a t test at the sd of a unit's mean."""
    question = assumed_question("score", Assumptions(units=50, rows_per_unit=4, rho=0.2, score_sd=0.3))
    sd = 0.3 * np.sqrt((1 + 3 * 0.2) / 4)
    assert question.power(0.05, 50) == pytest.approx(TTestPower().power(0.05 / sd, 50, 0.05), abs=1e-9)
    with pytest.raises(AnalysisError, match="--score-sd must lie"):
        assumed_question("score", Assumptions(units=50, score_sd=0.6))
