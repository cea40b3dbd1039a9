"""Yes/no answers as a classifier's: precision, recall, F1 and their like, against each label of the items."""

import numpy as np
import pandas as pd

from analysis.frequentist.classification import classification_estimates
from analysis.report.columns import Count, Text
from analysis.report.content import Section
from analysis.report.spec import Table, TableSpec
from analysis.studies.answers import TaskAnswers, second_labels, shared_columns
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import estimate_column, table_name, wide_estimates

_NAMES = {
    "accuracy": "Acc.",
    "precision": "Prec.",
    "recall": "Recall",
    "f1": "F1",
    "specificity": "Spec.",
}
_BALANCED = {
    "yes_rate": "Yes rate",
    "macro_f1": "Macro F1",
    "macro_recall": "Macro recall",
    "matthews_correlation": "MCC",
    "f1_no": "F1 of No",
}
MEASURES = (*_NAMES, *_BALANCED)


def classification_part(context: TaskContext, answers: TaskAnswers) -> Part | None:
    """Tables of the classification measures; None where right answers are not yes and no."""
    if context.design.cells != "gold":
        return None
    context.progress("precision and recall")
    parts = {"gold": _estimates(context, answers, "classification")}
    labels = second_labels(context)
    if labels is not None:
        by_item, yes = labels
        items = answers.collapsed["item"].astype(str)
        said = items.map(by_item)
        label = np.where(said.isna(), "", np.where(said == yes, "yes", "no")).astype(object)
        parts["label"] = _estimates(context, answers, "second label", label)
    tables = _tables(context, parts["gold"], "classification", "Yes/no answers as a classifier's")
    if "label" in parts:
        tables += (_label_table(context, parts["label"], labels[1] if labels else ""),)
    section = Section(
        "Precision and recall" + (f": {context.design.task}" if context.design.task else ""),
        lead=(_lead(answers),),
        tables=tables,
        notes=("Every question weighs the same under every configuration it was asked (micro).",),
    )
    return Part(
        (section,),
        methods=(
            "The positive class is Yes. Macro measures are means over the classes Yes and No; the Matthews correlation "
            "coefficient is that of Gorodkin for tables in which unreadable answers are a prediction of their own. "
            "Limits of F1, macro F1 and the correlation are percentiles of "
            f"{context.resampling.resamples:,} bootstrap resamples of units; the others are cluster Wilson limits.",
        ),
        data={f"classification_{name}": table for name, table in parts.items()},
    )


def _estimates(
    context: TaskContext, answers: TaskAnswers, purpose: str, gold: "np.ndarray | None" = None
) -> pd.DataFrame:
    return classification_estimates(
        answers.collapsed,
        rng=context.resampling.rng(purpose),
        gold=gold,
        uncertain=context.design.uncertain,
        resamples=context.resampling.resamples,
        **shared_columns(context),
    )


def _tables(context: TaskContext, estimates: pd.DataFrame, name: str, title: str) -> tuple[Table, ...]:
    design = context.design
    wide = wide_estimates(estimates, context.labels, MEASURES)
    where = f": {design.task}" if design.task else ""
    first = TableSpec(
        table_name(name, design),
        title=title + where,
        columns=(
            Text("label", "Model"),
            *(estimate_column(measure, head, digits=3) for measure, head in _NAMES.items()),
            Count("n", "n", help="scored answers"),
        ),
        order=("-accuracy", "label"),
        note=(
            "Prec.: right among the answers Yes. Recall: Yes among the items where Yes is right. Spec.: No among the "
            "others. F1 = 2 Prec. Recall / (Prec. + Recall). An unreadable answer is never a Yes."
        ),
    )
    second = TableSpec(
        table_name(f"{name}_balanced", design),
        title="Yes rate, and measures in which both classes weigh the same" + where,
        columns=(
            Text("label", "Model"),
            *(
                estimate_column(measure, head, digits=3, signed=measure == "matthews_correlation")
                for measure, head in _BALANCED.items()
            ),
        ),
        order=("-matthews_correlation", "label"),
        note=(
            "Yes rate: share of Yes among scored answers. MCC: correlation of right and given answers, 0 for answers "
            "that do not depend on the item. Macro recall: mean of recall and specificity, the balanced accuracy."
        ),
    )
    return Table(first, wide, simulated=design.simulated), Table(second, wide, simulated=design.simulated)


def _label_table(context: TaskContext, estimates: pd.DataFrame, yes: str) -> Table:
    design = context.design
    spec = TableSpec(
        table_name("second_label", design),
        title=f"Answers compared with the label “{yes}” of the items" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("accuracy", "Acc.", digits=3),
            estimate_column("precision", "Prec.", digits=3),
            estimate_column("recall", "Recall", digits=3),
            Count("n", "n", help="scored answers to items with the label"),
        ),
        order=("-accuracy", "label"),
        note=(
            "As if Yes were right where the item has the label and No where it has another one. This is no "
            "competence: an answer that follows the label differs from the right one wherever the two do."
        ),
    )
    return Table(spec, wide_estimates(estimates, context.labels, MEASURES), simulated=design.simulated)


def _lead(answers: TaskAnswers) -> str:
    if answers.repeated:
        return f"Repeated responses enter as one answer: {answers.rule.words}."
    return "Each question was answered once under each configuration."
