"""Simulation-based calibration: ranks of true values among draws, and the tests that they are uniform.

References
----------
Talts, Betancourt, Simpson, Vehtari and Gelman (2018), arXiv:1804.06788.
Saeilynoja, Buerkner and Vehtari (2022), Statistics and Computing 32:32, doi:10.1007/s11222-022-10090-6.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2, kstest

from analysis.bayes.design_matrix import CountDesign, count_design
from analysis.bayes.generative import (
    StageTruth,
    draw_counts,
    draw_stage,
    true_accuracies,
    true_new_template_accuracies,
)
from analysis.bayes.model_arrays import ModelArrays
from analysis.bayes.models.answer_bias import stage_arrays, stage_columns
from analysis.bayes.models.surface_layer import ClusterEstimates, surface_layer_arrays
from analysis.bayes.posterior import StageFit, count_accuracies, estimate_accuracies
from analysis.bayes.priors import Priors
from analysis.bayes.sampling import SamplerSettings, sample
from analysis.bayes.summaries import KERNELS
from analysis.bayes.whitening import non_centred_coordinates, whitened_coordinates
from analysis.frequentist.multiplicity import holm
from analysis.measures.yes_no_bias import FOUR_CELLS

Floats = NDArray[np.float64]
TARGETS = (("these", "incorrect"), ("these", "excluded"), ("these", "half"), ("new_templates", "incorrect"))
#: Bins of the chi-square test.
BINS = 10


@dataclass(frozen=True, slots=True)
class RankSettings:
    """Size of a calibration: simulations, design, sampler, ranks from 0 to ``thinned``, model families (0: none)."""

    simulations: int
    models: int = 5
    templates: int = 4
    forms: int = 2
    n: int = 12
    chains: int = 2
    draws: int = 1000
    thinned: int = 99
    families: int = 0

    @property
    def sampler(self) -> SamplerSettings:
        return SamplerSettings(chains=self.chains, draws=self.draws, tune=400, cores=1)

    @property
    def family_of(self) -> dict[str, str]:
        """Model -> family, in turn."""
        return {f"m{m}": f"family {m % self.families}" for m in range(self.models)} if self.families else {}


def crossed_design(settings: RankSettings) -> CountDesign:
    """Template × form × polarity, half of the templates invalid; counts are placeholders."""
    rows = [
        {"model": f"m{m}", "cell": cell, "template": f"t{t}", "form": f"f{f}", "n_answered": 1, "n_uncertain": 1}
        for m in range(settings.models)
        for t in range(settings.templates)
        for f in range(settings.forms)
        for cell in (("VA", "VN") if t < settings.templates // 2 else ("IA", "IN"))
    ]
    return count_design(pd.DataFrame(rows).assign(n_correct=1))


def hyper_names(arrays: ModelArrays, groups: tuple[str, ...], stage: str) -> list[str]:
    """A name for every hyper-parameter, in order."""
    names = [""] * len(arrays.prior_mean)
    for j, at in enumerate(arrays.mean_at):
        group = groups[arrays.group[j]]
        if at >= 0:
            names[at] = f"{stage}: mean {group} {j - int(np.flatnonzero(arrays.group == arrays.group[j])[0])}"
            if arrays.prior_sd_at[at] >= 0:
                names[arrays.prior_sd_at[at]] = f"{stage}: log tau {group}"
    for j, places in enumerate(arrays.family_at.T):
        for i, at in enumerate(np.unique(places[places >= 0])):
            names[at] = f"{stage}: family {i} {groups[arrays.group[j]]}"
            names[arrays.prior_sd_at[at]] = f"{stage}: log sd of families {groups[arrays.group[j]]}"
    for g, at in enumerate(arrays.log_sd_at):
        if at >= 0:
            names[at] = f"{stage}: log sd {groups[g]}"
    if arrays.log_phi_at >= 0:
        names[arrays.log_phi_at] = f"{stage}: log concentration"
    return names


def stage_groups(design: CountDesign, stage: str) -> tuple[str, ...]:
    """Names of the groups of a stage's columns, in the order of its arrays."""
    return tuple(design.groups[g] for g in sorted(set(design.group[stage_columns(design, stage)])))


def fitted(arrays: ModelArrays, settings: RankSettings, seed: int) -> StageFit:
    """One stage sampled as a fit samples it."""
    approximation = whitened_coordinates(arrays)
    coordinates = approximation.coordinates if approximation.converged else non_centred_coordinates(arrays)
    return StageFit(arrays, coordinates, sample(arrays, coordinates, settings.sampler, seed=seed))


def count_ranks(settings: RankSettings, seed: int) -> Iterator[dict[str, object]]:
    """Ranks of hyper-parameters and of the first model's measures in both stages, simulation by simulation."""
    empty, priors = crossed_design(settings), Priors()
    families = settings.family_of
    blank = {stage: stage_arrays(empty, priors, stage=stage, families=families) for stage in ("answered", "yes")}
    for i in range(settings.simulations):
        rng = np.random.default_rng([seed, i])
        truth = {stage: draw_stage(arrays, rng) for stage, arrays in blank.items()}
        design = draw_counts(empty, truth["answered"], truth["yes"], rng, n=settings.n)
        fits = {
            stage: fitted(stage_arrays(design, priors, stage=stage, families=families), settings, i) for stage in blank
        }
        found = {}
        for stage, fit in fits.items():
            names = hyper_names(fit.arrays, stage_groups(design, stage), stage)
            found |= dict(zip(names, zip(truth[stage].hyper, fit.hyper.value.T, strict=True), strict=True))
        draws = count_accuracies(design, fits["yes"], fits["answered"], rng, wanted=TARGETS)
        for (target, treatment), of_target in zip(TARGETS, draws, strict=True):
            true = _true(target, treatment, design, {stage: (blank[stage], truth[stage]) for stage in blank})
            found |= _measures(f"{target}, {treatment}", true, of_target.accuracy)
        yield {"simulation": i, **_divergences(fits)} | _ranks(found, settings, rng)


def layer_ranks(settings: RankSettings, seed: int) -> Iterator[dict[str, object]]:
    """The same for the layer of estimates by unit, under its own model: log-odds ~ t(eta, V)."""
    for i in range(settings.simulations):
        rng = np.random.default_rng([seed, i, 1])
        blank = surface_layer_arrays(_placeholder(settings.models, rng), Priors(), families=settings.family_of)
        truth = draw_stage(blank, rng)
        arrays = blank._replace(yes=_t_around(truth.log_odds, blank, rng))
        fit = fitted(arrays, settings, i)
        names = hyper_names(arrays, ("yes", "sensitivity", "polarity", "validity"), "units")
        found = dict(zip(names, zip(truth.hyper, fit.hyper.value.T, strict=True), strict=True))
        found |= _measures("units", truth.probability, estimate_accuracies(fit))
        yield {"simulation": i, **_divergences({"units": fit})} | _ranks(found, settings, rng)


def rank_tests(ranks: pd.DataFrame, settings: RankSettings, *, seed: int) -> pd.DataFrame:
    """Uniformity of the ranks of each quantity: Kolmogorov-Smirnov and chi-square, Holm-adjusted over both families."""
    rng = np.random.default_rng(seed)
    names = [name for name in ranks.columns if name not in ("simulation", "divergences", "settled")]
    rows = []
    for name in names:
        known = ranks[name].dropna().to_numpy()
        u = (known + rng.random(len(known))) / (settings.thinned + 1)
        expected = len(u) / BINS
        counts = np.histogram(u, bins=BINS, range=(0, 1))[0]
        statistic = float(((counts - expected) ** 2 / expected).sum())
        covered = ((u > 0.025) & (u < 0.975)).mean()
        found = kstest(u, "uniform")
        rows.append(
            {
                "quantity": name,
                "simulations": len(u),
                "ks": found.statistic,
                "ks_p": found.pvalue,
                "chi2_p": float(chi2.sf(statistic, BINS - 1)),
                "mean_rank": float(u.mean()),
                "coverage_95": float(covered),
            }
        )
    table = pd.DataFrame(rows)
    adjusted = holm(np.concatenate([table["ks_p"], table["chi2_p"]]))
    return table.assign(ks_p_holm=adjusted[: len(table)], chi2_p_holm=adjusted[len(table) :])


def _true(
    target: str, treatment: str, design: CountDesign, stages: dict[str, tuple[ModelArrays, StageTruth]]
) -> Floats:
    if target == "new_templates":
        return true_new_template_accuracies(design, stages, treatment)
    return true_accuracies(design, stages["answered"][1], stages["yes"][1], treatment)


def _measures(label: str, true: Floats, draws: Floats) -> dict[str, tuple[float, Floats]]:
    """True value and draws of every measure of the first model, and of its rank."""
    found = {}
    for name, (kernel, _, _) in KERNELS.items():
        found[f"{label}: {name}"] = (float(kernel(true[0])), kernel(draws[:, :, 0]).ravel())
    floors, true_floors = KERNELS["competence_floor"][0](draws), KERNELS["competence_floor"][0](true)
    rank = 1.0 + (floors > floors[..., :1]).sum(axis=-1)
    found[f"{label}: floor_rank"] = (1.0 + float((true_floors > true_floors[0]).sum()), rank.ravel())
    return found


def _ranks(
    found: dict[str, tuple[float, Floats]], settings: RankSettings, rng: np.random.Generator
) -> dict[str, object]:
    """Rank of each true value among equally spaced draws, ties broken at random; missing where it is undefined."""
    ranks: dict[str, object] = {}
    for name, (true, draws) in found.items():
        at = np.linspace(0, len(draws) - 1, settings.thinned).astype(int)
        chosen = draws[at]
        ties = int((chosen == true).sum())
        defined = np.isfinite(true) and np.isfinite(chosen).all()
        ranks[name] = int((chosen < true).sum()) + rng.integers(0, ties + 1) if defined else np.nan
    return ranks


def _divergences(fits: dict[str, StageFit]) -> dict[str, object]:
    return {"divergences": int(sum(fit.draws.diverging.sum() for fit in fits.values()))}


def _placeholder(models: int, rng: np.random.Generator) -> ClusterEstimates:
    """Covariances of 20 units with correlated cells."""
    size = len(FOUR_CELLS)
    rate = rng.uniform(0.2, 0.9, (models, size))
    root = rng.normal(size=(models, size, 2 * size)) / np.sqrt(2 * size)
    correlation = root @ np.swapaxes(root, 1, 2)
    scale = np.sqrt(np.diagonal(correlation, axis1=1, axis2=2))
    spread = np.sqrt(rate * (1 - rate) / 40)
    covariance = correlation / (scale[:, :, None] * scale[:, None, :]) * spread[:, :, None] * spread[:, None, :]
    full = np.full((models, size), 20.0)
    return ClusterEstimates(
        tuple(f"m{m}" for m in range(models)),
        FOUR_CELLS,
        rate,
        covariance,
        np.full(models, 19.0),
        full,
        8 * full,
    )


def _t_around(eta: Floats, arrays: ModelArrays, rng: np.random.Generator) -> Floats:
    """Multivariate t around eta with the scale and degrees of freedom of the arrays."""
    factor = np.linalg.cholesky(np.linalg.inv(arrays.inverse))
    normal = (factor @ rng.normal(size=eta.shape)[..., None])[..., 0]
    return eta + normal / np.sqrt(rng.chisquare(arrays.df) / arrays.df)[:, None]
