"""Tables of belief bias by both schools: comparison, levels of conditions, posterior, consistency, priors."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from analysis.bayes.belief_bias_priors import BeliefPriors, prior_table
from analysis.bayes.belief_bias_result import NEW_MODEL, BeliefBiasFit
from analysis.comparison.schools import Thresholds
from analysis.report.columns import Count, Estimate, Number, Proportion, Text
from analysis.report.numbers import fixed
from analysis.report.spec import OrderBy, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.comparison_table import (
    BAYES_SPANNER,
    DECISION_SPANNER,
    DECISIONS,
    DIFFERENCE_SPANNER,
    DIFFERENCES,
    UNEXPLAINED_ROWS,
    missing_reasons,
    reasons_legend,
)
from analysis.studies.wide_table import UNEXPLAINED, table_name, titled

HEADINGS: Final = {
    "belief_bias": "Belief bias",
    "discrimination_difference": "Difference of discrimination",
    "accuracy": "Accuracy",
}
_LIMITS: Final = Thresholds()
_SHOWN: Final = ("belief_bias", "endorsement_log_odds_shift", "endorsement_log_odds_interaction", "consistency_all")


def schools_table(
    design: TaskDesign,
    comparison: pd.DataFrame,
    estimates: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    mark: str = "",
) -> Table:
    """Three columns on belief bias, the difference of discrimination and accuracy, with decisions and verdict."""
    own = estimates[["model", "measure", "ci_level", "ci_method", "n", "n_clusters", "unit", "reason"]]
    rows = comparison.merge(own.rename(columns={"reason": "own_reason"}), on=["model", "measure"], how="left")
    rows = _prepared(rows, labels).assign(heading=rows["measure"].map(HEADINGS))
    spec = TableSpec(
        table_name("belief_schools", design),
        title=titled("Belief bias and accuracy, frequentist and Bayesian", design, mark),
        columns=_columns(),
        spanners=_SPANNERS,
        groups=("heading",),
        order=(OrderBy("measure", levels=tuple(HEADINGS)), "-estimate", "label"),
        note=_note(rows, design, "0 (belief bias, discrimination) or .5 (accuracy)"),
        bold_where=UNEXPLAINED_ROWS,
    )
    return Table(spec, rows, simulated=design.simulated)


def levels_table(
    design: TaskDesign,
    comparison: pd.DataFrame,
    by_model: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    mark: str = "",
) -> Table:
    """Three columns on the accuracy under one level of a condition minus another, by model."""
    keys = ["factor", "first", "second", "model"]
    own = by_model[[*keys, "ci_level", "ci_method", "n_clusters", "n_matched", "unit", "reason"]]
    own = own.rename(columns={"reason": "own_reason", "n_matched": "n"})
    rows = comparison.merge(own, on=keys, how="left")
    pairs = rows["factor"] + ": " + rows["first"] + " − " + rows["second"]
    rows = _prepared(rows, labels).assign(heading=pairs)
    spec = TableSpec(
        table_name("level_schools", design),
        title=titled("Levels of conditions by model, frequentist and Bayesian", design, mark),
        columns=_columns(signed=True),
        spanners=_SPANNERS,
        groups=("heading",),
        order=("heading", "-estimate", "label"),
        note="Accuracy under the first level minus that under the second, over questions answered under both. "
        + _note(rows, design, "0"),
        bold_where=UNEXPLAINED_ROWS,
    )
    return Table(spec, rows, simulated=design.simulated)


def new_model_levels_table(design: TaskDesign, fit: BeliefBiasFit, *, mark: str = "") -> Table | None:
    """Levels of conditions for a model drawn like these; None where one model says nothing of others."""
    rows = fit.contrasts[fit.contrasts["model"] == NEW_MODEL]
    if rows.empty:
        return None
    known = rows["estimate"].notna()
    rows = rows.assign(
        label=rows["factor"] + ": " + rows["first"] + " − " + rows["second"],
        p_direction_reason=rows["reason"].where(~known, ""),
    ).drop(columns=["n", "n_clusters"])  # it answered nothing
    spec = TableSpec(
        table_name("belief_levels_new_model", design),
        title=titled("Levels of conditions for a new model, new items", design, mark),
        columns=(
            Text("label", "First − second level"),
            Estimate("estimate", "Difference in accuracy", digits=3, signed=True),
            Proportion("p_direction", "P(direction)", reason="p_direction_reason"),
        ),
        order=("label",),
        note=(
            "A prediction for a model like these, which are no random sample of any population: the spread of the "
            "condition's effect between models enters. P(direction): posterior probability of the more probable sign."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def posterior_table(design: TaskDesign, fit: BeliefBiasFit, labels: Mapping[str, str], *, mark: str = "") -> Table:
    """Medians by model: bias with the probability of its sign, shift and interaction, consistency; and a new model."""
    rows = []
    for model, own in fit.table.groupby("model", sort=False):
        by_measure = own.set_index("measure")
        row: dict[str, Any] = {
            "model": model,
            "label": labels.get(str(model), str(model)),
            "last": int(model == NEW_MODEL),
        }
        row |= {"n": int(own["n"].max()), "ci_level": own["ci_level"].iloc[0]}
        for name in _SHOWN:
            found: dict[Any, Any] = {"reason": "not part of a new model"}
            if name in by_measure.index:
                found = by_measure.loc[name].to_dict()
            row |= {f"{name}{end}": found.get(column) for end, column in _ENDS.items()}
            row[f"{name}_reason"] = (found["reason"] or UNEXPLAINED) if pd.isna(found.get("estimate")) else ""
        row["p_direction"] = by_measure.loc["belief_bias", "p_direction"] if "belief_bias" in by_measure.index else None
        row["p_direction_reason"] = row["belief_bias_reason"]
        rows.append(row)
    heads = ("Bias", "Shift (log-odds)", "Interaction (log-odds)", "All versions alike")
    spec = TableSpec(
        table_name("belief_posterior", design),
        title=titled("Posterior of belief bias and consistency, new items", design, mark),
        columns=(
            Text("label", "Model"),
            _estimate(_SHOWN[0], heads[0], signed=True),
            Proportion("p_direction", "P(direction)", reason="p_direction_reason"),
            *(_estimate(name, head, signed=True, digits=2) for name, head in zip(_SHOWN[1:3], heads[1:3], strict=True)),
            _estimate(_SHOWN[3], heads[3]),
            Count("n", "n"),
        ),
        order=("last", f"-{_SHOWN[0]}", "label"),
        note=(
            "Effects of items and versions are integrated: these models, new items. P(direction): posterior "
            "probability of the more probable sign of the bias. All versions alike: chance that one answer to each "
            f"version of a new item are all the same. The row “{NEW_MODEL}” is a prediction for a model drawn like "
            "these, whom nobody drew as a sample."
        ),
    )
    return Table(spec, pd.DataFrame(rows).assign(reason=""), simulated=design.simulated)


def consistency_table(
    design: TaskDesign, fit: BeliefBiasFit, estimates: pd.DataFrame, labels: Mapping[str, str], *, mark: str = ""
) -> Table | None:
    """Consistency of single answers by both schools; None without versions."""
    own = estimates[estimates["measure"] == "consistency_all"]
    posterior = fit.table[fit.table["measure"] == "consistency_all"].set_index("model")
    if own.empty or posterior.empty:
        return None
    rows = own.assign(label=[labels.get(str(m), str(m)) for m in own["model"]])
    for name in ("estimate", "ci_low", "ci_high", "ci_method", "reason"):
        rows[f"pooled_{name}"] = rows["model"].map(posterior[name])
    if fit.status != "ok":
        rows = rows.assign(pooled_estimate=None, pooled_ci_low=None, pooled_ci_high=None, pooled_reason=fit.reason)
    for prefix in ("", "pooled_"):
        reason = rows[f"{prefix}reason"].replace("", UNEXPLAINED)
        rows[f"{prefix}estimate_reason"] = reason.where(rows[f"{prefix}estimate"].isna(), "")
    spec = TableSpec(
        table_name("consistency_schools", design),
        title=titled("Consistency of single answers, frequentist and Bayesian", design, mark),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Frequentist", digits=3),
            Estimate("pooled_estimate", "Hierarchical", low="pooled_ci_low", high="pooled_ci_high",
                     method="pooled_ci_method", digits=3),
            Count("n", "Sets"),
            Count("n_clusters", "Units"),
        ),
        order=("-estimate", "label"),
        note="Chance that one answer (one vote) to each version of a base item are all the same. Frequentist: from the "
        "shares of the votes; hierarchical: new items. Majorities of several votes agree more often.",
    )  # fmt: skip
    return Table(spec, rows, simulated=design.simulated)


def belief_priors_table(design: TaskDesign, priors: BeliefPriors) -> Table:
    """Every prior with its meaning in probabilities."""
    rows = [{"prior": name, "value": value, "meaning": meaning} for name, value, meaning in prior_table(priors)]
    spec = TableSpec(
        table_name("belief_priors", design),
        title=titled("Priors of the endorsement model", design, ""),
        columns=(Text("prior", "Prior"), Number("value", "Value", digits=2), Text("meaning", "Meaning")),
        note="On the log-odds scale.",
    )
    return Table(spec, pd.DataFrame(rows), simulated=design.simulated)


_ENDS: Final = {"": "estimate", "_low": "ci_low", "_high": "ci_high", "_method": "ci_method"}
_SPANNERS: Final = (BAYES_SPANNER, DIFFERENCE_SPANNER, DECISION_SPANNER)


def _estimate(name: str, head: str, *, signed: bool = False, digits: int = 3) -> Estimate:
    return Estimate(
        name,
        head,
        low=f"{name}_low",
        high=f"{name}_high",
        method=f"{name}_method",
        reason=f"{name}_reason",
        signed=signed,
        digits=digits,
    )


def _columns(*, signed: bool = False) -> tuple:
    return (
        Text("label", "Model"),
        Estimate("estimate", "Frequentist", method="method", digits=3, signed=signed),
        Estimate("unpooled_estimate", "Unpooled", low="unpooled_ci_low", high="unpooled_ci_high",
                 method="unpooled_method", digits=3, signed=signed),
        Estimate("pooled_estimate", "Hierarchical", low="pooled_ci_low", high="pooled_ci_high",
                 method="pooled_method", digits=3, signed=signed),
        *DIFFERENCES,
        *DECISIONS,
    )  # fmt: skip


def _prepared(rows: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Rows with names, interval methods and a reason for every missing number."""
    return rows.assign(
        **missing_reasons(rows),
        label=[labels.get(str(model), str(model)) for model in rows["model"]],
        printed_code=rows["code"].replace("", "none"),
        method=rows["ci_method"],
        unpooled_method="eti",
        pooled_method="eti",
        expected_se=rows["expected_se"].fillna(0.0),
    )


def _note(rows: pd.DataFrame, design: TaskDesign, reference: str) -> str:
    rope = fixed(_LIMITS.rope, 2)
    return (
        "All columns are about single readable answers (votes), uncertain ones excluded. Unpooled: each model by "
        "itself, independent cells with a Jeffreys prior, votes taken as independent given their cell though they "
        "share base items (narrower than the frequentist column where they cluster), levels of a condition too though "
        "they share questions (wider where answers pair). Hierarchical: these models, new items. Difference: "
        "hierarchical minus frequentist in standard errors, and what partial pooling is expected to do; width ratio: "
        "hierarchical interval over frequentist. Decisions: frequentist by the interval; Bayesian where the posterior "
        f"probability of lying more than {rope} beyond {reference} exceeds "
        f"{_LIMITS.credibility:g}; negligible where that of lying within {rope} does." + reasons_legend(rows)
    )
