"""How much belief bias and accuracy lean on the priors: power-scaling, and a second prior of sds with few groups."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.belief_bias_arrays import Endorsement
from analysis.bayes.belief_bias_checks import question_log_odds
from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_program import Parameters
from analysis.bayes.belief_bias_sampling import EndorsementDraws
from analysis.bayes.components import FEW_LEVELS
from analysis.bayes.density_terms import binomial_log_likelihood
from analysis.bayes.diagnostics import convergence
from analysis.bayes.gates import LEAST_ESS, MOST_R_HAT, MOST_R_HAT_FAST
from analysis.bayes.second_prior import FACTOR, second_posterior, weighted_quantiles
from analysis.bayes.sensitivity import power_scaled

Floats = NDArray[np.float64]

#: Measures that are followed.
FOLLOWED: Final = ("belief_bias", "discrimination_difference", "accuracy")
#: Change of a result, in posterior standard deviations, from which on a second prior counts as felt.
FELT: Final = 0.5
SENSITIVITY: Final = ("model", "measure", "prior_sensitivity", "likelihood_sensitivity", "diagnosis")
SPREADS: Final = (
    "term", "n_levels", "prior_scale", "estimate", "upper_bound", "second_scale", "second_estimate", "second_upper",
    "shift", "moved", "pareto_k", "ci_level", "reason",
)  # fmt: skip
#: Draws of which the log-odds of all answers are held at once.
_BLOCK: Final = 100


def belief_sensitivity(
    design: BeliefDesign, draws: EndorsementDraws, found: Parameters, quantities: Mapping[Any, Floats]
) -> pd.DataFrame:
    """Power-scaling sensitivity of FOLLOWED of every model.

    Parameters
    ----------
    design : BeliefDesign
    draws : EndorsementDraws
    found : Parameters
        Of all draws.
    quantities : mapping of str to ndarray (S, M or more)
        Draws by measure, models first.

    Returns
    -------
    DataFrame
        As ``sensitivity.power_scaling``; what is undefined or never moves has no row.

    Notes
    -----
    The prior is that of the numbers which ``[priors]`` sets; the likelihood is that given all effects.

    References
    ----------
    Kallioinen, Paananen, Buerkner and Vehtari (2024), Statistics and Computing 34:57.
    """
    shape = draws.shape
    scaled = {
        "prior": log_prior(found, draws.model).reshape(shape),
        "likelihood": log_likelihood(design, draws, found).reshape(shape),
    }
    parts = []
    for name, values in _followed(quantities, len(design.models)).items():
        known = np.isfinite(values).all(axis=0) & (np.ptp(values, axis=0) > 0)
        models = tuple(np.array(design.models)[known].tolist())
        parts.append(power_scaled({name: values[:, known].reshape(*shape, -1)}, models, **scaled))
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(SENSITIVITY))


def log_prior(found: Parameters, model: Endorsement) -> Floats:
    """Log density (S,) of the priors that a user can set, up to a constant."""
    d = model.data
    total = np.zeros(len(found.mean))
    for name, log_scale in zip(model.sds, d.log_scale, strict=True):
        total = total - 0.5 * (found.sd[name] / np.exp(log_scale)) ** 2
    fixed = (d.mean_sd_at if d.pooled else d.sd_at) < 0
    values = found.mean if d.pooled else found.coefficient[:, 0]
    away = (values - d.mean_prior[0]) / np.exp(d.mean_prior[1])
    return np.asarray(total - 0.5 * (away[:, fixed] ** 2).sum(axis=1))


def log_likelihood(design: BeliefDesign, draws: EndorsementDraws, found: Parameters) -> Floats:
    """Log-likelihood (S,) given coefficients and effects, up to a constant."""
    total = np.zeros(len(found.mean))
    for start in range(0, len(total), _BLOCK):
        part = slice(start, start + _BLOCK)
        some = found.taken(part)
        for m in range(len(design.models)):
            eta = question_log_odds(m, design, draws, some).reshape(len(some.mean), -1)
            total[part] += binomial_log_likelihood(eta, design.yes[m].ravel(), design.answered[m].ravel())
    return total


def belief_spreads(
    design: BeliefDesign,
    draws: EndorsementDraws,
    found: Parameters,
    quantities: Mapping[Any, Floats],
    *,
    ci_level: float,
    rng: np.random.Generator,
    fast: bool = False,
) -> pd.DataFrame:
    """Standard deviations of the model; those of fewer than FEW_LEVELS coefficients also under a second, wider prior.

    Returns
    -------
    DataFrame
        SPREADS: ``term`` is the name of the standard deviation, ``n_levels`` its coefficients, ``estimate`` the median,
        ``upper_bound`` one-sided; ``shift`` is the largest change of a followed result under the second prior, in its
        posterior standard deviations, and ``moved`` which one that is. A standard deviation that fails the gates, and a
        second prior whose weights are not reliable, has no numbers and says so in ``reason``.
    """
    rows, followed = [], _followed(quantities, len(design.models))
    for at, name in enumerate(draws.model.sds):
        sd, groups = found.sd[name], _coefficients(at, draws.model, found)
        many = _count(name, draws.model, groups)
        reason = _unsettled(sd.reshape(draws.shape), fast=fast)
        row: dict[str, Any] = {
            "term": name,
            "n_levels": many,
            "prior_scale": float(np.exp(draws.model.data.log_scale[at])),
        }
        row |= {"estimate": float(np.median(sd)), "upper_bound": float(np.quantile(sd, ci_level))}
        if reason:
            row |= {"estimate": np.nan, "upper_bound": np.nan}
        elif many < FEW_LEVELS:
            second = second_posterior(sd, scale=row["prior_scale"], means=groups, rng=rng)
            row |= {"second_scale": FACTOR * row["prior_scale"]}
            row["pareto_k"] = second.pareto_k if np.isfinite(second.pareto_k) else np.nan
            reason = second.reason
            if not reason:
                middle, upper = weighted_quantiles(second.sd, second.log_weight, np.array([0.5, ci_level]))
                row |= {"second_estimate": float(middle), "second_upper": float(upper)}
                row |= _largest_shift(followed, design.models, second.log_weight)
        rows.append(row | {"ci_level": ci_level, "reason": reason})
    table = pd.DataFrame(rows, columns=list(SPREADS))
    return table.assign(moved=table["moved"].astype(object).where(table["moved"].notna(), ""))


def _followed(quantities: Mapping[Any, Floats], models: int) -> dict[str, Floats]:
    return {name: quantities[name][:, :models] for name in FOLLOWED if name in quantities}


def _coefficients(at: int, model: Endorsement, found: Parameters) -> Floats | None:
    """Draws (S, K) of the coefficients around their means that have one standard deviation; None where integrated."""
    d = model.data
    of_mean, of_model = np.flatnonzero(d.mean_sd_at == at), np.flatnonzero(d.sd_at == at)
    if len(of_mean):
        return found.mean[:, of_mean] - d.mean_prior[0, of_mean]
    if len(of_model):
        away = found.coefficient[:, :, of_model] - found.mean[:, None, of_model]
        return np.asarray(away.reshape(len(away), -1))
    return found.item if at == d.item_sd_at else None


def _count(name: str, model: Endorsement, groups: Floats | None) -> int:
    if groups is not None:
        return groups.shape[1]
    d = model.data
    items = len(np.unique(d.unit))
    return len(d.yes) * (len(d.unit) if name == "sd: version" else items)


def _unsettled(sd: Floats, *, fast: bool) -> str:
    """Why the draws (chains, draws) of a standard deviation are not to be read; empty where they are."""
    found = convergence(sd[..., None])
    r_hat, least = float(found.r_hat[0]), float(min(found.ess_bulk[0], found.ess_tail[0]))
    if not r_hat < (MOST_R_HAT_FAST if fast else MOST_R_HAT):
        return f"MCMC: R-hat {r_hat:.3f}"
    return f"MCMC: ESS {least:.0f} (limit {LEAST_ESS:g})" if least <= LEAST_ESS and not fast else ""


def _largest_shift(followed: Mapping[str, Floats], models: tuple[str, ...], log_weight: Floats) -> dict[str, Any]:
    shift, moved = 0.0, ""
    for name, values in followed.items():
        for m, model in enumerate(models):
            own = values[:, m]
            if not np.isfinite(own).all() or np.ptp(own) == 0:
                continue
            middle = weighted_quantiles(own, log_weight, np.array([0.5]))[0]
            change = float((middle - np.median(own)) / own.std(ddof=1))
            if abs(change) > abs(shift) or not moved:
                shift, moved = change, f"{name}: {model}"
    return {"shift": shift, "moved": moved} if moved else {}
