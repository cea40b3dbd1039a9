"""Belief bias, accuracy, consistency and conditions by the hierarchical endorsement model, beside the frequentist."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.bayes.belief_bias import fit_belief_bias
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_result import BeliefBiasFit
from analysis.bayes.belief_bias_sampling import belief_settings
from analysis.bayes.prior_settings import belief_bias_priors
from analysis.comparison.belief_bias_schools import belief_bias_schools, level_schools
from analysis.frequentist.belief_bias import belief_bias_estimates
from analysis.frequentist.condition_tests import model_pair_tests
from analysis.frequentist.vote_shares import vote_share_estimates
from analysis.measures.classification import credited
from analysis.reduction.endorsements import endorsement_counts
from analysis.reduction.matched_levels import matched_levels
from analysis.report.content import Section
from analysis.report.figures.forest import forest_figure
from analysis.report.numbers import counted
from analysis.studies.answers import TaskAnswers, shared_columns, task_answers, unit_name, wants_answers
from analysis.studies.bayesian_columns import FAST, UNUSABLE, files_of_fit, first_line, teller
from analysis.studies.bayesian_tables import gates_table, predictive_table
from analysis.studies.belief_bias_bayes_sensitivity import (
    belief_sensitivity_limits,
    belief_sensitivity_table,
    belief_spreads_table,
)
from analysis.studies.belief_bias_bayes_tables import (
    belief_priors_table,
    consistency_table,
    levels_table,
    new_model_levels_table,
    posterior_table,
    schools_table,
)
from analysis.studies.comparison_table import same_decision, stored_comparison
from analysis.studies.conditions import declared_pairs
from analysis.studies.context import Part, TaskContext
from analysis.studies.summary import sentence
from analysis.studies.wide_table import table_name

_EXCLUDED: Final = "excluded"


@dataclass(frozen=True, slots=True)
class BeliefSchools:
    """A fit, the frequentist results of the same answers, and both beside each other."""

    fit: BeliefBiasFit
    estimates: pd.DataFrame
    by_model: pd.DataFrame
    comparison: pd.DataFrame
    levels: pd.DataFrame
    ignored: tuple[str, ...]
    priors: BeliefPriors


def belief_bias_bayes_part(context: TaskContext) -> Part | None:
    """The endorsement model beside the frequentist columns; None without believability, or where it is not wanted."""
    settings, design = context.bayes, context.design
    if settings is None or design.kind != "judgement" or "believability" not in design.item_factors:
        return None
    if isinstance(context.counts, str) or not wants_answers(design):
        return None
    if settings.skipped:
        return Part(limits=(sentence(context.where, f"no Bayesian belief bias: {settings.skipped}"),))
    try:
        fitted = belief_schools(context, task_answers(context))
    except UNUSABLE as error:
        said = f"no Bayesian belief bias, the model could not be fitted: {first_line(error)}"
        return Part(limits=(sentence(context.where, said),))
    return _part(context, fitted)


def belief_schools(context: TaskContext, answers: TaskAnswers) -> BeliefSchools:
    """Fit the endorsement model to a task and set it beside the frequentist results of the same votes."""
    settings, nested = context.bayes, answers.nested
    shared = shared_columns(context)
    estimates = pd.concat(
        [
            belief_bias_estimates(nested, uncertain=_EXCLUDED, **shared),
            vote_share_estimates(nested, conditions=answers.conditions, **shared),
        ],
        ignore_index=True,
    )
    right = np.asarray(credited(nested["right"], nested["unclear"], uncertain=_EXCLUDED), float)
    pairs, by_model = {}, []
    for factor in answers.compared:
        matched = matched_levels(nested, right, factor, conditions=answers.conditions)
        pairs[factor] = declared_pairs(context, factor, matched.levels)
        by_model.append(
            model_pair_tests(
                matched,
                pairs[factor],
                rng=context.resampling.rng(f"{factor} by model, votes"),
                unit=unit_name(context.design),
                flips=context.resampling.flips,
                ci_level=context.ci_level,
            )
        )
    tell, ignored = teller(context, "belief bias, ")
    priors = belief_bias_priors(context.study.priors)
    fit = fit_belief_bias(
        endorsement_counts(nested, conditions=answers.conditions),
        conditions=answers.conditions,
        pairs=pairs,
        task=context.design.task,
        priors=priors,
        settings=belief_settings(fast=settings is not None and settings.fast),
        ci_level=context.ci_level,
        seed=settings.seed if settings is not None else 0,
        cache=settings.kept if settings is not None else None,
        progress=tell,
    )
    tests = pd.concat(by_model, ignore_index=True) if by_model else pd.DataFrame()
    planned = nested.groupby(nested["model"].astype(str))[["n_votes", "n_answered"]].sum()
    shares = 1 - planned["n_answered"] / planned["n_votes"]
    lost = {str(model): float(share) for model, share in shares.items()}
    return BeliefSchools(
        fit=fit,
        estimates=estimates,
        by_model=tests,
        comparison=belief_bias_schools(fit, estimates, lost=lost),
        levels=level_schools(fit, tests, estimates, lost=lost) if by_model else pd.DataFrame(),
        ignored=tuple(ignored),
        priors=priors,
    )


def _part(context: TaskContext, fitted: BeliefSchools) -> Part:
    fit, where = fitted.fit, context.where
    failed, fast = fit.status != "ok", bool(fit.glance["fast"])
    attention = [sentence(where, said) for said in fitted.ignored]
    if failed:
        attention.append(sentence(where, f"the Bayesian column of belief bias is not shown (MCMC): {fit.reason}"))
    if fast:
        attention.append(sentence(where, "the Bayesian columns are a quick look with few draws (--fast)"))
    said = () if failed else _agreement(fitted, where)
    data = {
        "belief_schools": stored_comparison(fitted.comparison, fitted.estimates).assign(task=context.design.task),
        "belief_bayes_unpooled": fit.unpooled.assign(task=context.design.task),
        "belief_vote_estimates": fitted.estimates,
        "belief_bayes_gates": fit.gates.assign(task=context.design.task),
        "belief_bayes_fits": pd.DataFrame([dict(fit.glance) | {"status": fit.status, "reason": fit.reason}]),
    }
    if len(fitted.levels):
        keys = ("factor", "first", "second", "model")
        levels = stored_comparison(fitted.levels, fitted.by_model, keys=keys)
        data["level_schools"] = levels.assign(task=context.design.task)
    if not failed:
        data |= {
            "belief_bayes": fit.table,
            "belief_bayes_contrasts": fit.contrasts,
            "belief_bayes_predictive": fit.predictive.assign(task=context.design.task),
            "belief_bayes_sensitivity": fit.sensitivity.assign(task=context.design.task),
            "belief_bayes_spreads": fit.spreads.assign(task=context.design.task),
            "belief_bayes_questions": fit.augment.assign(task=context.design.task),
        }
    return Part(
        (_section(context, fitted, said),),
        summary=said,
        limits=() if failed else _limits(context, fit),
        attention=tuple(attention),
        methods=_methods(fit),
        data=data,
        files=files_of_fit(context, str(fit.glance.get("key", ""))),
    )


def _section(context: TaskContext, fitted: BeliefSchools, said: tuple[str, ...]) -> Section:
    design, labels, fit = context.design, context.labels, fitted.fit
    failed, mark = fit.status != "ok", FAST if fit.glance["fast"] else ""
    tables = [schools_table(design, fitted.comparison, fitted.estimates, labels, mark=mark)]
    if len(fitted.levels):
        tables.append(levels_table(design, fitted.levels, fitted.by_model, labels, mark=mark))
    optional = [consistency_table(design, fit, fitted.estimates, labels, mark=mark)]
    if not failed and "belief_bias" in set(fit.table["measure"]):
        optional.append(posterior_table(design, fit, labels, mark=mark))
    if not failed and len(fit.contrasts):
        optional.append(new_model_levels_table(design, fit, mark=mark))
    optional.append(
        gates_table(design, fit, mark=mark, name="belief_gates", title="Checks of the sampler of the endorsement model")
    )
    if not failed:
        optional.append(
            predictive_table(
                design,
                fit,
                labels,
                mark=mark,
                name="belief_predictive",
                title="Posterior predictive checks of the endorsement model",
            )
        )
    optional.append(belief_priors_table(design, fitted.priors))
    if not failed:
        optional += [
            belief_sensitivity_table(design, fit, labels, mark=mark),
            belief_spreads_table(design, fit, labels, mark=mark),
        ]
    lead = [sentence("", words.removeprefix(context.where)) for words in said]
    remark = "Quick look." if fit.glance["fast"] else ""
    if failed:
        lead = [f"The hierarchical column is not shown (MCMC): {fit.reason}."]
        remark = f"Not shown is the hierarchical column (MCMC): {fit.reason}."
    rows = fitted.comparison[fitted.comparison["measure"] == "belief_bias"]
    figure = forest_figure(
        rows,
        name=table_name("forest_belief_bias", design),
        title="Belief bias: frequentist and Bayesian" + (f": {design.task}" if design.task else ""),
        axis="belief bias, congruent − incongruent accuracy",
        reference=0.0,
        ci_level=context.ci_level,
        labels=labels,
        remark=remark,
    )
    return Section(
        f"Belief bias by two schools: {design.task}" if design.task else "Belief bias by two schools",
        lead=tuple(lead),
        tables=tuple(table for table in (*tables, *optional) if table is not None),
        figures=(figure,),
        notes=fit.sentences,
    )


def _agreement(fitted: BeliefSchools, where: str) -> tuple[str, ...]:
    rows = pd.concat([fitted.comparison, fitted.levels], ignore_index=True)
    rows = rows[~rows["verdict"].isin(["not compared", "not shown"])]
    if rows.empty:
        return ()
    alike = sum(same_decision(a, b) for a, b in zip(rows["decision"], rows["pooled_decision"], strict=True))
    verdicts = rows["verdict"].value_counts()
    words = (
        f"frequentist and hierarchical columns of belief bias, accuracy and levels of conditions decide alike on "
        f"{alike} of {counted(len(rows), 'estimate')}; numbers agree on {int(verdicts.get('agree', 0))}, "
        f"{int(verdicts.get('explained', 0))} differ for a known reason, {int(verdicts.get('differ', 0))} without one"
    )
    return (sentence(where, words),)


def _limits(context: TaskContext, fit: BeliefBiasFit) -> tuple[str, ...]:
    said = list(belief_sensitivity_limits(fit))
    found = fit.predictive[fit.predictive["check"] == "share of unanimous votes"]
    short = found[(found["tail"] < 0.05) & (found["observed"] > found["expected"])]
    if len(short):
        said.append(
            f"votes of {len(short)} of {counted(len(found), 'model')} are unanimous more often than the endorsement "
            "model has it: its intervals of levels of conditions may be too short"
        )
    return tuple(sentence(context.where, words) for words in said)


def _methods(fit: BeliefBiasFit) -> tuple[str, ...]:
    glance = fit.glance
    return (
        "Endorsements were modelled by a hierarchical logistic regression of votes on validity, believability, their "
        "interaction and conditions, coefficients varying between models, with effects of base items, of base items on "
        "models and of versions as far as the design identifies them; rates, belief bias, accuracy and consistency "
        "were computed from its draws for these models and new items (g-computation).",
        f"It was sampled by NUTS (nutpie), {glance['chains']} chains of {glance['draws']:,} draws, seed "
        f"{glance['seed']}; the compiled density was checked against its definition in PyMC.",
        "Bayesian intervals are equal-tailed; estimates are posterior medians.",
    )
