"""Priors by name, and what they imply on the probability scale."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy.special import expit

from analysis.bayes.priors import MEANINGS, Priors, doubled, prior_predictive, prior_table, priors_from
from analysis.errors import StudyError


def test_every_prior_has_a_meaning_and_default_priors_pass_their_gate() -> None:
    """Catches a prior that nobody explains, and defaults that exclude real floors."""
    assert set(MEANINGS) == set(asdict(Priors()))
    found = prior_predictive(Priors(), np.random.default_rng(1))
    assert found.passed
    assert found.floor_low <= 0.05
    assert found.floor_high >= 0.85
    assert found.extreme_cells <= 0.4
    assert found.bias_low == pytest.approx(-found.bias_high, abs=0.1)
    wider = prior_predictive(Priors(), np.random.default_rng(1), families=True)
    assert wider.passed
    assert wider.extreme_cells > found.extreme_cells


@pytest.mark.parametrize(
    "changed",
    [
        {"sensitivity_mean": 0.5, "sensitivity_mean_sd": 0.3, "sensitivity_sd": 0.3, "yes_sd": 1.0},
        {"yes_sd": 20.0, "sensitivity_sd": 20.0},
    ],
)
def test_narrow_and_extreme_priors_fail_the_gate(changed: dict[str, float]) -> None:
    """Catches a gate that passes everything: floors up to .85 excluded, or most cells at 0 and 1."""
    assert not prior_predictive(replace(Priors(), **changed), np.random.default_rng(1)).passed


def test_meanings_by_hand() -> None:
    """Catches a number in words that the scale does not give: log-odds ±1.96 sd as probabilities."""
    assert expit(1.96 * 1.5) == pytest.approx(0.95, abs=0.005)
    assert expit(1.0) == pytest.approx(0.73, abs=0.005)
    assert expit([-1.96, 1.96]) == pytest.approx([0.12, 0.88], abs=0.005)
    assert expit(3.5) == pytest.approx(0.97, abs=0.005)
    assert "5-95 %" in MEANINGS["yes_mean_sd"]
    assert ".73" in MEANINGS["sensitivity_mean"]
    assert ".12-.88" in MEANINGS["template_sd"]


def test_settings_replace_by_name_and_name_every_problem() -> None:
    """Catches a misspelt prior that is ignored, and a scale of 0."""
    assert priors_from({"template_sd": 2}).template_sd == 2.0
    assert priors_from({"validity_mean": -1.0}).validity_mean == -1.0
    with pytest.raises(StudyError) as caught:
        priors_from({"templat_sd": 1.0, "form_sd": 0.0, "validity_mean": float("inf")})
    message = str(caught.value)
    assert "templat_sd" in message
    assert "template_sd" in message
    assert "form_sd: a scale must be a number above 0" in message
    assert "validity_mean: must be a finite number" in message


def test_second_prior_doubles_scales_of_few_groups_alone() -> None:
    """Catches a sensitivity check that moves what many models inform."""
    wide = doubled(Priors())
    changed = {name for name, value in asdict(wide).items() if value != getattr(Priors(), name)}
    assert changed == {"family_sd", "template_sd", "model_template_sd", "form_sd", "model_form_sd"}
    assert wide.form_sd == 2 * Priors().form_sd
    assert [row[0] for row in prior_table(wide)] == list(asdict(Priors()))
