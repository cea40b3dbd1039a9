"""Tables beside the main identity: other identities, rewording of single answers, interventions, settings and cost."""

from collections.abc import Mapping

import pandas as pd

from analysis.frequentist.incoherence_queries import OF_TRUTH, can_divide, divided_instances, query_shares
from analysis.report.columns import Count, Estimate, Number, Percent, Proportion, Signed, Text
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.coherence_tables import title_of
from analysis.studies.context import TaskContext
from analysis.studies.wide_table import table_name

#: Rows of causal answers that are printed.
CAUSAL_PRINTED = 20
#: Least part of the persistent square that has a row for the logged truths: what three decimals show.
VISIBLE = 0.0005


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


def divided_residuals(
    context: TaskContext, results: CoherenceResults | None, labels: Mapping[str, str]
) -> tuple[tuple[Table, ...], dict[str, pd.DataFrame]]:
    """Residuals of the main identity divided by kind of answer: table and rows; nothing where they cannot be."""
    if results is None or not can_divide(results.identity, results.sets):
        return (), {}
    divided = divided_instances(results.sets, results.identity, clip=context.study.coherence.clip)
    compared = results.instances[["unit", "identity"]].drop_duplicates()
    divided = divided.merge(compared, on=["unit", "identity"])
    if divided.empty:
        return (), {}
    drawn = context.resampling
    rows = query_shares(divided, rng=drawn.rng("queries"), resamples=drawn.resamples, ci_level=context.ci_level).assign(
        task=context.design.task
    )
    broken = rows.groupby("role")["persistent"].transform(lambda part: part.abs().max()) >= VISIBLE
    printed = rows[(rows["role"] != OF_TRUTH) | broken]
    return (queries_table(context.design, printed, labels),), {"queries_at_fault": rows}


def queries_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Which kind of answer carries the noise of the main identity, and which what persists."""
    named = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]], place=rows["role"] == OF_TRUTH)
    named["answer"] = named["role"].mask(named["place"], "logged truths")
    spec = TableSpec(
        table_name("queries_at_fault", design),
        title=title_of("Which answers carry the residual", design),
        columns=(
            Text("label", "Model"),
            Text("answer", "Answer"),
            Estimate("noise_share", "Share of noise", low="noise_share_low", high="noise_share_high", digits=0,
                     percent=True, reason="noise_share_reason"),
            Estimate("persistent", "Part of persistent square", low="persistent_low", high="persistent_high", digits=3,
                     signed=True, reason="persistent_reason"),
            Percent("persistent_share", "Share of it", reason="persistent_share_reason"),
            Count("n", "Instances"),
        ),
        order=("label", "place", "role"),
        note="Noise: variance of the residual between wordings, divided by what moving each kind of answer does to it. "
        "A share below 0 makes up for others. Persistent: mean product of the residual in one wording and the answer's "
        "part of its distance from the truth in another; the shares are given where the interval of the whole lies "
        "above 0. The parts of a model add up to its squared noise and to its squared persistent residual, which "
        "truths that break the identity have a part in. Without "
        "truths nobody can say which answer is at fault: one gap between two sides fits an error of either.",
    )  # fmt: skip
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
