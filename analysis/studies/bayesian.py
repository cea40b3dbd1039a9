"""The Bayesian columns of a yes/no task, and the comparison of the two schools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.bayes.components import VarianceComponents, variance_components
from analysis.bayes.families import family_rows
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.prior_settings import answer_bias_priors
from analysis.bayes.priors import Priors
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings, fast_settings
from analysis.bayes.summaries import KERNELS
from analysis.comparison.columns import compare_columns, draws_of, headline_rows, rows_of
from analysis.comparison.shared_input import cluster_estimates, comparison_facts, weighted_facets
from analysis.frequentist.cell_covariance import cell_covariances
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES
from analysis.report.content import Figure, Section
from analysis.report.figures.predictive_check import predictive_figure
from analysis.report.figures.rank_plot import rank_figure
from analysis.report.spec import Table
from analysis.schema.task_design import TaskDesign
from analysis.studies.bayesian_columns import FAST, UNUSABLE, files_of_fit, first_line, teller
from analysis.studies.bayesian_methods import bayesian_methods
from analysis.studies.bayesian_tables import (
    differences_table,
    floors_table,
    gates_table,
    predictive_table,
    priors_table,
    sensitivity_table,
)
from analysis.studies.comparison_table import (
    HEADINGS,
    comparison_sentences,
    comparison_table,
    forests,
    primary_measures,
    stored_comparison,
)
from analysis.studies.context import Part, TaskContext
from analysis.studies.judgement import JudgementResults
from analysis.studies.model_families import FAMILIES_METHODS, are_effects, families_table
from analysis.studies.summary import sentence
from analysis.studies.variance_components import COMPONENTS_METHODS, components_section
from analysis.studies.weights import WEIGHTING, weighted_sums
from analysis.studies.wide_table import table_name


@dataclass(frozen=True, slots=True)
class SchoolsFit:
    """A fit, its comparison with the frequentist results, its priors, its standard deviations, and ignored kept fits.

    ``components`` is None where the fit failed; ``families`` are measures averaged over the models of each family, None
    where families are no effects or the fit failed; ``ignored`` says which kept fits could not be used.
    """

    fit: AnswerBiasFit
    comparison: pd.DataFrame
    priors: Priors
    components: VarianceComponents | None
    families: pd.DataFrame | None
    ignored: tuple[str, ...]


def bayesian_part(context: TaskContext) -> Part | None:
    """Both Bayesian columns of a yes/no task beside the frequentist one; None where they are not wanted."""
    settings, results = context.bayes, context.judgement
    if settings is None or results is None or isinstance(context.counts, str):
        return None
    if settings.skipped:
        return Part(limits=(sentence(context.where, f"no Bayesian columns: {settings.skipped}"),))
    if results.estimates.loc[results.estimates["measure"] == "competence_floor", "estimate"].isna().all():
        return Part(limits=(sentence(context.where, "no Bayesian columns: no model has responses in every cell"),))
    try:
        fitted = fitted_schools(context, results, context.counts)
    except UNUSABLE as error:
        said = sentence(context.where, f"no Bayesian columns, the model could not be fitted: {first_line(error)}")
        return Part(limits=(said,))
    return _part(context, results, fitted)


def fitted_schools(context: TaskContext, results: JudgementResults, counts: pd.DataFrame) -> SchoolsFit:
    """Fit the answer-bias model to a task and set it beside the frequentist results."""
    settings, design = context.bayes, context.design
    priors = answer_bias_priors(context.study.priors)
    # Units as asked, also where the claim is about new templates: those the model itself draws anew.
    asked = cell_covariances(weighted_sums(counts, replace(design, target="these")), uncertain=design.uncertain)
    layer = cluster_estimates(asked)
    tell, ignored = teller(context, "Bayesian model, ")
    facets, clusters = weighted_facets(counts, **WEIGHTING[design.weights]), layer if layer.reused else None
    seed = settings.seed if settings is not None else 0
    families = dict(context.families)
    fit = fit_answer_bias(
        facets,
        priors=priors,
        settings=fast_settings() if settings is not None and settings.fast else SamplerSettings(),
        clusters=clusters,
        families=families,
        ci_level=context.ci_level,
        treatments=(design.uncertain,),
        seed=seed,
        cache=settings.kept if settings is not None else None,
        progress=tell,
    )
    components = None
    if fit.status == "ok":
        components = variance_components(
            fit,
            facets,
            priors=priors,
            clusters=clusters,
            families=families,
            ci_level=context.ci_level,
            seed=seed,
        )
    facts = comparison_facts(cell_covariances(weighted_sums(counts, design), uncertain=design.uncertain))
    comparison = compare_columns(fit, results.estimates, results.tests, facts)
    averaged = (
        _families(context, fit, families) if fit.status == "ok" and are_effects(facets["model"], families) else None
    )
    return SchoolsFit(fit, comparison, priors, components, averaged, tuple(ignored))


def _families(context: TaskContext, fit: AnswerBiasFit, families: Mapping[str, str]) -> pd.DataFrame:
    """Measures averaged over the models of each family, from the draws behind the rows that are compared."""
    likelihood, target = headline_rows(fit, context.design.target)
    accuracy, models = draws_of(fit, likelihood, target, context.design.uncertain)
    names = FOUR_CELLS if accuracy.shape[-1] == len(FOUR_CELLS) else TWO_CLASSES
    rows = family_rows(accuracy, models, names, families, ci_level=context.ci_level, fast=bool(fit.glance["fast"]))
    return rows.assign(target=target, uncertain=context.design.uncertain, likelihood=likelihood)


def _part(context: TaskContext, results: JudgementResults, fitted: SchoolsFit) -> Part:
    fit, where = fitted.fit, context.where
    measures = primary_measures(context.study, fitted.comparison)
    failed = fit.status != "ok"
    said = comparison_sentences(fitted.comparison, measures, context.labels, where=where)
    attention = [sentence(where, said) for said in fitted.ignored]
    if failed:
        attention.append(sentence(where, f"the hierarchical Bayesian column is not shown (MCMC): {fit.reason}"))
    if context.bayes is not None and context.bayes.fast:
        attention.append(sentence(where, "the Bayesian columns are a quick look with few draws (--fast)"))
    explained = None
    if fitted.components is not None:
        explained = components_section(context.design, fitted.components, mark=FAST if fit.glance["fast"] else "")
    return Part(
        (_section(context, results, fitted, measures, said), *(() if explained is None else (explained,))),
        summary=said,
        limits=() if failed else _limits(context, fit),
        attention=tuple(attention),
        methods=(
            *bayesian_methods(context.design, fit),
            *((FAMILIES_METHODS,) if fitted.families is not None else ()),
            *((COMPONENTS_METHODS,) if explained is not None else ()),
        ),
        data=_data(context.design, fitted, results.estimates),
        files=files_of_fit(context, str(fit.glance.get("key", ""))),
    )


def _section(
    context: TaskContext,
    results: JudgementResults,
    fitted: SchoolsFit,
    measures: tuple[str, ...],
    said: Sequence[str],
) -> Section:
    design, labels, fit = context.design, context.labels, fitted.fit
    failed, fast = fit.status != "ok", bool(fit.glance["fast"])
    mark = FAST if fast else ""
    remark = f"Not shown is the hierarchical column (MCMC): {fit.reason}." if failed else "Quick look." if fast else ""
    compared = comparison_table(design, fitted.comparison, results.estimates, measures, labels, mark=mark)
    tables: list[Table | None] = [compared]
    figures = list(forests(design, fitted.comparison, labels, ci_level=context.ci_level, remark=remark))
    if not failed:
        rows = _headline(design, fit)
        tables += [
            floors_table(design, fit, rows, labels, mark=mark),
            differences_table(design, rows, labels, mark=mark),
        ]
        if fitted.families is not None:
            tables.append(families_table(design, fitted.families, mark=mark))
    tables += [gates_table(design, fit, mark=mark), priors_table(design, fitted.priors, context.study.priors)]
    if not failed:
        tables += [sensitivity_table(design, fit, labels, mark=mark), predictive_table(design, fit, labels, mark=mark)]
        figures += _checks(context, fit, mark)
    lead = [sentence("", words.removeprefix(context.where)) for words in said]
    if failed:
        lead = [f"The hierarchical column is not shown (MCMC): {fit.reason}."]
    return Section(
        f"Two schools: {design.task}" if design.task else "Two schools: frequentist and Bayesian",
        lead=tuple(lead),
        tables=tuple(table for table in tables if table is not None),
        figures=tuple(figures),
        notes=fit.sentences,
    )


def _checks(context: TaskContext, fit: AnswerBiasFit, mark: str) -> list[Figure]:
    """Rank plot of the quantity with the largest R-hat, and the posterior predictive checks."""
    design, labels, found = context.design, context.labels, []
    rows = fit.table[fit.table["r_hat"].notna() & fit.table["measure"].isin(list(KERNELS))]
    task = f": {design.task}" if design.task else ""
    if len(rows):
        worst = rows.iloc[int(rows["r_hat"].to_numpy().argmax())].to_dict()
        accuracy, models = draws_of(fit, worst["likelihood"], worst["target"], worst["uncertain"])
        draws = np.asarray(KERNELS[worst["measure"]][0](accuracy))[..., models.index(str(worst["model"]))]
        name = HEADINGS.get(worst["measure"], str(worst["measure"]).replace("_", " "))
        found.append(
            rank_figure(
                draws,
                name=table_name("rank_plot", design),
                title=f"Do the chains agree?{mark}{task}",
                quantity=f"{name} of {labels.get(str(worst['model']), str(worst['model']))}",
                r_hat=float(worst["r_hat"]),
            )
        )
    if len(fit.predictive):
        found.append(
            predictive_figure(
                fit.predictive,
                name=table_name("predictive_check", design),
                title=f"Does the model reproduce the responses?{mark}{task}",
                labels=labels,
            )
        )
    return found


def _headline(design: TaskDesign, fit: AnswerBiasFit) -> pd.DataFrame:
    """Rows of the fit that stand beside the frequentist ones."""
    likelihood, target = headline_rows(fit, design.target)
    return rows_of(fit.table, target, design.uncertain, likelihood)


def _limits(context: TaskContext, fit: AnswerBiasFit) -> tuple[str, ...]:
    """What the fit says against itself: results that lean on the priors, checks that fail."""
    said = []
    leaning = [
        str(row["model"]) for row in fit.sensitivity.to_dict("records") if not row["diagnosis"].startswith("not ")
    ]
    if leaning:
        models = len(set(leaning))
        words = f"Bayesian results of {models} of {fit.glance['models']} models lean on the priors (power-scaling)"
        said.append(sentence(context.where, words))
    return tuple(said)


def _data(design: TaskDesign, fitted: SchoolsFit, estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    fit = fitted.fit
    tables = {
        "schools": stored_comparison(fitted.comparison, estimates),
        "bayesian_unpooled": fit.unpooled,
        "bayesian_gates": fit.gates.assign(task=design.task),
        "bayesian_fits": pd.DataFrame([dict(fit.glance) | {"status": fit.status, "reason": fit.reason}]),
    }
    if fit.status == "ok":
        tables |= {
            "bayesian_estimates": fit.table,
            "bayesian_predictive": fit.predictive.assign(task=design.task),
            "bayesian_sensitivity": fit.sensitivity.assign(task=design.task),
            "bayesian_cells": fit.augment.assign(task=design.task),
        }
    if fitted.families is not None:
        tables["bayesian_families"] = fitted.families.assign(task=design.task)
    if fitted.components is not None:
        tables |= {"variance_components": fitted.components.table, "second_prior": fitted.components.second}
    return tables
