"""Section on stated probabilities against what is true: Brier score, its parts, and the reliability curve."""

import numpy as np
import pandas as pd

from analysis.frequentist.calibration import BINS, probability_errors, reliability_curve
from analysis.report.columns import Count, Number, Text
from analysis.report.content import Section
from analysis.report.figures.reliability import reliability_figure
from analysis.report.numbers import counted, fixed
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.census import withheld
from analysis.studies.coherence import model_labels
from analysis.studies.coherence_tables import title_of
from analysis.studies.context import Part, TaskContext
from analysis.studies.summary import sentence
from analysis.studies.wide_table import estimate_column, table_name

#: Of outcomes, whose share among few differs from their probability.
FEW_IN_A_BIN = " Where a bin has few questions, chance alone makes miscalibration and resolution too large."
_NO_ROLES = "the questions have no roles: nothing joins them into identities, so that coherence cannot be judged"


def calibration_part(context: TaskContext) -> Part | None:
    """Stated probabilities of a task against its truths; what is missing is said. None for other kinds of tasks."""
    probabilities, design, where = context.probabilities, context.design, context.where
    if probabilities is None:
        return None
    answers = probabilities.compared
    limits = [] if probabilities.joined else [sentence(where, _NO_ROLES)]
    title = f"Stated probabilities and truth: {design.task}" if design.task else "Stated probabilities and truth"
    if answers.empty:
        words = "no answer has a known truth: neither accuracy nor calibration can be judged"
        return Part((Section(title, lead=(sentence("", words),)),), limits=(*limits, sentence(where, words)))
    binary = bool(answers["truth"].isin([0, 1]).all())
    drawn, labels = context.resampling, model_labels(probabilities, context.labels)
    errors = probability_errors(
        answers, rng=drawn.rng("brier"), bins=BINS, resamples=drawn.resamples, ci_level=context.ci_level
    )
    curve = reliability_curve(
        answers, rng=drawn.rng("reliability"), bins=BINS, resamples=drawn.resamples, ci_level=context.ci_level
    )
    if design.target == "census":
        errors, curve = withheld(errors), curve.assign(ci_low=np.nan, ci_high=np.nan)
    errors = errors.assign(label=[labels.get(str(m), str(m)) for m in errors["model"]])
    errors = errors.assign(unit="item" if design.unit_is_item else design.unit)
    what = "outcomes (0 or 1)" if binary else "exact probabilities"
    table = errors_table(
        design,
        errors,
        name="calibration",
        title="Stated probabilities against the truth",
        note=f"Truths are {what}. Brier score: mean squared difference"
        f"{'' if binary else ' from the exact probability, without the variance of outcomes'}; it is miscalibration − "
        f"resolution + uncertainty + what varies within the {BINS} bins. A model that always states the same has no "
        f"resolution.{FEW_IN_A_BIN if binary else ''}",
    )
    section = Section(
        title,
        lead=(
            f"{counted(len(answers), 'answer')} to {counted(answers['item'].nunique(), 'question')} "
            f"of {counted(answers['unit'].nunique(), 'unit')} have a known truth.",
        ),
        tables=(table,),
        figures=(
            reliability_figure(curve, name=table_name("reliability", design), labels=labels, subject=design.task),
        ),
    )  # fmt: skip
    ordered = errors.sort_values(["brier", "label"]).head(8)
    best = [f"{name} {fixed(score, 3)}" for name, score in zip(ordered["label"], ordered["brier"], strict=True)]
    if binary:
        limits.append(
            sentence(where, "one outcome per question: a single probability cannot be called wrong, only many")
        )
    return Part(
        (section,),
        summary=(sentence(where, f"Brier score of stated probabilities: {', '.join(best)}"),),
        limits=tuple(limits),
        data={"calibration": errors.assign(task=design.task), "reliability": curve.assign(task=design.task)},
    )


def errors_table(design: TaskDesign, errors: pd.DataFrame, *, name: str, title: str, note: str) -> Table:
    """Table of ``frequentist.calibration.probability_errors``, with the columns ``label`` and ``unit`` added."""
    rows = errors.assign(
        **{f"{measure}_method": errors["ci_method"] for measure in ("brier", "bias", "abs_error")},
        **{f"{measure}_reason": errors["reason"] for measure in ("brier", "bias", "abs_error")},
    )
    spec = TableSpec(
        table_name(name, design),
        title=title_of(title, design),
        columns=(
            Text("label", "Model"),
            estimate_column("brier", "Brier score"),
            estimate_column("abs_error", "Mean |p − truth|"),
            estimate_column("bias", "Mean p − truth", signed=True),
            Number("miscalibration", "Miscalibration", digits=4),
            Number("resolution", "Resolution", digits=4),
            Number("uncertainty", "Uncertainty", digits=4),
            Number("within", "Within bins", digits=4),
            Count("n", "Answers"),
            Count("n_clusters", "Units"),
        ),
        order=("brier", "label"),
        note=note,
    )
    return Table(spec, rows, simulated=design.simulated)
