"""Calibration of the models of persistent incoherence: ranks under the priors, and fourteen regimes.

    python benchmarks/calibrate_incoherence.py sbc     [--simulations 200] [--minutes M] [--resume] [--seed 20261129]
    python benchmarks/calibrate_incoherence.py regimes [--simulations 24]  [--minutes M] [--resume] [--seed 20261129]
    python benchmarks/calibrate_incoherence.py speed

``sbc`` draws hyper-parameters and data from the priors and ranks every true value among 99 posterior draws:
hyper-parameters, every reported quantity, and the difference of persistent incoherence between two simulated
models. ``regimes`` fits data that the priors did not make. ``speed`` times the whole fit of seven models on two
cores. With ``--minutes`` either stops at the first whole round after that time; how many simulations were made is in
every row. Every fit is kept in ``benchmarks/results/incoherence_*_fits.csv``, from where ``--resume`` goes on;
summaries and, as JSON, command, versions and machine stand beside it.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from incoherence_regime_fits import MODELS, instances_of, regime_fit, regime_summary
from incoherence_regimes import REGIMES, UNIT, WORDINGS, instance_table, simulated
from numpy.typing import NDArray
from rank_uniformity import rank_of, uniformity_p_values
from scipy.stats import chisquare

from analysis.bayes.incoherence import fit_incoherence
from analysis.bayes.incoherence_data import SHARED_ROUNDING, Instances
from analysis.bayes.incoherence_priors import IncoherencePriors, PriorDraws, prior_draws
from analysis.bayes.incoherence_quantities import instance_quantities, population_quantities
from analysis.bayes.incoherence_sampling import (
    IncoherenceDraws,
    incoherence_settings,
    sample_instances,
)
from analysis.bayes.sampling import SamplerSettings
from analysis.frequentist.multiplicity import holm

RANKS = 99
#: Two chains are enough for 99 nearly independent draws.
SBC_SETTINGS = SamplerSettings(chains=2, draws=990, tune=500, target_accept=0.9, cores=1)
RESULTS = Path(__file__).parent / "results"


def quantities(draws: IncoherenceDraws | PriorDraws, *, linked: bool) -> dict[str, NDArray[np.float64]]:
    """Every hyper-parameter and every reported quantity by name."""
    these = instance_quantities(draws.mu, draws.variance, draws.incoherent)
    if not linked:
        del these["incoherent_share"]
    named = {name: values for name, values in draws.hyper.items() if linked or name not in ("a", "b", "omega")}
    named |= {f"{name}, these": values for name, values in these.items()}
    return named | {f"{name}, population": values for name, values in population_quantities(draws.hyper).items()}


def sbc_round(
    place: Instances, priors: IncoherencePriors, rng: np.random.Generator, *, linked: bool
) -> Iterator[dict[str, object]]:
    """Ranks of two simulated models, and of the difference of their persistent incoherence."""
    truths, found = [], []
    for _ in range(2):
        prior = prior_draws(priors, rng, unit_at=place.unit_at, paired=place.paired, draws=1, linked=linked)
        noise = rng.standard_normal((place.size, WORDINGS))
        rounded = prior.mu[0] + SHARED_ROUNDING * rng.standard_normal(place.size)
        instances = instances_of(rounded[:, None] + np.sqrt(prior.variance[0])[:, None] * noise)
        draws = sample_instances(instances, priors, SBC_SETTINGS, linked=linked, seed=int(rng.integers(2**31)))
        truth = {name: float(values[0]) for name, values in quantities(prior, linked=linked).items()}
        kept = {name: _thinned(values) for name, values in quantities(draws, linked=linked).items()}
        ranks = {name: rank_of(truth[name], kept[name], rng) for name in truth}
        yield {**ranks, "divergences": int(draws.sampler.diverging.sum())}
        truths.append(truth["persistent, these"])
        found.append(kept["persistent, these"])
    yield {"difference of persistent, these": rank_of(truths[0] - truths[1], found[0] - found[1], rng)}


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    flat = values.reshape(-1)
    return flat[:: len(flat) // RANKS][:RANKS]


def sbc(simulations: int, minutes: float, seed: int, models: list[str], *, resume: bool) -> pd.DataFrame:
    """Ranks, one row per fit (and one per pair), models alternating; those not named keep their earlier rows."""
    priors = IncoherencePriors()
    place = instances_of(np.zeros((len(UNIT), WORDINGS)))
    found = _earlier("incoherence_sbc_fits.csv", without=[] if resume else models)
    start, done = time.monotonic(), _rounds(found)
    for at in range(0, simulations, 2):
        wanted = [name for name in models if (name, at) not in done]
        for name in wanted:
            rng = np.random.default_rng([seed, list(MODELS).index(name), at])
            rows = sbc_round(place, priors, rng, linked=MODELS[name])
            found = pd.concat([found, pd.DataFrame([{"model": name, "simulation": at, **row} for row in rows])])
        if wanted:
            _keep(found, "incoherence_sbc_fits.csv")
        if _over(start, minutes):
            break
    return found


def _earlier(name: str, *, without: list[str]) -> pd.DataFrame:
    """Rows of an earlier run, without those of some models."""
    if set(without) == set(MODELS) or not (RESULTS / name).exists():
        return pd.DataFrame()
    table = pd.read_csv(RESULTS / name)
    return table[~table["model"].isin(without)]


def _rounds(found: pd.DataFrame, name: str = "model") -> set[tuple[str, int]]:
    """Model, or regime, and number of the simulations that are there."""
    return set(zip(found[name], found["simulation"], strict=True)) if len(found) else set()


def sbc_summary(ranks: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row per model and quantity: test of uniform ranks, adjusted over all of them, and coverage."""
    rng, rows = np.random.default_rng([seed, 99]), []
    for name in MODELS:
        part = ranks[ranks["model"] == name]
        for quantity in part.columns.difference(["model", "simulation", "divergences"], sort=False):
            found = part[quantity].dropna().to_numpy(np.int64)
            if len(found):
                p = uniformity_p_values(found[None], RANKS + 1, rng)[0]
                bins = np.bincount(found // 10, minlength=10)
                inside = (found >= 3) & (found <= 96)  # 94 of the 100 ranks
                numbers = {
                    "p_value": p,
                    "chi2_p": chisquare(bins).pvalue,
                    "coverage": inside.mean(),
                    "coverage_nominal": 0.94,
                }
                rows.append({"model": name, "quantity": quantity, "simulations": len(found), **numbers})
    table = pd.DataFrame(rows)
    adjusted = holm(table["p_value"])
    return table.assign(p_adjusted=adjusted, family_size=len(table), passed=adjusted > 0.05)


def regimes(simulations: int, minutes: float, seed: int, *, resume: bool) -> pd.DataFrame:
    """All fits; every regime once per round."""
    settings = replace(incoherence_settings(cores=1), chains=2)
    found = _earlier("incoherence_regimes_fits.csv", without=[] if resume else list(MODELS))
    start, done = time.monotonic(), _rounds(found, "regime")
    for at in range(simulations):
        for number, regime in enumerate(REGIMES):
            if (regime.name, at) not in done:
                rows = regime_fit(regime, settings, np.random.default_rng([seed, number, at]))
                found = pd.concat([found, pd.DataFrame([{"simulation": at, **row} for row in rows])])
                _keep(found, "incoherence_regimes_fits.csv")
        if _over(start, minutes):
            break
    return found


def speed(seed: int) -> pd.DataFrame:
    """Seconds of the fit of seven models, by model; those of compiling are what precedes a variant's first fit."""
    chosen = [REGIMES[at] for at in (0, 1, 3, 6, 8, 9, 10)]
    tables = [
        instance_table(simulated(regime, np.random.default_rng([seed, at]))[1], model=f"model {at}")
        for at, regime in enumerate(chosen)
    ]
    said: list[tuple[float, str]] = []
    cpu = time.process_time()
    fit = fit_incoherence(pd.concat(tables), seed=seed, progress=lambda text: said.append((time.perf_counter(), text)))
    end, cpu = time.perf_counter(), time.process_time() - cpu
    at = [i for i, (_, text) in enumerate(said) if text.startswith("compiling")]
    first = fit.glance.groupby("variant", sort=False)["seconds"].first()
    compiling = [said[i + 1][0] - said[i][0] - seconds for i, seconds in zip(at, first, strict=True)]
    regime = dict(zip(sorted(fit.glance["model"].unique()), [one.name for one in chosen], strict=True))
    table = fit.glance[["variant", "model", "n", "attempts", "draws", "steps", "divergences", "status", "seconds"]]
    totals = {"compiling_seconds": sum(compiling), "total_seconds": end - said[0][0], "cpu_seconds": cpu}
    totals["after_compiling_seconds"] = totals["total_seconds"] - totals["compiling_seconds"]
    return table.assign(regime=table["model"].map(regime), simulation=0, **totals)


def _over(start: float, minutes: float) -> bool:
    return time.monotonic() - start > 60 * minutes


def _keep(table: pd.DataFrame, name: str) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    table.round(6).to_csv(RESULTS / name, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sbc", "regimes", "speed"))
    parser.add_argument("--simulations", type=int, default=None)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS), help="of sbc")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after the round that passes this time")
    parser.add_argument("--resume", action="store_true", help="go on after the rounds that are kept")
    parser.add_argument("--seed", type=int, default=20261129)
    args = parser.parse_args()
    wanted = args.simulations or {"sbc": 200, "regimes": 24, "speed": 1}[args.what]
    start = time.process_time()
    if args.what == "sbc":
        fits = sbc(wanted, args.minutes, args.seed, args.models, resume=args.resume)
        summary = sbc_summary(fits, args.seed)
    elif args.what == "regimes":
        fits = regimes(wanted, args.minutes, args.seed, resume=args.resume)
        summary = regime_summary(fits)
    else:
        fits = summary = speed(args.seed)
    if args.what != "speed":
        _keep(fits, f"incoherence_{args.what}_fits.csv")
    _keep(summary, f"incoherence_{args.what}.csv")
    packages = ("numpy", "scipy", "pandas", "pymc", "nutpie", "pytensor", "numba")
    made = int(fits["simulation"].nunique()) * (2 if args.what == "sbc" else 1)
    note = {
        "command": f"python benchmarks/calibrate_incoherence.py {args.what} --simulations {made} --seed {args.seed}",
        "models": args.models if args.what == "sbc" else list(MODELS),
        "simulations_made": made,
        "versions": {name: version(name) for name in packages} | {"python": platform.python_version()},
        "machine": f"{platform.machine()}, {'two cores' if args.what == 'speed' else 'one core'}",
        "load_average": round(os.getloadavg()[0], 1),
        "cpu_seconds": round(time.process_time() - start, 1),
        "resumed": args.resume,
    }
    path = RESULTS / f"incoherence_{args.what}.json"
    path.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
