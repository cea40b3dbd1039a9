"""Limits for the ranks of models by incoherence."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.incoherence_differences import pairwise_differences
from analysis.frequentist.incoherence_ranks import incoherence_ranks


def instances(sizes: dict[str, list[float]], *, k: int = 2) -> pd.DataFrame:
    """One instance per unit; the mean residual is the value given, without noise."""
    return pd.DataFrame(
        [
            {"task": "t", "model": model, "unit": f"u{u:02d}", "identity": "x", "k": k, "mean": value, "ss": 0.0,
             "abs_residual": abs(value)}
            for model, values in sizes.items() for u, value in enumerate(values)
        ]
    )  # fmt: skip


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    return incoherence_ranks(table, rng=np.random.default_rng(1), resamples=999).set_index("model")


def test_the_least_incoherent_model_is_first():
    """Catches ranks that begin with the largest residual, and resamples that differ between models."""
    base = np.linspace(0.1, 0.9, 30)
    found = ranks(instances({"a": list(base + 0.05), "b": list(base), "c": list(-base - 0.5)}))
    assert found["mean_abs_residual_rank"].to_dict() == {"a": 2, "b": 1, "c": 3}
    # Every unit has the same order: no resample can change it.
    assert (found["mean_abs_residual_rank_low"] == found["mean_abs_residual_rank_high"]).all()
    assert found["mean_abs_residual_first"].to_dict() == {"a": 0, "b": 1, "c": 0}
    assert found.loc["b", "persistent_squared"] == pytest.approx(np.mean(base**2))


def test_equal_models_leave_every_rank_open():
    """Catches limits that name a winner among models that differ in no way but by chance."""
    rng = np.random.default_rng(2)
    found = ranks(instances({name: list(rng.normal(0, 0.3, 40)) for name in "abcd"}))
    assert (found["mean_abs_residual_rank_low"] <= 2).all()
    assert (found["mean_abs_residual_rank_high"] >= 3).all()
    assert found["mean_abs_residual_first"].sum() == pytest.approx(1)


def test_one_wording_has_no_persistent_rank_and_one_model_none_at_all():
    """Catches a rank of what is not known."""
    found = ranks(instances({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.4, 0.1]}, k=1))
    assert found["persistent_squared_rank"].isna().all()
    assert (found["persistent_squared_reason"] == "no value to rank").all()
    assert incoherence_ranks(instances({"a": [0.1]}), rng=np.random.default_rng(0)).empty


def test_max_t_keeps_the_correlation_of_pairs():
    """Catches max-T that adjusts like Bonferroni, limits that stay those of one pair, and squares let through."""
    rng = np.random.default_rng(3)
    shared = rng.normal(0, 0.3, 40)
    table = instances({name: list(shared + shift) for name, shift in (("a", 0.0), ("b", 0.02), ("c", 0.021))})
    table["abs_residual"] = 1 + table["mean"] + rng.normal(0, 0.05, len(table))
    holm = pairwise_differences(table, rng=np.random.default_rng(4))
    stepped = pairwise_differences(table, rng=np.random.default_rng(4), adjust="max_t")
    assert (stepped["p_adjusted"] >= stepped["p_value"] - 0.01).all()
    assert (stepped["p_adjusted"] <= stepped["p_bonferroni"] + 0.01).all()
    assert set(stepped["p_adjust_method"]) == {"max_t"}
    width = stepped["ci_high"] - stepped["ci_low"]
    assert (width > (holm["ci_high"] - holm["ci_low"])).all()
    np.testing.assert_array_equal(stepped["p_value"], holm["p_value"])
    with pytest.raises(AnalysisError, match="max_t' of squares"):
        pairwise_differences(table, rng=rng, squared=True, adjust="max_t")
