"""Multiple choice: floors over right options, leans to options, their joint test against statsmodels."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import SquareTable

from analysis.errors import AnalysisError
from analysis.frequentist.floor import floor_above
from analysis.frequentist.marginal_homogeneity import marginal_homogeneity
from analysis.frequentist.option_bias import EMPTY, SILENT, option_bias

LABELS = ("A", "B", "C", "D")


def rng() -> np.random.Generator:
    return np.random.default_rng(20260801)


def answers(gold: list[str], given: list[str], model: str = "m", unit: list[str] | None = None) -> pd.DataFrame:
    items = [f"q{i}" for i in range(len(gold))]
    columns = {"model": model, "item": items, "unit": items if unit is None else unit}
    return pd.DataFrame({**columns, "gold": gold, "answer": given, "n": 1})


def drawn(n: int = 120, lean: float = 0.3) -> tuple[list[str], list[str]]:
    source = np.random.default_rng(5)
    gold = [LABELS[i % 4] for i in range(n)]
    u = source.random(n)
    given = ["A" if x < lean else g if x < 0.8 else str(source.choice(LABELS)) for x, g in zip(u, gold, strict=True)]
    return gold, given


def vectors(gold: list[str], given: list[str]) -> np.ndarray:
    return np.array([[(a == k) - (g == k) for a, g in zip(given, gold, strict=True)] for k in LABELS], float)


def test_statistic_of_single_questions_is_stuart_and_maxwells() -> None:
    """Catches a covariance about the mean (Bhapkar's), and a table the wrong way round."""
    gold, given = drawn(lean=0.1)
    found = marginal_homogeneity(vectors(gold, given), rng=rng())
    table = pd.crosstab(pd.Categorical(given, LABELS), pd.Categorical(gold, LABELS), dropna=False)
    theirs = SquareTable(table.to_numpy(), shift_zeros=False).homogeneity(method="stuart_maxwell")
    assert found.statistic == pytest.approx(theirs.statistic)
    assert found.df == theirs.df == 3
    assert found.p_value == pytest.approx(chi2.sf(theirs.statistic, 3), abs=0.02)


def test_the_joint_test_does_not_know_the_order_of_units_nor_the_sides() -> None:
    """Catches a Monte-Carlo error that depends on the order of the log."""
    d = vectors(*drawn(lean=0.1))
    p = marginal_homogeneity(d, rng=rng(), flips=2000).p_value
    moved = -d[:, np.random.default_rng(1).permutation(d.shape[1])]
    assert marginal_homogeneity(moved, rng=rng(), flips=2000).p_value == p


def test_two_categories_are_mcnemars_test() -> None:
    """(b - c)^2 / (b + c) with 9 and 3: 3; the exact two-sided p-value is .146."""
    d = np.array([[1.0] * 9 + [-1.0] * 3 + [0.0] * 5])
    found = marginal_homogeneity(np.vstack([d, -d]), rng=rng())
    assert found.statistic == pytest.approx(3)
    assert (found.df, found.n_differing, found.n_clusters) == (1, 12, 17)
    assert abs(found.p_value - 0.14599609375) < 4 * found.mc_error


def test_degenerate_joint_tests() -> None:
    same = marginal_homogeneity(np.zeros((4, 5)), rng=rng())
    assert (same.p_value, same.statistic) == (1.0, 0.0)
    few = marginal_homogeneity([[1, 1, 1], [-1, -1, -1]], rng=rng(), flips=500)
    assert "3 differing units cannot give a p-value below 0.25" in few.reason
    assert np.isnan(marginal_homogeneity(np.zeros((4, 0)), rng=rng()).p_value)
    with pytest.raises(AnalysisError, match="finite"):
        marginal_homogeneity([1.0, 2.0], rng=rng())


def test_always_a_has_floor_0_and_a_guesser_lies_about_chance() -> None:
    """Balanced gold: catches overall accuracy (.25 for both) taken for the floor."""
    gold = [LABELS[i % 4] for i in range(200)]
    guess = [str(x) for x in np.random.default_rng(3).choice(LABELS, 200)]
    counts = pd.concat(
        [answers(gold, ["A"] * 200, "fixed"), answers(gold, guess, "guess"), answers(gold, gold, "good")]
    )
    found = option_bias(counts, LABELS, rng=rng(), flips=2000)
    models = found.models.set_index("model")
    assert models.loc["fixed", "competence_floor"] == 0
    assert models["chance"].eq(0.25).all()
    assert models["decision"].tolist() == ["below", "above", "undecided"], "fixed, good, guess"
    options = found.options.set_index(["model", "option"])
    assert options.loc[("fixed", "A"), "estimate"] == pytest.approx(0.75)
    assert options.loc[("fixed", "B"), "estimate"] == pytest.approx(-0.25)
    assert options.loc[("good", "A"), ["gold_share", "answer_share", "accuracy"]].tolist() == [0.25, 0.25, 1]
    assert models.loc["fixed", "lean_p_adjusted"] < 0.01
    assert models.loc["guess", "lean_p_value"] > 0.05
    assert models.loc["good", "lean_p_value"] == 1


def test_the_floors_test_is_the_intersection_union_test_at_one_in_k() -> None:
    """By hand: 30 questions an option, the worst with 12 right, n_eff = p (1 - p) / (p (1 - p) / 29)."""
    gold = [LABELS[i % 4] for i in range(120)]
    given = [g if g != "C" or i < 48 else "A" for i, g in enumerate(gold)]
    row = option_bias(answers(gold, given), LABELS, rng=rng(), flips=200).models.iloc[0]
    assert row["option"] == "C"
    assert row["competence_floor"] == pytest.approx(12 / 30)
    assert row["p_value"] == pytest.approx(float(floor_above([0.4], [29.0], [29.0], null=0.25)[1]), rel=1e-6)


@pytest.mark.parametrize(("uncertain", "accuracy"), [("incorrect", 0.5), ("half", 0.75), ("excluded", 1.0)])
def test_uncertain_answers_by_treatment_enter_no_share(uncertain: str, accuracy: float) -> None:
    counts = answers(["A", "A", "B", "B"] * 5, ["A", "", "B", "B"] * 5)
    found = option_bias(counts, ("A", "B"), rng=rng(), uncertain=uncertain, flips=200)
    a = found.options.set_index("option").loc["A"]
    assert a["accuracy"] == pytest.approx(accuracy)
    assert (a["gold_share"], a["answer_share"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_repeats_share_the_weight_of_their_question() -> None:
    """q0 asked three times, two of them right: 2/3 of one question. Catches rows that weigh 1."""
    counts = pd.DataFrame(
        {
            "model": "m",
            "item": ["q0", "q0", "q1", "q2", "q3"],
            "unit": ["q0", "q0", "q1", "q2", "q3"],
            "gold": ["A", "A", "A", "B", "B"],
            "answer": ["A", "B", "B", "B", "B"],
            "n": [2, 1, 1, 1, 1],
        }
    )
    found = option_bias(counts, ("A", "B"), rng=rng(), flips=200)
    assert found.models.loc[0, "competence_floor"] == pytest.approx(1 / 3)
    assert (found.models.loc[0, "n"], found.models.loc[0, "n_items"]) == (6, 4)
    assert found.options.set_index("option").loc["B", "answer_share"] == pytest.approx((1 / 3 + 3) / 4)


def test_what_is_missing_has_a_reason() -> None:
    """A model never asked where B is right, one that said nothing readable, an option that is never right."""
    x, y = answers(["A", "B"] * 4, ["A", "C"] * 4, "x"), answers(["A"] * 4, ["A"] * 4, "y")
    counts = pd.concat([x, y, answers(["A", "B"] * 3, [""] * 6, "z")])
    found = option_bias(counts, ("A", "B", "C"), rng=rng(), flips=200)
    models, options = found.models.set_index("model"), found.options.set_index(["model", "option"])
    assert found.golds == ("A", "B")
    assert models.loc["y", "reason"] == EMPTY
    assert models.loc["y", "decision"] == "not tested"
    assert options.loc[("x", "C"), "accuracy_reason"] == "never right"
    assert options.loc[("z", "A"), "reason"] == SILENT
    assert np.isnan(models.loc["z", "lean_p_value"])
    assert models.loc["z", "competence_floor"] == 0
