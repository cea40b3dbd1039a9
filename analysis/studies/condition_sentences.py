"""What can be claimed of the levels of a condition, and what cannot: for these models, and for other ones."""

from collections.abc import Iterable
from typing import Final

import pandas as pd

from analysis.report.numbers import counted, fixed, signed
from analysis.studies.answers import unit_name
from analysis.studies.context import TaskContext

#: Adjusted p-value up to which a difference is shown.
SHOWN: Final = 0.05
#: Names listed before the rest is counted.
_MOST: Final = 6


def claims(
    context: TaskContext,
    factor: str,
    measure: str,
    steps: pd.DataFrame,
    pooled: pd.DataFrame | None,
    by_model: pd.DataFrame,
) -> tuple[str, ...]:
    """Differences that are shown: of these models together, of other models, and of single ones.

    Parameters
    ----------
    context : TaskContext
    factor, measure : str
        The condition; what is compared, ``accuracy`` or ``mean score``.
    steps, pooled, by_model : DataFrame
        Of ``condition_ladders.ladders``, ``condition_tests.pair_tests`` and ``model_pair_tests``; ``pooled`` is None
        with one model.
    """
    said = []
    if pooled is not None:
        own = _of_units(context, steps)
        for row in own[own["p_adjusted"] <= SHOWN].to_dict("records"):
            said.append(
                f"for these models together, {measure} under {factor} {row['first']} differs from that under "
                f"{row['second']} by {signed(row['mean_change'], 3)} (sign flips over {int(row['n_clusters']):,} "
                f"{_plural(unit_name(context.design))}, adjusted p {_p(row['p_adjusted'])})."
            )
        for row in pooled[pooled["p_adjusted"] <= SHOWN].to_dict("records"):
            said.append(
                f"for other models too, of which these {int(row['n_clusters'])} would be a sample, {measure} under "
                f"{factor} {row['first']} differs from that under {row['second']} by {signed(row['estimate'], 3)} "
                f"(paired t test over models, adjusted p {_p(row['p_adjusted'])}"
                f"{_few(row['n_clusters'], row['least_p'])})."
            )
    shown = by_model[by_model["p_adjusted"] <= SHOWN]
    for (first, second), group in shown.groupby(["first", "second"], sort=False):
        names = [
            f"{context.labels.get(str(m), str(m))} ({signed(e, 2)})"
            for m, e in zip(group["model"], group["estimate"], strict=True)
        ]
        said.append(f"{measure} under {factor} {first} minus {second} is shown to differ from 0 for {_listed(names)}.")
    return tuple(context.where + line if context.where else line[0].upper() + line[1:] for line in said)


def limits(
    context: TaskContext, factor: str, measure: str, steps: pd.DataFrame, pooled: pd.DataFrame | None
) -> tuple[str, ...]:
    """Differences that are not shown, with how much so few models could show; levels that no model has both of."""
    own = _of_units(context, steps)
    tested = own["p_value"].notna()
    unseen = own[tested & ~(own["p_adjusted"] <= SHOWN)]
    said = []
    if not tested.all():
        said.append(f"no model answered a question under both of {_pairs(own[~tested])}: not compared.")
    if len(unseen):
        units, whose = _plural(unit_name(context.design)), "for these models together, " if pooled is not None else ""
        said.append(f"{whose}no difference of {measure} is shown over {units} for {_pairs(unseen)}.")
    if pooled is not None:
        said += _of_other_models(measure, pooled)
    return tuple(f"{context.where}{factor}: {line}" for line in said)


def _of_other_models(measure: str, pooled: pd.DataFrame) -> list[str]:
    """What is not shown of models of which these would be a sample."""
    said = []
    alone = pooled[pooled["n_clusters"] == 1]
    if len(alone):
        said.append(f"one model alone has both of {_pairs(alone)}: nothing is known of other models.")
    open_pairs = pooled[(pooled["n_clusters"] > 1) & ~(pooled["p_adjusted"] <= SHOWN)]
    equal = open_pairs[open_pairs["decision"] == "equivalent"]
    undecided = open_pairs[open_pairs["decision"] != "equivalent"]
    if len(equal):
        said.append(f"for other models, {measure} is equivalent within ±0.02 for {_pairs(equal)}.")
    if len(undecided):
        models, least = int(undecided["n_clusters"].max()), float(undecided["least_p"].min())
        said.append(
            f"for other models, neither a difference of {measure} nor equivalence within ±0.02 is shown for "
            f"{_pairs(undecided)} (t test over {counted(models, 'model')}{_few(models, least)})."
        )
    return said


def _of_units(context: TaskContext, steps: pd.DataFrame) -> pd.DataFrame:
    return steps[steps["rung"] == unit_name(context.design)]


def _pairs(rows: pd.DataFrame) -> str:
    return _listed([f"{a} and {b}" for a, b in zip(rows["first"], rows["second"], strict=True)])


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST} more" if len(every) > _MOST else ""
    return ", ".join(every[:_MOST]) + more


def _plural(unit: str) -> str:
    return unit if unit.endswith("s") else f"{unit}s"


def _few(models: int, least: float) -> str:
    """What so few models cannot show without a normal distribution of their differences."""
    if not least > SHOWN:
        return ""
    return f"; without its normal distribution, by sign flips, {models} models cannot give a p below {fixed(least, 3)}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else fixed(value, 3)
