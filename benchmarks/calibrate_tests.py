"""Size, power and coverage of paired, permutation and bootstrap procedures over simulated regimes.

    python benchmarks/calibrate_tests.py [--seed 20260801] [--scale 1.0] [--out FILE.csv]

writes ``benchmarks/results/test_sizes.csv``, a row per regime and method beside the reference simulation's
value, and the same name with ``.json``. The band around a reference is 3 standard errors: binomial variance
of their replicates and of ours, and for methods that resample .007 squared for either side, whose replicates
share their flips and resamples. Enumerated sizes have the rounding of the printed value alone.
"""

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from change_sizes import change_rows, few_pairs_rows
from comparison_regimes import FLOOR_PAIRS
from floor_difference_sizes import floor_difference_rows
from level_sizes import denoised_rows, level_rows, range_rows
from model_sizes import family_rows, skewed_rows

REFERENCE_ERROR = 0.007


#: Half a unit of the last printed digit of the references.
ROUNDING = 0.0005


def half_width(row: pd.Series, reference: float) -> float:
    """Accepted distance of an estimate from ``reference``."""
    if row["quantity"] == "enumerated":
        return ROUNDING + 1e-9
    theirs, ours = row["reference_replicates"], row["replicates"]
    p = (reference * theirs + 2) / (theirs + 4)
    # A power is a mean over pairs of models: its spread is seen, not binomial.
    variance = row["sd"] ** 2 if row["quantity"] in ("mean", "power") else p * (1 - p)
    shared = 2 * REFERENCE_ERROR**2 if row["resampled"] else 0.0
    return 3 * float(np.sqrt(variance * (1 / theirs + 1 / ours) + shared)) + ROUNDING


def calibration(seed: int, scale: float = 1.0) -> pd.DataFrame:
    """All sections; ``scale`` multiplies the replicates."""
    rng = np.random.default_rng(seed)

    def size(replicates: int) -> int:
        return max(int(replicates * scale), 20)

    rows = [
        *floor_difference_rows(tuple(FLOOR_PAIRS), size(3000), rng),
        *range_rows(size(4000), rng),
        *denoised_rows(size(1000), rng),
        *level_rows(size(1000), rng),
        *few_pairs_rows(),
        *change_rows(size(4000), rng),
        *family_rows(size(1000), rng),
        *skewed_rows(size(3000), rng),
    ]
    return with_bands(pd.DataFrame(rows))


def with_bands(rows: pd.DataFrame) -> pd.DataFrame:
    """The band of every row that has a reference, and whether its estimate lies inside."""
    low = np.array([row["reference_low"] - half_width(row, row["reference_low"]) for _, row in rows.iterrows()])
    high = np.array([row["reference_high"] + half_width(row, row["reference_high"]) for _, row in rows.iterrows()])
    inside = pd.Series((rows["estimate"] >= low) & (rows["estimate"] <= high)).where(~np.isnan(low))
    return rows.assign(band_low=low, band_high=high, in_band=inside)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the replicates of every regime")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "test_sizes.csv")
    args = parser.parse_args()
    start = time.process_time()
    table = calibration(args.seed, args.scale)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    table.round(5).to_csv(args.out, index=False)
    outside = table[table["in_band"].eq(False)]
    note = {
        "command": f"python benchmarks/calibrate_tests.py --seed {args.seed} --scale {args.scale:g}",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas")}
        | {"python": platform.python_version()},
        "band": "3 standard errors of both simulations + .007 squared for either where replicates share resamples",
        "compared": int(table["in_band"].notna().sum()),
        "outside": len(outside),
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    args.out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    shown = ["section", "regime", "method", "quantity", "reference_low", "estimate", "band_low", "band_high"]
    print(outside[shown].round(4).to_string(index=False) if len(outside) else "every compared value lies in its band")
    print(f"{args.out}: {note['compared']} compared, {len(outside)} outside, {note['cpu_seconds']} CPU seconds")


if __name__ == "__main__":
    main()
