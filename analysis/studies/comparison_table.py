"""The two schools side by side: one row per model and measure, what they decide, and why they differ."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from analysis.comparison.reasons import WORDS, Reason
from analysis.comparison.schools import Thresholds
from analysis.report.columns import Decision, Estimate, Number, Signed, Text
from analysis.report.content import Figure
from analysis.report.escape import shortened
from analysis.report.figures.forest import forest_figure
from analysis.report.numbers import counted, fixed
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec, Where
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.studies.summary import listed, sentence
from analysis.studies.wide_table import UNEXPLAINED, table_name, titled

#: Measures printed where the study names none, and how they are headed.
PRIMARY: Final = ("competence_floor", "answer_bias", "polarity_sensitivity")
HEADINGS: Final[dict[str, str]] = {
    "acc_yes": "Accuracy where Yes is right",
    "acc_no": "Accuracy where No is right",
    "balanced_accuracy": "Balanced accuracy",
    "answer_bias": "Answer bias",
    "polarity_sensitivity": "Polarity sensitivity",
    "validity_contrast": "Validity contrast",
    "competence_floor": "Competence floor",
    "cell_floor": "Cell floor",
}
DECIDED: Final = {
    "above": "above",
    "below": "below",
    "equivalent": "negligible",
    "undecided": "undecided",
    "not tested": "not tested",
    "": "not shown",
}
VERDICTS: Final = {
    "agree": "agree",
    "explained": "differ, explained",
    "differ": "differ, unexplained",
    "not compared": "not compared",
    "not shown": "not shown",
}
#: What every table of both schools says of a row: by how much they differ, and what they decide.
DIFFERENCES: Final = (
    Signed("difference_se", "found"),
    Signed("expected_se", "expected"),
    Number("width_ratio", "Width ratio"),
)
CONCLUSIONS: Final = (Decision("verdict", "Verdict", labels=VERDICTS), Text("printed_code", "Reason"))
DECISIONS: Final = (
    Decision("decision", "Freq.", labels=DECIDED),
    Decision("pooled_decision", "Bayes", labels=DECIDED),
    *CONCLUSIONS,
)
DIFFERENCE_SPANNER: Final = Spanner("Difference (SE)", ("difference_se", "expected_se"))
DECISION_SPANNER: Final = Spanner("Decision", ("decision", "pooled_decision"))
BAYES_SPANNER: Final = Spanner("Bayes", ("unpooled_estimate", "pooled_estimate"))
UNEXPLAINED_ROWS: Final = (Where("verdict", "==", "differ", meaning="= differ, unexplained"),)
#: Most characters of a model's name within a sentence.
_SHORT: Final = 32
_LIMITS: Final = Thresholds()


def primary_measures(study: Study, comparison: pd.DataFrame) -> tuple[str, ...]:
    """Measures to print: those that the study names, or the report's own choice, as far as they were compared."""
    found = set(comparison["measure"])
    named = tuple(name for name in study.report.primary if name in found)
    return named or tuple(name for name in PRIMARY if name in found)


def comparison_table(
    design: TaskDesign,
    comparison: pd.DataFrame,
    estimates: pd.DataFrame,
    measures: tuple[str, ...],
    labels: Mapping[str, str],
    *,
    mark: str = "",
) -> Table:
    """Three columns on each primary measure, with decisions, verdict and reason."""
    rows = _prepared(comparison[comparison["measure"].isin(measures)], estimates, labels)
    spec = TableSpec(
        table_name("schools", design),
        title=titled("Frequentist and Bayesian estimates beside each other", design, mark),
        columns=(
            Text("label", "Model"),
            _column("", "Frequentist"),
            _column("unpooled_", "Unpooled"),
            _column("pooled_", "Hierarchical"),
            *DIFFERENCES,
            *DECISIONS,
        ),
        spanners=(BAYES_SPANNER, DIFFERENCE_SPANNER, DECISION_SPANNER),
        groups=("heading",),
        order=(OrderBy("measure", levels=measures), "-estimate", "label"),
        note=_note(rows),
        bold_where=UNEXPLAINED_ROWS,
    )
    return Table(spec, rows, simulated=design.simulated)


def forests(
    design: TaskDesign,
    comparison: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    ci_level: float,
    remark: str = "",
) -> tuple[Figure, ...]:
    """Forests of the floor and of the answer bias."""
    found = []
    for measure, short, axis, reference in (
        ("competence_floor", "floor", "competence floor, min(Acc(Yes), Acc(No))", 0.5),
        ("answer_bias", "bias", "answer bias, Acc(Yes) − Acc(No)", 0.0),
    ):
        rows = comparison[comparison["measure"] == measure]
        title = f"{HEADINGS[measure]}: frequentist and Bayesian" + (f": {design.task}" if design.task else "")
        found.append(
            forest_figure(
                rows,
                name=table_name(f"forest_{short}", design),
                title=title,
                axis=axis,
                reference=reference,
                ci_level=ci_level,
                labels=labels,
                remark=remark,
            )
        )
    return tuple(found)


def comparison_sentences(
    comparison: pd.DataFrame, measures: tuple[str, ...], labels: Mapping[str, str], *, where: str = ""
) -> tuple[str, ...]:
    """Where the two schools agree on the primary measures, where they do not, and why."""
    rows = comparison[comparison["measure"].isin(measures) & ~comparison["verdict"].isin(["not compared"])]
    if rows.empty or (rows["verdict"] == "not shown").all():
        return ()
    apart = rows[[not same_decision(a, b) for a, b in zip(rows["decision"], rows["pooled_decision"], strict=True)]]
    verdicts = rows["verdict"].value_counts()
    names = ", ".join(HEADINGS[name].lower() for name in measures)
    counts = (
        f"frequentist and hierarchical Bayesian columns decide alike on {len(rows) - len(apart)} of "
        f"{counted(len(rows), 'estimate')} ({names}); numbers agree on {int(verdicts.get('agree', 0))}, "
        f"{int(verdicts.get('explained', 0))} differ for a known reason, {int(verdicts.get('differ', 0))} without one"
    )
    said = [sentence(where, counts)]
    for code, group in apart.groupby("code", sort=True):
        named = listed([_disagreement(row, labels) for row in group.to_dict("records")], "; ")
        why = f": {WORDS[Reason(str(code))]}" if code else ""
        said.append(sentence(where, f"they decide differently (frequentist, Bayesian) on {named}{why}"))
    return tuple(said)


def same_decision(decision: str, pooled: str) -> bool:
    """Whether two decisions say the same; a negligible value is one that the frequentist column leaves undecided."""
    return decision == pooled or (decision, pooled) == ("undecided", "equivalent")


def _disagreement(row: Mapping[Any, Any], labels: Mapping[str, str]) -> str:
    label = shortened(labels.get(str(row["model"]), str(row["model"])), _SHORT, len)
    decisions = f"{DECIDED[row['decision']]}, {DECIDED[row['pooled_decision']]}"
    return f"{HEADINGS[row['measure']].lower()} of {label} ({decisions})"


def _column(prefix: str, header: str) -> Estimate:
    return Estimate(
        f"{prefix}estimate",
        header,
        low=f"{prefix}ci_low",
        high=f"{prefix}ci_high",
        method=f"{prefix}method",
        digits=3,
    )


def _prepared(comparison: pd.DataFrame, estimates: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Rows with names, interval methods and a reason for every missing number."""
    keys = ["model", "measure"]
    own = estimates[[*keys, "ci_level", "ci_method", "n", "n_clusters", "unit", "uncertain", "target", "reason"]]
    own = own.assign(model=own["model"].astype(str)).rename(columns={"ci_method": "method", "reason": "own_reason"})
    rows = comparison.merge(own, on=keys, how="left", validate="one_to_one")
    return rows.assign(
        **missing_reasons(rows),
        label=[labels.get(model, model) for model in rows["model"]],
        heading=rows["measure"].map(HEADINGS),
        printed_code=rows["code"].replace("", "none"),
        unpooled_method="eti",
        pooled_method="eti",
        expected_se=rows["expected_se"].fillna(0.0),
    )


def stored_comparison(
    comparison: pd.DataFrame, own: pd.DataFrame, *, keys: tuple[str, ...] = ("model", "measure"), unpooled: str = ""
) -> pd.DataFrame:
    """A comparison of the schools as the data hold it: with ``<column>_reason`` for every number that is missing.

    Parameters
    ----------
    comparison : DataFrame
        As ``comparison.schools.compare_schools`` returns.
    own : DataFrame
        Frequentist rows with ``reason``, one per ``keys``.
    keys : tuple of str
    unpooled : str
        Why there is no unpooled column; empty where there is one.
    """
    if comparison.empty:
        return comparison
    said = own[[*keys, "reason"]].assign(model=own["model"].astype(str)).rename(columns={"reason": "own_reason"})
    rows = comparison.merge(said, on=list(keys), how="left", validate="one_to_one")
    reasons = missing_reasons(rows)
    if unpooled:
        reasons["unpooled_estimate_reason"] = pd.Series(unpooled, index=rows.index)
    return rows.drop(columns="own_reason").assign(**reasons)


def missing_reasons(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Why numbers of a row are missing: ``reason`` of a fit that failed, ``own_reason`` of the estimate."""
    failed, why = rows["reason"], rows["own_reason"].fillna("").replace("", UNEXPLAINED)
    missing = {
        "estimate": why,
        "unpooled_estimate": why,
        "pooled_estimate": failed.where(failed != "", why),
        "difference_se": failed.where(failed != "", "no standard error to measure a difference by"),
        "width_ratio": failed.where(failed != "", "no interval to compare with"),
    }
    return {f"{name}_reason": given.where(rows[name].isna(), "") for name, given in missing.items()}


def reasons_legend(rows: pd.DataFrame) -> str:
    """The codes that occur, with their words; empty where there are none."""
    used = [Reason(code) for code in dict.fromkeys(rows["code"]) if code]
    legend = "; ".join(f"{code}, {WORDS[code]}" for code in sorted(used, key=list(Reason).index))
    return f" Reasons: {legend}." if legend else ""


def _note(rows: pd.DataFrame) -> str:
    rope = fixed(_LIMITS.rope, 2)
    return (
        "Unpooled: independent cells with a Jeffreys prior, responses taken as independent given their cell; a check "
        "of the software where every unit has one response, and narrower than the frequentist column where units have "
        "several. Hierarchical: "
        "the models inform each other. Difference: hierarchical minus frequentist in standard errors, and what partial "
        "pooling is expected to do; width ratio: hierarchical interval over frequentist. Decisions: frequentist by the "
        "test adjusted over models (floor) or by the interval; Bayesian where the posterior probability of lying more "
        f"than {rope} beyond .5 (accuracies, floors) or 0 (differences) exceeds {_LIMITS.credibility:g}; negligible "
        f"where that of lying within {rope} does. Agree: the same decision, the difference within {_LIMITS.shift:g} SE "
        f"of the expected one, and a width ratio of at most {_LIMITS.wide:g} and at least {_LIMITS.narrow:g} times "
        "what pooling explains." + reasons_legend(rows)
    )
