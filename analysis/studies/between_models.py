"""Models compared pairwise on the items that all of them answered: floors, balanced accuracy, bias, polarity."""

import pandas as pd

from analysis.frequentist.factor_levels import treated
from analysis.frequentist.model_comparison import FLOOR, ModelComparison, compare_models
from analysis.reduction.levels import level_arrays
from analysis.reduction.shared_items import SharedItems, shared_items
from analysis.report.columns import Column, Count, Estimate, Number, Proportion, PValue, Signed, Text
from analysis.report.content import Section
from analysis.report.numbers import counted, fixed
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import named
from analysis.studies.factors import unit_counts
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import table_name

HEADS = {
    FLOOR: "Floor",
    "balanced_accuracy": "BA",
    "answer_bias": "Bias",
    "polarity_sensitivity": "PS",
}
#: With more pairs than this the printed tables show letters, and the pairs are in the data.
MOST_PAIRS = 15


def between_models_part(context: TaskContext) -> Part | None:
    """Comparison of two or more models of a yes/no task."""
    if isinstance(context.counts, str) or context.judgement is None or context.design.target == "census":
        return None
    if unit_counts(context)["model"].nunique() < 2:
        return None
    compared = compared_models(context)
    if isinstance(compared, str):
        return Part(limits=(f"{context.where}models are not compared: {compared}.",))
    shared, found = compared
    tables = [ranks_table(context, found), decisions_table(context, found)]
    if len(found.pairs) // len(found.models["measure"].unique()) <= MOST_PAIRS:
        tables.append(pairs_table(context, found))
    section = Section(
        f"{context.where}Models compared",
        lead=(_sentence(found, context.ci_level), _shared(shared, context)),
        tables=tuple(tables),
    )
    return Part((section,), methods=(_METHODS,), data={"model_pairs": found.pairs, "model_ranks": found.models})


def compared_models(context: TaskContext) -> tuple[SharedItems, ModelComparison] | str:
    """The items that all models answered and the comparison on them, or the reason why there is none."""
    shared = shared_items(unit_counts(context))
    if not shared.kept:
        return "no item was answered by all of them"
    if shared.counts["model"].astype(str).nunique() < 2:
        return "fewer than two of them have scored responses"
    if shared.counts["unit"].nunique() < 2:
        return "the items that all answered make up one unit"
    context.progress("comparing models")
    data = treated(level_arrays(shared.counts, None), uncertain=context.design.uncertain)
    resampling = context.resampling
    found = compare_models(
        data,
        rng=resampling.rng("between models"),
        flips=resampling.flips,
        resamples=resampling.resamples,
        ci_level=context.ci_level,
    )
    described = {"unit": unit_used(context.design), "uncertain": context.design.uncertain, "task": context.design.task}
    return shared, ModelComparison(found.pairs.assign(**described), found.models.assign(**described))


_METHODS = (
    "Models are compared pairwise on the items that all of them answered. Floors are compared by the delta method at "
    "the class where each model is worse, balanced accuracy, bias and polarity sensitivity by sign flips of units; "
    "p-values are adjusted by Holm over the pairs of a measure. Equivalence is tested by two one-sided tests within "
    "±.02. The limits of a rank are "
    "one more than the models shown to be better, and all models less those shown to be worse."
)


def ranks_table(context: TaskContext, found: ModelComparison) -> Table:
    """Rank of each model by floor with its limits, and letters for every measure."""
    floors = found.models[found.models["measure"] == FLOOR]
    rows = named(floors, context.labels).assign(
        unit=unit_used(context.design),
        uncertain=context.design.uncertain,
        ci_method="models not shown to be better or worse (Holm over all pairs)",
    )
    columns: list[Column] = [
        Text("label", "Model"),
        Proportion("estimate", "Floor"),
        Estimate("rank", "Rank", low="rank_low", high="rank_high", digits=0, reason="reason"),
    ]
    letters = []
    for measure, head in HEADS.items():
        own = found.models[found.models["measure"] == measure].set_index("model")
        if own.empty:
            continue
        rows = rows.assign(**{f"letters_{measure}": rows["model"].map(own["letters"]).replace("", "–")})
        letters.append(Text(f"letters_{measure}", head))
    spec = TableSpec(
        table_name("model_ranks", context.design),
        title="Models by competence floor, with ranks and letters",
        columns=(*columns, *letters),
        spanners=(Spanner("Not shown to differ: same letter", tuple(c.name for c in letters)),),
        order=("-estimate", "label"),
        note=(
            "Models that share a letter in a column were not shown to differ in that measure (Holm over all pairs); "
            "not being shown to differ is not being equal. Rank 1 is the highest floor; ties share the better rank. "
            "The limits of a rank follow from the same tests as the letters and hold for all models together."
        ),
    )
    return Table(spec, rows, simulated=context.design.simulated)


def decisions_table(context: TaskContext, found: ModelComparison) -> Table:
    """How many pairs differ, are equivalent, or remain undecided, by measure."""
    alpha = 1 - context.ci_level
    rows = []
    for measure, group in found.pairs.groupby("measure", sort=False):
        rows.append(
            {
                "measure": HEADS[str(measure)],
                "n_pairs": len(group),
                "shown": int((group["p_adjusted"] <= alpha).sum()),
                "equivalent": int((group["decision"] == "equivalent").sum()),
                "beyond": int((group["decision"] == "difference").sum()),
                "largest": float(group["estimate"].abs().max()),
            }
        )
    spec = TableSpec(
        table_name("pair_decisions", context.design),
        title="Pairs of models",
        columns=(
            Text("measure", "Measure"),
            Count("n_pairs", "Pairs"),
            Count("shown", "Shown to differ"),
            Count("beyond", "Beyond ±.02"),
            Count("equivalent", "Within ±.02"),
            Number("largest", "Largest difference", digits=3),
        ),
        note=(
            "Shown to differ: Holm over the pairs. Beyond ±.02: shown to differ, with an interval beyond these bounds. "
            "Within: two one-sided tests, not adjusted. Every pair with its interval, tests and effect sizes (d_z, "
            "d_av) is in the data."
        ),
    )
    return Table(spec, pd.DataFrame(rows), simulated=context.design.simulated)


def pairs_table(context: TaskContext, found: ModelComparison) -> Table:
    """Every pair, where there are few."""
    rows = found.pairs.assign(head=[HEADS[m] for m in found.pairs["measure"]], unit=unit_used(context.design))
    for side in ("a", "b"):
        rows[f"label_{side}"] = [context.labels.get(str(m), str(m)) for m in rows[f"model_{side}"]]
    for name in ("d_z", "d_av"):
        floor = "sign-flip measures only" if name in rows else ""
        rows[f"{name}_reason"] = rows["measure"].map(lambda m, why=floor: why if m == FLOOR else "no variation")
        rows[f"{name}_reason"] = rows[f"{name}_reason"].where(rows[name].isna(), "")
    spec = TableSpec(
        table_name("model_pairs", context.design),
        title="Differences between models",
        columns=(
            Text("label_a", "Model"),
            Text("label_b", "minus"),
            Estimate("estimate", "Difference", signed=True),
            PValue("p_value", "p"),
            PValue("p_adjusted", "Holm", floor="adjusted_bound"),
            Signed("d_z", "d_z", reason="d_z_reason"),
            Signed("d_av", "d_av", reason="d_av_reason"),
            PValue("p_equivalent", "p (within ±.02)"),
        ),
        groups=("head",),
        note="d_z: mean over standard deviation of the units' differences; d_av: over the models' own spread.",
    )
    return Table(spec, rows, simulated=context.design.simulated)


def _sentence(found: ModelComparison, ci_level: float) -> str:
    floors = found.pairs[found.pairs["measure"] == FLOOR]
    shown = int((floors["p_adjusted"] <= 1 - ci_level).sum())
    return f"Floors are shown to differ in {shown} of {counted(len(floors), 'pair')} of models."


def _shared(shared: SharedItems, context: TaskContext) -> str:
    total = shared.kept + shared.dropped
    silent = ", ".join(context.labels.get(model, model) for model in shared.silent)
    return (
        f"Compared on the {counted(shared.kept, 'item')} that all models answered; {shared.dropped:,} others "
        f"({fixed(100 * shared.dropped / total, 1)}%) are left out here."
        + (f" Not compared, since no response of theirs is scored: {silent}." if silent else "")
    )
