"""Log-likelihood choices of lm-evaluation-harness: answers, ties, labels, gold, probability of yes."""

import json
import math

import pytest

from analysis.importers import lm_eval
from analysis.importers.lm_eval_choices import choice_labels, yes_probability


def rows(path, options):
    return [response for record in lm_eval.read(path, options) for response in record.responses]


def notes(path, options):
    return " | ".join(note for record in lm_eval.read(path, options) for note in record.notes)


def test_the_answer_is_the_argmax_of_numbers_not_of_texts(samples_file, build, options):
    """As text "-2.5" comes after "-1.5", and "-10.5" before "-9.5". Catches a comparison of texts, in either order."""
    path = samples_file([build.choice_row(0, ("-2.5", "-1.5"), acc=0.0), build.choice_row(1, ("-9.5", "-10.5"))])
    found = rows(path, options)
    assert [(r.answer, r.rule, r.gold, r.score_value) for r in found] == [
        ("no", "argmax", "yes", 0.0),
        ("yes", "argmax", "yes", 1.0),
    ]


def test_a_tie_is_no_answer(samples_file, build, options):
    """Catches ties broken towards the first choice, which makes a lean of the order of choices."""
    path = samples_file([build.choice_row(0, ("-3.78125", "-3.78125"))])
    (row,) = rows(path, options)
    assert (row.answer, row.rule, row.status, row.gold, row.p_yes) == (None, "tie", "unparsed", "yes", 0.5)
    assert "tie at the top" in notes(path, options)


def test_a_tie_below_the_top_is_an_answer(samples_file, build, options):
    """Catches any two equal values called a tie."""
    (row,) = rows(samples_file([build.choice_row(0, (-1.0, -2.0, -2.0), (" a", " b", " c"))]), options)
    assert (row.answer, row.rule) == ("a", "argmax")


@pytest.mark.parametrize("value", ["nan", float("nan"), None, "x"])
def test_a_loglikelihood_that_is_no_number_is_no_answer(samples_file, build, options, value):
    """Catches ``max`` over NaN, which returns whichever comes first."""
    (row,) = rows(samples_file([build.choice_row(0, (value, "-2.5"))]), options)
    assert (row.answer, row.status, row.p_yes, row.gold) == (None, "unparsed", None, "yes")


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        ((" no", " yes"), ("no", "yes")),
        (("Yes", "No", "Maybe"), ("yes", "no", "Maybe")),
        ((" A", " B"), ("A", "B")),
        (("a house", "a boat"), ("A", "B")),
        (("same", "same"), ("A", "B")),
        (("", "x"), ("A", "B")),
        (("x" * 20, "y"), ("x" * 20, "y")),
        (("x" * 21, "y"), ("A", "B")),
        (("Yes", "yes"), ("A", "B")),
    ],
)
def test_labels_of_choices(texts, labels):
    """Catches whole sentences as labels, and two choices with one label."""
    assert choice_labels(texts) == labels


def test_the_probability_of_yes_is_the_softmax_of_two():
    """By hand: log-likelihoods ln .2 and ln .6 give .25; extreme ones overflow nowhere."""
    assert yes_probability(("yes", "no"), (math.log(0.2), math.log(0.6))) == pytest.approx(0.25, abs=1e-15)
    assert yes_probability(("no", "yes"), (math.log(0.2), math.log(0.6))) == pytest.approx(0.75, abs=1e-15)
    assert yes_probability(("yes", "no"), (0.0, -1e6)) == 1.0
    assert yes_probability(("yes", "no"), (-1e6, 0.0)) == 0.0
    assert yes_probability(("yes", "no"), (-math.inf, -1.0)) == 0.0
    assert yes_probability(("yes", "no"), (-math.inf, -math.inf)) is None
    assert yes_probability(("a", "b"), (-1.0, -1.0)) is None


@pytest.mark.parametrize(
    ("choices", "target", "acc", "gold"),
    [
        ((" red", " blue"), "1", 0.0, "blue"),
        ((" red", " blue"), "blue", 0.0, "blue"),
        (("a red car", "a blue car"), "B", 0.0, "B"),
        (("a red car", "a blue car"), "a blue car", 0.0, "B"),
        # As an index "1" is the text "2", as a text it is itself: acc tells.
        (("1", "2"), "1", 1.0, "1"),
        (("1", "2"), "1", 0.0, "2"),
        # The choices are in the contexts: acc alone tells.
        ((" end", " end"), " end", 0.0, "B"),
        ((" end", " end"), " end", 1.0, "A"),
        ((" red", " blue"), "0", 0.37, None),
        ((" red", " blue"), "1", 1.0, None),
        ((" red", " blue"), "[0, 1]", 0.0, None),
        ((" red", " blue"), "", 0.0, None),
    ],
)
def test_gold_of_choices(samples_file, build, options, choices, target, acc, gold):
    """The first choice is the most likely. Catches indices as answers, and targets that name no single choice."""
    (row,) = rows(samples_file([build.choice_row(0, (-1, -2), choices, target=target, acc=acc)]), options)
    assert row.gold == gold
    assert row.extra["meta.target"] == target.strip()


def test_a_target_that_contradicts_the_score_is_noted(samples_file, build, options):
    """Catches a gold answer believed although the harness scored another one."""
    path = samples_file([build.choice_row(0, (-1, -2), target="1", acc=1.0)])
    assert "target and acc disagree" in notes(path, options)


def test_tasks_with_several_right_choices_have_no_gold(samples_file, build, options):
    """Catches truthfulqa_mc2, whose target is 0 whatever is right."""
    name = "samples_truthfulqa_mc2_2025-04-01T12-00-00.5.jsonl"
    assert rows(samples_file([build.choice_row(acc=1.0)], name), options)[0].gold is None


def test_mutual_information_requests_do_not_compete(samples_file, build, options):
    """Catches unconditional requests counted as two more choices."""
    row = build.choice_row(0, (-2, -3, -1, -0.5), (" yes", " no", " yes", " no"))
    for i in (2, 3):
        row["arguments"][f"gen_args_{i}"]["arg_0"] = ""
    (response,) = rows(samples_file([row]), options)
    assert response.answer == "yes"
    assert json.loads(response.extra["meta.choices"]) == ["yes", "no"]


def test_more_than_ten_choices_keep_their_order(samples_file, build, options):
    """Catches requests sorted as text: gen_args_10 before gen_args_2."""
    texts = tuple(f"c{i}" for i in range(12))
    row = build.choice_row(0, tuple(-float(i == 2) - 1 for i in range(12)), texts, target="11", acc=0.0)
    row["resps"][10][0][0] = "-0.5"
    row["arguments"] = dict(sorted(row["arguments"].items()))
    (response,) = rows(samples_file([row]), options)
    assert (response.answer, response.gold) == ("c10", "c11")


def test_a_single_loglikelihood_has_a_score_and_no_answer(samples_file, build, options):
    """Catches an answer made up where there was no choice."""
    (row,) = rows(samples_file([build.choice_row(0, ("-0.5",), ("9",), target="9")]), options)
    assert (row.answer, row.output, row.status, row.gold, row.score_value) == (None, None, None, "9", 1.0)
