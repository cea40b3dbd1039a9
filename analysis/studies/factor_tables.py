"""Tables of a factor: its levels for all models together, their range by model, distances from a baseline."""

import math
from collections.abc import Mapping
from typing import Final

import pandas as pd

from analysis.frequentist.factor_levels import BaselineDifferences, TreatedLevels
from analysis.report.columns import Column, Count, Estimate, Number, Proportion, PValue, Signed, Text
from analysis.report.numbers import fixed
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import table_name

#: More levels than this are not printed side by side.
MOST_COLUMNS: Final = 8
#: Measures of which the range is printed for the question form, beside accuracy.
BY_FORM: Final = {"answer_bias": "Answer bias", "polarity_sensitivity": "Polarity sensitivity"}


def factor_label(factor: str) -> str:
    """Name of a factor as printed."""
    return factor.removeprefix("factor.").replace("_", " ")


def named(rows: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Rows with the printed name of their model."""
    return rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])


def pooled_table(design: TaskDesign, levels: TreatedLevels, rows: pd.DataFrame) -> Table:
    """Accuracy of all models together by level, with the contrasts that the cells allow."""
    label = factor_label(levels.arrays.factor)
    heads = {
        "accuracy": ("Accuracy", False),
        "acc_affirmative": ("Affirmative", False),
        "acc_negated": ("Negated", False),
        "acc_difference": ("Aff. − neg.", True),
        "answer_bias": ("Bias", True),
        "polarity_sensitivity": ("PS", True),
    }
    wide = rows[["level"]].drop_duplicates().reset_index(drop=True)
    columns: list[Column] = [Text("level", label.capitalize())]
    constant = {name: rows[name].iloc[0] for name in ("ci_level", "unit", "uncertain")}
    for measure, (head, signed) in heads.items():
        part = rows[rows["measure"] == measure].set_index("level")
        if part.empty or (part["estimate"].isna().all() and measure != "accuracy"):
            continue
        ends = {"": "estimate", "_low": "ci_low", "_high": "ci_high", "_method": "ci_method", "_reason": "reason"}
        wide = wide.assign(**{measure + end: wide["level"].map(part[column]) for end, column in ends.items()})
        columns.append(
            Estimate(
                measure, head, low=f"{measure}_low", high=f"{measure}_high", method=f"{measure}_method",
                reason=f"{measure}_reason", signed=signed,
            )
        )  # fmt: skip
    own = rows[rows["measure"] == "accuracy"].set_index("level")
    wide = wide.assign(n=wide["level"].map(own["n"]), n_clusters=wide["level"].map(own["n_clusters"]), **constant)
    columns += [Count("n", "n", help="scored responses of all models"), Count("n_clusters", "Units")]
    note = "All models together; within a level every response weighs the same."
    if levels.arrays.four:
        note += (
            " Bias and PS weigh the four cells alike; Aff. − neg. weighs responses alike. A factor whose levels do not "
            "have all four cells has no bias or PS."
        )
    spec = TableSpec(
        table_name(f"levels_{label}", design),
        title=f"Accuracy by {label}, all models",
        columns=tuple(columns),
        note=note,
    )
    return Table(spec, wide, simulated=design.simulated)


def range_table(
    design: TaskDesign, levels: TreatedLevels, rows: pd.DataFrame, measure: str, labels: Mapping[str, str]
) -> Table:
    """Levels of every model, their range, and what the range would be by chance; largest first."""
    label, accuracy = factor_label(levels.arrays.factor), measure == "accuracy"
    shown = levels.arrays.levels if len(levels.arrays.levels) <= MOST_COLUMNS else ()
    kind = Proportion if accuracy else Signed
    columns = [kind(f"level_{k}", level, digits=2, reason=f"level_{k}_reason") for k, level in enumerate(shown)]
    rows = named(rows, labels)
    for k in range(len(shown)):
        lost = rows[f"level_{k}"].isna()
        rows[f"level_{k}_reason"] = lost.map({True: "no response at this level that can be used", False: ""})
    for name in ("null_range", "denoised_range", "denoised_sd", "p_value", "p_adjusted", "estimate"):
        rows[f"{name}_reason"] = rows["reason"].where(rows[name].isna(), "")
    what = "accuracy" if accuracy else BY_FORM[measure].lower()
    largest = rows["largest_null"].dropna()
    note = (
        f"Range: largest minus smallest {what}; each unit weighs the same. By chance: the range to be expected if all "
        "levels were alike (d_k × standard error). p: levels permuted "
        + ("within units" if (rows["design"] == "within").all() else "over units, each of which has one level")
        + ". Denoised: what is left of the range, and of the standard deviation between levels, after that noise."
    )
    if len(rows) > 1 and len(largest):
        note += (
            f" Models are sorted by range, so the first rows are a selection: without any effect the largest of "
            f"{len(rows)} ranges would be {fixed(float(largest.iloc[0]), 3)} on average and exceed "
            f"{fixed(float(rows['largest_null_95'].dropna().iloc[0]), 3)} in one of 20 such studies."
        )
    spec = TableSpec(
        table_name(
            f"{measure}_by_{label.replace(' ', '_')}" if not accuracy else f"by_{label.replace(' ', '_')}", design
        ),
        title=f"{what.capitalize()} by {label} and model",
        columns=(
            Text("label", "Model"),
            *columns,
            Number("estimate", "Range", digits=3, reason="estimate_reason"),
            Number("null_range", "By chance", digits=3, reason="null_range_reason"),
            PValue("p_value", "p", floor="resolution", reason="p_value_reason"),
            PValue("p_adjusted", "Holm", floor="adjusted_bound", reason="p_adjusted_reason"),
            Number("denoised_range", "Denoised range", digits=3, reason="denoised_range_reason"),
            Estimate(
                "denoised_sd", "Denoised SD", low="denoised_low", high="denoised_high", reason="denoised_sd_reason"
            ),
        ),
        spanners=(Spanner(label.capitalize(), tuple(c.name for c in columns)),) if columns else (),
        order=("-estimate", "label"),
        note=note,
    )
    return Table(spec, rows, simulated=design.simulated)


def baseline_table(design: TaskDesign, found: BaselineDifferences, labels: Mapping[str, str]) -> Table:
    """Accuracy of every level minus the baseline in percentage points, one row per model."""
    factor, baseline = str(found.rows["factor"].iloc[0]), str(found.rows["baseline"].iloc[0])
    label = factor_label(factor)
    levels = list(dict.fromkeys(found.rows["level"]))
    rows = named(found.largest, labels).assign(unit=unit_used(design), uncertain=design.uncertain)
    columns: list[Column] = []
    for k, level in enumerate(levels):
        part = found.rows[found.rows["level"] == level].set_index("model")
        ends = {"": "estimate", "_low": "ci_low", "_high": "ci_high", "_reason": "reason"}
        rows = rows.assign(**{f"level_{k}{end}": rows["model"].map(part[column]) for end, column in ends.items()})
        columns.append(
            Estimate(
                f"level_{k}", level, low=f"level_{k}_low", high=f"level_{k}_high", reason=f"level_{k}_reason",
                signed=True, percent=True, digits=1,
            )
        )  # fmt: skip
    rows = rows.assign(ci_level=found.rows["ci_level"].iloc[0], ci_method=found.rows["ci_method"].iloc[0])
    rows["chance_reason"] = rows["reason"].where(rows["p_value"].isna(), "")
    reference = found.reference
    note = (
        f"Accuracy minus that with {label} {baseline!r}, in percentage points; the limits of a row hold together. "
        "Largest: the largest absolute difference; by chance: what it would be on average without any effect; "
        "p: of the largest difference in standard errors."
    )
    if len(rows) > 1 and math.isfinite(reference.all_null):
        usual, seldom = (fixed(100 * value, 1) for value in (reference.all_null, reference.all_null_95))
        note += (
            f" Sorted by it, the first rows are a selection: without any effect the largest of {len(rows)} models "
            f"would be {usual} points on average and exceed {seldom} in one of 20 such studies."
        )
    rows = rows.assign(**{name: 100 * rows[name] for name in ("estimate", "null_largest")})
    spec = TableSpec(
        table_name(f"baseline_{label}", design),
        title=f"Accuracy by {label}, minus {baseline}",
        columns=(
            Text("label", "Model"),
            *columns,
            Number("estimate", "Largest", digits=1, reason="chance_reason"),
            Number("null_largest", "By chance", digits=1, reason="chance_reason"),
            PValue("p_value", "p", floor="resolution", reason="chance_reason"),
            PValue("p_adjusted", "Holm", floor="adjusted_bound", reason="chance_reason"),
        ),
        order=("-estimate", "label"),
        note=note,
    )
    return Table(spec, rows, simulated=design.simulated)
