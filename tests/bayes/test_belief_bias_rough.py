"""The rough fit of the endorsement model, which the cost of sampling rests on, by independent means."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_rough import _COEFFICIENT, _EFFECT, rough_fit
from tests.bayes.endorsement_counts import small_counts


def test_mode_and_covariance_are_those_of_the_penalised_likelihood() -> None:
    """Catches steps that stop short, effects held fixed, and regressions on the wrong columns.

    Effects that were fitted first and held made contrasts of conditions -.2 to -.3 where they are 0.
    """
    design = belief_design(small_counts(np.random.default_rng(1)), conditions=("strategy",))
    rough = rough_fit(design)
    effect, columns, effects = design.effect, len(design.group), len(rough.of_effect)

    def surprise(point: np.ndarray) -> float:
        b, e = point[:columns], point[columns:]
        eta = e[effect] + rough.of_question @ b + design.of_configuration[:, design.side] @ b
        fit = (design.yes[0] * eta - design.answered[0] * np.logaddexp(0, eta)).sum()
        return float(-fit + (b @ b) / (2 * _COEFFICIENT) + ((e - rough.of_effect @ b) ** 2).sum() / (2 * _EFFECT))

    found = minimize(surprise, np.zeros(columns + effects), tol=1e-10)
    at, step = found.x, 1e-4
    b, variance = rough.about_coefficient[:, 0]
    np.testing.assert_allclose(b, at[:columns], atol=2e-4)
    rows = [
        (approx_fprime(at + step * own, surprise, 1e-4) - approx_fprime(at - step * own, surprise, 1e-4)) / (2 * step)
        for own in np.eye(columns + effects)
    ]
    covariance = np.linalg.inv(np.array(rows))[:columns, :columns]
    np.testing.assert_allclose(rough.variance[0], np.diag(covariance), rtol=0.02)
    for f in range(1, columns):
        by = np.linalg.solve(covariance[:f, :f], covariance[:f, f])
        np.testing.assert_allclose(rough.regression[0, f, :f], by, atol=0.03)
        assert variance[f] == pytest.approx(covariance[f, f] - covariance[f, :f] @ by, rel=0.03)
        assert (rough.regression[0, f, f:] == 0).all()
