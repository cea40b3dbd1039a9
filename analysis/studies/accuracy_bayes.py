"""Accuracies of any benchmark by the hierarchical accuracy model, beside the frequentist ones."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from analysis.bayes.accuracy import fit_accuracy
from analysis.bayes.accuracy_result import REACTIONS, AccuracyFit
from analysis.bayes.accuracy_sampling import accuracy_settings
from analysis.bayes.prior_settings import accuracy_priors
from analysis.comparison.accuracy_schools import ACCURACY, DIFFERENCE, AccuracySchools, accuracy_schools
from analysis.reduction.scores import item_accuracies
from analysis.report.content import Figure, Section
from analysis.report.figures.forest import forest_figure
from analysis.report.numbers import counted, fixed
from analysis.studies.accuracy_bayes_tables import (
    accuracy_checks_table,
    accuracy_differences_table,
    accuracy_priors_table,
    accuracy_ranks_table,
    accuracy_schools_table,
    accuracy_spreads_table,
)
from analysis.studies.bayesian_columns import FAST, UNUSABLE, files_of_fit, first_line, teller
from analysis.studies.bayesian_tables import gates_table
from analysis.studies.context import Part, TaskContext
from analysis.studies.summary import sentence
from analysis.studies.wide_table import table_name

#: Weights under which every item weighs the same, as in the accuracy model.
_EQUAL: Final = ("micro", "prompt")
_UNLIKELY: Final = 0.05
_SPREAD: Final = (
    "The standard deviation of what a unit is to one model alone has a posterior given the products of residuals "
    "within units and models, by a likelihood simulated from the fit; levels were spread by what such effects add on "
    "new units."
)
_GRADED: Final = (
    "no Bayesian accuracy: the model counts right answers, and graded scores are none; how much a score varies by "
    "chance is not in the log, so that a posterior would rest on an assumption about it"
)


def accuracy_bayes_part(context: TaskContext) -> Part | None:
    """The accuracy model beside the frequentist columns; None for yes/no tasks, or where it is not wanted."""
    settings, design, where = context.bayes, context.design, context.where
    if settings is None or design.kind not in ("choice", "score") or design.target == "census":
        return None
    if context.judgement is not None:
        return None
    if isinstance(context.counts, str) or context.estimates is None:
        return Part(limits=(sentence(where, _GRADED),))
    if reason := settings.skipped or not_counted(context):
        return Part(limits=(sentence(where, f"no Bayesian accuracy: {reason}"),))
    try:
        return _fitted(context, context.counts, context.estimates)
    except UNUSABLE as error:
        said = f"no Bayesian accuracy, the model could not be fitted: {first_line(error)}"
        return Part(limits=(sentence(where, said),))


def not_counted(context: TaskContext) -> str:
    """Why the accuracies of a task are not those that the model estimates; empty where they are."""
    design = context.design
    if design.uncertain == "half":
        return "uncertain answers count as half right, which is no count of right answers"
    if design.weights not in _EQUAL:
        return f"weights are by {design.weights}, and the model lets every item weigh the same"
    return ""


def _fitted(context: TaskContext, counts: pd.DataFrame, estimates: pd.DataFrame) -> Part:
    settings, where = context.bayes, context.where
    tell, ignored = teller(context, "accuracy, ")
    items = item_accuracies(counts, context.design.uncertain)
    fast = settings is not None and settings.fast
    fit = fit_accuracy(
        items,
        task=context.design.task,
        priors=accuracy_priors(context.study.priors),
        settings=accuracy_settings(fast=fast),
        ci_level=context.ci_level,
        seed=settings.seed if settings is not None else 0,
        cache=settings.kept if settings is not None else None,
        progress=tell,
    )
    found = accuracy_schools(fit, items, estimates)
    failed = fit.status != "ok"
    attention = [sentence(where, said) for said in ignored]
    if failed:
        attention.append(sentence(where, f"the Bayesian column of accuracy is not shown (MCMC): {fit.reason}"))
    if fast:
        attention.append(sentence(where, "the Bayesian columns are a quick look with few draws (--fast)"))
    said = () if failed else _claims(context, fit)
    data = {
        "accuracy_schools": found.comparison.assign(task=context.design.task),
        "accuracy_bayes_gates": fit.gates,
        "accuracy_bayes_fits": pd.DataFrame([dict(fit.glance) | {"status": fit.status, "reason": fit.reason}]),
    }
    if not failed:
        data |= {
            "accuracy_bayes": fit.table,
            "accuracy_bayes_contrasts": fit.contrasts,
            "accuracy_bayes_predictive": fit.predictive,
            "accuracy_bayes_items": fit.augment,
        }
    return Part(
        (_section(context, fit, found, estimates, said),),
        summary=said,
        limits=() if failed else _limits(context, fit),
        attention=tuple(attention),
        methods=_methods(fit),
        data=data,
        files=files_of_fit(context, str(fit.glance.get("key", ""))),
    )


def _section(
    context: TaskContext, fit: AccuracyFit, found: AccuracySchools, estimates: pd.DataFrame, said: tuple[str, ...]
) -> Section:
    design, labels = context.design, context.labels
    failed, mark = fit.status != "ok", FAST if fit.glance["fast"] else ""
    tables = [
        accuracy_schools_table(design, found, estimates, labels, mark=mark),
        accuracy_differences_table(design, found, labels, ci_level=context.ci_level, mark=mark),
    ]
    if not failed:
        tables.append(accuracy_ranks_table(design, fit, labels, mark=mark))
        tables.append(accuracy_spreads_table(design, fit, mark=mark))
        tables.append(accuracy_checks_table(design, fit, mark=mark))
    title = "Checks of the sampler of the accuracy model"
    tables.append(gates_table(design, fit, mark=mark, name="accuracy_gates", title=title))
    tables.append(accuracy_priors_table(design, accuracy_priors(context.study.priors)))
    lead = tuple(sentence("", words.removeprefix(context.where)) for words in said)
    if failed:
        lead = (f"The hierarchical column is not shown (MCMC): {fit.reason}.",)
    return Section(
        "Accuracy by two schools" + (f": {design.task}" if design.task else ""),
        lead=lead,
        tables=tuple(table for table in tables if table is not None),
        figures=_forests(context, fit, found),
        notes=fit.sentences,
    )


def _forests(context: TaskContext, fit: AccuracyFit, found: AccuracySchools) -> tuple[Figure, ...]:
    """Accuracies, and differences to the best model, in all columns."""
    design, remark = context.design, "Quick look." if fit.glance["fast"] else ""
    if fit.status != "ok":
        remark = f"Not shown is the hierarchical column (MCMC): {fit.reason}."
    pairs = found.comparison[found.comparison["measure"] == DIFFERENCE]
    named = [[context.labels.get(str(m), str(m)) for m in pairs[name]] for name in ("first", "second")]
    labels = {str(m): f"{a} − {b}" for m, a, b in zip(pairs["model"], *named, strict=True)}
    shown: list[tuple[str, str, str, float | None, Mapping[str, str], str]]
    shown = [("forest_accuracy", "Accuracy", "accuracy", None, context.labels, ACCURACY)]
    if len(pairs):
        axis = "accuracy, best model − other"
        shown.append(("forest_accuracy_difference", "Differences to the best model", axis, 0.0, labels, DIFFERENCE))
    return tuple(
        forest_figure(
            found.comparison[found.comparison["measure"] == measure],
            name=table_name(name, design),
            title=f"{title}: frequentist and Bayesian" + (f": {design.task}" if design.task else ""),
            axis=axis,
            reference=reference,
            ci_level=context.ci_level,
            labels=own,
            remark=remark,
        )
        for name, title, axis, reference, own, measure in shown
    )


def _claims(context: TaskContext, fit: AccuracyFit) -> tuple[str, ...]:
    rows = fit.table[fit.table["rank"].notna()]
    if len(rows) < 2:
        return ()
    best = rows.sort_values(["p_first", "model"], ascending=[False, True]).iloc[0]
    name = context.labels.get(str(best["model"]), str(best["model"]))
    words = (
        f"by the accuracy model {name} has the highest accuracy on new items with a posterior probability of "
        f"{fixed(float(best['p_first']), 2)}"
    )
    return (sentence(context.where, words),)


def _limits(context: TaskContext, fit: AccuracyFit) -> tuple[str, ...]:
    unlikely = fit.predictive[fit.predictive["p_adjusted"] < _UNLIKELY]
    if unlikely.empty:
        return ()
    names = ", ".join(unlikely["check"])
    words = (
        f"{counted(len(unlikely), 'predictive check')} of the accuracy model ({names}) "
        f"{'lies' if len(unlikely) == 1 else 'lie'} outside what it simulates: its intervals, of differences above "
        "all, may be too short or too wide"
    )
    return (sentence(context.where, words),)


def _methods(fit: AccuracyFit) -> tuple[str, ...]:
    glance = fit.glance
    integrated = ", ".join(name for name in str(glance["effects"]).split(", ") if name != REACTIONS)
    said = (
        "Right answers were modelled by a hierarchical logistic regression with a level of each model, normal between "
        f"models, and normal effects ({integrated}) as far as the design identifies them, integrated "
        "numerically; accuracies on new items, their differences and ranks were computed from its draws "
        "(g-computation).",
        f"It was sampled by independence Metropolis chains, {glance['chains']} of {glance['draws']:,} draws, seed "
        f"{glance['seed']}; the integrated density was checked against its definition in PyMC.",
        "Bayesian intervals are equal-tailed; estimates are posterior medians.",
    )
    return (*said, _SPREAD) if REACTIONS in str(glance["effects"]) else said
