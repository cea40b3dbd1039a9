"""Does accuracy depend on a factor of the items? Levels, their range beside chance, distance from a baseline."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from analysis.frequentist.factor_levels import (
    BaselineDifferences,
    TreatedLevels,
    baseline_differences,
    level_estimates,
    level_spread,
    treated,
)
from analysis.reduction.levels import factors_with_levels, level_arrays
from analysis.report.content import Section
from analysis.report.numbers import counted, fixed
from analysis.schema.task_design import TaskDesign
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import BY_FORM, baseline_table, factor_label, pooled_table, range_table
from analysis.studies.weights import unit_used

#: Factors with a part of their own, beside those of declared contrasts.
ELSEWHERE: Final = ("template", "item_family")
#: More levels than this are not compared.
MOST_LEVELS: Final = 30


def factors_part(context: TaskContext) -> Part | None:
    """One section per factor with two levels or more; the templates have a part of their own."""
    if isinstance(context.counts, str) or context.estimates is None or context.design.target == "census":
        return None
    counts = unit_counts(context)
    factors = factors_with_levels(context.design, counts)
    elsewhere = {*ELSEWHERE, *(contrast.factor for contrast in context.study.contrasts)}
    sections, summary, limits = [], [], []
    data: dict[str, list[pd.DataFrame]] = {}
    for factor, levels in factors.items():
        if factor in elsewhere or factor_label(factor) in elsewhere:
            continue
        if len(levels) > MOST_LEVELS:
            limits.append(
                f"{context.where}levels of {factor_label(factor)} are not compared: there are {len(levels)} of them."
            )
            continue
        section, said, tables = _factor(context, counts, factor)
        sections.append(section)
        summary += said
        for name, table in tables.items():
            data.setdefault(name, []).append(table.assign(task=context.design.task))
    if not sections and not limits:
        return None
    joined = {name: pd.concat(tables, ignore_index=True) for name, tables in data.items()}
    return Part(
        tuple(sections), tuple(summary), tuple(limits), methods=_methods(context) if sections else (), data=joined
    )


def unit_counts(context: TaskContext) -> pd.DataFrame:
    """Counts of a task whose unit is the template where the claim is about new ones."""
    if isinstance(context.counts, str):
        return pd.DataFrame()
    by_template = context.design.target == "new_templates" and "template" in context.counts.columns
    return context.counts.assign(unit=context.counts["template"]) if by_template else context.counts


def baseline_of(context: TaskContext, factor: str) -> str | None:
    """Level that the study declares as the baseline of a factor; None without one."""
    names = (factor, factor.removeprefix("factor."))
    return next((context.study.baselines[name] for name in names if name in context.study.baselines), None)


def _factor(
    context: TaskContext, counts: pd.DataFrame, factor: str
) -> tuple[Section, list[str], dict[str, pd.DataFrame]]:
    """Section, sentences and reduced tables of one factor."""
    design, label = context.design, factor_label(factor)
    context.progress(f"levels of {label}")
    levels = treated(level_arrays(counts, factor), uncertain=design.uncertain)
    pooled = _described(level_estimates(levels, pooled=True, ci_level=context.ci_level), design)
    by_model = _described(level_estimates(levels, ci_level=context.ci_level), design)
    spread = {"accuracy": _spread(context, levels, "accuracy")}
    if factor == "form":
        spread |= {name: _spread(context, levels, name) for name in BY_FORM if name in levels.contrasts}
    tables = [pooled_table(design, levels, pooled)]
    tables += [range_table(design, levels, rows, measure, context.labels) for measure, rows in spread.items()]
    data = {"level_estimates": by_model, "levels_pooled": pooled, "level_ranges": _without_levels(spread, levels)}
    lead = [_spread_sentence(spread["accuracy"], label)]
    notes = []
    if levels.arrays.without_level:
        notes.append(f"{counted(levels.arrays.without_level, 'response')} without {label} left out.")
    baseline = baseline_of(context, factor)
    if baseline is not None and baseline in levels.arrays.levels:
        found = baseline_differences(
            levels,
            baseline,
            rng=context.resampling.rng(f"baseline of {factor}"),
            draws=context.resampling.flips,
            ci_level=context.ci_level,
        )
        tables.append(baseline_table(design, found, context.labels))
        lead.append(_baseline_sentence(found, label))
        data |= {"baseline_differences": _described(found.rows, design), "baseline_largest": found.largest}
    elif baseline is not None:
        notes.append(f"The baseline {baseline!r} of {label} does not occur here.")
    section = Section(f"{context.where}Accuracy by {label}", lead=tuple(lead), tables=tuple(tables), notes=tuple(notes))
    return section, [f"{context.where}{lead[0]}"] if factor == "form" else [], data


def _spread(context: TaskContext, levels: TreatedLevels, measure: str) -> pd.DataFrame:
    rows = level_spread(
        levels,
        measure=measure,
        rng=context.resampling.rng(f"{measure} by {levels.arrays.factor}"),
        permutations=context.resampling.flips,
        ci_level=context.ci_level,
    )
    return _described(rows, context.design)


def _described(rows: pd.DataFrame, design: TaskDesign) -> pd.DataFrame:
    """Rows with what every table says of itself."""
    return rows.assign(unit=unit_used(design), uncertain=design.uncertain)


def _without_levels(spread: Mapping[str, pd.DataFrame], levels: TreatedLevels) -> pd.DataFrame:
    """Ranges of all measures; the levels' own values are in another table."""
    own = [f"level_{k}" for k in range(len(levels.arrays.levels))]
    return pd.concat([rows.drop(columns=own) for rows in spread.values()], ignore_index=True)


def _spread_sentence(rows: pd.DataFrame, label: str) -> str:
    """How many models depend on the factor, and how their ranges compare with chance."""
    known = rows[rows["p_value"].notna()]
    if known.empty:
        return f"Whether accuracy depends on {label} cannot be tested: {rows['reason'].iloc[0] or 'no error is known'}."
    alpha = 1 - float(known["ci_level"].iloc[0])
    shown = int((known["p_adjusted"] <= alpha).sum())
    mean, chance = float(known["estimate"].mean()), known["null_range"].mean()
    by_chance = f" (by chance {fixed(float(chance), 3)})" if pd.notna(chance) else ""
    return (
        f"Accuracy is shown to depend on {label} for {shown} of {counted(len(known), 'model')}; the mean range over "
        f"its levels is {fixed(mean, 3)}{by_chance}."
    )


def _baseline_sentence(found: BaselineDifferences, label: str) -> str:
    rows = found.largest[found.largest["p_value"].notna()]
    baseline, alpha = str(found.rows["baseline"].iloc[0]), 1 - float(found.rows["ci_level"].iloc[0])
    shown = int((rows["p_adjusted"] <= alpha).sum())
    return (
        f"Some level of {label} is shown to differ from {baseline!r} for {shown} of {counted(len(rows), 'model')}; the "
        f"mean largest difference is {fixed(100 * float(rows['estimate'].mean()), 1)} points, "
        f"{fixed(100 * float(rows['null_largest'].mean()), 1)} by chance."
        if len(rows)
        else f"Whether {label} differs from {baseline!r} cannot be tested: {found.largest['reason'].iloc[0]}."
    )


def _methods(context: TaskContext) -> tuple[str, ...]:
    return (
        "Ranges over the levels of a factor are printed beside their expectation without any effect and tested by "
        f"{context.resampling.flips:,} permutations of the levels, within units where these have several levels and "
        "over units otherwise, with Holm's adjustment over models; the denoised standard deviation inverts the "
        "noncentral F distribution.",
    )
