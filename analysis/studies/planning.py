"""What the design at hand could have shown, at the variances observed in it."""

from collections.abc import Sequence

import pandas as pd

from analysis.frequentist.condition_tests import OVER_MODELS
from analysis.planning.observed import PAIRS, observed_designs
from analysis.planning.unit_components import pair_errors, score_pair_errors, unit_components
from analysis.reduction.scores import item_scores
from analysis.report.columns import Count, Number, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import counted, fixed, percent
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.planning_tables import question_name
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import table_name

_NOTE = (
    "A property of the design at the observed variances, not the power of these results: no observed effect enters. "
    "SE: median, smallest and largest over the models, pairs or contrasts of a row. Detectable: smallest effect that "
    "{power}% of such studies show, at the median and at both other errors. Units needed: to show the effect in "
    "{power}%, all else as here. Tests are those of this report before they are adjusted for each other, which makes "
    "the detectable effects larger. Rows × 2: with twice the responses of each unit. The floor: both classes at the "
    "floor, the hardest case."
)
_SQUARED = " The SE of persistent incoherence is that of its square if there is none."
_NOT_PARTED = "parted for single estimates only: within units and between them"
_METHODS = (
    "What the design could have shown is computed from the cluster-robust standard errors and degrees of freedom of "
    "the estimates with noncentral t distributions, for a power of {power}%; that of the floor is the probability that "
    "both classes pass their one-sided test [@berger1982]. No observed effect enters."
)
#: Estimands that the sentence on the design names, by what precedes their name in ``asked``.
_SAID = (
    ("floor: competence_floor", "a floor {} above .5"),
    ("t: competence_floor, two models", "floors of two models {} apart"),
    ("t: accuracy, two models", "accuracies of two models {} apart"),
    ("t: mean_score, two models", "mean scores of two models {} apart"),
    ("t: belief_bias", "a belief bias of {}"),
    ("persistent: persistent", "a persistent incoherence of {} log-odds"),
)


def planning_part(context: TaskContext, parts: Sequence[Part]) -> Part | None:
    """One table of what the design could have shown, from the data that the other parts made.

    Parameters
    ----------
    context : TaskContext
    parts : sequence of Part
        The other parts of this task.
    """
    if context.design.target == "census":
        return None
    data = planning_data(context, parts)
    of_interest = context.study.planning
    rows = observed_designs(data, level=1 - context.ci_level, planning=of_interest)
    if rows.empty:
        return None
    rows = _with_doubled(context, rows)
    shown = rows.assign(label=[question_name(row) for _, row in rows.iterrows()])
    power = percent(of_interest.power, 0)
    said = [_limit(rows, power), *([_weak(rows)] if _declared(context) else [])]
    section = Section(
        f"{context.where}What this design could have shown",
        lead=_leads(context, rows),
        tables=(_table(context, shown),),
    )
    return Part(
        (section,),
        limits=tuple(f"{context.where}{words}" for words in said if words),
        methods=(_METHODS.format(power=power),),
        data={"planning": rows} | ({PAIRS: data[PAIRS]} if PAIRS in data else {}),
    )


def planning_data(context: TaskContext, parts: Sequence[Part]) -> dict[str, pd.DataFrame]:
    """Data of the parts by stem; differences in accuracy of two models where no part has differences."""
    by_stem: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for name, table in part.data.items():
            by_stem.setdefault(name, []).append(table)
    data = {name: pd.concat(tables, ignore_index=True) for name, tables in by_stem.items()}
    if "model_pairs" not in data and context.sums is not None and context.judgement is None:
        unit = unit_used(context.design)
        data[PAIRS] = pair_errors(context.sums, uncertain=context.design.uncertain, unit=unit)
    elif "leaderboard" in data and isinstance(context.counts, str):
        items = item_scores(context.con, context.design, context.selection)
        data[PAIRS] = score_pair_errors(items, task=context.design.task, unit=unit_used(context.design))
    return data


def _declared(context: TaskContext) -> bool:
    """Whether the study says which effects are of interest."""
    return any(key.startswith("planning.") for key in context.study.given)


def _with_doubled(context: TaskContext, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with what twice the responses of each unit would detect, where the errors can be parted."""
    parted = rows.assign(within_share=float("nan"), doubled_effect=float("nan"), doubled_reason=_NOT_PARTED)
    if context.sums is None:
        return parted
    found = unit_components(context.sums, uncertain=context.design.uncertain)
    for i, row in parted.iterrows():
        own = found[(found["measure"] == row["measure"]) & (found["std_error"] > 0)]
        if row["contrast"] or own.empty or not str(row["asked"]).startswith("t:"):
            continue
        share = own["within_share"].median()
        ratio = (own["doubled_std_error"] / own["std_error"]).median()
        parted.loc[i, ["within_share", "doubled_effect"]] = [share, row["detectable_effect"] * ratio]
        parted.loc[i, "doubled_reason"] = own["reason"].iloc[0] if pd.isna(share) else ""
    return parted


def _table(context: TaskContext, rows: pd.DataFrame) -> Table:
    power = percent(context.study.planning.power, 0)
    spec = TableSpec(
        table_name("planning", context.design),
        title="What this design could have shown",
        columns=(
            Text("label", "Estimand"),
            Count("n_clusters", "Units"),
            Number("std_error", "median", digits=3),
            Number("std_error_low", "least", digits=3),
            Number("std_error_high", "most", digits=3),
            Number("detectable_effect", "at median", digits=3),
            Number("detectable_low", "at least", digits=3),
            Number("detectable_high", "at most", digits=3),
            Number("doubled_effect", "rows × 2", digits=3, reason="doubled_reason"),
            Number("asked_effect", "Effect", digits=2),
            Proportion("power_at_effect", "Power", digits=2),
            Count("units_needed", "Units needed"),
        ),
        spanners=(
            Spanner("SE", ("std_error", "std_error_low", "std_error_high")),
            Spanner("Detectable", ("detectable_effect", "detectable_low", "detectable_high", "doubled_effect")),
            Spanner(
                "Smallest effect of interest" if _declared(context) else "For this effect",
                ("asked_effect", "power_at_effect", "units_needed"),
            ),
        ),
        note=f"{_NOTE.format(power=power)}{_SQUARED if 'persistent' in set(rows['measure']) else ''} "
        f"Tests: {'; '.join(dict.fromkeys(rows['test']))}.",
    )
    shown = rows.drop(columns=["unit", "scale", "test", "level", "parameters"])
    return Table(spec, shown, simulated=context.design.simulated)


def _lead(rows: pd.DataFrame) -> str:
    # Tests over models count models: they are no units of the design.
    of_units = rows[rows["unit"] != OVER_MODELS] if (rows["unit"] != OVER_MODELS).any() else rows
    units = sorted({int(n) for n in of_units["n_clusters"]})
    counts = counted(units[0], "unit") if len(units) == 1 else f"{units[0]:,} to {units[-1]:,} units"
    times = "sixteen" if set(rows["measure"]) == {"persistent"} else "four"
    return f"From {counts} at the observed variances; effects that are half as large need about {times} times as many."


def _leads(context: TaskContext, rows: pd.DataFrame) -> tuple[str, ...]:
    """What the design has, and how the effects of interest fare that the study declares."""
    if not _declared(context):
        return (_lead(rows),)
    known = rows[rows["power_at_effect"].notna()]
    enough = int((known["power_at_effect"] >= known["target_power"]).sum())
    words = (
        f"The smallest effects of interest that the study declares would be shown with the power that it asks for "
        f"({percent(context.study.planning.power, 0)}%) in {enough} of {counted(len(known), 'estimand')}."
    )
    return _lead(rows), words


def _weak(rows: pd.DataFrame) -> str:
    """Estimands whose smallest effect of interest is shown with less than the power asked for."""
    found = {str(row["asked"]): row for row in rows.to_dict("records")}
    said = []
    for asked, words in _SAID:
        row = found.get(asked)
        if row is not None and row["power_at_effect"] < row["target_power"]:
            effect = words.format(fixed(float(row["asked_effect"]), 3))
            said.append(f"{effect} with a probability of {fixed(float(row['power_at_effect']), 2)}")
    return f"the design is too small for its smallest effects of interest: it shows {_joined(said)}." if said else ""


def _joined(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1]


def _limit(rows: pd.DataFrame, power: str) -> str:
    """One sentence on the smallest effects that the design shows."""
    found = {str(row["asked"]): row for row in rows.to_dict("records")}
    said, units = [], set()
    for asked, words in _SAID:
        row = found.get(asked)
        if row is not None and pd.notna(row["detectable_effect"]):
            said.append(words.format(fixed(float(row["detectable_effect"]), 3)))
            units.add(int(row["n_clusters"]))
    if not said:
        return ""
    counts = counted(min(units), "unit") if len(units) == 1 else f"{min(units):,} to {max(units):,} units"
    return f"with {counts}, only {_joined(said)} would be shown in {power}% of such studies; less is missed more often."
