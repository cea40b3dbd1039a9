"""How much each factor explains: standard deviations of the answer-bias model, and their shares of the variance.

The variance of a cell's log-odds around what all models and levels have in common is the sum of the variances of
the batches of coefficients that meet in it; a batch's share is its part of that sum. The residual of counts is
beta-binomial: it is given as the standard deviation of the normal residual on the log-odds scale which spreads
the probability of a cell at one half as much.

References
----------
Gelman (2005), Annals of Statistics 33:1-53, doi:10.1214/009053604000001048.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.component_layout import Component, any_asked, fewest_templates, stage_components, stage_groups
from analysis.bayes.design_matrix import TERMS, CountDesign, count_design, units_as_effects
from analysis.bayes.diagnostics import convergence, mcse_mean, mcse_quantile
from analysis.bayes.gates import failures, quantity_gates
from analysis.bayes.incoherence_summary import hdi
from analysis.bayes.model_arrays import ModelArrays
from analysis.bayes.models.answer_bias import stage_arrays
from analysis.bayes.models.surface_layer import ClusterEstimates, surface_layer_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.residual_spread import equivalent_sd
from analysis.bayes.result import UNITS, AnswerBiasFit
from analysis.bayes.second_prior import FACTOR, sd_given_coefficients, second_posterior, weighted_quantiles
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]

#: Log-odds above which a standard deviation counts as present: 2.5 points near one half.
PRESENT: Final = 0.10
#: Standard deviations of fewer levels than this are shown under a second prior.
FEW_LEVELS: Final = 8
TOGETHER: Final = "together"
#: Least width of an interval for its Monte-Carlo error: 5 % of it are half a printed digit.
_LEAST_WIDTH: Final = 20 * 0.005
_LEAST_SHARE_WIDTH: Final = 20 * 0.0005
#: Draws that the second prior is computed from.
_MOST_DRAWS: Final = 2000
_KEYS: Final = ("factor", "between", "term", "n_levels", "fewest", "prior", "scale")


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Standard deviations of a fit.

    Attributes
    ----------
    table : DataFrame
        A row per stage and component, and one per factor whose terms add up (term ``together``): ``task, stage,
        factor, between, term, estimate`` (median), ``ci_low, ci_high`` (highest density), ``upper_bound``
        (one-sided), ``threshold, p_present``, ``share`` (mean), ``share_low, share_high``, ``n_levels, prior,
        prior_scale`` and the diagnostics, the worse of those of the standard deviation and of its share. A row that
        fails a gate has no numbers and says so in ``reason``. A stage without a response to learn from has no rows.
    second : DataFrame
        The components with fewer than FEW_LEVELS levels, under a prior of twice the scale: ``second_estimate,
        second_low, second_high, second_upper, second_share``, ``pareto_k``, ``reason``.
    """

    table: pd.DataFrame
    second: pd.DataFrame


def variance_components(
    fit: AnswerBiasFit,
    facets: pd.DataFrame,
    *,
    priors: Priors | None = None,
    clusters: ClusterEstimates | None = None,
    families: Mapping[str, str] | None = None,
    ci_level: float = 0.95,
    seed: int = 0,
) -> VarianceComponents:
    """Standard deviations and shares from the draws of a fit.

    Parameters
    ----------
    fit : AnswerBiasFit
    facets, priors, clusters, families
        What the fit was made from, as ``fit.fit_answer_bias`` took them.
    ci_level : float in (0, 1)
    seed : int
        For draws under the second prior.

    Raises
    ------
    AnalysisError
        The fit was not made from these counts.
    """
    rng = np.random.default_rng([seed, 2])
    tables, seconds = [], []
    for stage, (arrays, groups, fewest) in _stages(facets, priors or Priors(), clusters, families).items():
        hyper = fit.draws.get(f"hyper: {stage}")
        if hyper is None:
            continue
        if hyper.shape[-1] != len(arrays.prior_mean):
            raise AnalysisError(f"the fit was not made from these counts: other hyper-parameters of stage {stage}")
        if not any_asked(arrays):
            continue
        components = stage_components(arrays, groups, stage, fewest=fewest)
        if not components:
            continue
        sd = _standard_deviations(hyper, components, rng)
        table = _rows(components, sd, ci_level=ci_level, fast=bool(fit.glance["fast"]))
        tables.append(table.assign(stage=stage))
        seconds.append(_second(components, hyper, sd, table, rng, ci_level).assign(stage=stage))
    if not tables:
        return VarianceComponents(pd.DataFrame(), pd.DataFrame())
    return VarianceComponents(
        *(pd.concat(found, ignore_index=True).assign(task=fit.task) for found in (tables, seconds))
    )


_Stage = tuple[ModelArrays, tuple[str, ...], int | None]


def _stages(
    facets: pd.DataFrame, priors: Priors, clusters: ClusterEstimates | None, families: Mapping[str, str] | None
) -> Mapping[str, _Stage]:
    """Arrays, groups and fewest templates of the stages that a fit of these counts has."""
    plain = count_design(facets)
    design = count_design(facets, surfaces=True) if units_as_effects(facets) else plain

    def of(name: str, counts: CountDesign) -> _Stage:
        arrays = stage_arrays(counts, priors, stage=name, families=families)
        return arrays, stage_groups(counts, name), fewest_templates(counts)

    found = {"yes": of("yes", design)}
    if plain.uncertain.any():
        found["answered"] = of("answered", plain)
    if clusters is not None:
        found[UNITS] = surface_layer_arrays(clusters, priors, families=families), TERMS[: len(clusters.names)], None
    return found


def _standard_deviations(hyper: Floats, components: Sequence[Component], rng: np.random.Generator) -> Floats:
    """Standard deviations (chains, draws, K), drawn anew where their coefficients are known."""
    return np.stack([_standard_deviation(hyper, component, rng) for component in components], axis=-1)


def _standard_deviation(hyper: Floats, component: Component, rng: np.random.Generator) -> Floats:
    own = np.exp(hyper[..., component.at])
    if component.concentration:
        return equivalent_sd(own)
    if not component.means:
        return own
    means = hyper[..., list(component.means)].reshape(-1, len(component.means))
    return sd_given_coefficients(means, scale=component.scale, rng=rng).reshape(own.shape)


def _rows(components: Sequence[Component], sd: Floats, *, ci_level: float, fast: bool) -> pd.DataFrame:
    variance = sd**2 * np.array([c.mean_square for c in components])
    keys = [{name: getattr(c, name) for name in _KEYS} for c in components]
    draws = [sd, np.sqrt(_together(components, variance))]
    shares = [variance, _together(components, variance)]
    sizes = _together(components, np.array([[[float(c.n_levels) for c in components]]])).ravel()
    keys += [
        {"factor": f, "between": b, "term": TOGETHER, "n_levels": int(n)}
        for (f, b), n in zip(_several(components), sizes, strict=True)
    ]
    total = variance.sum(axis=-1, keepdims=True)
    table = pd.DataFrame(keys).rename(columns={"scale": "prior_scale"})
    values, share = np.concatenate(draws, axis=-1), np.concatenate(shares, axis=-1) / total
    return _judged(_described(table, values, share, ci_level), fast=fast)


def _several(components: Sequence[Component]) -> list[tuple[str, str]]:
    """Factors, with what they differ between, that have several terms and are not all there is."""
    pairs = [(c.factor, c.between) for c in components]
    return [pair for pair in dict.fromkeys(pairs) if 1 < pairs.count(pair) < len(pairs)]


def _together(components: Sequence[Component], variance: Floats) -> Floats:
    """Variance (chains, draws, factors) of the factors of ``_several``."""
    own = np.array([[(c.factor, c.between) == pair for pair in _several(components)] for c in components], float)
    return variance @ own.reshape(len(components), -1)


def _described(keys: pd.DataFrame, sd: Floats, share: Floats, ci_level: float) -> pd.DataFrame:
    """Numbers and diagnostics of standard deviations and shares (chains, draws, Q)."""
    flat, flat_share = (x.reshape(-1, x.shape[-1]) for x in (sd, share))
    low, high = hdi(flat, ci_level=ci_level)
    share_low, share_high = hdi(flat_share, ci_level=ci_level)
    event = (sd > PRESENT).astype(float)
    found = convergence(np.concatenate([sd, share], axis=-1))
    worst = {
        "r_hat": np.fmax(*found.r_hat.reshape(2, -1)),
        "ess_bulk": np.fmin(*found.ess_bulk.reshape(2, -1)),
        "ess_tail": np.fmin(*found.ess_tail.reshape(2, -1)),
    }
    ends = [_end_error(*ends, ci_level) for ends in ((sd, low, high), (share, share_low, share_high))]
    widths = [np.maximum(high - low, _LEAST_WIDTH), np.maximum(share_high - share_low, _LEAST_SHARE_WIDTH)]
    return keys.assign(
        estimate=np.median(flat, axis=0),
        posterior_sd=flat.std(axis=0, ddof=1),
        ci_low=low,
        ci_high=high,
        ci_level=ci_level,
        ci_method="hdi",
        upper_bound=np.quantile(flat, ci_level, axis=0),
        threshold=PRESENT,
        p_present=event.mean(axis=(0, 1)),
        share=flat_share.mean(axis=0),
        share_low=share_low,
        share_high=share_high,
        scale="log_odds",
        mcse_end=ends[0],
        mcse_share=np.fmax(ends[0] / widths[0], ends[1] / widths[1]),
        mcse_probability=np.where(np.isin(event.mean(axis=(0, 1)), (0.0, 1.0)), 0.0, mcse_mean(event)),
        **worst,
    )


def _end_error(draws: Floats, low: Floats, high: Floats, ci_level: float) -> Floats:
    """Monte-Carlo error of the upper end of an interval, and of its lower end where that is not the smallest draw."""
    at_boundary = (draws < low).mean(axis=(0, 1)) < (1 - ci_level) / 4
    tail = (1 - ci_level) / 2
    inside = np.fmax(mcse_quantile(draws, tail), mcse_quantile(draws, 1 - tail))
    return np.where(at_boundary, mcse_quantile(draws, ci_level), inside)


def _judged(table: pd.DataFrame, *, fast: bool) -> pd.DataFrame:
    """Rows without numbers where a gate is not passed."""
    named = table.assign(measure="sd", model=table["factor"] + " " + table["term"])
    problems = [failures(quantity_gates(named.iloc[[i]], fast=fast)) for i in range(len(named))]
    failed = np.array([bool(said) for said in problems])
    numbers = ["estimate", "ci_low", "ci_high", "upper_bound", "p_present", "share", "share_low", "share_high"]
    found = table.assign(reason=[f"MCMC: {said}" if said else "" for said in problems])
    found.loc[failed, numbers] = np.nan
    return found


def _second(
    components: Sequence[Component],
    hyper: Floats,
    sd: Floats,
    table: pd.DataFrame,
    rng: np.random.Generator,
    ci_level: float,
) -> pd.DataFrame:
    """Rows of the components with few levels under a second prior."""
    flat, all_sd = hyper.reshape(-1, hyper.shape[-1]), sd.reshape(-1, sd.shape[-1])
    chosen = np.linspace(0, len(flat) - 1, min(_MOST_DRAWS, len(flat))).astype(int)
    flat, all_sd = flat[chosen], all_sd[chosen]
    square = np.array([c.mean_square for c in components])
    total = (all_sd**2 * square).sum(axis=1)
    tail, rows = (1 - ci_level) / 2, []
    for k, component in enumerate(components):
        if component.concentration or component.fewest >= FEW_LEVELS:
            continue
        means = flat[:, list(component.means)] if component.means else None
        found = second_posterior(all_sd[:, k], scale=component.scale, means=means, rng=rng)
        low, middle, upper, high = weighted_quantiles(
            found.sd, found.log_weight, np.array([tail, 0.5, ci_level, 1 - tail])
        )
        part = found.sd**2 * square[k]
        share = part / (total - all_sd[:, k] ** 2 * square[k] + part)
        numbers = {
            "second_estimate": middle,
            "second_low": low,
            "second_high": high,
            "second_upper": upper,
            "second_share": float(np.exp(found.log_weight) @ share),
        }
        reason = str(table["reason"].iloc[k]) or found.reason
        known = {name: np.nan if reason else value for name, value in numbers.items()}
        first = {name: table[name].iloc[k] for name in ("estimate", "upper_bound", "share")}
        keys = {name: value for name, value in asdict(component).items() if name in _KEYS and name != "scale"}
        more = {"prior_scale": component.scale, "second_scale": FACTOR * component.scale}
        k_shape = found.pareto_k if np.isfinite(found.pareto_k) else np.nan
        rows.append(keys | first | known | more | {"pareto_k": k_shape, "ci_level": ci_level, "reason": reason})
    return pd.DataFrame(rows)
