"""The Bayesian column of accuracy of a benchmark: the hierarchical model of right answers, its gates, one retry."""

from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from analysis.arguments import check_level
from analysis.bayes.accuracy_augment import fitted_answers
from analysis.bayes.accuracy_checks import predictive_checks, unpooled_accuracy
from analysis.bayes.accuracy_data import COLUMNS, MOST_ADDITIONS, AnswerSet, answer_set
from analysis.bayes.accuracy_patterns import patterns_of
from analysis.bayes.accuracy_points import points_for, sizes_of
from analysis.bayes.accuracy_priors import AccuracyPriors, prior_predictive
from analysis.bayes.accuracy_result import ALL, NEW_MODEL, NEW_MODELS, REACTIONS, TABLES, AccuracyFit
from analysis.bayes.accuracy_sampling import AccuracyDraws, accuracy_settings, sample_accuracy, sampler_gates
from analysis.bayes.diagnostics import mcse_mean
from analysis.bayes.gates import MOST_MCSE_PROBABILITY, TOO_FEW_DRAWS, Gate, failures, missing_draws, quantity_gates
from analysis.bayes.kept_fits import keep, key_of, load_kept
from analysis.bayes.sampling import SamplerSettings, retry_settings
from analysis.bayes.summaries import quantity_summary
from analysis.errors import AnalysisError

__all__ = ["AccuracyFit", "AccuracyPriors", "fit_accuracy"]

Floats = NDArray[np.float64]

#: Half-width of the differences of two accuracies that count as none.
ROPE: Final = 0.02
_FIRST: Final = "MCSE of a probability of being first"
_TARGET: Final = (
    "Accuracies are those of these models on new items like these, every item weighing the same: the effects of items "
    "are integrated over their normal distribution."
)


def fit_accuracy(
    items: pd.DataFrame,
    *,
    task: str = "",
    priors: AccuracyPriors | None = None,
    settings: SamplerSettings | None = None,
    ci_level: float = 0.95,
    seed: int = 0,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> AccuracyFit:
    """Fit the accuracy model to one task.

    Parameters
    ----------
    items : DataFrame
        ``model, item, unit, n_samples, n_right``, one row per model and item.
    task : str
    priors : AccuracyPriors
    settings : SamplerSettings
        Default: 4 chains of 1000 draws.
    ci_level : float in (0, 1)
    seed : int
        Of everything that draws; results do not depend on the order of rows.
    cache : Path, optional
        Folder of kept fits: an equal fit is read from there, a new one is kept.
    progress : callable, optional
        Receives one sentence per step.

    Raises
    ------
    AnalysisError
        Answers that are not as described, or a fit that would be too large.

    Notes
    -----
    A fit that fails a gate is repeated once with two to four times the draws; a fast one is not.
    """
    level, tell = check_level(ci_level), progress or (lambda sentence: None)
    priors, settings = priors or AccuracyPriors(), settings or accuracy_settings()
    answers = answer_set(items)
    _check_size(answers)
    table = items[list(COLUMNS)].astype({"model": "str", "item": "str", "unit": "str"})
    key = key_of(
        "accuracy",
        table.sort_values(["model", "item"], kind="stable"),
        priors,
        settings,
        {"ci_level": level, "seed": seed, "task": task},
    )
    kept = load_kept(cache, key, AccuracyFit, TABLES, tell=tell) if cache is not None else None
    if kept is not None:
        tell("the fit of the accuracy model is kept from an earlier run")
        return kept
    tell(f"sampling the accuracy model: {len(answers.models)} models, {len(answers.items):,} items")
    fit = _attempt(answers, priors, settings, level, seed)
    if fit.status == "failed" and not settings.fast:
        tell(f"a gate was not passed ({fit.reason}); sampling once more")
        failed = fit.gates[~fit.gates["passed"]]
        few = set(failed["name"]) <= TOO_FEW_DRAWS | {_FIRST}
        again = retry_settings(settings, careful=False, missing=missing_draws(failed))
        fit = _attempt(answers, priors, again, level, seed, careful=not few)
    check = prior_predictive(priors, np.random.default_rng([seed, 3]), items=answers.has_item)
    said = (_TARGET, *answers.sentences, check.sentence)
    fit = replace(fit, task=task, glance={**fit.glance, "task": task, "key": key}, sentences=said)
    fit = replace(fit, **{name: getattr(fit, name).assign(task=task) for name in TABLES})
    if cache is None:
        return fit
    keep(cache, key, fit, TABLES)
    # What is read back is what every later run gets: the same bytes from the first one on.
    return load_kept(cache, key, AccuracyFit, TABLES) or fit


def _check_size(answers: AnswerSet) -> None:
    patterns, points = patterns_of(answers), points_for(sizes_of(answers), 2.0, 0.5, 1.0)
    many, models = len(patterns.weight), len(answers.models)
    additions = len(points.item) * (patterns.additions + many * len(points.unit))
    additions += len(patterns.place) * len(points.unit)
    if additions > MOST_ADDITIONS:
        raise AnalysisError(
            f"{models} models with {many:,} different items are more than the accuracy model is fitted to: one "
            f"evaluation takes {additions:,} additions, of at most {MOST_ADDITIONS:,}"
        )


def _attempt(
    answers: AnswerSet,
    priors: AccuracyPriors,
    settings: SamplerSettings,
    ci_level: float,
    seed: int,
    *,
    careful: bool = False,
) -> AccuracyFit:
    draws = sample_accuracy(answers, priors, settings, seed=seed, careful=careful)
    found, fresh = _reported(draws), draws.new_model(np.random.default_rng([seed, 7]))
    table = _table(answers, found, fresh, ci_level)
    contrasts = _contrasts(answers, found["accuracy"], ci_level)
    judged = pd.concat([table, contrasts], ignore_index=True)
    first = _first_gate(found["accuracy"], answers)
    groups = {
        "accuracy model, sampler": sampler_gates(draws),
        "accuracy model, reported": (
            *quantity_gates(judged, fast=settings.fast),
            *((first,) if not settings.fast else ()),
        ),
    }
    problem = failures([gate for group in groups.values() for gate in group])
    return AccuracyFit(
        task="",
        status="failed" if problem else "ok",
        reason=problem,
        table=table,
        contrasts=contrasts,
        unpooled=unpooled_accuracy(answers, ci_level=ci_level),
        glance=_glance(answers, draws, settings, seed),
        gates=pd.DataFrame([{"group": group, **asdict(gate)} for group, all_ in groups.items() for gate in all_]),
        predictive=predictive_checks(answers, draws, np.random.default_rng([seed, 2])),
        augment=fitted_answers(answers, draws, np.random.default_rng([seed, 4]), ci_level=ci_level),
        sentences=(),
        draws=found,
    )


def _reported(draws: AccuracyDraws) -> dict[str, Floats]:
    """Draws (chains, draws, Q) of what is reported."""
    found, answers = draws.parameters(), draws.posterior.answers
    free = {
        "sd_items": (answers.has_item, found["sd"]),
        "sd_models": (len(answers.models) > 1, np.exp(found["log_sd_level"])),
        "share_units": (answers.has_unit, found["share"]),
        "sd_reactions": (answers.has_reaction, found["reaction_sd"]),
        "log_concentration": (answers.has_residual, found["log_phi"]),
    }
    return {"accuracy": found["accuracy"]} | {name: x[..., None] for name, (is_free, x) in free.items() if is_free}


def _table(answers: AnswerSet, found: dict[str, Floats], fresh: Floats | None, ci_level: float) -> pd.DataFrame:
    scales = {"accuracy": "probability", "share_units": "probability"}
    parts = []
    for name, values in found.items():
        models = list(answers.models) if name == "accuracy" else [ALL]
        keys = pd.DataFrame({"model": models, "measure": name, "scale": scales.get(name, "log_odds")})
        rows = quantity_summary(values, keys, ci_level=ci_level)
        if name != "accuracy":
            # The sign of a standard deviation is no finding.
            rows = rows.assign(p_direction=np.nan, mcse_probability=np.nan)
        parts.append(rows)
    ranks = rankdata(-found["accuracy"], axis=-1, method="min")
    tail = (1 - ci_level) / 2
    low, middle, high = np.quantile(ranks, (tail, 0.5, 1 - tail), axis=(0, 1), method="closest_observation")
    several = len(answers.models) > 1
    first = parts[0].assign(
        rank=middle if several else np.nan,
        rank_low=low if several else np.nan,
        rank_high=high if several else np.nan,
        p_first=(ranks == 1).mean(axis=(0, 1)) if several else np.nan,
        n=(answers.n > 0).sum(axis=1),
        n_clusters=[len(np.unique(answers.unit[row > 0])) for row in answers.n],
    )
    rest = [part.assign(n=int((answers.n > 0).sum()), n_clusters=int(answers.unit.max()) + 1) for part in parts[1:]]
    table = pd.concat([first, *rest], ignore_index=True).assign(target="these")
    if fresh is None:
        return table
    keys = pd.DataFrame({"model": [NEW_MODEL], "measure": "accuracy", "scale": "probability"})
    new = quantity_summary(fresh[..., None], keys, ci_level=ci_level).assign(
        p_direction=np.nan, mcse_probability=np.nan
    )
    new = new.assign(n=int((answers.n > 0).sum()), n_clusters=int(answers.unit.max()) + 1, target=NEW_MODELS)
    return pd.concat([table, new], ignore_index=True)


def _contrasts(answers: AnswerSet, accuracy: Floats, ci_level: float) -> pd.DataFrame:
    pairs = list(combinations(range(len(answers.models)), 2))
    names = [(answers.models[a], answers.models[b]) for a, b in pairs]
    keys = pd.DataFrame(
        {
            "model": [f"{a} − {b}" for a, b in names],
            "measure": "accuracy_difference",
            "scale": "probability difference",
            "first": [a for a, _ in names],
            "second": [b for _, b in names],
        }
    )
    if not pairs:
        return keys.assign(ci_low=np.zeros(0), p_rope=np.zeros(0), target="these")
    values = np.stack([accuracy[..., a] - accuracy[..., b] for a, b in pairs], axis=-1)
    both = [int(((answers.n[a] > 0) & (answers.n[b] > 0)).sum()) for a, b in pairs]
    rows = quantity_summary(values, keys, ci_level=ci_level)
    return rows.assign(p_rope=(np.abs(values) <= ROPE).mean(axis=(0, 1)), n=both, target="these")


def _first_gate(accuracy: Floats, answers: AnswerSet) -> Gate:
    first = (accuracy == accuracy.max(axis=-1, keepdims=True)).astype(float)
    certain = np.isin(first.mean(axis=(0, 1)), (0.0, 1.0))
    errors = np.where(certain, 0.0, mcse_mean(first))
    worst = int(errors.argmax())
    value = float(errors[worst])
    return Gate(_FIRST, value, MOST_MCSE_PROBABILITY, value <= MOST_MCSE_PROBABILITY, answers.models[worst])


def _glance(answers: AnswerSet, draws: AccuracyDraws, settings: SamplerSettings, seed: int) -> dict[str, Any]:
    return {
        "models": len(answers.models),
        "items": len(answers.items),
        "units": int(answers.unit.max()) + 1,
        "n": int(answers.n.sum()),
        "set_aside": answers.set_aside,
        "parameters": draws.points.shape[2],
        "effects": ", ".join(name for name, is_there in _effects(answers).items() if is_there) or "none",
        "chains": settings.chains,
        "draws": settings.draws,
        "acceptance": draws.acceptance,
        "pareto_k": draws.pareto_k,
        "fast": settings.fast,
        "seed": seed,
    }


def _effects(answers: AnswerSet) -> dict[str, bool]:
    own = answers.has_item and not answers.units_as_items
    units = answers.has_unit or answers.units_as_items
    return {"items": own, "units": units, REACTIONS: answers.has_reaction, "samples": answers.has_residual}
