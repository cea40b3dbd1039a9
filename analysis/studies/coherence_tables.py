"""Tables on the size and kind of incoherence: design, models, tests, families and levels, reasoning."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.bayes.incoherence_result import MCMC
from analysis.frequentist.incoherence_tests import DETECTION_LEVEL
from analysis.report.columns import Count, Decision, Estimate, Number, Percent, PValue, Text
from analysis.report.spec import Table, TableSpec, Where
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.wide_table import UNEXPLAINED, estimate_column, table_name

DECISIONS = {"detected": "detected", "not detected": "not detected", "not tested": "not tested"}
#: More groups of family and level than this make a long table instead of a wide one.
MOST_COLUMNS = 8
#: What is said where causal items stand beside others.
CAUSAL_NOTE = " Items with an intervention: residuals of the back-door adjustment, left out of means over all items."


def by_model(estimates: pd.DataFrame, measures: Sequence[str], labels: Mapping[str, str]) -> pd.DataFrame:
    """One row per model: each measure with ``_low``, ``_high``, ``_method``, ``_reason``, and shared columns."""
    rows = []
    for model, group in estimates.groupby("model", sort=False):
        found = {row["measure"]: row for row in group.to_dict("records")}
        row: dict[str, Any] = {"model": model, "label": labels.get(str(model), str(model))}
        row |= {name: group[name].iloc[0] for name in ("ci_level", "unit") if name in group}
        for measure in measures:
            row |= named_estimate(measure, found.get(measure, {"reason": "not logged"}))
        rows.append(row)
    return pd.DataFrame(rows)


def named_estimate(stem: str, found: Mapping[Any, Any]) -> dict[str, Any]:
    """Columns of one estimate: the value, ``_low, _high, _method, _reason``; of a failed fit no number."""
    failed = str(found.get("reason") or "").startswith(MCMC)
    numbers = {"": "estimate", "_low": "ci_low", "_high": "ci_high"}
    row = {stem + end: None if failed else found.get(name) for end, name in numbers.items()}
    undefined = pd.isna(row[stem]) or pd.isna(row[f"{stem}_low"])
    reason = found.get("reason") or (UNEXPLAINED if undefined else "")
    return row | {f"{stem}_method": found.get("ci_method"), f"{stem}_reason": reason}


def title_of(words: str, design: TaskDesign) -> str:
    """Title of a table, with the task's name where it has one."""
    return words + (f": {design.task}" if design.task else "")


def families_table(design: TaskDesign, results: CoherenceResults) -> tuple[Table, ...]:
    """What was asked: items, instances and wordings by family and level; nothing where no item has either."""
    rows = pd.concat([results.all_instances, results.causal], ignore_index=True)
    if (rows[["item_family", "level"]] == "").all(axis=None):
        return ()
    keys = rows[["unit", "identity", "item_family", "level", "k"]].groupby(["unit", "identity"], sort=True)
    one = keys.agg(item_family=("item_family", "first"), level=("level", "first"), k=("k", "max")).reset_index()
    grouped = one.groupby(["item_family", "level"], sort=True)
    table = grouped.agg(units=("unit", "nunique"), n=("identity", "size"), most=("k", "max")).reset_index()
    table["repeated"] = grouped["k"].apply(lambda k: int((k > 1).sum())).to_numpy()
    spec = TableSpec(
        table_name("families", design),
        title=title_of("Items by family and level", design),
        columns=(
            Text("item_family", "Family"),
            Text("level", "Level"),
            Count("units", "Units"),
            Count("n", "Instances"),
            Count("repeated", "in two wordings or more"),
            Count("most", "Most wordings"),
        ),
        note=f"An instance is a unit and an identity ({results.identity.name}) of which some model gave every answer. "
        "Rewording noise and the persistent residual rest on instances in two wordings or more."
        + (CAUSAL_NOTE if len(results.causal) else ""),
    )
    return (Table(spec, table, simulated=design.simulated),)


def incoherence_table(design: TaskDesign, results: CoherenceResults, labels: Mapping[str, str]) -> Table:
    """Residuals of each model: size, persistent part, noise, spread, direction."""
    measures = ("mean_abs_residual", "persistent", "noise", "spread", "direction", "error_direct")
    wide = by_model(results.estimates, measures, labels)
    shown = [c for c in wide.columns if c not in ("model", "label", "unit")]
    counted = results.instances.groupby("model").agg(n_instances=("k", "size"), n_units=("unit", "nunique"))
    wide = wide[["model", "label", "unit", *shown]].merge(counted.reset_index(), on="model")
    spec = TableSpec(
        table_name("incoherence", design),
        title=title_of("Incoherence of each model, log-odds", design),
        columns=(
            Text("label", "Model"),
            estimate_column("mean_abs_residual", "Mean |r|"),
            estimate_column("persistent", "Persistent", digits=2),
            estimate_column("noise", "Noise", digits=2),
            estimate_column("spread", "Spread", digits=2),
            estimate_column("direction", "Direction", signed=True, digits=2),
            estimate_column("error_direct", "Error of direct answer", digits=2),
            Count("n_instances", "Instances"),
            Count("n_units", "Units"),
        ),
        order=("mean_abs_residual", "label"),
        note="r: log-odds of the direct answer minus those of what the other answers imply. Mean |r|: over "
        "instances; it mixes noise with incoherence, so that ranking by it rewards low noise. Persistent: root "
        "of the mean product of residuals from different wordings (0 where that is negative; intervals are made "
        "for the square). Noise that all wordings share counts as persistent. Noise: root mean variance between "
        "wordings. Direction: mean residual, spread: what of the persistent part varies between instances. "
        "Models are ordered by mean |r|.",
    )
    return Table(spec, wide, simulated=design.simulated)


def sizes_table(design: TaskDesign, results: CoherenceResults, labels: Mapping[str, str]) -> Table:
    """Other summaries of the same residuals, and the length of reasoning."""
    measures = ("mean_abs_residual", "rms_residual", "median_abs_residual", "mean_abs_difference", "error_implied",
                "reasoning_tokens")  # fmt: skip
    wide = by_model(results.estimates, measures, labels)
    spec = TableSpec(
        table_name("residual_sizes", design),
        title=title_of("Size of the residuals in other terms", design),
        columns=(
            Text("label", "Model"),
            estimate_column("rms_residual", "Root mean square", digits=2),
            estimate_column("median_abs_residual", "Median |r|", digits=2),
            Estimate("mean_abs_difference", "|Direct − implied|, points", low="mean_abs_difference_low",
                     high="mean_abs_difference_high", method="mean_abs_difference_method", percent=True, digits=1,
                     reason="mean_abs_difference_reason"),
            estimate_column("error_implied", "Error of implied", digits=2),
            estimate_column("reasoning_tokens", "Reasoning tokens", digits=0),
        ),
        order=("mean_abs_residual", "label"),
        note="Points: difference of probabilities in percentage points. Error: absolute, in log-odds, against "
        "the logged truth. Reasoning tokens: per answer.",
    )  # fmt: skip
    return Table(spec, wide, simulated=design.simulated)


def detection(design: TaskDesign, results: CoherenceResults, labels: Mapping[str, str]) -> Table:
    """Is there a persistent residual? Test, squared estimate, and what it leans on."""
    others = by_model(results.estimates, ("persistent_unclipped", "persistent_these", "mean_abs_residual"), labels)
    rows = results.tests.merge(others.drop(columns=["ci_level", "label"]), on="model")
    rows["label"] = [labels.get(str(m), str(m)) for m in rows["model"]]
    clipped = results.instances.assign(
        one=(results.instances["clipped"] - results.instances["clipped_both"]), both=results.instances["clipped_both"]
    )
    shares = clipped.groupby("model")[["one", "both"]].mean().reset_index()
    rows = rows.merge(shares, on="model")
    rows["tail_word"] = rows["tail"].map({True: "TAIL", False: "no"})
    rows["without_top_reason"] = rows["without_top"].isna().map({True: "no more than three units", False: ""})
    spec = TableSpec(
        table_name("persistent_tests", design),
        title=title_of("Is there a persistent residual?", design),
        columns=(
            Text("label", "Model"),
            Estimate("squared", "Squared", low="squared_low", high="squared_high", digits=3, signed=True),
            PValue("p_value", "p", floor="resolution"),
            PValue("p_adjusted", "Holm p"),
            Decision("decision", "At .025", labels=DECISIONS),
            Percent("share", "Share of mean square"),
            Number("without_top", "Without top 3 units", digits=2),
            Text("tail_word", "Leans on few"),
            Number("persistent_these", "These wordings", digits=2),
            Percent("one", "One side at clip"),
            Percent("both", "Both"),
            Number("persistent_unclipped", "Without clipped", digits=2),
        ),
        order=("mean_abs_residual", "label"),
        bold_where=(Where("decision", "==", "detected", meaning="detected"),),
        note="Squared: mean product of residuals from different wordings; it may be negative, and it is what is "
        f"averaged and compared. p: one-sided sign flips of a unit's wordings, decided at {DETECTION_LEVEL} so "
        "that the decision agrees with the end of one model's interval. That one model is detected and another "
        "is not is no difference between the two. TAIL: without the three units that contribute most, the square "
        "falls to less than half; the interval then covers too rarely for a claim about more such items. These "
        "wordings: what the wordings do to all instances alike is taken out first, and the claim is about these "
        "wordings alone.",
    )
    notes = (
        ()
        if len(results.wordings)
        else ("The instances were not all asked in the same wordings: no version for these wordings.",)
    )
    return Table(spec, rows, notes=notes, simulated=design.simulated)


def wordings_table(design: TaskDesign, results: CoherenceResults, labels: Mapping[str, str]) -> Table | None:
    """What each wording does to all instances alike."""
    if results.wordings.empty:
        return None
    wide = results.wordings.pivot(index="model", columns="wording", values="effect").reset_index()
    names = {name: f"w{at}" for at, name in enumerate(c for c in wide.columns if c != "model")}
    wide = wide.rename(columns=names)
    wide["label"] = [labels.get(str(m), str(m)) for m in wide["model"]]
    if len(names) > MOST_COLUMNS:
        return None
    spec = TableSpec(
        table_name("wording_effects", design),
        title=title_of("What each wording does to all instances alike, log-odds", design),
        columns=(Text("label", "Model"), *(Number(c, str(head), digits=3) for head, c in names.items())),
        order=("label",),
        note="Mean residual of the wording minus that of all wordings; the effects of a model add up to 0.",
    )
    return Table(spec, wide, simulated=design.simulated)
