"""Belief bias: accuracy where belief and logic agree against where they do not, with its traps said aloud."""

import numpy as np
import pandas as pd

from analysis.frequentist.belief_bias import belief_bias_estimates, labelled_belief_bias
from analysis.frequentist.belief_bias_tests import PooledBeliefBias, belief_permutation_tests, pooled_belief_bias
from analysis.report.content import Section
from analysis.report.figures.butterfly import butterfly_figure
from analysis.report.figures.dumbbell import dumbbell_figure
from analysis.report.numbers import counted, level, signed
from analysis.studies.answers import TaskAnswers, second_labels, shared_columns
from analysis.studies.belief_bias_tables import bias_table, labelled_table, pooled_table, shift_table
from analysis.studies.census import without_inference
from analysis.studies.context import Part, TaskContext
from analysis.studies.summary import excluding_zero
from analysis.studies.wide_table import table_name


def belief_bias_part(context: TaskContext, answers: TaskAnswers) -> Part | None:
    """Belief bias of every model and of all together; None without believability."""
    design = context.design
    if design.kind != "judgement" or "believability" not in design.item_factors:
        return None
    context.progress("belief bias")
    table = answers.collapsed
    estimates = belief_bias_estimates(table, uncertain=design.uncertain, **shared_columns(context))
    tests = belief_permutation_tests(
        table,
        rng=context.resampling.rng("believability"),
        permutations=context.resampling.flips,
        uncertain=design.uncertain,
    )
    pooled = pooled_belief_bias(
        table,
        rng=context.resampling.rng("pooled belief bias"),
        resamples=context.resampling.resamples,
        permutations=context.resampling.flips,
        uncertain=design.uncertain,
        ci_level=context.ci_level,
    )
    noted, census = _labelled(context, answers), design.target == "census"
    tables = [bias_table(context, estimates, tests)]
    if pooled.n_models > 1 and pooled.resamples and not census:
        tables.append(pooled_table(context, estimates, pooled))
    tables.append(shift_table(context, estimates))
    if noted is not None:
        tables.append(labelled_table(context, estimates, noted))
    section = Section(
        "Belief bias" + (f": {design.task}" if design.task else ""),
        lead=(_counts_sentence(table), *(() if census else (_pooled_sentence(pooled),))),
        tables=tuple(without_inference(one) if census else one for one in tables),
        figures=_figures(context, answers, estimates),
        notes=(
            "With equal cell weights the bias is the mean shift of Yes due to believability, a shift of the criterion "
            "and no difference in reasoning; the difference of discrimination says whether reasoning differs.",
        ),
    )
    return Part(
        (section,),
        summary=() if census else _claims(context, tests, pooled),
        limits=_limits(context, pooled)[: 1 if census else None],
        attention=_attention(context, noted),
        methods=(
            "Belief bias is the mean accuracy on valid believable and invalid unbelievable items minus that on the "
            "other two cells, each cell weighing the same; items without believability are left out. Its test permutes "
            f"believability over units within validity ({context.resampling.flips:,} permutations), adjusted over "
            "models by Holm's procedure [@holm1979].",
        ),
        data={"belief_bias": estimates}
        | ({"belief_bias_labelled": noted} if noted is not None else {})
        | ({} if census else {"belief_bias_tests": tests, "belief_bias_pooled": _pooled_row(pooled)}),
    )


def _pooled_row(pooled: PooledBeliefBias) -> pd.DataFrame:
    return pd.DataFrame([{name: getattr(pooled, name) for name in pooled.__slots__}])


def _labelled(context: TaskContext, answers: TaskAnswers) -> pd.DataFrame | None:
    """The definition over all items by a noted label, where some items have the label and no believability."""
    labels = second_labels(context)
    if labels is None:
        return None
    by_item, yes = labels
    table = answers.collapsed
    said = table["item"].astype(str).map(by_item)
    use = said.notna().to_numpy() & table["gold"].isin(["yes", "no"]).to_numpy()
    if not (use & (table["believability"].astype(str) == "").to_numpy()).any():
        return None
    label = (said == yes).to_numpy()[use]
    return labelled_belief_bias(
        table[use], np.asarray(label, bool), uncertain=context.design.uncertain, **shared_columns(context)
    )


def _figures(context: TaskContext, answers: TaskAnswers, estimates: pd.DataFrame) -> tuple:
    design = context.design
    figures = [
        dumbbell_figure(
            estimates, name=table_name("belief_dumbbell", design), labels=context.labels, subject=design.task
        )
    ]
    if second_labels(context) is not None:
        figures.append(
            butterfly_figure(
                _both_accuracies(context, answers),
                name=table_name("belief_butterfly", design),
                labels=context.labels,
                subject=design.task,
            )
        )
    return tuple(figures)


def _both_accuracies(context: TaskContext, answers: TaskAnswers) -> pd.DataFrame:
    """Accuracy against validity and agreement with believability, over items that have a label."""
    found = second_labels(context)
    by_item, yes = found if found is not None else ({}, "")
    table = answers.collapsed
    said = table["item"].astype(str).map(by_item)
    agrees = np.where(said == yes, table["endorsed"], 1 - table["endorsed"] - table["unclear"])
    rows = pd.DataFrame(
        {"model": table["model"].astype(str), "left": answers.right, "right": np.where(said.isna(), np.nan, agrees)}
    )
    return rows.groupby("model", sort=True).mean().reset_index()


def _counts_sentence(table: pd.DataFrame) -> str:
    items = table.drop_duplicates("item")
    without = int((items["believability"].astype(str) == "").sum())
    said = f"{counted(len(items) - without, 'item')} with believability"
    return said + (f"; {counted(without, 'item')} without it, left out." if without else ".")


def _pooled_sentence(pooled: PooledBeliefBias) -> str:
    if pooled.reason and pooled.resamples == 0:
        return f"No mean over models: {pooled.reason}."
    shown = level(pooled.ci_level)
    if pooled.n_models == 1:
        return (
            f"One model: {signed(pooled.estimate, 3)}; {shown} interval for it and other items "
            f"[{signed(pooled.these_low, 3)}, {signed(pooled.these_high, 3)}] (percentile bootstrap over units within "
            "cells); one model says nothing of others."
        )
    return (
        f"Mean over {counted(pooled.n_models, 'model')}: {signed(pooled.estimate, 3)}; {shown} interval for these "
        f"models and other items [{signed(pooled.these_low, 3)}, {signed(pooled.these_high, 3)}], for other models too "
        f"[{signed(pooled.both_low, 3)}, {signed(pooled.both_high, 3)}] (percentile bootstrap over units within "
        "cells, and over models × units)."
    )


def _claims(context: TaskContext, tests: pd.DataFrame, pooled: PooledBeliefBias) -> tuple[str, ...]:
    shown = tests[tests["p_adjusted"] <= 0.05].sort_values("estimate", ascending=False)
    said = []
    if len(shown):
        names = [
            f"{context.labels.get(str(m), str(m))} ({signed(e, 2)})"
            for m, e in zip(shown["model"], shown["estimate"], strict=True)
        ]
        said.append(
            f"{context.where}{'b' if context.where else 'B'}elief bias is shown (adjusted over models) for "
            f"{', '.join(names[:6])}{f' and {len(names) - 6} more' if len(names) > 6 else ''}."
        )
    if _shown(pooled):
        said.append(
            f"{context.where}{'o' if context.where else 'O'}ver models and items the mean belief bias is "
            f"{signed(pooled.estimate, 2)} [{signed(pooled.both_low, 2)}, {signed(pooled.both_high, 2)}]."
        )
    return tuple(said)


def _limits(context: TaskContext, pooled: PooledBeliefBias) -> tuple[str, ...]:
    said = [f"{context.where}belief bias is a shift of the criterion; it does not say that reasoning is worse."]
    if pooled.resamples and pooled.n_models > 1 and not _shown(pooled):
        said.append(f"{context.where}a mean belief bias of other models is not shown: the interval holds 0.")
    return tuple(said)


def _shown(pooled: PooledBeliefBias) -> bool:
    """Whether the interval over models and units excludes 0 as it is printed; one model says nothing of others."""
    if pooled.n_models < 2:
        return False
    limits = pd.DataFrame({"ci_low": [pooled.both_low], "ci_high": [pooled.both_high]})
    return any(len(side) for side in excluding_zero(limits))


def _attention(context: TaskContext, noted: pd.DataFrame | None) -> tuple[str, ...]:
    if noted is None:
        return ()
    return (
        f"{context.where}items without believability carry the label of unbelievable ones: a belief bias computed from "
        "that label mixes answer bias in, and is printed under a name of its own.",
    )
