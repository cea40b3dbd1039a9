"""Cost of the Bayesian model by number of models: one gradient, the approximation before sampling, and a whole fit.

python benchmarks/bias_scaling.py

A whole fit is sampled as in a report (4 chains of 1,000 draws, both cores), estimates and gates included.
CPU time and wall time; simulated data.
"""

import resource
import time

import numpy as np
import pandas as pd
from bias_designs import Study, simulated_study
from calibrate_bias import written

from analysis.bayes.design_matrix import COUNTS, count_design
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.log_density import whitened_log_density
from analysis.bayes.models.answer_bias import stage_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.whitening import whitened_coordinates

MODELS = (10, 29, 100, 300)
REPEATS = 20


def cost(models: int) -> dict[str, float]:
    """CPU time of one number of models, each with 15 templates × 5 forms × 2 polarities."""
    study = Study("scaling", models=models, templates=15, forms=5, surfaces=2)
    counts, _ = simulated_study(study, np.random.default_rng(models))
    facets = counts.groupby(["model", "cell", "template", "form"], as_index=False)[list(COUNTS)].sum()
    arrays = stage_arrays(count_design(facets), Priors(), stage="yes")
    start = time.process_time()
    found = whitened_coordinates(arrays)
    settled = time.process_time() - start
    at = found.coordinates
    z = np.random.default_rng(1).normal(size=at.dimension)
    whitened_log_density(z, arrays, at)
    start = time.process_time()
    for _ in range(REPEATS):
        whitened_log_density(z, arrays, at)
    gradient = (time.process_time() - start) / REPEATS
    return {
        "models": models,
        "parameters": z.size,
        "approximation_s": round(settled, 2),
        "settled": found.converged,
        "gradient_ms": round(1e3 * gradient, 3),
        "gradient_ms_per_model": round(1e3 * gradient / models, 4),
        **whole_fit(facets, models),
    }


def whole_fit(facets: pd.DataFrame, models: int) -> dict[str, float | str]:
    """Status and cost of a fit with its estimates."""
    start, cpu = time.perf_counter(), time.process_time()
    fit = fit_answer_bias(facets, seed=1)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    worst = fit.table[fit.table["ess_bulk"].notna()]
    return {
        "fit_status": fit.status,
        "fit_reason": fit.reason,
        "fit_cpu_s": round(cpu, 1),
        "fit_cpu_s_per_model": round(cpu / models, 2),
        "fit_wall_s": round(wall, 1),
        "steps": round(float(fit.glance["steps"]), 1),
        "divergences": int(fit.glance["divergences"]),
        "largest_r_hat": round(float(worst["r_hat"].max()), 4),
        "smallest_ess": int(worst[["ess_bulk", "ess_tail"]].min(axis=None)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    """Print and write the costs."""
    start = time.process_time()
    cost(MODELS[0])
    table = pd.DataFrame([cost(models) for models in MODELS])
    written("bias_scaling", table, "", start, command="python benchmarks/bias_scaling.py")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
