"""Bias, polarity sensitivity and floor of a published table, recomputed from its printed cells."""

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from analysis.measures.competence import competence_floor
from analysis.measures.yes_no_bias import answer_bias, polarity_sensitivity

CELLS = ("v_aff", "v_neg", "i_aff", "i_neg")
#: Printed column -> measure, and the sum of absolute weights of the cells in it (of each class, for the floor).
MEASURES = {"bias": (answer_bias, 2.0), "ps": (polarity_sensitivity, 2.0), "floor": (competence_floor, 1.0)}


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[dict[str, str]]:
    path = shared / "published" / "probability_operators" / "table03_cells.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit."""
    return 0.5 * 10.0 ** int(Decimal(printed).as_tuple().exponent)


def outside(rows: list[dict[str, str]], column: str, measure: Callable[..., np.ndarray], weight: float) -> list[str]:
    """Models whose printed value is farther from the recomputed one than rounding of input and output allows."""
    found = []
    for row in rows:
        recomputed = float(measure([float(row[cell]) for cell in CELLS]))
        allowed = weight * max(half_unit(row[cell]) for cell in CELLS) + half_unit(row[column])
        if abs(recomputed - float(row[column])) > allowed + 1e-12:
            found.append(row["model"])
    return found


@pytest.mark.parametrize("column", MEASURES)
def test_every_printed_value_agrees_within_rounding(rows: list[dict[str, str]], column: str) -> None:
    assert len(rows) == 29
    assert outside(rows, column, *MEASURES[column]) == []


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        ("bias", lambda cells: -answer_bias(cells)),
        ("bias", polarity_sensitivity),
        ("ps", lambda cells: polarity_sensitivity(np.take(cells, [0, 1, 3, 2]))),
        ("floor", lambda cells: competence_floor(np.take(cells, [0, 2, 1, 3])) - 0.002),
        ("floor", lambda cells: np.min(cells)),
    ],
)
def test_wrong_formulas_are_found_out(
    rows: list[dict[str, str]], column: str, wrong: Callable[..., np.ndarray]
) -> None:
    """Turned signs, swapped cells, another minimum: the tolerance is not so wide that these pass."""
    assert outside(rows, column, wrong, MEASURES[column][1])
