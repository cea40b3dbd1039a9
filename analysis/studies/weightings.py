"""Accuracy and floor under every weighting of the responses that the design allows."""

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.comparison.weightings import WEIGHTINGS, unlike_cells, weighting_table
from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.report.columns import Column, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import fixed, signed
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import named
from analysis.studies.weights import overall_accuracy, unit_used, weighted_sums
from analysis.studies.wide_table import table_name

HEADS = {"micro": "Responses", "prompt": "Items", "template": "Templates", "form": "Forms", "cell": "Cells"}
MEASURES = {"accuracy": "Accuracy", "competence_floor": "Competence floor"}

#: Where no model moves by what three decimals show, there is nothing to tabulate.
LEAST_SPREAD = 0.0005
SAME_CELLS = "floors weigh the cells alike in any case"


def weightings_part(context: TaskContext) -> Part | None:
    """Tables of accuracy and floor under the weightings that the columns allow, two or more."""
    if isinstance(context.counts, str) or context.design.cells is None or context.judgement is None:
        return None
    factors = context.design.item_factors
    names = [w for w in WEIGHTINGS if w not in ("template", "form") or len(factors.get(w, ())) > 1]
    if not {"template", "form"} & set(names):
        return None
    estimates = {name: _estimates(context, name) for name in names}
    if not unlike_cells(estimates["micro"]):
        del estimates["cell"]
    tables, data = [], []
    for measure, title in MEASURES.items():
        kept = {name: table for name, table in estimates.items() if measure == "accuracy" or name != "cell"}
        rows = weighting_table(kept, measure=measure).assign(
            unit=unit_used(context.design), uncertain=context.design.uncertain
        )
        if (rows["spread"] >= LEAST_SPREAD).any():
            tables.append(_table(context, rows, tuple(kept), measure, title))
        if "cell" in estimates and "cell" not in kept:
            rows = rows.assign(cell=np.nan, cell_low=np.nan, cell_high=np.nan, cell_reason=SAME_CELLS)
        data.append(rows)
    section = Section(f"{context.where}Weighting of responses", lead=(_sentence(data[0]),), tables=tuple(tables))
    return Part((section,), data={"weightings": pd.concat(data, ignore_index=True).assign(task=context.design.task)})


def _estimates(context: TaskContext, weights: str) -> pd.DataFrame:
    design = replace(context.design, weights=weights)
    sums = weighted_sums(context.counts, design)  # type: ignore[arg-type]
    found = answer_bias_estimates(
        sums, uncertain=design.uncertain, ci_level=context.ci_level, target=design.target, weights=weights
    )
    return overall_accuracy(found, design)


def _table(context: TaskContext, rows: pd.DataFrame, names: tuple[str, ...], measure: str, title: str) -> Table:
    columns: list[Column] = [Text("label", "Model")]
    columns += [Proportion(name, HEADS[name], reason=f"{name}_reason") for name in names]
    columns.append(Proportion("spread", "Spread", reason="micro_reason"))
    note = "; ".join(f"{HEADS[name]}: {WEIGHTINGS[name]}" for name in names)
    spec = TableSpec(
        table_name(f"weightings_{measure}", context.design),
        title=f"{title} under {len(names)} weightings",
        columns=tuple(columns),
        order=("-micro", "label"),
        note=(
            f"{note}. Spread: largest minus smallest. Intervals of each are in the data."
            + (" Floors weigh the cells alike in any case; weights act within cells." if measure != "accuracy" else "")
        ),
    )
    return Table(spec, named(rows, context.labels), simulated=context.design.simulated)


def _sentence(rows: pd.DataFrame) -> str:
    if rows["spread"].isna().all():
        return "No model has an accuracy under any weighting."
    text = f"Accuracy moves by {fixed(float(rows['spread'].mean()), 3)} on average between weightings"
    text += f", by {fixed(float(rows['spread'].max()), 3)} at most"
    if "cell" in rows.columns:
        text += (
            f"; with equal cells it is {signed(float((rows['cell'] - rows['micro']).mean()), 3)} from equal responses"
        )
    return f"{text}."
