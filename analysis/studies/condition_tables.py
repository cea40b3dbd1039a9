"""Tables that compare the levels of a condition."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.report.columns import Count, Decision, Estimate, Number, Proportion, PValue, Signed, Text
from analysis.report.numbers import counted
from analysis.report.spec import OrderBy, Table, TableSpec, Where
from analysis.studies.answers import labelled, unit_name
from analysis.studies.context import TaskContext
from analysis.studies.interval_and_test import disagreement_note
from analysis.studies.summary import listed
from analysis.studies.wide_table import table_name

DECISIONS = {
    "equivalent": "equivalent",
    "difference": "different",
    "undecided": "undecided",
    "not tested": "not tested",
}
DECISION_HELP = (
    "equivalent where two one-sided tests at .05 place the difference within ±0.02, different where its interval lies "
    "beyond ±0.02 and Holm's p is at most .05, undecided otherwise"
)
#: With fewer models, the limiting distribution behind Nemenyi's comparisons is no good guide (Demšar 2006 asks for
#: more than ten).
LEAST_RANKED = 10
_FEW_RANKED = (
    " These p-values come from the limit of many models and are rough for so few: they support no claim by themselves."
)


def accuracy_table(
    context: TaskContext, accuracies: pd.DataFrame, factor: str, levels: Sequence[str], measure: str
) -> Table:
    """Accuracy, or mean score, of each model under each level, with intervals."""
    rows = []
    for model, group in accuracies.groupby("model", sort=True):
        row: dict[str, object] = {"model": model, "mean": group["estimate"].mean(), "unit": group["unit"].iloc[0]}
        row |= {"ci_level": context.ci_level, "ci_method": group["ci_method"].iloc[0]}
        for found in group.to_dict("records"):
            at = levels.index(str(found["level"]))
            row |= {f"a{at}": found["estimate"], f"a{at}_low": found["ci_low"], f"a{at}_high": found["ci_high"]}
            row[f"a{at}_reason"] = found["reason"]
        rows.append(row)
    spec = _spec(
        context,
        f"{factor}_accuracy",
        f"{measure.capitalize()} by {factor}",
        (
            Text("label", "Model"),
            *(Estimate(f"a{i}", level, low=f"a{i}_low", high=f"a{i}_high", digits=3) for i, level in enumerate(levels)),
        ),
        order=("-mean", "label"),
        note="Other conditions together; every answer weighs the same.",
    )
    return Table(spec, labelled(pd.DataFrame(rows), context.labels), simulated=context.design.simulated)


def overall_table(context: TaskContext, overall: pd.DataFrame, factor: str) -> Table:
    """Friedman's test over models, and over configurations as if they were independent."""
    spec = _spec(
        context,
        f"{factor}_friedman",
        f"Do the levels of {factor} differ? Friedman's test",
        (
            Text("unit", "Taken as independent"),
            Count("n_clusters", "n"),
            Number("statistic", "χ²", digits=2),
            Number("df", "df", digits=0),
            PValue("p_value", "p"),
            Text("p_method", "by"),
            Proportion("estimate", "W", help="Kendall's W: 0 no agreement on the order of levels, 1 complete"),
            Count("n_set_aside", "Left out", help="units that lack a level"),
            Count("n_tied", "With ties"),
        ),
        note=(
            "Several configurations (such as temperatures) of one model are no further units: the second row is what "
            "is printed when they are taken for it."
        ),
    )
    ranks = str(overall["mean_ranks"].iloc[0])
    notes = (f"Mean ranks over models, 1 the lowest: {ranks}.",) if ranks else ()
    return Table(spec, overall.drop(columns=["test"]), notes=notes, simulated=context.design.simulated)


def pairs_table(context: TaskContext, pairs: pd.DataFrame, factor: str) -> Table:
    """Pairs of levels over models."""
    rows = pairs.assign(pair=_pair_names(pairs))
    spec = _spec(
        context,
        f"{factor}_pairs",
        f"Differences between levels of {factor}, models as units",
        (
            Text("pair", "First − second"),
            Estimate("estimate", "Difference", digits=3, signed=True),
            PValue("p_value", "t: p"),
            PValue("p_adjusted", "Holm"),
            PValue("p_wilcoxon", "Wilcoxon"),
            PValue("p_sign_flip", "Sign flip"),
            Signed("d_z", "d_z", digits=2),
            Signed("d_av", "d_av", digits=2),
            Decision("decision", "±0.02", labels=DECISIONS, help=DECISION_HELP),
            Count("n_clusters", "Models"),
            PValue("p_naive", "naive p"),
            Count("n_naive", "naive n", help="configurations taken as independent, which they are not"),
        ),
        note=(
            "d_z: mean over the standard deviation of the differences; d_av: over the root mean variance of the two "
            "levels. Wilcoxon: exact, ties and zeros as they are. Naive: paired t test over configurations, several of "
            "which come from one model. Bonferroni and Benjamini-Hochberg adjustments stand in the data file."
        ),
        bold_where=(Where("p_adjusted", "<=", 0.05, cells=("estimate",), meaning="adjusted p at most .05"),),
    )
    notes: tuple[str, ...] = (
        (f"{counted(int(rows['not_run'].iloc[0]), 'test')} could not be run.",) if rows["not_run"].iloc[0] else ()
    )
    unmatched = int(rows["n_unmatched"].max())
    left_out = _not_compared(rows)
    if left_out:
        notes += (f"Not compared, and in no family of tests: {listed(left_out, '; ')}.",)
    if unmatched:
        notes += (f"Up to {unmatched:,} questions of a pair have one of the two levels only and are left out.",)
    return Table(spec, rows, notes=notes, simulated=context.design.simulated)


def _not_compared(pairs: pd.DataFrame) -> list[str]:
    """Pairs of the levels at hand that are not among the pairs compared."""
    compared = [(str(a), str(b)) for a, b in zip(pairs["first"], pairs["second"], strict=True)]
    known = {frozenset(pair) for pair in compared}
    levels = dict.fromkeys(level for pair in compared for level in pair)
    return [f"{a} − {b}" for a, b in combinations(levels, 2) if frozenset((a, b)) not in known]


def ranks_table(context: TaskContext, ranks: pd.DataFrame, factor: str) -> Table:
    """Nemenyi's comparisons."""
    few = int(ranks["n_clusters"].min()) < LEAST_RANKED
    spec = _spec(
        context,
        f"{factor}_nemenyi",
        f"Which levels of {factor} differ in mean rank?",
        (
            Text("pair", "First − second"),
            Signed("estimate", "Mean rank", digits=2),
            PValue("p_adjusted", "Nemenyi p"),
            Count("n_clusters", "Models"),
        ),
        note="After Friedman's test, family-wise over all pairs." + (_FEW_RANKED if few else ""),
    )
    return Table(spec, ranks.assign(pair=_pair_names(ranks)), simulated=context.design.simulated)


def ladder_table(context: TaskContext, steps: pd.DataFrame, factor: str, measure: str) -> Table:
    """The same change with rows, items, units, models as the independent unit."""
    changed = "Only first / only second right" if measure == "accuracy" else "First / second higher"
    rows = steps.assign(pair=_pair_names(steps), step=np.arange(len(steps)))
    discordant = rows["first_only"].astype(str) + " / " + rows["second_only"].astype(str)
    spec = _spec(
        context,
        f"{factor}_units",
        f"One change of {factor}, every choice of the independent unit",
        (
            Text("rung", "Independent unit"),
            Count("n_clusters", "Units"),
            Text("discordant", changed),
            Signed("mean_change", "Mean change", digits=3),
            Number("statistic", "z or t", digits=2),
            PValue("p_value", "p"),
            PValue("p_adjusted", "Holm"),
            Text("test", "Test"),
            Number("deff", "Deff", digits=1, help="variance of the net change over that of independent pairs"),
        ),
        order=("step",),
        groups=("pair",),
        note=(
            "Holm: over the pairs of levels, each unit by itself. Rows: McNemar's test (mid-p), right only if all "
            "pairs are independent. A test with more units than base items or models takes what shares content or "
            "model for independent."
        ),
    )
    return Table(spec, rows.drop(columns="n").assign(discordant=discordant), simulated=context.design.simulated)


def influence_table(context: TaskContext, left: pd.DataFrame, steps: pd.DataFrame, factor: str) -> Table:
    """What remains of each change without the model that moves it most."""
    rows, unit = [], unit_name(context.design)
    for (first, second), group in left.groupby(["first", "second"], sort=False):
        most = group.sort_values(["net", "model"], key=_size).iloc[-1].to_dict()
        whole = steps[(steps["first"] == first) & (steps["second"] == second)]
        base = whole[whole["rung"] == unit].iloc[0]
        worst = float(group["p_value"].max())
        rows.append(most | {"total": float(base["estimate"]), "p_all": float(base["p_value"]), "p_largest": worst})
    table = labelled(pd.DataFrame(rows), context.labels)
    spec = _spec(
        context,
        f"{factor}_without_a_model",
        f"Which model carries the change of {factor}?",
        (
            Text("pair", "First − second"),
            Signed("total", "Net change", digits=0),
            PValue("p_all", "p"),
            Text("label", "Largest part"),
            Signed("net", "its own", digits=0),
            Signed("estimate", "without it", digits=0),
            PValue("p_value", "p without it"),
            PValue("p_largest", "largest p", help="largest p-value when any one model is left out"),
        ),
        note=f"Sum of the changes, first minus second level. Every p: sign flips over the same unit ({unit}).",
    )
    return Table(spec, table.assign(pair=_pair_names(table)).drop(columns="n"), simulated=context.design.simulated)


def by_model_table(context: TaskContext, by_model: pd.DataFrame, factor: str) -> Table:
    """Differences of each model, its units as independent."""
    rows = labelled(by_model, context.labels).assign(pair=_pair_names(by_model))
    rows["decision"] = rows["decision"].where(rows["estimate"].notna(), "not tested")
    spec = _spec(
        context,
        f"{factor}_by_model",
        f"Differences between levels of {factor} by model",
        (
            Text("label", "Model"),
            Proportion("mean_first", "First"),
            Proportion("mean_second", "Second"),
            Estimate("estimate", "Difference", digits=3, signed=True),
            PValue("p_value", "p"),
            PValue("p_adjusted", "Holm"),
            Decision("decision", "±0.02", labels=DECISIONS, help=DECISION_HELP),
            Count("n_matched", "Pairs"),
            Count("n_clusters", "Units"),
        ),
        groups=("pair",),
        order=(OrderBy("pair"), "-estimate", "label"),
        note="p: sign flips over unit means. Pairs: questions answered under both levels, other conditions equal.",
        bold_where=(Where("p_adjusted", "<=", 0.05, cells=("estimate",), meaning="adjusted p at most .05"),),
    )
    missing = int((rows["n_unmatched"] > 0).sum())
    notes: tuple[str, ...] = ()
    if missing:
        notes = (f"{missing} rows have questions with one level only, left out.",)
    notes += disagreement_note(rows, ci_level=context.ci_level)
    return Table(spec, rows, notes=notes, simulated=context.design.simulated)


def _spec(context: TaskContext, name: str, title: str, columns: tuple, **options: object) -> TableSpec:
    design = context.design
    subject = f": {design.task}" if design.task else ""
    return TableSpec(table_name(name, design), title=title + subject, columns=columns, **options)  # type: ignore[arg-type]


def _pair_names(table: pd.DataFrame) -> list[str]:
    return [f"{a} − {b}" for a, b in zip(table["first"], table["second"], strict=True)]


def _size(column: pd.Series) -> pd.Series:
    return column.abs() if column.name == "net" else column
