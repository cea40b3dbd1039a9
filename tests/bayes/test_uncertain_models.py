"""Accounts of uncertain answers: probabilities, fits, and which account predicts units that were left out."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from analysis.bayes.models.uncertain_answers import MODELS, UncertainModel
from analysis.bayes.uncertain_fit import UncertainFit, _log_predictive, _mode, fit_uncertain, left_out
from analysis.bayes.uncertain_rows import compare_uncertain, why_not_compared
from analysis.measures.yes_no_bias import FOUR_CELLS

SIGNS = np.array([[1, 1, 1, 1], [1, -1, -1, 1], [1, -1, 1, -1], [1, 1, -1, -1]], float)
BY_NAME = {model.name: model for model in MODELS}


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_probabilities_and_their_derivatives(model: UncertainModel) -> None:
    """Catches outcomes in another order, probabilities that do not sum to 1, and derivatives by finite differences."""
    rng = np.random.default_rng(1)
    eta, alpha, h = rng.normal(size=40) * 3, rng.normal(size=40), 1e-6
    p, slopes = model.probabilities(eta, alpha)
    np.testing.assert_allclose(p.sum(axis=-1), 1.0, atol=1e-12)
    for at, (d_eta, d_alpha) in enumerate([(h, 0.0), (0.0, h)]):
        up, down = (model.probabilities(eta + s * d_eta, alpha + s * d_alpha)[0] for s in (1, -1))
        np.testing.assert_allclose(slopes[..., at], (up - down) / (2 * h), atol=1e-8)
    mirrored = model.probabilities(-eta, alpha)[0]
    np.testing.assert_allclose(mirrored, p[..., [1, 0, 2]], atol=1e-12, err_msg="Yes and No are alike")


def test_known_probabilities() -> None:
    """Catches another link: values by hand. Softmax at eta 2 log 2, a 0 is 2 : 1 : 1/2; criteria at -1 and 1 leave
    .6827 between them."""
    softmax = BY_NAME["softmax"].probabilities(np.array(2 * np.log(2.0)), np.array(0.0))[0]
    np.testing.assert_allclose(softmax, np.array([2, 0.5, 1]) / 3.5)
    detection = BY_NAME["signal detection"].probabilities(np.array(0.0), np.array(0.0))[0]
    np.testing.assert_allclose(detection, [norm.sf(1), norm.sf(1), 1 - 2 * norm.sf(1)])
    stages = BY_NAME["two stages"].probabilities(np.array(np.log(3.0)), np.array(np.log(4.0)))[0]
    np.testing.assert_allclose(stages, [0.6, 0.2, 0.2])


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_the_mode_is_that_of_an_independent_optimiser(model: UncertainModel) -> None:
    """Catches a scoring step that settles elsewhere: scipy minimises the same penalised likelihood."""
    rng = np.random.default_rng(2)
    size = 8 if model.by_cell else 5
    counts = rng.multinomial(50, [0.5, 0.3, 0.2], size=(2, 4)).astype(float)
    at = UncertainFit(np.zeros((2, size)), np.eye(size), rng.normal(size=size) * 0.3, np.full(size, 0.8), False)
    found, precision, settled = _mode(model, counts, SIGNS, at)
    assert settled
    for m in range(2):

        def loss(b: np.ndarray, m: int = m) -> float:
            alpha = SIGNS @ b[4:] if model.by_cell else np.full(4, b[4])
            p = model.probabilities(SIGNS @ b[:4], alpha)[0]
            return float(-(counts[m] * np.log(p)).sum() + 0.5 * (((b - at.mean) / at.sd) ** 2).sum())

        best = minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-6})
        np.testing.assert_allclose(found[m], best.x, atol=2e-4)
    assert (np.linalg.eigvalsh(precision) > 0).all()


def test_the_predictive_density_integrates_the_coefficients() -> None:
    """Catches the density at the mode passed off as predictive: one coefficient matters, by scipy's quadrature."""
    model = BY_NAME["two stages"]
    fit = UncertainFit(np.array([[0.3, 2.0]]), np.diag([4.0, 1e8])[None], np.zeros(2), np.ones(2), True)
    counts = np.array([[[[6.0, 1.0, 1.0]]], [[[1.0, 7.0, 0.0]]]])
    found, error = _log_predictive(model, fit, counts, np.ones((1, 1)), np.random.default_rng(3))

    def density(b: float, k: np.ndarray) -> float:
        p = model.probabilities(np.array(b), np.array(2.0))[0]
        return float(np.exp((k * np.log(p)).sum()) * norm.pdf(b, 0.3, 0.5))

    for at in range(2):
        exact = np.log(quad(density, -4, 5, args=(counts[at, 0, 0],))[0])
        assert found[at] == pytest.approx(exact, abs=4 * error[at] + 1e-3)


def test_means_and_spreads_between_models_are_recovered() -> None:
    """Catches an sd that leaves out the uncertainty of the coefficients, or means of other columns."""
    rng = np.random.default_rng(4)
    model, mean, sd = (
        BY_NAME["signal detection"],
        np.array([0.3, 1.0, 0.1, 0.2, -1.0]),
        np.array([0.6, 0.4, 0.2, 0.3, 0.3]),
    )
    b = mean + sd * rng.normal(size=(60, 5))
    p = model.probabilities(b[:, :4] @ SIGNS.T, np.repeat(b[:, 4:], 4, axis=1))[0]
    fit = fit_uncertain(model, rng.multinomial(150, p).astype(float), SIGNS)
    assert fit.settled
    np.testing.assert_allclose(fit.mean, mean, atol=4 * 0.6 / np.sqrt(60))
    np.testing.assert_allclose(fit.sd, sd, rtol=0.45)


def simulated(name: str, *, units: int = 30, models: int = 6, seed: int = 5) -> pd.DataFrame:
    """Counts by model, cell and unit from one of the accounts."""
    rng = np.random.default_rng(seed)
    b = np.array([0.4, 1.2, 0.2, 0.3]) + rng.normal(size=(models, 4)) * [0.6, 0.4, 0.2, 0.2]
    a = {"two stages": 1.4, "softmax": 0.0, "signal detection": -0.8}[name] + 0.2 * rng.normal(size=(models, 1))
    p = BY_NAME[name].probabilities(b @ SIGNS.T, np.repeat(a, 4, axis=1))[0]
    rows = []
    for u in range(units):
        drawn = rng.multinomial(12, p)
        for m in range(models):
            for c, cell in enumerate(FOUR_CELLS):
                yes, no, uncertain = drawn[m, c]
                right = yes if cell in ("VA", "IN") else no
                rows.append((f"m{m}", cell, f"u{u:02d}", yes + no, uncertain, right))
    return pd.DataFrame(rows, columns=["model", "cell", "unit", "n_answered", "n_uncertain", "n_correct"])


@pytest.mark.parametrize("name", ["two stages", "softmax", "signal detection"])
def test_the_account_that_made_the_data_predicts_best(name: str) -> None:
    """Catches outcomes, cells or units mixed up: of the accounts with one share, the true one wins, told apart from
    the others; the report's own, with free shares, is not better than it."""
    found = compare_uncertain(simulated(name)).set_index("account")
    assert found["elpd"].drop("two stages, by cell").idxmax() == name
    assert (found["reason"] == "").all()
    assert found.loc[name, "decision"] in ("better", "not told apart")
    assert (found["n"] == 30 * 6 * 4 * 12).all()


def test_two_models_by_cell_are_one_in_other_words() -> None:
    """Catches a constant left out of one likelihood: with shares free in every cell the accounts nearly coincide."""
    counts = np.random.default_rng(6).multinomial(40, [0.5, 0.3, 0.2], size=(20, 4, 4)).astype(float)
    fold = np.arange(20) % 5
    free = [
        UncertainModel("free", BY_NAME[name].probabilities, True)
        for name in ("two stages", "softmax", "signal detection")
    ]
    sums = [left_out(m, counts, SIGNS, fold, np.random.default_rng(7)).by_unit.sum() for m in free]
    assert max(sums) - min(sums) < 4


def test_designs_that_cannot_be_compared_say_why() -> None:
    """Catches a comparison over four units, or of a handful of uncertain answers."""
    rows = simulated("two stages", units=4)
    assert why_not_compared(rows) == "4 units to leave out, 5 are needed"
    assert why_not_compared(rows.assign(n_uncertain=0)).startswith("0 uncertain answers")
    assert why_not_compared(simulated("two stages", units=5)) == ""


def test_where_nearly_nothing_is_answered_there_is_nothing_to_compare() -> None:
    """Catches an account that "predicts worse" on logs in which every response is uncertain."""
    rows = simulated("two stages", units=8)
    silent = rows.assign(n_uncertain=rows["n_uncertain"] + rows["n_answered"], n_answered=0, n_correct=0)
    assert why_not_compared(silent) == "0 answers beside the uncertain ones, 20 are needed"


def test_a_model_without_answers_and_cells_not_asked_are_defined() -> None:
    """Catches 0 / 0 where a model never answered or was not asked a cell."""
    rows = simulated("two stages", units=8)
    silent = rows["model"] == "m0"
    rows.loc[silent, "n_uncertain"] += rows.loc[silent, "n_answered"]
    rows.loc[silent, ["n_answered", "n_correct"]] = 0
    rows = rows[~((rows["model"] == "m1") & (rows["cell"] == "IN"))]
    found = compare_uncertain(rows)
    assert np.isfinite(found["elpd"]).all()
    assert (found["reason"] == "").all()
