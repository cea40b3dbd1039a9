"""A table of correlations over models."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.rank_correlation import Correlation
from analysis.report.columns import Count, Estimate, PValue, Text
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import TaskContext
from analysis.studies.wide_table import table_name

NAMES = {"pearson": "Pearson r", "spearman": "Spearman ρ", "kendall": "Kendall τ-b"}


def correlation_rows(found: Sequence[tuple[str, str, Correlation]], remarks: Sequence[str] = ()) -> pd.DataFrame:
    """One row per correlation: names of both measures, the fields of the test, Holm within each kind."""
    rows = pd.DataFrame([{"first": a, "second": b} | asdict(test) for a, b, test in found])
    p = rows["p_value"].to_numpy(float)
    adjusted, size = np.full(len(rows), np.nan), np.zeros(len(rows), int)
    for kind in rows["kind"].unique():
        use = (rows["kind"] == kind).to_numpy()
        adjusted[use], size[use] = holm(p[use]), family_size(p[use])
    remark = list(remarks) or [""] * len(rows)
    return rows.assign(p_adjusted=adjusted, p_adjust_method="holm", family_size=size, remark=remark)


def correlation_table(context: TaskContext, rows: pd.DataFrame, name: str, title: str) -> Table:
    """Estimates with intervals, p-values, and what is mechanical about each."""
    design = context.design
    shown = rows.assign(
        pair=[f"{a} × {b}" for a, b in zip(rows["first"], rows["second"], strict=True)],
        kind=rows["kind"].map(NAMES),
    )
    remark = (Text("remark", "Beware"),) if (rows["remark"] != "").any() else ()
    adjusted = (PValue("p_adjusted", "Holm"),) if rows["family_size"].max() > 1 else ()
    spec = TableSpec(
        table_name(name, design),
        title=title + (f": {design.task}" if design.task else ""),
        columns=(
            Text("pair", "Measures"),
            Text("kind", "Correlation"),
            Estimate("estimate", "Estimate", digits=3, signed=True),
            PValue("p_value", "p"),
            *adjusted,
            Text("p_method", "p by"),
            Count("n_clusters", "Models"),
            *remark,
        ),
        note=(
            "Models are taken as independent and their values as known; the intervals leave out the noise of the "
            "values themselves."
        ),
    )
    return Table(spec, shown.drop(columns=["std_error", "df", "statistic"]), simulated=design.simulated)
