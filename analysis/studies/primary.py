"""What the study planned to estimate and to test, before everything that was not planned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.multiplicity import adjusted_bound, bonferroni, family_size, holm
from analysis.report.columns import Decision, Estimate, Number, PValue, Text
from analysis.report.content import Section, file_stem
from analysis.report.numbers import counted, level
from analysis.report.spec import Table, TableSpec, Where
from analysis.schema.report_settings import DeclaredTable, Family
from analysis.schema.study import Study
from analysis.studies.context import Part
from analysis.studies.declared_tables import estimates_of
from analysis.studies.summary import listed

EXPLORATORY: Final = "Exploratory, but for what the section Primary analysis holds of it, which study.toml names."
NO_ESTIMATE: Final = "this test has no estimate"
_NOTHING: Final = "These logs hold nothing of it."
_ADJUST: Final[dict[str, Callable[[Any], Any]]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "none": lambda p: np.asarray(p, float),
}
#: Columns that tell the tests of a table apart, in the order in which they are named.
_NAMING: Final = (
    "task", "model", "model_a", "model_b", "contrast", "factor", "baseline", "part", "pair", "first", "second",
    "measure", "rung", "kind", "alternative", "test",
)  # fmt: skip
_DECISIONS: Final = {"shown": "shown", "not shown": "not shown", "not tested": "not tested"}


def primary_part(
    study: Study, data: Mapping[str, pd.DataFrame], labels: Mapping[str, str], *, ci_level: float, simulated: bool
) -> Part | None:
    """The planned estimates and families of tests, adjusted over each family; None where nothing was planned.

    Parameters
    ----------
    study : Study
    data : mapping of str to DataFrame
        Tables of results of all parts, by file stem.
    labels : mapping of str to str
        Model -> name to print.
    ci_level : float
    simulated : bool
    """
    if not study.report.primary and not study.families:
        return None
    estimates, attention = _planned_estimates(study, data)
    summary, rows = [], []
    tables = _estimates_table(estimates, labels, simulated=simulated)
    for family in study.families:
        found, naming, problems = _tests(family, data)
        attention += problems
        if found.empty:
            attention.append(f"Family of tests {family.name!r}: these logs hold none of its tests.")
            continue
        found = _adjusted(found, family, naming, labels, ci_level=ci_level)
        tables.append(_family_table(family, found, ci_level=ci_level, simulated=simulated))
        summary.append(_family_sentence(family, found, ci_level=ci_level))
        rows.append(found)
    lead: tuple[str, ...] = ("What study.toml names in advance; everything else in this report is exploratory.",)
    lead += () if tables else (_NOTHING,)
    return Part(
        (Section("Primary analysis", lead=lead, tables=tuple(tables)),),
        summary=tuple(summary),
        attention=tuple(attention),
        methods=_methods(study),
        data={"families": pd.concat(rows, ignore_index=True)} if rows else {},
    )


def labelled_exploratory(sections: Sequence[Section], study: Study) -> list[Section]:
    """Sections of results that say that they are exploratory, where the study names what is not."""
    if not study.report.primary and not study.families:
        return list(sections)
    return [replace(section, lead=(EXPLORATORY, *section.lead)) for section in sections]


def _planned_estimates(study: Study, data: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    """Estimates of the planned measures from whatever table holds them, and which are nowhere."""
    parts, problems = [], []
    for place, measure in enumerate(study.report.primary):
        try:
            found = estimates_of(DeclaredTable("", "", (measure,)), measure, data)
        except AnalysisError as error:
            problems.append(f"Primary measure {measure!r}: {error}.")
        else:
            parts.append(found.assign(place=place))
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()), problems


def _estimates_table(rows: pd.DataFrame, labels: Mapping[str, str], *, simulated: bool) -> list[Table]:
    """Planned measures by model."""
    if rows.empty:
        return []
    rows = rows.assign(
        words=[str(m).replace("_", " ") for m in rows["measure"]],
        label=[labels.get(str(m), str(m)) for m in rows["model"]],
        task=rows["task"].fillna("") if "task" in rows.columns else "",
    )
    several = rows["task"].nunique() > 1
    spec = TableSpec(
        "primary_estimates",
        title="Primary estimates",
        columns=(
            *((Text("task", "Task"),) if several else ()),
            Text("label", "Model"),
            Estimate("estimate", "Estimate", digits=3),
        ),
        groups=("words",),
        order=(*(("task",) if several else ()), "place", "label"),
    )
    return [Table(spec, rows, simulated=simulated)]


def _tests(family: Family, data: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Tests of a family from all its tables, the columns that tell those tables' tests apart, and what is wrong."""
    wholes, parts, problems = [], [], []
    tested = sorted(name for name, table in data.items() if "p_value" in table.columns)
    absent = {column: set(levels) for column, levels in family.where.items()}
    for name in family.tests:
        if name not in tested:
            known = ", ".join(tested) or "none"
            problems.append(f"Family of tests {family.name!r}: no table of tests is called {name!r}; there is {known}.")
            continue
        table = data[name]
        wholes.append(table)
        named = {column: levels for column, levels in family.where.items() if column in table.columns}
        for column in set(family.where) - set(named):
            problems.append(f"Family of tests {family.name!r}: {name} has no column {column!r}; all of it is used.")
        chosen = pd.Series(True, index=table.index)
        for column, levels in named.items():
            texts = table[column].astype(str)
            absent[column] -= set(texts)
            chosen &= texts.isin(levels)
        parts.append(table[chosen].assign(source=name))
    for column, missing in absent.items():
        if missing and any(column in table.columns for table in wholes):
            said = ", ".join(map(repr, sorted(missing)))
            problems.append(
                f"Family of tests {family.name!r}: no test has {column} {said}; those of the others are used."
            )
    if not parts:
        return pd.DataFrame(), [], problems
    whole = pd.concat(wholes, ignore_index=True)
    naming = [c for c in _NAMING if c in whole.columns and whole[c].nunique(dropna=True) > 1]
    naming = naming or [c for c in ("model", "measure", "test") if c in whole.columns][:1]
    return pd.concat(parts, ignore_index=True), naming, problems


def _adjusted(
    tests: pd.DataFrame, family: Family, naming: Sequence[str], labels: Mapping[str, str], *, ci_level: float
) -> pd.DataFrame:
    """One row per test with what it is, its p-value, and that adjusted over the family."""
    p = tests["p_value"].to_numpy(float)
    resolution = tests["resolution"].to_numpy(float) if "resolution" in tests.columns else np.full(len(p), np.nan)
    adjusted = _ADJUST[family.method](p)
    shown = np.where(np.isnan(p), "not tested", np.where(adjusted <= 1 - ci_level, "shown", "not shown"))
    reasons = tests["reason"].fillna("").astype(str) if "reason" in tests.columns else pd.Series("", index=tests.index)
    estimate = tests["estimate"].to_numpy(float) if "estimate" in tests.columns else np.full(len(p), np.nan)
    known = ~np.isnan(estimate)
    return pd.DataFrame(
        {
            "family": family.name,
            "source": tests["source"],
            "what": [_named(row, naming, labels) for row in tests.to_dict("records")],
            "estimate": estimate,
            "p_value": p,
            "p_floor": resolution,
            "p_adjusted": adjusted,
            "adjusted_floor": adjusted_bound(p, adjusted, resolution),
            "p_adjust_method": family.method,
            "family_size": family_size(p),
            "decision": shown,
            "reason": np.where(np.isnan(p), reasons.replace("", "not tested"), np.where(known, "", NO_ESTIMATE)),
        }
    )


def _named(row: Mapping[Any, Any], naming: Sequence[str], labels: Mapping[str, str]) -> str:
    """What one test is about, from the columns that tell the tests apart."""
    words = []
    for name in naming:
        value = row[name]
        if value is None or (isinstance(value, float) and np.isnan(value)) or value == "":
            continue
        text = str(value)
        words.append(labels.get(text, text) if name.startswith("model") else text.replace("_", " "))
    return ", ".join(words) or "the test"


def _family_table(family: Family, rows: pd.DataFrame, *, ci_level: float, simulated: bool) -> Table:
    several = rows["source"].nunique() > 1
    known = rows["estimate"].notna().any()
    over = ", which study.toml leaves unadjusted," if family.method == "none" else " adjusted over the family"
    spec = TableSpec(
        file_stem("family", family.name),
        title=f"Family of tests: {family.name}",
        columns=(
            *((Text("source", "Table"),) if several else ()),
            Text("what", "Test"),
            *((Number("estimate", "Estimate", digits=3),) if known else ()),
            PValue("p_value", "p", floor="p_floor"),
            *(() if family.method == "none" else (PValue("p_adjusted", "p, adjusted", floor="adjusted_floor"),)),
            Decision("decision", "Decision", labels=_DECISIONS),
        ),
        note=f"Shown: the p-value{over} is at most {level(1 - ci_level)}.",
        bold_where=(Where("decision", "==", "shown", meaning="shown"),),
    )
    return Table(spec, rows, simulated=simulated)


def _family_sentence(family: Family, rows: pd.DataFrame, *, ci_level: float) -> str:
    tested = int(rows["family_size"].iloc[0])
    shown = rows.loc[rows["decision"] == "shown", "what"].astype(str).tolist()
    said = f"Primary tests, {family.name}: {len(shown)} of {counted(tested, 'test')} shown at {level(1 - ci_level)}"
    said += f" ({_method(family)})"
    return f"{said}: {listed(shown, '; ')}." if shown else f"{said}."


def _method(family: Family) -> str:
    return "not adjusted" if family.method == "none" else f"{family.method.capitalize()} over the family"


def _methods(study: Study) -> tuple[str, ...]:
    if not study.families:
        return ()
    listed_families = "; ".join(f"{family.name} ({_method(family)})" for family in study.families)
    cited = " [@holm1979]" if any(family.method == "holm" for family in study.families) else ""
    return (f"Families of tests named in study.toml, each adjusted over all its tests: {listed_families}{cited}.",)
