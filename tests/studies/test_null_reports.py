"""Reports on logs in which there is nothing to find: the study of ``make calibrate``, few replicates."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STUDIES = 6
#: A family whose reports err with probability .05 errs in four of six with probability 9e-5.
MOST_REPORTS = 3
#: Kinds that erred more often than stated in the committed run.
KNOWN: list[str] = []


@pytest.fixture(scope="module")
def benchmark_module() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("calibrate_null_reports")


@pytest.fixture(scope="module")
def claims(benchmark_module: ModuleType) -> pd.DataFrame:
    return benchmark_module.claims_table(range(STUDIES), 20260802)


def test_false_claims_stay_rare(claims: pd.DataFrame) -> None:
    """Catches a part of the report whose tests take rows as units, forget a family, or count one tail."""
    families = claims[claims["per"].eq("report") & claims["stated"].notna()]
    wrong = families.assign(wrong=families["false"] > 0).groupby("kind")["wrong"].sum()
    assert len(wrong) > 25
    assert (wrong <= MOST_REPORTS).all(), wrong[wrong > MOST_REPORTS].to_dict()
    single = claims[claims["per"].eq("claim") & claims["stated"].eq(0.05)]
    assert single["possible"].sum() > 1500
    assert single["false"].sum() / single["possible"].sum() < 0.09
    assert claims.loc[claims["kind"].str.contains("above .5"), "false"].sum() == 0


def test_a_wrong_rate_would_be_seen(benchmark_module: ModuleType) -> None:
    """Catches a verdict that lets a rate of .12 pass for .05, or calls .05 too much."""
    common = {"regime": "coins", "stated": 0.05, "per": "report", "possible": 5}
    rows = [
        common | {"study": s, "kind": kind, "false": int(s < wrong)}
        for kind, wrong in (("honest", 10), ("too often", 24))
        for s in range(200)
    ]
    table = benchmark_module.judged(pd.DataFrame(rows)).set_index("kind")
    assert table["more"].to_dict() == {"honest": False, "too often": True}


def test_committed_results_are_of_these_kinds(claims: pd.DataFrame) -> None:
    """Catches results that were committed before a kind of claim came or went, or that failed without being said."""
    committed = pd.read_csv(BENCHMARKS / "results" / "null_reports.csv")
    assert set(committed["kind"]) == set(claims.loc[claims["possible"] > 0, "kind"])
    assert committed.loc[committed["more"], "kind"].tolist() == KNOWN
    note = json.loads((BENCHMARKS / "results" / "null_reports.json").read_text())
    assert note["kinds_with_more"] == KNOWN
    assert committed.loc[committed["kind"] == "floor below .5", "reports"].item() == 200
