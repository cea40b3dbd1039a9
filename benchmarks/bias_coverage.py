"""Coverage, width and error of the intervals of both schools on simulated studies, and how often they decide alike."""

import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from bias_designs import Study, simulated_study

from analysis.bayes.design_matrix import units_as_effects
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.result import UNITS
from analysis.bayes.sampling import SamplerSettings
from analysis.bayes.summaries import KERNELS
from analysis.comparison.columns import compare_columns
from analysis.comparison.schools import EDGE, Thresholds
from analysis.comparison.shared_input import cluster_estimates, comparison_facts, weighted_facets
from analysis.frequentist.answer_bias import answer_bias_estimates, floor_tests
from analysis.frequentist.cell_covariance import cell_covariances
from analysis.reduction.units import unit_sums

MEASURES = ("answer_bias", "polarity_sensitivity", "validity_contrast", "balanced_accuracy", "competence_floor")
#: Enough for intervals; Monte-Carlo gates are left to full runs.
SETTINGS = SamplerSettings(chains=2, draws=300, tune=150, cores=1, fast=True)


def study_rows(study: Study, seed: int, *, surfaces: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Intervals of every method for one data set with the truth beside them, and the comparison of the schools."""
    rng = np.random.default_rng(seed)
    counts, truth = simulated_study(study, rng)
    sums = unit_sums(counts, weighting="row")
    covariances = cell_covariances(sums)
    estimates = answer_bias_estimates(sums)
    start = time.process_time()
    facets = weighted_facets(counts, weighting="row", units=surfaces)
    fit = fit_answer_bias(
        facets,
        clusters=cluster_estimates(covariances),
        settings=SETTINGS,
        treatments=("incorrect",),
        seed=seed,
    )
    seconds = time.process_time() - start
    models = tuple(sorted(counts["model"].unique()))
    true = pd.concat(
        [pd.DataFrame({"model": models, "measure": name, "truth": KERNELS[name][0](truth)}) for name in MEASURES]
    )
    pooled = fit.table[(fit.table["target"] == "these") & fit.table["measure"].isin(MEASURES)]
    by_counts = "units as effects" if units_as_effects(facets) else "counts"
    parts = [
        pooled[pooled["likelihood"] == UNITS].assign(method="estimates by unit"),
        pooled[pooled["likelihood"] != UNITS].assign(method=by_counts),
        estimates.assign(method="frequentist"),
    ]
    columns = ["method", "model", "measure", "estimate", "ci_low", "ci_high"]
    rows = pd.concat([part[columns] for part in parts]).merge(true, on=["model", "measure"])
    facts = comparison_facts(covariances)
    compared = compare_columns(fit, estimates, floor_tests(sums), facts)
    compared["interior"] = compared["model"].astype(str).isin(interior_models(facts))
    told = {"design": study.name, "data_set": seed, "divergences": fit.glance["divergences"], "cpu_s": seconds}
    return rows.assign(**told, status=fit.status), compared.assign(**told)


def interior_models(facts: pd.DataFrame) -> set[str]:
    """Models that the comparison of schools does not call near an edge or short of responses."""
    inside = (facts["min_cell"] >= EDGE) & (facts["max_cell"] <= 1 - EDGE) & (facts["n_eff"] >= Thresholds().n_eff)
    return set(facts.loc[inside, "model"].astype(str))


def coverage_rounds(
    studies: tuple[Study, ...], data_sets: int, seed: int, *, surfaces: bool = False
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Results of all rounds so far, each round one data set of every study."""
    rows: list[pd.DataFrame] = []
    compared: list[pd.DataFrame] = []
    for i in range(data_sets):
        for place, study in enumerate(studies):
            found = study_rows(study, seed + 1000 * place + i, surfaces=surfaces)
            rows.append(found[0])
            compared.append(found[1])
        yield pd.concat(rows, ignore_index=True), pd.concat(compared, ignore_index=True)


def coverage_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage with the standard error that keeps the intervals of one data set together, width and error."""
    rows = rows.assign(
        covered=(rows["ci_low"] <= rows["truth"]) & (rows["truth"] <= rows["ci_high"]),
        width=rows["ci_high"] - rows["ci_low"],
        square=(rows["estimate"] - rows["truth"]) ** 2,
    )
    found = []
    for keys, part in rows.groupby(["design", "measure", "method"], sort=False):
        by_set = part.groupby("data_set")["covered"].mean()
        found.append(
            dict(zip(("design", "measure", "method"), keys, strict=True))
            | {
                "data_sets": len(by_set),
                "intervals": len(part),
                "coverage": part["covered"].mean(),
                "coverage_se": max(by_set.std(ddof=1), np.sqrt(0.95 * 0.05)) / np.sqrt(len(by_set))
                if len(by_set) > 1
                else np.nan,
                "width": part["width"].mean(),
                "rmse": float(np.sqrt(part["square"].mean())),
                "divergences": part.groupby("data_set")["divergences"].first().mean(),
                "cpu_s": part.groupby("data_set")["cpu_s"].first().mean(),
            }
        )
    return pd.DataFrame(found)


def agreement_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Share of equal decisions of the two schools by design and measure, and the verdicts of the others; the same
    share among models whose cells all lie inside and have enough responses."""
    table = compared.assign(alike=compared["decision"] == compared["pooled_decision"])
    found = []
    for keys, part in table.groupby(["design", "measure"], sort=False):
        verdicts = part["verdict"].value_counts()
        inside = part.loc[part["interior"], "alike"]
        found.append(
            dict(zip(("design", "measure"), keys, strict=True))
            | {"rows": len(part), "decisions_alike": part["alike"].mean()}
            | {"interior_rows": len(inside), "interior_alike": inside.mean()}
            | {f"verdict_{name}": int(verdicts.get(name, 0)) for name in ("agree", "explained", "differ")}
        )
    return pd.DataFrame(found)
