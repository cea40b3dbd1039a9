"""The view ``analysed``: cells, units, and one reason for every row left out."""

from collections import Counter

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.study import Study

HOSTILE = "a'; DROP VIEW responses; --\"\0\n" + "x" * 300
COLUMNS = ("item", "gold_", "validity_", "polarity_", "unit_", "cell", "excluded")


def analysed(con: duckdb.DuckDBPyConnection, study: Study, columns: str = ", ".join(COLUMNS)) -> list[tuple]:
    create_analysed_view(con, read_designs(con, study), study)
    return con.execute(f"SELECT {columns} FROM analysed ORDER BY ALL").fetchall()


def test_cells_of_validity_and_polarity(store) -> None:
    """The four cells and their gold answers, from the definition."""
    rows = [
        {"item": v[0] + p[0], "validity": v, "polarity": p}
        for v in ("valid", "invalid")
        for p in ("affirmative", "negated")
    ]
    found = analysed(store(rows), Study(), "item, gold_, cell, excluded")
    assert found == [
        ("ia", "no", "IA", None),
        ("in", "yes", "IN", None),
        ("va", "yes", "VA", None),
        ("vn", "no", "VN", None),
    ]


@pytest.mark.parametrize(
    ("given_columns", "expected"),
    [
        ({"gold": "yes", "validity": "valid"}, ("yes", "valid", "affirmative")),
        ({"gold": "no", "validity": "invalid"}, ("no", "invalid", "affirmative")),
        ({"gold": "yes", "validity": "invalid"}, ("yes", "invalid", "negated")),
        ({"gold": "no", "polarity": "negated"}, ("no", "valid", "negated")),
        ({"gold": "yes", "polarity": "negated"}, ("yes", "invalid", "negated")),
        ({"gold": " Yes ", "polarity": "Affirmative"}, ("yes", "valid", "affirmative")),
        ({"gold": "yes"}, ("yes", None, None)),
    ],
)
def test_missing_columns_follow_from_the_other_two(store, given_columns, expected) -> None:
    """Catches a derivation that treats a missing value as a disagreement."""
    con = store([{"item": "a", **given_columns}])
    assert analysed(con, Study(), "gold_, validity_, polarity_") == [expected]


def test_gold_alone_gives_two_cells_and_other_kinds_none(store) -> None:
    found = analysed(
        store([{"item": "a", "gold": "yes"}, {"item": "b", "gold": "no"}]), Study(), "item, cell, excluded"
    )
    assert found == [("a", "gold_yes", None), ("b", "gold_no", None)]
    found = analysed(store([{"item": "a", "gold": "A", "answer": "B"}]), Study(), "gold_, cell, excluded")
    assert found == [("A", None, None)]
    found = analysed(store([{"item": "a", "answer": None, "probability": 0.5}]), Study(), "gold_, cell, excluded")
    assert found == [(None, None, None)], "a probability needs no gold answer"


def test_reasons_of_exclusion(store) -> None:
    """One reason for each row; the study's wish comes first."""
    pairs = [(v, p) for v in ("valid", "invalid") for p in ("affirmative", "negated")]
    rows = [{"item": f"{f}{v}{p}", "form": f, "validity": v, "polarity": p} for f in "ab" for v, p in pairs]
    rows += [{"item": f"n{v}", "form": "n", "validity": v, "polarity": "negated"} for v in ("valid", "invalid")]
    rows += [
        {"item": "avalidaffirmative", "form": "a", "validity": "valid", "polarity": "affirmative", "model": "other"}
    ]
    rows += [{"item": "none", "form": "a", "validity": None, "polarity": None}, {"item": None}]
    study = Study(exclude={"form": ("b",), "model": ("other",)})
    con = store(rows)
    found = Counter(reason for (reason,) in analysed(con, study, "excluded"))
    assert found == {
        None: 4,
        "excluded by study.toml: form = b": 4,
        "excluded by study.toml: model = other": 1,
        "form asked with one polarity only": 2,
        "no gold answer": 1,
        "no item": 1,
    }


def test_a_planned_response_takes_what_its_item_has_elsewhere(store) -> None:
    """Catches absent responses left out of the bounds because their row names no gold answer."""
    con = store(
        [
            {"item": "a", "gold": "yes", "unit": "u", "form": "f", "model": "x"},
            {"item": "a", "model": "y", "status": "missing", "answer": None},
        ]
    )
    found = analysed(con, Study(), "model, gold_, unit_, form, cell, excluded")
    assert found == [("x", "yes", "u", "f", "gold_yes", None), ("y", "yes", "u", "f", "gold_yes", None)]


def test_pooled_tasks_share_a_name_and_keep_items_apart(store) -> None:
    rows = [{"task": t, "item": "1", "gold": g, "unit": "u"} for t, g in (("a", "yes"), ("b", "no"))]
    found = analysed(store(rows), Study(pool_tasks=True), "task, item, unit_, cell")
    assert found == [("all tasks", "a/1", "a/u", "gold_yes"), ("all tasks", "b/1", "b/u", "gold_no")]


def test_hostile_names_and_values_stay_values(store) -> None:
    """Catches identifiers and levels from logs or study.toml that end up as SQL."""
    name = f"factor.{HOSTILE}"
    rows = [
        {
            "task": HOSTILE,
            "item": f"{HOSTILE}{i}",
            "gold": g,
            "unit": HOSTILE,
            "form": HOSTILE,
            "extra": {name: f"{HOSTILE}{i}"},
        }
        for i, g in enumerate(("yes", "no"))
    ]
    study = Study(factors=(name,), exclude={name: (f"{HOSTILE}1",), "run": (HOSTILE,)}, name=HOSTILE, pool_tasks=True)
    con = store(rows)
    found = analysed(con, study, "task, unit_, excluded")
    assert found == [(HOSTILE, HOSTILE, f"excluded by study.toml: {name} = {HOSTILE}1"), (HOSTILE, HOSTILE, None)]
    (design,) = read_designs(con, study)
    assert design.item_factors[name] == (f"{HOSTILE}0", f"{HOSTILE}1")


LEVEL = st.sampled_from([None, "a", "b"])
ROW = st.fixed_dictionaries(
    {
        "model": st.sampled_from("xy"),
        "item": st.sampled_from([None, "1", "2", "3"]),
        "task": st.sampled_from(["", "t"]),
        "gold": st.sampled_from([None, "yes", "no", "A"]),
        "validity": st.sampled_from([None, "valid", "invalid"]),
        "polarity": st.sampled_from([None, "affirmative", "negated"]),
        "unit": LEVEL,
        "form": LEVEL,
        "strategy": LEVEL,
    }
)


@given(st.lists(ROW, max_size=12), st.booleans(), st.sampled_from([{}, {"form": ("a",)}, {"strategy": ("a", "b")}]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_row_is_lost_doubled_or_left_without_a_decision(store, rows, pool, exclude) -> None:
    """Whatever the rows: as many come out as went in, and a judgement is in a cell or has a reason not to be."""
    con = store(rows)
    study = Study(pool_tasks=pool, exclude=exclude)
    designs = read_designs(con, study)
    create_analysed_view(con, designs, study)
    assert con.execute("SELECT count(*) FROM analysed").fetchall() == [(len(rows),)]
    assert sum(design.n_rows for design in designs) == len(rows)
    judged = [design.task for design in designs if design.kind == "judgement"]
    undecided = "list_contains(?, task) AND cell IS NULL AND excluded IS NULL"
    assert con.execute(f"SELECT count(*) FROM analysed WHERE {undecided}", [judged]).fetchall() == [(0,)]
    contradicted = "cell IN ('VA', 'IN') AND gold IS NULL AND gold_ <> 'yes'"
    assert con.execute(f"SELECT count(*) FROM analysed WHERE {contradicted}").fetchall() == [(0,)]
