"""Tables of a fitted hierarchical model: estimates, gates, priors, sensitivity to them, predictive checks."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.accuracy_result import AccuracyFit
from analysis.bayes.belief_bias_result import BeliefBiasFit
from analysis.bayes.priors import Priors, prior_table
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.summaries import RANK
from analysis.report.columns import Count, Estimate, Flag, Number, Proportion, Text
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec, Where
from analysis.schema.task_design import TaskDesign
from analysis.studies.comparison_table import HEADINGS
from analysis.studies.wide_table import UNEXPLAINED, table_name, titled

#: Posterior predictive tail below which a check counts as failed for a model.
_TAIL: Final = 0.05
_DIFFERENCES: Final = ("answer_bias", "polarity_sensitivity", "validity_contrast")
_NEW: Final = "new_templates"


def floors_table(
    design: TaskDesign, fit: AnswerBiasFit, rows: pd.DataFrame, labels: Mapping[str, str], *, mark: str = ""
) -> Table:
    """Posterior of the floor: median, interval, probability of exceeding .5, rank; new templates as a second group.

    ``rows`` are the headline rows of the fit under the treatment of uncertain answers.
    """
    new = fit.table[(fit.table["target"] == _NEW) & (fit.table["uncertain"] == rows["uncertain"].iloc[0])]
    parts = [_with_rank(rows, "these templates, forms and cells" if len(new) else "as asked")]
    if len(new) and not (rows["target"] == _NEW).all():
        parts.append(_with_rank(new, "new templates"))
    table = _described(pd.concat(parts, ignore_index=True), labels)
    ranked = table["rank"].notna().any()
    spec = TableSpec(
        table_name("posterior_floor", design),
        title=titled("Posterior of the competence floor", design, mark),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Median", digits=3),
            Proportion("floor_of_means", "Floor of means"),
            Proportion("p_above", "P(floor > .5)"),
            *((Estimate("rank", "Rank", low="rank_low", high="rank_high", digits=0),) if ranked else ()),
            Count("n", "n"),
        ),
        groups=("heading",) if table["heading"].nunique() > 1 else (),
        order=("order", "-estimate", "label"),
        note=(
            "The posterior mean of a minimum lies below the minimum: the median is printed, and beside it the smaller "
            "of the posterior means of the two accuracies. "
            + ("Rank: 1 is the highest floor; median and interval over draws. " if ranked else "")
            + ("New templates: fresh templates are integrated, forms are kept." if len(new) else "")
        ).strip(),
        bold_where=(Where("p_above", ">", 0.95, cells=("p_above",), meaning="above .95"),),
    )
    return Table(spec, table, simulated=design.simulated)


def differences_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str], *, mark: str = "") -> Table:
    """Posterior of the answer bias and the other differences, with the probability of their sign."""
    table = rows[rows["measure"].isin(_DIFFERENCES)]
    table = _described(table.assign(heading=table["measure"].map(HEADINGS)), labels)
    spec = TableSpec(
        table_name("posterior_differences", design),
        title=titled("Posterior of the answer bias", design, mark),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Median", signed=True, digits=3),
            Proportion("p_direction", "P(direction)"),
            Count("n", "n"),
        ),
        groups=("heading",),
        order=(OrderBy("measure", levels=_DIFFERENCES), "-estimate", "label"),
        note="P(direction): posterior probability of the sign that is more probable, at least .5.",
    )
    return Table(spec, table, simulated=design.simulated)


def gates_table(
    design: TaskDesign,
    fit: AnswerBiasFit | BeliefBiasFit | AccuracyFit,
    *,
    mark: str = "",
    name: str = "sampler_gates",
    title: str = "Checks of the sampler",
) -> Table:
    """What the sampler had to pass, with the worst value and where it was found."""
    spec = TableSpec(
        table_name(name, design),
        title=titled(title, design, mark),
        columns=(
            Text("name", "Check"),
            Text("where", "Worst in"),
            Number("value", "Value", digits=3),
            Number("limit", "Limit", digits=3),
            Flag("passed", "Passed"),
        ),
        note=(
            "R-hat is rank-normalised and includes the folded part; effective sizes and Monte-Carlo errors are those "
            "of every reported quantity. A fit that fails a check is repeated once with more draws; if it fails again, "
            "no number of it is shown."
        ),
        bold_where=(Where("passed", "==", False, meaning="= no"),),
    )
    rows = fit.gates.assign(reason=np.where(fit.gates["value"].isna(), "the quantity never moves", ""))
    return Table(spec, rows, simulated=design.simulated)


def priors_table(design: TaskDesign, priors: Priors, changed: Mapping[str, float]) -> Table:
    """Every prior with its meaning in probabilities."""
    rows = [
        {"prior": name, "value": value, "meaning": meaning, "source": "study.toml" if name in changed else "default"}
        for name, value, meaning in prior_table(priors)
    ]
    spec = TableSpec(
        table_name("priors", design),
        title=titled("Priors of the hierarchical model", design, ""),
        columns=(
            Text("prior", "Prior"),
            Number("value", "Value", digits=2),
            Text("meaning", "Meaning (with its default value)"),
            Text("source", "From"),
        ),
        note="On the log-odds scale. The section [priors] of study.toml changes any of them by name.",
    )
    return Table(spec, pd.DataFrame(rows), simulated=design.simulated)


def sensitivity_table(
    design: TaskDesign, fit: AnswerBiasFit, labels: Mapping[str, str], *, mark: str = ""
) -> Table | None:
    """How far floor and bias move if prior or likelihood gets more weight; None where nothing was estimated."""
    found = fit.sensitivity
    if found.empty:
        return None
    wide: dict[str, dict[str, Any]] = {}
    for row in found.to_dict("records"):
        model, short = str(row["model"]), "floor" if row["measure"] == "competence_floor" else "bias"
        entry = wide.setdefault(model, {"model": model, "label": labels.get(model, model), "diagnosis": ""})
        entry[f"{short}_prior"] = row["prior_sensitivity"]
        entry[f"{short}_data"] = row["likelihood_sensitivity"]
        said = "" if row["diagnosis"].startswith("not ") else f"{short}: {row['diagnosis']}"
        entry["diagnosis"] = "; ".join(part for part in (entry["diagnosis"], said) if part)
    rows = pd.DataFrame(list(wide.values()))
    rows["diagnosis"] = rows["diagnosis"].replace("", "none")
    spec = TableSpec(
        table_name("prior_sensitivity", design),
        title=titled("Sensitivity to the priors", design, mark),
        columns=(
            Text("label", "Model"),
            Number("floor_prior", "prior"),
            Number("floor_data", "data"),
            Number("bias_prior", "prior"),
            Number("bias_data", "data"),
            Text("diagnosis", "Flag"),
        ),
        spanners=(
            Spanner("Floor", ("floor_prior", "floor_data")),
            Spanner("Answer bias", ("bias_prior", "bias_data")),
        ),
        order=("label",),
        note=(
            "Power-scaling: change of the posterior (cumulative Jensen-Shannon distance) per doubling of the weight of "
            "the prior, and of the data. Above .05 for the prior a result is flagged."
        ),
    )
    return Table(spec, _with_reason(rows), simulated=design.simulated)


def predictive_table(
    design: TaskDesign,
    fit: AnswerBiasFit | BeliefBiasFit,
    labels: Mapping[str, str],
    *,
    mark: str = "",
    name: str = "predictive_checks",
    title: str = "Posterior predictive checks",
) -> Table | None:
    """One row per check: how many models lie outside what the fit predicts, and the most unlikely one."""
    if fit.predictive.empty:
        return None
    rows = []
    for check, group in fit.predictive.groupby("check", sort=False):
        worst = group.sort_values(["tail", "model"]).iloc[0]
        rows.append(
            {
                "check": check,
                "models": len(group),
                "outside": int((group["tail"] < _TAIL).sum()),
                "label": labels.get(str(worst["model"]), str(worst["model"])),
                **{name: worst[name] for name in ("observed", "expected", "low", "high", "tail")},
            }
        )
    table = pd.DataFrame(rows).assign(ci_level=0.95, ci_method="eti")
    spec = TableSpec(
        table_name(name, design),
        title=titled(title, design, mark),
        columns=(
            Text("check", "Check"),
            Count("models", "Models"),
            Count("outside", "Outside"),
            Text("label", "Least likely"),
            Number("observed", "Observed", digits=3),
            Estimate("expected", "Simulated", low="low", high="high", digits=3),
            Number("tail", "Tail", digits=3),
        ),
        note=(
            f"Outside: models whose observed value lies in the outer {100 * _TAIL:g}% of the data sets simulated from "
            "the fit; about one in twenty is expected. Tail: twice the smaller share of simulated values beyond the "
            "observed one, of the least likely model."
        ),
    )
    return Table(spec, _with_reason(table), simulated=design.simulated)


def _with_reason(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the reason of a missing number, empty where none is missing."""
    return rows.assign(reason=rows.isna().any(axis=1).map({True: UNEXPLAINED, False: ""}))


def _with_rank(rows: pd.DataFrame, heading: str) -> pd.DataFrame:
    """Rows of the floor with rank and interval of the rank beside them."""
    floor = rows[rows["measure"] == "competence_floor"]
    rank = rows[rows["measure"] == RANK].set_index("model")[["estimate", "ci_low", "ci_high"]]
    rank.columns = ["rank", "rank_low", "rank_high"]
    return floor.join(rank, on="model").assign(heading=f"Competence floor, {heading}", order=int("new" in heading))


def _described(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Rows with the printed name and a reason wherever a number is missing."""
    named = table.assign(label=[labels.get(str(model), str(model)) for model in table["model"]])
    said = named["reason"].where(named["reason"] != "", UNEXPLAINED)
    return named.assign(reason=said.where(named["estimate"].isna(), ""))
