"""Priors refuse values that are no scale or no number, whichever model they are of."""

import math

import pytest

from analysis.bayes.accuracy_priors import AccuracyPriors
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.measurement_data import MeasurementPriors
from analysis.bayes.priors import Priors
from analysis.bayes.size_slope import SlopePriors
from analysis.errors import AnalysisError


@pytest.mark.parametrize(
    ("priors", "scale", "location"),
    [
        (AccuracyPriors, "item_sd", "level_mean"),
        (BeliefPriors, "belief_sd", "belief_mean"),
        (IncoherencePriors, "slab_scale", "share_mean"),
        (MeasurementPriors, "noise_log_sd", "noise_log_mean"),
        (Priors, "yes_sd", "sensitivity_mean"),
        (SlopePriors, "slope_sd", None),
    ],
)
def test_scales_are_above_zero_and_everything_is_a_number(priors, scale, location):
    """Catches a prior that turns a density into nan, and a traceback for a text."""
    for value in (0, -1.0, math.nan, math.inf, "1", True, None):
        with pytest.raises(AnalysisError, match=rf"prior {scale}: must be a finite number above 0, not {value!r}"):
            priors(**{scale: value})
    if location:
        assert getattr(priors(**{location: -1.0}), location) == -1.0
        with pytest.raises(AnalysisError, match=f"prior {location}: must be a finite number, not nan"):
            priors(**{location: math.nan})
