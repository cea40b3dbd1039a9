"""Printed numbers of the syllogism study: what follows from its printed columns, and what does not.

A recomputation from rounded columns has to reach the printed value within what the rounding of both allows.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.frequentist.conditions import paired_t
from analysis.frequentist.friedman import friedman_test
from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.rank_correlation import replicate_correlations
from analysis.measures.agreement import consistency_bound

#: Half a unit of the last printed digit of a percentage with one decimal; two roundings in a row double it at ties.
HALF = 0.05


@pytest.fixture(scope="module")
def published(shared) -> Path:
    return shared / "published" / "syllogisms"


def columns(path: Path) -> dict[str, np.ndarray]:
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        try:
            found[name] = np.array([float(v) if v else np.nan for v in values])
        except ValueError:
            found[name] = np.array(values)
    return found


@pytest.fixture(scope="module")
def metrics(published):
    return columns(published / "table03_metrics.csv")


@pytest.fixture(scope="module")
def bias(published):
    return columns(published / "table04_belief_bias.csv")


@pytest.fixture(scope="module")
def tests(published):
    table = columns(published / "table05_tests.csv")
    return {name: {k: v[i] for k, v in table.items()} for i, name in enumerate(table["analysis"])}


@pytest.fixture(scope="module")
def quoted(published):
    table = columns(published / "quoted_figures.csv")
    return {(q, s): v for q, s, v in zip(table["quantity"], table["subject"], table["value"], strict=True)}


def reachable(values: np.ndarray, statistic, rng: np.random.Generator, draws: int = 4000) -> tuple[float, float]:
    """Smallest and largest value of a statistic of columns that round to the printed ones."""
    moved = values + rng.uniform(-HALF, HALF, (draws, *values.shape))
    found = [statistic(one) for one in moved]
    return min(found), max(found)


def test_f1_follows_from_precision_and_recall(metrics):
    """Catches an F1 of another pair of columns; a ratio of rounded columns moves by as much as they do."""
    p, r = metrics["prec"], metrics["rec"]
    low = 2 * (p - HALF) * (r - HALF) / (p + r - 2 * HALF)
    high = 2 * (p + HALF) * (r + HALF) / (p + r + 2 * HALF)
    off = (metrics["f1"] + HALF < low) | (metrics["f1"] - HALF > high)
    assert list(metrics["model"][off]) == []


def test_bias_follows_from_the_two_accuracies(bias):
    """Catches the sign; the difference of two rounded numbers may be a tenth off, no more."""
    off = np.abs(bias["congruent"] - bias["incongruent"] - bias["delta_bias"])
    assert off.max() <= 3 * HALF + 1e-9


def test_means_and_standard_deviations(metrics, bias, quoted):
    """Catches population deviations where the study prints those of a sample."""
    for values, mean, sd in (
        (metrics["acc"], ("mean syntax accuracy", "14 models"), ("standard deviation of syntax accuracy", "14 models")),
        (bias["delta_bias"], ("mean belief bias effect", "14 models"),
         ("standard deviation of belief bias effect", "14 models")),
    ):  # fmt: skip
        digits = 0.05 if "accuracy" in mean[0] else 0.005
        assert values.mean() == pytest.approx(quoted[mean], abs=digits + HALF)
        assert values.std(ddof=1) == pytest.approx(quoted[sd], abs=digits + HALF)
    assert (bias["delta_bias"] > 0).sum() == quoted["models with positive belief bias", "14 models"]
    assert (metrics["acc"] > 95).sum() == quoted["models above 95 percent", "14 models"]
    assert (metrics["acc"] < 70).sum() == quoted["models below 70 percent", "14 models"]
    assert np.ptp(metrics["acc"]) == pytest.approx(quoted["top minus bottom syntax accuracy", "14 models"], abs=0.1)
    difference = (metrics["acc"] - metrics["nlu_acc"]).mean()
    assert difference == pytest.approx(quoted["mean syntax minus mean NLU accuracy", "14 models"], abs=0.1 + 0.005)


def test_the_t_test_of_belief_bias(bias, tests):
    """Catches d_av printed as d_z, and configurations in place of 14 models."""
    printed = tests["belief bias (congruent > incongruent)"]
    found = paired_t(bias["congruent"], bias["incongruent"])
    values = np.stack([bias["congruent"], bias["incongruent"]])
    rng = np.random.default_rng(0)
    low, high = reachable(values, lambda v: float(paired_t(v[0], v[1]).statistic), rng, 500)
    assert low - 0.005 <= float(printed["value"]) <= high + 0.005
    assert found.df == float(printed["df"])
    assert found.p_value == pytest.approx(float(printed["p_value"]), abs=0.0005)
    assert found.d_z == pytest.approx(float(printed["cohen_d"]), abs=0.006)
    assert found.d_av != pytest.approx(float(printed["cohen_d"]), abs=0.05), "the printed d is d_z"


@pytest.mark.parametrize(
    ("analysis", "second"),
    [
        ("syntax accuracy x c_all", "c_all"),
        ("syntax accuracy x c_nx", "c_nx"),
        ("syntax accuracy x c_oox", "c_oox"),
        ("syntax accuracy x nlu accuracy", "nlu_acc"),
    ],
)
def test_correlations_of_printed_columns(metrics, tests, analysis, second):
    """Catches Pearson in place of Spearman, and ties ranked by position."""
    rho = float(replicate_correlations(metrics["acc"], metrics[second], kind="spearman"))
    assert rho == pytest.approx(float(tests[analysis]["value"]), abs=0.0005 + 1e-9)


def test_correlation_of_precision_and_recall_and_of_accuracy_and_bias(metrics, bias, tests):
    """Catches models matched by position: the two tables are in different orders."""
    rho = float(replicate_correlations(metrics["prec"], metrics["rec"], kind="spearman"))
    # Three precisions of 100.0 tie as printed; unrounded they may not, which moves rho a little.
    assert rho == pytest.approx(float(tests["syntax precision x syntax recall"]["value"]), abs=0.012)
    place = {name: i for i, name in enumerate(bias["model"])}
    delta = bias["delta_bias"][[place[name] for name in metrics["model"]]]
    rho = float(replicate_correlations(metrics["acc"], delta, kind="spearman"))
    assert rho == pytest.approx(float(tests["syntax accuracy x delta_bias"]["value"]), abs=0.0005 + 1e-9)


def test_pearson_of_accuracy_and_consistency(metrics, quoted):
    r = float(replicate_correlations(metrics["acc"], metrics["c_all"], kind="pearson"))
    assert r == pytest.approx(quoted["Pearson r, syntax accuracy x c_all", "14 models"], abs=0.0015)


def test_mcnemar_has_the_continuity_correction(tests):
    """Catches the plain statistic, which all three printed ones exceed or miss: 43.24 where 42.88 is printed."""
    for other in ("few_shot", "one_shot", "zero_shot_cot"):
        printed = tests[f"zero_shot vs {other}"] if other != "few_shot" else None
        row = printed or {"value": "42.88", "baseline_only": "786", "comparison_only": "546"}
        b, c = float(row["baseline_only"]), float(row["comparison_only"])
        found = mcnemar(b, c)
        assert found.statistic_corrected == pytest.approx(float(row["value"]), abs=0.005)
    assert mcnemar(786, 546).statistic == pytest.approx(43.24, abs=0.005)


class TestContradictions:
    """What the printed columns contradict, as facts about the printed numbers."""

    def test_friedman_over_strategies(self, published, tests):
        """3.24 is printed for 42 configurations; the 14 means of Figure 1 give another value, and p by the model."""
        figure = columns(published / "figure01_strategy.csv")
        table = np.stack([figure[name] for name in ("zero_shot", "one_shot", "few_shot", "zero_shot_cot")], axis=1)
        found = friedman_test(table, rng=np.random.default_rng(0), permutations=2000)
        assert found.n_clusters == 14
        assert found.statistic == pytest.approx(stats.friedmanchisquare(*table.T).statistic)
        assert abs(found.statistic - float(tests["strategy effect (overall)"]["value"])) > 0.05

    def test_strategy_difference_with_models_as_units(self, published, tests):
        """p .0165 with 42 configurations as units is no evidence with the 14 models that they come from."""
        figure = columns(published / "figure01_strategy.csv")
        found = paired_t(figure["zero_shot"], figure["few_shot"])
        assert found.n_clusters == 14
        assert found.p_value > 0.1
        assert found.estimate == pytest.approx(3.57, abs=0.1)

    def test_one_consistency_lies_below_what_its_accuracy_allows(self, metrics):
        """Four versions with one right answer: C >= 1 - 4 (1 - accuracy), unless answers that one of the two leaves
        out (unreadable ones, not in accuracy) count as disagreement in the other. Rounding allows 4 + 1 half units.
        """
        bound = 100 * consistency_bound(metrics["acc"] / 100, 4)
        below = metrics["c_all"] < bound - 5 * HALF
        assert list(metrics["model"][below]) == ["GPT-OSS-20B"]
