"""exp, log and expectations over normal effects as compiled loops, against numpy and scipy."""

import numpy as np
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from analysis.bayes.elementary_functions import exponentials, logarithms
from analysis.bayes.quadrature import chance_alike, mean_logistic


def test_exp_is_exact_and_held() -> None:
    """Catches a lost bit, a wrong exponent, and an overflow beyond the range."""
    x = np.concatenate([np.linspace(-300, 300, 4001), [-1e4, 1e4, 0.0, -0.0, 1e-300]])
    out, rest = np.empty_like(x), np.empty_like(x)
    exponentials(x, 300.0, out, rest)
    np.testing.assert_allclose(out, np.exp(np.clip(x, -300, 300)), rtol=1e-15)


def test_log_is_exact() -> None:
    """Catches a lost bit near 1, where the logarithm is small, and a wrong exponent."""
    rng = np.random.default_rng(0)
    x = np.concatenate([np.exp(rng.uniform(-600, 600, 4000)), 1 + rng.uniform(-1e-6, 1e-6, 1000), [1.0, 2.0, 0.5]])
    exact, out = np.log(x), np.empty_like(x)
    logarithms(x.copy(), out)
    np.testing.assert_allclose(out, exact, rtol=1e-15, atol=0)


def test_means_over_a_normal_effect_are_integrals() -> None:
    """Catches odds that are multiplied with those of another draw, and weights in the wrong place."""
    eta, variance = np.array([[-2.0, 0.3, 5.0], [1.0, -400.0, 400.0]]), np.array([0.5, 2.0])
    found = mean_logistic(eta, variance)
    for s in range(2):
        for c in range(3):
            exact = quad(lambda x, s=s, c=c: expit(eta[s, c] + np.sqrt(variance[s]) * x) * norm.pdf(x), -9, 9)[0]
            np.testing.assert_allclose(found[s, c], exact, atol=2e-6)
    assert np.isfinite(mean_logistic(np.array([[700.0, -700.0]]), np.array([9.0]))).all()


def test_chance_of_equal_answers_by_simulation() -> None:
    """Catches effects in common that are drawn for each answer anew, and products over the wrong axis."""
    rng = np.random.default_rng(1)
    eta = np.array([[[0.5, -0.4, 1.2], [2.0, 2.0, 2.0]]])
    found = chance_alike(eta, np.array([1.2]), np.array([0.7]), outer=9, inner=7)[0]
    n = 200_000
    for t in range(2):
        common, own = 1.2 * rng.standard_normal((n, 1)), 0.7 * rng.standard_normal((n, 3))
        said = rng.random((n, 3)) < expit(eta[0, t] + common + own)
        alike = said.all(axis=1) | ~said.any(axis=1)
        assert abs(alike.mean() - found[t]) < 4 * np.sqrt(0.25 / n)
