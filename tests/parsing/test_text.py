"""Unwrapping of answer texts."""

from pathlib import Path

import pytest
from reading_corpora import READERS, SOURCES, accuracy_table

from analysis.parsing.text import HEAD_CHARS, TAIL_CHARS, clip, prepare, strip_echo, strip_reasoning


@pytest.mark.parametrize(
    ("text", "left", "is_open"),
    [
        ("<think>a</think>b", "b", False),
        ("a</think>b", "b", False),
        ("a <think>b", "a ", True),
        ("<THINK>a</THINK >b", "b", False),
        ("<think>a</think>b<think>c</think>d", "\nb\nd", False),
        ("<think>mentions <think> inside</think>b", "b", False),
        ("a < b and [c]", "a < b and [c]", False),
    ],
)
def test_reasoning_is_cut_away(text: str, left: str, is_open: bool) -> None:
    """Catches reasoning read as an answer, and a text lost because of a stray mark."""
    stripped = strip_reasoning(text)
    assert stripped.open_reasoning == is_open
    assert stripped.text.strip() == left.strip()


@pytest.mark.parametrize(
    ("output", "prompt", "left"),
    [
        ("Is Bo tall? Answer:\nNo", "Is Bo tall? Answer:", "No"),
        ("Does it follow that Bo is tall?\nNo", "Rules ...\nDoes it follow that Bo is tall?\nAnswer yes or no.", "No"),
        ("No, it does not follow\nBecause.", "Say:\nNo, it does not follow\nor yes", None),
        ("No, it does not follow", "Yes, it follows\nNo, it does not follow", None),
        ("Something else altogether", "Is Bo tall?", None),
        ("Something else altogether", None, None),
    ],
)
def test_an_echoed_prompt_is_dropped_and_nothing_else(output: str, prompt: str | None, left: str | None) -> None:
    """Catches a question read as the answer, and an answer dropped because the prompt quotes it."""
    assert strip_echo(output, prompt).strip() == (output if left is None else left)


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("**Yes**", "yes"),
        ("Ｙｅｓ", "yes"),
        ("Y\u200bes", "yes"),
        ("“No”", '"no"'),
        ("\\text{No}", "no"),
        ("<b>No</b>", "no"),
        ("\\boxed{a {b} c}", "boxed answer: a  b  c"),
        ("\\frac{1}{4}", "1/4"),
        ('{"Answer": "No"}', "json answer: no"),
        ("&quot;No&quot;", '"no"'),
        ("STRASSE straße", "strasse strasse"),
    ],
)
def test_wrappers_are_unfolded(text: str, prepared: str) -> None:
    """Catches a wrapper that hides an answer."""
    assert prepare(text) == prepared


def test_a_clipped_text_keeps_its_beginning_and_end() -> None:
    """Catches an end cut off, where most answers stand."""
    clipped = clip("a" * HEAD_CHARS + "b" * 50_000 + "c" * TAIL_CHARS)
    assert clipped.startswith("a" * HEAD_CHARS)
    assert clipped.endswith("c" * TAIL_CHARS)
    assert "b" not in clipped


def test_the_accuracy_in_the_docs_is_that_of_the_readers() -> None:
    """Catches a table in the documentation that the rules have left behind."""
    page = (Path(__file__).parents[2] / "docs" / "reading_answers.md").read_text(encoding="utf-8")
    tables = [accuracy_table(reader, source=source) for source in SOURCES for reader in READERS]
    missing = [table.partition("\n")[0] for table in tables if table not in page]
    assert not missing, f"run {Path(accuracy_table.__code__.co_filename).name} and paste its tables"
