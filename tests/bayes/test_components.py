"""Standard deviations of the answer-bias model and their shares of the variance."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from analysis.bayes.component_layout import Component, fewest_templates, stage_components, stage_groups
from analysis.bayes.components import TOGETHER, VarianceComponents, variance_components
from analysis.bayes.design_matrix import count_design
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.models.answer_bias import dense, stage_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.residual_spread import equivalent_sd
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings
from analysis.errors import AnalysisError
from tests.bayes.designs import gold_design, template_design

THREE = {"a": (0.8, 0.6), "b": (0.7, 0.5), "c": (0.6, 0.7)}


def fit_with(hyper: np.ndarray, *, fast: bool = False) -> AnswerBiasFit:
    """A fit that holds nothing but draws of the hyper-parameters of the stage ``yes``."""
    nothing = pd.DataFrame()
    return AnswerBiasFit(
        "gold",
        "ok",
        "",
        nothing,
        nothing,
        {"fast": fast},
        nothing,
        nothing,
        nothing,
        nothing,
        (),
        {"hyper: yes": hyper},
    )


def noisy(values: list[float], *, draws: int = 500, spread: float = 0.01) -> np.ndarray:
    """Independent draws (4, draws, H) near some values."""
    return np.array(values) + spread * np.random.default_rng(1).normal(size=(4, draws, len(values)))


def row_of(found: VarianceComponents, **where: str) -> pd.Series:
    table = found.table
    for name, value in where.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_shares_by_hand() -> None:
    """Catches sds for variances, a residual left out, and terms mixed up: .8 and .6 are .64 and .36 of the variance."""
    found = variance_components(fit_with(noisy([0.1, 1.0, np.log(0.8), np.log(0.6)])), gold_design(THREE))
    leaning, skill = row_of(found, term="yes"), row_of(found, term="sensitivity")
    assert leaning["estimate"] == pytest.approx(0.8, abs=0.01)
    assert skill["estimate"] == pytest.approx(0.6, abs=0.01)
    assert leaning["share"] == pytest.approx(0.64, abs=0.01)
    assert skill["share"] == pytest.approx(0.36, abs=0.01)
    assert leaning["ci_low"] < leaning["estimate"] < leaning["upper_bound"] < leaning["ci_high"] + 0.01
    assert TOGETHER not in set(found.table["term"]), "the terms of the only factor are all there is"


def test_chains_that_disagree_are_blank_with_the_reason() -> None:
    """Catches numbers of an sd that did not converge, printed because the fit's reported accuracies did."""
    hyper = noisy([0.1, 1.0, np.log(0.8), np.log(0.6)])
    hyper[0, :, 3] += 1.0
    found = variance_components(fit_with(hyper), gold_design(THREE))
    bad = row_of(found, term="sensitivity")
    assert np.isnan(bad["estimate"])
    assert np.isnan(bad["share"])
    assert bad["reason"].startswith("MCMC: R-hat")
    second = found.second[found.second["term"] == "sensitivity"].iloc[0]
    assert np.isnan(second["second_estimate"])
    assert second["reason"] == bad["reason"]


def test_three_models_are_few_and_get_a_second_prior() -> None:
    """Catches a second prior that replaces that of all sds at once, or whose sd does not widen."""
    wide = noisy([0.1, 1.0, np.log(1.5), np.log(0.6)], draws=1000, spread=0.25)
    found = variance_components(fit_with(wide), gold_design(THREE))
    assert list(found.second["term"]) == ["yes", "sensitivity"]
    assert (found.second["second_scale"] == 2 * found.second["prior_scale"]).all()
    assert found.second["second_estimate"].iloc[0] > 1.02 * found.second["estimate"].iloc[0]
    # exp(3/8 sd^2 / 2^2) for draws of sd = 1.5 exp(.25 z): the weighted median by independent integration.
    weight = lambda z: norm.pdf(z) * np.exp(0.375 * (1.5 * np.exp(0.25 * z) / 2.0) ** 2)  # noqa: E731
    total = quad(weight, -6, 5)[0]
    middle = found.second.loc[found.second["term"] == "yes", "second_estimate"].iloc[0]
    assert quad(weight, -6, np.log(middle / 1.5) / 0.25)[0] / total == pytest.approx(0.5, abs=0.03)


def test_many_models_have_no_second_prior() -> None:
    """Catches a second table where the first prior hardly matters."""
    rates = {f"m{i}": (0.5 + 0.02 * i, 0.6) for i in range(9)}
    found = variance_components(fit_with(noisy([0.1, 1.0, -0.2, -0.5])), gold_design(rates))
    assert found.second.empty
    assert len(found.table) == 2


def test_one_model_without_factors_has_no_components() -> None:
    """Catches a crash, or an sd between models of a single model."""
    found = variance_components(fit_with(noisy([0.1])[..., :0]), gold_design({"a": (0.8, 0.6)}))
    assert found.table.empty
    assert found.second.empty


def test_a_stage_without_a_response_has_no_components() -> None:
    """Catches shares of 0 / 0 and a probability of 0 that a standard deviation is present, where nobody answered."""
    counts = gold_design(THREE).assign(n_answered=0, n_correct=0, n_uncertain=100)
    found = variance_components(fit_with(noisy([0.1, 1.0, np.log(0.8), np.log(0.6)])), counts)
    assert found.table.empty
    assert found.second.empty


def test_a_fit_of_other_counts_is_refused() -> None:
    """Catches sds read from the wrong hyper-parameters."""
    with pytest.raises(AnalysisError, match="not made from these counts"):
        variance_components(fit_with(noisy([0.1] * 7)), gold_design(THREE))


def test_components_hold_all_the_variance() -> None:
    """Catches a component left out, counted twice, or on the wrong hyper-parameter: coefficients are simulated from
    the priors given random standard deviations, and the variance of the cells is compared."""
    rng = np.random.default_rng(6)
    table = template_design(rng, models=5, templates=6, forms=3)
    # Forms and templates asked with one polarity have fewer columns.
    table = table[~((table["template"] == "t00") & table["cell"].isin(["VN", "IN"]))]
    design = count_design(table)
    arrays = stage_arrays(design, Priors(), stage="yes")
    components = stage_components(arrays, stage_groups(design, "yes"), "yes", fewest=fewest_templates(design))
    hyper = np.where(arrays.is_log_sd, rng.uniform(-1.5, 0.5, len(arrays.is_log_sd)), 0.0)
    means = np.zeros((20_000, len(arrays.group)))
    for column, at in enumerate(arrays.mean_at):
        if arrays.prior_sd_at[at] >= 0:
            means[:, column] = rng.normal(size=len(means)) * np.exp(hyper[arrays.prior_sd_at[at]])
    coefficients = means + rng.normal(size=means.shape) * np.exp(hyper[arrays.log_sd_at[arrays.group]])
    simulated = (coefficients @ dense(arrays).T).var(axis=0).mean()
    stated = sum(np.exp(2 * hyper[c.at]) * c.mean_square for c in components if not c.concentration)
    assert simulated == pytest.approx(stated, rel=0.02)
    assert {c.at for c in components} == set(np.flatnonzero(arrays.is_log_sd)) | {arrays.log_phi_at}


def test_the_components_of_a_design_and_their_priors() -> None:
    """Catches an sd under the name or the prior of another, and few templates of a class that go unnoticed."""
    design = count_design(template_design(np.random.default_rng(6), models=5, templates=12, forms=3))
    arrays = stage_arrays(design, Priors(template_sd=0.7, model_form_sd=0.3), stage="yes")
    found: dict[tuple[str, str, str], Component] = {
        (c.factor, c.between, c.term): c
        for c in stage_components(arrays, stage_groups(design, "yes"), "yes", fewest=fewest_templates(design))
    }
    assert len(found) == 4 + 2 * 2 + 2 * 4 + 1
    template = found["template", "levels", "polarity"]
    assert (template.prior, template.scale, template.n_levels, template.fewest) == (
        "template_sd",
        pytest.approx(0.7),
        12,
        3,
    )
    form = found["form", "models", "validity"]
    assert (form.prior, form.scale, form.n_levels) == ("model_form_sd", pytest.approx(0.3), 15)
    assert found["residual", "cells", "residual"].prior == "concentration_sd"
    assert found["model", "models", "sensitivity"].prior == "sensitivity_sd"


@pytest.mark.parametrize("phi", [0.05, 0.5, 4.0, 60.0, 5000.0])
def test_the_residual_spreads_a_cell_at_one_half_as_much(phi: float) -> None:
    """Catches the sd of another concentration: variance of the logistic of a normal, by scipy's quadrature."""
    sd = float(equivalent_sd(np.array(phi)))
    inside = quad(lambda x: norm.pdf(x, scale=sd) * (expit(x) - 0.5) ** 2, -12 * sd, 12 * sd, points=[0.0], limit=400)[
        0
    ]
    assert inside == pytest.approx(0.25 / (phi + 1), rel=2e-3)


@pytest.fixture(scope="module")
def recovered() -> VarianceComponents:
    """Components of a fit to simulated counts with known standard deviations, whatever the sampler's own gates say."""
    table = template_design(np.random.default_rng(12), models=10, templates=8, forms=3, n=40)
    fit = fit_answer_bias(table, settings=SamplerSettings(chains=4, draws=500, tune=200, cores=2, fast=True))
    return variance_components(fit, table, ci_level=0.99)


def test_known_standard_deviations_are_recovered(recovered: VarianceComponents) -> None:
    """Catches sds of one factor reported as those of another: the truth lies in the 99 % intervals."""
    truths = {
        ("model", "models", "yes"): 0.8,
        ("model", "models", "sensitivity"): 0.6,
        ("template", "levels", "yes"): 0.4,
        ("template", "models", "yes"): 0.4,
        ("template", "models", "polarity"): 0.4,
        ("form", "models", "yes"): 0.2,
        ("residual", "cells", "residual"): float(equivalent_sd(np.array(4.0))),
    }
    for (factor, between, term), truth in truths.items():
        row = row_of(recovered, stage="yes", factor=factor, between=between, term=term)
        assert row["reason"] == ""
        assert row["ci_low"] < truth < row["ci_high"], (factor, between, term)
        assert row["ci_high"] - row["ci_low"] < 2.5, "an interval that says nothing passes every test"


def test_shares_add_up_and_stages_are_apart(recovered: VarianceComponents) -> None:
    """Catches shares of another total, and effects on answering mixed with effects on Yes."""
    table = recovered.table
    assert set(table["stage"]) == {"yes", "answered"}
    yes = table[(table["stage"] == "yes") & (table["term"] != TOGETHER)]
    assert yes["share"].sum() == pytest.approx(1.0, abs=1e-9)
    for row in table[(table["stage"] == "yes") & (table["term"] == TOGETHER)].to_dict("records"):
        terms = yes[(yes["factor"] == row["factor"]) & (yes["between"] == row["between"])]
        assert len(terms) > 1
        assert terms["share"].sum() == pytest.approx(row["share"])
        assert row["estimate"] > terms["estimate"].max()
    assert set(recovered.second["factor"]) >= {"form", "template"}
