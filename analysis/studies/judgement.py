"""Section of a yes/no task: cells, answer bias and competence floor, their tests and figures."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.report.columns import Count, Decision, Estimate, Number, Percent, Proportion, PValue, Signed, Text
from analysis.report.content import Figure, Section
from analysis.report.figures.class_accuracy import class_accuracy_figure
from analysis.report.figures.floor_bias import floor_bias_figure
from analysis.report.numbers import counted, level
from analysis.report.spec import Spanner, Table, TableSpec, Where
from analysis.schema.task_design import TaskDesign
from analysis.studies.cell_tables import cells_table, classes_table, contrasts_table
from analysis.studies.wide_table import UNEXPLAINED, read_and_used, table_name, wide_estimates

DECISIONS = {
    "above": "above .5",
    "below": "below .5",
    "undecided": "undecided",
    "not tested": "not tested",
}


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


def judgement_section(
    design: TaskDesign, results: JudgementResults, labels: Mapping[str, str], *, correlation: str = ""
) -> Section:
    """Tables and figures of one yes/no task; ``correlation`` says how floor and bias go together over the models."""
    wide = with_decisions(wide_estimates(results.estimates, labels), results.tests)
    tables = (
        cells_table(design, wide),
        tests_table(design, results, labels),
        classes_table(design, wide),
        contrasts_table(design, wide),
        uncertain_table(design, results, labels),
    )
    lead = (_design_sentence(design, results.estimates), _counts_sentence(results))
    return Section(
        f"Yes/no task {design.task}" if design.task else "Yes/no task",
        lead=lead,
        tables=tables,
        figures=judgement_figures(design, results.estimates, labels, correlation),
        notes=design.assumptions,
    )


def with_decisions(wide: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """The wide table with the decision of the tests of the floor, ``not tested`` where there is none."""
    decided = tests[tests["alternative"] == "greater"].set_index("model")["decision"]
    return wide.assign(decision=wide["model"].map(decided).fillna("not tested"))


def judgement_figures(
    design: TaskDesign, estimates: pd.DataFrame, labels: Mapping[str, str], correlation: str
) -> tuple[Figure, ...]:
    """Floor against |bias|, and the accuracies of the two classes."""
    return (
        class_accuracy_figure(estimates, name=table_name("class_accuracy", design), labels=labels, subject=design.task),
        floor_bias_figure(
            estimates,
            name=table_name("floor_bias", design),
            labels=labels,
            subject=design.task,
            correlation=correlation,
        ),
    )


def tests_table(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> Table:
    """Is the floor above or below .5? One row per model."""
    above = results.tests[results.tests["alternative"] == "greater"]
    below = results.tests[results.tests["alternative"] == "less"].set_index("model")
    moved = {f"below_{name}": below[name] for name in ("p_value", "p_adjusted", "p_adjust_method", "family_size")}
    floor = results.estimates[results.estimates["measure"] == "competence_floor"].set_index("model")
    limits = floor[["ci_low", "ci_high", "ci_level", "ci_method", "min_bias_if_tied", "unit"]]
    wide = above.set_index("model").assign(**moved).join(limits).reset_index()
    untested, no_gap = wide["p_value"].isna(), wide["min_bias_if_tied"].isna()
    wide["reason"] = wide["reason"].where(~untested | (wide["reason"] != ""), UNEXPLAINED)
    why = wide["model"].map(floor["reason"]).fillna("").replace("", "no standard error of the bias")
    wide["min_bias_if_tied_reason"] = why.where(no_gap, "")
    wide = wide.assign(label=[labels.get(str(m), str(m)) for m in wide["model"]])
    ci_level = float(floor["ci_level"].iloc[0])
    spec = TableSpec(
        table_name("floor_tests", design),
        title="Is the competence floor above .5?" + (f" {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Floor", digits=3),
            PValue("p_value", "p (above)"),
            PValue("p_adjusted", "Holm (above)"),
            PValue("below_p_value", "p (below)"),
            PValue("below_p_adjusted", "Holm (below)", method="below_p_adjust_method", family="below_family_size"),
            Decision("decision", "Floor is", labels=DECISIONS),
            Number("min_bias_if_tied", "Min bias", digits=3),
            Count("n_clusters", "Units"),
        ),
        order=("-estimate", "label"),
        note=(
            "Above: both class accuracies exceed .5 (intersection-union). Below: one of them is under .5, the smaller "
            "p doubled. Min bias: by how much the plug-in floor (the smaller of the two observed accuracies) is too "
            "low on average if the two accuracies are equal. Under the treatment 'incorrect' a coin that leaves a "
            "share u unanswered has floor .5(1 − u): a floor below .5 is then no evidence of bias. "
            f"Above is a one-sided test at {level(1 - ci_level)}, adjusted over models; the {level(ci_level)} "
            "intervals are two-sided and of single models. A floor can therefore be shown above .5 though its interval "
            "holds .5, and be undecided though its interval does not."
        ),
        bold_where=(Where("decision", "==", "above", meaning="above .5"),),
    )
    return Table(spec, wide, simulated=design.simulated)


def uncertain_table(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> Table:
    """The floor and the bias under every treatment of uncertain answers, with their bounds."""
    rows = _wide_bounds(results, labels)
    for treatment, estimates in results.other_treatments.items():
        for measure, short in (("competence_floor", "floor"), ("answer_bias", "bias")):
            rows = rows.assign(**_mapped(rows["model"], estimates, measure, f"{short}_{treatment}"))
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
            Proportion("floor_low", "min"),
            Proportion("floor_high", "max"),
            *(Signed(f"bias_{t}", t, digits=2) for t in results.other_treatments),
            Signed("bias_low", "min", digits=2),
            Signed("bias_high", "max", digits=2),
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
        order=("-competence_floor", "label"),
        note=(
            "Min and max are bounds over everything planned, not intervals. Of the floor: all lost answers "
            "(unreadable, errored or missing) are wrong, or all are right. Of the bias, bounds that mix the classes: "
            "min, all lost answers are wrong where Yes is right and right where No is right; max, the other way "
            "round. Excluding uncertain answers conditions on having answered."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def _wide_bounds(results: JudgementResults, labels: Mapping[str, str]) -> pd.DataFrame:
    """One row per model: share of uncertain answers, lowest and highest floor and bias."""
    models = pd.Series(dict.fromkeys(results.estimates["model"].astype(str)).keys(), name="model")
    rows = pd.DataFrame({"model": models, "label": [labels.get(m, m) for m in models]})
    for name in ("uncertain_rate", "competence_floor"):
        rows = rows.assign(**_mapped(models, results.estimates, name, name))
    for measure, short in (("competence_floor", "floor"), ("answer_bias", "bias")):
        part = results.bounds[results.bounds["measure"] == measure].set_index("model")
        for end in ("low", "high"):
            rows[f"{short}_{end}"] = rows["model"].map(part[f"bound_{end}"])
    undefined = rows[["floor_low", "bias_low"]].isna().any(axis=1)
    return rows.assign(reason=undefined.map({True: "no response of this model in a class that this needs", False: ""}))


def _mapped(models: pd.Series, estimates: pd.DataFrame, measure: str, name: str) -> dict[str, pd.Series]:
    """Column ``name`` with a measure by model, and ``<name>_reason`` with the reason of each missing value."""
    part = estimates[estimates["measure"] == measure].set_index("model")
    values = models.map(part["estimate"])
    reasons = models.map(part["reason"]).fillna("").replace("", UNEXPLAINED)
    return {name: values, f"{name}_reason": reasons.where(values.isna(), "")}


def _design_sentence(design: TaskDesign, estimates: pd.DataFrame) -> str:
    units = f"{counted(design.n_units, 'independent unit')} ({design.unit})"
    unit = "each item is its own unit" if design.unit_is_item else units
    return f"{read_and_used(design, estimates)}; {unit}."


def _counts_sentence(results: JudgementResults) -> str:
    tests, ci_level = results.tests, float(results.estimates["ci_level"].iloc[0])
    decisions = tests[tests["alternative"] == "greater"]["decision"].value_counts()
    said = [
        f"{int(decisions.get(key, 0))} {label}"
        for key, label in DECISIONS.items()
        if key != "not tested" or key in decisions
    ]
    return (
        f"Competence floor, one-sided tests at {level(1 - ci_level)}, Holm-adjusted over models: {', '.join(said)}. "
        f"The printed intervals ({level(ci_level)}) are two-sided: one may hold .5 where the floor is shown above it."
    )
