"""Convergence diagnostics against ArviZ, and every gate failing on purpose."""

from collections.abc import Callable

import arviz
import numpy as np
import pandas as pd
import pytest

from analysis.bayes.diagnostics import (
    bfmi,
    ess_bulk,
    ess_quantile,
    ess_tail,
    mcse_mean,
    mcse_quantile,
    r_hat,
)
from analysis.bayes.gates import failures, missing_draws, quantity_gates, sampler_gates
from analysis.bayes.sampling import Draws, SamplerSettings, retry_accept, retry_settings, target_accept
from analysis.bayes.summaries import accuracy_table, quantity_summary


def chains(rng: np.random.Generator, rho: float = 0.5, *, shape: tuple[int, int, int] = (4, 300, 6)) -> np.ndarray:
    """Autoregressive chains with normal, skewed and discrete quantities."""
    noise = rng.normal(size=shape)
    x = np.empty(shape)
    x[:, 0] = noise[:, 0]
    for t in range(1, shape[1]):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    x[..., 1] = np.exp(x[..., 1])
    x[..., 2] = np.round(x[..., 2] * 2)
    return x


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.9])
def test_diagnostics_equal_arviz(rho: float) -> None:
    """Catches a wrong split, rank, fold, or truncation of the autocorrelations."""
    x = chains(np.random.default_rng(2), rho)
    expected = {
        "rhat": [float(arviz.rhat(x[..., i])) for i in range(6)],
        "bulk": [float(arviz.ess(x[..., i], method="bulk")) for i in range(6)],
        "tail": [float(arviz.ess(x[..., i], method="tail", prob=(0.05, 0.95))) for i in range(6)],
        "quantile": [float(arviz.ess(x[..., i], method="quantile", prob=0.025)) for i in range(6)],
        "mcse": [float(arviz.mcse(x[..., i], method="mean")) for i in range(6)],
        "mcse_q": [float(arviz.mcse(x[..., i], method="quantile", prob=0.975)) for i in range(6)],
    }
    np.testing.assert_allclose(r_hat(x), expected["rhat"], rtol=1e-9)
    np.testing.assert_allclose(ess_bulk(x), expected["bulk"], rtol=1e-6)
    np.testing.assert_allclose(ess_tail(x), expected["tail"], rtol=1e-6)
    np.testing.assert_allclose(ess_quantile(x, 0.025), expected["quantile"], rtol=1e-6)
    np.testing.assert_allclose(mcse_mean(x), expected["mcse"], rtol=1e-6)
    np.testing.assert_allclose(mcse_quantile(x, 0.975), expected["mcse_q"], rtol=1e-6)


def test_chains_of_different_spread_fail_only_folded() -> None:
    """Catches R-hat without its folded part, which passes chains that agree in location alone."""
    x = np.random.default_rng(4).normal(size=(4, 500, 1))
    x[0] *= 3
    assert r_hat(x)[0] > 1.05


def test_constant_quantity_has_no_diagnostics() -> None:
    """Catches a stuck quantity that passes as converged."""
    x = np.ones((4, 100, 1))
    assert np.isnan(ess_bulk(x)[0])
    assert not quantity_gates(_table(r_hat=float(r_hat(x)[0])))[0].passed


def _draws(**changed: object) -> Draws:
    rng = np.random.default_rng(5)
    values: dict[str, object] = {
        "z": rng.normal(size=(4, 200, 2)),
        "diverging": np.zeros((4, 200), bool),
        "depth": np.full((4, 200), 4),
        "energy": rng.normal(size=(4, 200)),
        "steps": 15.0,
        "max_depth": 10,
    }
    return Draws(**{**values, **changed})


def _table(**changed: float) -> pd.DataFrame:
    good = {
        "model": "a",
        "measure": "answer_bias",
        "ci_low": 0.0,
        "ci_high": 0.2,
        "posterior_sd": 0.05,
        "r_hat": 1.001,
        "ess_bulk": 900.0,
        "ess_tail": 900.0,
        "mcse_probability": 0.005,
        "mcse_share": 0.01,
    }
    return pd.DataFrame([good, {**good, "model": "worst", **changed}])


def test_good_fit_passes_every_gate() -> None:
    """Catches a gate that nothing can pass."""
    gates = (*sampler_gates(_draws(), stage="yes"), *quantity_gates(_table()))
    assert failures(gates) == ""
    assert len(gates) == 8


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"r_hat": 1.011}, "R-hat"),
        ({"r_hat": np.nan}, "R-hat"),
        ({"ess_bulk": 399.0}, "bulk ESS"),
        ({"ess_tail": 399.0}, "tail ESS"),
        ({"mcse_probability": 0.011}, "MCSE of a probability"),
        ({"mcse_share": 0.051}, "MCSE of an interval end / width"),
    ],
)
def test_each_quantity_gate_fails(changed: dict[str, float], name: str) -> None:
    """Catches a gate that passes everything, or that names the wrong row."""
    failed = [gate for gate in quantity_gates(_table(**changed)) if not gate.passed]
    assert [gate.name for gate in failed] == [name]
    assert failed[0].where.endswith("worst")


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"diverging": np.eye(4, 200, dtype=bool)}, "divergences"),
        ({"energy": np.cumsum(np.random.default_rng(1).normal(size=(4, 200)), axis=1)}, "BFMI"),
        ({"depth": np.where(np.arange(200) < 3, 10, 4) + np.zeros((4, 1), int)}, "tree depth saturation"),
    ],
)
def test_each_sampler_gate_fails(changed: dict[str, object], name: str) -> None:
    """Catches a sampler gate that passes everything."""
    failed = [gate for gate in sampler_gates(_draws(**changed), stage="yes") if not gate.passed]
    assert [gate.name for gate in failed] == [name]


def test_energy_of_independent_draws() -> None:
    """Independent energies have BFMI near 2: E (a - b)^2 / Var = 2."""
    assert bfmi(np.random.default_rng(8).normal(size=(1, 50_000)))[0] == pytest.approx(2.0, abs=0.05)


def _share(draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray], size: tuple[int, int]) -> np.ndarray:
    """``mcse_share`` of the accuracy where Yes is right over 40 simulated fits of independent draws."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        accuracy = np.stack([draw(rng, size), rng.beta(30, 20, size)], axis=-1)[:, :, None]
        table = accuracy_table(accuracy, ("a",), ("gold_yes", "gold_no"))
        found.append(table.set_index("measure").loc["acc_yes", "mcse_share"])
    return np.array(found)


def test_end_error_in_the_middle_is_that_of_the_width() -> None:
    """Catches a log-odds scale that makes the gate laxer where posteriors are near normal.

    By hand: sqrt(.025 * .975 / 4000) / .0584 / 3.92 = .0108 for one end; the worse of two ends is a little more.
    """
    share = _share(lambda rng, size: rng.beta(60, 40, size), (4, 1000))
    assert share.mean() == pytest.approx(0.0125, abs=0.002)


def test_end_error_of_independent_draws_at_the_boundary_passes() -> None:
    """Catches a gate that a perfect sampler fails: 4,000 independent draws near 1, most of them equal to 1."""
    share = _share(lambda rng, size: rng.beta(20.0, 0.05, size), (4, 1000))
    assert (share < 0.05).all()


@pytest.mark.parametrize(("upper", "lower"), [(60, 40), (20, 0.5), (20, 0.05)])
def test_end_error_of_few_draws_fails(upper: float, lower: float) -> None:
    """Catches a gate that passes whatever lies near a boundary: 40 independent draws fail in most fits."""
    assert (_share(lambda rng, size: rng.beta(upper, lower, size), (4, 10)) > 0.05).mean() > 0.5


def test_end_within_half_a_printed_digit_passes() -> None:
    """Catches a relative gate on an interval that prints as 1.000 to 1.000."""
    assert (_share(lambda rng, size: 1 - 1e-4 * rng.random(size) ** 8, (4, 100)) < 0.05).all()


def test_quantile_on_an_atom_has_an_error() -> None:
    """Catches a missing Monte-Carlo error where more draws than the tail equal the largest value."""
    x = np.minimum(np.random.default_rng(2).normal(size=(4, 200, 1)), 1.0)
    assert mcse_quantile(x, 0.975)[0] == 0.0
    assert np.isfinite(ess_quantile(x, 0.975)[0])


def test_retry_has_the_draws_that_the_gates_ask_for() -> None:
    """Catches a retry that must fail again: an error of twice its limit needs four times the draws."""
    gates = pd.DataFrame(
        {
            "name": ["bulk ESS", "MCSE of a probability", "divergences"],
            "value": [300.0, 0.015, 3.0],
            "limit": [400.0, 0.01, 0.0],
        }
    )
    assert missing_draws(gates) == pytest.approx(2.25)
    assert missing_draws(gates.iloc[[2]]) == 1.0
    settings = SamplerSettings(draws=100)
    assert retry_settings(settings, careful=False, missing=2.25).draws == 400
    assert retry_settings(settings, careful=False, missing=50.0).draws == 400
    assert retry_settings(settings, careful=True).draws == 200
    assert retry_settings(settings, careful=True).target_accept == 0.99
    assert retry_settings(settings, careful=True, accept=retry_accept(2)).target_accept == 0.999
    assert retry_settings(settings, careful=True, accept=retry_accept(29)).target_accept == 0.99
    assert [target_accept(settings, 90, models) for models in (1, 2, 29)] == [0.95, 0.99, 0.95]
    assert target_accept(settings, 900, 29) == 0.8


def test_quick_look_is_gated_on_convergence_alone() -> None:
    """Catches a quick look that few draws always fail, and one that nothing fails."""
    few = {"ess_bulk": 90.0, "ess_tail": 80.0, "mcse_probability": 0.03, "mcse_share": 0.2}
    assert failures(quantity_gates(_table(r_hat=1.04, **few), fast=True)) == ""
    assert "R-hat 1.06" in failures(quantity_gates(_table(r_hat=1.06, **few), fast=True))


def test_draws_that_are_all_the_same_have_no_error_of_an_interval():
    """Catches an infinite share in the data of a report, of a rank that is the same in every draw."""
    draws = np.stack([np.full((4, 250), 3.0), np.random.default_rng(0).random((4, 250))], axis=-1)
    keys = pd.DataFrame({"measure": ["floor_rank", "accuracy"], "scale": ["rank", "probability"]})
    found = quantity_summary(draws, keys, ci_level=0.95)["mcse_share"]
    assert np.isnan(found[0])
    assert 0 < found[1] < 1
