"""Single stages of the full-size benchmark; ``bench_full_size.py`` runs each as a process of its own."""

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np

from analysis.reduction.cells import facet_counts, item_counts
from analysis.reduction.exclusions import exclusions
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.reduction.units import unit_sums
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.store import open_store
from analysis.schema.study import load_study
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.responders import responder_population
from analysis.simulation.write_logs import write_logs


def run_simulate(logs: Path, args: argparse.Namespace) -> None:
    """Write the logs to be timed."""
    rng = np.random.default_rng(args.seed)
    settings = ProbabilityOperators(responder_population(rng, args.models), surfaces=args.surfaces, omit_block=True)
    made = simulate_probability_operators(rng, settings)
    write_logs(made, logs, fmt="jsonl", seed=args.seed)
    print(f"    {made.rows:,} responses of {args.models} models")


def run_import(logs: Path, work: Path) -> None:
    """Read the logs into the store."""
    study = load_study(logs / "study.toml")
    taken = take_in([logs], study, IntakeSettings(), work / "store.parquet")
    print(f"    {taken.rows:,} rows in the store")


def run_reduction(logs: Path, work: Path) -> None:
    """Everything that estimates need from the store, each step timed."""
    started = time.perf_counter()

    def lap(step: str) -> None:
        nonlocal started
        now = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
        print(f"    {step:<14} {now - started:5.2f} s, peak so far {peak:.0f} MB")
        started = time.perf_counter()

    study = load_study(logs / "study.toml")
    con = open_store(work / "store.parquet")
    designs = read_designs(con, study)
    create_analysed_view(con, designs, study)
    lap("design")
    counts = [item_counts(con, design, study) for design in designs]
    lap("item counts")
    sums = [unit_sums(table) for table in counts]
    lap("unit sums")
    facets = [facet_counts(con, d, study, by=("template", "form", "negation", "polarity")) for d in designs]
    lap("facet counts")
    exclusions(con, designs)
    lap("exclusions")
    rows = ", ".join(f"{sum(map(len, t)):,} {n}" for t, n in ((counts, "items"), (sums, "units"), (facets, "cells")))
    print(f"    {rows} by model")


def main() -> None:
    """Run the stage named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("simulate", "import", "reduction"))
    parser.add_argument("logs", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--models", type=int)
    parser.add_argument("--surfaces", type=int)
    parser.add_argument("--seed", type=int)
    args = parser.parse_args()
    if args.stage == "simulate":
        run_simulate(args.logs, args)
    else:
        {"import": run_import, "reduction": run_reduction}[args.stage](args.logs, args.work)


if __name__ == "__main__":
    sys.exit(main())
