"""Repeated responses: how the votes were cast, what the majority changes, and whether its share can be trusted."""

import pandas as pd

from analysis.frequentist.votes import nested_differences, vote_calibration, vote_share_estimates, vote_summary
from analysis.reduction.votes import TIE_ASIDE, TIE_UNCERTAIN
from analysis.report.columns import Count, Estimate, Number, Proportion, Signed, Text
from analysis.report.content import Section
from analysis.report.numbers import counted, fixed
from analysis.report.spec import Table, TableSpec
from analysis.studies.answers import TaskAnswers, labelled, shared_columns, unit_name
from analysis.studies.census import without_inference
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import estimate_column, table_name, wide_estimates

_TIES = {TIE_UNCERTAIN: "an unreadable answer (wrong, unless those are treated otherwise)", TIE_ASIDE: "no answer"}
_MEASURES = ("vote_share", "majority_accuracy", "vote_overconfidence")


def votes_part(context: TaskContext, answers: TaskAnswers) -> Part | None:
    """Votes, shares and calibration; None where nothing was answered twice."""
    if not answers.repeated:
        return None
    design, labels = context.design, context.labels
    context.progress("votes")
    summary = vote_summary(answers.collapsed, conditions=answers.conditions)
    both = nested_differences(answers.collapsed, answers.nested, uncertain=design.uncertain)
    shares = vote_share_estimates(answers.collapsed, **shared_columns(context))
    groups = vote_calibration(answers.collapsed, ci_level=context.ci_level).assign(unit=unit_name(design))
    tables = [_summary_table(context, summary.merge(both.drop(columns="questions"), on="model"))]
    if not shares.empty:
        tables += [_share_table(context, shares), _group_table(context, groups)]
    if design.target == "census":
        tables = [without_inference(table) for table in tables]
    section = Section(
        "Votes" + (f": {design.task}" if design.task else ""),
        lead=(
            f"One answer from several responses: {answers.rule.words}.",
            f"{counted(int(summary['votes'].sum()), 'vote')} on {counted(int(summary['questions'].sum()), 'question')} "
            f"(model × configuration × item); {counted(int(summary['stopped_early'].sum()), 'question')} had fewer "
            "votes than others of the same configuration.",
        ),
        tables=tuple(tables),
        notes=(
            "Where voting stops once the first votes agree, the answers are no draws from the model: the majority is "
            "surer than a single response, and its share of the votes is no probability.",
        ),
    )
    data = {"votes": labelled(summary, labels), "vote_accuracy": both, "vote_shares": shares, "vote_groups": groups}
    return Part((section,), attention=tuple(_attention(context, answers, summary, both)), data=data)


def _summary_table(context: TaskContext, rows: pd.DataFrame) -> Table:
    design = context.design
    spec = TableSpec(
        table_name("votes", design),
        title="How votes were cast, and accuracy by majority and by vote" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            Count("questions", "Questions", help="model × configuration × item"),
            Count("votes", "Votes"),
            Number("votes_mean", "Mean", digits=1, help="mean number of votes on a question"),
            Count("stopped_early", "Early", help="questions with fewer votes than others of their configuration"),
            Count("ties", "Ties"),
            Count("failed", "Failed", help="votes whose call failed"),
            Proportion("accuracy_majority", "Majority"),
            Proportion("accuracy_votes", "Votes"),
            Signed("difference", "Diff.", digits=3),
        ),
        order=("-accuracy_majority", "label"),
        note=(
            "Majority: accuracy of the one answer per question. Votes: mean share of right votes, every question "
            "weighing the same: what a single response is worth."
        ),
    )
    return Table(spec, labelled(rows, context.labels), simulated=design.simulated)


def _share_table(context: TaskContext, shares: pd.DataFrame) -> Table:
    design = context.design
    spec = TableSpec(
        table_name("vote_shares", design),
        title="Is the share of the majority how often it is right?" + (f" {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("vote_share", "Share", digits=3),
            estimate_column("majority_accuracy", "Right", digits=3),
            estimate_column("vote_overconfidence", "Share − right", digits=3, signed=True),
            Count("n", "n", help="questions with two readable votes or more, ties left out"),
        ),
        order=("-vote_overconfidence", "label"),
        note="Above 0 the votes agree more often than they are right.",
    )
    return Table(spec, wide_estimates(shares, context.labels, _MEASURES), simulated=design.simulated)


def _group_table(context: TaskContext, groups: pd.DataFrame) -> Table:
    design = context.design
    spec = TableSpec(
        table_name("vote_groups", design),
        title="Accuracy of the majority by its share of the votes" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("group", "Share"),
            Proportion("mean_share", "Mean share"),
            Estimate("estimate", "Right", digits=3),
            Count("n", "Questions"),
            Count("n_models", "Models"),
        ),
        note="All models together; groups begin with their lower end and unanimity stands alone.",
    )
    return Table(spec, groups, simulated=design.simulated)


def _attention(context: TaskContext, answers: TaskAnswers, summary: pd.DataFrame, both: pd.DataFrame) -> list[str]:
    said = []
    stopped, questions = int(summary["stopped_early"].sum()), int(summary["questions"].sum())
    if stopped:
        said.append(
            f"{context.where}{stopped:,} of {questions:,} questions have fewer votes than others of their "
            "configuration (early stopping, or lost votes): their answers are not draws of equal weight."
        )
    said += _weights(context, both)
    ties, rule = int(summary["ties"].sum()), answers.rule.tie
    if ties:
        two = " Two answers have no majority where they differ." if float(summary["votes_mean"].max()) <= 2 else ""
        said.append(
            f"{context.where}{ties:,} of {questions:,} questions have a tie of votes, which counts as "
            f"{_TIES.get(rule, f'the answer {rule!r}')}: measures of the majority (precision "
            "and recall, consistency, conditions) carry that rule, accuracy and answer bias rest on every single vote "
            f"and do not.{two}"
        )
    most = both.sort_values("difference", key=abs, ascending=False, kind="stable").to_dict("records")[0]
    if abs(most["difference"]) >= 0.01:
        name = context.labels.get(str(most["model"]), str(most["model"]))
        said.append(
            f"{context.where}the majority changes accuracy: most for {name}, from {fixed(most['accuracy_votes'], 3)} "
            f"by single votes to {fixed(most['accuracy_majority'], 3)}."
        )
    return said


def _weights(context: TaskContext, both: pd.DataFrame) -> list[str]:
    """A warning where questions with more votes move the accuracy that counts every vote."""
    if context.estimates is None:
        return []
    own = context.estimates[context.estimates["measure"] == "accuracy"]
    counted_votes = dict(zip(own["model"].astype(str), own["estimate"], strict=True))
    rows = both.assign(counted=both["model"].astype(str).map(counted_votes))
    rows = rows.assign(moved=(rows["accuracy_votes"] - rows["counted"]).abs()).dropna(subset="moved")
    most = next(iter(rows.nlargest(1, "moved").to_dict("records")), {"moved": 0.0})
    if most["moved"] < 0.01:
        return []
    name = context.labels.get(str(most["model"]), str(most["model"]))
    return [
        f"{context.where}accuracy, answer bias and floor count every vote of an item, so that configurations with more "
        f"votes, and questions on which voting did not stop early, weigh more: most for {name}, accuracy "
        f"{fixed(most['counted'], 3)}, but {fixed(most['accuracy_votes'], 3)} where all questions weigh the same."
    ]
