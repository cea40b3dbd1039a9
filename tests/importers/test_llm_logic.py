"""Tests of reading llm-logic: names in the path, several replies, several questions in one reply."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import llm_logic
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.schema.responses import record_batch

PATH = "data/zero-shot/owl_1/MT/owl_1_MT_3_0.5.json"
TRIPLE = "data/consistency-check/owl_1/('MT', 'AC', 'DA')/owl_1_('MT', 'AC', 'DA')_2_0.json"


def log(*replies: str | None, **changes: Any) -> dict[str, Any]:
    found = {
        "user_prompt": "Can we infer it?",
        "system_prompt": "Answer only yes or no.",
        "model": "owl-1",
        "temperature": 0.5,
    }
    return found | ({"responses": [{"content": reply} for reply in replies]} if replies else {}) | changes


@pytest.fixture
def read(tmp_path: Path):
    def run(document: Any, name: str = PATH):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
        assert llm_logic.sniff(probe(path)) is Claim.LOG
        records = list(llm_logic.read(path, ReadOptions(tmp_path)))
        assert len(records) == 1
        return list(records[0].responses), records[0].notes

    return run


def answers(responses) -> list[tuple[str | None, str]]:
    extra = tuple(sorted({key for r in responses for key in r.extra}))
    rows = read_answers(record_batch(responses, extra), ReadingPolicy(kind="judgement"))
    return list(zip(rows.column("answer").to_pylist(), rows.column("status").to_pylist(), strict=True))


def test_replies_are_samples_of_the_item_that_the_path_names(read):
    """Catches replies as items, and the folder's model name in place of the logged one."""
    found, notes = read(log("Yes.", "\nA: No. The given", None, "yes \n"))
    assert [(r.model, r.item, r.sample) for r in found] == [("owl-1", "MT_3", str(n)) for n in range(4)]
    assert {(r.strategy, r.temperature, r.template, r.gold, r.task) for r in found} == {
        ("zero-shot", "0.5", "MT", None, "llm-logic")
    }
    assert answers(found) == [("yes", "answered"), ("no", "answered"), (None, "unparsed"), ("yes", "answered")]
    assert notes == (llm_logic.NO_GOLD,)


def test_without_the_folders_the_question_names_the_item(read):
    """Catches a pattern guessed from any folder, and one item for all files that lost their path."""
    one, notes = read(log("yes"), "results/3.json")
    two, _ = read(log("yes", user_prompt="Another?"), "results/4.json")
    assert one[0].item != two[0].item
    assert (one[0].strategy, one[0].template) == (None, None)
    assert {llm_logic.NO_PATTERN, llm_logic.NO_CONDITION} <= set(notes)


def test_one_reply_to_three_questions_is_three_rows(read):
    """Catches the first answer read for all."""
    found, _ = read(log("yes, no, Yes.", prompt_classes=["MT", "AC", "DA"]), TRIPLE)
    assert [(r.item.rpartition("_")[2], r.template, r.output) for r in found] == [
        ("2:1:MT", "MT", "yes"),
        ("2:2:AC", "AC", "no"),
        ("2:3:DA", "DA", "Yes."),
    ]
    assert len({r.unit for r in found}) == 1
    assert [a for a, _ in answers(found)] == ["yes", "no", "yes"]


@pytest.mark.parametrize("reply", ["yes", "yes, yes", "yes, yes, yes, yes", "", None])
def test_a_reply_that_does_not_answer_each_question_is_one_unread_row(read, reply):
    """Catches "yes, yes" to three questions counted as a yes."""
    found, _ = read(log(reply, prompt_classes=["MT", "AC", "DA"]), TRIPLE)
    assert answers(found) == [(None, "unparsed")]
    assert found[0].rule == "answer_count"


@pytest.mark.parametrize(
    ("yes", "no", "answer", "notes"),
    [(0.75, 0.25, "yes", 1), (0.2, 0.3, "no", 2), (0.5, 0.5, None, 1), (0, 1, "no", 1)],
)
def test_token_probabilities_are_kept_as_logged(read, yes, no, answer, notes):
    """Catches renormalising, and a tie read as yes."""
    (row,), said = read(log(yes_prob=yes, no_prob=no, temperature=None))
    assert (row.p_yes, row.answer, row.output, row.temperature) == (yes, answer, None, None)
    assert len(said) == notes
    assert answers([row]) == [(answer, "answered" if answer else "unparsed")]


@pytest.mark.parametrize("missing", ["user_prompt", "system_prompt", "model", "responses"])
def test_without_a_key_the_file_is_not_claimed(tmp_path, missing):
    document = log("yes")
    del document[missing]
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert llm_logic.sniff(probe(tmp_path / "x.json")) is Claim.NO


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (log("yes", model=3), "lacks the question or the model"),
        (log(responses=[]), "no replies"),
        (log(responses=["yes"]), "reply 1 has no text"),
        (log(responses=[{"content": 3}]), "reply 1 has no text"),
        (log(yes_prob="high", no_prob=0), "no two probabilities"),
        (log(yes_prob=1.5, no_prob=0), "no two probabilities"),
        (log("yes", prompt_classes="MT"), "prompt_classes"),
        ([], "lacks the question or the model"),
    ],
)
def test_damage_is_an_error_with_its_reason(tmp_path, document, reason):
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(LogError, match=reason):
        list(llm_logic.read(tmp_path / "x.json", ReadOptions(tmp_path)))
