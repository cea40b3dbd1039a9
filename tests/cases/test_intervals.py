"""I, M and B: faults that users of other tools met in errors, intervals and tests, and what happens here."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.proportion import wilson_interval
from analysis.reduction.units import unit_sums
from analysis.report.markdown import render_markdown

COUNTS = ("n_planned", "n_answered", "n_uncertain", "n_set_aside", "n_yes", "n_correct")


def answered(right: int, gold: str, n: int) -> list[str]:
    """``n`` replies of which the first ``right`` are right."""
    wrong = {"yes": "no", "no": "yes"}[gold]
    return [gold] * right + [wrong] * (n - right)


@pytest.fixture
def task(write, reduced, logs_of):
    """Sums of models given as right answers of ``n`` items per gold answer."""

    def build(models: dict[str, tuple[int, int]], n: int = 24):
        rows = [
            row
            for model, (yes, no) in models.items()
            for row in logs_of.judged(model, {"yes": answered(yes, "yes", n), "no": answered(no, "no", n)})
        ]
        return reduced(write(rows))

    return build


def test_i1_no_standard_error_is_zero(task):
    """I1: catches an error of exactly 0 printed as if the value were known."""
    found = task({"right": (24, 24), "wrong": (0, 0), "all yes": (24, 0), "half": (12, 12), "one slip": (23, 24)})
    table = found.estimates()
    assert not (table["std_error"] == 0).any()
    silent = table[table["std_error"].isna()]
    assert len(silent) > 0
    assert (silent["reason"] != "").all()
    varied = table.query("model == 'half' and measure in ('accuracy', 'acc_yes', 'competence_floor')")
    assert (varied["std_error"] > 0.05).all()


def test_i1_partial_scores_get_no_accuracy_rather_than_a_wrong_error(write, report):
    """I1: catches scores between 0 and 1 given a binomial error, or one of 0: there is a reason instead."""
    rows = [{"model": "m", "item": str(i), "output": "x", "logged_score": 0.5 + i / 100} for i in range(20)]
    content = report(write(rows))
    assert "estimates" not in content.data
    assert any("no accuracy" in sentence and "neither 0 nor 1" in sentence for sentence in content.limits)


def test_i2_the_error_follows_the_weights(write, reduced, logs_of):
    """I2: catches the error of pooled rows beside a mean of groups (200 items of .9, 8 items of .5)."""
    rows = [
        row | {"template": template, "item": f"{template}-{row['item']}"}
        for template, n, right in (("large", 100, 90), ("small", 4, 2))
        for row in logs_of.judged("m", {g: answered(right, g, n) for g in ("yes", "no")})
    ]
    toml = '[study]\nweights = "template"\n'
    pooled = reduced(write(rows)).estimates().set_index("measure").loc["acc_yes"]
    equal = reduced(write(rows, study=toml)).estimates().set_index("measure").loc["acc_yes"]
    assert pooled["estimate"] == pytest.approx(92 / 104)
    assert equal["estimate"] == pytest.approx(0.7)
    by_hand = np.sqrt(0.25 * (0.9 * 0.1 / 99 + 0.5 * 0.5 / 3))
    assert equal["std_error"] == pytest.approx(by_hand)
    assert equal["std_error"] > 4 * pooled["std_error"]
    assert (pooled["weights"], equal["weights"]) == ("item", "template")


def test_i3_all_right_is_not_certain(task):
    """I3: catches the interval (1, 1) for 38 of 38."""
    found = task({"m": (19, 19)}, n=19).estimates().set_index("measure")
    for measure in ("accuracy", "acc_yes", "competence_floor", "balanced_accuracy"):
        assert found.loc[measure, "ci_high"] == 1
        assert 0.7 < found.loc[measure, "ci_low"] < 0.95
    low, high = wilson_interval(38, 38)
    assert (float(low), float(high)) == pytest.approx((1 / (1 + ndtri(0.975) ** 2 / 38), 1))


counts = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=15, deadline=None)
@given(units=st.lists(counts, min_size=2, max_size=8), level=st.sampled_from([0.5, 0.95, 0.999]))
def test_i4_i8_limits_lie_in_the_range_of_what_they_limit(units, level):
    """I4, I8: catches limits below 0 or above 1 (1.086 for a rate), whatever the sizes of units and the level."""
    rows = []
    for u, (yes, no, unread, lost) in enumerate(units):
        for cell, right, wrong in (("gold_yes", yes, no), ("gold_no", no, yes)):
            planned = right + wrong + unread + lost
            row = dict(zip(COUNTS, (planned, right + wrong, unread, lost, yes, right), strict=True))
            named = {"task": "", "model": "m", "item": f"{u}{cell}", "unit": str(u), "gold": cell[5:], "cell": cell}
            rows.append(named | row)
    table = answer_bias_estimates(unit_sums(pd.DataFrame(rows), weighting="row"), ci_level=level)
    known = table[table["ci_low"].notna()]
    for scale, low, high in (("probability", 0, 1), ("probability difference", -1, 1)):
        limits = known.loc[known["scale"] == scale, ["ci_low", "ci_high"]].to_numpy()
        assert ((low <= limits) & (limits <= high)).all()
    assert (known["ci_low"] <= known["estimate"]).all()
    assert (known["estimate"] <= known["ci_high"]).all()
    assert (table.loc[table["ci_low"].isna(), "reason"] != "").all()


def clustered(unit_column: bool) -> list[dict]:
    """10 units of 20 items; all items of a unit are answered alike."""
    return [
        {
            "model": "m",
            "item": f"{unit}-{copy}",
            "unit": f"u{unit}" if unit_column else None,
            "gold": ("yes", "no")[unit % 2],
            "output": ("Yes", "No")[unit in (0, 1, 3, 5, 7)],
        }
        for unit in range(10)
        for copy in range(20)
    ]


def test_i5_copies_of_an_item_are_one_unit(write, report):
    """I5: catches 10 clusters of 20 copies counted as 200 items; the report says how few units there are."""
    by_unit = report(write(clustered(True)))
    by_item = report(write(clustered(False)))
    width = {}
    for name, content in (("unit", by_unit), ("item", by_item)):
        row = content.data["estimates"].set_index("measure").loc["accuracy"]
        width[name] = row["ci_high"] - row["ci_low"]
    assert by_unit.data["estimates"].set_index("measure").loc["accuracy", "n_clusters"] == 10
    assert width["unit"] > 3.5 * width["item"]
    assert any("m (200 responses, 10 units)" in sentence for sentence in by_unit.attention)
    assert not any("units" in sentence for sentence in by_item.attention)


def test_i7_nothing_of_nothing_is_undefined(task, write, reduced, logs_of):
    """I7: catches the interval (0, 0) for 0 of 0, and a missing value without its reason."""
    low, high = wilson_interval(0, 0)
    assert np.isnan([low, high]).all()
    unread = reduced(write(logs_of.judged("m", {"yes": "?", "no": "?"}))).estimates(uncertain="excluded")
    rates = unread.query("measure in ('accuracy', 'acc_yes', 'competence_floor', 'answer_bias')")
    assert rates[["estimate", "ci_low", "ci_high", "std_error"]].isna().all(axis=None)
    assert rates["reason"].str.startswith("no answered response").all()


def test_m3_tests_not_run_are_no_members_of_the_family(write, report, logs_of):
    """M3: catches Holm over three (.03, .08) where two tests were run (.02, .04), and the third not mentioned."""
    adjusted = holm([0.01, np.nan, 0.04])
    assert adjusted[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
    assert family_size([0.01, np.nan, 0.04]) == 2
    rows = logs_of.judged("a", {"yes": answered(11, "yes", 12), "no": answered(10, "no", 12)})
    rows += logs_of.judged("b", {"yes": answered(9, "yes", 12), "no": answered(10, "no", 12)})
    rows += logs_of.judged("one class", {"yes": "Yes"})
    content = report(write(rows))
    tests = content.data["floor_tests"]
    assert set(tests["family_size"]) == {2}
    above = tests[tests["alternative"] == "greater"].set_index("model")
    p = above["p_value"]
    assert p.isna().tolist() == [False, False, True]
    assert above.loc["a", "p_adjusted"] == pytest.approx(min(2 * p["a"], 1))
    assert above.loc["one class", "decision"] == "not tested"
    assert any(sentence.startswith("No floor for one class: ") for sentence in content.limits)
    printed = render_markdown(next(t for t in content.tables if t.spec.name == "floor_tests"))
    assert "family of 2 tests" in printed


def test_m4_adjusted_p_values_keep_the_order(task):
    """M4: catches Holm without its running maximum: (.01, .011, .012) must not come out as (.03, .022, .012)."""
    assert holm([0.01, 0.011, 0.012]).tolist() == pytest.approx([0.03, 0.03, 0.03])
    found = task({f"m{k}": (k, k) for k in range(2, 23, 2)}).tests()
    for _, family in found.groupby("alternative"):
        ordered = family.sort_values("p_value")
        assert (ordered["p_adjusted"].diff().dropna() >= 0).all()
        assert (ordered["p_adjusted"] >= ordered["p_value"]).all()
        assert ordered["p_adjusted"].nunique() > 3


def test_m5_the_same_items_at_five_temperatures_are_no_new_items(write, reduced, logs_of):
    """M5: catches rows of one item under several conditions counted as independent."""
    said = {g: answered(15, g, 24) for g in ("yes", "no")}
    rows = [row | {"temperature": str(t / 4)} for t in range(5) for row in logs_of.judged("m", said)]
    one, five = (reduced(write(part)).estimates().set_index("measure") for part in (rows[:48], rows))
    assert (five.loc["accuracy", "n"], five.loc["accuracy", "n_clusters"]) == (240, 48)
    for column in ("estimate", "std_error", "ci_low", "ci_high"):
        assert five.loc["acc_yes", column] == pytest.approx(one.loc["acc_yes", column])


def test_m6_no_p_value_is_zero(write, report, logs_of):
    """M6: catches p = 0, stored or printed, however strong the evidence."""
    said = {gold: answered(299, gold, 300) for gold in ("yes", "no")}
    rows = logs_of.judged("a", said) + logs_of.judged("b", said)
    content = report(write(rows))
    p = content.data["floor_tests"][["p_value", "p_adjusted"]].to_numpy()
    assert ((p > 0) & (p <= 1)).all()
    assert p.min() < 1e-20
    printed = render_markdown(next(t for t in content.tables if t.spec.name == "floor_tests"))
    assert "< 0.001" in printed.replace("&lt;", "<") or "<0.001" in printed.replace("&lt;", "<")


def test_m7_what_does_not_vary_says_so(task):
    """M7: catches NaN or an IndexError for columns without variation."""
    found = task({"all yes": (24, 0), "right": (24, 24)}).estimates()
    still = found[found["std_error"].isna() & found["estimate"].notna()]
    assert len(still) > 10
    assert still["reason"].str.contains("deviates|all answers of a class").all()
    closed = still[still["scale"] != "standard normal deviate"]
    assert closed[["ci_low", "ci_high"]].notna().all(axis=None)


def test_m8_test_and_interval_agree(task):
    """M8: catches an interval and an unadjusted test of one floor that contradict each other."""
    found = task({f"m{a}-{b}": (a, b) for a in range(12, 25, 2) for b in (14, 17, 19, 21)})
    floor = found.estimates().query("measure == 'competence_floor'").set_index("model")
    p = found.tests().query("alternative == 'greater'").set_index("model")["p_value"]
    excludes = floor["ci_low"] > 0.5
    assert 3 < excludes.sum() < len(floor) - 3
    assert excludes.eq(p[floor.index] < 0.025).all()


def test_m8_a_table_says_that_its_intervals_are_not_adjusted(write, report, logs_of):
    """M8: catches adjusted tests beside intervals of single models without a word."""
    content = report(write(logs_of.judged("m", {"yes": "Yes", "no": "No"})))
    printed = render_markdown(next(t for t in content.tables if t.spec.name == "floor_tests"))
    assert "adjusted over models; the 95% intervals are two-sided and of single models" in printed


def test_b1_a_positive_bias_leans_to_yes(write, report, logs_of):
    """B1: catches the first level in the alphabet (no) taken for the event."""
    exchange = {"yes": "no", "no": "yes"}
    said = {"yes": answered(20, "yes", 24), "no": answered(9, "no", 24)}
    turned = {exchange[g]: [exchange[a] for a in texts] for g, texts in said.items()}
    content = report(
        write(
            logs_of.judged("as it is", said)
            + [row | {"item": f"turned {row['item']}"} for row in logs_of.judged("turned", turned)]
        )
    )
    found = content.data["estimates"].set_index(["model", "measure"])
    for measure, sign in (("answer_bias", -1), ("criterion_c", -1), ("competence_floor", 1), ("d_prime", 1)):
        first, second = (found.loc[(model, measure)] for model in ("as it is", "turned"))
        assert second["estimate"] == pytest.approx(sign * first["estimate"])
        assert second["ci_low"] == pytest.approx(sign * first["ci_low" if sign > 0 else "ci_high"])
    assert found.loc[("as it is", "answer_bias"), "estimate"] == pytest.approx((20 - 9) / 24)
    assert found.loc[("as it is", "yes_rate"), "estimate"] == pytest.approx((20 + 15) / 48)
    printed = render_markdown(next(t for t in content.tables if t.spec.name == "cells"))
    assert "above 0 leans to Yes" in printed


def test_b4_sensitivity_at_the_ceiling_is_finite(write, report, logs_of):
    """B4: catches an infinite d' for a hit rate of 1 or a false-alarm rate of 0, and an unnamed correction."""
    rows = logs_of.judged("right", {"yes": "Yes", "no": "No"}) + logs_of.judged("yes", {"yes": "Yes", "no": "Yes"})
    content = report(write(rows))
    found = content.data["estimates"].set_index(["model", "measure"])
    z = ndtri(12.5 / 13)
    assert found.loc[("right", "d_prime"), "estimate"] == pytest.approx(2 * z)
    assert found.loc[("right", "criterion_c"), "estimate"] == pytest.approx(0)
    assert found.loc[("yes", "d_prime"), "estimate"] == pytest.approx(0)
    assert found.loc[("yes", "criterion_c"), "estimate"] == pytest.approx(-z)
    deviates = found[found["scale"] == "standard normal deviate"]
    assert np.isfinite(deviates["estimate"].to_numpy(float)).all()
    assert not np.isinf(deviates[["ci_low", "ci_high"]].to_numpy(float)).any()
    assert np.isfinite(found.loc[("right", "d_prime"), "ci_low"])
    assert deviates.loc[deviates[["ci_low", "ci_high"]].isna().any(axis=1), "reason"].ne("").all()
    printed = render_markdown(next(t for t in content.tables if t.spec.name == "contrasts"))
    assert "0.5 added to the counts of each class" in printed


def test_b6_always_yes_is_no_coin(write, report, logs_of):
    """B6: catches a ranking in which a constant Yes ties with a coin: their accuracies are the same."""
    coin = {g: ["Yes", "No"] * 12 for g in ("yes", "no")}
    rows = logs_of.judged("coin", coin) + logs_of.judged("always yes", {"yes": "Yes", "no": "Yes"}, n=24)
    content = report(write(rows))
    found = content.data["estimates"].set_index(["model", "measure"])
    assert found.loc[("coin", "accuracy"), "estimate"] == found.loc[("always yes", "accuracy"), "estimate"] == 0.5
    assert found.loc[("always yes", "answer_bias"), "ci_low"] > found.loc[("coin", "answer_bias"), "ci_high"]
    assert found.loc[("always yes", "competence_floor"), "ci_high"] < found.loc[("coin", "competence_floor"), "ci_low"]
    assert any("always yes (+1.00)" in s and "coin" not in s for s in content.summary if "Leaning to Yes" in s)
