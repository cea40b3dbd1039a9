"""Ranks under the priors of the endorsement model.

    python benchmarks/calibrate_belief.py [--simulations 400] [--minutes M] [--seed 20261130]

Truth and answers are drawn from the priors (4 models, 12 base items of two worded versions, 2 strategies, 2 votes); the
truth is ranked among 99 thinned draws of 2 chains: every sd, and every measure of the first model (models are
exchangeable). Stops after the simulation that passes ``--minutes`` of CPU time. Ranks of each simulation are kept in
``benchmarks/results/belief_sbc_fits.csv``, the summary beside it, and command, versions and machine as JSON.
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
from rank_uniformity import rank_of, uniformity_p_values

from analysis.bayes.belief_bias_arrays import endorsement_of
from analysis.bayes.belief_bias_attempt import Attempt
from analysis.bayes.belief_bias_design import BeliefDesign, belief_design
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_program import Parameters
from analysis.bayes.belief_bias_rates import Profiles, endorsement_rates, item_variance
from analysis.bayes.belief_bias_sampling import sample_endorsements
from analysis.bayes.belief_bias_simulation import drawn_answers, drawn_parameters
from analysis.bayes.sampling import SamplerSettings
from analysis.frequentist.multiplicity import holm

RANKS = 99
SETTINGS = SamplerSettings(chains=2, draws=495, tune=400, target_accept=0.9, cores=1)
RESULTS = Path(__file__).parent / "results"


def empty_design() -> BeliefDesign:
    """Two votes on every question under every configuration; what they are is drawn later."""
    rows = [
        {
            "model": f"m{m}",
            "unit": f"u{u:02d}",
            "item": f"u{u:02d}_{version_}",
            "gold": "yes" if u % 4 < 2 else "no",
            "believability": "believable" if u % 2 else "unbelievable",
            "variant": version_,
            "strategy": strategy,
            "n": 2,
            "k": 0,
        }
        for m in range(4)
        for u in range(12)
        for version_ in ("N", "O")
        for strategy in ("a", "b")
    ]
    return belief_design(pd.DataFrame(rows), conditions=("strategy",))


def quantities(design: BeliefDesign, found: Parameters) -> dict[str, np.ndarray]:
    """Sds, and measures of the first model over new items, (S,) each."""
    profiles = Profiles.of(design)
    rates = endorsement_rates(found.coefficient[:, 0], item_variance(found), profiles)
    weight = profiles.weights(design.answered[0] > 0)
    return dict(found.sd) | measures(design, rates, weight, profiles)


def measures(design: BeliefDesign, rates: np.ndarray, weight: np.ndarray, profiles: Profiles) -> dict[str, np.ndarray]:
    """As the fit reports them."""
    attempt = Attempt(design, endorsement_of(design, BeliefPriors()), SETTINGS, {}, 0.95, 0)
    return attempt.of_rates(rates, weight, profiles)


def simulation(design: BeliefDesign, seed: int, at: int) -> dict[str, object]:
    """Ranks of one simulated truth."""
    rng, priors = np.random.default_rng([seed, at]), BeliefPriors()
    truth = drawn_parameters(design, priors, rng)
    data = replace(design, yes=drawn_answers(design, priors, truth, rng).astype(float))
    draws = sample_endorsements(endorsement_of(data, priors), SETTINGS, seed=int(rng.integers(2**31)))
    found, true = quantities(data, draws.parameters()), quantities(data, truth)
    step = len(next(iter(found.values()))) // RANKS
    ranks = {name: rank_of(float(true[name][0]), values[::step][:RANKS], rng) for name, values in found.items()}
    return {"simulation": at, **ranks, "divergences": int(draws.sampler.diverging.sum())}


def summary(ranks: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row per quantity: test of uniform ranks, adjusted over all, and coverage of the central 94 %."""
    rng, rows = np.random.default_rng([seed, 99]), []
    for name in ranks.columns.difference(["simulation", "divergences"], sort=False):
        found = ranks[name].to_numpy(np.int64)
        p = uniformity_p_values(found[None], RANKS + 1, rng)[0]
        inside = ((found >= 3) & (found <= 96)).mean()
        rows.append({"quantity": name, "simulations": len(found), "p_value": p, "coverage": inside})
    table = pd.DataFrame(rows).assign(coverage_nominal=0.94)
    adjusted = holm(table["p_value"])
    return table.assign(p_adjusted=adjusted, family_size=len(table), passed=adjusted > 0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after this CPU time")
    parser.add_argument("--seed", type=int, default=20261130)
    args = parser.parse_args()
    design, start, rows = empty_design(), time.process_time(), []
    for at in range(args.simulations):
        rows.append(simulation(design, args.seed, at))
        if time.process_time() - start > 60 * args.minutes:
            break
    ranks = pd.DataFrame(rows)
    table = summary(ranks, args.seed)
    RESULTS.mkdir(parents=True, exist_ok=True)
    ranks.to_csv(RESULTS / "belief_sbc_fits.csv", index=False)
    table.round(6).to_csv(RESULTS / "belief_sbc.csv", index=False)
    packages = ("numpy", "scipy", "pandas", "nutpie", "numba")
    note = {
        "command": f"python benchmarks/calibrate_belief.py --simulations {len(ranks)} --seed {args.seed}",
        "simulations_made": len(ranks),
        "with_divergences": int((ranks["divergences"] > 0).sum()),
        "versions": {name: version(name) for name in packages} | {"python": platform.python_version()},
        "machine": f"{platform.machine()}, one core",
        "cpu_seconds": round(time.process_time() - start, 1),
    }
    (RESULTS / "belief_sbc.json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
