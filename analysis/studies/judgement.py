"""Section of a yes/no task: cells, answer bias and competence floor, their tests and figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.report.columns import Count, Decision, Estimate, Number, Percent, Proportion, PValue, Signed, Text
from analysis.report.content import Figure, Section, file_stem
from analysis.report.figures.class_accuracy import class_accuracy_figure
from analysis.report.figures.floor_bias import floor_bias_figure
from analysis.report.spec import Spanner, Table, TableSpec, Where
from analysis.schema.task_design import TaskDesign

DECISIONS = {
    "above": "above .5",
    "below": "below .5",
    "undecided": "undecided",
    "not tested": "not tested",
}
_CELLS = ("acc_va", "acc_vn", "acc_ia", "acc_in")
#: Measures that the tables of a task print, each as estimate with interval.
PRINTED = (
    "accuracy", "uncertain_rate", "acc_yes", "acc_no", *_CELLS, "balanced_accuracy", "answer_bias",
    "polarity_sensitivity", "validity_contrast", "competence_floor", "affirmative_floor", "cell_floor", "d_prime",
    "criterion_c", "yes_rate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JudgementResults:
    """What was estimated for one task: tidy tables of ``frequentist.answer_bias``.

    ``other_treatments`` maps a treatment of uncertain answers to its estimates.
    """

    estimates: pd.DataFrame
    tests: pd.DataFrame
    bounds: pd.DataFrame
    flags: pd.DataFrame
    other_treatments: Mapping[str, pd.DataFrame]


def judgement_section(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> Section:
    """Tables and figures of one yes/no task."""
    wide = wide_estimates(results.estimates, labels)
    tables = (
        cells_table(design, wide),
        tests_table(design, results, labels),
        contrasts_table(design, wide),
        uncertain_table(design, results, labels),
    )
    lead = (_design_sentence(design), _counts_sentence(results.tests))
    return Section(
        f"Yes/no task {design.task}" if design.task else "Yes/no task",
        lead=lead,
        tables=tables,
        figures=judgement_figures(design, results.estimates, labels),
        notes=design.assumptions,
    )


def judgement_figures(design: TaskDesign, estimates: pd.DataFrame, labels: Mapping[str, str]) -> tuple[Figure, ...]:
    """Floor against |bias|, and the accuracies of the two classes."""
    return (
        class_accuracy_figure(estimates, name=table_name("class_accuracy", design), labels=labels, subject=design.task),
        floor_bias_figure(estimates, name=table_name("floor_bias", design), labels=labels, subject=design.task),
    )


def table_name(kind: str, design: TaskDesign) -> str:
    """Stem of a table or figure, with the task's name where it has one."""
    return file_stem(kind, design.task)


def wide_estimates(estimates: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """One row per model: each measure with its ends and reason (``<measure>_low``, ...), and shared columns."""
    rows = []
    for model, group in estimates.groupby("model", sort=False, observed=True):
        by_measure = {row["measure"]: row for row in group.to_dict("records")}
        row: dict[str, Any] = {"model": model, "label": labels.get(str(model), str(model))}
        row |= {name: group[name].iloc[0] for name in ("ci_level", "unit", "uncertain", "weights", "target")}
        row |= {name: group[name].max() for name in ("n", "n_clusters")}
        for measure in PRINTED:
            row |= _named(measure, by_measure.get(measure))
        rows.append(row)
    return pd.DataFrame(rows)


def _named(measure: str, found: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Columns of one measure of a wide table."""
    if found is None:
        found = {"reason": "not identified by this design"}
    ends = {f"{measure}_low": "ci_low", f"{measure}_high": "ci_high", f"{measure}_method": "ci_method"}
    values = {measure: found.get("estimate")} | {name: found.get(column) for name, column in ends.items()}
    missing = pd.isna(found.get("estimate"))
    return values | {f"{measure}_reason": found["reason"], f"{measure}_missing": found["reason"] if missing else ""}


def estimate_column(measure: str, header: str, *, signed: bool = False, digits: int = 3, help: str = "") -> Estimate:
    """Estimate with interval of one measure of a wide table."""
    return Estimate(
        measure, header, low=f"{measure}_low", high=f"{measure}_high", method=f"{measure}_method", digits=digits,
        signed=signed, reason=f"{measure}_reason", help=help,
    )  # fmt: skip


def cells_table(design: TaskDesign, wide: pd.DataFrame) -> Table:
    """Cells with bias, polarity sensitivity and floor, sorted by floor, with a rule where it crosses .5."""
    four = design.cells == "validity_polarity"
    cells = (
        tuple(
            Proportion(name, head, digits=3, reason=f"{name}_missing")
            for name, head in zip(_CELLS, ("Aff.", "Neg.", "Aff.", "Neg."), strict=True)
        )
        if four
        else (
            Proportion("acc_yes", "Acc(Yes)", reason="acc_yes_missing"),
            Proportion("acc_no", "Acc(No)", reason="acc_no_missing"),
        )
    )
    spanners = (Spanner("Valid", _CELLS[:2]), Spanner("Invalid", _CELLS[2:])) if four else ()
    polarity = (estimate_column("polarity_sensitivity", "PS", signed=True, digits=2),) if four else ()
    shown = _CELLS if four else ("acc_yes", "acc_no")
    spec = TableSpec(
        table_name("cells", design),
        title="Accuracy by cell, answer bias and competence floor" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Proportion("accuracy", "Acc.", reason="accuracy_missing"),
            Percent("uncertain_rate", "Unc.", reason="uncertain_rate_missing"),
            *cells,
            estimate_column("answer_bias", "Bias", signed=True, digits=2),
            *polarity,
            estimate_column("competence_floor", "Floor"),
            Count("n", "n"),
        ),
        order=("-competence_floor", "label"),
        spanners=spanners,
        note=(
            "Bias: accuracy where Yes is right minus accuracy where No is right, above 0 leans to Yes. "
            + ("PS: affirmative minus negated accuracy. " if four else "")
            + "Floor: the worse of the two accuracies."
        ),
        rule_where=Where("competence_floor", ">", 0.5),
        bold_where=(Where("competence_floor", ">", 0.5),),
        underline_where=tuple(Where(name, "<", 0.5) for name in shown),
    )
    return Table(spec, wide, simulated=design.simulated)


def contrasts_table(design: TaskDesign, wide: pd.DataFrame) -> Table:
    """The remaining contrasts of the cells, and the signal-detection reading."""
    four = design.cells == "validity_polarity"
    more = (
        (
            estimate_column("validity_contrast", "VAL", signed=True, digits=2),
            estimate_column("affirmative_floor", "Aff. floor", digits=2),
            estimate_column("cell_floor", "Cell floor", digits=2),
        )
        if four
        else ()
    )
    spec = TableSpec(
        table_name("contrasts", design),
        title="Balanced accuracy, further contrasts and signal detection" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("balanced_accuracy", "BA", digits=2),
            *more,
            estimate_column("d_prime", "d′", signed=True, digits=2),
            estimate_column("criterion_c", "c", signed=True, digits=2),
        ),
        order=("-competence_floor", "label"),
        note=(
            "Floor = BA − |Bias|/2. d′: sensitivity; c: criterion, below 0 leans to Yes; both with 0.5 added to the "
            "counts of each class so that a rate of 0 or 1 stays finite."
            + (" A cell floor above .5 rules out a responder that ignores the negation." if four else "")
        ),
    )
    return Table(spec, wide, simulated=design.simulated)


def tests_table(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> Table:
    """Is the floor above or below .5? One row per model."""
    above = results.tests[results.tests["alternative"] == "greater"]
    below = results.tests[results.tests["alternative"] == "less"].set_index("model")
    moved = {f"below_{name}": below[name] for name in ("p_value", "p_adjusted", "p_adjust_method", "family_size")}
    floor = results.estimates[results.estimates["measure"] == "competence_floor"].set_index("model")
    limits = floor[["ci_low", "ci_high", "ci_level", "ci_method", "min_bias_if_tied", "unit"]]
    wide = above.set_index("model").assign(**moved).join(limits).reset_index()
    wide = wide.assign(label=[labels.get(str(m), str(m)) for m in wide["model"]])
    spec = TableSpec(
        table_name("floor_tests", design),
        title="Is the competence floor above .5?" + (f" {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Floor", digits=3),
            PValue("p_value", "p (above)"),
            PValue("p_adjusted", "Holm"),
            PValue("below_p_value", "p (below)"),
            PValue("below_p_adjusted", "Holm", method="below_p_adjust_method", family="below_family_size"),
            Decision("decision", "Floor is", labels=DECISIONS),
            Number("min_bias_if_tied", "Min bias", digits=3),
            Count("n_clusters", "Units"),
        ),
        order=("-estimate", "label"),
        note=(
            "Above: both class accuracies exceed .5 (intersection-union). Below: one of them is under .5, the smaller "
            "p doubled. Min bias: by how much the plug-in floor is too low on average if the two accuracies are equal. "
            "Under the treatment 'incorrect' a coin that leaves a share u unanswered has floor .5(1 − u): a floor "
            "below .5 is then no evidence of bias. Intervals are those of single models: one may lie on one side of .5 "
            "where the test, adjusted over models, leaves it undecided."
        ),
        bold_where=(Where("decision", "==", "above", cells=("decision",)),),
    )
    return Table(spec, wide, simulated=design.simulated)


def uncertain_table(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> Table:
    """The floor and the bias under every treatment of uncertain answers, with their bounds."""
    rows = _wide_bounds(results, labels)
    for treatment, estimates in results.other_treatments.items():
        for measure, short in (("competence_floor", "floor"), ("answer_bias", "bias")):
            part = estimates[estimates["measure"] == measure].set_index("model")["estimate"]
            rows = rows.assign(**{f"{short}_{treatment}": rows["model"].map(part)})
    flags: dict[str, str] = {}
    for model, flag in zip(results.flags["model"], results.flags["flag"], strict=True):
        flags[model] = f"{flags[model]}; {flag}" if model in flags else flag
    rows = rows.assign(flags=[flags.get(m, "none") for m in rows["model"]])
    spec = TableSpec(
        table_name("uncertain", design),
        title="What uncertain answers could change" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Percent("uncertain_rate", "Unc."),
            *(Proportion(f"floor_{t}", t) for t in results.other_treatments),
            Proportion("floor_low", "lowest"),
            Proportion("floor_high", "highest"),
            *(Signed(f"bias_{t}", t, digits=2) for t in results.other_treatments),
            Signed("bias_low", "lowest", digits=2),
            Signed("bias_high", "highest", digits=2),
            Text("flags", "Flags"),
        ),
        spanners=(
            Spanner(
                "Floor, uncertain answers",
                (*(f"floor_{t}" for t in results.other_treatments), "floor_low", "floor_high"),
            ),
            Spanner(
                "Bias, uncertain answers", (*(f"bias_{t}" for t in results.other_treatments), "bias_low", "bias_high")
            ),
        ),
        order="label",
        note=(
            "Lowest and highest: every unreadable, errored or missing response all wrong or all right, over what was "
            "planned. Excluding uncertain answers conditions on having answered."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def _wide_bounds(results: JudgementResults, labels: Mapping[str, str]) -> pd.DataFrame:
    """One row per model: share of uncertain answers, lowest and highest floor and bias."""
    rate = results.estimates[results.estimates["measure"] == "uncertain_rate"]
    rows = pd.DataFrame({"model": rate["model"].astype(str), "uncertain_rate": rate["estimate"]}).reset_index(drop=True)
    rows.insert(1, "label", [labels.get(m, m) for m in rows["model"]])
    for measure, short in (("competence_floor", "floor"), ("answer_bias", "bias")):
        part = results.bounds[results.bounds["measure"] == measure].set_index("model")
        for end in ("low", "high"):
            rows[f"{short}_{end}"] = rows["model"].map(part[f"bound_{end}"])
    undefined = rows[["floor_low", "bias_low"]].isna().any(axis=1)
    return rows.assign(reason=undefined.map({True: "no response of this model in a class that this needs", False: ""}))


def _design_sentence(design: TaskDesign) -> str:
    unit = (
        "each item is its own unit" if design.unit_is_item else f"{design.n_units:,} independent units ({design.unit})"
    )
    return f"{design.n_models:,} models, {design.n_items:,} items, {design.n_rows:,} responses; {unit}."


def _counts_sentence(tests: pd.DataFrame) -> str:
    decisions = tests[tests["alternative"] == "greater"]["decision"].value_counts()
    said = [
        f"{int(decisions.get(key, 0))} {label}"
        for key, label in DECISIONS.items()
        if key != "not tested" or key in decisions
    ]
    return "Competence floor, Holm-adjusted over models: " + ", ".join(said) + "."
