"""Trajectories that are exact for a standard normal density against the plain leapfrog, at study P's number of models.

python benchmarks/calibrate_trajectories.py [--draws 2000] [--seed 20261130]

Both sample the same posterior of one simulated study, from seeds of their own: hyper-parameters and every fifth
coefficient, their means, variances and shares of draws below the first one's 2.5 % quantile. A difference is divided by
the Monte-Carlo error of both runs; if the targets are equal, these quotients have a standard deviation of 1 over all
quantities. Simulated data.
"""

import argparse
import time
from dataclasses import fields, replace

import numpy as np
import pandas as pd
from bias_designs import Study, simulated_study
from calibrate_bias import written
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel

from analysis.bayes.callback import compiled_density
from analysis.bayes.design_matrix import COUNTS, count_design
from analysis.bayes.diagnostics import convergence
from analysis.bayes.models.answer_bias import stage_arrays
from analysis.bayes.posterior import StageFit
from analysis.bayes.priors import Priors
from analysis.bayes.sampling import SamplerSettings, run_nuts, sampler_draws
from analysis.bayes.whitening import whitened_coordinates

#: Acceptance of the exact trajectories, as in a report, and of the plain ones: shorter steps than a report's.
ACCEPT = {"exact": 0.8, "plain": 0.9}
EVERY = 5


def draws_of(kind: str, settings: SamplerSettings, *, seed: int) -> tuple[NDArray[np.float64], dict[str, float]]:
    """Draws (chains, draws, quantities) of one kind of trajectories, and their cost."""
    study = Study("trajectories", models=29, templates=15, forms=5, surfaces=2)
    counts, _ = simulated_study(study, np.random.default_rng(29))
    facets = counts.groupby(["model", "cell", "template", "form"], as_index=False)[list(COUNTS)].sum()
    arrays = stage_arrays(count_design(facets), Priors(), stage="yes")
    at = whitened_coordinates(arrays).coordinates
    program = compiled_density(arrays, at)
    start = time.process_time()
    own = replace(settings, target_accept=ACCEPT[kind])
    tree = run_nuts(plain_trajectories(program) if kind == "plain" else program, own, seed=seed)
    z = np.asarray(tree["posterior"]["point"].values, float)
    found = sampler_draws(tree, z, own)
    hyper = StageFit(arrays, at, found).hyper.value.reshape(*z.shape[:2], -1)
    cost = {"steps": round(found.steps, 2), "cpu_seconds": round(time.process_time() - start, 1)}
    cost |= {"divergences": int(found.diverging.sum())}
    return np.concatenate([hyper, z[:, :, ::EVERY]], axis=2), cost


def plain_trajectories(program: CompiledPyMCModel) -> CompiledPyMCModel:
    """The same density as a model that knows nothing of exact trajectories."""
    return CompiledPyMCModel(**{field.name: getattr(program, field.name) for field in fields(program)})


def quotients(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Difference of the means of two sets of draws (chains, draws, K) over its Monte-Carlo error."""
    mean, variance = [], []
    for draws in (first, second):
        mean.append(draws.mean(axis=(0, 1)))
        variance.append(draws.reshape(-1, draws.shape[2]).var(axis=0) / convergence(draws).ess_bulk)
    return (mean[0] - mean[1]) / np.sqrt(variance[0] + variance[1])


def main() -> None:
    """Print and write the quotients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20261130)
    args = parser.parse_args()
    start = time.process_time()
    settings = SamplerSettings(draws=args.draws, tune=300)
    exact, of_exact = draws_of("exact", settings, seed=args.seed)
    plain, of_plain = draws_of("plain", settings, seed=args.seed + 1)
    centre, low = exact.mean(axis=(0, 1)), np.quantile(exact.reshape(-1, exact.shape[2]), 0.025, axis=0)
    statistics = {
        "mean": (exact, plain),
        "variance": ((exact - centre) ** 2, (plain - centre) ** 2),
        "share below the 2.5 % quantile": ((exact < low).astype(float), (plain < low).astype(float)),
    }
    rows = []
    for name, (one, other) in statistics.items():
        found = quotients(one, other)
        row = {"statistic": name, "quantities": found.size, "mean_quotient": found.mean(), "sd_quotient": found.std()}
        rows.append(row | {"largest": np.abs(found).max()})
    table = pd.DataFrame(rows).round(3)
    options = f"python benchmarks/calibrate_trajectories.py --draws {args.draws} --seed {args.seed}"
    written("trajectories", table, "", start, command=options, exact=of_exact, plain=of_plain)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
