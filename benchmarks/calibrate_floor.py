"""Coverage of every interval, and size of the floor test, over simulated regimes.

    python benchmarks/calibrate_floor.py [--deviates] [--replicates 4000] [--seed 20260801] [--out FILE.csv]

writes ``benchmarks/results/floor_coverage.csv`` (of d' and c ``deviate_coverage.csv``) and, beside it, the same name
with ``.json``: command, versions, band. The band around a nominal value is 3 standard errors, where the variance is
the binomial one of R replicates plus .007 squared, the error of the reference simulations (1,000 replicates).
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from floor_regimes import CASES, CLUSTERING, NULL_CASES, SIZES, SPLITS, Regime, asked, right_answers, split_regime
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import t as student

from analysis.frequentist.cell_rates import FOUR_CELL_DESIGN as DESIGN
from analysis.frequentist.clustered_rates import (
    ClusteredRates,
    clustered_rates,
    difference_limits,
    floor_limits,
    rate_limits,
)
from analysis.frequentist.floor import floor_above, floor_below
from analysis.frequentist.signal_detection_limits import z_difference_limits
from analysis.measures.competence import affirmative_floor, cell_floor, competence_floor

REFERENCE_ERROR = 0.007
FLOORS = {"competence_floor": competence_floor, "affirmative_floor": affirmative_floor, "cell_floor": cell_floor}


def band(nominal: float, replicates: int) -> tuple[float, float]:
    """Accepted range of a simulated proportion whose true value is ``nominal``."""
    half = 3 * np.sqrt(nominal * (1 - nominal) / replicates + REFERENCE_ERROR**2)
    return nominal - half, nominal + half


def simulated_rates(regime: Regime, replicates: int, rng: np.random.Generator) -> ClusteredRates:
    """Estimates of ``replicates`` data sets of one regime, contrasts in the order of the design."""
    return clustered_rates(asked(regime), right_answers(regime, replicates, rng), DESIGN.weights)


def interval_rows(regime: Regime, replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Coverage, misses on either side, mean width and share of open intervals of every measure."""
    rates = simulated_rates(regime, replicates, rng)
    truth = DESIGN.weights @ np.array(regime.cells)
    low, high = rate_limits(rates)
    found = rates.contrasts
    rows = []
    for at, name in enumerate(DESIGN.names):
        if name in DESIGN.differences:
            limits = difference_limits(rates, at, (0, 1, 2, 3), DESIGN.weights[at])
            half = student.ppf(0.975, found.df[:, at]) * np.sqrt(found.variance[:, at])
            plain = (found.estimate[:, at] - half, found.estimate[:, at] + half)
            rows.append(_row(name, "cluster t", plain, truth[at]))
            rows.append(_row(name, "square-and-add", limits, truth[at]))
        elif not name.startswith("va_minus"):
            rows.append(_row(name, "cluster Wilson", (low[:, at], high[:, at]), truth[at]))
    for name, (members, _) in DESIGN.floors.items():
        limits = floor_limits(rates, tuple(map(DESIGN.at, members)))
        rows.append(_row(name, "smallest of cluster Wilson", limits, float(FLOORS[name](regime.cells))))
    return rows


def deviate_rows(regime: Regime, replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Coverage of the intervals for d' and c, by the delta method and by square-and-add; an open end covers."""
    rates = simulated_rates(regime, replicates, rng)
    classes, at = (DESIGN.at("acc_yes"), DESIGN.at("acc_no")), DESIGN.at("answer_bias")
    responses = asked(regime).sum(axis=0) @ np.array([[1, 0], [0, 1], [0, 1], [1, 0]])
    z_yes, z_no = ndtri((DESIGN.weights @ np.array(regime.cells))[list(classes)])
    rows = []
    for name, truth in (("d_prime", z_yes + z_no), ("criterion_c", (z_no - z_yes) / 2)):
        estimate, variance, *limits = z_difference_limits(
            rates, classes, at, responses, criterion=name == "criterion_c"
        )
        half = student.ppf(0.975, rates.contrasts.df[:, at]) * np.sqrt(variance)
        rows.append(_row(name, "delta t", (estimate - half, estimate + half), truth))
        rows.append(_row(name, "square-and-add", (limits[0], limits[1]), truth))
    return rows


def test_rows(regime: Regime, replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Share of rejections of the floor tests where they should be rare."""
    rates = simulated_rates(regime, replicates, rng)
    at = [DESIGN.at("acc_yes"), DESIGN.at("acc_no")]
    rate, n_eff, df = rates.contrasts.estimate[:, at], rates.n_eff[:, at], rates.contrasts.df[:, at]
    above, below = floor_above(rate, n_eff, df)[1], floor_below(rate, n_eff, df)[1]
    tests = {"floor > .5, nominal .05": above <= 0.05, "floor < .5, nominal .05": below <= 0.05}
    return [{"measure": name, "method": "test", "rejected": float(hit.mean())} for name, hit in tests.items()]


def _plan(*, deviates: bool) -> Iterator[tuple[Regime, int, str, Callable[..., list[dict[str, object]]]]]:
    of_intervals = deviate_rows if deviates else interval_rows
    for cases, rows in ((CASES, of_intervals), ({} if deviates else NULL_CASES, test_rows)):
        for case, cells in cases.items():
            for per_cell, (surfaces, per_surface) in SIZES.items():
                for clustering, sds in CLUSTERING.items():
                    yield Regime(case, cells, surfaces, per_surface, *sds), per_cell, clustering, rows
    for case in ("tie .70/.70", "chance tie .50/.50", "gap .60/.80"):
        for split in SPLITS:
            for clustering, sds in CLUSTERING.items():
                yield split_regime(case, split, *sds), 0, clustering, of_intervals


def _row(
    measure: str, method: str, limits: tuple[NDArray[np.float64], NDArray[np.float64]], truth: float
) -> dict[str, object]:
    low, high = limits
    slack = 1e-12  # a limit that equals the truth but for rounding covers it
    above, below = low > truth + slack, high < truth - slack
    closed = np.isfinite(low) & np.isfinite(high)
    return {
        "measure": measure,
        "method": method,
        "truth": truth,
        "coverage": float(1 - above.mean() - below.mean()),
        "low_above_truth": float(above.mean()),
        "high_below_truth": float(below.mean()),
        "mean_width": float((high - low)[closed].mean()) if closed.any() else np.nan,
        "open": float(1 - closed.mean()),
    }


def calibration(replicates: int, seed: int, *, deviates: bool = False, chunk: int = 1000) -> pd.DataFrame:
    """All regimes; replicates in chunks so that memory stays small."""
    rng = np.random.default_rng(seed)
    tables = []
    for regime, per_cell, clustering, rows in _plan(deviates=deviates):
        parts = [pd.DataFrame(rows(regime, chunk, rng)) for _ in range(max(replicates // chunk, 1))]
        mean = pd.concat(parts).groupby(["measure", "method"], sort=False).mean().reset_index()
        labels = {"case": regime.case, "split": regime.split, "per_cell": per_cell, "clustering": clustering}
        tables.append(mean.assign(**labels))
    table = pd.concat(tables, ignore_index=True)
    low, high = band(0.95, replicates)
    inside = table["coverage"].between(low, high).where(table["coverage"].notna())
    return table.assign(replicates=replicates, band_low=low, band_high=high, in_band=inside)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=4000, help="data sets per regime, in thousands")
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--deviates", action="store_true", help="d' and c alone")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    name, option = ("deviate_coverage", "--deviates ") if args.deviates else ("floor_coverage", "")
    out = args.out or Path(__file__).parent / "results" / f"{name}.csv"
    start = time.process_time()
    table = calibration(args.replicates, args.seed, deviates=args.deviates)
    keys = ["case", "split", "per_cell", "clustering", "measure", "method"]
    out.parent.mkdir(parents=True, exist_ok=True)
    table[[*keys, *(name for name in table.columns if name not in keys)]].round(5).to_csv(out, index=False)
    note = {
        "command": f"python benchmarks/calibrate_floor.py {option}--replicates {args.replicates} --seed {args.seed}",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas")}
        | {"python": platform.python_version()},
        "band": "3 standard errors, variance = binomial variance of R replicates + .007 squared",
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    shown = table[
        (table["measure"] == ("d_prime" if args.deviates else "competence_floor")) & (table["method"] != "delta t")
    ].pivot(index=["case", "split", "clustering"], columns="per_cell", values="coverage")
    print(shown.round(3).to_string())
    print(f"{out}: {len(table)} rows, {note['cpu_seconds']} CPU seconds")


if __name__ == "__main__":
    main()
