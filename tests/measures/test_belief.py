"""Belief bias: responders whose bias is known, and the identities that tie its readings together."""

import numpy as np
import pytest
from scipy.special import logit

from analysis.errors import AnalysisError
from analysis.measures import belief

#: Responder -> accuracies VB, VU, IB, IU, then bias and difference of discrimination.
RESPONDERS = {
    "oracle": ([1, 1, 1, 1], 0, 0),
    "constant yes": ([1, 1, 0, 0], 0, 0),
    "coin": ([0.5] * 4, 0, 0),
    "believer": ([1, 0, 0, 1], 1, 0),
    "reasons only about what is not believed": ([0.5, 1, 0.5, 1], 0, -1),
}


@pytest.mark.parametrize("name", RESPONDERS)
def test_reference_responders(name: str) -> None:
    """Catches a sign, and an answer bias (constant yes) that passes for belief bias."""
    cells, bias, interaction = RESPONDERS[name]
    assert belief.belief_bias(cells) == bias
    assert belief.discrimination_difference(cells) == interaction
    assert belief.congruent_accuracy(cells) - belief.incongruent_accuracy(cells) == bias


def test_the_bias_is_the_mean_shift_of_endorsement() -> None:
    """Catches an endorsement taken as accuracy where the conclusion is invalid."""
    cells = np.random.default_rng(1).random((50, 4))
    np.testing.assert_allclose(belief.endorsement_shift(belief.endorsement(cells)), belief.belief_bias(cells))


def test_log_odds_by_hand() -> None:
    """Catches a missing correction or a halved interaction."""
    endorsed, n = np.array([0.9, 0.6, 0.5, 0.2]), np.full(4, 10)
    z = logit((endorsed * 10 + 0.5) / 11)
    assert belief.log_odds_shift(endorsed, n) == pytest.approx((z[0] - z[1] + z[2] - z[3]) / 2)
    assert belief.log_odds_interaction(endorsed, n) == pytest.approx((z[0] - z[2]) - (z[1] - z[3]))
    assert np.isfinite(belief.log_odds_shift([1, 1, 0, 0], n))
    assert np.isnan(belief.log_odds_shift(endorsed, [10, 0, 10, 10]))


def test_a_logistic_responder_has_the_shift_that_made_it() -> None:
    """Catches a shift that depends on discrimination: log-odds a + d v + b u have shift 2 b for any a and d."""
    v, u = np.array([1, 1, -1, -1]), np.array([1, -1, 1, -1])
    for a, d in ((0.3, 1.0), (-1.0, 0.2)):
        endorsed = 1 / (1 + np.exp(-(a + d * v + 0.4 * u)))
        assert belief.log_odds_shift(endorsed, np.full(4, 1e9)) == pytest.approx(0.8, abs=1e-6)


def test_other_cells_are_refused() -> None:
    """Catches classes passed for cells."""
    with pytest.raises(AnalysisError, match="VB, VU, IB, IU"):
        belief.belief_bias([0.5, 0.5])
