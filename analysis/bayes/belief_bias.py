"""The Bayesian column of belief bias, accuracy and consistency of one task: the endorsement model, gates, one retry."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.arguments import check_level
from analysis.bayes.belief_bias_arrays import endorsement_of
from analysis.bayes.belief_bias_attempt import OF_ALL, OF_BELIEF, Attempt, Pairs
from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_priors import BeliefPriors, prior_predictive
from analysis.bayes.belief_bias_result import TABLES, BeliefBiasFit
from analysis.bayes.belief_bias_sampling import belief_settings, complete
from analysis.bayes.gates import TOO_FEW_DRAWS, missing_draws
from analysis.bayes.kept_fits import keep, key_of, load_kept
from analysis.bayes.sampling import SamplerSettings, retry_settings
from analysis.errors import AnalysisError

__all__ = ["BeliefBiasFit", "BeliefPriors", "fit_belief_bias"]

_WORDED: Final = "endorsement model of questions with believability"
_EVERYTHING: Final = "endorsement model of all questions"
_APART: Final = (
    "Measures of belief are fitted to questions with believability alone: versions without it would lend them the "
    "effects of their base items, as if words did not matter. Accuracy, consistency and conditions are fitted to all."
)


def fit_belief_bias(
    counts: pd.DataFrame,
    *,
    conditions: tuple[str, ...] = (),
    pairs: Pairs | None = None,
    task: str = "",
    priors: BeliefPriors | None = None,
    settings: SamplerSettings | None = None,
    ci_level: float = 0.95,
    seed: int = 0,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> BeliefBiasFit:
    """Fit the endorsement model to one task.

    Parameters
    ----------
    counts : DataFrame
        As ``belief_bias_design.belief_design`` takes them. Unreadable answers are in no count: the results are those of
        readable answers (uncertain answers excluded).
    conditions : tuple of str
        Columns whose combinations are the configurations.
    pairs : mapping of str to pairs of levels, optional
        By condition, which levels to compare (first minus second).
    task : str
    priors : BeliefPriors
    settings : SamplerSettings
        Default: 4 chains of 1000 draws after 400 of tuning.
    ci_level : float in (0, 1)
    seed : int
        Of the sampler and of everything else that draws; results do not depend on the order of rows.
    cache : Path, optional
        Folder of kept fits: an equal fit is read from there, a new one is kept.
    progress : callable, optional
        Receives one sentence per step.

    Raises
    ------
    AnalysisError
        Counts that are not as described, a level that does not exist, or a fit that would be too large.

    Notes
    -----
    A fit that fails a gate is repeated once with two to four times the draws, as many as the Monte-Carlo errors ask
    for, and, unless these alone were too large, acceptance .99. A fast fit is not repeated.
    """
    level, tell = check_level(ci_level), progress or (lambda sentence: None)
    priors, settings, pairs = priors or BeliefPriors(), complete(settings or belief_settings()), pairs or {}
    design = belief_design(counts, conditions=conditions, task=task)
    _check_pairs(pairs, design.configurations)
    listed = {name: [list(pair) for pair in chosen] for name, chosen in pairs.items()}
    options = {"ci_level": level, "seed": seed, "conditions": list(conditions), "pairs": listed, "task": task}
    key = key_of("belief-bias", _sorted(counts, conditions), priors, settings, options)
    kept = load_kept(cache, key, BeliefBiasFit, TABLES, tell=tell) if cache is not None else None
    if kept is not None:
        tell("the fit of the endorsement model is kept from an earlier run")
        return kept
    common: dict[str, Any] = {"settings": settings, "ci_level": level, "seed": seed}
    attempts = [Attempt(design, endorsement_of(design, priors), pairs=pairs, **common)]
    if design.has_belief and (design.believed == 0).any():
        worded = counts[counts["believability"].astype(str).isin(["believable", "unbelievable"])]
        own = belief_design(worded, conditions=conditions, task=task)
        attempts = [
            Attempt(own, endorsement_of(own, priors), pairs={}, measures=OF_BELIEF, name=_WORDED, **common),
            replace(attempts[0], measures=OF_ALL, name=_EVERYTHING),
        ]
    fit = _joined([_judged(attempt, tell) for attempt in attempts])
    check = prior_predictive(priors, np.random.default_rng([seed, 3]))
    fit = replace(fit, glance={**fit.glance, "key": key}, sentences=(*fit.sentences, check.sentence))
    if cache is None:
        return fit
    keep(cache, key, fit, TABLES)
    # What is read back is what every later run gets: the same bytes from the first one on.
    return load_kept(cache, key, BeliefBiasFit, TABLES) or fit


def _judged(attempt: Attempt, tell: Callable[[str], None]) -> BeliefBiasFit:
    """The result of an attempt, or of a second one where a gate failed."""
    tell(f"sampling the {attempt.name}: {attempt.model.starts[-1]:,} parameters")
    fit = attempt.run()
    if fit.status == "failed" and not attempt.settings.fast:
        tell(f"a gate was not passed ({fit.reason}); sampling once more")
        failed = fit.gates[~fit.gates["passed"]]
        careful = not set(failed["name"]) <= TOO_FEW_DRAWS
        again = retry_settings(attempt.settings, careful=careful, missing=missing_draws(failed))
        fit = replace(attempt, settings=again).run()
    return fit


def _joined(fits: list[BeliefBiasFit]) -> BeliefBiasFit:
    """One result of the fit to questions with believability and that to all; checks and counts are of the latter."""
    whole = fits[-1]
    if len(fits) == 1:
        return whole
    own = fits[0]
    together = {name: own.glance[name] + whole.glance[name] for name in ("parameters", "divergences")}
    models = {model: i for i, model in enumerate(dict.fromkeys([*whole.table["model"], *own.table["model"]]))}
    table = pd.concat([own.table, whole.table], ignore_index=True)
    return replace(
        whole,
        status="failed" if "failed" in (own.status, whole.status) else "ok",
        reason="; ".join(fit.reason for fit in fits if fit.reason),
        table=table.sort_values("model", key=lambda c: c.map(models), kind="stable").reset_index(drop=True),
        gates=pd.concat([own.gates, whole.gates], ignore_index=True),
        sensitivity=pd.concat([own.sensitivity, whole.sensitivity], ignore_index=True),
        spreads=pd.concat([own.spreads, whole.spreads], ignore_index=True),
        glance={**whole.glance, **together},
        sentences=tuple(dict.fromkeys([*own.sentences, *whole.sentences, _APART])),
        draws={**own.draws, **whole.draws},
    )


def _check_pairs(pairs: Pairs, configurations: pd.DataFrame) -> None:
    for factor, chosen in pairs.items():
        known: Mapping[str, object] = dict.fromkeys(configurations[factor]) if factor in configurations else {}
        missing = [level for pair in chosen for level in pair if level not in known]
        if missing:
            raise AnalysisError(
                f"{factor} has no level {missing[0]!r}; there are {', '.join(known) or 'none'}", offenders=missing
            )


def _sorted(counts: pd.DataFrame, conditions: tuple[str, ...]) -> pd.DataFrame:
    """The columns that the fit reads in one order of rows."""
    names = ["model", "unit", "item", "gold", "believability", *conditions]
    names += ["variant"] if "variant" in counts.columns else []
    table = counts[[*dict.fromkeys(names), "n", "k"]].astype(dict.fromkeys(names, "str"))
    return table.sort_values([*dict.fromkeys(names), "n", "k"], kind="stable")
