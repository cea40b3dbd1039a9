"""Tables that the tests of every rendering share, and the comparison with golden files."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.report.columns import (
    Column,
    Count,
    Decision,
    Estimate,
    Interval,
    Percent,
    Proportion,
    PValue,
    Signed,
    Text,
)
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec, Where

GOLDEN = Path(__file__).parent / "golden"

#: Names as a log may hold them; each has broken some program's table.
HOSTILE_NAMES = (
    "a_b",
    "50%",
    "<script>alert(1)</script>",
    "$x$",
    "=cmd()",
    "two\nlines",
    "carriage\rreturn",
    "tab\tbed",
    "\u6a21\u578b\u4e00\u53f7",
    "rocket \U0001f680 \U0001f469\u200d\U0001f52c",
    "rtl \u202egnp.exe\u202c \u200f\u2066x\u2069",
    "\u05e9\u05dc\u05d5\u05dd",
    "x" * 150 + "y" * 150,
    "x" * 150 + "z" + "y" * 149,
    "\u6a21" * 300,
    r"back\slash \input{/etc/passwd} \\ \end{table}",
    "{braces} }{",
    "^~&# ^^41",
    "[1em] * [U+200F]",
    "*[x]",
    "-- --- ,, << >> '' `` !` ?` \"q\"",
    "pipe | `code` **bold** [link](http://example.org) <b>",
    "esc \x1b[31mred\x1b[0m \x07\x00\x9b",
    "lone \ud83d surrogate",
    "e\u0301 \u00e9 \u0130 \u0142 \u00df \u03b1 \u0391",
    "-->]]></style></table>",
    "'quoted' \"twice\" &amp; &#60;",
    " leading and  double  spaces ",
    " ",
    "",
)


def skip_or_fail(reason: str) -> None:
    """The rule for missing tools that all tests share."""
    source = Path(__file__).parents[1] / "conftest.py"
    spec = importlib.util.spec_from_file_location("conftest_of_all_tests", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.skip_or_fail(reason)


def matches_golden(text: str, name: str) -> bool:
    """Whether text equals a golden file, which EVENHAND_WRITE_GOLDEN=1 writes anew."""
    path = GOLDEN / name
    if os.environ.get("EVENHAND_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="")
    return path.read_bytes().decode("utf-8") == text


FLOOR_COLUMNS: tuple[Column, ...] = (
    Text("model", "Model"),
    Proportion("acc_va", "Valid, aff."),
    Proportion("acc_vn", "Valid, neg."),
    Proportion("acc_ia", "Invalid, aff."),
    Proportion("acc_in", "Invalid, neg."),
    Signed("answer_bias", "Bias", help="accuracy where Yes is right minus accuracy where No is right"),
    Estimate("floor", "Floor"),
    PValue("p_adjusted", "p"),
    Count("n", "Responses"),
)
CELLS = ("acc_va", "acc_vn", "acc_ia", "acc_in")
FLOOR = TableSpec(
    "floor",
    "Competence floor by model",
    FLOOR_COLUMNS,
    order="-floor",
    spanners=(Spanner("Accuracy by cell", CELLS),),
    note="The worse of the accuracies on yes-correct and on no-correct questions.",
    rule_where=Where("floor", ">", 0.5),
    bold_where=(Where("floor", ">", 0.5),),
    underline_where=tuple(Where(cell, "<", 0.5) for cell in CELLS),
)


def floor_rows() -> pd.DataFrame:
    """Six models: two above .5, three below, one without a scored response."""
    return pd.DataFrame(
        {
            "model": ["alpha:8b", "Beta 4.6", "gamma_mini", "d" * 24 + "-Instruct-" + "e" * 24, "eps&co", "empty"],
            "acc_va": [0.5, 0.9942, 0.977, 0.31, 0.9, np.nan],
            "acc_vn": [0.4, 0.636, 0.761, 0.62, 0.2, np.nan],
            "acc_ia": [0.3, 0.648, 0.98, 0.71, 0.1, np.nan],
            "acc_in": [0.2, 0.491, 0.372, 0.4, 0.7, np.nan],
            "answer_bias": [0.0, 0.1, -0.2015, 0.12, -0.05, np.nan],
            "floor": [0.3, 0.642, 0.6745, 0.41, 0.4996, np.nan],
            "ci_low": [0.25, 0.58, 0.6, 0.38, 0.47, np.nan],
            "ci_high": [0.36, 0.7, 0.74, 0.45, 0.57, np.nan],
            "ci_level": 0.95,
            "ci_method": "dual_wilson",
            "n": [11920, 11920, 11920, 11920, 920, 0],
            "n_clusters": 80,
            "p_adjusted": [1.0, 0.0002, 1e-9, 0.999, 0.04, np.nan],
            "p_adjust_method": "holm",
            "family_size": 5,
            "unit": "surface",
            "uncertain": "incorrect",
            "weights": "micro",
            "reason": [None, None, None, "2 of 80 surfaces have one row", "", "no scored responses"],
        }
    )


def hostile_table(count: int = len(HOSTILE_NAMES)) -> Table:
    """The first hostile names as rows, group labels, reasons and notes; all of them need several pages."""
    names = list(HOSTILE_NAMES[:count])
    rows = pd.DataFrame(
        {
            "model": names,
            "task": [names[at // 10] for at in range(len(names))],
            "estimate": [None if at % 5 == 0 else (-1) ** at * at / 100 for at in range(len(names))],
            "reason": names[::-1],
        },
        dtype=object,  # lone surrogates fit no Arrow string
    )
    columns = (Text("model", "Model & <b>_%$"), Signed("estimate", "d\u2032"))
    spec = TableSpec(
        "hostile", f"Names: {HOSTILE_NAMES[0]} {HOSTILE_NAMES[12]} {HOSTILE_NAMES[15]}", columns, groups=("task",)
    )
    return Table(spec, rows, notes=tuple(names))


def long_table(count: int = 95) -> Table:
    """A table over several pages, grouped, with intervals of both signs."""
    at = np.arange(count)
    value = np.linspace(-0.4, 0.4, count)
    rows = pd.DataFrame(
        {
            "strategy": np.where(at % 2, "zero-shot", "chain of thought"),
            "item": [f"level {i}" for i in at],
            "estimate": value,
            "ci_low": value - 0.1,
            "ci_high": value + 0.1,
            "ci_level": 0.95,
            "ci_method": "wilson",
            "rate": at / count,
            "decision": np.where(value > 0.1, "above", np.where(value < -0.1, "below", "undecided")),
        }
    )
    columns = (
        Text("item", "Level"),
        Signed("estimate", "Difference", digits=3),
        Interval(digits=2, signed=True),
        Percent("rate", "Uncertain"),
        Decision("decision", "Decision", labels={"above": "above", "below": "below", "undecided": "not decided"}),
    )
    order = (OrderBy("strategy", levels=("zero-shot", "chain of thought")), OrderBy("item", natural=True))
    return Table(TableSpec("levels", "Differences by level", columns, order=order, groups=("strategy",)), rows)
