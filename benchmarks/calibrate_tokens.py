"""Coverage of what token probabilities give: area under the curve, even cut, bias at the even cut, answer bias.

    python benchmarks/calibrate_tokens.py [--replicates 500] [--seed 20260801] [--out FILE.csv]

The log-odds of yes are normal in either class, with a part that all questions of a unit share; ``grid`` rounds the
probabilities, which makes ties. Truths come from 400,000 questions of one unit each, for which the shared part is
drawn anew. The band around .95 is 3 binomial standard errors and .007 squared, as for the other intervals. Of the even
cut the mean distance from the true one is given beside the coverage, and the bias that a cut found on one data set has
in the population.
"""

import argparse
import json
import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from calibrate_floor import band
from scipy.special import expit

from analysis.frequentist.token_probabilities import token_probability_estimates
from analysis.measures.discrimination import even_cut, placements

TRUTH = 400_000
MEASURES = ("auc", "even_threshold", "answer_bias", "balanced_accuracy")


@dataclass(frozen=True, slots=True)
class Regime:
    """``apart`` and ``shift`` are on the log-odds scale; ``shared`` is the part of the variance that a unit shares."""

    units: int
    per_unit: int
    apart: float
    shift: float = 0.0
    shared: float = 0.0
    grid: float = 0.0


REGIMES = {
    "200 questions": Regime(200, 1, 1.0),
    "200 questions, leaning to yes": Regime(200, 1, 1.0, shift=1.0),
    "200 questions, ties": Regime(200, 1, 1.0, grid=0.1),
    "no discrimination": Regime(200, 1, 0.0),
    "near perfect": Regime(200, 1, 4.0),
    "40 units of 10": Regime(40, 10, 1.0, shared=0.5),
    "40 units of 10, ties": Regime(40, 10, 1.0, shared=0.5, grid=0.1),
    "10 units of 20": Regime(10, 20, 1.0, shared=0.5),
    "10 units of 20, ties, leaning to yes": Regime(10, 20, 1.0, shift=1.0, shared=0.5, grid=0.1),
}


def questions(regime: Regime, replicates: int, rng: np.random.Generator) -> pd.DataFrame:
    """Questions of ``replicates`` data sets, each as a model of its own."""
    shape = (replicates, regime.units, regime.per_unit)
    item = np.arange(regime.units * regime.per_unit).reshape(shape[1:])
    truth = np.broadcast_to(item % 2, shape)
    z = regime.shift + regime.apart * (truth - 0.5)
    z = z + np.sqrt(regime.shared) * rng.standard_normal((*shape[:2], 1))
    z = z + np.sqrt(1 - regime.shared) * rng.standard_normal(shape)
    p = expit(z)
    p = np.round(p / regime.grid) * regime.grid if regime.grid else p
    names = np.array([f"{r:05d}" for r in range(replicates)])
    return pd.DataFrame(
        {
            "model": np.repeat(names, item.size),
            "unit": np.tile(np.repeat(np.arange(regime.units), regime.per_unit), replicates),
            "truth": truth.ravel(),
            "probability": p.ravel(),
            "right": np.nan,
        }
    )


def population(regime: Regime, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
    """Independent questions, and the true value of every measure."""
    rows = questions(Regime(TRUTH // 10, 10, regime.apart, regime.shift, 0.0, regime.grid), 1, rng)
    p, yes = rows["probability"].to_numpy(), rows["truth"].to_numpy() == 1
    acc_yes, acc_no = p[yes].mean(), 1 - p[~yes].mean()
    return rows, {
        "auc": float(placements(p, yes)[yes].mean()),
        "even_threshold": even_cut(p, yes).threshold,
        "answer_bias": float(acc_yes - acc_no),
        "balanced_accuracy": float((acc_yes + acc_no) / 2),
    }


def bias_at(rows: pd.DataFrame, cuts: np.ndarray) -> np.ndarray:
    """Bias in the population of answers cut at each threshold, scores at the cut counting half."""
    p, yes = rows["probability"].to_numpy(), rows["truth"].to_numpy() == 1
    found = []
    for values, sign in ((np.sort(p[yes]), 1), (np.sort(p[~yes]), -1)):
        above = 1 - (np.searchsorted(values, cuts, "left") + np.searchsorted(values, cuts, "right")) / 2 / len(values)
        found.append(above if sign > 0 else 1 - above)
    return found[0] - found[1]


def regime_rows(name: str, regime: Regime, replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Coverage, misses on either side, mean estimate and width of every measure."""
    people, truth = population(regime, rng)
    table = token_probability_estimates(questions(regime, replicates, rng))
    table = table[table["based_on"] == "token probabilities"]
    rows = []
    for measure in MEASURES:
        own = table[(table["measure"] == measure) & table["ci_low"].notna()]
        above, below = own["ci_low"] > truth[measure] + 1e-9, own["ci_high"] < truth[measure] - 1e-9
        row = {
            "regime": name,
            "measure": measure,
            "truth": truth[measure],
            "mean_estimate": own["estimate"].mean(),
            "coverage": 1 - above.mean() - below.mean(),
            "low_above_truth": above.mean(),
            "high_below_truth": below.mean(),
            "mean_width": (own["ci_high"] - own["ci_low"]).mean(),
            "replicates": len(own),
        }
        if measure == "even_threshold":
            bias = bias_at(people, own["estimate"].to_numpy())
            row |= {"mean_bias_at_cut": bias.mean(), "mean_size_of_bias_at_cut": np.abs(bias).mean()}
        rows.append(row)
    return rows


def calibration(replicates: int, seed: int) -> pd.DataFrame:
    """All regimes."""
    rng = np.random.default_rng(seed)
    rows = [row for name, regime in REGIMES.items() for row in regime_rows(name, regime, replicates, rng)]
    low, high = band(0.95, replicates)
    table = pd.DataFrame(rows)
    return table.assign(band_low=low, band_high=high, in_band=table["coverage"].between(low, high))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "token_coverage.csv")
    args = parser.parse_args()
    start = time.process_time()
    table = calibration(args.replicates, args.seed)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    table.round(5).to_csv(args.out, index=False)
    note = {
        "command": f"python benchmarks/calibrate_tokens.py --replicates {args.replicates} --seed {args.seed}",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas")}
        | {"python": platform.python_version()},
        "band": "3 standard errors, variance = binomial variance of R replicates + .007 squared",
        "outside": int((~table["in_band"]).sum()),
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    args.out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    shown = ["regime", "measure", "truth", "mean_estimate", "coverage", "mean_bias_at_cut", "in_band"]
    print(table[shown].round(3).to_string(index=False))
    print(f"{args.out}: {note['outside']} of {len(table)} outside, {note['cpu_seconds']} CPU seconds")


if __name__ == "__main__":
    main()
