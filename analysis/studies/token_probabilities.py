"""Section on the probabilities that a yes/no task's models give to yes: discrimination, bias and calibration."""

import pandas as pd

from analysis.frequentist.calibration import BINS, probability_errors, reliability_curve
from analysis.frequentist.token_probabilities import ANSWERS, TOKENS, token_probability_estimates
from analysis.reduction.token_probabilities import any_token_probability, token_probabilities
from analysis.report.columns import Column, Count, Number, Text
from analysis.report.content import Section
from analysis.report.figures.reliability import reliability_figure
from analysis.report.numbers import counted
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.studies.calibration import errors_table
from analysis.studies.coherence_tables import title_of
from analysis.studies.context import Part, TaskContext
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import estimate_column, table_name

#: Column of the wide table -> what it rests on and its measure.
_SHOWN = {
    "auc": (TOKENS, "auc"),
    "p_yes_yes": (TOKENS, "acc_yes"),
    "p_right_no": (TOKENS, "acc_no"),
    "bias_tokens": (TOKENS, "answer_bias"),
    "bias_answers": (ANSWERS, "answer_bias"),
    "balanced_tokens": (TOKENS, "balanced_accuracy"),
    "balanced_answers": (ANSWERS, "balanced_accuracy"),
    "floor_answers": (ANSWERS, "competence_floor"),
    "even_threshold": (TOKENS, "even_threshold"),
    "even_accuracy": (TOKENS, "even_accuracy"),
}
_METHODS = (
    "Where the probability of the token Yes is known, the area under the ROC curve counts ties half and its variance "
    "sums placements by unit (CR2). Accuracies from probabilities are the mean probability of the right answer; the "
    "bias is their difference between the classes. The even cut is the threshold at which both classes are answered "
    "equally well; its limits are the thresholds at which the interval of the bias holds 0. Questions weigh the same."
)


def token_probabilities_part(context: TaskContext) -> Part | None:
    """Tables and figure, where some response of a yes/no task has the probability of its tokens."""
    design = context.design
    if context.judgement is None or design.target == "census" or not any_token_probability(context.con):
        return None
    questions = token_probabilities(context.con, design, context.selection)
    known = questions[questions["probability"].notna()]
    if known.empty:
        return None
    context.progress("token probabilities")
    unit = unit_used(design)
    described = {"unit": unit, "uncertain": design.uncertain, "task": design.task}
    found = token_probability_estimates(known, ci_level=context.ci_level).assign(**described)
    wide = _wide(context, found)
    drawn = context.resampling
    errors = probability_errors(
        known, rng=drawn.rng("token brier"), resamples=drawn.resamples, ci_level=context.ci_level
    )
    curve = reliability_curve(
        known, rng=drawn.rng("token reliability"), resamples=drawn.resamples, ci_level=context.ci_level
    )
    errors = errors.assign(unit=unit, label=[context.labels.get(m, m) for m in errors["model"]])
    calibration = errors_table(
        design,
        errors,
        name="token_calibration",
        title="Token probabilities of Yes against the right answer",
        note=f"Truth is 1 where Yes is right and 0 where No is. Brier score: mean squared difference; it is "
        f"miscalibration − resolution + uncertainty + what varies within the {BINS} bins.",
    )
    figure = reliability_figure(
        curve, name=table_name("token_reliability", design), labels=context.labels, subject=design.task
    )
    section = Section(
        f"{context.where}Token probabilities",
        lead=(_lead(questions, known), _bias_sentence(wide)),
        tables=(_bias_table(context, wide), _cut_table(context, wide), calibration),
        figures=(figure,),
    )
    data = {
        "token_probabilities": found,
        "token_calibration": errors.assign(task=design.task),
        "token_reliability": curve.assign(task=design.task),
    }
    return Part((section,), methods=(_METHODS,), data=data)


def _wide(context: TaskContext, found: pd.DataFrame) -> pd.DataFrame:
    """One row per model, the measures of ``_SHOWN`` side by side with their ends."""
    shared = ["ci_level", "unit", "uncertain", "n", "n_clusters"]
    ends = {"": "estimate", "_low": "ci_low", "_high": "ci_high", "_method": "ci_method", "_reason": "reason"}

    def rows_of(based_on: str, measure: str) -> pd.DataFrame:
        return found[(found["based_on"] == based_on) & (found["measure"] == measure)].set_index("model")

    table = rows_of(TOKENS, "auc")[shared]
    table = table.assign(label=[context.labels.get(str(m), str(m)) for m in table.index])
    for name, (based_on, measure) in _SHOWN.items():
        own = rows_of(based_on, measure).reindex(table.index)
        table = table.assign(**{f"{name}{end}": own[column] for end, column in ends.items()})
        table[f"{name}_reason"] = table[f"{name}_reason"].fillna("nothing was answered")
    missing = table["even_accuracy_reason"].where(table["even_accuracy"].isna(), "")
    return table.assign(even_accuracy_missing=missing).reset_index()


def _bias_table(context: TaskContext, wide: pd.DataFrame) -> Table:
    columns: tuple[Column, ...] = (
        Text("label", "Model"),
        estimate_column("auc", "AUC"),
        estimate_column("p_yes_yes", "Yes", digits=2),
        estimate_column("p_right_no", "No", digits=2),
        estimate_column("bias_tokens", "tokens", signed=True, digits=2),
        estimate_column("bias_answers", "answers", signed=True, digits=2),
        Count("n", "Questions"),
        Count("n_clusters", "Units"),
    )
    spec = TableSpec(
        table_name("token_probabilities", context.design),
        title=title_of("Discrimination and bias without a threshold", context.design),
        columns=columns,
        spanners=(
            Spanner("Mean probability where right is", ("p_yes_yes", "p_right_no")),
            Spanner("Bias", ("bias_tokens", "bias_answers")),
        ),
        order=("-auc", "label"),
        note="AUC: probability that a question whose right answer is Yes gets a higher probability of Yes than one "
        "whose right answer is No, ties half; it does not depend on any lean. Mean probability: of the right answer, "
        "in each class. Bias: the first minus the second, above 0 leans to Yes; from answers, the same of the "
        "answers to the same questions. Both weigh every question alike, whatever cells there are.",
    )
    return Table(spec, wide, simulated=context.design.simulated)


def _cut_table(context: TaskContext, wide: pd.DataFrame) -> Table:
    spec = TableSpec(
        table_name("token_threshold", context.design),
        title=title_of("The threshold at which the bias vanishes", context.design),
        columns=(
            Text("label", "Model"),
            estimate_column("even_threshold", "Even cut"),
            Number("even_accuracy", "Accuracy there", digits=3, reason="even_accuracy_missing"),
            estimate_column("floor_answers", "Floor of answers"),
            estimate_column("balanced_answers", "BA of answers"),
            estimate_column("balanced_tokens", "Mean p right"),
            Count("n", "Questions"),
            Count("n_clusters", "Units"),
        ),
        order=("-even_accuracy", "label"),
        note="Even cut: answer Yes above this probability and both classes are answered equally well. Accuracy there "
        "is that of either class, and hence what the floor would be; the cut was found on the same questions, so that "
        "new ones would reach somewhat less. Mean p right: mean probability of the right answer, the classes weighing "
        "the same.",
    )
    return Table(spec, wide, simulated=context.design.simulated)


def _lead(questions: pd.DataFrame, known: pd.DataFrame) -> str:
    """How many questions and models this rests on, and how many responses it does without."""
    said = (
        f"Token probabilities are known for {counted(known['item'].nunique(), 'question')} and "
        f"{counted(known['model'].nunique(), 'model')}"
    )
    lost = int((questions["responses"] - questions["known"]).sum())
    return f"{said}; {counted(lost, 'response')} without them not used here." if lost else f"{said}."


def _bias_sentence(wide: pd.DataFrame) -> str:
    # At the precision of the table, which would otherwise seem to contradict the count.
    leaning = (wide["bias_tokens_low"].round(2) > 0) | (wide["bias_tokens_high"].round(2) < 0)
    known = wide["bias_tokens_low"].notna()
    moved = (wide["even_threshold_low"] > 0.5) | (wide["even_threshold_high"] < 0.5)
    return (
        f"Without a threshold, the interval of the bias excludes 0 for {int(leaning.sum())} of "
        f"{counted(int(known.sum()), 'model')}; that of the even cut excludes .5 for {int(moved.sum())}."
    )
