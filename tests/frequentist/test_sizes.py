"""Size, power and coverage of paired and permutation tests: the regimes of ``make calibrate``, few replicates."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
#: Rows expected outside their bands of 3 standard errors: 165 * .0027 = .45, and rows of one regime move together.
MOST_OUTSIDE = 2


@pytest.fixture(scope="module")
def table() -> Iterator[pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("calibrate_tests").calibration(20260802, 0.05)


def test_sizes_lie_in_their_bands(table: pd.DataFrame) -> None:
    """Catches rows taken as units (size .36 for .04), one-sided counts, wrong degrees of freedom."""
    compared = table[table["in_band"].notna()]
    outside = compared[~compared["in_band"].astype(bool)]
    assert len(compared) > 150
    assert len(outside) <= MOST_OUTSIDE, outside[["regime", "method", "reference_low", "estimate"]].to_string()


def test_a_wrong_unit_would_be_seen(table: pd.DataFrame) -> None:
    """The bands are narrow enough to tell a row test from a unit test under clustering."""
    clustered = table[table["regime"].eq("surface sd 2")].set_index("method")
    assert clustered.loc["chi2", "band_low"] > clustered.loc["sign flip, surface", "band_high"]


def test_committed_results_are_of_these_regimes(table: pd.DataFrame) -> None:
    """Catches results that were committed before a regime or a method changed its name, or that failed."""
    committed = pd.read_csv(BENCHMARKS / "results" / "test_sizes.csv")
    keys = ["section", "regime", "method", "quantity"]
    pd.testing.assert_frame_equal(committed[keys], table[keys])
    np.testing.assert_allclose(committed["reference_low"], table["reference_low"], atol=1e-5)
