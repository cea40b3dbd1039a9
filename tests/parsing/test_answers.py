"""Answers, rules and statuses of whole batches."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import StudyError
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.schema.responses import Response, record_batch


def batch(**columns: list[Any]) -> pa.RecordBatch:
    n = len(next(iter(columns.values())))
    return pa.RecordBatch.from_pydict({"model": ["m"] * n, "item": [str(i) for i in range(n)], **columns})


def read(policy: ReadingPolicy | None = None, **columns: Any) -> dict[str, Any]:
    """One response with these columns, after reading."""
    policy = policy or ReadingPolicy()
    return read_answers(batch(**{name: [value] for name, value in columns.items()}), policy).to_pylist()[0]


def outcome(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["answer"], row["rule"], row["status"]


def test_the_gold_answer_decides_which_reader_is_used() -> None:
    """Catches option letters read from yes/no replies and the other way round, and free texts read at all."""
    assert outcome(read(gold=" Yes", output="No.")) == ("no", "exact", "answered")
    assert outcome(read(gold="B", output="The answer is (C).")) == ("C", "final_answer", "answered")
    assert outcome(read(gold="Oslo", output="Yes, Oslo.")) == (None, "not_read", "answered")
    assert outcome(read(output="Yes")) == (None, "not_read", "answered")
    assert outcome(read(output="Yes", validity="valid", polarity="negated")) == ("yes", "exact", "answered")
    assert outcome(read(ReadingPolicy(kind="judgement"), output="Yes")) == ("yes", "exact", "answered")
    assert outcome(read(ReadingPolicy(kinds={"t": "none"}), task="t", gold="yes", output="Yes"))[1] == "not_read"


def test_gold_and_given_answers_are_folded_to_one_vocabulary() -> None:
    """Catches "Yes." and " No" that never equal "yes" and "no"; answers outside the vocabulary stay for the checks."""
    row = read(gold="No.", answer=" YES ", output="whatever")
    assert (row["gold"], *outcome(row)) == ("no", "yes", "given", "answered")
    policy = ReadingPolicy(synonyms={"yes": ["true"], "no": ["false"]})
    row = read(policy, gold="TRUE", answer="false")
    assert (row["gold"], *outcome(row)) == ("yes", "no", "given", "answered")
    assert outcome(read(gold="yes", answer="perhaps")) == ("perhaps", "given", "answered")
    assert read(gold="(b)", answer="C.")["answer"] == "C"
    assert read(gold="Oslo", answer="Bergen")["answer"] == "Bergen"
    assert read(gold="TRUE", output="x")["gold"] == "TRUE"


def test_a_given_answer_wins_unless_rereading_is_asked_for_and_there_is_a_text() -> None:
    """Catches a harness's answer overwritten in silence, and one lost where no text exists to read again."""
    reread = ReadingPolicy(reread=True)
    assert outcome(read(gold="yes", answer="no", output="Yes")) == ("no", "given", "answered")
    assert outcome(read(reread, gold="yes", answer="no", output="Yes")) == ("yes", "exact", "answered")
    assert outcome(read(reread, gold="yes", answer="no", rule="argmax")) == ("no", "argmax", "answered")
    assert outcome(read(gold="yes", answer="no", rule="argmax")) == ("no", "argmax", "answered")


@pytest.mark.parametrize("status", ["errored", "missing", "refused", "truncated", "unparsed"])
@pytest.mark.parametrize("reread", [False, True])
def test_a_status_set_by_the_importer_stays(status: str, reread: bool) -> None:
    """Catches an errored call or a tie turned into an answer."""
    row = read(ReadingPolicy(reread=reread), gold="yes", output="Yes", status=status, rule="tie")
    assert outcome(row) == (None, "tie", status)


def test_an_answer_that_is_missing_says_why() -> None:
    """Catches empty, cut off, held back and refused replies counted alike, or as a wrong answer."""
    assert outcome(read(gold="yes", output="")) == (None, "empty", "unparsed")
    assert outcome(read(gold="yes", output=None, answer=None)) == (None, "empty", "unparsed")
    assert outcome(read(gold="yes", output="Let me see", **{"meta.stop_reason": "max_tokens"}))[2] == "truncated"
    assert outcome(read(gold="yes", output="Yes, as", **{"meta.stop_reason": "length"}))[0] == "yes"
    assert outcome(read(gold="yes", output="Hm", **{"meta.stop_reason": "content_filter"}))[2] == "refused"
    assert outcome(read(gold="yes", output="I can't help with that."))[2] == "refused"


def test_a_score_without_a_text_is_an_answered_response() -> None:
    """Catches tables of scores counted as unreadable."""
    assert outcome(read(logged_score="1.0", score_value=1.0)) == (None, "not_read", "answered")


def test_probabilities_are_read_where_they_are_asked_for() -> None:
    """Catches probabilities read from yes/no replies, and a logged value that is overwritten."""
    policy = ReadingPolicy(kind="probability")
    row = read(policy, output="About 70%.", probability=None)
    assert (row["probability"], row["rule"], row["status"]) == (0.7, "exact", "answered")
    assert read(policy, output="About 70%.", probability=0.2)["probability"] == 0.2
    assert read(output="0.4", role="target")["probability"] == 0.4
    assert "probability" not in read(gold="yes", output="0.4")
    assert outcome(read(policy, output="0.2-0.3", probability=None)) == (None, "range", "unparsed")


def test_an_echoed_prompt_is_not_the_answer() -> None:
    """Catches "Answer yes or no" of the prompt read as an answer."""
    row = read(
        gold="no", prompt="Is Bo tall? If so say:\nAnswer: yes", output="Is Bo tall? If so say:\nAnswer: yes\nNo."
    )
    assert row["answer"] == "no"


def test_other_columns_and_their_order_stay() -> None:
    """Catches a column lost or changed on the way."""
    rows = record_batch([Response("m", "i", output="Yes", gold="yes", extra={"meta.x": "1"})], ("meta.x",))
    out = read_answers(rows, ReadingPolicy())
    assert out.schema.equals(rows.schema)
    assert {k: v for k, v in out.to_pylist()[0].items() if k not in ("answer", "rule", "status")} == {
        k: v for k, v in rows.to_pylist()[0].items() if k not in ("answer", "rule", "status")
    }


def test_an_empty_batch_stays_empty() -> None:
    """Catches a reduction over nothing."""
    assert read_answers(record_batch([]), ReadingPolicy()).num_rows == 0


texts = st.sampled_from(["Yes", "No.", "", "B", "0.4", "The answer is no.", "x", None])


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.sampled_from(["yes", "No", "B", None, "Oslo"]), st.sampled_from([None, "yes"]))))
def test_rows_are_read_one_by_one(rows: list[tuple[str | None, str | None, str | None]]) -> None:
    """Catches a cache that mixes rows: a batch gives what its rows give alone."""
    if not rows:
        return
    outputs, golds, answers = (list(column) for column in zip(*rows, strict=True))
    kinds = {name: pa.array(values, pa.string()) for name, values in
             {"output": outputs, "gold": golds, "answer": answers}.items()}  # fmt: skip
    together = read_answers(batch(**kinds), ReadingPolicy()).to_pylist()
    alone = [
        read_answers(
            batch(**{name: values.slice(i, 1) for name, values in kinds.items()}), ReadingPolicy()
        ).to_pylist()[0]
        for i in range(len(rows))
    ]
    assert [outcome(row) for row in together] == [outcome(row) for row in alone]


def test_a_policy_with_an_unknown_kind_is_refused() -> None:
    """Catches a misspelt kind that silently reads nothing."""
    with pytest.raises(StudyError, match="unknown kind 'judgment'"):
        ReadingPolicy(kinds={"t": "judgment"})


def test_a_blank_text_beside_a_confidence_is_no_answer() -> None:
    """Catches blank replies counted as answered because another column holds a probability or a score."""
    declared = ReadingPolicy(kind="judgement")
    blank = (None, "empty", "unparsed")
    assert outcome(read(declared, gold="yes", output=None, probability=0.8)) == blank
    rows = batch(gold=["yes"] * 2, output=["No.", None], probability=[0.8, 0.7], logged_score=["0", "0"])
    assert [outcome(row) for row in read_answers(rows, declared).to_pylist()] == [("no", "exact", "answered"), blank]
    rows = batch(gold=["yes"] * 2, output=["No.", None], probability=[0.8, 0.7])
    assert outcome(read_answers(rows, ReadingPolicy()).to_pylist()[1]) == blank


def test_scores_and_probabilities_without_any_text_still_answer() -> None:
    """Catches logs that hold nothing but scores or probabilities read as blank throughout."""
    not_read = (None, "not_read", "answered")
    assert outcome(read(ReadingPolicy(kind="judgement"), gold="yes", logged_score="1")) == not_read
    assert outcome(read(gold="yes", probability=0.8)) == not_read


def test_letters_of_yes_and_no_become_the_words() -> None:
    """Catches yes/no questions logged with option letters, which have no answer bias as letters."""
    yes_first, no_first = '["Yes", "No."]', '["no", "yes"]'
    given = {"gold": ["A", "B", "B"], "answer": ["A", "(a)", None], "output": [None, None, "ANSWER: A"]}
    rows = read_answers(batch(**given, **{"meta.choices": [yes_first] * 3}), ReadingPolicy()).to_pylist()
    assert [(row["gold"], row["answer"]) for row in rows] == [("yes", "yes"), ("no", "yes"), ("no", "yes")]
    assert [row["meta.letter"] for row in rows] == ["A", "A", None]
    rows = read_answers(batch(**given, **{"meta.choices": [no_first] * 3}), ReadingPolicy()).to_pylist()
    assert [(row["gold"], row["answer"]) for row in rows] == [("no", "no"), ("yes", "no"), ("yes", "no")]
    assert outcome(read(gold="A", output="Yes, it is.", **{"meta.choices": no_first}))[0] == "yes"


def test_letters_stay_where_options_or_the_study_say_otherwise() -> None:
    """Catches letters folded in a task with a third option, and against a declared kind."""
    maybe, yes_no = '["yes", "no", "maybe"]', '["yes", "no"]'
    assert read(gold="A", answer="B", **{"meta.choices": maybe})["answer"] == "B"
    rows = batch(task=["t"] * 2, gold=["A"] * 2, answer=["B"] * 2, **{"meta.choices": [maybe, yes_no]})
    assert [row["gold"] for row in read_answers(rows, ReadingPolicy()).to_pylist()] == ["A", "A"]
    row = read(ReadingPolicy(kind="choice"), gold="A", answer="B", **{"meta.choices": yes_no})
    assert (row["gold"], row["answer"]) == ("A", "B")
    assert read(gold="A", answer="C", **{"meta.choices": yes_no})["answer"] == "C"


@pytest.mark.parametrize("columns", [{"answer": "yes"}, {"output": "Yes."}, {"answer": None}, {"logged_score": "1"}])
def test_a_status_in_other_words_stays_for_the_checks(columns) -> None:
    """Catches `timeout` and `error` read over, so that calls that failed count as wrong answers."""
    assert read(gold="yes", status="timeout", **columns)["status"] == "timeout"
    assert read(gold="yes", status=" Errored", **columns)["status"] == "errored"
    assert read(gold="yes", status="", **columns)["status"] == read(gold="yes", status=None, **columns)["status"]
