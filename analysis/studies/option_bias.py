"""Section of a multiple-choice task: accuracy by right option, its floor against chance, lean to some options."""

import pandas as pd

from analysis.frequentist.option_bias import OptionBias, option_bias
from analysis.frequentist.option_scores import option_scores
from analysis.reduction.option_counts import option_counts, option_labels
from analysis.report.columns import Count, Decision, Estimate, Number, PValue, Signed, Text
from analysis.report.content import Section
from analysis.report.figures.option_lean import option_lean_figure
from analysis.report.numbers import counted, fixed
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.studies.coherence_tables import title_of
from analysis.studies.context import Part, TaskContext
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import estimate_column, table_name

#: Answers of more labels than this are words, not options.
MOST_OPTIONS = 12
#: With more rows than this the options of every model are in the data alone.
MOST_ROWS = 240
DECISIONS = {
    "above": "above chance",
    "below": "below chance",
    "undecided": "undecided",
    "not tested": "not tested",
}
_METHODS = (
    "In multiple choice the competence floor is the smallest of the accuracies by right option; its limits are the "
    "smallest of theirs, the upper ones at the level that a tie of all costs. It is tested against 1 / options by the "
    "intersection-union test [@berger1982] with Holm's adjustment over models. The lean to an option is its share of "
    "the answers less its share of the right answers to the same questions; all options together are tested by Stuart "
    "and Maxwell's statistic with {flips:,} sign flips of units. Questions weigh the same."
)


def option_bias_part(context: TaskContext) -> Part | None:
    """Tables of a task of kind ``choice``; what keeps it from having them is said."""
    design, where = context.design, context.where
    if design.kind != "choice" or design.target == "census" or isinstance(context.counts, str):
        return None
    counts = option_counts(context.con, design, context.selection)
    labels = option_labels(counts)
    if not 2 <= len(labels) <= MOST_OPTIONS or counts["gold"].nunique() < 2:
        words = f"{counted(len(labels), 'label')}, {counts['gold'].nunique()} of them right somewhere"
        return Part(limits=(f"{where}no position bias is estimated: there are {words}.",))
    context.progress("options")
    found = option_bias(
        counts,
        labels,
        rng=context.resampling.rng("options"),
        uncertain=design.uncertain,
        flips=context.resampling.flips,
        ci_level=context.ci_level,
    )
    described = {"unit": unit_used(design), "uncertain": design.uncertain, "task": design.task}
    models, options = _models(context, found).assign(**described), found.options.assign(**described)
    scores = option_scores(
        counts,
        labels,
        rng=context.resampling.rng("F1 of options"),
        uncertain=design.uncertain,
        resamples=context.resampling.resamples,
        ci_level=context.ci_level,
    ).assign(**described)
    tables = [_floor_table(context, models, found), _f1_table(context, scores, labels)]
    if len(options) <= MOST_ROWS:
        tables.append(_options_table(context, options))
    section = Section(
        f"{where}Options: position bias",
        lead=(_design_sentence(counts, found), _floor_sentence(models), _lean_sentence(models, context.ci_level)),
        tables=tuple(tables),
        figures=(
            option_lean_figure(
                options,
                name=table_name("option_lean", design),
                title=title_of("Lean of answers to each option", design),
                ci_level=context.ci_level,
                labels=context.labels,
            ),
        ),
    )
    return Part(
        (section,),
        summary=tuple(f"{where}{said}" for said in _claims(models, context.ci_level)),
        methods=(_METHODS.format(flips=context.resampling.flips),),
        data={"option_floors": models, "option_bias": options, "option_f1": scores},
    )


def _models(context: TaskContext, found: OptionBias) -> pd.DataFrame:
    """Rows by model with the option that answers lean to most, and why a value is missing."""
    options = found.options
    known = options[options["estimate"].notna()]
    most = known.loc[known.groupby("model")["estimate"].idxmax()].set_index("model")
    rows = found.models.assign(
        label=[context.labels.get(str(m), str(m)) for m in found.models["model"]],
        lean_option=[str(most["option"].get(m, "–")) for m in found.models["model"]],
        lean=found.models["model"].map(most["estimate"]),
    )
    untested = rows["reason"].where(rows["p_value"].isna(), "")
    return rows.assign(
        balanced_reason=rows["reason"],
        test_reason=untested,
        lean_missing=rows["lean_reason"].where(rows["lean"].isna(), ""),
    )


def _floor_table(context: TaskContext, models: pd.DataFrame, found: OptionBias) -> Table:
    chance = fixed(1 / len(found.labels), 3)
    spec = TableSpec(
        table_name("option_floors", context.design),
        title=title_of("Multiple choice: the worst option, and the lean of answers", context.design),
        columns=(
            Text("label", "Model"),
            _estimate_of("balanced_accuracy", "BA", "balanced"),
            Estimate("competence_floor", "Floor", reason="reason"),
            Text("option", "At"),
            PValue("p_adjusted", "Holm (above)", reason="test_reason"),
            PValue("below_p_adjusted", "Holm (below)", reason="test_reason"),
            Decision("decision", "Floor is", labels=DECISIONS),
            Text("lean_option", "Most"),
            Signed("lean", "Lean", digits=3, reason="lean_missing"),
            PValue("lean_p_value", "p", floor="lean_resolution", reason="lean_reason"),
            PValue(
                "lean_p_adjusted",
                "Holm",
                floor="lean_bound",
                method="lean_p_adjust_method",
                family="lean_family_size",
                reason="lean_reason",
            ),
            Count("n_items", "Questions"),
            Count("n_clusters", "Units"),
        ),
        spanners=(Spanner("Lean to an option", ("lean_option", "lean", "lean_p_value", "lean_p_adjusted")),),
        order=("-competence_floor", "label"),
        note="BA: mean of the accuracies by right option. Floor: the smallest of them, and the option where it is; it "
        f"is tested against the {chance} of a guesser without a lean. Lean: share of answers that name the option less "
        "its share of the right answers to the same questions, for the option where this is largest; p: all options "
        "together, by sign flips of units. Options are those that are right or answered somewhere.",
    )
    return Table(spec, models, simulated=context.design.simulated)


def _estimate_of(measure: str, header: str, stem: str) -> Estimate:
    """Estimate whose limits, method and reason stand in columns that begin with ``stem``."""
    return Estimate(
        measure, header, low=f"{stem}_low", high=f"{stem}_high", method=f"{stem}_method", reason=f"{stem}_reason"
    )


def _f1_table(context: TaskContext, scores: pd.DataFrame, labels: tuple[str, ...]) -> Table:
    rows = []
    for model, group in scores.groupby("model", sort=True):
        shared = group.iloc[0][["ci_level", "unit", "uncertain", "n_clusters"]].to_dict()
        row = shared | {"model": model, "label": context.labels.get(str(model), str(model))}
        for found in group.to_dict("records"):
            name = f"f1_{labels.index(found['option'])}" if found["option"] else found["measure"]
            row |= {name: found["estimate"], f"{name}_low": found["ci_low"], f"{name}_high": found["ci_high"]}
            row |= {f"{name}_method": found["ci_method"], f"{name}_reason": found["reason"]}
        rows.append(row)
    names = tuple(f"f1_{at}" for at in range(len(labels)))
    spec = TableSpec(
        table_name("option_f1", context.design),
        title=title_of("F1 by option", context.design),
        columns=(
            Text("label", "Model"),
            estimate_column("macro_f1", "Macro"),
            estimate_column("micro_f1", "Micro"),
            *(estimate_column(name, label, digits=2) for name, label in zip(names, labels, strict=True)),
        ),
        spanners=(Spanner("F1 of the option", names),),
        order=("-macro_f1", "label"),
        note="F1: 2 TP / (2 TP + FP + FN), questions weighing the same. Macro: mean over the options that are right "
        "somewhere. Micro: of the sums over options; accuracy where every response could be read.",
    )
    return Table(spec, pd.DataFrame(rows), simulated=context.design.simulated)


def _options_table(context: TaskContext, options: pd.DataFrame) -> Table:
    rows = options.assign(
        label=[context.labels.get(str(m), str(m)) for m in options["model"]],
        gold_reason=options["reason"].where(options["gold_share"].isna(), ""),
    )
    spec = TableSpec(
        table_name("option_bias", context.design),
        title=title_of("Answers and right answers by option", context.design),
        columns=(
            Text("label", "Model"),
            Text("option", "Option"),
            Number("gold_share", "right", digits=3, reason="gold_reason"),
            Number("answer_share", "answered", digits=3, reason="gold_reason"),
            Estimate("estimate", "Lean", signed=True, reason="reason"),
            estimate_column("accuracy", "Accuracy where right"),
            Count("n_clusters", "Units"),
        ),
        spanners=(Spanner("Share", ("gold_share", "answer_share")),),
        order=("label", "option"),
        note="Shares are those of questions with an answer that could be read. Lean: answered less right, above 0 "
        "where answers name the option more often than it is right; intervals are those of single options.",
    )
    return Table(spec, rows, simulated=context.design.simulated)


def _design_sentence(counts: pd.DataFrame, found: OptionBias) -> str:
    never = [label for label in found.labels if label not in found.golds]
    rest = f"; never right: {', '.join(never)}" if never else ""
    asked = counted(counts["item"].nunique(), "question")
    return f"{asked} with the options {', '.join(found.labels)}{rest}. Chance is {fixed(1 / len(found.labels), 3)}."


def _floor_sentence(models: pd.DataFrame) -> str:
    tested = models[models["decision"] != "not tested"]
    tally = tested["decision"].value_counts()
    return (
        f"The accuracy of the worst option is shown above chance for {tally.get('above', 0)} of "
        f"{counted(len(tested), 'model')}, below for {tally.get('below', 0)}; {tally.get('undecided', 0)} are "
        "undecided."
    )


def _lean_sentence(models: pd.DataFrame, ci_level: float) -> str:
    tested = models[models["lean_p_value"].notna()]
    shown = int((tested["lean_p_adjusted"] <= 1 - ci_level).sum())
    return (
        f"Answers are shown to name some options more often than these are right for {shown} of "
        f"{counted(len(tested), 'model')}."
    )


def _claims(models: pd.DataFrame, ci_level: float) -> list[str]:
    """Models whose answers are shown to lean, the largest lean first."""
    shown = models[models["lean_p_adjusted"] <= 1 - ci_level].sort_values(["lean", "label"], ascending=[False, True])
    named = [
        f"{row['label']} ({row['lean_option']} {100 * row['lean']:+.0f} points)"
        for row in shown.head(6).to_dict("records")
    ]
    return [f"Answers lean to an option: {', '.join(named)}."] if named else []
