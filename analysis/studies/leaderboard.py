"""Any benchmark with right answers or scores in [0, 1]: an order of models, and how sure it is."""

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.leaderboard import leaderboard, pass_estimates
from analysis.reduction.scores import item_accuracies, item_scores, model_costs
from analysis.report.columns import Count, Decision, Estimate, Interval, Number, Proportion, PValue, Text
from analysis.report.content import Section
from analysis.report.numbers import counted, fixed
from analysis.report.spec import Table, TableSpec, Where
from analysis.studies.answers import labelled, shared_columns
from analysis.studies.census import without_inference
from analysis.studies.condition_tables import DECISION_HELP, DECISIONS
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import estimate_column, table_name, wide_estimates

#: Columns of the board that sampling of units gives.
_INFERRED = (
    *("rank_low", "rank_high", "p_first", "difference_low", "difference_high", "p_value", "resolution", "p_adjusted"),
    *("p_adjust_method", "family_size", "decision"),
)
#: Models named where the first place is shared.
_MOST_NAMES = 4
_PASSES = (1, 2, 5, 10, 20, 50, 100)
_COSTS = {"tokens_in": "Tokens in", "tokens_out": "Tokens out", "tokens_reasoning": "Reasoning tokens"}


def leaderboard_part(context: TaskContext) -> Part | None:
    """Order of the models of a task that has no answer bias to report; None for yes/no tasks and probabilities."""
    design = context.design
    if design.kind not in ("choice", "score"):
        return None
    graded = isinstance(context.counts, str)
    if isinstance(context.counts, str):
        try:
            items = item_scores(context.con, design, context.selection)
        except AnalysisError as error:
            return Part(limits=(f"{context.where}no mean score: {error}.",))
    else:
        items = item_accuracies(context.counts, design.uncertain)
    context.progress("order of models")
    shared = shared_columns(context)
    board = leaderboard(
        items,
        rng=context.resampling.rng("leaderboard"),
        resamples=context.resampling.resamples,
        flips=context.resampling.flips,
        **shared,
    ).merge(model_costs(context.con, design, context.selection), on="model", how="left")
    census = design.target == "census"
    table = _board_table(context, board, graded)
    tables = [_plain_board(table) if census else table]
    data = {"leaderboard": board.drop(columns=list(_INFERRED)) if census else board}
    passes, limits = _passes(context, items)
    if passes is not None:
        data["pass_at_k"] = passes
        tables.append(_pass_table(context, passes))
    section = Section(
        "Order of models" + (f": {design.task}" if design.task else ""),
        lead=(_lead(items, graded),),
        tables=tuple(tables),
        notes=("Every question weighs the same.",)
        if census or len(board) < 2
        else (
            "Every question weighs the same. The best model is picked by these data: the rank limits, and not the "
            "order, say what can be claimed.",
        ),
    )
    return Part(
        (section,),
        summary=_claims(context, board, graded),
        limits=limits,
        attention=_attention(context, board, items),
        methods=()
        if census
        else (
            "Rank limits are percentiles of the ranks in bootstrap resamples of units, all models with the same units; "
            "differences to the best model are over shared questions, with sign-flip tests over units and Holm's "
            "adjustment [@holm1979].",
        ),
        data=data,
    )


def _plain_board(table: Table) -> Table:
    """Values and distances of a census, without what resampling says of the order."""
    plain = without_inference(table)
    columns = tuple(column for column in plain.spec.columns if column.name != "p_first")
    title = table.spec.title.replace(", rank, and distance", ", and distance")
    return replace(plain, spec=replace(plain.spec, columns=columns, title=title))


def _passes(context: TaskContext, items: pd.DataFrame) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """pass@k over samples of one question under the same conditions, or a sentence why there is none."""
    design, counts = context.design, context.counts
    if isinstance(counts, str) or not len(items) or int(items["n_samples"].max()) < 2:
        return None, ()
    varying = tuple(name for name in design.varying if name in counts.columns)
    asked = item_accuracies(counts, design.uncertain, by=varying) if varying else items
    most = int(asked["n_samples"].max())
    if most < 2:
        return None, (
            f"{context.where}no pass@k: no question has two samples under the same {' and '.join(varying)}, and "
            "answers under different conditions are no samples of one another.",
        )
    ks = tuple(sorted({k for k in _PASSES if k < most} | {most}))
    shared = shared_columns(context)
    if not varying:
        return pass_estimates(asked, ks, **shared).assign(condition=""), ()
    parts = [
        pass_estimates(group, ks, **shared).assign(
            condition=", ".join(f"{name} {level}" for name, level in zip(varying, levels, strict=True))
        )
        for levels, group in asked.groupby(list(varying), sort=True)
    ]
    return pd.concat(parts, ignore_index=True), ()


def _board_table(context: TaskContext, board: pd.DataFrame, graded: bool) -> Table:
    design = context.design
    costs: tuple[Number, ...] = tuple(
        Number(name, head, digits=0) for name, head in _COSTS.items() if name in board.columns
    )
    if "latency" in board.columns:
        costs += (Number("latency", "Latency", unit="s", digits=2),)
    rows = labelled(board, context.labels).assign(
        p_value_reason=board["difference_reason"],
        p_adjusted_reason=board["difference_reason"], rank_level=context.ci_level,
        rank_method="percentile bootstrap over units",
    )  # fmt: skip
    absent = {f"{c.name}_reason": rows[c.name].isna().map({True: "not in the log", False: ""}) for c in costs}
    rows = rows.assign(**absent)
    spec = TableSpec(
        table_name("leaderboard", design),
        title=("Mean score" if graded else "Accuracy")
        + ", rank, and distance to the best model"
        + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Score" if graded else "Accuracy", digits=3),
            Interval("rank_low", "Rank", high="rank_high", level="rank_level", method="rank_method", digits=0),
            Proportion("p_first", "First", digits=2, help="share of resamples in which the model is first"),
            Estimate(
                "difference",
                "Best − this",
                low="difference_low",
                high="difference_high",
                method="difference_method",
                digits=3,
                signed=True,
            ),
            PValue("p_value", "p", floor="resolution"),
            PValue("p_adjusted", "Holm"),
            Decision("decision", "±0.02", labels=DECISIONS, help=DECISION_HELP),
            Count("n", "Questions"),
            *costs,
        ),
        order=("-estimate", "label"),
        note="Difference: over the questions that both models have.",
        bold_where=(Where("p_adjusted", "<=", 0.05, cells=("difference",), meaning="adjusted p at most .05"),),
    )
    missing = int((board["n_unshared"] > 0).sum())
    notes = (f"{counted(missing, 'model')} lack questions that the best one has, or the other way round.",)
    return Table(spec, rows, notes=notes if missing else (), simulated=design.simulated)


def _pass_table(context: TaskContext, passes: pd.DataFrame) -> Table:
    design = context.design
    names = tuple(passes["measure"].unique())
    several = passes["condition"].nunique() > 1
    spec = TableSpec(
        table_name("pass_at_k", design),
        title="Chance that one of k samples is right" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            *(estimate_column(name, f"pass@{name.removeprefix('pass_at_')}", digits=3) for name in names),
        ),
        groups=("condition",) if several else (),
        order=(f"-{names[0]}", "label"),
        note=(
            "Unbiased for drawing k of the samples there are; questions with fewer samples are left out."
            + (" Samples under different conditions are kept apart." if several else "")
        ),
    )
    wide = pd.concat(
        [
            wide_estimates(group.assign(uncertain="", weights="item"), context.labels, names).assign(condition=name)
            for name, group in passes.groupby("condition", sort=True)
        ],
        ignore_index=True,
    )
    return Table(spec, wide, simulated=design.simulated)


def _lead(items: pd.DataFrame, graded: bool) -> str:
    models, questions = items["model"].nunique(), items["item"].nunique()
    kind = "graded scores in [0, 1]" if graded else "right and wrong answers"
    return f"{counted(models, 'model')} on {counted(questions, 'question')}, {kind}."


def _claims(context: TaskContext, board: pd.DataFrame, graded: bool) -> tuple[str, ...]:
    first = board.iloc[0]
    if len(board) < 2 or not np.isfinite(first["estimate"]):
        return ()
    name = _first_names(context, board)
    if context.design.target == "census":
        said = f"{'mean score' if graded else 'accuracy'} is highest for {name} ({fixed(first['estimate'], 3)})."
        return (f"{context.where}{said if context.where else said[0].upper() + said[1:]}",)
    open_models = int((board["rank_low"] <= 1).sum())
    said = f"{'mean score' if graded else 'accuracy'} is highest for {name} ({fixed(first['estimate'], 3)})"
    said += "; no other model's rank limits include the first place." if open_models == 1 else (
        f"; the rank limits of {counted(open_models, 'model')} include the first place."
    )  # fmt: skip
    return (f"{context.where}{said if context.where else said[0].upper() + said[1:]}",)


def _first_names(context: TaskContext, board: pd.DataFrame) -> str:
    """Names of the models with the largest value: several where it is a tie."""
    first = board.loc[np.isclose(board["estimate"], board["estimate"].iloc[0], rtol=0, atol=1e-12), "model"]
    names = [context.labels.get(str(model), str(model)) for model in first]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more alike"
    return " and ".join([", ".join(names[:-1]), names[-1]]) + " alike" if len(names) > 1 else names[0]


def _attention(context: TaskContext, board: pd.DataFrame, items: pd.DataFrame) -> tuple[str, ...]:
    aside = int(items["n_set_aside"].sum())
    said = []
    if (board["n_unshared"] > 0).any():
        said.append(f"{context.where}models were not asked the same questions: differences are over shared ones only.")
    if aside and isinstance(context.counts, str):
        said.append(f"{context.where}{aside:,} responses without a score are in no mean score.")
    return tuple(said)
