"""Tables on the fits of incoherence: do fresh data look like the data, and what do other priors give?"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.bayes.incoherence_predictive import CLIP_CHECK
from analysis.bayes.incoherence_result import LINKED, MCMC, IncoherenceFit
from analysis.report.columns import Column, Number, Proportion, Text
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_tables import title_of
from analysis.studies.wide_table import UNEXPLAINED, table_name

#: Check -> heading.
CHECKS = {
    "share of instances at 0 throughout": "At 0 throughout",
    "excess kurtosis of the means": "Kurtosis",
    "largest absolute mean": "Largest mean",
    "correlation of log deviation and absolute mean": "Noise and size",
}
#: Prior of a refit -> heading; the default's column is first.
PRIORS = {
    "": "Default",
    "slab scale x 2": "Slab × 2",
    "sceptic: share one prior sd lower": "Sceptic",
    "noise spread x 2": "Noise spread × 2",
}


def check_tables(design: TaskDesign, fit: IncoherenceFit, labels: Mapping[str, str]) -> tuple[Table, ...]:
    """Predictive checks and refits of SSL; nothing where no model was fitted."""
    if fit.predictive.empty or fit.refits.empty:
        return ()
    return predictive_table(design, fit, labels), priors_table(design, fit, labels)


def check_data(design: TaskDesign, fit: IncoherenceFit) -> dict[str, pd.DataFrame]:
    """What the tables were made from, with all other checks, priors and quantities, by file stem."""
    found = {
        "incoherence_checks": fit.predictive,
        "incoherence_priors": fit.refits,
        "incoherence_sensitivity": fit.sensitivity,
    }
    return {name: table.assign(task=design.task) for name, table in found.items() if len(table)}


def predictive_table(design: TaskDesign, fit: IncoherenceFit, labels: Mapping[str, str]) -> Table:
    """Tail of every posterior predictive check, one row per model."""
    checks = fit.predictive[(fit.predictive["variant"] == LINKED) & (fit.predictive["check"] != CLIP_CHECK)]
    wide = checks.pivot(index="model", columns="check", values="tail").reset_index()
    rows = wide.assign(label=_names(wide, labels), reason=[_problem(fit, model) for model in wide["model"]])
    rows.loc[rows["reason"] != "", list(CHECKS)] = None
    spec = TableSpec(
        table_name("incoherence_checks", design),
        title=title_of("Do fresh data from SSL look like the data?", design),
        columns=(
            Text("label", "Model"),
            *(Proportion(name, head, reason="reason") for name, head in CHECKS.items()),
        ),
        order=("label",),
        note="Twice the smaller share of fresh data sets from the posterior that lie beyond the observed value: below "
        ".05 the model does not produce such data. At 0 throughout: share of instances without any residual; kurtosis "
        "and largest absolute value of the mean residuals; noise and size: correlation of log deviation and absolute "
        "mean.",
    )
    return Table(spec, rows, simulated=design.simulated)


def priors_table(design: TaskDesign, fit: IncoherenceFit, labels: Mapping[str, str]) -> Table:
    """Persistent incoherence of these instances under every prior, one row per model."""
    whole = (fit.table["item_family"].fillna("") == "") & (fit.table["level"].fillna("") == "")
    default = fit.table[whole & (fit.table["variant"] == LINKED)].assign(prior="")
    both = pd.concat([default, fit.refits], ignore_index=True)
    both = both[(both["measure"] == "persistent") & (both["target"] == "these")]
    sensitivity = fit.sensitivity
    if len(sensitivity):
        sensitivity = sensitivity[(sensitivity["measure"] == "persistent") & (sensitivity["target"] == "these")]
    diagnosis = dict(zip(sensitivity["model"], sensitivity["diagnosis"], strict=True)) if len(sensitivity) else {}
    rows = [_prior_row(str(model), part, fit) for model, part in both.groupby("model", sort=True)]
    table = pd.DataFrame(rows)
    table = table.assign(
        label=_names(table, labels), diagnosis=[diagnosis.get(m, "it never moves") for m in table["model"]]
    )
    columns: list[Column] = [Text("label", "Model")]
    for at, head in enumerate(PRIORS.values()):
        columns += [
            Number(f"estimate{at}", head, reason=f"reason{at}"),
            Proportion(f"p_present{at}", "P(above .10)", reason=f"reason{at}"),
        ]
    spec = TableSpec(
        table_name("incoherence_priors", design),
        title=title_of("Persistent incoherence under other priors, SSL", design),
        columns=(*columns, Text("diagnosis", "Scaling the prior's power")),
        order=("label",),
        note="Medians in log-odds, these instances, each with its probability. Slab × 2: instances may be twice as "
        "incoherent; sceptic: a smaller share of "
        "them is, by one sd of the prior; noise spread × 2: noise may differ twice as much between instances. Refits "
        "have two chains.",
    )
    return Table(spec, table, simulated=design.simulated)


def _prior_row(model: str, rows: pd.DataFrame, fit: IncoherenceFit) -> dict[str, Any]:
    by_prior = {str(row["prior"]): row for row in rows.to_dict("records")}
    failed = _problem(fit, model)
    made: dict[str, Any] = {"model": model}
    for at, prior in enumerate(PRIORS):
        one = by_prior.get(prior, {"reason": "not fitted"})
        shown = not failed and pd.notna(one.get("estimate"))
        made |= {f"{name}{at}": one[name] if shown else None for name in ("estimate", "p_present")}
        made[f"reason{at}"] = "" if shown else failed or one.get("reason") or UNEXPLAINED
    return made


def _problem(fit: IncoherenceFit, model: object) -> str:
    """Why the numbers of a model's SSL may not be read; empty where they may."""
    found = fit.glance[(fit.glance["variant"] == LINKED) & (fit.glance["model"] == model)]
    return "".join(MCMC + str(reason) for reason in found["reason"] if reason)


def _names(rows: pd.DataFrame, labels: Mapping[str, str]) -> list[str]:
    return [labels.get(str(model), str(model)) for model in rows["model"]]
