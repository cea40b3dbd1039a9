"""Estimates from sums by unit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.errors import AnalysisError
from analysis.frequentist import unit_arrays
from analysis.frequentist.answer_bias import MEASURES, answer_bias_estimates
from analysis.frequentist.proportion import score_limits
from analysis.vocabulary import MEASURES as NAMED
from analysis.vocabulary import OUTPUT_COLUMNS
from tests.frequentist.unit_tables import FOUR, crossed, items, table, unit_row


def estimates(sums: pd.DataFrame, **options: object) -> pd.DataFrame:
    return answer_bias_estimates(sums, **options).set_index(["model", "measure"])


def random_table(models: int = 3, units: int = 12, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return table(*(crossed(f"m{m}", {c: rng.binomial(4, 0.6, units) for c in FOUR}, 4) for m in range(models)))


def test_names_are_those_of_the_vocabulary() -> None:
    found = answer_bias_estimates(random_table())
    assert set(MEASURES) <= set(NAMED)
    assert set(found.columns) <= set(OUTPUT_COLUMNS)
    assert set(found.groupby("model")["measure"].apply(tuple)) == {MEASURES}


def test_plain_accuracy_hides_what_bias_and_floor_show() -> None:
    """52 of 100 right, but 5 of 50 where Yes is right and 47 of 50 where No is."""
    found = estimates(table(items("m", [1] * 5 + [0] * 45, [1] * 47 + [0] * 3))).loc["m"]
    assert found.loc["accuracy", "estimate"] == pytest.approx(0.52)
    assert found.loc["acc_yes", "estimate"] == pytest.approx(0.10)
    assert found.loc["acc_no", "estimate"] == pytest.approx(0.94)
    assert found.loc["answer_bias", "estimate"] == pytest.approx(-0.84)
    assert found.loc["competence_floor", "estimate"] == pytest.approx(0.10)
    assert found.loc["answer_bias", "ci_high"] < -0.6
    assert found.loc["yes_rate", "estimate"] == pytest.approx(0.08)
    assert found.loc["criterion_c", "ci_low"] > 0


def test_floor_interval_worked_by_hand() -> None:
    """Gold yes 12 of 20, gold no 16 of 20, items as units: Wilson with n_eff = G - 1 and t with 19 df."""
    found = estimates(table(items("m", [1] * 12 + [0] * 8, [1] * 16 + [0] * 4))).loc["m"]
    q = stats.t.ppf(0.975, 19)
    yes = score_limits(0.6, 0.6 * 0.4 / (0.6 * 0.4 / 19), q)
    no = score_limits(0.8, 19, q)
    row = found.loc["competence_floor"]
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(float(yes[0])), pytest.approx(min(yes[1], no[1])))
    assert row["std_error"] == pytest.approx(np.sqrt(0.24 / 19))
    assert row["df"] == pytest.approx(19)
    assert row["min_bias_if_tied"] == pytest.approx(np.sqrt((0.24 / 19 + 0.16 / 19) / (2 * np.pi)))


def test_constant_yes_and_a_coin_are_told_apart() -> None:
    """Both have accuracy .5; their biases and floors must not even overlap."""
    coin = [0, 1] * 20
    found = estimates(table(items("yes", [1] * 40, [0] * 40), items("coin", coin, coin)))
    assert found.loc[("yes", "accuracy"), "estimate"] == found.loc[("coin", "accuracy"), "estimate"] == 0.5
    assert found.loc[("yes", "answer_bias"), "ci_low"] > found.loc[("coin", "answer_bias"), "ci_high"]
    assert found.loc[("yes", "competence_floor"), "ci_high"] < found.loc[("coin", "competence_floor"), "ci_low"]
    assert found.loc[("yes", "yes_rate"), "estimate"] == 1


def test_every_interval_has_a_width_and_stays_in_range() -> None:
    """All right, all wrong, all yes: errors of exactly zero are not knowledge."""
    full, none = [1] * 9, [0] * 9
    found = answer_bias_estimates(
        table(
            items("right", full, full),
            items("wrong", none, none),
            items("yes", full, none),
            *(crossed(name, {c: [2 * (c in right)] * 6 for c in FOUR}, 2, task="four") for name, right in (
                ("right", FOUR), ("yes", ("VA", "IN")), ("blind", ("VA", "IA")),
            )),
        )
    )  # fmt: skip
    deviates = found[found["scale"] == "standard normal deviate"]
    assert not np.isinf(deviates[["ci_low", "ci_high"]].to_numpy(float)).any()
    assert deviates.loc[deviates[["ci_low", "ci_high"]].isna().any(axis=1), "reason"].ne("").all()
    known = found[found["ci_low"].notna() & ~found.index.isin(deviates.index)]
    assert len(known) == 3 * 8 + 3 * (len(MEASURES) - 2)
    assert (known["ci_high"] - known["ci_low"] > 0.01).all()
    proportions = known[known["scale"] == "probability"]
    assert proportions[["ci_low", "ci_high"]].stack().between(0, 1).all()
    differences = known[known["scale"] == "probability difference"]
    assert differences[["ci_low", "ci_high"]].stack().between(-1, 1).all()
    assert ((known["ci_low"] <= known["estimate"]) & (known["estimate"] <= known["ci_high"])).all()
    assert np.isfinite(known["estimate"]).all()
    assert known.loc[known["std_error"].isna(), "reason"].ne("").all()
    assert not (known["std_error"] == 0).any()


def test_sensitivity_has_no_standard_error_where_one_class_never_varies() -> None:
    """All No items right: the delta method would drop that class, where the slope is steepest."""
    found = estimates(table(items("m", [1] * 7 + [0] * 43, [1] * 50))).loc["m"]
    for measure in ("d_prime", "criterion_c"):
        assert np.isnan(found.loc[measure, "std_error"])
        assert found.loc[measure, "reason"].startswith("all answers of a class are right")
        assert np.isfinite(found.loc[measure, "ci_low"])
        assert np.isnan(found.loc[measure, "ci_high"])
    assert found.loc["answer_bias", "std_error"] == pytest.approx(np.sqrt(0.14 * 0.86 / 49))


def test_copies_of_a_unit_do_not_sharpen_anything() -> None:
    """10 units of 20 identical items: as 10 items, several times wider than 200."""
    right = [1, 1, 1, 0, 1, 0, 1, 1, 0, 1]
    copies = estimates(table(items("m", [20 * k for k in right], [20 * k for k in right], 20))).loc["m"]
    single = estimates(table(items("m", right, right))).loc["m"]
    many = estimates(table(items("m", right * 20, right * 20))).loc["m"]
    width = {name: t.loc["acc_yes", "ci_high"] - t.loc["acc_yes", "ci_low"] for name, t in
             (("copies", copies), ("single", single), ("many", many))}  # fmt: skip
    assert width["copies"] == pytest.approx(width["single"], rel=1e-9)
    assert width["copies"] > 3 * width["many"]


def test_row_order_and_model_names_change_nothing() -> None:
    sums = random_table()
    shuffled = sums.sample(frac=1, random_state=3).reset_index(drop=True)
    pd.testing.assert_frame_equal(answer_bias_estimates(sums), answer_bias_estimates(shuffled), rtol=1e-11)


def test_text_and_categorical_columns_give_the_same() -> None:
    sums = random_table()
    keys = ["task", "model", "cell", "stratum", "unit"]
    coded = sums.astype({key: "category" for key in keys})
    pd.testing.assert_frame_equal(answer_bias_estimates(sums), answer_bias_estimates(coded))


def test_models_in_portions_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by portions; a code off by one portion would shift models."""
    sums = pd.concat([random_table(5), table(crossed("z", {"VA": [1, 2], "IA": [0, 1]}, 2))])
    whole = answer_bias_estimates(sums)
    monkeypatch.setattr(unit_arrays, "_PORTION", 1)
    pd.testing.assert_frame_equal(whole, answer_bias_estimates(sums), rtol=1e-11)


def test_a_model_is_estimated_alone_as_among_others() -> None:
    sums = random_table()
    alone = answer_bias_estimates(sums[sums["model"] == "m1"]).reset_index(drop=True)
    among = answer_bias_estimates(sums).query("model == 'm1'").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among, rtol=1e-11)


def test_treatments_run_through_every_statistic() -> None:
    """8 units, each 2 right, 1 wrong, 1 uncertain per cell: accuracy .5, 2/3 and .625."""
    rows = [unit_row("m", cell, f"u{i}", 2, 1, uncertain=1) for cell in FOUR for i in range(8)]
    for treatment, rate, yes in (("incorrect", 0.5, 0.375), ("excluded", 2 / 3, 0.5), ("half", 0.625, 0.5)):
        found = estimates(table(rows), uncertain=treatment).loc["m"]
        for measure in ("accuracy", "acc_yes", "acc_no", "balanced_accuracy", "competence_floor", "cell_floor"):
            assert found.loc[measure, "estimate"] == pytest.approx(rate), (treatment, measure)
        assert found.loc["yes_rate", "estimate"] == pytest.approx(yes)
        assert found.loc["uncertain_rate", "estimate"] == pytest.approx(0.25)
        assert found.loc["accuracy", "n"] == (96 if treatment == "excluded" else 128)


def test_only_one_class_gives_its_accuracy_and_no_floor() -> None:
    found = estimates(table(items("m", [1, 1, 0, 1], []))).loc["m"]
    assert found.loc["acc_yes", "estimate"] == 0.75
    assert found.loc["acc_yes", "ci_low"] > 0
    for measure in ("acc_no", "answer_bias", "competence_floor", "d_prime"):
        assert np.isnan(found.loc[measure, "estimate"])
        assert found.loc[measure, "reason"] == "no scored response with gold no"
    assert "validity and polarity" in found.loc["cell_floor", "reason"]


def test_one_unit_gives_a_value_and_no_interval() -> None:
    found = estimates(table(items("m", [1, 0, 1], [0]))).loc["m"]
    assert found.loc["acc_no", "estimate"] == 0
    assert np.isnan(found.loc["acc_no", "ci_low"])
    assert found.loc["answer_bias", "reason"].startswith("only one unit with gold no")
    assert found.loc["acc_yes", "reason"] == ""


def test_a_missing_cell_leaves_what_the_others_give() -> None:
    """A valid-only benchmark: no class accuracy, but both valid cells."""
    found = estimates(table(crossed("m", {"VA": [1, 2, 2], "VN": [0, 1, 2]}, 2))).loc["m"]
    assert found.loc["acc_va", "estimate"] == pytest.approx(5 / 6)
    assert np.isfinite(found.loc["acc_vn", "ci_low"])
    assert found.loc["acc_yes", "reason"] == "no scored response in cell IN"
    assert np.isnan(found.loc["polarity_sensitivity", "estimate"])


def test_all_uncertain_cannot_be_estimated_among_answered() -> None:
    rows = [unit_row("m", cell, f"u{i}", 0, 0, uncertain=2) for cell in FOUR for i in range(5)]
    found = estimates(table(rows), uncertain="excluded").loc["m"]
    assert found.loc["accuracy", "reason"] == "no answered response"
    assert found.loc["uncertain_rate", "estimate"] == 1
    assert np.isnan(found.loc["competence_floor", "ci_low"])


def test_gold_that_is_not_yes_or_no_gives_accuracy_only() -> None:
    found = estimates(table([unit_row("m", "", f"u{i}", i % 2, 1 - i % 2) for i in range(10)])).loc["m"]
    assert found.loc["accuracy", "estimate"] == 0.5
    assert found.loc["answer_bias", "reason"] == "gold answers are not known as yes and no"


def test_strata_weigh_the_same_whatever_their_size() -> None:
    """Two templates, 10 and 90 rows a unit: row weights give .86, equal weights .7."""
    rows = [
        unit_row("m", cell, f"u{i}", right, total - right, stratum=stratum)
        for cell in ("gold_yes", "gold_no")
        for i in range(6)
        for stratum, right, total in (("a", 5, 10), ("b", 81, 90))
    ]
    found = estimates(table(rows)).loc["m"]
    assert found.loc["acc_yes", "estimate"] == pytest.approx(0.7)
    assert found.loc["accuracy", "estimate"] == pytest.approx(0.7)
    pooled = table(rows).groupby(["task", "model", "cell", "unit"], as_index=False).sum(numeric_only=True)
    assert estimates(pooled.assign(stratum="")).loc[("m", "acc_yes"), "estimate"] == pytest.approx(0.86)


def test_strata_inside_units_become_unit_means() -> None:
    """Templates as units, template x form as strata: each stratum has one unit, the units vary all the same."""
    rng = np.random.default_rng(2)
    rights = rng.integers(0, 11, (2, 7, 3))
    rows = [
        unit_row("m", cell, f"t{t}", int(rights[c, t, f]), 10 - int(rights[c, t, f]), stratum=f"t{t} f{f}")
        for c, cell in enumerate(("gold_yes", "gold_no"))
        for t in range(7)
        for f in range(3)
    ]
    found = estimates(table(rows)).loc["m"]
    means = rights.mean(axis=2) / 10
    assert found.loc["acc_yes", "estimate"] == pytest.approx(means[0].mean())
    assert found.loc["acc_yes", "std_error"] == pytest.approx(means[0].std(ddof=1) / np.sqrt(7))
    assert found.loc["answer_bias", "std_error"] == pytest.approx((means[0] - means[1]).std(ddof=1) / np.sqrt(7))


def test_a_model_that_lacks_a_stratum_gets_no_rate_under_other_weights() -> None:
    full = [unit_row("full", "gold_yes", f"u{i}", 1, 0, stratum=s) for i in range(4) for s in "ab"]
    part = [unit_row("part", "gold_yes", f"u{i}", 1, 0, stratum="a") for i in range(4)]
    found = estimates(table(full, part))
    assert found.loc[("full", "acc_yes"), "estimate"] == 1
    assert np.isnan(found.loc[("part", "acc_yes"), "estimate"])
    assert found.loc[("part", "acc_yes"), "reason"] == "no scored response with gold yes, stratum 'b'"


def test_census_prints_values_without_intervals() -> None:
    found = answer_bias_estimates(random_table(), target="census")
    assert found["estimate"].notna().all()
    assert found[["std_error", "df", "ci_low", "ci_high", "n_eff", "min_bias_if_tied"]].isna().all().all()
    assert (found["reason"] == "the benchmark is the population: no sampling error").all()


@pytest.mark.parametrize("target", ["new_models", "everything"])
def test_targets_that_sums_by_unit_cannot_serve_are_refused(target: str) -> None:
    """A label for a claim that nobody computed would be worse than no result."""
    with pytest.raises(AnalysisError, match="target"):
        answer_bias_estimates(random_table(), target=target)


def test_other_faults_of_the_call_are_named() -> None:
    with pytest.raises(AnalysisError, match="w_yes"):
        answer_bias_estimates(random_table().drop(columns="w_yes"))
    with pytest.raises(AnalysisError, match="uncertain"):
        answer_bias_estimates(random_table(), uncertain="wrong")
    mixed = table(crossed("m", {"VA": [1, 1]}, 1), items("m", [1], [0]))
    with pytest.raises(AnalysisError, match="gold_no, gold_yes"):
        answer_bias_estimates(mixed)


def test_an_empty_table_gives_an_empty_table() -> None:
    assert len(answer_bias_estimates(random_table().iloc[:0])) == 0


def test_exchanging_yes_and_no_mirrors_every_signed_measure() -> None:
    sums = random_table()
    turned = sums.assign(cell=sums["cell"].map({"VA": "VN", "VN": "VA", "IA": "IN", "IN": "IA"}))
    a, b = estimates(sums), estimates(turned)
    for measure in ("answer_bias", "polarity_sensitivity", "criterion_c"):
        first, second = a.xs(measure, level="measure"), b.xs(measure, level="measure")
        np.testing.assert_allclose(first["estimate"], -second["estimate"], atol=1e-12)
        np.testing.assert_allclose(first["ci_low"], -second["ci_high"], atol=1e-12)
    for measure in ("competence_floor", "cell_floor", "d_prime", "validity_contrast"):
        first, second = a.xs(measure, level="measure"), b.xs(measure, level="measure")
        np.testing.assert_allclose(first[["ci_low", "ci_high"]], second[["ci_low", "ci_high"]], atol=1e-12)


def test_wider_levels_nest() -> None:
    """Levels handed to one of two limits only, or to a wrong tail, cross."""
    tables = (answer_bias_estimates(random_table(), ci_level=level) for level in (0.8, 0.99))
    narrow, wide = (found[found["measure"] != "uncertain_rate"] for found in tables)
    assert (wide["ci_low"] < narrow["ci_low"]).all()
    assert (wide["ci_high"] > narrow["ci_high"]).all()


def test_a_model_that_never_answered_leans_nowhere() -> None:
    """Two accuracies of 0 must not read as "no bias", nor as a sensitivity with an interval."""
    table = random_table()
    model = table["model"].iloc[0]
    silent = table["model"] == model
    unread = table["n_answered"].where(silent, 0) + table["n_uncertain"]
    table = table.assign(n_uncertain=unread, w_uncertain=table["w_scored"].where(silent, table["w_uncertain"]))
    for name in ("n_answered", "n_yes", "n_correct", "w_answered", "w_correct", "w_correct_answered", "w_yes"):
        table[name] = table[name].where(~silent, 0)
    found = answer_bias_estimates(table).set_index(["model", "measure"])
    for measure in ("answer_bias", "d_prime", "criterion_c", "yes_rate"):
        row = found.loc[(model, measure)]
        assert np.isnan(row["estimate"])
        assert np.isnan(row["ci_low"])
        assert row["reason"] == "no answer of this model could be read"
    assert found.loc[(model, "competence_floor"), "estimate"] == 0
    assert found.loc[(model, "uncertain_rate"), "estimate"] == 1
    others = found.drop(index=model, level="model")
    assert others.loc[(slice(None), "answer_bias"), "estimate"].notna().all()
