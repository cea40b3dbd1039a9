"""``[map]``: foreign columns to the schema, by record and by column alike."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.schema.map_rules import MapRule, read_rules
from analysis.schema.mapping import REGEX_SUBJECT, map_columns, map_record
from analysis.schema.patterns import matched_parts, pattern_problem


def rules_of(**table: object) -> dict[str, MapRule]:
    rules, problems = read_rules(table, ("surface",))
    assert not problems
    return rules


def test_record_paths_constants_values_and_regex() -> None:
    """The four kinds of rule on one nested record, worked by hand."""
    rules = rules_of(
        item="doc.id",
        surface="doc.tags.1",
        model={"value": "gpt"},
        answer={"from": "pred", "values": {"correct": "yes", "incorrect": "no"}},
        polarity={"from": "id", "regex": "-(aff|neg)-", "values": {"aff": "affirmative", "neg": "negated"}},
        sample={"from": "id", "regex": "[0-9]+$"},
        latency="ms",
        simulated="sim",
    )
    record = {"doc": {"id": 7, "tags": ["a", "b"]}, "pred": "incorrect", "id": "q-neg-12", "ms": "1.5", "sim": True}
    mapped = map_record(rules, record)
    assert mapped == {
        **record,
        "item": "7",
        "surface": "b",
        "model": "gpt",
        "answer": "no",
        "polarity": "negated",
        "sample": "12",
        "latency": 1.5,
        "simulated": True,
    }
    assert "item" not in record, "the record given is not changed"


def test_a_key_with_a_dot_wins_over_the_path() -> None:
    """Catches ``doc.id`` read as a path where a column of that very name exists."""
    rules = rules_of(item="doc.id")
    assert map_record(rules, {"doc.id": "flat", "doc": {"id": "deep"}})["item"] == "flat"
    batch = pa.RecordBatch.from_pylist([{"doc.id": "flat", "doc": {"id": "deep"}}])
    assert map_columns(rules, batch).column("item").to_pylist() == ["flat"]


def test_unmapped_values_are_named() -> None:
    """Catches a value outside ``values`` passed through or dropped."""
    rules = rules_of(answer={"from": "pred", "values": {"y": "yes"}})
    batch = pa.record_batch({"pred": ["y", "n", "maybe", "n"]})
    with pytest.raises(AnalysisError, match='2 values of "pred"') as caught:
        map_columns(rules, batch)
    assert caught.value.offenders == ("maybe", "n")
    with pytest.raises(AnalysisError, match='"n"'):
        map_record(rules, {"pred": "n"})


def test_default_covers_unmapped_values_and_empty_is_missing() -> None:
    batch = pa.record_batch({"pred": ["y", "n", None]})
    default = rules_of(answer={"from": "pred", "values": {"y": "yes"}, "default": "no"})
    assert map_columns(default, batch).column("answer").to_pylist() == ["yes", "no", None]
    empty = rules_of(answer={"from": "pred", "values": {"y": "yes"}, "default": ""})
    assert map_columns(empty, batch).column("answer").to_pylist() == ["yes", None, None]


def test_regex_without_a_match_is_named_unless_default() -> None:
    with pytest.raises(AnalysisError, match="not matched"):
        map_record(rules_of(item={"from": "id", "regex": "q(.)"}), {"id": "x"})
    assert map_record(rules_of(item={"from": "id", "regex": "q(.)", "default": "none"}), {"id": "x"})["item"] == "none"


def test_long_texts_are_kept_from_regular_expressions() -> None:
    """Catches a pattern applied to a whole transcript."""
    rules = {"item": MapRule("id", pattern="a")}
    assert map_record(rules, {"id": "a" * REGEX_SUBJECT})["item"] == "a"
    with pytest.raises(AnalysisError, match="not matched"):
        map_record(rules, {"id": "a" * (REGEX_SUBJECT + 1)})


def test_absent_sources_are_refused_with_the_nearest_name() -> None:
    """Catches a misspelt source that leaves a column silently empty."""
    rules = rules_of(item="doc.id")
    with pytest.raises(AnalysisError, match="a record has no"):
        map_record(rules, {"doc": {"idx": 1}})
    with pytest.raises(AnalysisError, match='did you mean "pred"'):
        map_columns(rules_of(answer="prd"), pa.record_batch({"pred": ["a"]}))
    assert map_record(rules_of(item={"from": "doc.id", "default": ""}), {"doc": {}})["item"] is None


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(AnalysisError, match=r'\[map\] latency: must be a number, found "fast"'):
        map_record(rules_of(latency="t"), {"t": "fast"})


def test_columns_keep_their_place_and_types() -> None:
    batch = pa.RecordBatch.from_pylist(
        [{"doc": {"id": 1}, "t": 2, "flag": True}, {"doc": {"id": 22}, "t": None, "flag": False}]
    )
    mapped = map_columns(rules_of(item="doc.id", tokens_in="t", answer="flag"), batch)
    assert mapped.schema.names == ["doc", "t", "flag", "item", "tokens_in", "answer"]
    assert mapped.column("item").to_pylist() == ["1", "22"]
    assert mapped.column("tokens_in").type == pa.int64()
    assert mapped.column("tokens_in").to_pylist() == [2, None]
    assert mapped.column("answer").to_pylist() == ["true", "false"]


@given(st.lists(st.one_of(st.none(), st.text(), st.integers(-(2**60), 2**60), st.booleans()), min_size=1, max_size=20))
def test_columns_and_records_agree(values: list) -> None:
    """Catches the columnar and the record path reading one value differently."""
    kinds = {type(v) for v in values if v is not None}
    if len(kinds) > 1:
        values = [None if v is None else str(v) for v in values]
    rules = {
        "answer": MapRule("v", values={"a": "yes"}, default="other"),
        "gold": MapRule("v"),
        "form": MapRule("v", pattern="(?s)^(.)", default=""),
    }
    batch = map_columns(rules, pa.RecordBatch.from_pylist([{"v": v} for v in values]))
    records = [map_record(rules, {"v": v}) for v in values]
    for name in rules:
        assert batch.column(name).to_pylist() == [record[name] for record in records]


@pytest.mark.parametrize("regex", ["^(a+)+$", "(a|a)*$", "(a*)*b", "(.*a){7}$"])
def test_a_pattern_with_nested_repeats_returns(regex: str) -> None:
    """Catches a pattern that tries every way of dividing a text, and never ends."""
    text = "a" * 4000 + "!"
    assert map_record(rules_of(item={"from": "id", "regex": regex, "default": "none"}), {"id": text})["item"] == "none"


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        ("[0-9]+$", ["12", None, None, None]),
        ("(z)?(q)", ["q", None, None, None]),
        ("(?i)(NEG|AFF)-", [None, "neg", None, None]),
        ("(?P<stem>[a-z]+)_low", [None, None, "run", None]),
        ("^(?:x|y)+", [None, "x", None, "xyx"]),
        ("(a)|(b)|(c)|(d)|(e)|(f)|(y)", [None, "e", None, "y"]),
    ],
)
def test_what_a_pattern_cuts_out_of_a_text(regex: str, expected: list[str | None]) -> None:
    """Catches anchors, flags and alternatives that mean something else inside the engine's wrapping."""
    assert pattern_problem(regex) is None
    assert matched_parts(regex, ["q12", "x-neg-y", "run_low", "xyx\ud800"]) == expected


@pytest.mark.parametrize("regex", ["(", "(?=x)", r"(a)\1", "x)(y", "a{1,65000}", "(a)(b)(c)(d)(e)(f)(g)(h)", "\ud800"])
def test_patterns_that_are_none_are_said_so(regex: str) -> None:
    """Catches a traceback, or a pattern that closes the engine's wrapping and matches something else."""
    assert pattern_problem(regex)


def test_several_columns_make_one_value() -> None:
    """Catches two questions with one name: values joined so that other parts give the same text."""
    rules = rules_of(item={"from": ["a", "b.c"]})
    records = [
        {"a": "v1", "b": {"c": "P(X)"}},
        {"a": "v1 · w", "b": {"c": "x"}},
        {"a": "v1", "b": {"c": "w · x"}},
        {"a": "v1", "b": {"c": None}},
        {"a": 1, "b": {"c": "2"}},
    ]
    expected = ["v1 · P(X)", '"v1 · w" · x', 'v1 · "w · x"', None, "1 · 2"]
    assert [map_record(rules, record)["item"] for record in records] == expected
    texts = [{"a": str(r["a"]), "b": r["b"]} for r in records]
    assert map_columns(rules, pa.RecordBatch.from_pylist(texts)).column("item").to_pylist() == expected


@pytest.mark.parametrize("names", [[], ["a", 5], ["a", ""], [["a"]], 5, {"a": 1}])
def test_a_source_is_a_name_or_a_list_of_names(names) -> None:
    """Catches a list that holds something else taken for columns, and a traceback."""
    rules, problems = read_rules({"item": {"from": names}}, ())
    assert not rules
    assert problems[0].startswith("[map] item from: must be the name of a column or a list of such names, not ")
