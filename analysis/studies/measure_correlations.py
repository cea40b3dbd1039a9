"""How consistency, recall and belief bias go with accuracy over models, and which correlations are mechanical."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from analysis.frequentist.belief_bias import PUBLISHED
from analysis.frequentist.rank_correlation import KINDS, correlation
from analysis.report.content import Section
from analysis.studies.context import Part, TaskContext
from analysis.studies.correlation_table import correlation_rows, correlation_table

Side = tuple[str, str, str]
#: Fewer models than this give correlations nothing to say.
FEWEST_MODELS: Final = 4
_ACCURACY: Final[Side] = ("classification_gold", "accuracy", "accuracy")
#: First and second measure as (table, measure, name), and what is to be known of the pair.
_PAIRS: Final[tuple[tuple[Side, Side, str], ...]] = (
    (_ACCURACY, ("consistency", "consistency_all", "consistency"), "part-whole: errors make answers differ"),
    (_ACCURACY, ("consistency", "consistency_beyond_errors", "consistency beyond errors"), ""),
    (
        ("classification_gold", "precision", "precision"),
        ("classification_gold", "recall", "recall"),
        "part-whole: both count the right answers Yes",
    ),
    (
        _ACCURACY,
        ("classification_label", "accuracy", "agreement with the second label"),
        "the labels fix how far apart the two can be",
    ),
    (_ACCURACY, ("belief_bias", "belief_bias", "belief bias"), "accuracies near 1 leave no room for bias"),
    (_ACCURACY, ("belief_bias_labelled", PUBLISHED, "difference by label"), "mixes answer bias in"),
)


def measure_correlations_part(context: TaskContext, data: Mapping[str, pd.DataFrame]) -> Part | None:
    """Correlations of measures that other parts have estimated; None with too few models or measures."""
    found, remarks = [], []
    for kind in ("spearman", *(kind for kind in KINDS if kind != "spearman")):
        for first, second, remark in _PAIRS:
            sides = [_values(data, *side[:2]) for side in (first, second)]
            both = pd.concat(sides, axis=1, join="inner").dropna()
            if len(both) < FEWEST_MODELS:
                continue
            test = correlation(
                both.iloc[:, 0],
                both.iloc[:, 1],
                rng=context.resampling.rng(f"{first[1]} {second[1]} {kind}"),
                kind=kind,
                permutations=context.resampling.flips,
                ci_level=context.ci_level,
            )
            found.append((first[2], second[2], test))
            remarks.append(remark)
    if not found:
        return None
    rows = correlation_rows(found, remarks)
    section = Section(
        "Correlations over models" + (f": {context.design.task}" if context.design.task else ""),
        tables=(correlation_table(context, rows, "correlations", "How measures go together over models"),),
        notes=("Correlations describe these models; several of them follow in part from how the measures are made.",),
    )
    limits = (
        f"{context.where}correlations of accuracy with consistency, precision with recall, and accuracy with belief "
        "bias are in part mechanical.",
    )
    return Part((section,), limits=limits, data={"correlations": rows.assign(task=context.design.task)})


def _values(data: Mapping[str, pd.DataFrame], table: str, measure: str) -> pd.Series:
    """Estimates of a measure by model; empty where no part has made it."""
    name = f"{table} {measure}"
    if table not in data:
        return pd.Series(dtype=float, name=name)
    rows = data[table][data[table]["measure"] == measure]
    return rows.set_index("model")["estimate"].rename(name)
