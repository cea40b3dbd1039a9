"""What a report leaves out where the benchmark is the whole population and nothing is inferred."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.frequentist.measure_columns import CENSUS
from analysis.report.columns import Column, Decision, Estimate, Interval, PValue
from analysis.report.spec import Table
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign


def withheld(rows: pd.DataFrame) -> pd.DataFrame:
    """Tidy estimates without standard errors and limits; those that had limits say why they have none."""
    ends = [name for name in rows.columns if str(name).endswith(("_low", "_high"))]
    limited = rows[ends].notna().any(axis=1)
    said = rows["reason"].mask(limited & rows["reason"].eq(""), CENSUS)
    blank = [*ends, *(name for name in ("std_error", "df") if name in rows.columns)]
    return rows.assign(**dict.fromkeys(blank, np.nan), reason=said)


def without_inference(table: Table, *, tests: bool = False) -> Table:
    """The same values without limits; without p-values and what follows from them, unless ``tests`` stay."""
    spec, rows, kept = table.spec, table.rows, list[Column]()
    for column in table.columns():
        if isinstance(column, Estimate):
            ends = {end: np.nan for end in (column.low, column.high)}
            name = column.reason or f"{column.name}_reason"
            missing = rows[[column.low, column.high]].isna().all(axis=1)
            before = rows[name] if name in rows.columns else rows.get("reason", pd.Series("", index=rows.index))
            rows = rows.assign(**ends, **{name: before.where(missing, CENSUS)})
        tested = isinstance(column, PValue | Decision) and not tests
        if not tested and (isinstance(column, Estimate) or not isinstance(column, Interval)):
            kept.append(column)
    names = {column.name for column in kept}
    return replace(
        table,
        rows=rows,
        spec=replace(
            spec,
            columns=tuple(kept),
            spanners=tuple(one for one in spec.spanners if set(one.columns) <= names),
            bold_where=tuple(one for one in spec.bold_where if not _infers(one.column, names)),
            underline_where=tuple(one for one in spec.underline_where if not _infers(one.column, names)),
        ),
    )


def _infers(column: str, printed: set[str]) -> bool:
    """Whether a condition on cells rests on a column that is no longer printed."""
    return column not in printed


def census_limits(designs: Sequence[TaskDesign], study: Study) -> tuple[str, ...]:
    """One sentence that names the tested parts which the tasks of a census would otherwise have; none without one."""
    tasks = [design for design in designs if design.target == "census"]
    judged = [design for design in tasks if design.cells is not None]
    left_out = {
        "tests of the floor": bool(judged),
        "comparisons of models": any(design.n_models > 1 for design in judged),
        "levels of factors": any(len(levels) > 1 for design in tasks for levels in design.item_factors.values()),
        "paired contrasts": bool(tasks and study.contrasts),
        "templates": any(len(design.item_factors.get("template", ())) > 1 for design in judged),
        "floors on parts of the items": any(design.cells == "validity_polarity" for design in judged)
        or bool(judged and study.restrictions),
        "correlations of measures over models": any(design.n_models > 2 for design in judged),
        "correlations with size where known": bool(judged),
        "token probabilities where known": bool(judged),
        "position bias": any(design.kind == "choice" for design in tasks),
        "differences between conditions": any(design.varying for design in tasks if design.kind != "probability"),
        "tests of belief bias": any("believability" in design.item_factors for design in judged),
        "limits of ranks": any(design.n_models > 1 and design.kind in ("choice", "score") for design in tasks),
        "comparisons of residuals": any(design.n_models > 1 and design.kind == "probability" for design in tasks),
    }
    names = [name for name, there in left_out.items() if there]
    if not names:
        return ()
    return (
        "The benchmark is taken as the whole population (target = census): frequentist values have no intervals, and "
        f"what rests on tests is left out ({', '.join(names)}). Bayesian columns, where these are fitted, keep theirs: "
        "they are about the probabilities that the model supposes behind the answers, hence about what asking again "
        "would give, not about this population, whose values are known.",
    )
