"""Rates, accuracy and consistency computed from parameters of the endorsement model."""

import numpy as np
import pytest
from scipy.special import expit

from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_program import Parameters
from analysis.bayes.belief_bias_rates import (
    Profiles,
    accuracy,
    cell_rates,
    complete_sets,
    consistency,
    endorsement_rates,
    item_variance,
)
from tests.bayes.endorsement_counts import small_counts

DESIGN = belief_design(small_counts(np.random.default_rng(1)), conditions=("strategy",))
PROFILES = Profiles.of(DESIGN)


def parameters(**sds: float) -> Parameters:
    empty = np.zeros((1, 0))
    sd = {f"sd: {name.replace('_', ' × ')}": np.array([value]) for name, value in sds.items()}
    return Parameters(sd, np.zeros((1, len(DESIGN.group))), empty[None], empty, empty[None])


def test_every_question_has_its_row() -> None:
    """Catches a profile of another question or configuration, and a wrong side or cell."""
    for c in range(len(DESIGN.configurations)):
        for i, side in enumerate(DESIGN.side):
            at = PROFILES.of_cell[c, i]
            expected = DESIGN.of_question[i] + DESIGN.of_configuration[c, side]
            np.testing.assert_allclose(PROFILES.rows[at], expected, atol=1e-12)
            assert PROFILES.side[at] == side
            cell = {(0, 1.0): 0, (0, -1.0): 1, (1, 1.0): 2, (1, -1.0): 3}.get((side, DESIGN.believed[i]), -1)
            assert PROFILES.cell[at] == cell


def test_rates_by_hand() -> None:
    """Without effects of items: logistic(a + d v + b u + g v u) in each cell, nonsense left out of the cells."""
    b = np.zeros((1, len(DESIGN.group)))
    b[0, :4] = 0.2, 1.0, 0.4, -0.3
    rates = endorsement_rates(b, np.zeros(1), PROFILES)
    weight = PROFILES.weights(DESIGN.answered[0] > 0)
    expected = expit([0.2 + 1 + 0.4 - 0.3, 0.2 + 1 - 0.4 + 0.3, 0.2 - 1 + 0.4 + 0.3, 0.2 - 1 - 0.4 - 0.3])
    np.testing.assert_allclose(cell_rates(rates, weight, PROFILES)[0], expected, atol=1e-12)
    nonsense = expit([1.2, -0.8])
    right = np.array([*expected[:2], *(1 - expected[2:])])
    half = right.mean() / 2 + (nonsense[0] + 1 - nonsense[1]) / 4
    assert accuracy(rates, weight, PROFILES)[0] == pytest.approx(half, abs=1e-12)


def test_new_items_are_integrated() -> None:
    """Catches effects of the items at hand in a claim about new ones, or a variance left out: Monte Carlo."""
    found = parameters(item=1.0, model_item=0.8, version=0.5)
    assert set(found.sd) == {"sd: item", "sd: model × item", "sd: version"}
    assert item_variance(found)[0] == pytest.approx(1.0 + 0.64 + 0.25)
    b = np.zeros((1, len(DESIGN.group)))
    b[0, 0] = 1.5
    rates = endorsement_rates(b, item_variance(found), PROFILES)
    drawn = expit(1.5 + np.sqrt(1.89) * np.random.default_rng(2).normal(size=400_000)).mean()
    np.testing.assert_allclose(rates, drawn, atol=0.003)


def test_consistency_by_hand_and_by_simulation() -> None:
    """Catches versions taken as independent where an item is shared, or as one where they are not."""
    sets, counts = complete_sets(DESIGN.answered[0] > 0, DESIGN, PROFILES)
    assert sets.shape[1] == 2
    assert counts.sum() == 16
    b = np.zeros((1, len(DESIGN.group)))
    b[0, 0] = 0.7
    p = expit(0.7)
    plain = consistency(b, parameters(item=0.0), sets, counts, PROFILES)[0]
    assert plain == pytest.approx(p**2 + (1 - p) ** 2, abs=1e-12)
    rng = np.random.default_rng(3)
    shared = 1.2 * rng.normal(size=(300_000, 1))
    own = expit(0.7 + shared + 0.9 * rng.normal(size=(300_000, 2)))
    drawn = (own.prod(axis=1) + (1 - own).prod(axis=1)).mean()
    found = consistency(b, parameters(item=0.0, model_item=1.2, version=0.9), sets, counts, PROFILES)[0]
    assert found == pytest.approx(drawn, abs=0.003)
    assert found > plain


def test_incomplete_sets_and_empty_cells_are_undefined() -> None:
    """Catches a set that lacks a version, and a rate of a cell that a model was never asked."""
    asked = DESIGN.answered[0] > 0
    asked[:, DESIGN.questions["variant"] == "X"] = False
    sets, counts = complete_sets(asked, DESIGN, PROFILES)
    assert len(sets) == 0
    b = np.zeros((1, len(DESIGN.group)))
    assert np.isnan(consistency(b, parameters(item=1.0), sets, counts, PROFILES)).all()
    asked[:, (DESIGN.believed > 0) & (DESIGN.side == 1)] = False
    rates = endorsement_rates(b, np.zeros(1), PROFILES)
    np.testing.assert_array_equal(
        np.isnan(cell_rates(rates, PROFILES.weights(asked), PROFILES)[0]), [False, False, True, False]
    )
    assert np.isnan(accuracy(rates, np.zeros(len(PROFILES.rows)), PROFILES)).all()
