"""Short seeded version of the calibration of the persistent residual; the long one is in benchmarks."""

import numpy as np
import pytest

from benchmarks.calibrate_persistent import band, clip_rows, regime_rows


@pytest.mark.parametrize(("truth", "kind"), [("0", "shared"), (".1", "gaussian"), (".3 heavy", "gaussian")])
def test_coverage_size_and_power_lie_in_their_bands(truth: str, kind: str) -> None:
    """Catches intervals by instance, a test that flips rows, and a biased T."""
    rows = regime_rows(truth, kind, 150, 499, np.random.default_rng([1, 2]))
    outside = [r["quantity"] for r in rows if "low" in r and not r["low"] <= r["value"] <= r["high"]]
    assert not outside


def test_clip_attenuates_as_expected() -> None:
    """Catches a clip on one side only."""
    rows = clip_rows(np.random.default_rng(3), 40_000)
    outside = [r for r in rows if np.isfinite(r.get("low", np.nan)) and not r["low"] <= r["value"] <= r["high"]]
    assert not outside


def test_bands_come_from_monte_carlo_error() -> None:
    """More replicates narrow the band, down to the error of the reference."""
    wide, narrow = (band(0.95, n)["high"] - 0.95 for n in (100, 100_000))
    assert wide > narrow > 3 * 0.007
