"""What a report says first: sentences made from the tables, by rule."""

from collections.abc import Mapping

from analysis.report.numbers import fixed, signed
from analysis.schema.task_design import TaskDesign
from analysis.studies.judgement import DECISIONS, JudgementResults

#: At most this many names stand in one sentence.
NAMED = 6


def claims(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> tuple[str, ...]:
    """What can be claimed of a yes/no task."""
    where = f"{design.task}: " if design.task else ""
    tests = results.tests[results.tests["alternative"] == "greater"]
    sentences = []
    for decision in ("above", "below"):
        names = [labels.get(str(m), str(m)) for m in tests.loc[tests["decision"] == decision, "model"]]
        if names:
            sentences.append(f"{where}the competence floor is shown {DECISIONS[decision]} for {_listed(names)}.")
    bias = results.estimates[results.estimates["measure"] == "answer_bias"]
    for word, part in (("Yes", bias[bias["ci_low"] > 0]), ("No", bias[bias["ci_high"] < 0])):
        if len(part):
            part = part.sort_values("estimate", key=abs, ascending=False)
            values = zip(part["model"].astype(str), part["estimate"], strict=True)
            names = [f"{labels.get(model, model)} ({signed(estimate, 2)})" for model, estimate in values]
            sentences.append(
                f"{where}leaning to {word}, with an interval for the bias that excludes 0: {_listed(names)}."
            )
    sentences += _hidden_by_accuracy(where, results, labels)
    return tuple(sentences)


def limits(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> tuple[str, ...]:
    """What cannot be claimed of a yes/no task."""
    where = f"{design.task}: " if design.task else ""
    tests = results.tests[results.tests["alternative"] == "greater"]
    undecided = [labels.get(str(m), str(m)) for m in tests.loc[tests["decision"] == "undecided", "model"]]
    sentences = []
    if undecided:
        sentences.append(f"{where}whether the floor lies above or below .5 is undecided for {_listed(undecided)}.")
    untested = tests[tests["decision"] == "not tested"]
    for reason, group in untested.groupby("reason", sort=True):
        names = [labels.get(str(m), str(m)) for m in group["model"]]
        sentences.append(f"{where}no floor for {_listed(names)}: {reason}.")
    if design.target == "these":
        sentences.append(
            f"{where}the claims are about these templates, forms and models, for units like these; not about new "
            "templates or models."
        )
    return tuple(sentences)


def attention(design: TaskDesign, results: JudgementResults, labels: Mapping[str, str]) -> tuple[str, ...]:
    """What a reader should look into before believing a number."""
    where = f"{design.task}: " if design.task else ""
    return tuple(
        f"{where}{labels.get(row['model'], row['model'])}: {row['reason'] or row['flag']}."
        for row in results.flags.to_dict("records")
    )


def _hidden_by_accuracy(where: str, results: JudgementResults, labels: Mapping[str, str]) -> list[str]:
    """Models whose accuracy of at least one half hides a class that is mostly answered wrong."""
    wide = results.estimates.pivot(index="model", columns="measure", values="estimate")
    if not {"accuracy", "competence_floor", "acc_yes", "acc_no"} <= set(wide.columns):
        return []
    sentences = []
    for model, row in wide.iterrows():
        if row["accuracy"] >= 0.5 and row["competence_floor"] < 0.25:
            worse = "Yes" if row["acc_yes"] < row["acc_no"] else "No"
            name = labels.get(str(model), str(model))
            sentences.append(
                f"{where}accuracy {fixed(row['accuracy'], 2)} hides that {name} is right on only "
                f"{fixed(row['competence_floor'], 2)} of the items where {worse} is the right answer."
            )
    return sentences[:NAMED]


def _listed(names: list[str]) -> str:
    shown = names[:NAMED]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
