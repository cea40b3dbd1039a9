"""Fits of simulated instances of incoherence by moments and both models, and what they add up to by regime."""

import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from incoherence_regimes import UNIT, Regime, instance_table, simulated
from numpy.typing import NDArray

from analysis.bayes.diagnostics import convergence
from analysis.bayes.incoherence_data import Instances, checked_instances, model_instances
from analysis.bayes.incoherence_predictive import predictive_checks
from analysis.bayes.incoherence_priors import PRESENT, IncoherencePriors
from analysis.bayes.incoherence_quantities import instance_quantities, population_quantities
from analysis.bayes.incoherence_sampling import IncoherenceDraws, sample_instances
from analysis.bayes.sampling import SamplerSettings
from analysis.frequentist.incoherence_tests import wording_flip_test

MODELS = {"SSL": True, "N": False}
#: Posterior predictive checks that are kept, and their names here.
CHECKED = {
    "share of instances at 0 throughout": "still",
    "excess kurtosis of the means": "kurtosis",
    "correlation of log deviation and absolute mean": "link",
}


def instances_of(residuals: NDArray[np.float64]) -> Instances:
    """The simulated residuals as one model's instances."""
    return model_instances(checked_instances(instance_table(residuals)))[0]


def regime_fit(regime: Regime, settings: SamplerSettings, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """One data set: the moment estimate, and both models."""
    mu, residuals = simulated(regime, rng)
    truth, instances = float(np.sqrt((mu**2).mean())), instances_of(residuals)
    square = instances.mean**2 - instances.ss / (instances.k * (instances.k - 1))
    moment = float(np.sqrt(max(square.mean(), 0.0)))
    label = {"regime": regime.name, "truth_these": truth, "truth_population": regime.persistent}
    test = wording_flip_test(residuals, UNIT, rng=np.random.default_rng(0), flips=2000)
    moments = {"estimate": moment, "estimate_population": moment, "p_value": test.p_value}
    yield {**label, "model": "moment", **moments}
    for name, linked in MODELS.items():
        start = time.perf_counter()
        seed = int(rng.integers(2**31))
        draws = sample_instances(instances, IncoherencePriors(), settings, linked=linked, seed=seed)
        seconds = time.perf_counter() - start
        these = instance_quantities(draws.mu, draws.variance, draws.incoherent)["persistent"]
        population = population_quantities(draws.hyper)["persistent"]
        judged = convergence(np.stack([these, population], axis=-1))
        row = {"p_present": float((these > PRESENT).mean()), "divergences": int(draws.sampler.diverging.sum())}
        row |= {"r_hat": float(judged.r_hat.max()), "ess_bulk": float(judged.ess_bulk.min()), "seconds": seconds}
        for values, end in ((these, ""), (population, "_population")):
            low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
            row |= {f"estimate{end}": middle, f"ci_low{end}": low, f"ci_high{end}": high}
        row |= _checked(instances, draws, seed)
        yield {**label, "model": name, **row}


def _checked(instances: Instances, draws: IncoherenceDraws, seed: int) -> dict[str, float]:
    """Tails of the posterior predictive checks, and by how much the observed value exceeds the expected one."""
    checks = predictive_checks(instances, draws, np.random.default_rng([seed, 2]))
    found = {}
    for check, name in CHECKED.items():
        row = checks[checks["check"] == check].iloc[0]
        found |= {f"tail_{name}": row["tail"], f"excess_{name}": row["observed"] - row["expected"]}
    return found


def regime_summary(fits: pd.DataFrame) -> pd.DataFrame:
    """One row per regime and estimator: bias, root mean square error, coverage, hit rate.

    A coverage below ``band_low``, .95 less three binomial standard errors, is a failing of the model in that regime.
    """
    rows = []
    for (regime, model), part in _with_rule(fits).groupby(["regime", "model"], sort=False):
        error = part["estimate"] - part["truth_these"]
        row = {"regime": regime, "model": model, "simulations": len(part), "bias": error.mean()}
        row |= {"rmse": float(np.sqrt((error**2).mean())), "estimate": part["estimate"].mean()}
        row["bias_population"] = (part["estimate_population"] - part["truth_population"]).mean()
        if model != "moment":
            positive = bool((part["truth_population"] > 0).all())
            row["band_low"] = 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(part))
            row["coverage_these"] = _covered(part, "", "truth_these")
            row["coverage_population"] = _covered(part, "_population", "truth_population") if positive else np.nan
            row["hit_rate"] = (part["p_present"] > 0.95).mean()
            row["below_rate"] = (part["p_present"] < 0.05).mean()
            if model == "SSL":
                row["below_rate_stated"] = ((part["p_present"] < 0.05) & ~part["withheld"].astype(bool)).mean()
            row["with_divergences"] = (part["divergences"] > 0).mean()
            row["with_large_r_hat"] = (part["r_hat"] >= 1.01).mean()
            row["least_ess_bulk"] = part["ess_bulk"].min()
        rows.append(row)
    return pd.DataFrame(rows)


def _with_rule(fits: pd.DataFrame) -> pd.DataFrame:
    """Fits with ``withheld``: what of SSL the rule of reports does not state, as it decides there."""
    keys = ["regime", "simulation"]
    normal = fits[fits["model"] == "N"].set_index(keys)["p_present"].rename("p_normal")
    joined = fits.join(normal, on=keys)
    surprising = (joined["tail_link"] < 0.05) & (joined["excess_link"] > 0)
    return joined.assign(withheld=(joined["p_normal"] >= 0.05) | surprising)


def _covered(part: pd.DataFrame, end: str, truth: str) -> float:
    slack = 1e-9  # an interval that begins at exactly 0 covers 0
    inside = (part[f"ci_low{end}"] <= part[truth] + slack) & (part[truth] <= part[f"ci_high{end}"])
    return float(inside.mean())
