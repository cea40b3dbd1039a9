"""Rounding that wordings share, and models without any residual: neither may pass for, or hide, incoherence."""

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.incoherence_attempt import fit_model, known_to_an_instance
from analysis.bayes.incoherence_data import Instances, checked_instances, model_instances
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_sampling import incoherence_settings, sample_instances
from tests.bayes.incoherence_tables import residual_table


def one_model(residuals: np.ndarray) -> Instances:
    return model_instances(checked_instances(residual_table(residuals)))[0]


def test_rounding_of_the_quiet_does_not_hide_the_noisy() -> None:
    """60 instances answered alike in all wordings and rounded, 24 noisy ones off by .3 in all.

    Catches a slab that shrinks to the rounding of the quiet, which leaves what the noisy are off by to noise: the
    interval then ended at .02.
    """
    rng = np.random.default_rng(12)
    quiet = np.repeat(rng.normal(0, 0.016, size=(60, 1)), 3, axis=1)
    mu = rng.normal(0, 0.55, size=(24, 1))
    residuals = np.concatenate([quiet, mu + rng.normal(0, 0.55, size=(24, 3))])
    draws = sample_instances(one_model(residuals), IncoherencePriors(), incoherence_settings(), linked=True, seed=1)
    persistent = np.sqrt((draws.mu**2).mean(axis=-1))
    truth = float(np.sqrt((mu**2).sum() / 84))
    assert np.quantile(persistent, 0.025) < truth < np.quantile(persistent, 0.975)
    assert (persistent > 0.1).mean() > 0.3


def test_a_model_without_any_residual_passes_its_gates() -> None:
    """Catches a count whose end lies at a step, or ends .001 apart known to .0001, taken for a bad sampler."""
    fit = fit_model(
        one_model(np.zeros((20, 3))), IncoherencePriors(), incoherence_settings(), linked=True, ci_level=0.95, seed=2
    )
    assert fit.problem == ""
    rows = fit.rows.set_index(["measure", "target"])
    assert rows.loc[("persistent", "these"), "upper_bound"] < 0.02


@pytest.mark.parametrize(
    ("measure", "target", "mcse", "kept"),
    [
        ("incoherent_share", "these", 0.02, 0.0),
        ("incoherent_share", "these", 0.021, 0.3),
        ("incoherent_share", "new_items", 0.01, 0.3),
        ("persistent", "these", 0.01, 0.3),
    ],
)
def test_only_counts_are_known_to_an_instance(measure: str, target: str, mcse: float, kept: float) -> None:
    """50 instances: a step is .02. Catches a gate lifted from quantities that are no counts, or for larger errors."""
    rows = pd.DataFrame([{"measure": measure, "target": target, "mcse_end": mcse, "mcse_share": 0.3}])
    assert known_to_an_instance(rows, size=50)["mcse_share"].tolist() == [kept]
