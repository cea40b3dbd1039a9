"""Tables that a study declares itself, and its choice among those of the report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from analysis.errors import AnalysisError
from analysis.report.columns import Column, Estimate, Number, Signed, Text
from analysis.report.content import Section, file_stem
from analysis.report.spec import OrderBy, Table, TableSpec
from analysis.schema.report_settings import BY_MODEL, DeclaredTable
from analysis.schema.study import Study
from analysis.studies.context import Part

#: Columns that a table of results must have, to be printed by a declared table.
_NEEDED: Final = ("model", "measure", "estimate", "ci_low", "ci_high", "ci_level", "ci_method")
_BY_LEVEL: Final = "level_estimates"
_POOLED: Final = "levels_pooled"
#: Tables of results that are searched first.
_FIRST: Final = ("estimates", "incoherence")
_SHARED: Final = ("ci_level", "unit", "uncertain", "weights")


def declared_part(
    study: Study, data: Mapping[str, pd.DataFrame], labels: Mapping[str, str], *, simulated: bool
) -> Part | None:
    """The tables that the study declares, filled from the results; what cannot be filled is said.

    Parameters
    ----------
    study : Study
    data : mapping of str to DataFrame
        Tables of results of all parts, by file stem.
    labels : mapping of str to str
        Model -> name to print.
    simulated : bool
    """
    tables, attention = [], []
    for declared in study.tables:
        try:
            tables.append(_filled(declared, data, labels, simulated=simulated))
        except AnalysisError as error:
            attention.append(f"Table {declared.name!r} of study.toml cannot be printed: {error}.")
    if not tables and not attention:
        return None
    sections = (Section("Tables of the study", tables=tuple(tables)),) if tables else ()
    return Part(sections, attention=tuple(attention))


def chosen_tables(sections: Sequence[Section], study: Study, tasks: Sequence[str]) -> tuple[list[Section], list[str]]:
    """Sections with the tables that ``[report] tables`` names alone, and what is wrong with the names.

    Parameters
    ----------
    sections : sequence of Section
    study : Study
    tasks : sequence of str
        Tasks, whose names may stand at the end of a table's.
    """
    chosen = study.report.tables
    if not chosen:
        return list(sections), []
    wanted = {name: {name, *(file_stem(name, task) for task in tasks)} for name in chosen}
    printed = [table.spec.name for section in sections for table in section.tables]
    kept = set().union(*wanted.values())
    problems = [
        f"[report] tables: no table is called {name!r}; there are {', '.join(dict.fromkeys(printed))}."
        for name, stems in wanted.items()
        if not stems & set(printed)
    ]
    found = [replace(s, tables=tuple(table for table in s.tables if table.spec.name in kept)) for s in sections]
    return [s for s in found if s.tables or s.figures or s.notes], problems


def _filled(
    declared: DeclaredTable, data: Mapping[str, pd.DataFrame], labels: Mapping[str, str], *, simulated: bool
) -> Table:
    by_model = declared.rows == BY_MODEL
    found = {measure: estimates_of(declared, measure, data) for measure in declared.columns}
    key = "model" if by_model else "level"
    several = by_model and len({str(task) for part in found.values() for task in part.get("task", ())}) > 1
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for measure, part in found.items():
        for record in part.to_dict("records"):
            place = (str(record.get("task") or "") if several else "", str(record[key]))
            row = rows.setdefault(place, {"task": place[0], "label": labels.get(place[1], place[1])})
            row |= {name: record[name] for name in _SHARED if name in record}
            row |= _values(measure, record)
    table = pd.DataFrame(rows.values())
    for measure in declared.columns:
        empty = table[measure].isna()
        given = table[f"{measure}_reason"].fillna("").replace("", "not estimated here")
        table[f"{measure}_reason"] = given.where(empty, "")
    spec = TableSpec(
        declared.name,
        title=declared.title,
        columns=(
            Text("label", "Model" if by_model else _words(declared.rows)),
            *(_column(declared, measure, found[measure]) for measure in declared.columns),
        ),
        groups=("task",) if several else (),
        order=_order(declared, several=several),
        note=declared.note,
        number=declared.number,
        label=declared.label,
    )
    return Table(spec, table, simulated=simulated)


def estimates_of(declared: DeclaredTable, measure: str, data: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates of one measure, a row per model or level (and task).

    Parameters
    ----------
    declared : DeclaredTable
        Its rows, model, task and source.
    measure : str
    data : mapping of str to DataFrame
        Tables of results of all parts, by file stem.

    Raises
    ------
    AnalysisError
        No table of results holds the measure, or the factor, model or task.
    """
    for name in _sources(declared, data):
        part = data[name]
        part = part[part["measure"] == measure]
        if declared.task and "task" in part.columns:
            part = part[part["task"] == declared.task]
        if declared.rows != BY_MODEL:
            part = part[part["factor"].isin([declared.rows, f"factor.{declared.rows}", f"meta.{declared.rows}"])]
            if declared.model:
                part = part[part["model"] == declared.model]
        if "headline" in part.columns:
            part = part[part["headline"].astype(bool)]
        if len(part):
            return part
    of = "" if declared.rows == BY_MODEL else f" by {declared.rows}"
    known = sorted({str(m) for name in _sources(declared, data) for m in data[name]["measure"]})
    raise AnalysisError(f"no estimate of {measure!r}{of} here; there are {', '.join(known) or 'none'}")


def _sources(declared: DeclaredTable, data: Mapping[str, pd.DataFrame]) -> list[str]:
    """Tables of results that may hold the measures, in the order in which they are searched."""
    fitting = [name for name, table in data.items() if set(_NEEDED) <= set(table.columns)]
    if declared.rows != BY_MODEL:
        wanted = _BY_LEVEL if declared.model else _POOLED
        fitting = [name for name in fitting if {"level", "factor"} <= set(data[name].columns)]
        preferred = [declared.source or wanted]
    else:
        fitting = [name for name in fitting if not {"level", "group"} & set(data[name].columns)]
        preferred = [declared.source] if declared.source else [*_FIRST, *fitting]
    return [name for name in dict.fromkeys(preferred) if name in fitting]


def _values(measure: str, record: Mapping[Any, Any]) -> dict[str, Any]:
    ends = {"": "estimate", "_low": "ci_low", "_high": "ci_high", "_method": "ci_method", "_reason": "reason"}
    return {f"{measure}{ending}": record.get(column) for ending, column in ends.items()}


def _column(declared: DeclaredTable, measure: str, part: pd.DataFrame) -> Column:
    name, words = measure, declared.headers.get(measure, _words(measure))
    scale = set(part["scale"].dropna()) if "scale" in part.columns else set()
    signed = bool(scale - {"probability"}) and bool((part["ci_low"] < 0).any() or (part["estimate"] < 0).any())
    if declared.intervals:
        return Estimate(
            name, words, low=f"{name}_low", high=f"{name}_high", method=f"{name}_method", digits=declared.digits,
            signed=signed, reason=f"{name}_reason",
        )  # fmt: skip
    kind = Signed if signed else Number
    return kind(name, words, digits=declared.digits, reason=f"{name}_reason")


def _words(name: str) -> str:
    text = name.removeprefix("factor.").removeprefix("meta.").replace("_", " ")
    return text[:1].upper() + text[1:]


def _order(declared: DeclaredTable, *, several: bool) -> tuple[OrderBy, ...]:
    measure = declared.order.removeprefix("-")
    first = (OrderBy("task"),) if several else ()
    if not measure:
        return (*first, OrderBy("label", natural=True))
    if measure not in declared.columns:
        raise AnalysisError(f"order names {measure!r}, which is none of its columns")
    return (*first, OrderBy(measure, descending=declared.order.startswith("-")), OrderBy("label", natural=True))
