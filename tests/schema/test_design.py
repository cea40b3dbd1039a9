"""Designs read off the rows: kind, unit, cells, factors, and what was assumed."""

from itertools import product

import pytest

from analysis.errors import StudyError
from analysis.schema.design import read_designs
from analysis.schema.study import Contrast, Study


def four_cells(forms: tuple[str | None, ...] = (None,), **columns: object) -> list[dict]:
    """One item for each form × validity × polarity."""
    pairs = product(forms, ("valid", "invalid"), ("affirmative", "negated"))
    return [{"item": f"{f}-{v}-{p}", "form": f, "validity": v, "polarity": p, **columns} for f, v, p in pairs]


def test_validity_and_polarity_give_four_cells_and_gold(store) -> None:
    """Catches gold demanded where it follows, and cells by gold where validity and polarity are there."""
    (design,) = read_designs(store(four_cells()), Study())
    assert (design.kind, design.cells) == ("judgement", "validity_polarity")
    assert design.derived == {"gold": 4}
    assert design.item_factors == {"validity": ("invalid", "valid"), "polarity": ("affirmative", "negated")}
    assert "gold of 4 items follows from validity and polarity; the logs do not give it." in design.assumptions


@pytest.mark.parametrize(
    ("given", "derived"),
    [
        ([("yes", "valid"), ("no", "valid"), ("no", "invalid"), ("yes", "invalid")], "polarity"),
        ([("yes", "affirmative"), ("no", "negated"), ("no", "affirmative"), ("yes", "negated")], "validity"),
    ],
)
def test_the_third_of_gold_validity_polarity_is_derived(store, given, derived: str) -> None:
    """All four cells from any two columns."""
    other = {"polarity": "validity", "validity": "polarity"}[derived]
    (design,) = read_designs(store([{"item": f"i{i}", "gold": g, other: o} for i, (g, o) in enumerate(given)]), Study())
    assert (design.cells, design.derived) == ("validity_polarity", {derived: 4})


@pytest.mark.parametrize(
    ("rows", "cells", "reason"),
    [
        ([{"gold": "yes"}, {"gold": "no"}], "gold", "the items have no validity and no polarity"),
        ([{"gold": "yes", "polarity": None, "validity": None}], "gold", "the items have no validity and no polarity"),
        (
            [{"gold": "yes", "validity": "valid"}, {"gold": "no", "validity": "invalid"}],
            "gold",
            "no item is invalid negated, or valid negated",
        ),
        (
            [*four_cells(), {"item": "x", "gold": "no"}],
            "gold",
            "1 of 5 items lack validity or polarity",
        ),
        ([{}, {}], None, "no item has a gold answer, or validity and polarity to derive it from"),
        ([{"gold": "A"}, {"gold": "B"}], None, "answers are of the kind choice, cells are for yes/no judgements"),
    ],
)
def test_cells_that_a_design_cannot_give_have_a_reason(store, rows, cells, reason) -> None:
    (design,) = read_designs(store([{"item": f"i{i}", **row} for i, row in enumerate(rows)]), Study())
    assert (design.cells, design.cells_reason) == (cells, reason)


def test_forms_asked_with_one_polarity_are_left_out(store) -> None:
    """Catches polarity sensitivity mixed with the composition of forms."""
    rows = four_cells(("a", "b"))
    rows += [
        {"item": f"not-{v}-{m}", "model": m, "form": "not", "validity": v, "polarity": "negated"}
        for v in ("valid", "invalid")
        for m in "mn"
    ]
    con = store(rows)
    (design,) = read_designs(con, Study())
    assert design.one_polarity_forms == {"not": 4}
    assert any('one polarity only are left out of the cells: "not" (4 rows)' in line for line in design.assumptions)
    (kept,) = read_designs(con, Study(unpaired_forms="include"))
    assert (kept.cells, kept.one_polarity_forms) == ("validity_polarity", {})
    (excluded,) = read_designs(con, Study(exclude={"form": ("not",)}))
    assert excluded.one_polarity_forms == {}, "what the study excludes is not left out a second time"


def test_forms_that_name_the_polarity_stay(store) -> None:
    """Catches a study emptied because each form has one polarity by construction."""
    rows = [{**row, "form": row["polarity"]} for row in four_cells()]
    (design,) = read_designs(store(rows), Study())
    assert (design.cells, design.one_polarity_forms) == ("validity_polarity", {})
    assert any("without them a cell would be empty" in line for line in design.assumptions)


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([{"gold": " Yes"}, {"gold": "no"}], "judgement"),
        (
            [{"gold": "yes", "answer": None, "probability": 0.4}, {"gold": "no", "answer": None, "probability": 0.9}],
            "probability",
        ),
        ([{"gold": "yes", "answer": "yes", "probability": 0.4}], "judgement"),
        ([{"gold": "A", "answer": "B"}, {"gold": "C", "answer": None}], "choice"),
        ([{"gold": "yes", "answer": "no"}, {"gold": "maybe", "answer": "maybe"}], "choice"),
        ([{"answer": None, "probability": 0.5}], "probability"),
        ([{"answer": "yes"}, {"answer": "no"}], "judgement"),
        ([{"answer": "A"}, {"answer": "D"}], "choice"),
        ([{"answer": None, "score_value": 3.0}], "score"),
        ([{"answer": None, "gold": "a long text", "logged_score": "0.4"}], "score"),
        ([{"answer": None, "output": "hm"}], "score"),
    ],
)
def test_kind_follows_gold_answers_and_answers(store, rows, kind) -> None:
    """Catches options read as judgements, and texts read as options."""
    (design,) = read_designs(store([{"item": f"i{i}", **row} for i, row in enumerate(rows)]), Study())
    assert design.kind == kind
    assert any(f"of kind {kind}" in line for line in design.assumptions)


def test_a_declared_kind_wins_and_is_no_assumption(store) -> None:
    rows = [{"item": "a", "gold": "yes"}]
    (design,) = read_designs(store(rows), Study(kind="score"))
    assert (design.kind, design.cells) == ("score", None)
    assert not any("of kind" in line for line in design.assumptions)
    with pytest.raises(StudyError, match="tasks that the logs do not have"):
        read_designs(store(rows), Study(kinds={"other": "score"}))


def test_unit_is_the_declared_column_then_unit_then_the_item(store) -> None:
    """Catches items counted as independent where they share a surface."""
    rows = [
        {"item": f"i{i}", "gold": "yes", "unit": f"u{i // 2}", "extra": {"meta.surface": f"s{i // 4}"}}
        for i in range(8)
    ]
    con = store(rows)
    (design,) = read_designs(con, Study())
    assert (design.unit, design.n_items, design.n_units, design.unit_is_item) == ("unit", 8, 4, False)
    (design,) = read_designs(con, Study(unit="surface"))
    assert (design.unit, design.n_units) == ("meta.surface", 2), "a column is found under its prefix too"
    (design,) = read_designs(store([{"item": "a", "gold": "yes"}, {"item": "b", "gold": "no"}]), Study())
    assert (design.unit, design.n_units, design.unit_is_item) == ("item", 2, True)
    assert "Every item is taken as independent of the others: the logs name no unit." in design.assumptions


def test_items_without_a_unit_are_units_of_their_own(store) -> None:
    (design,) = read_designs(store([{"item": "a", "unit": "u"}, {"item": "b", "unit": "u"}, {"item": "c"}]), Study())
    assert design.n_units == 2
    assert "1 of 3 items have no unit; each is taken as a unit of its own." in design.assumptions


def test_tasks_are_apart_unless_pooled(store) -> None:
    """Catches items of two tasks with the same id taken for one."""
    rows = [{"task": t, "item": "1", "gold": g, "unit": "u"} for t, g in (("b", "yes"), ("a", "no"))]
    con = store(rows)
    assert [d.task for d in read_designs(con, Study())] == ["a", "b"]
    (pooled,) = read_designs(con, Study(pool_tasks=True, name="both"))
    assert (pooled.task, pooled.n_items, pooled.n_units, pooled.n_rows) == ("both", 2, 2, 2)


def test_conditions_vary_within_items_and_factors_do_not(store) -> None:
    rows = [
        {"item": "a", "gold": "yes", "strategy": s, "temperature": "0", "template": "t", "extra": {"factor.z": "1"}}
        for s in ("cot", "direct")
    ]
    (design,) = read_designs(store(rows), Study())
    assert design.conditions == {"strategy": ("cot", "direct"), "temperature": ("0",)}
    assert design.varying == ("strategy",)
    assert design.item_factors == {"template": ("t",), "factor.z": ("1",)}
    (design,) = read_designs(store(rows), Study(conditions=("temperature",)))
    assert "strategy" in design.item_factors
    assert "strategy" not in design.conditions


def test_declared_columns_become_factors_and_others_do_not(store) -> None:
    """Catches every column of a CSV turned into a factor by itself."""
    con = store([{"item": "a", "gold": "yes", "extra": {"meta.city": "x", "meta.note": "y"}}])
    (design,) = read_designs(con, Study(factors=("city",)))
    assert design.item_factors == {"meta.city": ("x",)}
    (design,) = read_designs(con, Study(contrasts=(Contrast("city", ("x", "y"), ("model",)),)))
    assert design.item_factors == {"meta.city": ("x",)}, "model has a meaning of its own and is no factor"


def test_columns_that_the_logs_lack_are_named_at_once(store) -> None:
    """Catches a misspelt unit that falls back to the item."""
    study = Study(unit="surfce", exclude={"negatin": ("x",)}, factors=("model",))
    con = store([{"item": "a", "gold": "yes", "extra": {"meta.x": "1"}}])
    with pytest.raises(StudyError) as caught:
        read_designs(con, study)
    assert caught.value.offenders == (
        'study.unit: the logs have no column "surfce"; did you mean "source"?',
        'study.exclude: the logs have no column "negatin"; did you mean "negation"?',
        'study.factors: "model" has a meaning of its own and is no factor of the item',
    )


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"conditions": ("answer",)}, 'study.conditions: "answer" has a meaning of its own and is no condition of'),
        ({"conditions": ("model",)}, 'study.conditions: "model" has a meaning of its own and is no condition of'),
        ({"unit": "answer"}, 'study.unit: "answer" has a meaning of its own and is no independent unit'),
        ({"unit": "model"}, 'study.unit: "model" has a meaning of its own and is no independent unit'),
    ],
)
def test_columns_of_the_response_are_neither_conditions_nor_units(store, settings, problem) -> None:
    """Catches answers declared a condition, under which no two responses are ever the same one logged twice."""
    with pytest.raises(StudyError, match=problem):
        read_designs(store([{"item": "a", "gold": "yes"}]), Study(**settings, given=frozenset({"study.conditions"})))


@pytest.mark.parametrize("name", ["cell", "n_yes", "_right", "n_planned"])
def test_a_column_with_a_name_of_the_analysis_is_found(store, name) -> None:
    """Catches a factor of the logs that hides a count, or that cannot be named because the store renamed it."""
    con = store([{"item": "a", "gold": "yes", "extra": {name: "x"}}])
    (design,) = read_designs(con, Study(factors=(name,)))
    assert design.item_factors == {f"{name} (2)": ("x",)}


def test_settings_models_and_simulation_are_echoed(store) -> None:
    rows = [
        {"item": "a", "gold": "yes", "model": m, "model_family": "f", "simulated": s}
        for m, s in (("x", True), ("y", None))
    ]
    (design,) = read_designs(
        store(rows), Study(uncertain="half", target="census", weights="form", exclude={"form": ("q",)})
    )
    assert (design.n_models, design.simulated, design.has_model_family, design.has_model_size) == (2, True, True, False)
    assert (design.uncertain, design.target, design.weights, design.exclude) == (
        "half",
        "census",
        "form",
        {"form": ("q",)},
    )


def test_levels_excluded_that_never_occur_are_said(store) -> None:
    """Catches a misspelt level that silently excludes nothing."""
    (design,) = read_designs(store([{"item": "a", "gold": "yes", "form": "f"}]), Study(exclude={"form": ("g", "f")}))
    assert "study.toml excludes form = g, which no row of this task has." in design.assumptions


def test_an_empty_store_has_no_designs(store) -> None:
    assert read_designs(store([]), Study()) == ()
