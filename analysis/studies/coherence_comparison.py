"""Tables that compare: models with each other, direct answers with decompositions, one choice of scale with another."""

from collections.abc import Mapping

import pandas as pd

from analysis.frequentist.incoherence_differences import pairwise_differences
from analysis.frequentist.incoherence_ranks import incoherence_ranks
from analysis.frequentist.incoherence_robustness import rank_changes
from analysis.report.columns import (
    Column,
    Count,
    Estimate,
    Interval,
    Number,
    Percent,
    Proportion,
    PValue,
    Signed,
    Text,
)
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.coherence_tables import by_model, title_of
from analysis.studies.context import TaskContext
from analysis.studies.wide_table import estimate_column, table_name

#: Choice of the robustness table -> how it is named in a sentence.
CHOICES = {
    "clip_0.001": "clip .001",
    "clip_0.01": "clip .01",
    "clip_0.05": "clip .05",
    "points": "the probability scale",
    "renormalised": "rescaled states",
}
#: What a difference above 0 says, of mean |r| and of squares.
MEAN_SIGN = (
    "Above 0: the first has the larger mean |r|. That mixes rewording noise with incoherence: a model whose answers "
    "are only noisier has the larger one too."
)
SQUARED_SIGN = (
    "Above 0: the first has the larger square. Squares of models without persistent incoherence scatter around 0 and "
    "may be negative, the more the noisier the model: where neither model's is detected, or the interval holds 0, the "
    "sign does not say which is more incoherent."
)
GROUPS = {
    "coherent": "coherent (|r| up to 0.1)",
    "between": "between (|r| 0.1 to 0.5)",
    "incoherent": "incoherent (|r| above 0.5)",
}


def role_errors_table(
    design: TaskDesign, results: CoherenceResults, errors: pd.DataFrame, labels: Mapping[str, str]
) -> Table:
    """Errors of every kind of answer on coherent and incoherent instances, and where the decomposition is closer."""
    roles = [role for role in results.identity.roles if f"error_{role}" in set(errors["measure"])]
    measures = (*(f"error_{role}" for role in roles), "error_right", "implied_closer")
    rows = []
    for group, words in GROUPS.items():
        part = errors[errors["coherence"] == group]
        if len(part):
            wide = by_model(part, measures, labels)
            counts = part[part["measure"] == "error_left"].set_index("model")["n"]
            rows.append(wide.assign(coherence=words, n=wide["model"].map(counts), place=list(GROUPS).index(group)))
    table = pd.concat(rows, ignore_index=True)
    spec = TableSpec(
        table_name("role_errors", design),
        title=title_of("Which answers are wrong where they do not cohere, log-odds", design),
        columns=(
            Text("label", "Model"),
            Count("n", "Instances"),
            *(estimate_column(f"error_{role}", role.capitalize(), digits=2) for role in roles),
            estimate_column("error_right", "Implied", digits=2),
            Estimate(
                "implied_closer",
                "Implied is closer",
                low="implied_closer_low",
                high="implied_closer_high",
                method="implied_closer_method",
                reason="implied_closer_reason",
                percent=True,
                digits=0,
            ),
        ),
        order=("place", "label"),
        groups=("coherence",),
        note="Mean absolute error in log-odds against the logged truth, by kind of answer; implied: what the "
        "other answers imply for the direct one. Groups are formed by the size of the residual, so that larger "
        "errors are expected where it is large. No interval with fewer than five units.",
    )
    return Table(spec, table, simulated=design.simulated)


def accuracy_table(
    design: TaskDesign, results: CoherenceResults, errors: pd.DataFrame, sums: pd.DataFrame, labels: Mapping[str, str]
) -> Table:
    """Error of the direct answer and of the decomposition over all instances."""
    wide = by_model(errors, ("error_left", "error_right", "implied_closer"), labels)
    gap = sums.set_index("model")["sum_gap"] if "sum_gap" in sums else pd.Series(dtype=float)
    wide["sum_gap"] = wide["model"].map(gap)
    wide["sum_gap_reason"] = wide["sum_gap"].isna().map({True: "no states to sum over", False: ""})
    spec = TableSpec(
        table_name("direct_and_implied", design),
        title=title_of("Accuracy of the direct answer and of what the others imply", design),
        columns=(
            Text("label", "Model"),
            estimate_column("error_left", "Direct", digits=2),
            estimate_column("error_right", "Implied", digits=2),
            Estimate(
                "implied_closer",
                "Implied is closer",
                low="implied_closer_low",
                high="implied_closer_high",
                method="implied_closer_method",
                reason="implied_closer_reason",
                percent=True,
                digits=0,
            ),
            Number("sum_gap", "Median |sum − 1| of states", digits=3),
        ),
        order=("error_left", "label"),
        note="Mean absolute error in log-odds against the logged truth. Closer: share of instances, ties count half.",
    )
    return Table(spec, wide, simulated=design.simulated)


def pair_tables(
    context: TaskContext, instances: pd.DataFrame, labels: Mapping[str, str], *, shared: bool
) -> list[Table]:
    """Differences between models of the size of residuals, and of their squares; nothing of one model.

    Ranks are those of the same instances: none unless these are ``shared`` by all models.
    """
    design, drawn = context.design, context.resampling
    pairs, squares = (
        pairwise_differences(
            instances,
            rng=drawn.rng(f"pairs {squared}"),
            flips=drawn.flips,
            squared=squared,
            resamples=drawn.resamples,
            ci_level=context.ci_level,
        )
        for squared in (False, True)
    )
    if not len(pairs):
        return []
    tables = [differences_table(design, pairs, labels, squared=False), companions_table(design, pairs, labels)]
    if shared:
        ranks = incoherence_ranks(
            instances, rng=drawn.rng("ranks"), resamples=drawn.resamples, ci_level=context.ci_level
        )
        tables.insert(0, ranks_table(design, ranks, labels))
    if squares["n_clusters"].max() > 0:
        tables.append(differences_table(design, squares, labels, squared=True))
    return tables


def ranks_table(design: TaskDesign, ranks: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Rank of every model by mean |r| and by what persists, with limits."""
    rows = ranks.assign(label=[labels.get(str(m), str(m)) for m in ranks["model"]])
    columns: list[Column] = [Text("label", "Model")]
    for measure, head, digits in (("mean_abs_residual", "Mean |r|", 3), ("persistent_squared", "Persistent²", 3)):
        for end in ("_rank_low", "_first"):
            rows[f"{measure}{end}_reason"] = rows[f"{measure}_reason"]
        columns += [
            Signed(measure, head, digits=digits) if "squared" in measure else Number(measure, head, digits=digits),
            Interval(f"{measure}_rank_low", "Rank", high=f"{measure}_rank_high", digits=0),
            Proportion(f"{measure}_first", "First"),
        ]
    spec = TableSpec(
        table_name("residual_ranks", design),
        title=title_of("Ranks of the models, the least incoherent first", design),
        columns=tuple(columns),
        order=("mean_abs_residual", "label"),
        note="Log-odds, and their square. Ranks in resamples of units, all models with the same ones; limits are each "
        "model's own. First: share of resamples in which the model is first; mean |r| mixes rewording noise with "
        "incoherence.",
    )
    return Table(spec, rows, simulated=design.simulated)


def differences_table(design: TaskDesign, pairs: pd.DataFrame, labels: Mapping[str, str], *, squared: bool) -> Table:
    """Pairwise differences with their tests."""
    rows = named_pairs(pairs, labels)
    what = "squared persistent residual" if squared else "mean |r|"
    spec = TableSpec(
        table_name("persistent_differences" if squared else "residual_differences", design),
        title=title_of(f"Differences of the {what} between models", design),
        columns=(
            Text("pair", "First minus second"),
            Estimate("estimate", "Difference", digits=3, signed=True),
            PValue("p_value", "p", floor="resolution"),
            PValue("p_adjusted", "Holm", floor="floor_adjusted"),
            PValue(
                "bonferroni_p_adjusted",
                "Bonferroni",
                method="bonferroni_p_adjust_method",
                family="bonferroni_family_size",
                floor="bonferroni_floor",
            ),
            Text("flag_word", "Flag"),
            Count("n_clusters", "Units"),
            Count("n_dropped", "Units of one only"),
        ),
        order=("p_adjusted", "pair"),
        note=f"{SQUARED_SIGN if squared else MEAN_SIGN} Units that both answered. The difference is tested as the "
        f"mean over units{', of sums over their instances' if squared else ', averaged within units first'}. A "
        "p-value at the smallest that the flips allow is printed as a bound. What is not separated here is not "
        "thereby equal. TAIL: the differences are skewed or the top 5% of units carry more than half of the "
        "mean; with unequal tails the test rejects too often at some 90 units, and the companions below decide.",
    )
    return Table(spec, rows, simulated=design.simulated)


def companions_table(design: TaskDesign, pairs: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """What else is to be said of each difference."""
    rows = named_pairs(pairs, labels)
    spec = TableSpec(
        table_name("difference_companions", design),
        title=title_of("Companions of the differences of mean |r|", design),
        columns=(
            Text("pair", "First minus second"),
            Signed("estimate", "Mean", digits=3),
            Signed("median", "Median", digits=3),
            Signed("trimmed", "Trimmed mean", digits=3),
            PValue("p_wilcoxon", "Wilcoxon p"),
            Percent("share_worse", "First is worse", digits=0),
            Signed("d_z", "d_z"),
            Signed("d_av", "d_av"),
            Signed("skewness", "Skewness", digits=1),
            Number("top_share", "Share of top 5%", digits=2),
        ),
        order=("p_adjusted", "pair"),
        note="Values by unit. Trimmed: 20% at either end. First is worse: share of units, ties count half. d_z: "
        "mean over the standard deviation of the differences; d_av: over that of the two models. Wilcoxon: "
        "another null, symmetry about 0; it is no second chance. These p-values are not adjusted.",
    )
    listed = rows.drop(columns=["test", "alternative", "ci_level", "ci_method"])
    return Table(spec, listed, simulated=design.simulated)


def named_pairs(pairs: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Pairs with printed names, and their flags in words."""
    names = [
        f"{labels.get(str(a), str(a))} − {labels.get(str(b), str(b))}"
        for a, b in zip(pairs["model"], pairs["other"], strict=True)
    ]
    flag = pairs["flag"].where(pairs["flag"] == "", "TAIL").replace("", "none")
    return pairs.assign(pair=names, flag_word=flag)


def robustness_table(design: TaskDesign, found: pd.DataFrame, labels: Mapping[str, str], *, clip: float) -> Table:
    """Mean |r| under other clips and scales, with the ranks that they change."""
    rows = found.assign(label=[labels.get(str(m), str(m)) for m in found["model"]])
    changes = rank_changes(found, labels)
    notes = [f"With {CHOICES[choice]} ranks change: {', '.join(names)}." for choice, names in changes.items()]
    notes = notes or ["No choice changes a rank."]
    optional = {"renormalised": "Rescaled states", "sum_gap": "Median |sum − 1|"}
    extra = tuple(Number(name, head, digits=3) for name, head in optional.items() if name in rows)
    spec = TableSpec(
        table_name("robustness", design),
        title=title_of("Mean |r| under other clips and scales", design),
        columns=(
            Text("label", "Model"),
            Percent("answers_at_clip", "Answers", optional=True),
            Percent("one_at_clip", "One side"),
            Percent("both_at_clip", "Both"),
            Number("clip_0.001", ".001", digits=3),
            Number("clip_0.01", ".01", digits=3),
            Number("clip_0.05", ".05", digits=3),
            Percent("points", "Mean", unit="points"),
            Percent("median_points", "Median", unit="points"),
            *extra,
        ),
        spanners=(
            Spanner("At the clip", ("answers_at_clip", "one_at_clip", "both_at_clip")),
            Spanner("Mean |r| with clip", ("clip_0.001", "clip_0.01", "clip_0.05")),
            Spanner("|Direct − implied|", ("points", "median_points")),
        ),
        order=("base", "label"),
        note=f"Elsewhere the clip is {clip:g}. Clipping draws residuals towards 0 (by 3 to 5% of the persistent "
        "residual at .01); a clip of .001 turns the rounding of printed answers into noise. Rescaled: the "
        "probabilities of the states divided by their sum before they are combined. Shares of answers and the median "
        "of |sum − 1| count every wording, all else instances.",
    )
    return Table(spec, rows, notes=tuple(notes), simulated=design.simulated)
