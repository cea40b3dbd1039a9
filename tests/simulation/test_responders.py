"""Responders: their cells, their names, their population."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.measures.competence import cell_floor, competence_floor
from analysis.measures.yes_no_bias import answer_bias, polarity_sensitivity, validity_contrast
from analysis.simulation.responders import (
    RESPONDERS,
    Responder,
    accuracy_from_contrasts,
    named_responders,
    responder_population,
)


@pytest.mark.parametrize(
    ("name", "bias", "ps", "val", "floor", "worst"),
    [
        ("oracle", 0, 0, 0, 1, 1),
        ("constant-yes", 1, 0, 0, 0, 0),
        ("constant-no", -1, 0, 0, 0, 0),
        ("coin", 0, 0, 0, 0.5, 0.5),
        ("oracle-blind-to-negation", 0, 1, 0, 0.5, 0),
        ("yes-iff-affirmative", 0, 0, 1, 0.5, 0),
    ],
)
def test_reference_responders_have_the_measures_that_their_rule_implies(name, bias, ps, val, floor, worst):
    """Catches cells in another order, or a Yes rate stored where an accuracy belongs."""
    cells = np.array(RESPONDERS[name].cells)
    assert (answer_bias(cells), polarity_sensitivity(cells), validity_contrast(cells)) == (bias, ps, val)
    assert (competence_floor(cells), cell_floor(cells)) == (floor, worst)


def test_contrasts_on_the_log_odds_scale_move_the_cells_they_name():
    """Catches a sign: leaning to Yes must help VA and IN, blindness to negation the affirmative cells."""
    up = 1 / (1 + np.exp(-1.0))
    rows = accuracy_from_contrasts(np.eye(4))
    expected = [[up, 1 - up, 1 - up, up], [up] * 4, [up, up, 1 - up, 1 - up], [up, 1 - up, up, 1 - up]]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-15)


def test_population_has_the_size_asked_for_with_distinct_invented_names():
    """Catches names that collide, which would merge two models, or that could be taken for real ones."""
    drawn = responder_population(np.random.default_rng(3), 120)
    assert len({r.name for r in drawn}) == 120
    assert all(r.name.startswith("simulated/model-") for r in drawn)
    assert len({r.cells for r in drawn}) == 120


def test_an_unknown_name_is_refused_with_the_nearest():
    """Catches a silent fallback to another responder."""
    with pytest.raises(AnalysisError, match="even-hand"):
        named_responders(["evenhand"])
    with pytest.raises(AnalysisError, match="twice"):
        named_responders(["coin", "coin"])


@pytest.mark.parametrize("change", [{"va": 1.2}, {"uncertain_no": -0.1}, {"spread": float("nan")}])
def test_impossible_responders_are_refused(change):
    """Catches a probability outside [0, 1], which would give NaN log-odds without a word."""
    with pytest.raises(AnalysisError):
        Responder(**({"name": "x", "va": 0.5, "vn": 0.5, "ia": 0.5, "in_": 0.5} | change))
