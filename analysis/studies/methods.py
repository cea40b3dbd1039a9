"""The methods of a yes/no task in sentences, written from the settings and the results."""

from analysis.report.notes import TARGETS, UNCERTAIN
from analysis.report.numbers import level
from analysis.schema.plan import plan_digest
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign


def judgement_methods(design: TaskDesign, *, ci_level: float) -> tuple[str, ...]:
    """How accuracies, answer bias and competence floor were estimated and tested."""
    four = design.cells == "validity_polarity"
    cells = (
        "Accuracy was estimated in four cells (valid or invalid × affirmative or negated); Acc(Yes) and Acc(No) are "
        "the equal-weight means of the two cells in which Yes, and in which No, is right."
        if four
        else "Acc(Yes) and Acc(No) are the mean accuracies over items whose right answer is Yes, and No."
    )
    shown = level(ci_level)
    intervals = (
        f"Intervals ({shown}) are Wilson score limits [@wilson1927] with the effective number of responses and the "
        "degrees of freedom of the cluster-robust (CR2) variance [@bell2002]; those of differences join the limits of "
        "the cells by the square-and-add rule [@zou2008] and, with fewer than 30 effective units, reach at least as "
        "far as estimate ± t × standard error."
    )
    return (
        *general_methods(design),
        cells,
        "Answer bias is Acc(Yes) − Acc(No); the competence floor is the smaller of the two.",
        f"{UNCERTAIN[design.uncertain]}.",
        intervals,
        "A floor was taken to be shown above .5 if both accuracies exceed .5 (one-sided intersection-union test "
        f"[@berger1982]), adjusted over models by Holm's procedure [@holm1979] at {level(1 - ci_level)}; the printed "
        f"{shown} intervals are two-sided.",
        "Sensitivity d′ and criterion c use log-linear corrected rates [@hautus1995].",
    )


def general_methods(design: TaskDesign) -> tuple[str, ...]:
    """What the claims are about, and what is taken as independent."""
    unit = "the item" if design.unit_is_item else f"given by the column {design.unit!r}"
    return (
        f"The independent unit is {unit}: responses that share one are not taken as independent.",
        f"Claims are about {TARGETS.get(design.target, design.target.replace('_', ' '))}.",
    )


def accuracy_methods(design: TaskDesign, *, ci_level: float) -> tuple[str, ...]:
    """How accuracy was estimated where nothing else can be."""
    return (
        *general_methods(design),
        f"{UNCERTAIN[design.uncertain]}.",
        f"Intervals ({level(ci_level)}) are Wilson score limits [@wilson1927] with the effective number of responses "
        "and the degrees of freedom of the cluster-robust (CR2) variance [@bell2002].",
    )


def plan_sentences(study: Study) -> tuple[str, ...]:
    """Which estimates were named in advance, and the hash under which the plan can have been registered."""
    named = ", ".join(measure.replace("_", " ") for measure in study.report.primary)
    said = (
        f"Primary estimates, named in study.toml: {named}; all others are exploratory."
        if named
        else "No primary estimates were named in study.toml: all are exploratory."
        if study.families
        else "No primary estimates were named in study.toml: all results are exploratory."
    )
    return said, f"Hash of the analysis plan: {plan_digest(study)[:16]} (the whole of it is in the manifest)."
