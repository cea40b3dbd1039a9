"""A second, wider prior of a standard deviation: weights, draws given coefficients, and when they are not relied on."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import halfnorm, kstest, norm

from analysis.bayes.second_prior import sd_given_coefficients, second_posterior, weighted_quantiles

PROBABILITIES = np.array([0.1, 0.5, 0.9])


@pytest.mark.parametrize("known", [True, False])
def test_without_data_the_posterior_is_the_second_prior(known: bool) -> None:
    """Catches weights of the wrong sign or power: prior draws have to become draws of the wider prior."""
    rng = np.random.default_rng(1)
    sd = np.abs(rng.normal(size=20_000)) * 0.5
    means = rng.normal(size=(20_000, 5)) * sd[:, None]
    found = second_posterior(sd, scale=0.5, means=means if known else None, rng=rng)
    got = weighted_quantiles(found.sd, found.log_weight, PROBABILITIES)
    np.testing.assert_allclose(got, halfnorm(scale=1.0).ppf(PROBABILITIES), rtol=0.1)
    assert found.pareto_k > 0.3, "tails of such weights are heavy"


def test_known_coefficients_give_the_posterior_by_integration() -> None:
    """Catches a missing Jacobian, power or scale: coefficients without error, posterior by scipy's quadrature."""
    coefficients = np.array([0.3, -0.5, 0.1, 0.4])

    def density(tau: float, scale: float) -> float:
        return float(np.prod(norm.pdf(coefficients, scale=tau)) * halfnorm.pdf(tau, scale=scale))

    means = np.tile(coefficients, (40_000, 1))
    rng = np.random.default_rng(2)
    first = sd_given_coefficients(means, scale=0.5, rng=rng)
    second = second_posterior(first, scale=0.5, means=means, rng=rng)
    assert second.reason == ""
    assert second.effective == len(means), "weights of equal coefficients are equal"
    for drawn, scale in ((first, 0.5), (second.sd, 1.0)):
        total = quad(density, 0, 6, args=(scale,), limit=200)[0]
        for at in (0.25, 0.4, 0.7):
            expected = quad(density, 0, at, args=(scale,), limit=200)[0] / total
            assert (drawn <= at).mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / len(means)))


def test_standard_deviations_drawn_anew_keep_their_joint_distribution() -> None:
    """Catches draws that forget the coefficients or the prior: given draws of both, the new ones are as the old."""
    rng = np.random.default_rng(3)
    sd = np.abs(rng.normal(size=5_000)) * 0.7
    means = rng.normal(size=(5_000, 3)) * sd[:, None]
    drawn = sd_given_coefficients(means, scale=0.7, rng=rng)
    assert kstest(drawn, halfnorm(scale=0.7).cdf).pvalue > 0.001
    assert kstest((means / drawn[:, None]).ravel(), norm.cdf).pvalue > 0.001


def test_weights_that_few_draws_carry_are_not_relied_on() -> None:
    """Catches numbers printed from weights that one draw dominates: draws far above the first prior's scale."""
    rng = np.random.default_rng(4)
    sd = np.abs(rng.normal(size=2_000))
    found = second_posterior(sd, scale=0.9, means=None, rng=rng, factor=10.0)
    assert "not reliable: Pareto k" in found.reason
    assert np.exp(found.log_weight).sum() == pytest.approx(1.0)
    far = second_posterior(100 * sd, scale=0.3, means=None, rng=rng)
    assert "rest on 1 draws" in far.reason


def test_equal_weights_give_plain_quantiles() -> None:
    """Catches a weighted quantile that is off by half a draw."""
    values = np.random.default_rng(5).permutation(np.arange(1001.0))
    found = weighted_quantiles(values, np.full(1001, -np.log(1001)), np.array([0.025, 0.5]))
    np.testing.assert_allclose(found, np.quantile(values, [0.025, 0.5]), atol=0.5)
