"""Coverage of the intervals of the mean belief bias: these models and new items, and new models and new items.

    python benchmarks/belief_bias_coverage.py [--replicates 2000] [--seed 20260801] [--out FILE.csv]

Items have a difficulty, models a belief bias drawn anew for every data set, and each model its own reaction to each
item. ``benchmarks/results/belief_bias_coverage.csv`` has a row per regime and interval. The bootstrap over models and
items counts their interaction once too often: it may be wide, and covers too rarely with few models, whose number no
bootstrap of percentiles makes up for.
"""

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from analysis.frequentist.belief_bias_tests import pooled_belief_bias
from analysis.simulation.truth import mean_expit

#: Models, items, standard deviations over models of the shift by belief, over items, and of both together (log-odds).
REGIMES = {
    "14 models, 40 items": (14, 40, 0.4, 0.8, 0.3),
    "14 models, 160 items": (14, 160, 0.4, 0.8, 0.3),
    "5 models, 40 items": (5, 40, 0.4, 0.8, 0.3),
    "14 models, 40 items, models alike": (14, 40, 0.0, 0.8, 0.3),
}
_SHIFT, _LEVEL, _SAMPLES = 0.5, 1.0, 3
CELLS = (("valid", "believable"), ("valid", "unbelievable"), ("invalid", "believable"), ("invalid", "unbelievable"))
#: Whether belief and logic agree, cell by cell.
_CONGRUENT = np.array([1, -1, -1, 1])


def answers_of(regime: str, rng: np.random.Generator) -> tuple[pd.DataFrame, float, float]:
    """One data set, the true mean bias of its models, and that of the population of models."""
    models, items, model_sd, item_sd, both_sd = REGIMES[regime]
    cell = np.arange(items) % 4
    shift = rng.normal(_SHIFT, model_sd, models)
    noise = np.hypot(item_sd, both_sd)
    eta = _LEVEL + np.outer(shift, _CONGRUENT[cell]) + rng.normal(0, item_sd, items)
    right = rng.binomial(_SAMPLES, expit(eta + rng.normal(0, both_sd, eta.shape))) / _SAMPLES
    model, item = (index.ravel() for index in np.indices(right.shape))
    validity, belief = (np.array(names)[cell[item]] for names in zip(*CELLS, strict=True))
    credit = right.ravel()
    table = pd.DataFrame(
        {
            "model": np.array([f"m{k:02d}" for k in range(models)])[model],
            "item": np.array([f"i{k:03d}" for k in range(items)])[item],
            "unit": np.array([f"i{k:03d}" for k in range(items)])[item],
            "validity": validity,
            "believability": belief,
            "gold": np.where(validity == "valid", "yes", "no"),
            "right": credit,
            "unclear": 0.0,
            "endorsed": np.where(validity == "valid", credit, 1 - credit),
        }
    )
    gap = mean_expit(_LEVEL + shift, noise) - mean_expit(_LEVEL - shift, noise)
    wide = float(np.hypot(noise, model_sd))
    ends = mean_expit(np.array([_LEVEL + _SHIFT, _LEVEL - _SHIFT]), wide)
    return table, float(gap.mean()), float(ends[0] - ends[1])


def coverage(regime: str, replicates: int, rng: np.random.Generator, resamples: int = 999) -> list[dict[str, object]]:
    """Share of the data sets whose interval holds the truth, and the mean width, for both intervals."""
    hits, widths = np.zeros((replicates, 2)), np.zeros((replicates, 2))
    for r in range(replicates):
        table, these, population = answers_of(regime, rng)
        found = pooled_belief_bias(table, rng=rng, resamples=resamples, permutations=1)
        hits[r] = found.these_low <= these <= found.these_high, found.both_low <= population <= found.both_high
        widths[r] = found.these_high - found.these_low, found.both_high - found.both_low
    names = ("these models, new items", "new models, new items")
    return [
        {"regime": regime, "interval": name, "replicates": replicates, "coverage": hits[:, k].mean(),
         "mc_error": float(np.sqrt(max(hits[:, k].mean() * (1 - hits[:, k].mean()), 1e-4) / replicates)),
         "width": widths[:, k].mean()}
        for k, name in enumerate(names)
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "belief_bias_coverage.csv")
    args = parser.parse_args()
    start, rng = time.process_time(), np.random.default_rng(args.seed)
    table = pd.DataFrame([row for regime in REGIMES for row in coverage(regime, args.replicates, rng)])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    table.round(5).to_csv(args.out, index=False)
    note = {
        "command": f"python benchmarks/belief_bias_coverage.py --replicates {args.replicates} --seed {args.seed}",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas")}
        | {"python": platform.python_version()},
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    args.out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
