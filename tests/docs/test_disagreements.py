"""The examples of the page on disagreements get the reason that the page gives them."""

import re
from pathlib import Path

import pandas as pd
import pytest

from analysis.comparison import incoherence_schools
from analysis.comparison.reasons import Reason
from analysis.comparison.schools import FLOORS, Columns, compare_schools

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "disagreements.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d*\.\d+|\d+")
FACTS = {"min_cell": 0.4, "max_cell": 0.8, "n_eff": 200.0, "deff": 1.0, "tail": False, "lost": 0.0, "bias_z": 3.0}


def examples() -> dict[str, list[str]]:
    """Cells of each row of the table by its reason."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")
    ]
    return {row[0]: row[1:] for row in rows if row[0] in list(Reason) and len(row) == 7}


def columns_of(cells: list[str]) -> Columns:
    """Rows of the schools with the numbers that stand in the table."""
    measure, classical, error, pooled, beyond, known = cells
    own, other = ([float(x) for x in NUMBER.findall(text)] for text in (classical, pooled))
    companions = [float(x) for x in NUMBER.findall(known)] if known.startswith("other models") else []
    facts = dict(FACTS) | {k: float(v) for k, v in re.findall(r"(\w+) = (-?[\d.]+)", known)}
    row = {"model": "m", "measure": measure, "estimate": own[0], "ci_low": own[1], "ci_high": own[2]}
    rows = [row | {"std_error": float(error), "target": "these"}]
    rows += [
        row | {"model": f"other {i}", "estimate": value, "std_error": float(error), "target": "these"}
        for i, value in enumerate(companions)
    ]
    frequentist = pd.DataFrame(rows)
    place = {"p_above": float(beyond), "p_below": 0.0, "p_rope": 1 - float(beyond)}
    hierarchical = frequentist.drop(columns="std_error").assign(
        estimate=other[0],
        ci_low=other[1],
        ci_high=other[2],
        target="new_templates" if "new templates" in known else "these",
        **place,
    )
    models = pd.DataFrame([{"model": name, **facts} for name in frequentist["model"]])
    failed = known if "divergences" in known else ""
    return Columns(frequentist, hierarchical.assign(target="these"), hierarchical, {}, models, failed)


@pytest.mark.parametrize("code", list(Reason))
def test_the_example_of_a_reason_has_that_reason(code: Reason) -> None:
    """Catches an example whose numbers give another reason, or none, and a reason without an example."""
    found = compare_schools(columns_of(examples()[code])).iloc[0]
    assert found["code"] == code
    assert found["verdict"] == {"MCMC": "not shown", "UNEXPLAINED": "differ"}.get(code, "explained")


@pytest.mark.parametrize("code", list(Reason))
def test_every_reason_is_explained(code: Reason) -> None:
    """Catches a code of a report that the page does not explain."""
    explained = re.search(rf"\*\*{code}\.\*\* (.+?)\n\n", PAGE, re.DOTALL)
    assert explained, code
    assert "What to do" in explained[1]


@pytest.mark.parametrize("code", list(incoherence_schools.WORDS))
def test_reasons_of_incoherence_are_explained(code: str) -> None:
    assert f"| {code} | " in PAGE.split("stated probabilities?")[1]


def test_floors_of_the_examples_are_floors() -> None:
    """Catches examples of reasons that floors alone can have, given for another measure."""
    for code in (Reason.CENSOR, Reason.MIN):
        assert examples()[code][0] in FLOORS
