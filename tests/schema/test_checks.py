"""Each violation provoked, alone, with its count and its sources."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.schema.checks import ERROR, WARNING, check_responses, unused_columns
from analysis.schema.design import read_designs
from analysis.schema.map_rules import MapRule
from analysis.schema.study import Study
from analysis.schema.violation import RULES

HOSTILE = "a'; DROP VIEW responses; --\"\0\n\x1b[2J" + "x" * 300


def rows_of(n: int = 4, **columns: object) -> list[dict]:
    """Rows of a sound yes/no log, one item each, in lines 1 to n of a file."""
    return [{"item": f"i{i}", "gold": ("yes", "no")[i % 2], "source": f"a.jsonl:{i + 1}", **columns} for i in range(n)]


def found(con, study: Study = Study()) -> list:  # noqa: B008
    return check_responses(con, read_designs(con, study), study)


def test_a_sound_log_has_no_violation(store) -> None:
    """Catches checks that cry wolf."""
    rows = rows_of(6, prompt="p", strategy="cot", temperature="0", logged_score="C", score_value=1.0)
    rows += [{**row, "sample": "1"} for row in rows] + [{**row, "model": "n"} for row in rows]
    rows += [{**row, "model": "o", "status": "missing", "answer": None, "gold": None} for row in rows_of(2)]
    assert [v for v in found(store(rows)) if v.rule != "one prompt, several items"] == []


@pytest.mark.parametrize(
    ("change", "severity", "rule", "count", "message"),
    [
        ({"item": None}, ERROR, "missing value", 1, "1 row without item"),
        ({"model": " "}, ERROR, "missing value", 1, "1 row without model"),
        (
            {"answer": None},
            ERROR,
            "missing value",
            1,
            "1 row without any of answer, output, probability, logged_score",
        ),
        (
            {"status": "wrong"},
            ERROR,
            "unknown level",
            1,
            'status of 1 row is "wrong", not answered, unparsed, refused, truncated, errored or missing',
        ),
        ({"validity": "sound"}, ERROR, "unknown level", 1, 'validity of 1 row is "sound", not valid or invalid'),
        ({"polarity": "neg"}, ERROR, "unknown level", 1, 'polarity of 1 row is "neg", not affirmative or negated'),
        (
            {"believability": "nonsense"},
            ERROR,
            "unknown level",
            1,
            'believability of 1 row is "nonsense", not believable or unbelievable',
        ),
        (
            {"answer": "perhaps"},
            ERROR,
            "answer outside the vocabulary",
            1,
            'the unnamed task: answer of 1 row is "perhaps", not yes or no',
        ),
        (
            {"validity": "valid", "polarity": "negated"},
            ERROR,
            "gold against validity and polarity",
            1,
            "the unnamed task: gold of 1 row contradicts validity and polarity",
        ),
        (
            {"probability": 1.2},
            ERROR,
            "probability out of range",
            1,
            "the unnamed task: probability of 1 row lies outside [0, 1]",
        ),
        (
            {"probability": math.nan},
            ERROR,
            "probability out of range",
            1,
            "the unnamed task: probability of 1 row lies outside [0, 1]",
        ),
        ({"p_yes": -0.1}, ERROR, "probability out of range", 1, "the unnamed task: p_yes of 1 row lies outside [0, 1]"),
        (
            {"simulated": True},
            WARNING,
            "simulated and real",
            1,
            "1 row of 4 come from generated logs, the others do not",
        ),
        ({"logged_score": "NaN"}, WARNING, "invalid score", 1, "logged_score of 1 row is not a finite number"),
        ({"logged_score": "-Infinity"}, WARNING, "invalid score", 1, "logged_score of 1 row is not a finite number"),
        ({"score_value": math.inf}, WARNING, "invalid score", 1, "logged_score of 1 row is not a finite number"),
        (
            {"extra": {"score.f1": "inf"}},
            WARNING,
            "invalid score",
            1,
            "score.f1 of 1 row is not a finite number",
        ),
    ],
)
def test_one_bad_row_is_one_violation(store, change, severity, rule, count, message) -> None:
    """Third row of four, whose gold is yes: found once, with its line."""
    rows = rows_of()
    rows[2] |= change
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count, violation.message) == (severity, rule, count, message)
    assert violation.examples == ("a.jsonl:3",)
    assert violation.fix


def test_a_column_that_no_row_has_is_one_violation(store) -> None:
    """Catches one violation per row, or none, for a missing column."""
    (violation,) = found(store(rows_of(answer=None, status=None)))
    assert (violation.rule, violation.count) == ("missing column", 4)
    assert violation.message == "no row has one of answer, output, probability, logged_score"
    rules = [(v.rule, v.message) for v in found(store(rows_of(item=None)))]
    assert rules == [("missing column", "no row has item")]


def test_case_and_blanks_of_levels_do_not_matter(store) -> None:
    rows = [{"item": "a", "gold": "Yes ", "validity": "Valid", "polarity": " affirmative", "answer": "No"}]
    assert found(store(rows)) == []


def test_examples_are_five_at_most_in_the_order_of_lines(store) -> None:
    """Catches line 10 before line 2, and thousands of lines printed."""
    (violation,) = found(store(rows_of(12, validity="?")))
    assert violation.count == 12
    assert violation.examples == tuple(f"a.jsonl:{i}" for i in range(1, 6))


def test_percentages_among_fractions_are_mixed_scales(store) -> None:
    rows = [
        {"item": f"i{i}", "answer": None, "probability": p, "source": f"a:{i}"}
        for i, p in enumerate((0.5, 50.0, 70.0, 1.0))
    ]
    (mixed,) = found(store(rows))
    assert (mixed.rule, mixed.count, mixed.examples) == ("mixed scales", 2, ("a:1", "a:2"))
    assert "probability_scale" not in mixed.fix


def test_what_is_neither_percent_nor_fraction_is_said_beside_the_mixture(store) -> None:
    """Catches the advice to declare percent for a mixture, and a mixture that hides 300."""
    rows = [
        {"item": f"i{i}", "answer": None, "probability": p, "source": f"a:{i}"}
        for i, p in enumerate((0.5, 50.0, 300.0, -1.0))
    ]
    outside, mixed = found(store(rows))
    assert (outside.count, outside.examples, outside.fix) == (2, ("a:2", "a:3"), "correct the log")
    assert "outside [0, 100]" in outside.message
    assert (mixed.rule, mixed.count) == ("mixed scales", 1)


@pytest.mark.parametrize(
    ("column", "values"),
    [("gold", ("yes", "no")), ("unit", ("u", "v")), ("template", ("s", "t")), ("validity", ("valid", "invalid"))],
)
def test_an_item_that_differs_between_models_is_an_error(store, column, values) -> None:
    """Catches two questions under one id, compared as one."""
    rows = [
        {"item": "a", "gold": None, "model": m, column: v, "source": f"{m}.jsonl:1"}
        for m, v in zip("mn", values, strict=True)
    ]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count) == (ERROR, "item differs", 1)
    assert violation.examples == ("m.jsonl:1", "n.jsonl:1")
    first, last = sorted(values)
    assert violation.message == f'{column} of 1 item differs between rows, as in item "a": "{first}", "{last}"'


def test_a_condition_may_differ_within_an_item(store) -> None:
    rows = [{"item": "a", "gold": "yes", "wording": w} for w in "ab"]
    con = store(rows)
    assert [v.rule for v in found(con)] == ["duplicate response", "item differs"]
    assert found(con, Study(conditions=("wording",))) == []


def test_prompts_that_differ_within_an_item_are_a_warning_unless_a_condition_explains_them(store) -> None:
    rows = [{"item": "a", "gold": "yes", "model": m, "prompt_hash": m, "source": m} for m in "xy"]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count) == (WARNING, "prompt differs", 1)
    assert violation.examples == ("x", "y")
    rows = [{"item": "a", "gold": "yes", "strategy": s, "prompt": s} for s in ("cot", "direct")]
    assert found(store(rows)) == []


def test_one_prompt_as_two_items_with_different_gold_is_a_warning(store) -> None:
    """Catches a hash that leaves out the part in which two questions differ."""
    rows = [
        {"item": i, "gold": g, "prompt_hash": "h", "source": i} for i, g in (("a", "yes"), ("b", "no"), ("c", "no"))
    ]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count) == (WARNING, "one prompt, several items", 1)
    assert violation.examples == ("a", "b", "c")
    assert violation.message.startswith("the unnamed task: 1 prompt asked"), "the task is named"
    sent = [{**row, "prompt_hash": row["item"], "prompt": "as sent"} for row in rows]
    assert [v.message for v in found(store(sent))] == [violation.message], "a hash of more than was sent hides nothing"
    assert found(store(rows[1:])) == [], "the same question twice, with the same gold answer, is no contradiction"


def test_mixed_kinds_in_a_task_are_an_error_unless_declared(store) -> None:
    rows = [
        {"item": "a", "gold": "yes", "source": "1"},
        {"item": "b", "gold": "no", "answer": "no", "source": "2"},
        {"item": "c", "gold": "B", "answer": "A", "source": "3"},
    ]
    con = store(rows)
    (violation,) = found(con)
    assert (violation.severity, violation.rule, violation.count) == (ERROR, "mixed kinds", 1)
    assert violation.examples == ("3",)
    assert found(con, Study(kind="choice")) == []
    assert [v.rule for v in found(con, Study(kind="judgement"))] == ["answer outside the vocabulary"] * 2


def test_models_that_differ_by_provider_are_kept_and_named(store) -> None:
    """Catches two providers of one model merged in silence."""
    rows = [{"item": "a", "gold": "yes", "model": m} for m in ("openai/GPT-4o", "azure/gpt-4o", "gpt-4", "x/y/gpt-4o")]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count) == (WARNING, "model names", 3)
    assert violation.examples == ("azure/gpt-4o", "openai/GPT-4o", "x/y/gpt-4o")


def test_the_same_response_twice_in_a_run_is_an_error(store) -> None:
    rows = [
        {"item": "a", "gold": "yes", "sample": s, "source": f"a.jsonl:{i}"}
        for i, s in enumerate(["0", "0", "1", "0"], 1)
    ]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count) == (ERROR, "duplicate response", 3)
    assert violation.message.startswith("1 response logged more than once in one run (3 rows")
    assert violation.examples[0] == "a.jsonl:1 and a.jsonl:2"


def test_the_same_response_in_two_runs_names_both_sources(store) -> None:
    """Catches a retried run counted twice; both logs and the way out are named."""
    rows = [{"item": i, "gold": "yes", "source": f"{f}.jsonl:{n}"} for f in "ab" for n, i in enumerate(("p", "q"), 1)]
    (violation,) = found(store(rows))
    assert (violation.rule, violation.count) == ("duplicate response", 4)
    assert violation.message == "2 responses in more than one run (4 rows in 2 runs)"
    assert violation.examples == ("a.jsonl:1 and b.jsonl:1", "a.jsonl:2 and b.jsonl:2")
    assert "--runs latest" in violation.fix
    assert "--runs all" in violation.fix


@pytest.mark.parametrize("column", ["model", "task", "item", "sample", "strategy", "temperature"])
def test_what_belongs_to_the_key_makes_no_duplicate(store, column: str) -> None:
    """Catches a key that lacks one of its columns; a missing condition is a level of its own."""
    rows = [{"item": "a", "gold": "yes", column: value} for value in ("x", "y")]
    assert found(store(rows)) == []
    if column in ("strategy", "temperature"):
        rows = [{"item": "a", "gold": "yes", column: None, "source": s} for s in "pq"]
        assert [v.rule for v in found(store(rows))] == ["duplicate response"]


def test_all_violations_of_a_run_come_at_once_errors_first(store) -> None:
    """Catches a check that stops at the first finding, and an order that depends on the rows."""
    rows = rows_of(4, logged_score="nan")
    rows += [
        {"item": "i0", "gold": "no", "source": "b.jsonl:1", "model": "p/m"},
        {"item": "x", "gold": "yes", "validity": "valid", "polarity": "negated", "source": "b.jsonl:2"},
        {"item": "y", "gold": "yes", "validity": "?", "source": "b.jsonl:3", "simulated": True},
        {"item": "z", "gold": "yes", "probability": 3.0, "source": "b.jsonl:4"},
        {"item": "z", "gold": "yes", "source": "b.jsonl:5"},
    ]
    rules = [v.rule for v in found(store(rows))]
    assert rules == [
        "unknown level",
        "duplicate response",
        "gold against validity and polarity",
        "probability out of range",
        "item differs",
        "model names",
        "simulated and real",
        "invalid score",
    ]
    assert found(store(rows)) == found(store(list(reversed(rows))))


def test_hostile_names_break_no_check(store) -> None:
    """Catches names from a log in SQL or raw on the terminal."""
    rows = [
        {
            "model": f"{p}/{HOSTILE}",
            "task": HOSTILE,
            "item": HOSTILE,
            "gold": g,
            "answer": HOSTILE,
            "form": f"{HOSTILE}{p}",
            "validity": HOSTILE,
            "probability": 7.0,
            "run": f"{HOSTILE}{p}",
            "source": HOSTILE,
            "extra": {f"factor.{HOSTILE}": p, f"score.{HOSTILE}": "nan", f"meta.{HOSTILE}": "x"},
        }
        for p, g in (("p", "yes"), ("q", "no"), ("q", "no"))
    ]
    con = store(rows)
    violations = found(con, Study(kind="judgement"))
    assert {v.rule for v in violations} >= {"unknown level", "duplicate response", "item differs", "model names"}
    assert all(v.message.isprintable() for v in violations if v.rule != "invalid score")
    assert unused_columns(con, Study()) == (f"meta.{HOSTILE}",)


def test_columns_without_a_use_are_listed_and_declared_ones_are_not(store) -> None:
    con = store(
        [{"item": "a", "gold": "yes", "extra": {"meta.x": "1", "meta.y": "1", "score.s": "1", "factor.f": "1"}}]
    )
    assert unused_columns(con, Study()) == ("meta.x", "meta.y")
    assert unused_columns(con, Study(factors=("x",))) == ("meta.y",)


VALUE = st.sampled_from([None, "", "yes", "no", "A", "valid", "negated", "?"])
ROW = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["m", "p/m", ""]),
        "item": st.sampled_from([None, "", "1", "2"]),
        "task": st.sampled_from(["", "t"]),
        "status": st.sampled_from([None, "answered", "missing", "?"]),
        "sample": st.sampled_from(["0", "1"]),
        "run": st.sampled_from([None, "r"]),
        "probability": st.sampled_from([None, 0.5, 50.0, math.nan]),
        **{name: VALUE for name in ("answer", "gold", "validity", "polarity", "unit", "prompt_hash", "strategy")},
    }
)


@given(st.lists(ROW, max_size=8), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_rows_the_answer_is_a_list_of_known_rules(store, rows, pool) -> None:
    """Catches a traceback on odd logs, counts beyond the rows, and more than five examples."""
    violations = found(store(rows), Study(pool_tasks=pool))
    for violation in violations:
        assert violation.rule in RULES
        assert 1 <= violation.count <= len(rows)
        assert len(violation.examples) <= 5
    assert violations == sorted(violations, key=lambda v: v.severity != ERROR)


@pytest.mark.parametrize(
    ("golds", "answers", "severity"),
    [
        (("true", "false"), ("yes", "no"), ERROR),
        (("1", "0"), ("yes", "no"), ERROR),
        (("yes", "no"), ("A", "B"), ERROR),
        (("a", "b"), ("A", "B"), ERROR),
        (("A", "A"), ("B", "B"), WARNING),
        (("red", "blue"), ("green", "grey"), WARNING),
    ],
)
def test_gold_answers_in_other_words_than_the_answers_are_named(store, golds, answers, severity) -> None:
    """Catches an accuracy of 0 because gold says true and false where answers are yes and no."""
    rows = rows_of(4)
    rows = [{**row, "gold": golds[i % 2], "answer": answers[i % 2]} for i, row in enumerate(rows)]
    (violation,) = found(store(rows), Study(kind="choice"))
    assert (violation.severity, violation.rule, violation.count) == (severity, "labels never meet", 4)
    assert violation.message.endswith("none is right")


def test_one_right_answer_is_enough_for_labels_to_meet(store) -> None:
    """Catches a warning about every weak model."""
    rows = [{**row, "gold": "A", "answer": "A" if i == 0 else "B"} for i, row in enumerate(rows_of(4))]
    assert found(store(rows), Study(kind="choice")) == []


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("p/m", "q/m"), "only before the last /"),
        (("M", "m"), "by case only"),
        (("p/M", "q/m"), "only by case and before the last /"),
    ],
)
def test_how_similar_model_names_differ_is_said_as_it_is(store, names, words) -> None:
    """Catches GPT and gpt said to differ before a / that neither has."""
    rows = [{**row, "model": name} for name in names for row in rows_of()]
    (violation,) = found(store(rows))
    assert (violation.rule, words in violation.message) == ("model names", True)


def test_scores_that_are_no_number_are_named_with_their_place(store) -> None:
    """Catches "50%" and "good" that vanish from the estimates without a word."""
    scores = {"1": 1.0, "50%": None, "good": None, "0": 0.0}
    rows = [
        {"item": text, "answer": None, "logged_score": text, "score_value": value, "source": f"a.csv:{line}"}
        for line, (text, value) in enumerate(scores.items(), 2)
    ]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule) == (WARNING, "score is no number")
    assert violation.examples == ("a.csv:3", "a.csv:4")
    assert '"50%" or "good"' in violation.message


@pytest.mark.parametrize(
    ("scores", "words", "mixed"),
    [
        ((0.0, 62.5, 100.0), "from 0 to 100, 2 rows outside [0, 1]: nothing", False),
        ((0.0, 1.0, 100.0), "from 0 to 100, 1 row outside [0, 1] and 1 row above 0 and up to 1: nothing", True),
    ],
)
def test_scores_on_another_scale_are_named(store, scores, words: str, mixed: bool) -> None:
    """Catches a report without estimates that says nothing of the scale, and two scales passed for one."""
    rows = [
        {"item": f"i{at}", "answer": None, "logged_score": str(s), "score_value": s, "source": f"a.csv:{at}"}
        for at, s in enumerate(scores)
    ]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule) == (WARNING, "score scale")
    assert words in violation.message
    assert ("two scales are mixed" in violation.fix) == mixed


def test_scores_alone_decide_where_neither_answers_nor_texts_are_logged(store) -> None:
    """Catches every response counted as wrong because gold answers are there and answers are not."""
    rows = rows_of(answer=None, logged_score="1", score_value=1.0)
    (design,) = read_designs(store(rows), Study())
    assert design.kind == "score"


def test_columns_that_the_map_reads_have_a_use(store) -> None:
    """Catches the very columns of [map] listed as columns without a use."""
    rows = [{"item": "a", "extra": {"meta.question": "a", "meta.doc": "{}", "meta.rest": "x"}}]
    study = Study(map={"item": MapRule("question"), "unit": MapRule("doc.id")})
    assert unused_columns(store(rows), study) == ("meta.rest",)


@pytest.mark.parametrize(("yes", "no"), [("True", "False"), ("1", "0")])
def test_gold_answers_that_may_mean_yes_and_no_are_named(store, yes, no) -> None:
    """Catches a yes/no task reported without answer bias, and without a word why."""
    rows = rows_of(4)
    rows = [{**row, "gold": (yes, no)[i % 2], "answer": (yes, no)[i // 2]} for i, row in enumerate(rows)]
    (violation,) = found(store(rows))
    assert (violation.severity, violation.rule, violation.count) == (WARNING, "yes and no in other words", 4)
    assert f'yes = ["{yes.lower()}"], no = ["{no.lower()}"]' in violation.fix
    assert found(store([{**row, "gold": "B"} if row["item"] == "i0" else row for row in rows])) == []
