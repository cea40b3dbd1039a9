"""Calibration of the model of single answers: ranks under its priors, and responders of known noise beside the moments.

    python benchmarks/calibrate_measurement.py sbc        [--simulations 100] [--seed 20261130] [--resume]
    python benchmarks/calibrate_measurement.py responders [--simulations 5]   [--seed 20261130]

``sbc`` draws hyper-parameters, beliefs and answers from the priors, with a clip at .03 so that many answers are
censored, and ranks every hyper-parameter and reported quantity among 99 posterior draws. ``responders`` gives answers
rounded to two decimals to the model, to the moments, and (their residuals) to SSL. Single fits, summaries and, as
JSON, command and versions are kept in ``benchmarks/results/measurement_*``; one core.
"""

import argparse
import json
import platform
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from measurement_designs import FIRST, INSTANCE, INSTANCES, RESPONDERS, WORDINGS, prior_answers, responder_answers
from numpy.typing import NDArray
from rank_uniformity import rank_of, uniformity_p_values

from analysis.bayes.diagnostics import convergence
from analysis.bayes.incoherence_data import checked_instances, model_instances
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_sampling import sample_instances
from analysis.bayes.measurement import measurement_quantities, sample_answers
from analysis.bayes.measurement_data import ROLES, MeasurementPriors
from analysis.bayes.sampling import SamplerSettings
from analysis.frequentist.multiplicity import holm
from analysis.measures.coherence import cross_products, log_odds

RANKS = 99
#: Share of answers at the clip is higher with this than with .01.
SBC_CLIP = 0.03
SETTINGS = SamplerSettings(chains=2, draws=990, tune=500, target_accept=0.9, cores=1)
#: Medians and intervals need fewer draws than ranks.
SHORTER = replace(SETTINGS, draws=500)
RESULTS = Path(__file__).parent / "results"
#: What is compared with its truth, in order.
COMPARED = ("persistent", "noise", *(f"noise_{role}" for role in ROLES), *(f"share_{role}" for role in ROLES))


def sbc(simulations: int, seed: int, *, resume: bool) -> pd.DataFrame:
    """Ranks, one row per simulation; those kept by an earlier run with the same seed are not made again."""
    priors, kept = MeasurementPriors(), RESULTS / "measurement_sbc_fits.csv"
    rows = pd.read_csv(kept).head(simulations).to_dict("records") if resume and kept.exists() else []
    for at in range(len(rows), simulations):
        rng = np.random.default_rng([seed, at])
        prior, answers = prior_answers(priors, rng, clip=SBC_CLIP)
        start = time.process_time()
        draws = sample_answers(answers, priors, SETTINGS, seed=int(rng.integers(2**31)))
        truth = dict(prior.hyper) | measurement_quantities(prior, answers)
        found = dict(draws.hyper) | measurement_quantities(draws, answers)
        ranks = {name: rank_of(float(truth[name][0]), _thinned(found[name]), rng) for name in truth}
        sampler = {"divergences": int(draws.sampler.diverging.sum()), "r_hat": _r_hat(found)}
        sampler |= {"clipped": answers.clipped, "cpu_seconds": time.process_time() - start}
        rows.append({"simulation": at, **ranks, **sampler})
        _keep(pd.DataFrame(rows), "measurement_sbc_fits.csv")
    return pd.DataFrame(rows)


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    flat = values.reshape(-1)
    return flat[:: len(flat) // RANKS][:RANKS]


def _r_hat(found: dict[str, NDArray[np.float64]]) -> float:
    return float(convergence(np.stack(list(found.values()), axis=-1)).r_hat.max())


def sbc_summary(ranks: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row per quantity: test of uniform ranks, adjusted over all of them, and coverage."""
    rng, rows = np.random.default_rng([seed, 99]), []
    for quantity in ranks.columns.difference(
        ["simulation", "divergences", "r_hat", "clipped", "cpu_seconds"], sort=False
    ):
        found = ranks[quantity].to_numpy(np.int64)
        inside = (found >= 3) & (found <= 96)  # 94 of the 100 ranks
        p = uniformity_p_values(found[None], RANKS + 1, rng)[0]
        rows.append({"quantity": quantity, "simulations": len(found), "p_value": p, "coverage": inside.mean(),
                     "coverage_nominal": 0.94})  # fmt: skip
    table = pd.DataFrame(rows)
    adjusted = holm(table["p_value"])
    return table.assign(
        p_adjusted=adjusted, family_size=len(table), passed=adjusted > 0.05,
        with_divergences=int((ranks["divergences"] > 0).sum()), with_large_r_hat=int((ranks["r_hat"] >= 1.01).sum()),
        mean_clipped=ranks["clipped"].mean(), mean_cpu_seconds=ranks["cpu_seconds"].mean(),
    )  # fmt: skip


def responders(simulations: int, seed: int) -> pd.DataFrame:
    """One row per responder, data set, estimator and quantity."""
    rows = []
    for number, responder in enumerate(RESPONDERS):
        for at in range(simulations):
            rng = np.random.default_rng([seed, 1000 + number, at])
            truth, answers, stated = responder_answers(responder, rng)
            label = {"responder": responder.name, "simulation": at, "clipped": answers.clipped}
            start = time.process_time()
            draws = sample_answers(answers, MeasurementPriors(), SHORTER, seed=int(rng.integers(2**31)))
            found = dict(draws.hyper) | measurement_quantities(draws, answers)
            spent = time.process_time() - start
            sampler = {"divergences": int(draws.sampler.diverging.sum()), "r_hat": _r_hat(found)}
            for name in COMPARED:
                rows.append({**label, "estimator": "single answers", "quantity": name, "truth": truth[name],
                             **_interval(found[name]), **sampler, "cpu_seconds": spent})  # fmt: skip
            for name, value in _moments(stated).items():
                rows.append({**label, "estimator": "moment", "quantity": name, "truth": truth[name], "estimate": value})
            start = time.process_time()
            of_residual = _ssl(stated, int(rng.integers(2**31)))
            rows.append({**label, "estimator": "SSL", "quantity": "persistent", "truth": truth["persistent"],
                         **of_residual, "cpu_seconds": time.process_time() - start})  # fmt: skip
        _keep(pd.DataFrame(rows), "measurement_responders_fits.csv")
    return pd.DataFrame(rows)


def _interval(values: NDArray[np.float64]) -> dict[str, float]:
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
    return {"estimate": float(middle), "ci_low": float(low), "ci_high": float(high)}


def _residuals(stated: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
    """Published residuals (instances, wordings): answers and what they imply, both at most at the clip."""
    implied = np.add.reduceat(stated[1] * stated[2], FIRST[:-1])
    return log_odds(stated[0]) - log_odds(implied)


def _moments(stated: tuple[NDArray[np.float64], ...]) -> dict[str, float]:
    """Published estimates: persistent residual and noise, and how far single answers move between wordings."""
    residual = _residuals(stated)
    squares = residual.var(axis=1, ddof=1)
    q = cross_products(residual.mean(axis=1), squares * (WORDINGS - 1), np.full(INSTANCES, WORDINGS))
    found = {"persistent": float(np.sqrt(max(q.mean(), 0.0))), "noise": float(np.sqrt(squares.mean()))}
    moved = [log_odds(part).var(axis=1, ddof=1) for part in stated]
    found |= {f"noise_{role}": float(np.sqrt(part.mean())) for role, part in zip(ROLES, moved, strict=True)}
    return found | {f"share_{role}": value for role, value in _shares(stated, residual).items()}


def _shares(stated: tuple[NDArray[np.float64], ...], residual: NDArray[np.float64]) -> dict[str, float]:
    """Share of the noise's variance by kind of question: covariance of the residual with what each one moves it."""
    total = dict.fromkeys(ROLES, 0.0)
    for k in range(WORDINGS):
        for m in range(k + 1, WORDINGS):
            gap = residual[:, k] - residual[:, m]
            direct = log_odds(stated[0][:, k]) - log_odds(stated[0][:, m])
            # Half of what replacing the states' weights does before, and after, the conditionals are replaced.
            hybrid = [[_implied(stated, a, b) for b in (k, m)] for a in (k, m)]
            latent = -0.5 * (hybrid[0][0] - hybrid[1][0] + hybrid[0][1] - hybrid[1][1])
            for role, part in zip(ROLES, (direct, latent, gap - direct - latent), strict=True):
                total[role] += float((gap * part).sum())
    whole = sum(total.values())
    return {role: value / whole for role, value in total.items()}


def _implied(stated: tuple[NDArray[np.float64], ...], latent: int, conditional: int) -> NDArray[np.float64]:
    return log_odds(np.add.reduceat(stated[1][:, latent] * stated[2][:, conditional], FIRST[:-1]))


def _ssl(stated: tuple[NDArray[np.float64], ...], seed: int) -> dict[str, float]:
    """Persistent incoherence of SSL, fitted to the residuals."""
    residual = _residuals(stated)
    mean = residual.mean(axis=1)
    table = pd.DataFrame(
        {
            "task": "simulated",
            "model": "simulated",
            "unit": [f"u{i:02d}" for i in range(INSTANCES)],
            "identity": "only",
            "k": WORDINGS,
            "mean": mean,
            "ss": ((residual - mean[:, None]) ** 2).sum(axis=1),
            "clipped": 0.0,
        }
    )
    instances = model_instances(checked_instances(table))[0]
    draws = sample_instances(instances, IncoherencePriors(), SHORTER, linked=True, seed=seed)
    return _interval(np.sqrt((draws.mu**2).mean(axis=-1)))


def responders_summary(fits: pd.DataFrame) -> pd.DataFrame:
    """One row per responder, quantity and estimator: bias, root mean square error, coverage of 95 % intervals."""
    error = fits["estimate"] - fits["truth"]
    covered = ((fits["ci_low"] <= fits["truth"]) & (fits["truth"] <= fits["ci_high"])).astype(float)
    rows = fits.assign(bias=error, squares=error**2, coverage=covered.where(fits["ci_low"].notna()))
    grouped = rows.groupby(["responder", "quantity", "estimator"], sort=False)
    table = grouped[["truth", "estimate", "bias", "coverage", "cpu_seconds", "clipped"]].mean()
    table["rmse"] = np.sqrt(grouped["squares"].mean())
    table["simulations"] = grouped.size()
    table["with_divergences"] = grouped["divergences"].agg(lambda x: (x > 0).sum())
    table["with_large_r_hat"] = grouped["r_hat"].agg(lambda x: (x >= 1.01).sum())
    return table.reset_index()


def _keep(table: pd.DataFrame, name: str) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    table.round(6).to_csv(RESULTS / name, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sbc", "responders"))
    parser.add_argument("--simulations", type=int, default=None)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--resume", action="store_true", help="of sbc: go on after the simulations that are kept")
    args = parser.parse_args()
    wanted = args.simulations or {"sbc": 100, "responders": 5}[args.what]
    start = time.process_time()
    if args.what == "sbc":
        summary = sbc_summary(sbc(wanted, args.seed, resume=args.resume), args.seed)
    else:
        summary = responders_summary(responders(wanted, args.seed))
    _keep(summary, f"measurement_{args.what}.csv")
    note = {
        "command": f"python benchmarks/calibrate_measurement.py {args.what} --simulations {wanted} --seed {args.seed}",
        "design": f"{INSTANCES} instances, {len(INSTANCE)} states, {WORDINGS} wordings",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas", "nutpie", "numba")}
        | {"python": platform.python_version()},
        "machine": f"{platform.machine()}, one core",
        "resumed": args.resume,
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    path = RESULTS / f"measurement_{args.what}.json"
    path.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
