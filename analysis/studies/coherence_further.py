"""Tables beside the main identity: other identities, rewording of single answers, interventions, settings and cost."""

from collections.abc import Mapping

import pandas as pd

from analysis.report.columns import Count, Estimate, Number, Proportion, Signed, Text
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_tables import title_of
from analysis.studies.wide_table import table_name

#: Rows of causal answers that are printed.
CAUSAL_PRINTED = 20


def further_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Every other identity: size of its residuals, or how often and how far its bound is broken."""
    named = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])
    spec = TableSpec(
        table_name("identities", design),
        title=title_of("Other identities", design),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Mean |difference|", digits=3),
            Proportion("broken", "Broken"),
            Number("log_odds", "Mean |r|, log-odds", digits=3),
            Number("persistent", "Persistent", digits=2),
            Count("n", "Instances"),
            Count("n_clusters", "Units"),
        ),
        groups=("identity_name",),
        order=("identity_place", "estimate", "label"),
        note="Difference: observed minus implied probability; of a bound, by how much it is broken, and 0 where "
        "it is kept. Broken: share of instances more than .01 off. The persistent residual needs an equation and "
        "two wordings.",
    )
    return Table(spec, named, simulated=design.simulated)


def rewording_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """How far single answers move when they are asked in other words (paraphrase invariance)."""
    named = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])
    spec = TableSpec(
        table_name("rewording", design),
        title=title_of("Paraphrase invariance: single answers asked in other words", design),
        columns=(
            Text("label", "Model"),
            Text("role", "Answer"),
            Estimate("noise", "Noise, log-odds", low="noise_low", high="noise_high", digits=2),
            Count("n", "Queries"),
            Count("n_clusters", "Units"),
        ),
        order=("label", "role"),
        note="Root mean variance of the log-odds of one query between its wordings; 0 for answers that never move.",
    )
    return Table(spec, named, simulated=design.simulated)


def causal_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Answers to interventions beside the observational value, largest residuals first."""
    named = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])
    named["anomaly"] = [
        "not told apart" if value is None else "observational" if value else "no" for value in named["anomalous"]
    ]
    for name in ("truth", "observational"):
        named[f"{name}_reason"] = named[name].isna().map({True: "not logged", False: ""})
    shown = named.head(CAUSAL_PRINTED)
    more = (
        (f"The {CAUSAL_PRINTED} largest of {len(named):,} residuals are printed.",) if len(named) > len(shown) else ()
    )
    spec = TableSpec(
        table_name("causal_answers", design),
        title=title_of("Answers to interventions", design),
        columns=(
            Text("unit", "Item"),
            Text("label", "Model"),
            Number("left", "Answer", digits=3),
            Number("right", "Implied", digits=3),
            Number("truth", "Truth", digits=3),
            Number("observational", "Observational", digits=3),
            Signed("residual", "r", digits=2),
            Text("anomaly", "Anomaly"),
        ),
        note="r: residual, log-odds; the other numbers are probabilities. "
        "Anomaly: the answer lies within .01 of the probability given the mere observation, where the "
        "causal value is farther off than .02; not told apart: the two lie closer together, or one is not logged.",
    )
    return Table(spec, shown, notes=more, simulated=design.simulated)


def cost_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Settings and cost of each model, from the log."""
    named = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])
    optional = (
        Number("tokens_in", "Tokens in", digits=0),
        Number("tokens_out", "Tokens out", digits=0),
        Number("tokens_reasoning", "Reasoning tokens", digits=0),
        Number("latency", "Seconds", digits=1),
        Number("cost", "Cost", digits=4),
        Number("total_cost", "Total cost", digits=2),
    )
    settings = ("model_resolved", "temperature", "strategy", "harness")
    spec = TableSpec(
        table_name("settings_cost", design),
        title=title_of("Settings and cost", design),
        columns=(
            Text("label", "Model"),
            Count("answers", "Answers"),
            *(c for c in optional if c.name in named),
            *(Text(name, name.replace("_", " ").capitalize()) for name in settings if name in named),
        ),
        order=("label",),
        note="Means per answer, over answers that log them; settings as logged.",
    )
    return Table(spec, named, simulated=design.simulated)
