"""Columns of the model: what a design identifies, what is left out and said, and the counts behind it."""

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.design_matrix import MOST_LEVELS, MOST_SURFACE_COUNTS, count_design, units_as_effects
from analysis.errors import AnalysisError
from tests.bayes.designs import gold_design, template_design

SMALL = {"models": 2, "templates": 3, "forms": 2}


def design_of(**changed: int) -> pd.DataFrame:
    return template_design(np.random.default_rng(2), **{**SMALL, **changed})


def test_groups_of_a_crossed_design() -> None:
    """Catches effects that a level cannot tell apart: within a template gold follows polarity, validity is fixed."""
    design = count_design(design_of())
    assert design.groups == (
        *("yes", "sensitivity", "polarity", "validity"),
        *("template_yes", "template_polarity"),
        *("form_yes", "form_polarity", "form_sensitivity", "form_validity"),
    )
    assert design.matrix.shape == (12, 4 + 2 * 3 + 4 * 2)


def test_cells_are_signed_as_defined() -> None:
    """Catches a swapped sign: gold, polarity and validity of VN are No, negated, valid."""
    design = count_design(design_of())
    row = design.matrix[(design.cells["cell"] == "VN").to_numpy()][0, :4]
    np.testing.assert_array_equal(row, [1, -1, -1, 1])


def test_a_form_asked_in_one_polarity_has_one_effect_less() -> None:
    """Catches columns that are not identified: without affirmative questions gold is validity, turned."""
    table = design_of()
    table = table[(table["form"] != "f1") | table["cell"].isin(["VN", "IN"])]
    design = count_design(table)
    own = design.matrix[(design.cells["form"] == "f1").to_numpy()]
    in_form = [j for j in range(design.matrix.shape[1]) if design.groups[design.group[j]].startswith("form_")]
    used = [j for j in in_form if own[:, j].any()]
    assert len(used) == np.linalg.matrix_rank(own[:, used]) == 2


def test_counts_survive() -> None:
    """Catches rows lost or counted twice, whatever their order."""
    table = design_of()
    shuffled = table.sample(frac=1.0, random_state=3)
    design, other = count_design(table), count_design(shuffled)
    for name in ("answered", "uncertain", "correct", "weight", "matrix"):
        np.testing.assert_array_equal(getattr(design, name), getattr(other, name))
    assert design.scored.sum() == table[["n_answered", "n_uncertain"]].to_numpy().sum()
    yes_right = table["cell"].isin(["VA", "IN"])
    yes = np.where(yes_right, table["n_correct"], table["n_answered"] - table["n_correct"])
    assert design.yes.sum() == yes.sum()


def test_gold_alone_has_two_columns_and_no_residual() -> None:
    """Catches a residual that is not identified, and polarity that nobody asked for."""
    design = count_design(gold_design({"a": (0.9, 0.4), "b": (0.5, 0.6)}))
    assert design.groups == ("yes", "sensitivity")
    assert not design.residual
    assert any("Gold answers alone" in sentence for sentence in design.sentences)
    assert any("without a residual" in sentence for sentence in design.sentences)


def test_factors_without_a_contrast_are_left_out_and_said() -> None:
    """Catches effects of a single template, and of a factor with a coefficient for every item."""
    design = count_design(design_of(templates=2).query("template == 't0' or template == 't00'"))
    assert any("one template only" in sentence for sentence in design.sentences)
    many = pd.concat([design_of().assign(template=f"t{i}") for i in range(MOST_LEVELS + 1)])
    said = count_design(many).sentences
    assert any(f"{MOST_LEVELS + 1} levels" in sentence and "residual" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="n_correct"), "lack n_correct"),
        (lambda t: t.assign(cell=""), "no answer bias to estimate"),
        (lambda t: t.assign(task=np.where(t["model"] == "m000", "a", "b")), "several tasks"),
    ],
)
def test_counts_that_cannot_be_used_are_refused(change: object, message: str) -> None:
    """Catches a guess, and a traceback in place of a message."""
    with pytest.raises(AnalysisError, match=message):
        count_design(change(design_of()))


def _by_unit(units: int, again: int = 2) -> pd.DataFrame:
    rows = [
        {"model": "a", "cell": cell, "unit": f"s{i}", "n_answered": 1, "n_uncertain": 0, "n_correct": 1}
        for i in range(units)
        for cell in ("VA", "VN", "IA", "IN")[:again]
    ]
    return pd.DataFrame(rows)


def test_units_are_effects_where_they_are_few_and_asked_again() -> None:
    """Catches a model with a coefficient per question, and one that samples for an hour."""
    assert units_as_effects(_by_unit(20))
    assert not units_as_effects(_by_unit(20, again=1))
    assert not units_as_effects(_by_unit(1))
    assert not units_as_effects(_by_unit(MOST_LEVELS + 1))
    many = pd.concat([_by_unit(100).assign(model=f"m{i}") for i in range(MOST_SURFACE_COUNTS // 200 + 1)])
    assert not units_as_effects(many)
    assert not units_as_effects(_by_unit(20).drop(columns="unit"))
