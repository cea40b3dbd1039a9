"""How much each factor explains: standard deviations of the hierarchical model, and their shares of the variance."""

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.component_layout import CELLS, LEVELS, MODELS, RESIDUAL
from analysis.bayes.components import FEW_LEVELS, PRESENT, TOGETHER, VarianceComponents
from analysis.bayes.result import UNITS
from analysis.report.columns import Count, Estimate, Number, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import counted, percent
from analysis.report.spec import OrderBy, Table, TableSpec, Where
from analysis.schema.task_design import TaskDesign
from analysis.studies.wide_table import table_name, titled

_STAGES: Final = {
    "yes": "Yes or no",
    "answered": "Whether there is an answer",
    UNITS: "Yes or no, from accuracies by unit",
}
_TERMS: Final = {
    "yes": "leaning to Yes",
    "sensitivity": "sensitivity",
    "polarity": "affirmative wording",
    "validity": "blindness to negation",
    RESIDUAL: "residual",
    TOGETHER: "all together",
}
_ANSWERED: Final = _TERMS | {"yes": "answering", "sensitivity": "gold answer", "validity": "validity"}
_FACTORS: Final = {"family": "model families", "template": "templates", "form": "forms", "unit": "units"}
#: Factors that the sentence above the table names.
_NAMED: Final = 3


#: Sentence of the methods section.
COMPONENTS_METHODS: Final = (
    "Standard deviations of the hierarchical model are given with their shares of the variance of a cell's log-odds; "
    f"those of fewer than {FEW_LEVELS} levels also under a prior twice as wide, by Pareto-smoothed importance weights."
)


def components_section(design: TaskDesign, found: VarianceComponents, *, mark: str = "") -> Section | None:
    """Both tables with a sentence on the largest shares; None where the model has no standard deviation to report."""
    if found.table.empty:
        return None
    tables = [components_table(design, found.table, mark=mark)]
    if len(found.second):
        tables.append(second_prior_table(design, found.second, mark=mark))
    title = "How much each factor explains"
    return Section(f"{title}: {design.task}" if design.task else title, lead=_lead(found.table), tables=tuple(tables))


def components_table(design: TaskDesign, rows: pd.DataFrame, *, mark: str = "") -> Table:
    """Standard deviation and share of every component, by stage."""
    spec = TableSpec(
        table_name("variance_components", design),
        title=titled("Standard deviations and their shares of the variance", design, mark),
        columns=(
            Text("what", "Differences"),
            Count("n_levels", "Coefficients"),
            Estimate("estimate", "SD", digits=2),
            Number("upper_bound", "Upper bound", digits=2),
            Proportion("p_present", "P(SD > .10)"),
            Estimate("share", "Share", low="share_low", high="share_high", percent=True, digits=1),
        ),
        groups=("heading",),
        order=(OrderBy("stage", levels=tuple(_STAGES)),),
        note=(
            "SD: median of the posterior. Share: its mean, of the part of the variance of a cell's log-odds around "
            "what all models and levels have in common; chance within a cell is no part of it. A standard deviation "
            "cannot be 0, so its interval cannot either: read the upper bound (one-sided) and the probability of "
            f"exceeding {PRESENT:.2f}, 2.5 points near one half. Standard deviations are those of the populations that "
            "the levels stand for. The residual of counts is that of a normal residual which spreads a cell at one "
            "half as much."
        ),
        bold_where=(Where("term", "==", TOGETHER, cells=("share",), meaning="of all terms of a factor together"),),
    )
    return Table(spec, _described(rows), simulated=design.simulated)


def second_prior_table(design: TaskDesign, rows: pd.DataFrame, *, mark: str = "") -> Table:
    """Standard deviations of few levels under the prior and under one of twice the scale."""
    spec = TableSpec(
        table_name("second_prior", design),
        title=titled(f"Standard deviations of fewer than {FEW_LEVELS} levels under a second prior", design, mark),
        columns=(
            Text("what", "Differences"),
            Count("fewest", "Levels"),
            Number("prior_scale", "Prior", digits=2),
            Number("second_scale", "Second", digits=2),
            Number("estimate", "SD", digits=2),
            Number("second_estimate", "Second SD", digits=2),
            Number("upper_bound", "Upper bound", digits=2),
            Number("second_upper", "Second bound", digits=2),
            Number("share", "Share", digits=3),
            Number("second_share", "Second share", digits=3),
            Number("pareto_k", "Pareto k", digits=2),
        ),
        groups=("heading",),
        order=(OrderBy("stage", levels=tuple(_STAGES)),),
        note=(
            "Few levels leave the choice of the prior's scale to the analyst. Prior: scale of its half-normal density; "
            "the second is twice as wide, the other priors as they are, by importance weights (not shown where their "
            "Pareto k is too large)." + _templates(rows)
        ),
    )
    return Table(spec, _described(rows), simulated=design.simulated)


def _templates(rows: pd.DataFrame) -> str:
    of = rows[(rows["factor"] == "template") & (rows["fewest"] < rows["n_levels"])]
    if of.empty:
        return ""
    return (
        f" Templates: {of['fewest'].iloc[0]} of {of['n_levels'].max()} in the smaller validity class; their standard "
        "deviation is common to both classes and learnt mostly from the larger one."
    )


def _described(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with what they are in words."""
    return rows.assign(what=[_what(row) for row in rows.to_dict("records")], heading=rows["stage"].map(_STAGES))


def _what(row: Mapping[Hashable, Any]) -> str:
    terms = _ANSWERED if row["stage"] == "answered" else _TERMS
    term = terms[str(row["term"])]
    if row["between"] == CELLS:
        return f"between cells: {term}"
    if row["factor"] == "model":
        return f"between models: {term}"
    factor = _FACTORS[str(row["factor"])]
    between = {LEVELS: f"between {factor}", MODELS: f"models × {factor}"}[str(row["between"])]
    return f"{between}: {term}"


def _lead(rows: pd.DataFrame) -> tuple[str, ...]:
    """The factors with the largest shares in the stage ``yes``."""
    stage = rows[(rows["stage"] == "yes") & rows["share"].notna()]
    whole = set(zip(*(stage.loc[stage["term"] == TOGETHER, name] for name in ("factor", "between")), strict=True))
    single = np.array([pair not in whole for pair in zip(stage["factor"], stage["between"], strict=True)], bool)
    of = stage[(stage["term"] == TOGETHER).to_numpy() | single]
    if of.empty:
        return ()
    pairs = of.groupby(["factor", "between"])["term"].transform("size")
    of = of.assign(name=[_what(row) for row in of.to_dict("records")])
    of["name"] = of["name"].where(pairs > 1, of["name"].str.partition(":")[0])
    largest = of.sort_values("share", ascending=False, kind="stable").head(_NAMED)
    said = [
        f"{row['name']} {percent(row['share'], 0)}% [{percent(row['share_low'], 0)}, {percent(row['share_high'], 0)}]"
        for row in largest.to_dict("records")
    ]
    return (
        f"Largest shares of the variance of the log-odds of Yes, of {counted(len(of), 'source')}: {'; '.join(said)}.",
    )
