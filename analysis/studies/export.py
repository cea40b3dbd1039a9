"""Reduced tables of logs, or the data of a report, for R and Stan."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.comparison.shared_input import weighted_facets
from analysis.errors import AnalysisError
from analysis.reduction.cells import COUNTS
from analysis.report.content import file_stem
from analysis.studies.context import TaskContext
from analysis.studies.parts import with_estimates
from analysis.studies.weights import WEIGHTING
from analysis.vocabulary import OUTPUT_COLUMNS

#: Columns of reduced tables -> meaning, beside those of the vocabulary.
COLUMNS: Final[dict[str, str]] = {
    "item": "one question exactly as asked",
    "unit": "the independent unit that the item belongs to; in estimates: what the unit is",
    "gold": "right answer",
    "cell": "validity × polarity (VA, VN, IA, IN), or gold_yes and gold_no; empty without such cells",
    "stratum": "part of the cell that is weighted on its own; empty without any",
    "n_planned": "responses planned: answered, uncertain and set aside",
    "n_answered": "responses with a readable answer",
    "n_uncertain": "responses without a readable answer",
    "n_set_aside": "responses set aside (errored or missing)",
    "n_yes": "answered yes",
    "n_correct": "answered right",
    "w_scored": "weight of the scored responses (answered and uncertain)",
    "w_correct": "the part of w_scored that was right",
    "w_uncertain": "the part of w_scored that was uncertain",
    "w_answered": "weight of the answered responses",
    "w_correct_answered": "the part of w_answered that was right",
    "w_yes": "the part of w_scored that was answered yes",
    "weight": "weight of the row's accuracy within its cell",
}
TABLES: Final[dict[str, str]] = {
    "item_counts": "integer counts by model, item, factors and conditions; all estimates are made from it",
    "unit_sums": "counts and weighted sums by model, cell, stratum and unit",
    "facet_counts": "counts by model, cell, template and form, as the Bayesian model takes them",
    "estimates": "frequentist estimates, one row per model and measure",
    "stan_labels": "what the indices of the Stan data stand for",
}
_INDEXED: Final = ("model", "item", "unit", "cell")


@dataclass(frozen=True, slots=True)
class Export:
    """What is exported: tables by file stem, and further texts by file name."""

    tables: Mapping[str, pd.DataFrame]
    texts: Mapping[str, str] = field(default_factory=dict)


def export_logs(contexts: Sequence[TaskContext], *, source: str) -> Export:
    """Reduced tables and Stan data of all tasks whose responses are right or wrong.

    Parameters
    ----------
    contexts : sequence of TaskContext
    source : str
        What was read, for the description.

    Raises
    ------
    AnalysisError
        Nothing is right or wrong in any task.
    """
    parts: dict[str, list[pd.DataFrame]] = {}
    texts: dict[str, str] = {}
    left_out: list[str] = []
    for context in map(with_estimates, contexts):
        if isinstance(context.counts, str) or context.sums is None or context.estimates is None:
            left_out.append(f"{context.design.task or 'unnamed task'}: {context.counts}")
            continue
        counts = context.counts.astype({name: "str" for name in context.counts.columns if name not in COUNTS})
        data, labels = stan_data(counts)
        name = _free(file_stem("stan_data", context.design.task), texts)
        texts[name] = json.dumps(data, separators=(",", ":"), allow_nan=False) + "\n"
        for stem, table in {
            "item_counts": counts,
            "unit_sums": context.sums,
            "facet_counts": weighted_facets(context.counts, **WEIGHTING[context.design.weights]),
            "estimates": context.estimates,
            "stan_labels": labels.assign(file=name)[["file", *labels.columns]],
        }.items():
            if len(table):  # no facets where there are no cells
                parts.setdefault(stem, []).append(table.assign(simulated=context.design.simulated))
    if not parts:
        raise AnalysisError(f"nothing to export: {'; '.join(left_out) or 'there is no task'}")
    tables = {stem: _joined(found) for stem, found in parts.items()}
    readme = describe(tables, source=source, stan=tuple(texts), left_out=left_out)
    return Export(tables, {**texts, "README.md": readme})


def export_report(tables: Mapping[str, pd.DataFrame], *, source: str) -> Export:
    """The data of a report; it keeps no counts by item, so there are no Stan data.

    Parameters
    ----------
    tables : mapping
        Data by file stem.
    source : str
    """
    missing = "item_counts, facet_counts and Stan data: a report does not keep them; export its logs"
    return Export(dict(tables), {"README.md": describe(tables, source=source, stan=(), left_out=(missing,))})


def stan_data(counts: pd.DataFrame) -> tuple[dict[str, Any], pd.DataFrame]:
    """Counts of one task as Stan data: sizes, indices from 1, integer counts; and what the indices stand for.

    Parameters
    ----------
    counts : DataFrame
        As ``reduction.cells.item_counts`` returns, its keys as text; rows with nothing scored are left out.

    Returns
    -------
    dict, DataFrame
        ``N, n_models, n_items, n_units, n_cells``, ``model, item, unit, cell`` and the counts, one entry per row;
        ``variable, index, name``.
    """
    scored = (counts["n_answered"] + counts["n_uncertain"]).to_numpy()
    rows = counts[scored > 0]
    data: dict[str, Any] = {"N": len(rows)}
    labels = []
    for name in _INDEXED:
        index, levels = _indices(rows[name])
        data |= {f"n_{name}s": len(levels), name: index.tolist()}
        labels.append(pd.DataFrame({"variable": name, "index": np.arange(1, len(levels) + 1), "name": levels}))
    data["n_scored"] = scored[scored > 0].astype(int).tolist()
    data |= {name: rows[name].astype(int).tolist() for name in ("n_answered", "n_uncertain", "n_yes", "n_correct")}
    return data, pd.concat(labels, ignore_index=True)


def describe(tables: Mapping[str, pd.DataFrame], *, source: str, stan: Sequence[str], left_out: Sequence[str]) -> str:
    """README of an export: its files, and the meaning of every column that has one."""
    lines = [f"# Reduced data of {_code(source)}", ""]
    if any(bool(table["simulated"].any()) for table in tables.values() if "simulated" in table.columns):
        lines += ["**SIMULATED DATA**: the responses come from a generator, not from language models.", ""]
    lines += [
        "Every table is there as Parquet (exact) and as CSV in UTF-8 with full precision, where text that a "
        "spreadsheet would take for a formula begins with `'`. An empty cell is a missing value, or a level that an "
        "item does not have.",
        "",
        "| table | rows | what it holds |",
        "|---|---|---|",
        *(
            f"| `{stem}` | {len(table):,} | {TABLES.get(stem, 'data of the report')} |"
            for stem, table in tables.items()
        ),
        "",
    ]
    if stan:
        lines += [
            f"Stan data, one file per task: {', '.join(f'`{name}`' for name in stan)}. `N` rows of `item_counts` with "
            "a scored response; `model`, `item`, `unit`, `cell` are indices from 1 with the sizes `n_models`, "
            "`n_items`, `n_units`, `n_cells`, named in `stan_labels`; `n_scored` = `n_answered` + `n_uncertain`, "
            "`n_yes` and `n_correct` are counts among the answered.",
            "",
        ]
    if left_out:
        lines += ["Not exported:", "", *(f"- {_code(text)}" for text in left_out), ""]
    names = list(dict.fromkeys(str(name) for table in tables.values() for name in table.columns))
    meanings = OUTPUT_COLUMNS | COLUMNS
    lines += ["| column | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meanings[name]} |" for name in names if name in meanings]
    others = [name for name in names if name not in meanings]
    if others:
        lines += ["", f"Other columns, factors and conditions among them: {', '.join(map(_code, others))}."]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """Text from logs as code, on one line and without what would end it."""
    return "`" + "".join(c if c.isprintable() and c != "`" else "?" for c in text) + "`"


def _indices(column: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    levels = sorted(set(column))
    place = {level: at for at, level in enumerate(levels, 1)}
    return np.array([place[level] for level in column], dtype=np.int64), levels


def _joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of all tasks; a factor that a task does not have is the empty level there."""
    names = dict.fromkeys(name for table in tables for name in table.columns if name not in (*COUNTS, "simulated"))
    keys = [name for name in names if all(_is_text(table, name) for table in tables)]
    filled = [table.assign(**{name: "" for name in keys if name not in table.columns}) for table in tables]
    joined = pd.concat(filled, ignore_index=True)
    counts = [name for name in joined.columns if name in (*COUNTS, "simulated")]
    return joined[[*(name for name in joined.columns if name not in counts), *counts]]


def _is_text(table: pd.DataFrame, name: str) -> bool:
    return name not in table.columns or not pd.api.types.is_numeric_dtype(table[name])


def _free(stem: str, taken: Mapping[str, str]) -> str:
    """A file name that no earlier task has."""
    name, number = f"{stem}.json", 2
    while name in taken:
        name, number = f"{stem}_{number}.json", number + 1
    return name
