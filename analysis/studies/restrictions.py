"""Floors on parts of the items: affirmative ones only, and the restrictions that the study declares."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.comparison.restrictions import restricted_floors
from analysis.reduction.levels import subset
from analysis.report.columns import Column, Count, Estimate, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import counted
from analysis.report.spec import Spanner, Table, TableSpec, Where
from analysis.schema.columns import find_column
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import named
from analysis.studies.factors import unit_counts
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import table_name

AFFIRMATIVE = "affirmative only"
ALL = "all items"


def restrictions_part(context: TaskContext) -> Part | None:
    """Floor on all items and on each part of them, where there is such a part."""
    if isinstance(context.counts, str) or context.design.cells is None or context.design.target == "census":
        return None
    counts = unit_counts(context)
    inside, attention = _inside(context, counts)
    if not inside:
        return Part(attention=tuple(attention)) if attention else None
    context.progress("restrictions")
    rows = restricted_floors(counts, inside, uncertain=context.design.uncertain, ci_level=context.ci_level)
    rows = rows.assign(unit=unit_used(context.design))
    tables = (summary_table(context, rows), models_table(context, rows, tuple(inside)))
    section = Section(f"{context.where}Floors on parts of the items", lead=(_sentence(rows),), tables=tables)
    return Part((section,), attention=tuple(attention), data={"restrictions": rows.assign(task=context.design.task)})


def _inside(context: TaskContext, counts: pd.DataFrame) -> tuple[dict[str, NDArray[np.bool_]], list[str]]:
    """Rows of each part, and what is wrong with declared parts."""
    inside: dict[str, NDArray[np.bool_]] = {}
    attention = []
    if context.design.cells == "validity_polarity":
        inside[AFFIRMATIVE] = counts["cell"].isin(["VA", "IA"]).to_numpy()
    for restriction in context.study.restrictions:
        columns = {name: find_column(name, tuple(counts.columns)) for name in (*restriction.keep, *restriction.drop)}
        if None in columns.values():
            missing = [name for name, column in columns.items() if column is None]
            attention.append(f"{context.where}restriction {restriction.name!r}: no factor {missing[0]!r} here.")
            continue
        keep, drop = (
            {str(columns[name]): levels for name, levels in given.items()}
            for given in (restriction.keep, restriction.drop)
        )
        rows = np.zeros(len(counts), dtype=bool)
        rows[counts.index.get_indexer(subset(counts, keep=keep, drop=drop).index)] = True
        if not rows.any() or rows.all():
            what = "no item" if not rows.any() else "every item"
            attention.append(f"{context.where}restriction {restriction.name!r} keeps {what}.")
            continue
        inside[restriction.name] = rows
    return {name: rows for name, rows in inside.items() if rows.any()}, attention


def summary_table(context: TaskContext, rows: pd.DataFrame) -> Table:
    """How many floors lie above .5, and are shown to, on each part."""
    found = []
    for part, group in rows.groupby("part", sort=False):
        shown = {name: int((group["decision"] == name).sum()) for name in ("above", "below", "undecided", "not tested")}
        found.append(
            {
                "part": part,
                "n_items": int(group["n_items"].max()),
                "over_half": int((group["estimate"] > 0.5).sum()),
                "models": int(group["estimate"].notna().sum()),
                **{name.replace(" ", "_"): n for name, n in shown.items()},
            }
        )
    columns: list[Column] = [Text("part", "Items"), Count("n_items", "n items"), Count("models", "Models")]
    columns += [Count("over_half", "Estimate above .5"), Count("above", "Shown above"), Count("below", "Shown below")]
    columns.append(Count("undecided", "Undecided"))
    spec = TableSpec(
        table_name("restrictions", context.design),
        title="Floors above .5 on parts of the items",
        columns=tuple(columns),
        note="Shown: tests of each part adjusted over models by Holm; an estimate above .5 alone shows nothing.",
    )
    return Table(spec, pd.DataFrame(found), simulated=context.design.simulated)


def models_table(context: TaskContext, rows: pd.DataFrame, parts: tuple[str, ...]) -> Table:
    """Floor of every model on all items and on each part, with the change."""
    wide = rows[rows["part"] == ALL].drop(columns=[c for c in rows.columns if c.startswith("change")])
    columns: list[Column] = [Text("label", "Model"), Estimate("estimate", ALL, digits=2)]
    spanners, styles = [], []
    for k, part in enumerate(parts):
        own = rows[rows["part"] == part].set_index("model")
        taken = {"floor": "estimate", "change": "change", "p": "change_adjusted", "decision": "decision"}
        taken |= {"low": "change_low", "high": "change_high", "method": "change_method", "family": "change_family"}
        taken |= {"reason": "change_reason", "floor_reason": "reason"}
        wide = wide.assign(**{f"{name}_{k}": wide["model"].map(own[column]) for name, column in taken.items()})
        wide = wide.assign(**{f"adjusted_by_{k}": "holm"})
        wide[f"floor_reason_{k}"] = wide[f"floor_reason_{k}"].where(wide[f"floor_{k}"].isna(), "")
        group: list[Column] = [
            Proportion(f"floor_{k}", "Floor", digits=2, reason=f"floor_reason_{k}"),
            Estimate(
                f"change_{k}", "Change", low=f"low_{k}", high=f"high_{k}", method=f"method_{k}", signed=True, digits=2,
                reason=f"reason_{k}",
            ),
        ]  # fmt: skip
        columns += group
        spanners.append(Spanner(part, tuple(c.name for c in group)))
        styles.append(Where(f"decision_{k}", "==", "above", cells=(f"floor_{k}",), meaning="shown above .5"))
    spec = TableSpec(
        table_name("restricted_floors", context.design),
        title="Floor on all items and on parts of them",
        columns=tuple(columns),
        spanners=tuple(spanners),
        order=("-estimate", "label"),
        bold_where=tuple(styles),
        note="Change: floor on the part minus floor on all items, over the same units; its tests are in the data.",
    )
    return Table(spec, named(wide, context.labels), simulated=context.design.simulated)


def _sentence(rows: pd.DataFrame) -> str:
    parts: Mapping[str, int] = {
        str(part): int((group["decision"] == "above").sum()) for part, group in rows.groupby("part", sort=False)
    }
    said = ", ".join(f"{n} on {part}" for part, n in parts.items())
    return f"Competence floor shown above .5, of {counted(rows['model'].nunique(), 'model')}: {said}."
