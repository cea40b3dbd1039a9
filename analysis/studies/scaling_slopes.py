"""Table of slopes on the logarithm of model size."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from analysis.bayes.size_slope import SlopePriors
from analysis.bayes.size_slope_rows import NEW, THESE, size_slope_rows
from analysis.report.columns import Count, Estimate, Number, Proportion, Text
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.wide_table import UNEXPLAINED, table_name

#: Measure of this table -> measure of the estimates whose standard error it has.
_ERROR_OF: Final[Mapping[str, str]] = {"abs_bias": "answer_bias"}


def slope_rows(
    estimates: pd.DataFrame, facts: pd.DataFrame, measures: Mapping[str, str], *, ci_level: float
) -> pd.DataFrame:
    """Slopes of the measures of the size table, from the frequentist estimates with their standard errors."""
    parts = []
    for measure in measures:
        source = _ERROR_OF.get(measure, measure)
        rows = estimates.loc[estimates["measure"] == source, ["model", "estimate", "std_error"]]
        if rows["estimate"].notna().any():
            value = rows["estimate"].abs() if measure == "abs_bias" else rows["estimate"]
            parts.append(rows.assign(estimate=value, measure=measure))
    if not parts:
        return pd.DataFrame()
    joined = pd.concat(parts, ignore_index=True).merge(facts[["model", "family", "size"]], on="model", how="inner")
    return size_slope_rows(joined, ci_level=ci_level)


def no_slopes(found: pd.DataFrame) -> str:
    """Why no measure has a slope; empty where some has."""
    if found.empty or (found["reason"] == "").any():
        return ""
    return f"No slope on size pooled over families: {found['reason'].iloc[0]}."


def slopes_table(design: TaskDesign, found: pd.DataFrame, measures: Mapping[str, str]) -> Table:
    """Change per doubling of size, of all families together and of each, under both priors."""
    names = {THESE: "all of these", NEW: NEW}
    shown = [names.get(scope, family) for scope, family in zip(found["scope"], found["family"], strict=True)]
    rows = found.reindex(columns=[*found.columns, *(c for c in _NUMBERS if c not in found.columns)]).assign(
        heading=[measures[name] for name in found["measure"]], shown=shown
    )
    said = rows["reason"].where(rows["reason"] != "", UNEXPLAINED)
    rows["reason"] = said.where(rows["estimate"].isna(), "")
    wider = rows["reason"].where(rows["reason"] != "", "not held by the grid")
    rows["second_reason"] = wider.where(rows["second_estimate"].isna(), "")
    apart = rows["reason"].where(rows["reason"] != "", "given with all families together")
    rows["spread_reason"] = apart.where(rows["spread"].isna(), "")
    priors = SlopePriors()
    spec = TableSpec(
        table_name("size_slopes", design),
        title="Change of each measure per doubling of model size" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("shown", "Family"),
            Estimate("estimate", "Per doubling", signed=True, digits=3),
            Proportion("p_direction", "P(direction)"),
            Estimate(
                "second_estimate",
                "Second prior",
                low="second_low",
                high="second_high",
                signed=True,
                digits=3,
                reason="second_reason",
            ),
            Number("spread", "SD of slopes", digits=3, reason="spread_reason"),
            Number("spread_upper", "Upper bound", digits=3, reason="spread_reason"),
            Count("n_models", "Models"),
        ),
        groups=("heading",),
        note=(
            "Hierarchical line on log2 of size: each family has its own level and slope, slopes are pooled over "
            "families, models scatter around the lines beyond their standard errors. Only differences within families "
            f"count. Prior scales: mean slope {priors.slope_sd:g}, SD of slopes {priors.spread_scale:g}, scatter "
            f"{priors.scatter_scale:g}; the second prior has the latter two twice as wide, as few families inform "
            "them. Families like these: the mean of the population that they stand for, which nobody sampled. Errors "
            "of models are taken as independent."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


_NUMBERS: Final = (
    "estimate",
    "ci_low",
    "ci_high",
    "p_direction",
    "second_estimate",
    "second_low",
    "second_high",
    "spread",
    "spread_upper",
)
