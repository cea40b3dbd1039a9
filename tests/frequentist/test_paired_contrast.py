"""Paired contrasts: known answers, uncertain answers, degenerate tables."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar

from analysis.frequentist.paired_contrast import contrast_by_model, contrast_ladder, treated_pairs, without_each_model


def table(rows: list[tuple]) -> pd.DataFrame:
    """Pairs from (model, unit, right_first, right_second)."""
    pairs = pd.DataFrame(rows, columns=["model", "unit", "right_first", "right_second"])
    return pairs.assign(yes_first=0, yes_second=1, uncertain_first=0, uncertain_second=0)


def random_pairs(seed=0, units=30) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return table([(m, f"u{u}", *rng.binomial(1, [0.7, 0.5])) for m in ("a", "b") for u in range(units)])


def test_one_pair_a_unit_agrees_with_mcnemar_of_statsmodels():
    """Catches discordant pairs counted on the wrong side, and a sum over models in one row."""
    pairs = treated_pairs(random_pairs())
    row = contrast_by_model(pairs, ["a", "b"], rng=np.random.default_rng(0), flips=200).set_index("model").loc["a"]
    own = pairs[pairs["model"] == "a"]
    cross = pd.crosstab(own["right_first"], own["right_second"])
    assert row["p_exact"] == pytest.approx(mcnemar(cross, exact=True).pvalue)
    assert (row["b"], row["c"]) == (cross.loc[1, 0], cross.loc[0, 1])
    assert row["estimate"] == pytest.approx(own["right_first"].mean() - own["right_second"].mean())
    assert row["deff"] == pytest.approx(1)
    assert (row["yes_first"], row["yes_second"]) == (0, 1)


def test_treatments_of_uncertain_answers():
    """Catches pairs kept with half an answer missing, and credit given to the wrong side."""
    pairs = random_pairs(units=4)
    pairs.loc[0, ["right_first", "uncertain_first"]] = [0, 1]
    assert treated_pairs(pairs)["value_first"].iloc[0] == 0
    assert treated_pairs(pairs, uncertain="half")["value_first"].iloc[0] == 0.5
    assert len(treated_pairs(pairs, uncertain="excluded")) == len(pairs) - 1


def test_no_discordant_pair_and_no_pair_are_defined():
    """Catches p = NaN without a reason, and a model that disappears because it has no pair."""
    pairs = treated_pairs(table([("a", f"u{u}", 1, 1) for u in range(5)]))
    rows = contrast_by_model(pairs, ["a", "b"], rng=np.random.default_rng(0), flips=100).set_index("model")
    assert rows.loc["a", "p_value"] == 1
    assert rows.loc["a", "test_reason"]
    assert np.isnan(rows.loc["b", "p_value"])
    assert rows.loc["b", "reason"] == "no matched pair"
    assert rows.loc["a", "odds_reason"]


def test_ladder_takes_rows_units_and_models():
    """Catches rungs that all take the same unit: the p-value of 60 rows differs from that of 2 models."""
    pairs = treated_pairs(random_pairs())
    rows = contrast_ladder(pairs, unit="surface", rng=np.random.default_rng(0), flips=500).set_index("unit")
    assert rows["n_clusters"].to_dict() == {"rows": 60, "surface": 30, "model": 2, "surface × model": 2}
    assert rows.loc["model", "p_value"] >= 0.5
    assert rows["n"].eq(60).all()


def test_leaving_models_out_adds_up():
    """Catches the net change with a model reported as that without it."""
    pairs = treated_pairs(random_pairs())
    rows = without_each_model(pairs, rng=np.random.default_rng(0), flips=100)
    total = (pairs["value_first"] - pairs["value_second"]).sum()
    assert (rows["estimate"] + rows["net"]).eq(total).all()
