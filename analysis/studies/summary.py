"""What a report says first: sentences made from the tables, by rule."""

from collections.abc import Callable, Mapping

import pandas as pd

from analysis.report.escape import shortened
from analysis.report.numbers import fixed, percent, signed
from analysis.schema.analysed import NOTHING_KNOWN
from analysis.schema.task_design import TaskDesign
from analysis.studies.judgement import JudgementResults

TURNS_ON_LOST = "floor turns on lost answers"
#: Signed measures of the summary, with what a positive and a negative value mean.
LEANS: tuple[tuple[str, tuple[str, str]], ...] = (
    ("answer_bias", ("leaning to Yes", "leaning to No")),
    (
        "polarity_sensitivity",
        ("more often right on affirmative than on negated questions", "more often right on negated questions"),
    ),
)
#: Flag -> how it is said, and how its value is printed.
FLAGS: dict[str, tuple[str, Callable[[float], str] | None]] = {
    "many uncertain answers": ("more than 5% of the answers in a cell are unreadable", lambda v: f"{percent(v, 1)}%"),
    "uncertain answers differ": (
        "the share of unreadable answers differs between items where Yes and where No is right",
        lambda v: signed(v, 3),
    ),
    TURNS_ON_LOST: ("on which side of .5 the floor lies turns on answers that were lost", None),
}
#: So many responses per independent unit, and a reader who counts responses is misled.
ROWS_PER_UNIT = 10
#: At most this many names stand in one sentence.
NAMED = 6
#: Longer names are shortened in the middle.
NAME_WIDTH = 80


def claims(results: JudgementResults, labels: Mapping[str, str], *, where: str = "") -> tuple[str, ...]:
    """What can be claimed of a yes/no task."""
    tests = results.tests[results.tests["alternative"] == "greater"]
    decided = {d: [str(m) for m in tests.loc[tests["decision"] == d, "model"]] for d in ("above", "below")}
    turning = set(results.flags.loc[results.flags["flag"] == TURNS_ON_LOST, "model"].astype(str))
    said = [
        ("the competence floor is shown above .5 for", decided["above"]),
        ("the competence floor is shown below .5 for", [m for m in decided["below"] if m not in turning]),
        (
            "only if unreadable answers count as wrong is the competence floor shown below .5 for",
            [m for m in decided["below"] if m in turning],
        ),
    ]
    sentences = [
        sentence(where, f"{words} {listed([labels.get(m, m) for m in models])}") for words, models in said if models
    ]
    for measure, lean in LEANS:
        sentences += _leaning(where, measure, lean, results, labels)
    sentences += _hidden_by_accuracy(where, results, labels)
    return tuple(sentences)


def _leaning(
    where: str, measure: str, words: tuple[str, str], results: JudgementResults, labels: Mapping[str, str]
) -> list[str]:
    """Models whose interval for a signed measure lies above 0, then those with one below."""
    rows = results.estimates[results.estimates["measure"] == measure]
    sentences = []
    for said, part in zip(words, excluding_zero(rows), strict=True):
        part = part.sort_values("estimate", key=abs, ascending=False)
        values = zip(part["model"].astype(str), part["estimate"], strict=True)
        names = [f"{labels.get(model, model)} ({signed(estimate, 2)})" for model, estimate in values]
        if names:
            sentences.append(sentence(where, f"{said}, with an interval that excludes 0: {listed(names)}"))
    return sentences


def limits(
    design: TaskDesign, results: JudgementResults, labels: Mapping[str, str], *, where: str = ""
) -> tuple[str, ...]:
    """What cannot be claimed of a yes/no task."""
    tests = results.tests[results.tests["alternative"] == "greater"]
    undecided = [labels.get(str(m), str(m)) for m in tests.loc[tests["decision"] == "undecided", "model"]]
    sentences = []
    if undecided:
        sentences.append(
            sentence(where, f"whether the floor lies above or below .5 is undecided for {listed(undecided)}.")
        )
    untested = tests[tests["decision"] == "not tested"]
    for reason, group in untested.groupby("reason", sort=True):
        names = [labels.get(str(m), str(m)) for m in group["model"]]
        sentences.append(sentence(where, f"no floor for {listed(names)}: {reason}."))
    if design.target == "these":
        facets = [name for name in ("template", "form") if name in design.item_factors]
        those = " and ".join([f"these {name}s" for name in facets] + ["these models"])
        new = " or ".join([f"new {name}s" for name in facets] + ["new models"])
        named = "units" if design.unit == "unit" else f"units ({design.unit})"
        unit = "items" if design.unit_is_item else named
        words = f"the claims are about {those}, for {unit} like the ones asked; not about {new}"
        sentences.append(sentence(where, words))
    if len(results.tests["model"].unique()) > 1:
        words = "decisions about the floor are adjusted for the number of models; statements about leanings are not"
        sentences.append(sentence(where, words))
    if design.target == "new_templates":
        words = "the claims are about templates like these; few templates of one validity give wide intervals"
        sentences.append(sentence(where, words))
    return tuple(sentences)


def attention(results: JudgementResults, labels: Mapping[str, str], *, where: str = "") -> tuple[str, ...]:
    """What a reader should look into before believing a number: one sentence per kind of flag."""
    sentences = []
    for flag, group in results.flags.groupby("flag", sort=False):
        words, printed = FLAGS[str(flag)]
        values = zip(group["model"].astype(str), group["value"], strict=True)
        names = [labels.get(model, model) + (f" ({printed(value)})" if printed else "") for model, value in values]
        sentences.append(sentence(where, f"{words}: {listed(names)}"))
    overall = results.estimates[results.estimates["measure"] == "accuracy"]
    repeated = overall[(overall["n_clusters"] > 0) & (overall["n"] >= ROWS_PER_UNIT * overall["n_clusters"])]
    if len(repeated):
        names = [
            f"{labels.get(str(model), str(model))} ({n:,} responses, {units:,} units)"
            for model, n, units in zip(repeated["model"], repeated["n"], repeated["n_clusters"], strict=True)
        ]
        words = "many responses rest on few independent units, which the intervals count instead"
        sentences.append(sentence(where, f"{words}: {listed(names)}"))
    return tuple(sentences)


def outside_bounds(excluded: pd.DataFrame) -> tuple[str, ...]:
    """What the bounds over everything planned cannot hold, from the table of rows set aside."""
    rows = int(excluded.loc[excluded["reason"] == NOTHING_KNOWN, "rows"].sum())
    words = "planned responses stand in no bound: they did not come, and no log says what their right answer was"
    return (f"{rows:,} {words}.",) if rows else ()


def accuracy_claims(estimates: pd.DataFrame, labels: Mapping[str, str], *, where: str = "") -> tuple[str, ...]:
    """Accuracies of a task without yes/no gold answers, best first, with their intervals."""
    rows = estimates[(estimates["measure"] == "accuracy") & estimates["estimate"].notna()]
    rows = rows.sort_values(["estimate", "model"], ascending=[False, True])
    names = [
        f"{labels.get(str(r['model']), str(r['model']))} {fixed(r['estimate'], 2)}"
        + (f" [{fixed(r['ci_low'], 2)}, {fixed(r['ci_high'], 2)}]" if pd.notna(r["ci_low"]) else "")
        for r in rows.to_dict("records")
    ]
    return (sentence(where, f"accuracy: {listed(names)}"),) if names else ()


def _hidden_by_accuracy(where: str, results: JudgementResults, labels: Mapping[str, str]) -> list[str]:
    """Models whose accuracy of at least one half hides a class that is mostly answered wrong."""
    wide = results.estimates.pivot(index="model", columns="measure", values="estimate")
    if not {"accuracy", "competence_floor", "acc_yes", "acc_no"} <= set(wide.columns):
        return []
    hidden = wide[(wide["accuracy"] >= 0.5) & (wide["competence_floor"] < 0.25)].sort_values("competence_floor")
    sentences = []
    for worse, other in (("yes", "no"), ("no", "yes")):
        part = hidden[hidden[f"acc_{worse}"] < hidden[f"acc_{other}"]]
        names = [
            f"{labels.get(str(model), str(model))} ({fixed(accuracy, 2)} overall, {fixed(floor, 2)} there)"
            for model, accuracy, floor in zip(part.index, part["accuracy"], part["competence_floor"], strict=True)
        ]
        if names:
            words = f"accuracy hides that few answers are right where {worse.capitalize()} is right: {listed(names)}"
            sentences.append(sentence(where, words))
    return sentences


def excluding_zero(rows: pd.DataFrame, *, digits: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Estimates whose interval lies above 0, and below, at the precision that tables print (``digits`` decimals).

    A limit that prints as 0 gives no claim: the table would seem to contradict it.
    """
    low, high = (rows[name].astype(float).round(digits) for name in ("ci_low", "ci_high"))
    return rows[low > 0], rows[high < 0]


def sentence(where: str, words: str) -> str:
    """A sentence, with the task before it where there are several."""
    return f"{where}{words if where else words[0].upper() + words[1:]}".rstrip(".") + "."


def listed(names: list[str], between: str = ", ") -> str:
    shown = [shortened(name, NAME_WIDTH, len) for name in names[:NAMED]]
    more = len(names) - len(shown)
    return between.join(shown) + (f" and {more} more" if more else "")
