"""Calibration of the Bayesian answer-bias engine: ranks under its own priors, coverage under A-like designs.

    python benchmarks/calibrate_bias.py --sbc [--simulations 250] [--seed 20261101]
    python benchmarks/calibrate_bias.py --coverage [--data-sets 30] [--surfaces]

Each writes a table into ``benchmarks/results`` and, beside it, the same name with ``.json``: command, seed,
versions, machine time.
"""

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from bias_coverage import agreement_table, coverage_rounds, coverage_table
from bias_designs import STUDIES
from bias_ranks import RankSettings, count_ranks, layer_ranks, rank_tests

RESULTS = Path(__file__).parent / "results"
SEED = 20261101
#: Simulations between two writings.
STEP = 20


#: Model -> its file of ranks, what simulates and fits it, and where its design differs.
RANKED = {
    "units": ("bias_sbc_units", layer_ranks, {}),
    "counts": ("bias_sbc", count_ranks, {}),
    "families": ("bias_sbc_families", layer_ranks, {"models": 8, "families": 4}),
}


def calibrated_ranks(simulations: int, seed: int, models: list[str]) -> None:
    """Ranks of the layer of units and of the two-stage model, written after every STEP simulations."""
    for model in models:
        name, make, changed = RANKED[model]
        settings, options = (
            RankSettings(simulations, **changed),
            f"--sbc {model} --simulations {simulations} --seed {seed}",
        )
        start, done, tests, summary = time.process_time(), [], pd.DataFrame(), {}
        for row in make(settings, seed):
            done.append(row)
            if len(done) % STEP and len(done) < simulations:
                continue
            ranks = pd.DataFrame(done)
            tests = rank_tests(ranks, settings, seed=seed)
            summary = {
                "simulations": len(ranks),
                "quantities": len(tests),
                "smallest_holm_p": float(tests[["ks_p_holm", "chi2_p_holm"]].min(axis=None)),
                "divergent_fits": int((ranks["divergences"] > 0).sum()),
            }
            written(f"{name}_ranks", ranks, options, start)
            written(name, tests.round(5), options, start, **summary)
        print(name, summary)
        print(tests.sort_values("ks_p").head(8).round(4).to_string(index=False))


def calibrated_coverage(data_sets: int, seed: int, *, surfaces: bool) -> None:
    """Coverage of both schools, written after every round."""
    start = time.process_time()
    name = "bias_coverage_surfaces" if surfaces else "bias_coverage"
    options = f"--coverage --data-sets {data_sets} --seed {seed}" + (" --surfaces" if surfaces else "")
    table = pd.DataFrame()
    for rows, compared in coverage_rounds(STUDIES, data_sets, seed, surfaces=surfaces):
        table = coverage_table(rows)
        written(name, table.round(4), options, start, rounds=int(table["data_sets"].max()))
        if not surfaces:
            written("bias_agreement", agreement_table(compared).round(4), options, start)
    shown = table.pivot(index=["design", "measure"], columns="method", values=["coverage", "width", "rmse"])
    print(shown.round(3).to_string())


def written(name: str, table: pd.DataFrame, options: str, start: float, **more: object) -> None:
    """Table as CSV, and how it was made as JSON."""
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / f"{name}.csv", index=False)
    packages = ("numpy", "scipy", "pandas", "numba", "nutpie", "pymc", "arviz")
    note = {
        "command": f"python benchmarks/calibrate_bias.py {options}",
        "versions": {package: version(package) for package in packages} | {"python": platform.python_version()},
        "cpu_seconds": round(time.process_time() - start, 1),
        "simulated": True,
    } | more
    (RESULTS / f"{name}.json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sbc", nargs="*", choices=tuple(RANKED), help="ranks under the models' own priors")
    parser.add_argument("--simulations", type=int, default=250)
    parser.add_argument("--coverage", action="store_true", help="coverage under simulated studies")
    parser.add_argument("--data-sets", type=int, default=30)
    parser.add_argument("--surfaces", action="store_true", help="surfaces as effects of the model of counts")
    parser.add_argument("--seed", type=int, default=SEED)
    args = parser.parse_args()
    if args.sbc is not None:
        calibrated_ranks(args.simulations, args.seed, args.sbc or list(RANKED))
    if args.coverage:
        calibrated_coverage(args.data_sets, args.seed, surfaces=args.surfaces)


if __name__ == "__main__":
    main()
