"""Bayesian fits of logs, and the comparison of the two schools."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import xarray as xr

from analysis.api.estimates import together
from analysis.api.logs import Logs, contexts_of
from analysis.api.settings import check_seed
from analysis.bayes import accuracy as accuracy_model
from analysis.bayes import incoherence as incoherence_model
from analysis.bayes.accuracy_result import AccuracyFit
from analysis.bayes.accuracy_sampling import accuracy_settings
from analysis.bayes.cache import draws_tree
from analysis.bayes.incoherence_result import IncoherenceFit
from analysis.bayes.incoherence_sampling import incoherence_settings
from analysis.bayes.prior_settings import accuracy_priors
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import fast_settings
from analysis.errors import AnalysisError
from analysis.reduction.scores import item_accuracies
from analysis.schema.quoting import shown
from analysis.studies.accuracy_bayes import not_counted
from analysis.studies.bayesian import SchoolsFit, fitted_schools
from analysis.studies.coherence_bayes import COLUMNS, fitted_instances, sampling_sentences
from analysis.studies.coherence_results import main_instances
from analysis.studies.comparison_table import stored_comparison
from analysis.studies.context import BayesianSettings, TaskContext


def compare(logs: Logs, *, task: str | None = None, fast: bool = False, seed: int | None = None) -> pd.DataFrame:
    """Three columns beside each other: frequentist, hierarchical Bayesian, independent cells; yes/no tasks only.

    Parameters
    ----------
    logs : Logs
    task : str, optional
        Default: every yes/no task.
    fast : bool
        A quick look with few draws.
    seed : int, optional
        Of the sampler; default: that of the logs.

    Returns
    -------
    DataFrame
        One row per task, model and measure with the estimates and decisions of each, the verdict and its reason.

    Raises
    ------
    AnalysisError
        No yes/no task, or a model that cannot be fitted.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example", models=["simulated/even-hand", "simulated/no-leaning"]) as logs:
    ...     schools = eh.compare(logs, fast=True)
    >>> sorted(schools["model"].unique())
    ['simulated/even-hand', 'simulated/no-leaning']
    """
    chosen = [context for context in contexts_of(logs, task) if context.judgement is not None]
    if not chosen:
        raise AnalysisError("there is no yes/no task to compare the schools on")
    return together([_compared(context, fast, seed) for context in chosen])


def fit_answer_bias(
    logs: Logs, *, task: str | None = None, fast: bool = False, seed: int | None = None
) -> AnswerBiasFit:
    """Fit the hierarchical model of answer bias to one yes/no task.

    Parameters are those of ``compare``; ``task`` may be left out where there is one yes/no task.

    Returns
    -------
    AnswerBiasFit
        ``table`` (one row per result), ``glance``, ``gates``, ``augment``; ``draws(fit)`` gives the draws.

    Raises
    ------
    AnalysisError
        No yes/no task or several, or a model that cannot be fitted.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example", models=["simulated/even-hand", "simulated/no-leaning"]) as logs:
    ...     fit = eh.fit_answer_bias(logs, fast=True)
    >>> fit.status in ("ok", "failed"), "competence_floor" in set(fit.table["measure"])
    (True, True)
    """
    chosen = [context for context in contexts_of(logs, task) if context.judgement is not None]
    return _fitted(_only(chosen, "yes/no"), fast, seed).fit


def draws(fit: AnswerBiasFit | AccuracyFit | IncoherenceFit) -> xr.DataTree:
    """Draws of a fit as an ArviZ DataTree, each variable with what it is in its attribute ``name``.

    A fit of answer bias has the groups ``posterior`` and ``hyper_parameters``; one of accuracy ``posterior``; one of
    incoherence ``posterior``, and ``posterior_2`` and so on for models that were sampled at another length.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example", models=["simulated/even-hand", "simulated/no-leaning"]) as logs:
    ...     tree = eh.draws(eh.fit_answer_bias(logs, fast=True))
    >>> sorted(tree.children)
    ['hyper_parameters', 'posterior']
    """
    if isinstance(fit, AnswerBiasFit):
        return draws_tree(fit)
    if isinstance(fit, AccuracyFit):
        return xr.DataTree.from_dict({"posterior": _accuracy_draws(fit)})
    if not isinstance(fit, IncoherenceFit):
        raise AnalysisError(f"a fit is what eh.fit_answer_bias and the like return, not {type(fit).__name__}")
    groups: dict[tuple[int, ...], dict[str, Any]] = {}
    for i, (name, array) in enumerate(fit.draws.items()):
        groups.setdefault(array.shape, {})[f"x{i}"] = (("chain", "draw"), array, {"name": name})
    named = {
        f"posterior_{k}" if k > 1 else "posterior": xr.Dataset(found) for k, found in enumerate(groups.values(), 1)
    }
    return xr.DataTree.from_dict(named)


def _accuracy_draws(fit: AccuracyFit) -> xr.Dataset:
    """Accuracies by model, and parameters that all models share."""
    own = (fit.table["measure"] == "accuracy") & (fit.table["target"] == "these")
    models = sorted(fit.table.loc[own, "model"].unique())
    known = {
        name: (("chain", "draw", "model"), array) if name == "accuracy" else (("chain", "draw"), array[..., 0])
        for name, array in fit.draws.items()
    }
    return xr.Dataset({name: (*given, {"name": name}) for name, given in known.items()}, coords={"model": models})


def fit_incoherence(
    logs: Logs, *, task: str | None = None, fast: bool = False, seed: int | None = None, sample: bool = True
) -> IncoherenceFit:
    """Fit the spike-and-slab model of incoherence, and the normal one beside it, to one task of probabilities.

    Parameters
    ----------
    logs : Logs
    task : str, optional
        May be left out where there is one such task.
    fast : bool
        A quick look with few draws.
    seed : int, optional
        Of the sampler; default: that of the logs.
    sample : bool
        Of more than 1,000 instances of a model (fewer with more than 14 models) fit a random sample of whole units,
        as a report does, and say so in ``sentences``. With False all are fitted; time grows with their number.

    Raises
    ------
    AnalysisError
        No task of stated probabilities or several, or no complete set of answers.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     eh.fit_incoherence(logs)
    Traceback (most recent call last):
    ...
    analysis.errors.AnalysisError: there is no task of stated probabilities
    """
    chosen = [context for context in contexts_of(logs, task) if context.probabilities is not None]
    context = _only(chosen, "of stated probabilities")
    if context.probabilities is None:
        raise AnalysisError("there is no task of stated probabilities")
    main = main_instances(context.probabilities, context.design, context.study)
    if main is None:
        raise AnalysisError("no set of answers that an identity joins is complete, so there is no incoherence to fit")
    bayes = _bayes(context, fast, seed)
    fitted = fitted_instances(context, main.instances) if sample else main.instances
    fit = incoherence_model.fit_incoherence(
        fitted[list(COLUMNS)],
        settings=fast_settings() if fast else incoherence_settings(),
        ci_level=context.ci_level,
        seed=bayes.seed,
        cache=bayes.kept,
        progress=context.progress,
    )
    return replace(fit, sentences=(*sampling_sentences(main.instances, fitted), *fit.sentences))


def fit_accuracy(logs: Logs, *, task: str | None = None, fast: bool = False, seed: int | None = None) -> AccuracyFit:
    """Fit the hierarchical accuracy model to one task with right and wrong answers that is no yes/no task.

    Parameters are those of ``fit_incoherence``.

    Returns
    -------
    AccuracyFit
        ``table`` (accuracies on new items, ranks), ``contrasts`` (differences of models), ``gates``, ``predictive``.

    Raises
    ------
    AnalysisError
        No such task or several, graded scores, or weights and treatments that the model does not know.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     eh.fit_accuracy(logs)
    Traceback (most recent call last):
    ...
    analysis.errors.AnalysisError: there is no task of right and wrong answers beside yes/no tasks
    """
    kinds = ("choice", "score")
    chosen = [c for c in contexts_of(logs, task) if c.design.kind in kinds and c.judgement is None]
    context = _only(chosen, "of right and wrong answers beside yes/no tasks")
    if isinstance(context.counts, str):
        raise AnalysisError(f"no accuracy can be fitted: {context.counts}")
    if reason := not_counted(context):
        raise AnalysisError(f"no accuracy can be fitted: {reason}")
    bayes = _bayes(context, fast, seed)
    return accuracy_model.fit_accuracy(
        item_accuracies(context.counts, context.design.uncertain),
        task=context.design.task,
        priors=accuracy_priors(context.study.priors),
        settings=accuracy_settings(fast=fast),
        ci_level=context.ci_level,
        seed=bayes.seed,
        cache=bayes.kept,
        progress=context.progress,
    )


def _bayes(context: TaskContext, fast: bool, seed: int | None) -> BayesianSettings:
    """Settings of a fit; kept beside the store as long as the logs are open."""
    if seed is not None:
        check_seed(seed)
    given = context.bayes or BayesianSettings()
    kept = given.kept if given.kept is not None and given.kept.is_dir() else None
    return replace(given, fast=fast, seed=given.seed if seed is None else seed, kept=kept, skipped="")


def _fitted(context: TaskContext, fast: bool, seed: int | None) -> SchoolsFit:
    results, counts = context.judgement, context.counts
    if results is None or isinstance(counts, str):
        raise AnalysisError("there is no yes/no task to fit the model of answer bias to")
    return fitted_schools(replace(context, bayes=_bayes(context, fast, seed)), results, counts)


def _compared(context: TaskContext, fast: bool, seed: int | None) -> pd.DataFrame:
    """The comparison as a report keeps it, with reasons of missing numbers."""
    found = _fitted(context, fast, seed).comparison
    return found if context.judgement is None else stored_comparison(found, context.judgement.estimates)


def _only(contexts: Sequence[TaskContext], kind: str) -> TaskContext:
    if not contexts:
        raise AnalysisError(f"there is no task {kind}" if kind.startswith("of") else f"there is no {kind} task")
    if len(contexts) > 1:
        names = ", ".join(shown(context.design.task) for context in contexts)
        raise AnalysisError(f"there are {len(contexts)} tasks ({names}); name one with task=")
    return contexts[0]
