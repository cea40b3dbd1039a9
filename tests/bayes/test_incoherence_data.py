"""Instances of incoherence: every rule refused by name, what is set aside, and when units are modelled."""

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.incoherence_data import (
    LEAST_PAIRED_UNITS,
    checked_instances,
    model_instances,
    observed_arrays,
    sampled_units,
)
from analysis.errors import AnalysisError
from tests.bayes.incoherence_tables import paired_names, residual_table


def table(n: int = 8, k: int = 3, seed: int = 0) -> pd.DataFrame:
    return residual_table(np.random.default_rng(seed).normal(size=(n, k)))


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("k", 0, "whole number of wordings"),
        ("k", 2.5, "whole number of wordings"),
        ("mean", np.inf, "finite number"),
        ("mean", np.nan, "finite number"),
        ("ss", -0.1, "not negative"),
        ("clipped", 1.2, "clipped must lie"),
        ("unit", None, "must be given"),
    ],
)
def test_each_bad_value_is_refused_by_its_rule(column: str, value: object, rule: str) -> None:
    """Catches a bad value that would reach the sampler as NaN or a wrong number of wordings."""
    bad = table().astype({"k": float})
    bad.loc[3, column] = value
    with pytest.raises(AnalysisError, match=rule):
        checked_instances(bad)


def test_one_wording_with_a_deviation_is_refused() -> None:
    """Catches a deviation that a single wording cannot have."""
    bad = table()
    bad.loc[2, "k"] = 1
    with pytest.raises(AnalysisError, match="0 with one wording"):
        checked_instances(bad)


def test_missing_columns_duplicates_and_two_tasks_are_refused() -> None:
    """Catches rows counted twice, or two tasks mixed in one fit."""
    with pytest.raises(AnalysisError, match="lack the column"):
        checked_instances(table().drop(columns=["ss", "k"]))
    with pytest.raises(AnalysisError, match="once"):
        checked_instances(pd.concat([table(), table().head(1)]))
    with pytest.raises(AnalysisError, match="one task at a time"):
        checked_instances(pd.concat([table(), table().assign(task="other")]))
    with pytest.raises(AnalysisError, match="no instance to fit"):
        checked_instances(table().head(0))


def test_rows_in_are_rows_used_and_set_aside() -> None:
    """Catches instances in one wording that enter the fit, or vanish."""
    mixed = table(10)
    mixed.loc[[1, 4], ["k", "ss"]] = [1, 0.0]
    (one,) = model_instances(checked_instances(mixed))
    assert (one.size, len(one.set_aside)) == (8, 2)
    assert set(one.set_aside["unit"]) == {"u001", "u004"}
    assert (one.k == 3).all()


@pytest.mark.parametrize("pairs", [LEAST_PAIRED_UNITS - 1, LEAST_PAIRED_UNITS])
def test_units_are_modelled_from_twenty_pairs_on(pairs: int) -> None:
    """Catches an off-by-one threshold, and unit numbers that join the wrong identities."""
    unit, identity = paired_names(pairs, 5)
    residuals = np.random.default_rng(1).normal(size=(len(unit), 2))
    (one,) = model_instances(checked_instances(residual_table(residuals, unit=unit, identity=identity)))
    assert one.paired_units == pairs
    assert one.units == pairs + 5
    assert one.paired.sum() == (2 * pairs if pairs >= LEAST_PAIRED_UNITS else 0)
    for name, part in one.rows[one.paired].groupby("unit"):
        assert len(set(one.unit_at[part.index])) == 1, name


def test_padding_is_unused_and_keeps_the_data() -> None:
    """Catches padded rows that count as instances."""
    (one,) = model_instances(checked_instances(table(6)))
    arrays = observed_arrays(one, size=9)
    assert {len(values) for values in arrays.values()} == {9}
    np.testing.assert_array_equal(arrays["used"], [1] * 6 + [0] * 3)
    np.testing.assert_allclose(arrays["mean"][:6], one.mean)
    with pytest.raises(AnalysisError, match="do not fit"):
        observed_arrays(one, size=5)


def test_order_of_rows_changes_nothing() -> None:
    """Catches arrays in the order of the file."""
    first = checked_instances(table(12))
    second = checked_instances(table(12).sample(frac=1, random_state=3))
    pd.testing.assert_frame_equal(first, second)


def test_sample_keeps_whole_units_of_all_models_within_the_limit() -> None:
    """Units of one or two identities: catches split units, models sampled apart, a sample by row order."""
    pairs = [(f"u{u:02d}", i) for u in range(30) for i in ("a", "b")[: 1 + u % 2]]
    rows = pd.DataFrame([(m, u, i) for m in "xyz" for u, i in pairs], columns=["model", "unit", "identity"])
    rows = rows[~((rows["model"] == "z") & (rows["identity"] == "b"))]
    found = sampled_units(rows, 20, rng=np.random.default_rng(1))
    sizes = found.groupby("model").size()
    assert 19 <= sizes["x"] <= 20
    assert sizes["x"] == sizes["y"] > sizes["z"]
    of_x, all_of_x = (t[t["model"] == "x"].groupby("unit").size() for t in (found, rows))
    assert of_x.equals(all_of_x[of_x.index])
    again = sampled_units(rows.sample(frac=1, random_state=3), 20, rng=np.random.default_rng(1))
    assert set(again.index) == set(found.index)
    assert set(sampled_units(rows, 20, rng=np.random.default_rng(2))["unit"]) != set(found["unit"])
    assert sampled_units(rows, 45, rng=np.random.default_rng(1)).equals(rows)
