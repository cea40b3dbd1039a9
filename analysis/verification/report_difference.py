"""Two reports beside each other: settings, inputs and versions that differ, and numbers that changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.schema.quoting import shown
from analysis.verification.written_report import data_names, read_data, read_manifest

#: Numbers that differ by less than this share of the larger one, or by less than this, are the same.
ROUNDING: Final = 1e-9
#: Columns that say which result a row is; the others are what may change.
IDENTITY: Final[tuple[str, ...]] = (
    "task", "model", "model_a", "model_b", "family", "measure", "cell", "stratum", "unit", "item", "factor", "level",
    "level_a", "level_b", "condition", "template", "form", "item_family", "identity", "target", "uncertain", "weights",
    "weighting", "restriction", "contrast", "alternative", "test", "likelihood", "pooling", "variant", "prior", "stage",
    "gate", "name", "treatment", "status", "file", "note",
)  # fmt: skip
#: Of these, those that a setting decides: where they are the same in all rows of a report, they say nothing of a row.
_OF_SETTINGS: Final = frozenset({"uncertain", "weights", "target", "unit"})
#: Data of a report that are no results.
_NOT_COMPARED: Final = ("files", "statuses", "set_aside")


@dataclass(frozen=True, slots=True)
class ReportDifference:
    """What differs between two reports.

    Attributes
    ----------
    choices : DataFrame
        ``kind`` (setting, version, input), ``name``, ``before``, ``after``: all that differ; empty where one
        has none.
    numbers : DataFrame
        One row per data file and column with a change: ``data, column, compared, changed, largest`` (absolute).
    values : DataFrame
        Every changed value: ``data, column, row`` (what it is about), ``before, after, change``; texts have no
        change.
    rows : DataFrame
        ``data, compared, before_only, after_only``: rows of every data file.
    simulated : bool
        Whether one of them is about generated logs.
    """

    choices: pd.DataFrame
    numbers: pd.DataFrame
    values: pd.DataFrame
    rows: pd.DataFrame
    simulated: bool


def report_difference(before: Path, after: Path, *, tolerance: float = ROUNDING) -> ReportDifference:
    """Compare the data of two reports; nothing is estimated anew.

    Parameters
    ----------
    before, after : Path
        Folders of reports.
    tolerance : float >= 0
        Differences up to this share of the larger number, or up to this, are rounding.

    Raises
    ------
    AnalysisError
        A folder holds no report, or its data cannot be read.
    """
    if not 0 <= tolerance < 1:
        raise AnalysisError(f"the tolerance must lie in [0, 1), not {tolerance:g}")
    first, second = read_manifest(before), read_manifest(after)
    names = [data_names(manifest) for manifest in (first, second)]
    values, rows = [], []
    for name in sorted({*names[0], *names[1]} - set(_NOT_COMPARED)):
        tables = [
            read_data(folder, name) if name in own else None for folder, own in zip((before, after), names, strict=True)
        ]
        found, account = _compared(name, tables[0], tables[1], tolerance)
        values.append(found)
        rows.append(account)
    columns = ["data", "column", "row", "before", "after", "change", "compared"]
    every = pd.concat(values, ignore_index=True) if values else pd.DataFrame(columns=columns)
    numbers = every.assign(size=every["change"].astype(float).abs()).groupby(["data", "column"], sort=True).agg(
        compared=("compared", "first"), changed=("row", "size"), largest=("size", "max")
    )  # fmt: skip
    return ReportDifference(
        choices=_choices(first, second),
        numbers=numbers.reset_index(),
        values=every.drop(columns="compared"),
        rows=pd.DataFrame(rows, columns=["data", "compared", "before_only", "after_only"]),
        simulated=bool(first.get("simulated") or second.get("simulated")),
    )


def _choices(before: Mapping[str, Any], after: Mapping[str, Any]) -> pd.DataFrame:
    kinds = {
        "setting": [dict(m.get("settings", {})) for m in (before, after)],
        "version": [
            dict(m.get("versions", {})) | {"python": m.get("python"), "schema": m.get("schema_version")}
            for m in (before, after)
        ],
        "input": [{e["path"]: e.get("sha256") for e in m.get("inputs", [])} for m in (before, after)],
    }
    rows = [
        {"kind": kind, "name": str(name), "before": _text(one.get(name)), "after": _text(two.get(name))}
        for kind, (one, two) in kinds.items()
        for name in sorted({*one, *two}, key=str)
        if one.get(name) != two.get(name)
    ]
    return pd.DataFrame(rows, columns=["kind", "name", "before", "after"])


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _compared(
    name: str, before: pd.DataFrame | None, after: pd.DataFrame | None, tolerance: float
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Changed values of one data file, and its rows."""
    empty = pd.DataFrame(columns=["data", "column", "row", "before", "after", "change", "compared"])
    if before is None or after is None:
        sizes = [0 if table is None else len(table) for table in (before, after)]
        return empty, {"data": name, "compared": 0, "before_only": sizes[0], "after_only": sizes[1]}
    shared = [column for column in before.columns if column in after.columns]
    keys = [
        column
        for column in IDENTITY
        if column in shared
        and not (column in _OF_SETTINGS and max(before[column].nunique(), after[column].nunique()) <= 1)
    ]
    one, two = _keyed(before[shared], keys), _keyed(after[shared], keys)
    both = one.merge(two, on=[*keys, "_at"], how="outer", suffixes=("_1", "_2"), indicator=True)
    matched = both[both["_merge"] == "both"].reset_index(drop=True)
    account = {
        "data": name,
        "compared": len(matched),
        "before_only": int((both["_merge"] == "left_only").sum()),
        "after_only": int((both["_merge"] == "right_only").sum()),
    }
    parts = [
        _changed(name, column, matched, keys, tolerance) for column in shared if column not in keys and len(matched)
    ]
    parts = [part for part in parts if len(part)]
    return (pd.concat(parts, ignore_index=True) if parts else empty), account


def _keyed(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Keys as text, and the place of a row among those of one key."""
    texts = table.assign(**{key: table[key].astype("object").map(_key_text) for key in keys})
    place = texts.groupby(list(keys), sort=False).cumcount() if keys else pd.Series(np.arange(len(texts)))
    return texts.assign(_at=place.to_numpy())


def _key_text(value: Any) -> str:
    return "" if value is None or value is pd.NA or value != value else str(value)


def _changed(name: str, column: str, matched: pd.DataFrame, keys: Sequence[str], tolerance: float) -> pd.DataFrame:
    one, two = matched[f"{column}_1"], matched[f"{column}_2"]
    if pd.api.types.is_numeric_dtype(one) and pd.api.types.is_numeric_dtype(two):
        first, second = one.to_numpy(float), two.to_numpy(float)
        same = np.isclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True)
        with np.errstate(invalid="ignore"):  # infinite on both sides: no change
            change = second - first
    else:
        first, second = (side.astype("object").map(_key_text).to_numpy() for side in (one, two))
        same, change = first == second, np.full(len(one), np.nan)
    at = np.flatnonzero(~same)
    labels = [
        ", ".join(str(v) for v in row if v) for row in matched.loc[at, list(keys)].itertuples(index=False, name=None)
    ]
    return pd.DataFrame(
        {
            "data": name,
            "column": column,
            "row": labels,
            "before": [_printed(first[i]) for i in at],
            "after": [_printed(second[i]) for i in at],
            "change": change[at],
            "compared": len(matched),
        }
    )


def _printed(value: Any) -> str:
    """Number in short form, or text; a missing one is empty."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def is_report(path: Path) -> bool:
    """Whether a path is the folder of a report, damaged ones and those of other versions included."""
    return path.is_dir() and (path / "manifest.json").is_file()


def refuse_mixture(before: Path, after: Path) -> None:
    """Refuse a report beside logs: what a report keeps allows no paired test."""
    if is_report(before) != is_report(after):
        report, logs = (before, after) if is_report(before) else (after, before)
        raise AnalysisError(
            f"{shown(str(report))} is a report and {shown(str(logs))} is not; give two reports, or the logs of both"
        )


def refuse_texts(*folders: Path) -> None:
    """Refuse reports that were made with the texts of the logs: their items, levels and messages may hold some.

    Raises
    ------
    AnalysisError
        One of them was made without ``--no-text``, or is no report.
    """
    texts = [str(folder) for folder in folders if not read_manifest(folder).get("settings", {}).get("no_text")]
    if texts:
        raise AnalysisError(
            f"--no-text: {' and '.join(texts)} may hold texts of the logs; make it anew from its logs with --no-text"
        )
