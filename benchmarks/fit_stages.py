"""Single stages of the benchmark of the Bayesian fit; ``bench_fit.py`` runs each as a process of its own."""

import argparse
import json
import pickle
import time
from pathlib import Path

import pandas as pd

from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.sampling import SamplerSettings
from analysis.comparison.shared_input import cluster_estimates, weighted_facets
from analysis.frequentist.cell_covariance import cell_covariances
from analysis.reduction.cells import item_counts
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.reduction.units import unit_sums
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.store import open_store
from analysis.schema.study import load_study


def run_facets(logs: Path, work: Path) -> dict[str, object]:
    """Counts by facet and covariances by unit of the first task of some logs."""
    study = load_study(logs / "study.toml")
    rows = take_in([logs], study, IntakeSettings(), work / "store.parquet").rows
    con = open_store(work / "store.parquet")
    designs = read_designs(con, study)
    create_analysed_view(con, designs, study)
    counts = item_counts(con, designs[0], study)
    facets = weighted_facets(counts)
    facets.to_parquet(work / "facets.parquet")
    facets.to_csv(work / "facets.csv", index=False)
    clusters = cluster_estimates(cell_covariances(unit_sums(counts)))
    (work / "clusters.pickle").write_bytes(pickle.dumps(clusters))
    simulated = con.execute("SELECT coalesce(bool_or(simulated), false) FROM responses").fetchone()
    return {
        "rows": rows,
        "cells": len(facets),
        "models": facets["model"].nunique(),
        "simulated": simulated is not None and bool(simulated[0]),
    }


def run_fit(work: Path, args: argparse.Namespace) -> dict[str, object]:
    """One fit with everything that a report asks of it, nothing kept."""

    facets = pd.read_parquet(work / "facets.parquet")
    clusters = pickle.loads((work / "clusters.pickle").read_bytes())
    wall, cpu = time.perf_counter(), time.process_time()
    fit = fit_answer_bias(facets, clusters=clusters, settings=SamplerSettings(cores=args.cores), seed=args.seed)
    reported = fit.table[fit.table["reason"] == ""]
    return {
        "status": fit.status,
        "reason": fit.reason,
        "wall_s": round(time.perf_counter() - wall, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "parameters": fit.glance["parameters"],
        "chains": fit.glance["chains"],
        "draws": fit.glance["draws"],
        "steps": round(fit.glance["steps"], 1),
        "divergences": fit.glance["divergences"],
        "max_r_hat": round(float(reported["r_hat"].max()), 4),
        "min_ess_bulk": round(float(reported["ess_bulk"].min())),
        "min_ess_tail": round(float(reported["ess_tail"].min())),
    }


def main() -> None:
    """Run one stage and print its result as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("facets", "fit"))
    parser.add_argument("work", type=Path)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = run_facets(args.logs, args.work) if args.stage == "facets" else run_fit(args.work, args)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
