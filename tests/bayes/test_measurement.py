"""The model of single answers: what it refuses, what a point stands for, and recovery of what was simulated."""

import numpy as np
import pytest
from scipy.special import expit, logit

from analysis.bayes.measurement import (
    MeasurementDraws,
    measurement_data,
    measurement_quantities,
    of_points,
    sample_answers,
)
from analysis.bayes.measurement_data import MeasurementPriors, SingleAnswers, single_answers
from analysis.bayes.measurement_density import HYPER
from analysis.bayes.sampling import SamplerSettings
from analysis.errors import AnalysisError

N = 40
FIRST = np.arange(0, 2 * N + 1, 2)


def simulated(noise: tuple[float, float, float], gap: float, *, clip: float = 0.01) -> SingleAnswers:
    """Two states of weight w and 1 - w; the direct answer is ``gap`` above what the others imply."""
    rng = np.random.default_rng(11)
    weight, chance = rng.uniform(0.2, 0.8, N), rng.normal(0, 1.2, 2 * N)
    both = np.stack([weight, 1 - weight], axis=1).ravel()
    direct = logit(np.add.reduceat(both * expit(chance), FIRST[:-1])) + gap
    parts = [
        expit(mean[:, None] + sd * rng.standard_normal((len(mean), 3)))
        for mean, sd in zip((direct, logit(both), chance), noise, strict=True)
    ]
    return single_answers(*parts, FIRST, truth_latent=both, truth_conditional=expit(chance), clip=clip)


@pytest.mark.parametrize("cut", ["instances", "wordings", "states", "shape"])
def test_too_little_is_refused(cut: str) -> None:
    """Catches a fit of noise from one wording, of a state without its complement, and of arrays that do not match."""
    target, state, first = np.full((6, 3), 0.5), np.full((12, 3), 0.5), np.arange(0, 13, 2)
    if cut == "instances":
        target, state, first = target[:4], state[:8], first[:5]
    elif cut == "wordings":
        target, state = target[:, :1], state[:, :1]
    elif cut == "states":
        first = np.array([0, 1, 4, 6, 8, 10, 12])
    else:
        state = state[:-1]
    with pytest.raises(AnalysisError, match=r"needs|fit the instances"):
        single_answers(target, state, state, first)


def test_quantities_by_hand() -> None:
    """One draw with weights .3/.7 and chances .2/.6: every derivative of the implied log-odds is written out."""
    answers = single_answers(*(np.full((rows, 2), 0.5) for rows in (5, 10, 10)), np.arange(0, 11, 2))
    hyper = {"delta": 0.0, "tau": 1.0, "tau_sum": 1.0, "noise_target": 0.1, "noise_latent": 0.2}
    hyper |= {"noise_conditional": 0.3}
    named = {name: np.array([value]) for name, value in hyper.items()}
    weight, chance = np.tile([0.3, 0.7], 5)[None], logit(np.tile([0.2, 0.6], 5))[None]
    draws = MeasurementDraws(named, np.full((1, 5), 0.4), np.zeros((1, 5)), weight, chance, None)
    found = measurement_quantities(draws, answers)
    steep, rounding = 1 / (0.48 * 0.52), 0.01**2
    latent = ((0.21 * 0.2) ** 2 + (0.21 * 0.6) ** 2) * steep**2 * (0.04 + rounding)
    conditional = ((0.3 * 0.16) ** 2 + (0.7 * 0.24) ** 2) * steep**2 * (0.09 + rounding)
    total = 0.01 + rounding + latent + conditional
    assert found["noise"][0] == pytest.approx(np.sqrt(total))
    assert found["share_latent"][0] == pytest.approx(latent / total)
    assert found["share_conditional"][0] == pytest.approx(conditional / total)
    assert found["persistent"][0] == pytest.approx(0.4)
    assert found["violation"][0] == pytest.approx(0.4)
    assert found["normalisation"][0] == 0


def test_a_point_is_read_as_the_density_reads_it() -> None:
    """Catches a cut at the wrong place: effects are written out from their definition."""
    answers = simulated((0.1, 0.1, 0.1), 0.3)
    data = measurement_data(answers, MeasurementPriors())
    z = np.random.default_rng(6).normal(size=(2, HYPER + N + 4 * N))
    draws = of_points(z, data, answers)
    tau_sum, (x, v) = np.exp(z[1, 2]), data.places[2:]
    h = tau_sum * x / (tau_sum**2 + v) + np.sqrt(v / (tau_sum**2 + v)) * z[1, HYPER + N : HYPER + 2 * N]
    np.testing.assert_allclose(draws.nu[1], tau_sum * h)
    np.testing.assert_allclose(draws.weight[1, ::2], expit(z[1, HYPER + 2 * N : HYPER + 3 * N]))
    np.testing.assert_array_equal(draws.conditional, z[:, -2 * N :])


def test_noise_by_kind_of_question_is_recovered() -> None:
    """Noise .4, .1, .2 and a lean of .3: catches kinds mixed up, and a violation lost in the noise."""
    answers = simulated((0.4, 0.1, 0.2), 0.3)
    settings = SamplerSettings(chains=2, draws=300, tune=300, cores=1)
    draws = sample_answers(answers, MeasurementPriors(lean_sd=0.5), settings, seed=3)
    for name, truth in (("noise_target", 0.4), ("noise_latent", 0.1), ("noise_conditional", 0.2)):
        assert draws.hyper[name].mean() == pytest.approx(truth, rel=0.2)
    assert measurement_quantities(draws, answers)["direction"].mean() == pytest.approx(0.3, abs=0.12)


def test_an_answer_at_the_clip_is_censored() -> None:
    """A chance far beyond the clip with answers there alone: its belief lies beyond, not at, the clip."""
    answers = simulated((0.1, 0.1, 0.1), 0.0)
    answers.conditional[0], answers.conditional_centre[0] = answers.limit, 6.0
    draws = sample_answers(answers, MeasurementPriors(), SamplerSettings(chains=1, draws=300, cores=1), seed=3)
    assert draws.conditional[..., 0].mean() > answers.limit + 0.5
