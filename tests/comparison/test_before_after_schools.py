"""Posterior contrasts: known answers from constructed draws, and what either school says."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis.bayes.result import COUNTS, AnswerBiasFit
from analysis.bayes.summaries import accuracy_table
from analysis.comparison.before_after_schools import agreement, beside_tests, posterior_contrasts
from analysis.comparison.posterior_differences import posterior_differences
from analysis.errors import AnalysisError

NAMES = ("gold_yes", "gold_no")
EMPTY = pd.DataFrame()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def fit(centres: dict[str, tuple[float, ...]], *, sd: float, draws: int, seed: int) -> AnswerBiasFit:
    """A fit whose accuracies are normal about the given centres, independent between cells."""
    models = tuple(centres)
    noise = sd * rng(seed).standard_normal((2, draws, len(models), len(next(iter(centres.values())))))
    accuracy = np.array(list(centres.values())) + noise
    names = NAMES if accuracy.shape[-1] == 2 else ("VA", "VN", "IA", "IN")
    table = accuracy_table(accuracy, models, names).assign(target="these", uncertain="incorrect", likelihood=COUNTS)
    return AnswerBiasFit(
        *("", "ok", "", table, EMPTY, {"headline": COUNTS}, EMPTY, EMPTY, EMPTY, EMPTY, ()),
        {f"accuracy: {COUNTS}, these, incorrect": accuracy},
    )


def contrasts(before: AnswerBiasFit, after: AnswerBiasFit, *pairs: tuple[str, str]) -> pd.DataFrame:
    found = posterior_contrasts(before, after, pairs, target="these", uncertain="incorrect", rng=rng(), rope=0.02)
    return found.set_index(["before_model", "measure"])


def test_differences_of_normal_draws_have_the_known_median_interval_and_probabilities() -> None:
    """Catches before minus after, a one-sided interval, and a probability beyond the margin of one side only."""
    before = 0.5 + 0.03 * rng(1).standard_normal((4, 5000, 1))
    after = 0.52 + 0.04 * rng(2).standard_normal((4, 8000, 1))
    row = posterior_differences(before, after, rng=rng(), rope=0.02).iloc[0]
    sd = 0.05  # of a difference of independent normals: sqrt(.03² + .04²)
    assert row["estimate"] == pytest.approx(0.02, abs=0.0015)
    assert row["ci_low"] == pytest.approx(0.02 - 1.959964 * sd, abs=0.003)
    assert row["ci_high"] == pytest.approx(0.02 + 1.959964 * sd, abs=0.003)
    assert row["p_after_higher"] == pytest.approx(norm.cdf(0.02 / sd), abs=0.01)
    assert row["p_beyond"] == pytest.approx(norm.sf(0) + norm.cdf(-0.04 / sd), abs=0.012)
    assert 0.001 < row["mcse_probability"] < 0.006


def test_draws_of_fits_with_one_seed_are_not_paired_in_order() -> None:
    """Catches draws paired in order: noise that two fits of one seed share would cancel."""
    noise = rng(3).standard_normal((2, 2000, 1))
    row = posterior_differences(0.1 * noise, 0.1 * noise + 0.05, rng=rng(), rope=0.02).iloc[0]
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.96 * 0.1 * np.sqrt(2), rel=0.06)


def test_the_pairing_depends_on_the_generator_alone() -> None:
    """Catches a global random state."""
    sides = rng(4).random((2, 2, 300, 3))
    first, again, other = (posterior_differences(*sides, rng=rng(seed), rope=0.02) for seed in (7, 7, 8))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


@pytest.mark.parametrize(("shape", "bad"), [((2, 10, 2), 0.5), ((2, 10, 1), np.nan)])
def test_draws_that_do_not_fit_are_refused(shape: tuple[int, ...], bad: float) -> None:
    """Catches broadcasting of one quantity over others, and a NaN printed as a result."""
    with pytest.raises(AnalysisError):
        posterior_differences(np.full((2, 10, 1), 0.5), np.full(shape, bad), rng=rng(), rope=0.02)


def test_each_model_and_measure_gets_its_own_draws_and_the_four_things_are_said() -> None:
    """Catches models or measures mixed up, and same, higher, lower, open confused with each other."""
    before = fit({"b": (0.9, 0.5), "a": (0.6, 0.8), "c": (0.7, 0.7)}, sd=0.004, draws=500, seed=1)
    after = fit({"c": (0.7, 0.7), "b": (0.7, 0.7), "a": (0.615, 0.815)}, sd=0.004, draws=700, seed=2)
    found = contrasts(before, after, ("a", "a"), ("b", "b"), ("c", "c"))
    assert found.loc[("b", "competence_floor"), "estimate"] == pytest.approx(0.2, abs=0.01)
    assert found.loc[("b", "answer_bias"), "estimate"] == pytest.approx(-0.4, abs=0.01)
    assert found.loc[("b", "balanced_accuracy"), "estimate"] == pytest.approx(0.0, abs=0.01)
    says = found["posterior_says"]
    assert says["b", "competence_floor"] == "higher"
    assert says["b", "answer_bias"] == "lower"
    assert (says["c"] == "same").all()
    assert says["a", "balanced_accuracy"] == "higher", "above 0, and neither shown to be within nor beyond the margin"
    wide = fit({"a": (0.6, 0.8)}, sd=0.1, draws=500, seed=3)
    assert (contrasts(wide, after, ("a", "a"))["posterior_says"] == "open").all()
    assert "polarity_sensitivity" not in says["a"].index


def test_four_cells_have_polarity_sensitivity() -> None:
    """Catches cells taken in another order: only the affirmative ones rise here."""
    before = fit({"m": (0.6, 0.6, 0.6, 0.6)}, sd=0.01, draws=400, seed=1)
    after = fit({"m": (0.8, 0.6, 0.8, 0.6)}, sd=0.01, draws=400, seed=2)
    found = contrasts(before, after, ("m", "m"))["estimate"]
    assert found["m", "polarity_sensitivity"] == pytest.approx(0.2, abs=0.01)
    assert found["m", "answer_bias"] == pytest.approx(0, abs=0.01)


def test_a_model_without_draws_has_a_reason_and_no_number() -> None:
    """Catches NaN compared with 0 and called open."""
    before = fit({"a": (0.6, 0.8), "b": (np.nan, 0.5)}, sd=0.01, draws=200, seed=1)
    after = fit({"a": (0.6, 0.8), "b": (0.5, 0.5)}, sd=0.01, draws=200, seed=2)
    found = contrasts(before, after, ("a", "a"), ("b", "b"))
    assert found.loc["b"]["estimate"].isna().all()
    assert found.loc["b"]["reason"].str.startswith("before: no response").all()
    assert (found.loc["b"]["posterior_says"] == "not estimated").all()
    assert found.loc["a"]["estimate"].notna().all()


def test_paired_verdicts_become_words_on_the_difference() -> None:
    """Catches better taken for higher: a bias that is smaller in size went down, or up."""
    posterior = contrasts(
        fit({"m": (0.9, 0.5)}, sd=0.004, draws=300, seed=1),
        fit({"m": (0.7, 0.7)}, sd=0.004, draws=300, seed=2),
        ("m", "m"),
    ).reset_index()
    keys = {"task": "", "before_model": "m", "after_model": "m"}
    tests = pd.DataFrame(
        [
            {**keys, "measure": "answer_bias", "estimate": -0.4, "verdict": "better"},
            {**keys, "measure": "competence_floor", "estimate": 0.2, "verdict": "undecided"},
        ]
    )
    found = beside_tests(posterior.assign(task=""), tests).set_index("measure")
    assert found.loc["answer_bias", ["paired_says", "agreement"]].tolist() == ["lower", "agree"]
    assert found.loc["competence_floor", ["paired_says", "agreement"]].tolist() == ["open", "one is open"]
    assert found.loc["balanced_accuracy", ["paired_says", "agreement"]].tolist() == ["not tested", "not compared"]
    alone = beside_tests(posterior.assign(task=""), pd.DataFrame())
    assert (alone["agreement"] == "not compared").all()


def test_agreement() -> None:
    """Catches a contradiction called one that is open."""
    assert agreement("higher", "same") == agreement("higher", "lower") == "differ"
    assert agreement("not estimated", "open") == agreement("open", "not tested") == "not compared"
