"""What the study planned to estimate and to test, before everything that was not planned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.frequentist.multiplicity import adjusted_bound, bonferroni, family_size, holm
from analysis.report.columns import Decision, Estimate, Number, PValue, Text
from analysis.report.content import Section, file_stem
from analysis.report.numbers import counted, level
from analysis.report.spec import Table, TableSpec, Where
from analysis.schema.report_settings import Family
from analysis.schema.study import Study
from analysis.studies.context import Part
from analysis.studies.summary import listed

EXPLORATORY: Final = (
    "Exploratory, but for what the section Primary analysis holds of it: study.toml names the rest not."
)
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
    attention, summary, tables, rows = [], [], [], []
    estimates = data.get("estimates", pd.DataFrame())
    if study.report.primary and len(estimates):
        tables += _estimates_table(study, estimates, labels, simulated=simulated)
    for family in study.families:
        found, problems = _tests(family, data)
        attention += problems
        if found.empty:
            attention.append(f"Family of tests {family.name!r}: these logs hold none of its tests.")
            continue
        found = _adjusted(found, family, labels, ci_level=ci_level)
        tables.append(_family_table(family, found, ci_level=ci_level, simulated=simulated))
        summary.append(_family_sentence(family, found, ci_level=ci_level))
        rows.append(found)
    lead = ("What study.toml names in advance; everything else in this report is exploratory.",)
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


def _estimates_table(
    study: Study, estimates: pd.DataFrame, labels: Mapping[str, str], *, simulated: bool
) -> list[Table]:
    """Planned measures by model."""
    measures = study.report.primary
    rows = estimates[estimates["measure"].isin(measures)]
    if rows.empty:
        return []
    rank = {measure: at for at, measure in enumerate(measures)}
    rows = rows.assign(
        words=[str(m).replace("_", " ") for m in rows["measure"]],
        label=[labels.get(str(m), str(m)) for m in rows["model"]],
        place=rows["measure"].map(rank),
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


def _tests(family: Family, data: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    """Tests of a family from all its tables, and what is wrong with their names."""
    parts, problems = [], []
    tested = sorted(name for name, table in data.items() if "p_value" in table.columns)
    for name in family.tests:
        if name not in tested:
            known = ", ".join(tested) or "none"
            problems.append(f"Family of tests {family.name!r}: no table of tests is called {name!r}; there is {known}.")
            continue
        table = data[name]
        named = {column: levels for column, levels in family.where.items() if column in table.columns}
        for column in set(family.where) - set(named):
            problems.append(f"Family of tests {family.name!r}: {name} has no column {column!r}; all of it is used.")
        for column, levels in named.items():
            table = table[table[column].astype(str).isin(levels)]
        parts.append(table.assign(source=name))
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()), problems


def _adjusted(tests: pd.DataFrame, family: Family, labels: Mapping[str, str], *, ci_level: float) -> pd.DataFrame:
    """One row per test with what it is, its p-value, and that adjusted over the family."""
    naming = [c for c in _NAMING if c in tests.columns and tests[c].nunique(dropna=True) > 1]
    naming = naming or [c for c in ("model", "measure", "test") if c in tests.columns][:1]
    p = tests["p_value"].to_numpy(float)
    resolution = tests["resolution"].to_numpy(float) if "resolution" in tests.columns else np.full(len(p), np.nan)
    adjusted = _ADJUST[family.method](p)
    shown = np.where(np.isnan(p), "not tested", np.where(adjusted <= 1 - ci_level, "shown", "not shown"))
    reasons = tests["reason"].fillna("").astype(str) if "reason" in tests.columns else pd.Series("", index=tests.index)
    return pd.DataFrame(
        {
            "family": family.name,
            "source": tests["source"],
            "what": [_named(row, naming, labels) for row in tests[naming].to_dict("records")],
            "estimate": tests["estimate"].to_numpy(float) if "estimate" in tests.columns else np.nan,
            "p_value": p,
            "p_floor": resolution,
            "p_adjusted": adjusted,
            "adjusted_floor": adjusted_bound(p, adjusted, resolution),
            "p_adjust_method": family.method,
            "family_size": family_size(p),
            "decision": shown,
            "reason": np.where(np.isnan(p), reasons.replace("", "not tested"), ""),
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
    spec = TableSpec(
        file_stem("family", family.name),
        title=f"Family of tests: {family.name}",
        columns=(
            *((Text("source", "Table"),) if several else ()),
            Text("what", "Test"),
            *((Number("estimate", "Estimate", digits=3),) if known else ()),
            PValue("p_value", "p", floor="p_floor"),
            PValue("p_adjusted", "p, adjusted", floor="adjusted_floor"),
            Decision("decision", "Decision", labels=_DECISIONS),
        ),
        note=f"Shown: the p-value adjusted over the family is at most {level(1 - ci_level)}.",
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
