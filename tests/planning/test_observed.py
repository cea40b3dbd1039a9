"""Designs from logs: the predicted standard error is the report's, and what is said follows from it."""

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import analysis as eh
from analysis.planning.components import rescaled_std_error, within_variance
from analysis.planning.observed import LEFT_OUT, observed_designs, observed_question
from analysis.planning.question import detectable_effect
from analysis.planning.unit_components import ASKED_ONCE, pair_errors, score_pair_errors, unit_components
from analysis.schema.planning_settings import PlanningSettings
from analysis.studies.context import Part, TaskContext
from analysis.studies.leaderboard import leaderboard_part
from analysis.studies.parts import with_estimates
from analysis.studies.planning import planning_part
from analysis.studies.planning_answers import observed_answers


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TaskContext]:
    """Three models, 24 units, two items of a unit to each right answer."""
    folder = tmp_path_factory.mktemp("observed")
    rng = np.random.default_rng(4)
    rows = []
    for m, u in ((m, u) for m in range(3) for u in range(24)):
        p = rng.beta(4, 2)
        for gold, i in (("yes", 0), ("yes", 1), ("no", 2), ("no", 3)):
            right = rng.random() < p
            answer = gold if right else {"yes": "no", "no": "yes"}[gold]
            rows.append(f"m{m},u{u}i{i},u{u},{answer},{gold}")
    (folder / "log.csv").write_text("model,item,unit,answer,gold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    with eh.read_logs(folder / "log.csv") as logs:
        yield with_estimates(logs.contexts()[0])


def test_predicted_errors_of_the_design_at_hand_are_those_of_the_report(context: TaskContext) -> None:
    """Catches another estimator of the variance, or other weights, than the intervals of the report have."""
    assert context.estimates is not None
    found = unit_components(context.sums)  # type: ignore[arg-type]
    both = found.merge(context.estimates, on=["task", "model", "measure"], suffixes=("", "_report"))
    assert set(both["measure"]) == {"balanced_accuracy", "answer_bias"}
    assert both["std_error"].to_numpy() == pytest.approx(both["std_error_report"].to_numpy(), rel=1e-12)
    assert (both["doubled_std_error"] < both["std_error"]).all()
    designs = observed_designs({"estimates": context.estimates})
    for _, row in designs[designs["asked"].str.startswith("t:")].iterrows():
        own = both.loc[both["measure"] == row["measure"], "std_error_report"]
        assert json.loads(row["parameters"])["std_error"] == pytest.approx(own.median())
        question = observed_question(row)
        assert detectable_effect(question) == pytest.approx(row["detectable_effect"], rel=1e-4)
        assert question.units == 24
        assert row["detectable_low"] < row["detectable_effect"] < row["detectable_high"]


def test_pairs_of_models_are_paired_over_units(context: TaskContext) -> None:
    """Catches differences taken as of independent models: by hand from the accuracies of units."""
    found = pair_errors(context.sums)  # type: ignore[arg-type]
    assert len(found) == 3
    sums = context.sums.groupby(["model", "unit"], observed=True)[["n_correct", "n_answered"]].sum()  # type: ignore[union-attr]
    rate = (sums["n_correct"] / sums["n_answered"]).unstack("model")
    by_hand = (rate["m0"] - rate["m1"]).std() / np.sqrt(24)
    assert found["std_error"].iloc[0] == pytest.approx(by_hand)


def test_variance_within_units_is_unbiased() -> None:
    """Catches ybar (1 - ybar) / n, which is too small by (n - 1) / n: rho .2, 4 responses, 40,000 units."""
    rng = np.random.default_rng(5)
    units, m, rho, p = 40_000, 4, 0.2, 0.7
    y = rng.binomial(m, rng.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, units))[:, None].astype(float)
    n, share = np.full((units, 1), float(m)), np.full((units, 1), 1 / units)
    inside = float(within_variance(n, y, share, np.ones((1, 1)))[0])
    assert inside * units == pytest.approx(p * (1 - p) * (1 - rho) / m, rel=0.02)
    error = (y / m).std(ddof=1) / np.sqrt(units)
    double = float(rescaled_std_error(error, inside, rows=2))
    assert double**2 * units == pytest.approx(p * (1 - p) * (rho + (1 - rho) / (2 * m)), rel=0.02)
    assert rescaled_std_error(error, inside, units=4) == pytest.approx(error / 2)
    once = within_variance(np.ones((5, 1)), np.ones((5, 1)), np.full((5, 1), 0.2), np.ones((1, 1)))
    assert np.isnan(once).all()
    assert "asked once" in ASKED_ONCE


def test_the_part_says_what_could_have_been_shown(context: TaskContext) -> None:
    """Catches a table without its sentence, a census with a power, and numbers that are missing without a word."""
    part = planning_part(context, [Part(data={"estimates": context.estimates})])  # type: ignore[dict-item]
    assert part is not None
    rows = part.data["planning"]
    floor = rows.loc[rows["asked"] == "floor: competence_floor", "detectable_effect"].iloc[0]
    assert part.limits[0].startswith(f"with 24 units, only a floor {floor:.3f} above .5 would be shown")
    assert part.sections[0].tables[0].spec.name.startswith("planning")
    parted = rows[rows["doubled_effect"].notna()]
    assert (parted["doubled_effect"] < parted["detectable_effect"]).all()
    assert (rows.loc[rows["doubled_effect"].isna(), "doubled_reason"] != "").all()


def test_no_observed_effect_enters(context: TaskContext) -> None:
    """Catches "observed power": other estimates with the same errors give the same answers."""
    assert context.estimates is not None
    moved = context.estimates.assign(estimate=0.99)
    assert observed_designs({"estimates": moved}).equals(observed_designs({"estimates": context.estimates}))


def test_models_without_an_error_are_counted() -> None:
    """Catches a model that is left out silently, and an error of 0 taken as infinite power."""
    table = pd.DataFrame(
        {"task": "t", "model": ["a", "b", "c"], "measure": "belief_bias", "std_error": [0.1, np.nan, 0.0], "df": 9.0}
    ).assign(n_clusters=10, unit="base item")
    found = observed_designs({"belief_bias": table})
    assert found["n_models"].tolist() == [1]
    assert LEFT_OUT.format(2, 3) in found["reason"].iloc[0]
    assert observed_designs({}).empty


def test_ranges_and_persistent_parts_of_tables() -> None:
    """Catches levels counted as units, and instances that were worded once."""
    ranges = pd.DataFrame({"task": "t", "model": ["a"], "measure": "accuracy", "factor": "form", "design": "within"})
    ranges = ranges.assign(std_error=0.02, df=4 * 29.0, n_clusters=30, unit="unit")
    instances = pd.DataFrame({"task": "t", "model": "a", "unit": [f"u{i}" for i in range(30)], "k": 3, "ss": 0.18})
    once = pd.DataFrame({"task": "t", "model": "a", "unit": ["v"], "k": 1, "ss": 0.0})
    found = observed_designs({"level_ranges": ranges, "instances": pd.concat([instances, once])})
    assert found["asked"].tolist() == ["range: accuracy, form", "persistent: persistent"]
    assert json.loads(found["parameters"].iloc[0])["levels"] == 5
    assert json.loads(found["parameters"].iloc[1]) == {
        "flat": pytest.approx(2 * 0.09**2 * 0.5 / 6), "slope": pytest.approx(4 * 0.09 / 3), "instances": 30.0,
        "units": 30.0, "level": 0.025,
    }  # fmt: skip


def test_the_level_reaches_the_one_sided_test_of_persistent_parts() -> None:
    """Catches a level that is asked for, printed, and not used: half of it is that of one end of the interval."""
    instances = pd.DataFrame({"task": "t", "model": "a", "unit": [f"u{i}" for i in range(30)], "k": 3, "ss": 0.18})
    usual, strict = (observed_designs({"instances": instances}, level=level).iloc[0] for level in (0.05, 0.01))
    assert (usual["level"], strict["level"]) == (0.025, 0.005)
    assert "one-sided 0.5%" in strict["test"]
    assert strict["detectable_effect"] > usual["detectable_effect"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TaskContext]:
    """Three models, 20 units of two questions, graded scores; the last model lacks a unit."""
    rng, rows = np.random.default_rng(3), []
    for m, u, i in ((m, u, i) for m in range(3) for u in range(20) for i in range(2)):
        if (m, u) != (2, 0):
            rows.append(f"m{m},u{u}i{i},u{u},{np.clip(0.5 + 0.1 * m + rng.normal(0, 0.2), 0, 1):.3f}")
    log = tmp_path_factory.mktemp("graded") / "log.csv"
    log.write_text("model,item,unit,logged_score\n" + "\n".join(rows) + "\n", encoding="utf-8")
    with eh.read_logs(log) as logs:
        yield with_estimates(logs.contexts()[0])


def test_graded_scores_have_pairs_of_models_over_the_questions_both_have(graded: TaskContext) -> None:
    """Catches graded scores without a difference of models, and units that one of both lacks: by hand."""
    board = leaderboard_part(graded)
    assert board is not None
    part = planning_part(graded, [board])
    assert part is not None
    pairs = part.data["pair_errors"]
    scores = graded.con.sql("SELECT model, unit_, score_value FROM analysed").df()
    wide = scores.pivot_table(index="unit_", columns="model", values="score_value")
    expected = [(wide[a] - wide[b]).dropna() for a, b in (("m0", "m1"), ("m0", "m2"), ("m1", "m2"))]
    assert pairs["n_clusters"].tolist() == [20, 19, 19]
    assert pairs["std_error"].to_numpy() == pytest.approx([d.std() / np.sqrt(len(d)) for d in expected])
    rows = part.data["planning"].set_index("asked")
    assert rows.loc["t: mean_score, two models", "std_error"] == pytest.approx(pairs["std_error"].median())
    assert rows.loc["t: mean_score", "n_clusters"] == 20
    said = f"mean scores of two models {rows.loc['t: mean_score, two models', 'detectable_effect']:.3f} apart"
    assert said in part.limits[0]


def test_smallest_effects_of_interest_are_those_of_the_study(graded: TaskContext) -> None:
    """Catches a declared effect or power that no table, sentence or command uses."""
    of_interest = PlanningSettings(effect=0.03, power=0.9)
    study = replace(graded.study, planning=of_interest, given=frozenset({"planning.smallest_effect"}))
    board = leaderboard_part(graded)
    assert board is not None
    part = planning_part(replace(graded, study=study), [board])
    assert part is not None
    rows = part.data["planning"]
    assert set(rows["asked_effect"]) == {0.03}
    assert set(rows["target_power"]) == {0.9}
    pair = rows[rows["asked"] == "t: mean_score, two models"].iloc[0]
    assert observed_question(pair).power(0.03, int(pair["n_clusters"])) == pytest.approx(pair["power_at_effect"])
    assert "90% of such studies" in part.limits[0]
    assert part.limits[1] == (
        "the design is too small for its smallest effects of interest: it shows mean scores of two models 0.030 apart "
        f"with a probability of {pair['power_at_effect']:.2f}."
    )
    assert "in 0 of 2 estimands" in part.sections[0].lead[1]
    asked = observed_answers({**board.data, **part.data}, simulated=False)
    assert set(asked.rows["asked_effect"]) == {0.03}
    assert asked.power == 0.9
    assert set(observed_answers(part.data | board.data, simulated=False, effect=0.1).rows["asked_effect"]) == {0.1}


def test_pairs_of_very_many_models_are_spread_over_all() -> None:
    """Catches hundreds of thousands of pairs, and pairs of the first models alone."""
    rng = np.random.default_rng(2)
    rows = [(f"m{m:02d}", f"i{i}", f"u{i}", rng.random()) for m in range(30) for i in range(5)]
    found = score_pair_errors(pd.DataFrame(rows, columns=["model", "item", "unit", "score"]), task="")
    assert len(found) == 300
    assert (found["n_clusters"] == 5).all()
