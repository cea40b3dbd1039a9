"""Tests of reading tuples of probabilities: one question in many tuples, nothing rescaled."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import probability_tuples
from analysis.importers.probability_clusters import schema_roles
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions


def asked(name: str, probability: float | None, **changes: Any) -> dict[str, Any]:
    """A question in the older layout, the probability among its fields."""
    question = {"id": name, "title": f"Will {name}?", "body": "By 2030.", "question_type": "binary", "resolution": None}
    return question | {"elicited_prob": probability} | changes


def tuple_of(**parts: Any) -> dict[str, Any]:
    return {"line": parts, "violations": {"default": 0.03}}


@pytest.fixture
def read(tmp_path: Path):
    def run(*lines: dict[str, Any], name: str = "owl-1_05-30/NegChecker.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert probability_tuples.sniff(probe(path)) is Claim.LOG
        records = list(probability_tuples.read(path, ReadOptions(tmp_path)))
        assert len(records) == len(lines)
        assert all(bool(record.responses) != (record.set_aside is not None) for record in records)
        return records

    return run


def responses(records):
    return [r for record in records for r in record.responses]


def test_a_tuple_gives_a_response_per_question(read):
    """Catches a probability under the wrong role, and one that is rescaled."""
    found = responses(read(tuple_of(P=asked("a", 0.9), not_P=asked("b", 0.02, resolution=True))))
    assert [(r.item, r.role, r.probability, r.truth) for r in found] == [
        ("a", "target", 0.9, None),
        ("b", "complement", 0.02, 1.0),
    ]
    assert {(r.model, r.task, r.unit, r.identity) for r in found} == {
        ("owl-1_05-30", "NegChecker", "a", "NegChecker:1")
    }
    assert [r.extra["meta.role"] for r in found] == ["P", "not_P"]
    assert (found[0].extra["meta.violation.default"], found[0].prompt) == ("0.03", "Will a?\nBy 2030.")


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("as_object", [True, False])
def test_newer_layouts_hold_question_and_forecast_apart(read, outer, as_object):
    question = {"id": "a", "title": "Will a?"}
    part = {"question": question, "forecast": {"prob": 0.4} if as_object else 0.4}
    other = {"question": question | {"id": "b"}, "forecast": {"prob": 0.6}}
    line = {"P": part, "para_P": other}
    found = responses(read({"line": line, "violation_data": {}} if outer else line))
    assert [(r.item, r.probability, r.role) for r in found] == [("a", 0.4, "P"), ("b", 0.6, "para_P")]


def test_percentages_are_not_divided(read):
    """Catches rescaling by the largest value of a file."""
    found = responses(read(tuple_of(P=asked("a", 90), not_P=asked("b", 2))))
    assert [r.probability for r in found] == [90.0, 2.0]


def test_questions_that_share_tuples_are_one_unit(read):
    """Catches tuples counted as independent: the middle one joins the others."""
    found = responses(
        read(
            tuple_of(P=asked("d", 0.1), not_P=asked("e", 0.2)),
            tuple_of(P=asked("x", 0.1), not_P=asked("y", 0.2)),
            tuple_of(P=asked("b", 0.3), not_P=asked("e", 0.2)),
        )
    )
    assert {r.item: r.unit for r in found} == {"d": "b", "e": "b", "b": "b", "x": "x", "y": "x"}


def test_one_probability_serves_every_tuple_of_its_question(read):
    """Catches one forecast counted once per tuple."""
    records = read(
        tuple_of(P=asked("a", 0.9), not_P=asked("b", 0.1)),
        tuple_of(P=asked("a", 0.9), not_P=asked("c", 0.2)),
        tuple_of(P=asked("a", 0.9), not_P=asked("b", 0.1)),
    )
    assert [[r.item for r in record.responses] for record in records] == [["a", "b"], ["c"], []]
    assert records[2].set_aside == probability_tuples.REPEATED
    assert records[0].responses[0].identity == "NegChecker:1;NegChecker:2;NegChecker:3"


def test_another_probability_of_a_question_is_another_sample(read):
    found = responses(
        read(tuple_of(P=asked("a", 0.9), not_P=asked("b", 0.1)), tuple_of(P=asked("a", 0.8), not_P=asked("b", 0.1)))
    )
    assert [(r.item, r.sample, r.probability) for r in found] == [("a", "0", 0.9), ("b", "0", 0.1), ("a", "1", 0.8)]


def test_a_question_in_two_roles_is_two_items_of_one_unit(read):
    """Catches a role that varies within an item."""
    found = responses(
        read(
            tuple_of(P=asked("a", 0.9), P_and_Q=asked("ab", 0.1)), tuple_of(Q=asked("a", 0.9), P_and_Q=asked("cb", 0.1))
        )
    )
    assert [(r.item, r.role) for r in found] == [("a as P", "P"), ("ab", "P_and_Q"), ("a as Q", "Q"), ("cb", "P_and_Q")]
    assert len({r.unit for r in found}) == 1


def test_a_missing_forecast_is_a_missing_response(read):
    records = read(tuple_of(P=asked("a", None), not_P=asked("b", 0.1)))
    assert [(r.status, r.probability) for r in responses(records)] == [("missing", None), (None, 0.1)]
    assert probability_tuples.NO_FORECAST in records[0].notes


def test_the_law_of_total_probability_has_the_schemas_roles():
    """Catches the latent event read as the target."""
    assert schema_roles(("P", "Q", "P_given_Q", "P_given_not_Q")) == {
        "P": ("target", None),
        "Q": ("latent", "Q"),
        "P_given_Q": ("conditional", "Q"),
        "P_given_not_Q": ("conditional", "not_Q"),
    }
    assert schema_roles(("P", "Q_given_P", "P_and_Q")) == {
        "P": ("P", None),
        "Q_given_P": ("conditional", "P"),
        "P_and_Q": ("P_and_Q", None),
    }


@pytest.mark.parametrize(
    "document",
    [
        {"line": {"P": {"id": 1}, "not_P": {"id": 2}}},
        {"line": 3, "prob": 0.5},
        {"P": {"prob": 0.5}, "other": 1},
        {"prob": 0.5, "question": "x"},
    ],
)
def test_what_others_write_is_not_claimed(tmp_path, document):
    (tmp_path / "x.jsonl").write_text(json.dumps(document))
    assert probability_tuples.sniff(probe(tmp_path / "x.jsonl")) is Claim.NO


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (tuple_of(P=asked("a", 0.5)), "no tuple"),
        (tuple_of(P=asked("a", 0.5), not_P=3), "no tuple"),
        (tuple_of(P=asked("a", 0.5), not_P=asked("b", 0.5) | {"elicited_prob": "high"}), "is no number"),
        (tuple_of(P=asked("a", 0.5), not_P={"elicited_prob": 0.5}), "neither id nor text"),
        ([], "no tuple"),
    ],
)
def test_damage_is_an_error_with_its_line(tmp_path, line, reason):
    good = tuple_of(P=asked("a", 0.5), not_P=asked("b", 0.5))
    (tmp_path / "x.jsonl").write_text(json.dumps(good) + "\n" + json.dumps(line))
    with pytest.raises(LogError, match=rf"x\.jsonl:2: .*{reason}"):
        list(probability_tuples.read(tmp_path / "x.jsonl", ReadOptions(tmp_path)))
