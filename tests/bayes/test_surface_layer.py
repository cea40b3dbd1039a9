"""The layer of estimates by unit: log-odds, moderated covariances, and what it leaves undefined."""

import numpy as np
import pytest
from scipy.special import expit

from analysis.bayes.attempt import NO_COVARIANCE
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.models.surface_layer import ClusterEstimates, estimated_log_odds, surface_layer_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.result import UNITS
from analysis.bayes.sampling import SamplerSettings
from analysis.errors import AnalysisError
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES
from tests.bayes.designs import gold_design


def clusters(
    rate: np.ndarray, effects: np.ndarray, *, df: float = 79.0, rows: float = 100.0, correlation: float = 0.0
) -> ClusterEstimates:
    """Accuracies (M, C) with design effects (M, C) and one correlation between cells."""
    rate, effects = np.asarray(rate, float), np.asarray(effects, float)
    smooth = (rate * rows + 0.5) / (rows + 1)
    sd = np.sqrt(effects * smooth * (1 - smooth) / rows)
    shape = np.full((rate.shape[1],) * 2, correlation) + (1 - correlation) * np.eye(rate.shape[1])
    return ClusterEstimates(
        models=tuple(f"m{i}" for i in range(len(rate))),
        names=FOUR_CELLS if rate.shape[1] == 4 else TWO_CLASSES,
        estimate=rate,
        covariance=sd[:, :, None] * sd[:, None, :] * shape,
        df=np.full(len(rate), df),
        units=np.full(rate.shape, df + 1),
        rows=np.full(rate.shape, rows),
    )


def test_log_odds_and_variance_by_hand() -> None:
    """Catches halves that are added to effective numbers: 100 of 100 right is log(100.5 / .5) = 5.303.

    With a design effect of 1 everywhere the variance is that of independent responses, 1 / (101 p' (1 - p')).
    """
    found = estimated_log_odds(clusters([[1.0, 0.7], [0.5, 0.6]], np.ones((2, 2))))
    assert found.log_odds[0, 0] == pytest.approx(np.log(100.5 / 0.5))
    smooth = 70.5 / 101
    assert found.covariance[0, 1, 1] == pytest.approx(1 / (101 * smooth * (1 - smooth)))
    assert found.covariance[0, 0, 1] == 0.0


def test_few_units_borrow_the_design_effects_of_the_other_models() -> None:
    """Catches covariances of a handful of units that are taken at their word: with equal effects up to chance,
    a model whose units happen not to vary gets nearly the mean of the others."""
    rng = np.random.default_rng(5)
    effects = 3.0 * rng.chisquare(4, (8, 4)) / 4
    effects[0] = 0.0
    found = estimated_log_odds(clusters(np.full((8, 4), 0.6), effects, df=4.0))
    own = np.diagonal(found.covariance, axis1=1, axis2=2) * 101 * (60.5 / 101) * (40.5 / 101)
    assert own[0].min() > 1.5
    assert found.df[0] > 20
    assert own.max() < effects.max()


def test_models_that_differ_keep_their_own_design_effects() -> None:
    """Catches one design effect for all: with 79 degrees of freedom, effects of 1 and 16 are no chance."""
    effects = np.repeat([[1.0], [16.0], [1.0], [16.0]], 4, axis=1)
    found = estimated_log_odds(clusters(np.full((4, 4), 0.6), effects))
    own = np.diagonal(found.covariance, axis1=1, axis2=2) * 101 * (60.5 / 101) * (40.5 / 101)
    np.testing.assert_allclose(own[0], 1.0, atol=0.5)
    np.testing.assert_allclose(own[1], 16.0, atol=0.8)
    assert found.df[0] < 85


@pytest.mark.parametrize("correlation", [-0.33, 0.0, 1.0])
def test_covariances_are_invertible(correlation: float) -> None:
    """Catches a singular matrix where units tie cells to each other, or where none of any model deviates."""
    rate, effects = np.full((2, 4), 0.8), np.array([[2.0] * 4, [0.0] * 4])
    found = estimated_log_odds(clusters(rate, effects, df=3.0, correlation=correlation))
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()
    still = estimated_log_odds(clusters(np.ones((2, 4)), np.zeros((2, 4)), df=3.0))
    assert (np.linalg.eigvalsh(still.covariance) > 0).all()


def test_columns_map_cells_to_coefficients_one_to_one() -> None:
    """Catches a sign: always Yes has accuracy 1 where Yes is right, so leaning alone lifts VA and IN."""
    arrays = surface_layer_arrays(clusters(np.full((2, 4), 0.6), np.ones((2, 4))), Priors())
    matrix = np.zeros((4, 4))
    np.add.at(matrix, (np.arange(4)[:, None], arrays.column), arrays.value)
    assert abs(np.linalg.det(matrix)) == pytest.approx(16.0)
    np.testing.assert_array_equal(expit(matrix @ [9, 0, 0, 0]) > 0.5, [True, False, False, True])
    np.testing.assert_array_equal(expit(matrix @ [0, 9, 0, 0]) > 0.5, [True] * 4)


def test_wrong_shapes_are_named() -> None:
    """Catches estimates that are read along the wrong axis."""
    good = clusters(np.full((2, 4), 0.6), np.ones((2, 4)))
    with pytest.raises(AnalysisError, match="wrong shape of df"):
        ClusterEstimates(good.models, good.names, good.estimate, good.covariance, np.ones(3), good.units, good.rows)


def test_precise_estimates_are_returned_and_undefined_ones_have_a_reason() -> None:
    """Catches shrinkage of what 40,000 responses say, and a model without units that gets the mean of the others."""
    facets = gold_design({"m0": (0.9, 0.4), "m1": (0.6, 0.7), "m2": (0.5, 0.5)}, n=100)
    precise = clusters([[0.9, 0.4], [0.6, 0.7], [0.5, 0.5]], np.full((3, 2), 2.0), rows=40_000.0)
    covariance = precise.covariance.copy()
    covariance[2] = np.nan
    units = ClusterEstimates(
        precise.models, precise.names, precise.estimate, covariance, precise.df, precise.units, precise.rows
    )
    settings = SamplerSettings(chains=2, draws=200, tune=100, cores=1, fast=True)
    fit = fit_answer_bias(facets, clusters=units, settings=settings, treatments=("incorrect",))
    rows = fit.table[fit.table["likelihood"] == UNITS].set_index(["model", "measure"])
    assert rows.loc[("m0", "acc_yes"), "estimate"] == pytest.approx(0.9, abs=0.003)
    assert rows.loc[("m1", "answer_bias"), "estimate"] == pytest.approx(-0.1, abs=0.005)
    assert (rows.loc["m2", "reason"] == NO_COVARIANCE).all()
    assert fit.glance["headline"] == UNITS
    assert rows["headline"].all()
