"""Strategies, temperatures, any condition: accuracy under each level, and which differences can be claimed."""

from itertools import combinations

import pandas as pd

from analysis.frequentist.condition_ladders import ladders, without_each_model
from analysis.frequentist.condition_tests import (
    level_accuracies,
    model_pair_tests,
    overall_tests,
    pair_tests,
    rank_comparisons,
)
from analysis.reduction.matched_levels import MatchedLevels, matched_levels
from analysis.report.content import Figure, Section
from analysis.report.figures.condition_heat_map import condition_heat_map
from analysis.report.numbers import counted, fixed
from analysis.studies.answers import TaskAnswers, unit_name
from analysis.studies.census import withheld, without_inference
from analysis.studies.condition_sentences import claims, limits
from analysis.studies.condition_tables import (
    accuracy_table,
    by_model_table,
    influence_table,
    ladder_table,
    overall_table,
    pairs_table,
    ranks_table,
)
from analysis.studies.context import Part, TaskContext
from analysis.studies.factors import baseline_of
from analysis.studies.wide_table import table_name

Pair = tuple[str, str]


def conditions_part(context: TaskContext, answers: TaskAnswers) -> Part | None:
    """One section per condition that varies within questions; None without one."""
    parts = [_condition(context, answers, factor) for factor in answers.compared]
    if not parts:
        return None
    data: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for name, table in part.data.items():
            data.setdefault(name, []).append(table)
    return Part(
        sections=tuple(s for part in parts for s in part.sections),
        summary=tuple(s for part in parts for s in part.summary),
        limits=tuple(s for part in parts for s in part.limits),
        attention=tuple(s for part in parts for s in part.attention),
        methods=_methods(context) if context.design.target != "census" else (),
        data={name: pd.concat(tables, ignore_index=True) for name, tables in data.items()},
    )


def declared_pairs(context: TaskContext, factor: str, levels: tuple[str, ...]) -> tuple[Pair, ...]:
    """Baseline with each other level; without a baseline the declared contrasts, or else all pairs."""
    baseline = baseline_of(context, factor)
    if baseline in levels:
        return tuple((str(baseline), level) for level in levels if level != baseline)
    names = (factor, factor.removeprefix("factor."))
    declared = [c for c in context.study.contrasts if c.factor in names and not c.where]
    listed = [(contrast.levels[0], level) for contrast in declared for level in contrast.levels[1:]]
    return tuple(pair for pair in listed if set(pair) <= set(levels)) or tuple(combinations(levels, 2))


def _condition(context: TaskContext, answers: TaskAnswers, factor: str) -> Part:
    design, flips = context.design, context.resampling.flips
    context.progress(f"levels of {factor}")
    matched = matched_levels(answers.collapsed, answers.right, factor, conditions=answers.conditions)
    pairs, unit = declared_pairs(context, factor, matched.levels), unit_name(design)
    level = context.ci_level
    rng = context.resampling.rng
    accuracies = level_accuracies(answers.collapsed, answers.right, factor, ci_level=context.ci_level, unit=unit)
    if design.target == "census":
        return _of_census(context, answers, matched, withheld(accuracies))
    by_model = model_pair_tests(matched, pairs, rng=rng(f"{factor} by model"), unit=unit, flips=flips, ci_level=level)
    steps = ladders(matched, pairs, rng=rng(f"{factor} ladder"), unit=unit, flips=flips)
    data = {
        "condition_accuracies": accuracies,
        "condition_by_model": by_model,
        "condition_ladders": steps,
    }
    tables = [accuracy_table(context, accuracies, factor, matched.levels, answers.measure)]
    pooled = None
    several = len(matched.models) > 1
    if several:
        overall = overall_tests(matched, rng=rng(f"{factor} overall"), permutations=flips)
        pooled = pair_tests(matched, pairs, rng=rng(f"{factor} pooled"), flips=flips, ci_level=level)
        ranks = rank_comparisons(matched)
        left = without_each_model(matched, pairs, rng=rng(f"{factor} without"), flips=flips)
        data |= {"condition_overall": overall, "condition_pairs": pooled, "condition_without_models": left}
        tables += [overall_table(context, overall, factor), pairs_table(context, pooled, factor)]
        if len(ranks):
            data["condition_ranks"] = ranks
            tables.append(ranks_table(context, ranks, factor))
        tables.append(ladder_table(context, steps, factor, answers.measure))
        if len(left):
            tables.append(influence_table(context, left, steps, factor))
    else:
        tables.append(ladder_table(context, steps, factor, answers.measure))
    tables.append(by_model_table(context, by_model, factor))
    section = Section(
        f"By {factor}" + (f": {design.task}" if design.task else ""),
        lead=_lead(matched, answers, factor),
        tables=tuple(tables),
        figures=(_heat_map(context, answers, matched, accuracies),),
        notes=(
            "Several tests of one comparison answer several questions. About these models: sign flips over units. "
            "About other models, of which these would be a sample: the paired t test over models. The others are "
            "printed beside them. Rows and configurations of one model are not "
            "independent: their p-values are printed to be compared, not to be used.",
        ),
    )
    return Part(
        (section,),
        summary=claims(context, factor, answers.measure, steps, pooled, by_model),
        limits=limits(context, factor, answers.measure, steps, pooled),
        attention=_attention(context, answers, factor, steps, pooled, by_model),
        data={name: table.assign(factor=factor, task=design.task) for name, table in data.items()},
    )


def _of_census(context: TaskContext, answers: TaskAnswers, matched: MatchedLevels, accuracies: pd.DataFrame) -> Part:
    """Values under each level, and nothing that is inferred from them."""
    factor = matched.factor
    table = without_inference(accuracy_table(context, accuracies, factor, matched.levels, answers.measure))
    section = Section(
        f"By {factor}" + (f": {context.design.task}" if context.design.task else ""),
        lead=_lead(matched, answers, factor)[:1],
        tables=(table,),
        figures=(_heat_map(context, answers, matched, accuracies),),
    )
    found = accuracies.assign(factor=factor, task=context.design.task)
    said = tuple(_unequal_votes(context, answers, factor))
    return Part((section,), attention=said, data={"condition_accuracies": found})


def _heat_map(context: TaskContext, answers: TaskAnswers, matched: MatchedLevels, accuracies: pd.DataFrame) -> Figure:
    factor, design = matched.factor, context.design
    return condition_heat_map(
        accuracies, factor=factor, name=table_name(f"heat_map_{factor}", design), labels=context.labels,
        levels=_ordered(context, factor, matched.levels), subject=design.task, measure=answers.measure,
    )  # fmt: skip


def _ordered(context: TaskContext, factor: str, levels: tuple[str, ...]) -> tuple[str, ...]:
    baseline = baseline_of(context, factor)
    return tuple(sorted(levels, key=lambda level: (level != baseline, level)))


def _lead(matched: MatchedLevels, answers: TaskAnswers, factor: str) -> tuple[str, ...]:
    others = [name for name in answers.conditions if name != factor]
    averaged = f"; {' and '.join(others)} averaged first" if others else ""
    said = f"{counted(len(matched.levels), 'level')} of {factor}: {', '.join(matched.levels)}{averaged}."
    matching = "Two levels are compared on questions answered under both of them, by the same model, "
    return (said, matching + ("with the same " + " and ".join(others) + "." if others else "and on nothing else."))


def _unequal_votes(context: TaskContext, answers: TaskAnswers, factor: str) -> list[str]:
    """A warning where the levels differ in the number of votes behind an answer."""
    table = answers.collapsed
    most = table.groupby(table[factor].astype(str))["n_votes"].max()
    if most.nunique() < 2:
        return []
    listed = ", ".join(f"{level} up to {votes}" for level, votes in most.items())
    return [
        f"{context.where}levels of {factor} differ in the votes behind an answer ({listed}): a majority of many "
        "votes is right more often than a single response of the same model."
    ]


def _attention(
    context: TaskContext,
    answers: TaskAnswers,
    factor: str,
    steps: pd.DataFrame,
    pooled: pd.DataFrame | None,
    by_model: pd.DataFrame,
) -> tuple[str, ...]:
    said = _unequal_votes(context, answers, factor)
    unit = unit_name(context.design)
    for (first, second), group in steps.groupby(["first", "second"], sort=False):
        by_rung = {str(row["rung"]): row for row in group.to_dict("records")}
        rows, units = by_rung["rows"], by_rung[unit]
        if rows["p_value"] <= 0.05 < units["p_value"]:
            said.append(
                f"{context.where}{factor} {first} against {second}: significant over {int(rows['n']):,} rows "
                f"(p {_p(rows['p_value'])}), not over {int(units['n_clusters'])} units (p {_p(units['p_value'])}); "
                "rows of one unit are not independent, and the claim depends on the wrong unit."
            )
    if pooled is not None:
        for row in pooled.to_dict("records"):
            if row["n_naive"] > row["n_clusters"] and row["p_naive"] <= 0.05 < row["p_value"]:
                said.append(
                    f"{context.where}{factor} {row['first']} against {row['second']}: the t test over {row['n_naive']} "
                    f"configurations gives p {_p(row['p_naive'])}, over the {row['n_clusters']} models that they come "
                    f"from p {_p(row['p_value'])}."
                )
    lacking = by_model[by_model["reason"] == "this model lacks one of the levels"]
    if len(lacking):
        names = sorted({context.labels.get(str(m), str(m)) for m in lacking["model"]})
        said.append(
            f"{context.where}{factor}: not compared, because a level is missing: {', '.join(names[:6])}"
            f"{f' and {len(names) - 6} more' if len(names) > 6 else ''}."
        )
    return tuple(said)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else fixed(value, 3)


def _methods(context: TaskContext) -> tuple[str, ...]:
    return (
        "Conditions were compared on matched questions, other conditions averaged first, then questions within units. "
        "Over models: paired t test (the basis of claims about other models; those about these models rest on sign "
        "flips over units), exact Wilcoxon signed-rank test, sign-flip test, Friedman's "
        "test with Kendall's W and Nemenyi's comparisons; by model: sign-flip test over units "
        f"({context.resampling.flips:,} flips, all patterns where 16 units or fewer differ), Holm's adjustment "
        "[@holm1979] over all pairs of levels and models. The net change is tested as well with rows, items, units and "
        "models as the independent unit, and with models × units crossed. Equivalence: two one-sided tests within "
        "±0.02; a difference is called different where its interval lies beyond ±0.02 and Holm's p is at most .05.",
    )
