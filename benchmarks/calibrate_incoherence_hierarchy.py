"""Is incoherence estimated better for several models at once? Ranks under the priors, and four regimes.

    python benchmarks/calibrate_incoherence_hierarchy.py regimes [--simulations 6] [--minutes M] [--resume]
    python benchmarks/calibrate_incoherence_hierarchy.py sbc     [--simulations 60] [--minutes M] [--resume]

``regimes`` fits the pooled model and, one by one, SSL and N to the same data: seven models, 60
instances of 60 units in three wordings. ``sbc`` ranks the truth of four models of 25 instances among 99 posterior
draws. Results are written to ``benchmarks/results/incoherence_hierarchy_*``, every fit too, from where ``--resume``
goes on. Errors of a data set's models vary together: standard errors are those of means of data sets.
"""

import argparse
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rank_uniformity import rank_of, uniformity_p_values

from analysis.bayes.diagnostics import convergence
from analysis.bayes.incoherence_data import Instances, checked_instances, model_instances, variance_of_mean
from analysis.bayes.incoherence_hierarchy import (
    HierarchyDraws,
    HierarchyPriors,
    compiled_hierarchy,
    hierarchy_prior_draw,
    sample_hierarchy,
)
from analysis.bayes.incoherence_priors import PRESENT, IncoherencePriors
from analysis.bayes.incoherence_sampling import sample_instances
from analysis.bayes.models.incoherence_hierarchy import POOLED
from analysis.bayes.sampling import SamplerSettings
from analysis.frequentist.multiplicity import holm

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
WORDINGS = 3
SIZE = 60
RANKS = 99
SETTINGS = SamplerSettings(chains=2, draws=400, tune=500, target_accept=0.9, cores=1)
POOLED_SETTINGS = replace(SETTINGS, target_accept=0.95)
SBC_SETTINGS = replace(POOLED_SETTINGS, draws=495)
SBC_MODELS, SBC_SIZE = 4, 25
SEVEN = np.array([0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.4])


@dataclass(frozen=True, slots=True)
class Regime:
    """``shared``: instances are as hard for all models; ``effect``: all (every instance), few (15 %) or linked."""

    effect: str
    noise: str
    shared: bool

    @property
    def name(self) -> str:
        return f"{self.effect}, {self.noise} noise, {'shared' if self.shared else 'own'}"


REGIMES = (
    Regime("all", "Gaussian", True),
    Regime("few", "lognormal", True),
    Regime("linked", "linked", True),
    Regime("linked", "linked", False),
)


def simulated(regime: Regime, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means (M, n) of one data set, and residuals (M, n, wordings)."""
    shape, share = (len(SEVEN), SIZE), 0.5 if regime.shared else 0.0
    z = np.sqrt(share) * rng.standard_normal(SIZE) + np.sqrt(1 - share) * rng.standard_normal(shape)
    size = SEVEN[:, None]
    drawn = rng.random(SIZE) * np.ones(shape) if regime.shared else rng.random(shape)
    if regime.effect == "linked":
        on = drawn < 0.3
        mu, sd = on * size / np.sqrt(0.3) * z, np.where(on, np.maximum(size, 0.1) / np.sqrt(0.3), 0.01)
    else:
        mu = size * z if regime.effect == "all" else (drawn < 0.15) * size / np.sqrt(0.15) * z
        spread = rng.standard_normal(SIZE) * np.ones(shape) if regime.shared else rng.standard_normal(shape)
        sd = 0.15 * np.exp(0.8 * spread) if regime.noise == "lognormal" else np.full(shape, 0.25)
    residuals = mu[..., None] + sd[..., None] * rng.standard_normal((*shape, WORDINGS))
    return mu, np.where(np.abs(residuals) < 0.001, 0.0, residuals)


def instances_of(mean: Floats, ss: Floats) -> list[Instances]:
    """Every model's instances (M, n)."""
    models, size = mean.shape
    table = pd.DataFrame(
        {
            "task": "simulated",
            "model": np.repeat([f"m{m}" for m in range(models)], size),
            "unit": np.tile([f"u{i:03d}" for i in range(size)], models),
            "identity": "i",
            "k": WORDINGS,
            "mean": mean.ravel(),
            "ss": ss.ravel(),
            "clipped": 0.0,
        }
    )
    return model_instances(checked_instances(table))


def _persistent(mu: Floats) -> Floats:
    found: Floats = np.sqrt((mu**2).mean(axis=-1))
    return found


def _divergences(draws: HierarchyDraws) -> int:
    return int(draws.sampler.diverging.sum()) if draws.sampler is not None else 0


def regime_rows(
    mu: Floats, instances: list[Instances], pooled: HierarchyDraws, seconds: float, seed: int
) -> Iterator[dict[str, object]]:
    """Rows of one data set: every model and pair of models by every way of fitting."""
    truth = _persistent(mu)
    found = {"pooled": (_persistent(pooled.mu), seconds, _divergences(pooled))}
    for name, linked in (("SSL", True), ("N", False)):
        start, parts = time.process_time(), []
        for at, one in enumerate(instances):
            draws = sample_instances(one, IncoherencePriors(), SETTINGS, linked=linked, seed=seed + at)
            parts.append(_persistent(draws.mu))
        found[name] = (np.stack(parts, axis=-1), time.process_time() - start, 0)
    for name, (values, cpu, divergences) in found.items():
        judged = convergence(values)
        label = {"fit": name, "cpu": cpu, "r_hat": float(judged.r_hat.max())}
        label |= {"divergences": divergences}
        for m in range(len(truth)):
            yield {**label, "of": "model", **_row(values[..., m], truth[m])}
        for a, b in combinations(range(len(truth)), 2):
            yield {**label, "of": "difference", **_row(values[..., a] - values[..., b], truth[a] - truth[b])}


def _row(draws: Floats, truth: float) -> dict[str, float]:
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return {
        "truth": truth,
        "error": middle - truth,
        "width": high - low,
        "covered": float(low - 1e-9 <= truth <= high + 1e-9),
        "p_present": float((draws > PRESENT).mean()),
    }


def regimes(simulations: int, minutes: float, seed: int, *, resume: bool) -> pd.DataFrame:
    """All fits; every regime once per round."""
    compiled, start = None, time.monotonic()
    rows = _earlier("incoherence_hierarchy_regimes_fits.csv") if resume else []
    done = {(row["regime"], row["simulation"]) for row in rows}
    for at in range(simulations):
        for number, regime in enumerate(REGIMES):
            if (regime.name, at) in done:
                continue
            rng = np.random.default_rng([seed, number, at])
            mu, residuals = simulated(regime, rng)
            mean = residuals.mean(axis=-1)
            instances = instances_of(mean, ((residuals - mean[..., None]) ** 2).sum(axis=-1))
            compiled = compiled or compiled_hierarchy(instances, HierarchyPriors())
            cpu = time.process_time()
            pooled = sample_hierarchy(compiled, instances, POOLED_SETTINGS, seed=int(rng.integers(2**31)))
            cpu = time.process_time() - cpu
            label = {"regime": regime.name, "simulation": at}
            rows += [{**label, **row} for row in regime_rows(mu, instances, pooled, cpu, int(rng.integers(2**30)))]
            _keep(pd.DataFrame(rows), "incoherence_hierarchy_regimes_fits.csv")
            if time.monotonic() - start > 60 * minutes:
                return pd.DataFrame(rows)
    return pd.DataFrame(rows)


def regime_summary(fits: pd.DataFrame) -> pd.DataFrame:
    """One row per regime, quantity and way of fitting; the differences of a data set vary together."""
    rows = []
    keys = ["regime", "of", "simulation"]
    fits = fits.assign(square=fits["error"] ** 2)
    alone = fits[fits["fit"] == "SSL"].groupby(keys)["square"].mean().rename("square_alone")
    for (regime, of, fit), part in fits.groupby(["regime", "of", "fit"], sort=False):
        row = {"regime": regime, "of": of, "fit": fit, "sets": part["simulation"].nunique(), "n": len(part)}
        row |= {"bias": part["error"].mean(), "rmse": np.sqrt(part["square"].mean())}
        sets = part.groupby(keys)[["square", "covered"]].mean().join(alone)
        less = sets["square"] - sets["square_alone"]
        row |= {"square_minus_ssl": less.mean(), "square_minus_ssl_se": _standard_error(less)}
        row |= {"width": part["width"].mean(), "coverage": part["covered"].mean()}
        row |= {"coverage_se": _standard_error(sets["covered"])}
        row |= {
            "cpu": part["cpu"].mean(),
            "r_hat_above_1.01": (part.groupby("simulation")["r_hat"].first() > 1.01).mean(),
        }
        row |= {"with_divergences": (part.groupby("simulation")["divergences"].first() > 0).mean()}
        present = part[part["truth"] > 0.15]
        if of == "model":
            row |= {"above_of_true": (present["p_present"] > 0.95).mean()}
            row |= {"below_of_true": (present["p_present"] < 0.05).mean()}
        rows.append(row)
    return pd.DataFrame(rows)


def _standard_error(by_set: pd.Series) -> float:
    """Of the mean of data sets."""
    return float(by_set.std() / np.sqrt(len(by_set)))


def _named(draws: HierarchyDraws) -> dict[str, Floats]:
    """Quantities by name, arrays (...)."""
    found = {name: draws.hyper[name] for name in ("phi", "c", "delta_sd")}
    for name in POOLED:
        found |= {f"{name}_mean": draws.hyper[f"{name}_mean"], f"{name}_sd": draws.hyper[f"{name}_sd"]}
        found[f"{name}, model 1"] = draws.hyper[name][..., 0]
    persistent = _persistent(draws.mu)
    noise = np.sqrt(draws.variance.mean(axis=-1))
    found |= {f"persistent, model {m + 1}": persistent[..., m] for m in range(persistent.shape[-1])}
    found |= {"noise, model 1": noise[..., 0], "persistent, 1 - 2": persistent[..., 0] - persistent[..., 1]}
    return found | {"incoherent share, model 1": draws.incoherent[..., 0, :].mean(axis=-1)}


def sbc(simulations: int, minutes: float, seed: int, *, resume: bool) -> pd.DataFrame:
    """Ranks, one row per data set of SBC_MODELS models at SBC_SIZE instances."""
    priors, start, compiled = HierarchyPriors(), time.monotonic(), None
    rows = _earlier("incoherence_hierarchy_sbc_fits.csv") if resume else []
    for at in range(len(rows), simulations):
        rng = np.random.default_rng([seed, 99, at])
        prior = hierarchy_prior_draw(priors, rng, models=SBC_MODELS, size=SBC_SIZE)
        sd = np.sqrt(variance_of_mean(prior.variance, np.array(float(WORDINGS))))
        mean = prior.mu + sd * rng.standard_normal(prior.mu.shape)
        instances = instances_of(mean, prior.variance * rng.chisquare(WORDINGS - 1, prior.mu.shape))
        compiled = compiled or compiled_hierarchy(instances, priors)
        draws = sample_hierarchy(compiled, instances, SBC_SETTINGS, seed=int(rng.integers(2**31)))
        found = {name: values.reshape(-1)[::10][:RANKS] for name, values in _named(draws).items()}
        ranks = {name: rank_of(float(truth), found[name], rng) for name, truth in _named(prior).items()}
        shown = np.stack([values for name, values in _named(draws).items() if name.startswith(("persistent", "noise"))])
        largest = float(convergence(np.moveaxis(shown, 0, -1)).r_hat.max())
        rows.append({"simulation": at, **ranks, "divergences": _divergences(draws), "r_hat": largest})
        _keep(pd.DataFrame(rows), "incoherence_hierarchy_sbc_fits.csv")
        if time.monotonic() - start > 60 * minutes:
            break
    return pd.DataFrame(rows)


def sbc_summary(ranks: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row per quantity: test of uniform ranks, adjusted over all, and coverage of central 94 % intervals."""
    rng, rows = np.random.default_rng([seed, 98]), []
    for name in ranks.columns.difference(["simulation", "divergences", "r_hat"], sort=False):
        found = ranks[name].to_numpy(np.int64)
        p = uniformity_p_values(found[None], RANKS + 1, rng)[0]
        inside = ((found >= 3) & (found <= 96)).mean()
        row = {"quantity": name, "simulations": len(found), "p_value": p, "coverage": inside, "coverage_nominal": 0.94}
        row["band_low"] = 0.94 - 3 * np.sqrt(0.94 * 0.06 / len(found))
        row["with_divergences"] = (ranks["divergences"] > 0).mean()
        rows.append(row | {"with_large_r_hat": (ranks["r_hat"] >= 1.01).mean()})
    table = pd.DataFrame(rows)
    adjusted = holm(table["p_value"])
    return table.assign(p_adjusted=adjusted, family_size=len(table), passed=adjusted > 0.05)


def _earlier(name: str) -> list[dict[str, object]]:
    """Rows of an earlier run."""
    kept = pd.read_csv(RESULTS / name) if (RESULTS / name).exists() else pd.DataFrame()
    return [{str(key): value for key, value in row.items()} for row in kept.to_dict("records")]


def _keep(table: pd.DataFrame, name: str) -> None:
    table.round(5).to_csv(RESULTS / name, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sbc", "regimes"))
    parser.add_argument("--simulations", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after the round that passes this time")
    parser.add_argument("--resume", action="store_true", help="go on after the data sets that are kept")
    parser.add_argument("--seed", type=int, default=20261130)
    args = parser.parse_args()
    wanted, start = args.simulations or {"sbc": 60, "regimes": 6}[args.what], time.process_time()
    if args.what == "sbc":
        fits = sbc(wanted, args.minutes, args.seed, resume=args.resume)
        summary = sbc_summary(fits, args.seed)
    else:
        fits = regimes(wanted, args.minutes, args.seed, resume=args.resume)
        summary = regime_summary(fits)
    _keep(summary, f"incoherence_hierarchy_{args.what}.csv")
    made, name = int(fits["simulation"].nunique()), Path(__file__).name
    packages = ("numpy", "scipy", "pandas", "pymc", "nutpie", "pytensor", "numba")
    note = {
        "command": f"python benchmarks/{name} {args.what} --simulations {made} --seed {args.seed}",
        "simulations_made": made,
        "versions": {package: version(package) for package in packages} | {"python": platform.python_version()},
        "machine": f"{platform.machine()}, one core",
        "cpu_seconds": round(time.process_time() - start, 1),
        "resumed": args.resume,
    }
    path = RESULTS / f"incoherence_hierarchy_{args.what}.json"
    path.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
