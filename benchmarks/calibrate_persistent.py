"""Coverage of the persistent residual's interval, size and power of its test, and what clip and rounding do to it.

    python benchmarks/calibrate_persistent.py [--replicates 1000] [--seed 20261031] [--out FILE.csv]

writes ``benchmarks/results/persistent_coverage.csv`` and, beside it, the same name with ``.json``: command, versions,
bands. A band lies 3 standard errors about the reference value of a first simulation: binomial errors of both, each of
so many replicates, plus .007 squared for resampling matrices that were reused there. Every data set has 83 instances of
57 units in three wordings, with noise of root mean square .3.
"""

import argparse
import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.incoherence_tests import wording_flip_test
from analysis.frequentist.residual_noise import unit_totals
from analysis.frequentist.unit_bootstrap import bootstrap_t
from analysis.measures.coherence import cross_products, log_odds, noise_variance, root

Floats = NDArray[np.float64]
SINGLE, DOUBLE, WORDINGS = 31, 26, 3
UNIT = np.concatenate([np.arange(SINGLE), np.repeat(np.arange(SINGLE, SINGLE + DOUBLE), 2)])
UNITS = SINGLE + DOUBLE
#: Truth × noise -> reference coverage, share of intervals above 0, share of p <= .05 and <= .025.
REFERENCE = {
    ("0", "gaussian"): (0.948, 0.021, 0.052, 0.030),
    ("0", "shared"): (0.934, 0.028, 0.046, 0.026),
    ("0", "t3"): (0.915, 0.037, 0.042, 0.020),
    ("0", "mostly_zero"): (0.885, 0.046, 0.064, 0.038),
    (".1", "gaussian"): (0.937, 0.335, 0.462, 0.342),
    (".1", "shared"): (0.937, 0.314, 0.422, 0.310),
    (".3", "gaussian"): (0.933, 1.0, 1.0, None),
    (".3 lean", "shared"): (0.951, 1.0, 1.0, None),
    (".3 heavy", "gaussian"): (0.919, 0.879, 0.956, 0.920),
    (".3 heavy", "mostly_zero"): (0.898, 0.808, 0.900, 0.832),
}
NAMES = ("coverage", "excludes 0", "p <= .05", "p <= .025")
REFERENCE_REPLICATES, REUSED = 1000, 0.007
#: Clip, rounding -> persistent residual that a true one of .3 appears as, and of 1.0 (reference values).
CLIPPED = {(0.01, False): (0.289, 0.955), (0.05, False): (0.258, 0.840), (0.001, True): (0.32, None)}


def persistent(rng: np.random.Generator, truth: str) -> Floats:
    """Persistent residual of every instance."""
    if truth == "0":
        return np.zeros(len(UNIT))
    if truth == ".3 lean":
        return np.full(len(UNIT), 0.3)
    z = np.sqrt(0.5) * rng.standard_normal(UNITS)[UNIT] + np.sqrt(0.5) * rng.standard_normal(len(UNIT))
    if truth == ".3 heavy":
        return (rng.random(UNITS) < 0.15)[UNIT] * z * np.sqrt(0.09 / 0.15)
    return float(truth) * z


def noise(rng: np.random.Generator, kind: str) -> Floats:
    """Noise (instances, wordings) of root mean square .3."""
    shape = (len(UNIT), WORDINGS)
    if kind == "shared":
        common, own = rng.standard_normal((UNITS, WORDINGS))[UNIT], rng.standard_normal(shape)
        return 0.3 * (np.sqrt(0.6) * common + np.sqrt(0.4) * own)
    if kind == "t3":
        return 0.3 / np.sqrt(3) * rng.standard_t(3, shape)
    if kind == "mostly_zero":
        scale = np.where(rng.random(UNITS) < 0.7, 0.01, np.sqrt(0.09 / 0.3))[UNIT]
        return scale[:, None] * rng.standard_normal(shape)
    return 0.3 * rng.standard_normal(shape)


def replicate(rng: np.random.Generator, truth: str, kind: str, resamples: int) -> tuple[float, float, float, float]:
    """Estimate T, both ends of its interval, and the p-value of one data set."""
    matrix = persistent(rng, truth)[:, None] + noise(rng, kind)
    mean = matrix.mean(axis=1)
    q = cross_products(mean, ((matrix - mean[:, None]) ** 2).sum(axis=1), WORDINGS)
    totals = unit_totals(np.stack([q, np.ones_like(q)]), UNIT, UNITS)
    found = bootstrap_t(totals[0], sizes=totals[1], rng=rng, resamples=resamples)
    test = wording_flip_test(matrix, UNIT, rng=rng, flips=resamples)
    return float(found.estimate), float(found.ci_low), float(found.ci_high), test.p_value


def regime_rows(truth: str, kind: str, replicates: int, resamples: int, rng: np.random.Generator) -> list[dict]:
    """Four proportions of one regime, and the mean estimate, beside their references."""
    drawn = np.array([replicate(rng, truth, kind, resamples) for _ in range(replicates)])
    estimate, low, high, p = drawn.T
    true = (float(truth.split()[0]) ** 2) if truth != "0" else 0.0
    values = ((low <= true) & (true <= high), low > 0, p <= 0.05, p <= 0.025)
    rows = []
    for name, hits, reference in zip(NAMES, values, REFERENCE[truth, kind], strict=True):
        rows.append(
            {"truth": truth, "noise": kind, "quantity": name, "value": hits.mean(), **band(reference, replicates)}
        )
    error = estimate.std(ddof=1) / np.sqrt(replicates)
    rows.append({"truth": truth, "noise": kind, "quantity": "mean of T", "value": estimate.mean(), "reference": true,
                 "low": true - 3 * error, "high": true + 3 * error})  # fmt: skip
    shown = root(estimate)
    rows.append({"truth": truth, "noise": kind, "quantity": "mean of root", "value": shown.mean()})
    return [row | {"replicates": replicates} for row in rows]


def band(reference: float | None, replicates: int) -> dict[str, float]:
    """Accepted range about a reference proportion that was simulated itself."""
    if reference is None:
        return {}
    # At 0 and 1 a binomial error of 0 would promise too much: one miss in as many replicates stands for it.
    p = min(max(reference, 1 / REFERENCE_REPLICATES), 1 - 1 / REFERENCE_REPLICATES)
    error = np.sqrt(p * (1 - p) * (1 / replicates + 1 / REFERENCE_REPLICATES) + REUSED**2)
    return {"reference": reference, "low": reference - 3 * error, "high": reference + 3 * error}


def clip_rows(rng: np.random.Generator, instances: int) -> list[dict]:
    """Persistent residual and noise of 200,000 instances under clips and rounding."""
    rows = []
    for place, tau in enumerate((0.3, 1.0)):
        belief, mu = 2.5 * rng.standard_normal((instances, 1)), tau * rng.standard_normal((instances, 1))
        direct = belief + mu / 2 + 0.2 * rng.standard_normal((instances, WORDINGS))
        implied = belief - mu / 2 + 0.2 * rng.standard_normal((instances, WORDINGS))
        for (clip, rounded), reference in CLIPPED.items():
            sides = [1 / (1 + np.exp(-side)) for side in (direct, implied)]
            sides = [np.round(side, 2) if rounded else side for side in sides]
            r = log_odds(sides[0], clip=clip) - log_odds(sides[1], clip=clip)
            mean = r.mean(axis=1)
            ss = ((r - mean[:, None]) ** 2).sum(axis=1)
            q = cross_products(mean, ss, WORDINGS)
            value = float(root(q.mean()))
            error = float(q.std() / np.sqrt(instances) / (2 * value))
            row = {"truth": f"{tau:g}", "noise": f"clip {clip:g}{', two decimals' if rounded else ''}",
                   "quantity": "persistent", "value": value, "replicates": instances}  # fmt: skip
            if reference[place] is not None:
                # The reference has three digits (two in the last row) and an error of its own.
                half = 3 * np.sqrt(2) * error + (0.005 if rounded else 0.0005)
                row |= {"reference": reference[place], "low": reference[place] - half, "high": reference[place] + half}
            rows.append(row)
            noise_value = float(root(noise_variance(ss, WORDINGS).mean()))
            rows.append({**row, "quantity": "noise", "value": noise_value, "reference": np.nan, "low": np.nan,
                         "high": np.nan})  # fmt: skip
    return rows


def calibration(replicates: int, resamples: int, seed: int, instances: int = 200_000) -> pd.DataFrame:
    """All rows; ``inside`` says whether a value lies in its band, and is missing where there is none."""
    rows = []
    for place, (truth, kind) in enumerate(REFERENCE):
        rows += regime_rows(truth, kind, replicates, resamples, np.random.default_rng([seed, place]))
    rows += clip_rows(np.random.default_rng([seed, len(REFERENCE)]), instances)
    table = pd.DataFrame(rows)
    inside = (table["value"] >= table["low"]) & (table["value"] <= table["high"])
    return table.assign(inside=inside.astype("boolean").mask(table["low"].isna()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--seed", type=int, default=20261031)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "persistent_coverage.csv")
    args = parser.parse_args()
    began = time.perf_counter()
    table = calibration(args.replicates, args.resamples, args.seed)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    table.round(5).to_csv(args.out, index=False)
    about = {
        "command": f"python benchmarks/calibrate_persistent.py --replicates {args.replicates} "
        f"--resamples {args.resamples} --seed {args.seed}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "seconds": round(time.perf_counter() - began, 1),
        "outside_band": int((~table["inside"].fillna(True)).sum()),
        "with_band": int(table["inside"].notna().sum()),
    }
    args.out.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n")
    print(table.to_string())
    print(json.dumps(about, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
