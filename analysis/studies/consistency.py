"""Are the versions of a base item answered alike, and does it mean more than a leaning or a high accuracy?"""

from itertools import combinations
from typing import Final

import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.consistency import consistency_estimates, set_counts, variant_marginals
from analysis.reduction.variants import VariantAnswers, variant_answers
from analysis.report.columns import Count, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import counted
from analysis.report.spec import Table, TableSpec
from analysis.studies.answers import TaskAnswers, labelled, shared_columns
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import estimate_column, table_name, wide_estimates

#: Versions beyond this number have too many pairs to print.
_MOST_PAIRS: Final = 6
#: More versions than this are rewordings of another kind, not versions to be answered alike.
_MOST_VERSIONS: Final = 12
_MISSING: Final = {True: "no readable answer", False: ""}
_KINDS: Final = ("share", "accuracy")
_RAW: Final = ("consistency_all", "consistency_pairwise")
_CORRECTED: Final = (
    "krippendorff_alpha",
    "fleiss_kappa",
    "consistency_same_marginals",
    "consistency_beyond_marginals",
    "consistency_independent_errors",
    "consistency_beyond_errors",
    "consistency_bound",
)


def consistency_part(context: TaskContext, answers: TaskAnswers) -> Part | None:
    """Consistency over the declared versions; None where there are none, or where they cannot be placed."""
    versions = context.design.item_factors.get("variant", ())
    if not 2 <= len(versions) <= _MOST_VERSIONS:
        return None
    context.progress("consistency over versions")
    try:
        placed = variant_answers(answers.collapsed, answers.right, conditions=answers.conditions)
    except AnalysisError as error:
        return Part(limits=(f"{context.where}no consistency over versions: {error}.",))
    pairs = tuple(combinations(placed.variants, 2))
    pairs = pairs if len(pairs) <= _MOST_PAIRS else ()
    estimates = consistency_estimates(
        placed,
        rng=context.resampling.rng("consistency"),
        pairs=pairs,
        resamples=context.resampling.resamples,
        **shared_columns(context),
    )
    counts = set_counts(placed)
    tables = [_raw_table(context, estimates), _corrected_table(context, estimates)]
    if pairs:
        tables.append(_pairs_table(context, estimates, pairs))
    tables.append(_marginals_table(context, placed))
    section = Section(
        "Consistency over versions" + (f": {context.design.task}" if context.design.task else ""),
        lead=(_counts_sentence(placed, counts), _lead_sentence()),
        tables=tuple(tables),
        notes=(
            "Only answers that can be read enter; a set of versions counts where all of them have one. Chance "
            "agreement is computed within each configuration.",
        ),
    )
    data = {"consistency": estimates, "variant_marginals": variant_marginals(placed), "variant_sets": counts}
    return Part((section,), limits=_limits(context), methods=_methods(context), data=data)


def _raw_table(context: TaskContext, estimates: pd.DataFrame) -> Table:
    design = context.design
    wide = wide_estimates(estimates, context.labels, (*_RAW, *_CORRECTED))
    # Two versions are compared in more sets than have an answer to each; this table is about the latter.
    wide = wide.assign(n=wide["consistency_all_n"], n_clusters=wide["consistency_all_n_clusters"])
    spec = TableSpec(
        table_name("consistency", design),
        title="Share of base items answered alike, observed and expected" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("consistency_all", "All alike", digits=3),
            Proportion("consistency_same_marginals", "by leaning", reason="consistency_same_marginals_missing"),
            Proportion(
                "consistency_independent_errors", "by accuracy", reason="consistency_independent_errors_missing"
            ),
            Proportion("consistency_bound", "at least", reason="consistency_bound_missing"),
            estimate_column("consistency_beyond_errors", "All − by accuracy", digits=3, signed=True),
            Count("n", "Sets", help="sets of versions with an answer to each: model × configuration × base item"),
            Count("n_clusters", "Units"),
        ),
        order=("-consistency_all", "label"),
        note=(
            "By leaning: expected of independent answers that say Yes as often, version by version. By accuracy: "
            "expected if errors were independent at the accuracies on the two classes. At least: the accuracy alone "
            "implies C ≥ 1 − V (1 − accuracy) for V versions that share a right answer. Only what exceeds these says "
            "something about consistency."
        ),
    )
    return Table(spec, wide, simulated=design.simulated)


def _corrected_table(context: TaskContext, estimates: pd.DataFrame) -> Table:
    design = context.design
    spec = TableSpec(
        table_name("agreement", design),
        title="Agreement of versions beyond chance" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("krippendorff_alpha", "Krippendorff α", digits=3),
            estimate_column("fleiss_kappa", "Fleiss κ", digits=3),
            estimate_column("consistency_beyond_marginals", "(C − C by leaning) / (1 − C by leaning)", digits=3),
            estimate_column("consistency_pairwise", "Pairs alike", digits=3),
        ),
        order=("-krippendorff_alpha", "label"),
        note=(
            "α and κ are 0 where versions agree as often as chance has it and 1 where they always do; both are "
            "unstable where nearly all answers are the same. Pairs alike: mean over all pairs of versions."
        ),
    )
    wide = wide_estimates(estimates, context.labels, (*_RAW, *_CORRECTED))
    return Table(spec, wide, simulated=design.simulated)


def _pairs_table(context: TaskContext, estimates: pd.DataFrame, pairs: tuple[tuple[str, str], ...]) -> Table:
    design = context.design
    names = tuple(f"consistency_{a}_{b}" for a, b in pairs)
    wide = wide_estimates(estimates, context.labels, ("consistency_all", *names))
    spec = TableSpec(
        table_name("consistency_pairs", design),
        title="Share of base items answered alike in two versions" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            *(estimate_column(name, f"{a} ↔ {b}", digits=2) for name, (a, b) in zip(names, pairs, strict=True)),
        ),
        order=("-consistency_all", "label"),
    )
    return Table(spec, wide, simulated=design.simulated)


def _marginals_table(context: TaskContext, placed: VariantAnswers) -> Table:
    design = context.design
    long = variant_marginals(placed)
    label = "yes" if "yes" in placed.labels else placed.labels[0]
    rows = long[long["answer"] == label]
    positions = {name: str(v) for v, name in enumerate(placed.variants)}
    parts = [rows.pivot(index="model", columns="variant", values=kind) for kind in _KINDS]
    named = [part.rename(columns=positions).add_prefix(f"{kind}_") for part, kind in zip(parts, _KINDS, strict=True)]
    wide = pd.concat(named, axis=1)
    named_cells = list(wide.columns)
    wide = labelled(wide.reset_index(), context.labels)
    lacking = {f"{cell}_missing": wide[cell].isna().map(_MISSING) for cell in named_cells}
    wide = wide.assign(**lacking)
    columns = [
        Proportion(f"{kind}_{v}", f"{head} {variant}", digits=2, reason=f"{kind}_{v}_missing")
        for kind, head in (("share", label.capitalize()), ("accuracy", "Acc."))
        for v, variant in enumerate(placed.variants)
        if wide[f"{kind}_{v}"].notna().any()
    ]
    spec = TableSpec(
        table_name("variant_marginals", design),
        title="What the versions are answered with" + (f": {design.task}" if design.task else ""),
        columns=(Text("label", "Model"), *columns),
        order=("label",),
        note=(
            f"Share of the answer {label.capitalize()} and accuracy by version, over readable answers: agreement is to "
            "be read beside these."
        ),
    )
    return Table(spec, wide, simulated=design.simulated)


def _counts_sentence(placed: VariantAnswers, counts: pd.DataFrame) -> str:
    asked, complete = int(counts["sets"].sum()), int(counts["sets_complete"].sum())
    said = (
        f"{counted(len(placed.units), 'base item')} in {counted(len(placed.variants), 'version')} "
        f"({', '.join(placed.variants)}); {complete:,} of {asked:,} sets of versions have an answer to each"
    )
    return said + ("." if complete == asked else "; the others are left out where all versions are compared.")


def _lead_sentence() -> str:
    return (
        "Raw agreement rises with accuracy and with a leaning: a model that always says No agrees with itself. It is "
        "therefore printed beside what leaning and accuracy alone imply."
    )


def _limits(context: TaskContext) -> tuple[str, ...]:
    return (
        f"{context.where}a correlation of accuracy with consistency over models is largely mechanical: with V versions "
        "that share a right answer C ≥ 1 − V (1 − accuracy).",
    )


def _methods(context: TaskContext) -> tuple[str, ...]:
    return (
        "Consistency is the share of base items whose versions all have the same answer: the mean over base items of "
        "their means over configurations with all versions readable; its limits are cluster Wilson limits, by base "
        "item. Krippendorff's α (nominal), Fleiss' κ and "
        f"what exceeds the expectations have percentile limits from {context.resampling.resamples:,} "
        "bootstrap resamples of units.",
    )
