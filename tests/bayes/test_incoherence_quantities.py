"""Quantities of incoherence by hand, by quadrature, and their rows."""

import arviz
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from analysis.bayes.incoherence_data import ROUNDING
from analysis.bayes.incoherence_priors import IncoherencePriors, log_prior, prior_draws, prior_predictive
from analysis.bayes.incoherence_quantities import instance_quantities, mean_share, population_quantities
from analysis.bayes.incoherence_summary import bayes_factor, contrast_rows, decision, hdi, quantity_rows
from analysis.errors import AnalysisError


def test_instances_by_hand() -> None:
    """Means 0, .3, -.1, .2: mean .1, mean square .035, variance .025. Catches n - 1, or a missing root."""
    mu = np.array([0.0, 0.3, -0.1, 0.2])
    found = instance_quantities(mu, np.array([0.04, 0.09, 0.01, 0.02]), mu != 0)
    assert found["persistent"] == pytest.approx(np.sqrt(0.035))
    assert found["direction"] == pytest.approx(0.1)
    assert found["spread"] == pytest.approx(np.sqrt(0.025))
    assert found["noise"] == pytest.approx(0.2)
    assert found["incoherent_share"] == 0.75


def test_population_by_quadrature() -> None:
    """Catches a share taken at the mean noise instead of averaged over it, or a spread without the spike."""
    hyper = {name: np.array(x) for name, x in {"delta": 0.1, "tau": 0.4, "a": -1.0, "b": 2.0}.items()}
    share = quad(lambda h: expit(-1 + 2 * h) * norm.pdf(h), -9, 9)[0]
    found = population_quantities(hyper)
    assert mean_share(-1.0, 2.0) == pytest.approx(share, abs=1e-6)
    assert found["persistent"] == pytest.approx(np.sqrt(share * 0.17), abs=1e-6)
    assert found["direction"] == pytest.approx(share * 0.1, abs=1e-6)
    assert found["spread"] ** 2 + found["direction"] ** 2 == pytest.approx(found["persistent"] ** 2)
    normal = population_quantities({"delta": np.array(0.3), "tau": np.array(0.4)})
    assert normal["persistent"] == pytest.approx(0.5)
    assert "incoherent_share" not in normal


def test_prior_draws_have_the_population_that_their_hyper_parameters_state() -> None:
    """Catches a simulator whose slab, link or shared part differs from the formulas that summarise it."""
    paired = np.ones(4000, bool)
    one = prior_draws(
        IncoherencePriors(), np.random.default_rng(8), unit_at=np.arange(4000) // 2, paired=paired, draws=6
    )
    stated = population_quantities(one.hyper)
    found = instance_quantities(one.mu, one.variance, one.incoherent)
    for name in ("persistent", "direction", "incoherent_share"):
        np.testing.assert_allclose(found[name], stated[name], rtol=0.1, atol=0.02)
    both = one.incoherent.reshape(6, 2000, 2).all(axis=2)
    pairs = one.mu.reshape(6, 2000, 2)
    for s in range(6):
        away = (pairs[s][both[s]] - one.hyper["delta"][s]) / one.hyper["tau"][s]
        if len(away) > 500:
            assert away.prod(axis=1).mean() == pytest.approx(one.hyper["rho"][s], abs=0.12)
    assert (one.variance >= ROUNDING**2).all()


def test_prior_probability_of_presence_is_even() -> None:
    """Priors chosen so that .10 is as likely as not; catches scales of other priors (.92 with wider ones)."""
    found = prior_predictive(
        IncoherencePriors(), np.random.default_rng(1), unit_at=np.zeros(83, np.int64), paired=np.zeros(83, bool)
    )
    assert found.p_present_population == pytest.approx(0.52, abs=0.02)
    assert 0.4 < found.p_present < 0.6
    assert list(found.these) == sorted(found.these)
    wide = IncoherencePriors(lean_sd=0.3, slab_scale=0.75, share_mean=-0.5)
    found = prior_predictive(wide, np.random.default_rng(1), unit_at=np.zeros(83, np.int64), paired=np.zeros(83, bool))
    assert found.p_present_population == pytest.approx(0.92, abs=0.02)


def test_log_prior_is_that_of_scipy() -> None:
    """Catches a scale or a location exchanged between parameters."""
    p = IncoherencePriors()
    points = [
        {"delta": 0.05, "tau": 0.2, "a": -1.0, "b": 0.4, "l": -1.2, "omega": 0.7, "rho": 0.3},
        {"delta": -0.1, "tau": 0.6, "a": 0.5, "b": -1.0, "l": -2.2, "omega": 1.9, "rho": 0.8},
    ]

    def exact(x: dict[str, float]) -> float:
        normal = norm.logpdf(x["delta"], 0, 0.1) + norm.logpdf(x["a"], -2, 1.5) + norm.logpdf(x["b"], 0, 1.5)
        half = norm.logpdf(x["tau"], 0, 0.375) + norm.logpdf(x["omega"], 0, 1)
        return normal + half + norm.logpdf(x["l"], np.log(0.2), 1) + np.log(x["rho"] * (1 - x["rho"]))

    found = [float(log_prior({name: np.array(v) for name, v in x.items()}, p)) for x in points]
    assert found[0] - found[1] == pytest.approx(exact(points[0]) - exact(points[1]))


def test_priors_that_are_no_scales_are_refused() -> None:
    """Catches a negative scale that a half-normal prior would take silently."""
    with pytest.raises(AnalysisError, match="slab_scale"):
        IncoherencePriors(slab_scale=0.0)
    with pytest.raises(AnalysisError, match="share_mean"):
        IncoherencePriors(share_mean=np.nan)


def test_hdi_is_that_of_arviz() -> None:
    """Catches equal tails passed off as a highest density interval."""
    draws = np.random.default_rng(3).exponential(size=(4000, 1))
    low, high = hdi(draws, ci_level=0.95)
    np.testing.assert_allclose([low[0], high[0]], arviz.hdi(draws[:, 0], prob=0.95), atol=0.02)
    assert low[0] < 0.02


def test_rows_of_known_draws() -> None:
    """Catches an upper bound at the two-sided level, or a probability of the wrong event."""
    rng = np.random.default_rng(4)
    draws = np.stack([np.abs(rng.normal(0.1, 0.05, (4, 1000))), rng.normal(-0.02, 0.01, (4, 1000))], axis=-1)
    keys = pd.DataFrame({"measure": ["persistent", "direction"], "target": "these"})
    rows = quantity_rows(keys, draws, ci_level=0.9)
    flat = draws.reshape(-1, 2)
    assert rows.loc[0, "upper_bound"] == pytest.approx(np.quantile(flat[:, 0], 0.9))
    assert rows.loc[0, "ci_high"] == pytest.approx(np.quantile(flat[:, 0], 0.95))
    assert rows.loc[0, "p_present"] == pytest.approx((flat[:, 0] > 0.1).mean())
    assert rows.loc[1, "p_direction"] == pytest.approx((flat[:, 1] < 0).mean())
    assert np.isnan(rows.loc[1, "p_present"])
    assert (rows["reason"] == "").all()


def test_a_quantity_that_never_moves_says_so() -> None:
    """Catches NaN diagnostics without a reason."""
    rows = quantity_rows(pd.DataFrame({"measure": ["persistent"]}), np.zeros((4, 100, 1)), ci_level=0.95)
    assert rows.loc[0, "reason"] != ""
    assert rows.loc[0, ["estimate", "ci_low", "ci_high", "p_present"]].tolist() == [0, 0, 0, 0]


def test_contrasts_decide_by_probability_beyond_or_within_the_rope() -> None:
    """Catches a decision by whether the interval holds 0."""
    rng = np.random.default_rng(5)
    centres, sds = np.array([0.2, 0.0, 0.04, 0.03]), np.array([0.05, 0.01, 0.03, 0.005])
    draws = rng.normal(centres, sds, size=(4, 1000, 4))
    rows = contrast_rows(pd.DataFrame({"measure": ["persistent"] * 4}), draws, ci_level=0.95)
    assert rows["decision"].tolist() == ["difference", "equivalent", "undecided", "equivalent"]
    assert rows.loc[3, "ci_low"] > 0


def test_bayes_factor_is_bounded_by_the_draws() -> None:
    """Prior even: odds are the factor. Catches infinity or 0 where all draws agree."""
    assert bayes_factor(0.5, 0.75, 1000) == (pytest.approx(3.0), "")
    assert bayes_factor(0.8, 0.8, 1000) == (pytest.approx(1.0), "")
    assert bayes_factor(0.5, 1.0, 999) == (pytest.approx(999.0), "at least")
    assert bayes_factor(0.5, 0.0, 999) == (pytest.approx(1 / 999), "at most")


def test_decision_needs_ninety_five_per_cent() -> None:
    """Catches a decision at one half."""
    found = decision(np.array([0.96, 0.94, 0.5, 0.04, np.nan]))
    assert found.tolist() == ["above", "undecided", "undecided", "below", ""]
