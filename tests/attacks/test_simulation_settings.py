"""Absurd settings of simulations are refused in one sentence, before anything is written."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.simulation.responders import responder_population
from analysis.simulation.syllogisms import Syllogisms


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"unreadable": 2.0}, "rates whose sum is at most 1"),
        ({"unreadable": float("nan")}, "rates whose sum is at most 1"),
        ({"unreadable": 0.6, "failed": 0.6}, "rates whose sum is at most 1"),
        ({"failed": -0.1}, "rates whose sum is at most 1"),
        ({"interrupted": 13}, "interrupted must lie between 0 and 12, not 13"),
        ({"interrupted": -1}, "interrupted must lie between 0 and 12, not -1"),
    ],
)
def test_rates_and_configurations_out_of_range_are_refused(setting, said) -> None:
    """Catches an IndexError for more interrupted configurations than there are, and rates that are none."""
    with pytest.raises(AnalysisError, match=said):
        Syllogisms(**setting)


def test_a_population_too_large_for_memory_is_refused() -> None:
    """Catches a MemoryError instead of a message."""
    with pytest.raises(AnalysisError, match="at most 10,000 responders can be drawn, not 100,000,000,000"):
        responder_population(np.random.default_rng(1), 10**11)
