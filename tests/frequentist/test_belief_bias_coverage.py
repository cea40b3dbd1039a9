"""Coverage of the intervals of the mean belief bias: a regime of its benchmark, few replicates."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
REPLICATES = 120


@pytest.fixture(scope="module")
def benchmark_module() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("belief_bias_coverage")


def test_both_intervals_cover_their_own_truth(benchmark_module: ModuleType) -> None:
    """Catches models drawn anew in the wrong interval, units drawn within models, and widths off by a root of two.

    3 standard errors of 120 replicates around .945: at least .88, and for a width half as large again .995 or more.
    """
    rows = benchmark_module.coverage("14 models, 160 items", REPLICATES, np.random.default_rng(20260802), 499)
    found = {row["interval"]: row for row in rows}
    assert found["these models, new items"]["coverage"] >= 0.88
    assert found["new models, new items"]["coverage"] >= 0.88
    assert min(row["coverage"] for row in rows) < 0.995
    assert found["new models, new items"]["width"] > 1.4 * found["these models, new items"]["width"]


def test_committed_results(benchmark_module: ModuleType) -> None:
    """Catches results of other regimes, and a coverage that fell below what the documentation says."""
    committed = pd.read_csv(BENCHMARKS / "results" / "belief_bias_coverage.csv")
    assert list(dict.fromkeys(committed["regime"])) == list(benchmark_module.REGIMES)
    assert committed["coverage"].between(0.905, 0.96).all()
    assert (committed["replicates"] >= 800).all()
