"""Ranks under the priors of the accuracy model, and coverage of its intervals beside the frequentist ones.

    python benchmarks/calibrate_accuracy.py [--simulations 200] [--data-sets 40] [--seed 20261130]
    python benchmarks/calibrate_accuracy.py --long 600 [--design items] [--seed 20261130]
    python benchmarks/calibrate_accuracy.py --by-nuts 4 [--seed 20261130]

Ranks: truth and answers are drawn from the priors (3 models; 20 items asked once, 15 items asked three times, 18 items
in 6 units, by turns); the truth is ranked among 99 thinned draws, and it is counted how often the predictive checks
warn of the right model. Coverage: 5 models of fixed levels, 200 items, four worlds: difficulties normal as the model
has it; half of the items easy, half hard; models that differ in what units of 10 items are to them (five times the data
sets); the same difficulties as normal in units. 95 % intervals of accuracies
and of differences to the first model. Kept in ``benchmarks/results``: ``accuracy_sbc_fits.csv``, ``accuracy_sbc.csv``,
``accuracy_coverage.csv``, and command, versions and machine as JSON. ``--long`` ranks truths of one
design among the draws of a whole fit (4 chains of 1,000), whose tails short chains do not reach:
``accuracy_long.csv``, of other designs than items ``accuracy_long_<design>.csv``. ``--by-nuts``
sets the posterior of the sd of reactions that the second step finds beside that of NUTS on the whole model in PyMC, by
data set of 4 models, 12 units of 8 items and true sd .8: ``accuracy_reactions.csv``.
"""

import argparse
import json
import platform
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import arviz_stats
import numpy as np
import nutpie
import pandas as pd
from rank_uniformity import rank_of, uniformity_p_values
from scipy.special import expit

from analysis.bayes.accuracy import fit_accuracy
from analysis.bayes.accuracy_checks import predictive_checks
from analysis.bayes.accuracy_data import AnswerSet, answer_set
from analysis.bayes.accuracy_priors import AccuracyPriors, mean_accuracy
from analysis.bayes.accuracy_sampling import accuracy_settings, sample_accuracy
from analysis.bayes.accuracy_simulation import answer_rows, drawn_parameters, simulated_right
from analysis.bayes.models.accuracy import accuracy_model
from analysis.bayes.sampling import SamplerSettings
from analysis.frequentist.model_measures import model_units, rate_measure, tidy
from analysis.frequentist.multiplicity import holm
from analysis.frequentist.paired_intervals import paired_difference

RANKS = 99
SETTINGS = SamplerSettings(chains=1, draws=2 * RANKS, tune=40, cores=1)
DESIGNS = {"items": (20, 1, 20), "samples": (15, 3, 15), "units": (18, 1, 6)}
LEVELS = np.array([-0.5, 0.0, 0.5, 1.0, 2.0])
#: Data sets of this world, in those of the others: it is the one that the model does not integrate.
REACTING, TIMES = "models react to units", 5
WORLDS = ("normal", "two kinds of items", "models react to units", "normal units")
#: True sd of reactions of ``--by-nuts``.
REACTION_SD = 0.8
RESULTS = Path(__file__).parent / "results"


def empty_design(name: str) -> AnswerSet:
    """Answers of three models that are drawn later."""
    items, samples, units = DESIGNS[name]
    return answer_set(answer_rows(np.zeros((3, items), np.int64), samples, np.arange(items) % units))


def drawn_answers(empty: AnswerSet, truth: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Right answers drawn from parameters."""
    known = (truth[name] for name in ("level", "sd", "share", "log_phi"))
    return simulated_right(empty, *known, rng, reaction_sd=truth["reaction_sd"])


def true_accuracy(truth: Mapping[str, Any]) -> np.ndarray:
    """Accuracies on new items of new units."""
    return mean_accuracy(truth["level"], np.hypot(truth["sd"], truth["reaction_sd"]))


def simulation(name: str, seed: int, at: int) -> dict[str, object]:
    """Ranks of one truth drawn from the priors."""
    rng, priors, empty = np.random.default_rng([seed, at]), AccuracyPriors(), empty_design(name)
    truth = drawn_parameters(empty, priors, rng)
    right = drawn_answers(empty, truth, rng)
    draws = sample_accuracy(empty._replace(right=right), priors, SETTINGS, seed=int(rng.integers(2**31)))
    found = draws.parameters()
    accuracy = true_accuracy(truth)
    true = {"accuracy": accuracy[0], "difference": accuracy[0] - accuracy[1], "sd_items": truth["sd"]}
    true["sd_models"] = truth["sd_level"]
    drawn = {"accuracy": found["accuracy"][..., 0], "sd_items": found["sd"], "sd_models": np.exp(found["log_sd_level"])}
    drawn["difference"] = found["accuracy"][..., 0] - found["accuracy"][..., 1]
    if empty.has_unit:
        true["share_units"], drawn["share_units"] = truth["share"], found["share"]
        true["sd_reactions"], drawn["sd_reactions"] = truth["reaction_sd"], found["reaction_sd"]
    if empty.has_residual:
        true["log_concentration"], drawn["log_concentration"] = truth["log_phi"], found["log_phi"]
    ranks = {key: rank_of(float(true[key]), x.ravel()[::2][:RANKS], rng) for key, x in drawn.items()}
    checks = predictive_checks(draws.posterior.answers, draws, np.random.default_rng([seed, at, 3]))
    ranks["warned"] = int((checks["p_adjusted"] < 0.05).any())
    return {"simulation": at, "design": name, **ranks, "acceptance": draws.acceptance, "pareto_k": draws.pareto_k}


def summary(ranks: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row per design and quantity: test of uniform ranks, adjusted over all, and coverage of the central 94 %."""
    rng, rows = np.random.default_rng([seed, 99]), []
    names = ranks.columns.difference(["simulation", "design", "warned", "acceptance", "pareto_k"], sort=False)
    for design, own in ranks.groupby("design", sort=False):
        for name in names:
            found = own[name].dropna().to_numpy(np.int64)
            if len(found):
                p = uniformity_p_values(found[None], RANKS + 1, rng)[0]
                inside = ((found >= 3) & (found <= 96)).mean()
                rows.append(
                    {"design": design, "quantity": name, "simulations": len(found), "p_value": p, "coverage": inside}
                )
    table = pd.DataFrame(rows).assign(coverage_nominal=0.94)
    adjusted = holm(table["p_value"])
    return table.assign(p_adjusted=adjusted, family_size=len(table), passed=adjusted > 0.05)


def world(name: str, rng: np.random.Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (5, items) of right answers, and the unit of each item."""
    unit = np.arange(items) // 10
    own = np.arange(items)
    if name == "normal":
        return expit(LEVELS[:, None] + 1.5 * rng.normal(size=items)), own
    if name == "two kinds of items":
        return expit(LEVELS[:, None] + np.where(rng.random(items) < 0.5, 3.0, -2.0)), own
    shared = 1.0 * rng.normal(size=unit.max() + 1)[unit] + 1.1 * rng.normal(size=items)
    reaction = 0.8 * rng.normal(size=(5, unit.max() + 1))[:, unit] * (name == "models react to units")
    return expit(LEVELS[:, None] + shared + reaction), unit


def coverage(seed: int, data_sets: int, items: int = 200) -> pd.DataFrame:
    """Coverage and width of 95 % intervals by world, measure and school."""
    found = []
    for name in WORLDS:
        big = world(name, np.random.default_rng([seed, 1]), 200_000)[0].mean(axis=1)
        for at in range(data_sets * (TIMES if name == REACTING else 1)):
            rng = np.random.default_rng([seed, WORLDS.index(name), at])
            p, unit = world(name, rng, items)
            table = answer_rows(rng.binomial(1, p), 1, unit)
            fit = fit_accuracy(table, settings=SamplerSettings(draws=300, tune=30, cores=1, fast=True), seed=at)
            rows = fit.table[(fit.table["measure"] == "accuracy") & (fit.table["target"] == "these")]
            pairs = fit.contrasts[fit.contrasts["first"] == "m00"]
            for school, part in (("hierarchical", (rows, pairs)), ("frequentist", frequentist(table))):
                for measure, own, truth in (("accuracy", part[0], big), ("difference", part[1], big[0] - big[1:])):
                    low, high = own["ci_low"].to_numpy(float), own["ci_high"].to_numpy(float)
                    inside, width = ((low <= truth) & (truth <= high)).mean(), (high - low).mean()
                    bias = (own["estimate"].to_numpy(float) - truth).mean()
                    found.append((name, measure, school, inside, width, bias))
    table = pd.DataFrame(found, columns=["world", "measure", "school", "coverage", "width", "bias"])
    grouped = table.groupby(["world", "measure", "school"], sort=False)
    means, sizes = grouped[["coverage", "width", "bias"]].mean(), grouped["coverage"].size()
    return means.assign(coverage_se=grouped["coverage"].std() / np.sqrt(sizes), data_sets=sizes).reset_index()


def frequentist(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cluster Wilson limits of accuracies, and paired limits of the first model minus each other."""
    known = model_units(table)
    ones, right = np.ones(len(table)), table["n_right"].to_numpy(float)
    n, y = known.sums(ones)[..., 0], known.sums(right)[..., 0]
    measure = rate_measure("accuracy", n, y, ci_level=0.95, nothing="")
    rows = tidy(known.models, [measure], target="these", ci_level=0.95, unit="unit", task="")
    found = paired_difference(n[1:], np.repeat(y[:1], len(y) - 1, axis=0), y[1:], ci_level=0.95)
    return rows, pd.DataFrame({"estimate": found.estimate, "ci_low": found.ci_low, "ci_high": found.ci_high})


def long_ranks(simulations: int, seed: int, design: str) -> pd.DataFrame:
    """Share of truths outside the central 94 % of the draws of whole fits of one design, with standard errors."""
    priors, empty, rows = AccuracyPriors(), empty_design(design), []
    whole = SamplerSettings(chains=4, draws=1000, tune=50, cores=1)
    for at in range(simulations):
        rng = np.random.default_rng([seed, 7, at])
        truth = drawn_parameters(empty, priors, rng)
        right = drawn_answers(empty, truth, rng)
        found = sample_accuracy(empty._replace(right=right), priors, whole, seed=at).parameters()
        accuracy = true_accuracy(truth)[0]
        below = {"sd_items": found["sd"] < truth["sd"], "accuracy": found["accuracy"][..., 0] < accuracy}
        below["sd_models"] = np.exp(found["log_sd_level"]) < truth["sd_level"]
        if empty.has_unit:
            below["share_units"] = found["share"] < truth["share"]
            below["sd_reactions"] = found["reaction_sd"] < truth["reaction_sd"]
        rows.append({name: float(value.mean()) for name, value in below.items()})
    place = pd.DataFrame(rows)
    low, high = (place < 0.03).mean(), (place > 0.97).mean()
    error = np.sqrt(0.06 * 0.94 / simulations)
    table = pd.DataFrame({"below_3": low, "above_97": high, "outside": low + high}).rename_axis("quantity")
    return table.assign(outside_nominal=0.06, standard_error=error, simulations=simulations).reset_index()


def reacting_answers(seed: int, at: int) -> AnswerSet:
    """Answers of 4 models to 12 units of 8 items that are something else to each model."""
    empty = answer_set(answer_rows(np.zeros((4, 96), np.int64), 1, np.arange(96) // 8))
    rng = np.random.default_rng([seed, 11, at])
    return empty._replace(right=simulated_right(empty, LEVELS[:4], 1.5, 0.4, np.inf, rng, reaction_sd=REACTION_SD))


def reactions_by_nuts(seed: int, data_sets: int) -> pd.DataFrame:
    """5, 50 and 95 % quantiles of the sd of reactions by both ways, one row per data set."""
    rows, priors = [], AccuracyPriors()
    for at in range(data_sets):
        answers = reacting_answers(seed, at)
        model = nutpie.compile_pymc_model(accuracy_model(answers, priors, reactions=True))
        # Items around their unit leave a funnel where a share is near 0 or 1: short steps.
        asked = {"draws": 2000, "tune": 1500, "chains": 4, "cores": 1, "target_accept": 0.99}
        tree = nutpie.sample(model, seed=at, progress_bar=False, **asked)
        drawn = tree.posterior["sd_reaction"].to_numpy()
        steps = sample_accuracy(answers, priors, accuracy_settings(fast=True, cores=1), seed=at).parameters()
        row: dict[str, object] = {"data_set": at, "seed": seed, "true_sd": REACTION_SD}
        row["n_right"] = int(answers.right.sum())
        for way, sd in (("nuts", drawn), ("steps", steps["reaction_sd"])):
            row |= {f"{way}_{100 * q:.0f}": np.quantile(sd, q) for q in (0.05, 0.5, 0.95)}
        row["nuts_ess"] = float(arviz_stats.ess(drawn))
        row["nuts_rhat"] = float(arviz_stats.rhat(drawn))
        row["nuts_divergences"] = int(tree.sample_stats["diverging"].sum())
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=200, help="truths drawn from the priors, over all designs")
    parser.add_argument("--data-sets", type=int, default=40, help="data sets by world; of reacting models five times")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--long", type=int, metavar="N", help="rank N truths of one design among whole fits")
    parser.add_argument("--design", choices=list(DESIGNS), default="items", help="of --long")
    parser.add_argument("--by-nuts", type=int, metavar="N", help="reactions of N data sets by two steps and by NUTS")
    args = parser.parse_args()
    if args.by_nuts:
        table = reactions_by_nuts(args.seed, args.by_nuts)
        command = f"python benchmarks/calibrate_accuracy.py --by-nuts {args.by_nuts} --seed {args.seed}"
        table.assign(command=command).round(4).to_csv(RESULTS / "accuracy_reactions.csv", index=False)
        print(table.round(3).to_string())
        return
    if args.long:
        table = long_ranks(args.long, args.seed, args.design)
        command = (
            f"python benchmarks/calibrate_accuracy.py --long {args.long} --design {args.design} --seed {args.seed}"
        )
        name = "accuracy_long.csv" if args.design == "items" else f"accuracy_long_{args.design}.csv"
        table.assign(command=command).round(5).to_csv(RESULTS / name, index=False)
        print(table.round(4).to_string())
        return
    start, names = time.process_time(), list(DESIGNS)
    ranks = pd.DataFrame([simulation(names[at % 3], args.seed, at) for at in range(args.simulations)])
    table = summary(ranks, args.seed)
    ranks_seconds = time.process_time() - start
    RESULTS.mkdir(parents=True, exist_ok=True)
    ranks.to_csv(RESULTS / "accuracy_sbc_fits.csv", index=False)
    table.round(6).to_csv(RESULTS / "accuracy_sbc.csv", index=False)
    print(table.round(3).to_string(), flush=True)
    covered = coverage(args.seed, args.data_sets)
    covered.round(6).to_csv(RESULTS / "accuracy_coverage.csv", index=False)
    packages = ("numpy", "scipy", "pandas", "numba")
    note = {
        "command": f"python benchmarks/calibrate_accuracy.py --simulations {args.simulations} "
        f"--data-sets {args.data_sets} --seed {args.seed}",
        "versions": {name: version(name) for name in packages} | {"python": platform.python_version()},
        "machine": f"{platform.machine()}, one core",
        "largest_pareto_k": round(float(ranks["pareto_k"].max()), 3),
        "share_of_right_models_warned_about": round(float(ranks["warned"].mean()), 3),
        "smallest_acceptance": round(float(ranks["acceptance"].min()), 3),
        "cpu_seconds": round(time.process_time() - start, 1),
        "cpu_seconds_of_ranks": round(ranks_seconds, 1),
    }
    (RESULTS / "accuracy_sbc.json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(covered.round(3).to_string())


if __name__ == "__main__":
    main()
