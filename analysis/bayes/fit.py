"""The Bayesian column of one task: two stages of counts, the layer of units, gates, and one retry."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.bayes.attempt import Attempt
from analysis.bayes.cache import fit_key, keep_fit, load_fit
from analysis.bayes.design_matrix import CountDesign, count_design, units_as_effects
from analysis.bayes.families import families_sentence, family_index
from analysis.bayes.gates import TOO_FEW_DRAWS, missing_draws
from analysis.bayes.model_arrays import ModelArrays
from analysis.bayes.models.answer_bias import stage_arrays
from analysis.bayes.models.surface_layer import ClusterEstimates, surface_layer_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.result import UNITS, AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings, retry_accept, retry_settings
from analysis.measures.rates import UNCERTAIN_TREATMENTS

__all__ = ["AnswerBiasFit", "fit_answer_bias", "warm"]


def fit_answer_bias(
    facets: pd.DataFrame,
    *,
    priors: Priors | None = None,
    settings: SamplerSettings | None = None,
    clusters: ClusterEstimates | None = None,
    families: Mapping[str, str] | None = None,
    ci_level: float = 0.95,
    treatments: tuple[str, ...] = tuple(UNCERTAIN_TREATMENTS),
    seed: int = 0,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> AnswerBiasFit:
    """Fit the answer-bias model to one task.

    Parameters
    ----------
    facets : DataFrame
        Counts as ``design_matrix.count_design`` takes them. With a column ``unit`` surfaces are effects of
        the model where ``design_matrix.units_as_effects``; else they enter by ``clusters``.
    priors : Priors
    settings : SamplerSettings
    clusters : ClusterEstimates, optional
        Accuracies with their covariance by unit, uncertain answers treated as its ``uncertain`` says.
    families : mapping of str to str, optional
        Model -> family; effects of the model where ``families.family_index`` finds enough of them.
    ci_level : float in (0, 1)
    treatments : tuple of str
        Treatments of uncertain answers to report; the first is the one that is compared.
    seed : int
        Of the sampler and of everything else that draws.
    cache : Path, optional
        Folder of kept fits: an equal fit is read from there, a new one is kept.
    progress : callable, optional
        Receives one sentence per step.

    Notes
    -----
    Headline rows are those fitted to estimates by unit where ``clusters`` says that units are asked more
    than once, since counts alone would give intervals that are too short; else those fitted to counts. A
    fit that fails a gate is repeated once with two to four times the draws, as many as the Monte-Carlo
    errors ask for, and, unless these alone were too large, shorter steps. A fast fit is not repeated.
    """
    priors, settings = priors or Priors(), settings or SamplerSettings()
    tell = progress or (lambda sentence: None)
    design = count_design(facets)
    surfaces = count_design(facets, surfaces=True) if units_as_effects(facets) else None
    said = families_sentence(design.models, families or {})
    if said:
        design = replace(design, sentences=(*design.sentences, said))
    options: dict[str, Any] = {"ci_level": ci_level, "treatments": list(treatments), "seed": seed}
    if family_index(design.models, families or {}) is not None:
        options["families"] = dict(families or {})
    key = fit_key(design, surfaces, clusters, priors, settings, options)
    kept = load_fit(cache, key, tell=tell) if cache is not None else None
    if kept is not None:
        tell("the fit is kept from an earlier run")
        return kept
    arrays = _stage_arrays(design, surfaces, priors, clusters, families)
    attempt = Attempt(design, surfaces, arrays, clusters, settings, ci_level, treatments, seed, tell)
    fit = attempt.run()
    if fit.status == "failed" and not settings.fast:
        tell(f"a gate was not passed ({fit.reason}); sampling once more")
        failed = fit.gates[~fit.gates["passed"]]
        careful = not set(failed["name"]) <= TOO_FEW_DRAWS
        accept = retry_accept(len(design.models))
        again = retry_settings(settings, careful=careful, missing=missing_draws(failed), accept=accept)
        fit = replace(attempt, settings=again).run()
    fit = replace(fit, glance={**fit.glance, "key": key})
    if cache is None:
        return fit
    keep_fit(cache, key, fit)
    # What is read back is what every later run gets: the same bytes from the first one on.
    return load_fit(cache, key) or fit


def _stage_arrays(
    design: CountDesign,
    surfaces: CountDesign | None,
    priors: Priors,
    clusters: ClusterEstimates | None,
    families: Mapping[str, str] | None,
) -> dict[str, ModelArrays]:
    arrays = {"yes": stage_arrays(surfaces or design, priors, stage="yes", families=families)}
    if design.uncertain.any():
        arrays["answered"] = stage_arrays(design, priors, stage="answered")
    if clusters is not None:
        arrays[UNITS] = surface_layer_arrays(clusters, priors, families=families)
    return arrays


def warm() -> None:
    """Compile everything once, so that later processes find it on disk (a few seconds instead of a minute)."""
    rows = [
        {
            "model": model,
            "cell": cell,
            "template": template,
            "form": form,
            "n_answered": 9,
            "n_uncertain": 1,
            "n_correct": right,
        }
        for right, model in enumerate(("a", "b"), 5)
        for template, cells in (("t", ("VA", "VN")), ("u", ("IA", "IN")), ("v", ("VA", "VN")))
        for cell in cells
        for form in ("f", "g")
    ]
    facets = pd.DataFrame(rows)
    settings = SamplerSettings(chains=2, draws=20, tune=20, fast=True)
    fit_answer_bias(facets, settings=settings)
    fit_answer_bias(facets.assign(n_uncertain=0).drop(columns=["template", "form"]), settings=settings)
