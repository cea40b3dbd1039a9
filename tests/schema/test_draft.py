"""Drafts of ``study.toml``: valid, true to the logs, and harmless when names are hostile."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.schema.design import read_designs
from analysis.schema.draft import draft_study
from analysis.schema.draft_mapping import ColumnValues, draft_mapping
from analysis.schema.study import Study, load_study
from analysis.schema.toml_texts import toml_text

HOSTILE = "a\"]\n[study]\nname = 'x'\0\x7f\u202e\\ " + "y" * 300


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_as_toml(text: str) -> None:
    """Catches a name that ends its string, or a control character that TOML forbids."""
    assert tomllib.loads(f"x = {toml_text(text)}") == {"x": text}


def test_examples_of_a_drafted_mapping_are_settings(tmp_path: Path) -> None:
    """Catches an example in the draft of a table that is refused once its # is taken off."""
    text = draft_mapping(
        {"a.csv": dict.fromkeys(("LLM", "Q"), ColumnValues())},
        {"model": ["LLM"], "item": ["Q"], "output": []},
        name="x",
    )
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    assert load_study(path).given == {"study.name"}
    kept = ("# gold = {", "# [reading]", "# synonyms", '# item = "', '# model = "LLM"')
    path.write_text(
        "\n".join(line.removeprefix("# ") if line.startswith(kept) else line for line in text.splitlines()).replace(
            'from = "…"', 'from = "Q"'
        ),
        encoding="utf-8",
    )
    study = load_study(path)
    assert set(study.map) == {"model", "item", "gold"}
    assert study.map["gold"].values == {"TRUE": "yes", "FALSE": "no"}
    assert dict(study.reading.synonyms)["yes"] == ("ja",)


def rows(name: str) -> list[dict]:
    pairs = [(v, p) for v in ("valid", "invalid") for p in ("affirmative", "negated")]
    found = [
        {
            "item": f"{f}{v}{p}",
            "unit": f,
            "form": f,
            "validity": v,
            "polarity": p,
            "model": name,
            "extra": {f"meta.{name}": "z"},
        }
        for f in (name, "b")
        for v, p in pairs
    ]
    found += [{"item": "n", "form": f"not {name}", "validity": "valid", "polarity": "negated", "model": name}]
    return [*found, {"task": name, "item": "o", "gold": "A", "answer": "B", "strategy": name}]


@pytest.mark.parametrize("name", ["gpt", HOSTILE])
def test_a_draft_read_back_gives_the_same_designs(store, tmp_path: Path, name: str) -> None:
    """Catches a draft that changes the analysis, or that a hostile name breaks out of."""
    con = store(rows(name))
    designs = read_designs(con, Study())
    text = draft_study(con, designs, name=name)
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    study = load_study(path)
    assert study.name == name
    assert set(study.models) == {name, "m"}
    drafted = read_designs(con, study)
    assert [replace(d, kind_reason="", assumptions=()) for d in drafted] == [
        replace(d, kind_reason="", assumptions=()) for d in designs
    ]
    assert all(line.isprintable() for line in text.splitlines())


def test_a_draft_says_what_there_is_to_decide(store) -> None:
    """Catches a draft that leaves out columns without a use, forms left out, or levels."""
    con = store(rows("gpt"))
    text = draft_study(con, read_designs(con, Study()), name="p")
    assert 'kind = { "" = "judgement", "gpt" = "choice" }' in text
    assert 'unit = "unit"' in text
    assert '#   not used: column "meta.gpt", 1 level: "z"' in text
    assert '#   form "not gpt" is asked with one polarity only and left out of the cells (1 rows)' in text
    assert '#   factor "form": 3 levels: "b", "gpt", "not gpt"' in text
    assert "# pool_tasks = true" in text


def test_commented_suggestions_are_valid_once_the_mark_is_taken_away(store, tmp_path: Path) -> None:
    """Catches examples in comments that study.toml would refuse."""
    con = store(
        [{"item": "a", "gold": "yes", "form": "f", "extra": {"meta.id": "1"}}, {"item": "b", "gold": "no", "form": "g"}]
    )
    text = draft_study(con, read_designs(con, Study()), name="p")
    lines = [
        line.removeprefix("# ")
        for line in text.splitlines()
        if not line.startswith(("#   ", "# Settings", "# Every", "# Names"))
    ]
    path = tmp_path / "study.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    study = load_study(path)
    assert study.factors == ("id",)
    assert study.contrasts[0].factor == "form"
    assert study.report.primary == ("competence_floor", "answer_bias")
    assert study.map["polarity"].values == {"aff": "affirmative", "neg": "negated"}
