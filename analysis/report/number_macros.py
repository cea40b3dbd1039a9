"""``numbers.tex``: every estimate of a report as a macro, to be cited in prose by a stable name."""

from collections.abc import Iterator, Mapping
from typing import Final

import pandas as pd

from analysis.report import numbers
from analysis.report.columns import is_missing
from analysis.report.content import file_stem
from analysis.report.latex_text import escape_latex

#: Tables of estimates -> what the names of their macros begin with.
SOURCES: Final[dict[str, str]] = {"estimates": "", "bayesian_estimates": "bayes"}
#: Columns that a table must have for its rows to become macros, beside ``task`` and ``model`` where it has them.
NEEDED: Final = ("measure", "estimate", "ci_low", "ci_high")
_DIGITS: Final = 3
_DEFINITIONS: Final = r"""% Estimates of this report, to be cited in prose: \input{numbers.tex} once, then
%   \evenhand{NAME}           estimate and interval
%   \evenhand[value]{NAME}    the estimate
%   \evenhand[interval]{NAME} the interval
%   \evenhand[p]{NAME}        the adjusted p-value, where there is a test
% NAME is one of the names below; an unknown one stops with an error that says so.
\makeatletter
\providecommand{\evenhand}[2][both]{\@ifundefined{evenhand@#1@#2}%
  {\PackageError{evenhand}{No #1 of "#2" in numbers.tex}{Names are listed in that file.}}%
  {\csname evenhand@#1@#2\endcsname}}
\providecommand{\evenhanddefine}[3]{\expandafter\gdef\csname evenhand@#1@#2\endcsname{#3}}
\makeatother
"""


def number_macros(data: Mapping[str, pd.DataFrame], *, simulated: bool = False) -> str:
    """LaTeX source that defines one name per estimate.

    Parameters
    ----------
    data : mapping of str to DataFrame
        Reduced tables of a report, by file stem; those of ``SOURCES`` are used.
    simulated : bool
        Said in the file's first line.

    Returns
    -------
    str
        ASCII. Names are ``[bayes:][task:]model:measure`` in small letters and digits, numbered from 2 where
        two models differ only in other characters. An undefined estimate prints as an en dash.
    """
    lines = ["% SIMULATED DATA: these numbers say nothing about any model.\n"] if simulated else []
    lines.append(_DEFINITIONS)
    tests = _adjusted_p(data.get("floor_tests"))
    for source, before in SOURCES.items():
        table = data.get(source)
        if table is not None and set(NEEDED) <= set(table.columns):
            lines += _macros(_chosen(table), before, tests if not before else {})
    return "".join(lines)


def _chosen(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that the report compares, where a table has several for one estimate."""
    return table[table["headline"].astype(bool)] if "headline" in table.columns else table


def _macros(table: pd.DataFrame, before: str, tests: Mapping[tuple[str, str], float]) -> Iterator[str]:
    names = _model_names(table)
    seen: set[str] = set()
    tasks = table["task"].fillna("").astype(str) if "task" in table.columns else pd.Series("", index=table.index)
    several = tasks.nunique() > 1
    for (_, row), task in zip(table.iterrows(), tasks, strict=True):
        model = str(row.get("model", ""))
        parts = [before, file_stem(task) if several else "", names[model], str(row["measure"]).replace("_", "-")]
        name = ":".join(part for part in parts if part)
        if name in seen:
            continue
        seen.add(name)
        p = tests.get((task, model)) if row["measure"] == "competence_floor" else None
        yield from _definitions(name, row, p)


def _model_names(table: pd.DataFrame) -> dict[str, str]:
    """A distinct name per model, in the order of the models' own names."""
    found: dict[str, str] = {}
    taken: dict[str, int] = {}
    for model in sorted(set(table["model"].astype(str))) if "model" in table.columns else [""]:
        stem = file_stem(model).replace("_", "-")
        taken[stem] = taken.get(stem, 0) + 1
        found[model] = stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"
    return found


def _definitions(name: str, row: pd.Series, p: float | None) -> Iterator[str]:
    printed = numbers.signed if str(row.get("scale", "probability")) != "probability" else numbers.fixed
    value = numbers.EN_DASH if is_missing(row["estimate"]) else printed(float(row["estimate"]), _DIGITS)
    ends = [numbers.EN_DASH if is_missing(row[end]) else printed(float(row[end]), _DIGITS) for end in NEEDED[2:]]
    interval = f"[{ends[0]}, {ends[1]}]" if set(ends) != {numbers.EN_DASH} else ""
    texts = {"value": value, "interval": interval or numbers.EN_DASH, "both": f"{value} {interval}".strip()}
    if p is not None:
        texts["p"] = numbers.p_value(p, _DIGITS)
    for part, text in texts.items():
        yield rf"\evenhanddefine{{{part}}}{{{name}}}{{{escape_latex(text)}}}" + "\n"


def _adjusted_p(tests: pd.DataFrame | None) -> dict[tuple[str, str], float]:
    """Adjusted p-value that the floor is above .5, by task and model."""
    if tests is None or "p_adjusted" not in tests.columns:
        return {}
    above = tests[(tests["alternative"] == "greater") & tests["p_adjusted"].notna()]
    return {
        (str(task or ""), str(model)): float(p)
        for task, model, p in zip(above["task"], above["model"], above["p_adjusted"], strict=True)
    }
