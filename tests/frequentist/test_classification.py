"""Precision, recall and their like by model: by hand, by unit, and where a class is never said."""

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.classification import classification_estimates
from tests.frequentist.answer_tables import answer_table

RNG = np.random.default_rng


def table(*groups, model="m"):
    """(gold, said, count): every row its own unit unless a unit is named."""
    rows = []
    for gold, said, count in groups:
        for _ in range(count):
            i = len(rows)
            rows.append({"model": model, "unit": f"u{i}", "item": f"i{i}", "gold": gold, "said": said})
    return answer_table(rows)


def measures(answers, **options):
    found = classification_estimates(answers, rng=RNG(0), resamples=400, **options)
    return found[found["model"] == "m"].set_index("measure")


WORKED = (("yes", "yes", 40), ("yes", "no", 10), ("yes", "?", 5), ("no", "yes", 20), ("no", "no", 25), ("no", "-", 3))


def test_measures_by_hand():
    """Catches unreadable answers said to be yes, set-aside ones counted, recall and precision exchanged."""
    found = measures(table(*WORKED))
    expected = {
        "accuracy": 65 / 100, "precision": 40 / 60, "recall": 40 / 55, "specificity": 25 / 45, "yes_rate": 0.6,
        "f1": 80 / 115, "f1_no": 50 / 80, "macro_recall": (40 / 55 + 25 / 45) / 2,
    }  # fmt: skip
    for name, value in expected.items():
        assert found.loc[name, "estimate"] == pytest.approx(value), name
        assert found.loc[name, "ci_low"] < value < found.loc[name, "ci_high"], name
    assert found.loc["accuracy", "n"] == 100
    excluded = measures(table(*WORKED), uncertain="excluded")
    assert excluded.loc["recall", "estimate"] == pytest.approx(0.8)
    assert excluded.loc["precision", "estimate"] == pytest.approx(40 / 60)


def test_a_model_that_never_says_yes():
    """Catches 0/0 as a precision of 0 or 1, and an interval of zero width."""
    found = measures(table(("yes", "no", 20), ("no", "no", 20)))
    assert np.isnan(found.loc["precision", "estimate"])
    assert found.loc["precision", "reason"] == "never said yes"
    assert found.loc["f1", "estimate"] == 0
    assert np.isnan(found.loc["f1", "ci_low"])
    assert np.isnan(found.loc["matthews_correlation", "estimate"])
    assert found.loc["specificity", "ci_low"] < 1


def test_another_gold_label():
    """Catches the second label ignored; rows without it are left out."""
    answers = table(("yes", "yes", 10), ("no", "no", 10))
    label = np.array(["yes"] * 4 + ["no"] * 6 + ["yes"] * 2 + [""] * 8, dtype=object)
    found = measures(answers, gold=label)
    assert found.loc["accuracy", "estimate"] == pytest.approx(4 / 12)
    assert found.loc["recall", "estimate"] == pytest.approx(4 / 6)


def test_copies_of_a_unit_tell_nothing_new():
    """Catches rows resampled instead of units: twelve configurations of the same answers."""
    once = table(*WORKED)
    copies = answer_table(
        [
            {"model": "m", "unit": r.unit, "item": r.item, "gold": r.gold, "strategy": str(c), "said": said}
            for c in range(12)
            for r, said in zip(once.itertuples(), _said(once), strict=True)
        ]
    )
    single, many = measures(once), measures(copies)
    for name in ("precision", "f1", "matthews_correlation", "macro_f1"):
        assert many.loc[name, "estimate"] == pytest.approx(single.loc[name, "estimate"])
        widths = [found.loc[name, "ci_high"] - found.loc[name, "ci_low"] for found in (single, many)]
        assert widths[1] == pytest.approx(widths[0], rel=0.05), name


def _said(answers):
    lost = answers["right"].isna()
    return np.where(lost, "-", np.where(answers["unclear"] == 1, "?", answers["answer"]))


def test_models_are_apart_and_order_changes_nothing():
    """Catches units or resamples of one model reaching another."""
    answers = answer_table(
        [{"model": m, "unit": f"u{i}", "item": f"i{i}", "gold": g, "said": s} for m, s in (("m", "yes"), ("k", "no"))
         for i, g in enumerate(["yes", "no"] * 10)]
    )  # fmt: skip
    found = classification_estimates(answers, rng=RNG(1), resamples=200)
    accuracy = found[found["measure"] == "recall"].set_index("model")["estimate"]
    assert (accuracy["m"], accuracy["k"]) == (1, 0)
    shuffled = classification_estimates(answers.sample(frac=1, random_state=2), rng=RNG(1), resamples=200)
    assert found.equals(shuffled)


def test_coverage_of_f1_when_units_share_answers():
    """Catches an interval of F1 that takes rows as independent: units of 8 rows that stand or fall together."""
    rng, covered = RNG(5), 0
    truth = 2 * 0.7 / (2 * 0.7 + 0.2 + 0.3)
    unit = np.repeat(np.arange(80), 8)
    answers = answer_table(
        [{"model": "m", "unit": f"u{u}", "item": str(i), "gold": "yes" if u % 2 else "no", "said": "no"}
         for i, u in enumerate(unit)]
    )  # fmt: skip
    gold = answers["gold"].to_numpy() == "yes"
    for _ in range(100):
        said = (rng.random(80) < np.where(np.arange(80) % 2, 0.7, 0.2))[unit]
        found = measures(answers.assign(endorsed=said.astype(float), right=(said == gold).astype(float))).loc["f1"]
        covered += found["ci_low"] <= truth <= found["ci_high"]
    # 95 expected, three binomial standard errors 6.5; rows as units would cover about 50.
    assert covered >= 88


def test_limits_of_a_model_do_not_depend_on_the_others():
    """Catches resamples drawn for all models together: leaving one out, with units of its own, changed the rest."""
    own = table(*WORKED)
    other = table(*WORKED[:4], model="k").assign(unit=lambda rows: "k" + rows["unit"].astype(str))
    alone, beside = measures(own), measures(pd.concat([other, own], ignore_index=True))
    for name in ("f1", "matthews_correlation", "macro_recall"):
        assert alone.loc[name, "ci_low"] == beside.loc[name, "ci_low"], name
        assert alone.loc[name, "ci_high"] == beside.loc[name, "ci_high"], name


def test_macro_recall_has_limits_where_yes_is_all_that_is_said():
    """Catches no interval for a constant answer, where balanced accuracy of the same answers has one."""
    found = measures(table(("yes", "yes", 20), ("no", "yes", 20))).loc["macro_recall"]
    assert found["estimate"] == 0.5
    assert found["ci_low"] < 0.5 < found["ci_high"]
    assert found["ci_method"] == "cluster Wilson (t)"
