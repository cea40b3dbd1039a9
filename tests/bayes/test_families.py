"""Families of models: when they are effects, what they change, and that nothing changes without them."""

import numpy as np
import pytest

from analysis.bayes.component_layout import stage_components, stage_groups
from analysis.bayes.design_matrix import count_design
from analysis.bayes.families import families_sentence, family_index, family_rows
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.generative import draw_stage
from analysis.bayes.log_density import whitened_log_density
from analysis.bayes.mode import mode
from analysis.bayes.models.answer_bias import dense, stage_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.sampling import SamplerSettings
from analysis.bayes.whitening import whitened_coordinates
from analysis.measures.yes_no_bias import FOUR_CELLS
from tests.bayes.designs import gold_design, template_design

THREE = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c"}


def test_rule_of_families() -> None:
    """Catches effects of two families, of three with one pair only, and a nameless model put into some family."""
    assert family_index(list(THREE), THREE).tolist() == [0, 0, 1, 1, 2]
    assert family_index(["a1", "a2", "b1", "b2"], THREE) is None
    assert family_index(["a1", "a2", "b1", "c1"], THREE) is None
    with_others = family_index(["a", "a1", "a2", "b1", "b2", "c1", "d"], THREE)
    assert len(set(with_others)) == 5
    assert with_others[0] not in with_others[1:], "a model named as a family is no member of it"
    assert "pooled within 3 model families" in families_sentence(list(THREE), THREE)
    assert "the model without a family" in families_sentence([*THREE, "d"], THREE)
    assert "(2 named)" in families_sentence(["a1", "a2", "b1", "b2"], THREE)
    assert families_sentence(["d"], THREE) == ""


def test_without_enough_families_nothing_changes() -> None:
    """Catches a model, coordinate or draw that moves although no family is an effect; the density and its gradient
    at a point are those computed before families existed."""
    table = template_design(np.random.default_rng(11))
    plain = stage_arrays(count_design(table), Priors(), stage="yes")
    few = stage_arrays(count_design(table), Priors(), stage="yes", families={"m000": "x", "m001": "x"})
    for name, value in plain._asdict().items():
        np.testing.assert_array_equal(value, getattr(few, name))
    at = whitened_coordinates(plain).coordinates
    z = np.random.default_rng(3).normal(size=at.dimension)
    value, gradient = whitened_log_density(z, plain, at)
    assert value == pytest.approx(-666.1314174098968, rel=1e-11)
    assert np.linalg.norm(gradient) == pytest.approx(15.222898645367428, rel=1e-9)


def test_family_means_of_a_mode_by_hand() -> None:
    """Catches a family mean that ignores its models, or that of another: with thousands of responses a model the
    coefficients are known, and b_m = mean + family + rest; families lie between their models' average and the mean."""
    rates = {"a1": (0.9, 0.9), "a2": (0.88, 0.88), "b1": (0.7, 0.7), "b2": (0.68, 0.68), "c1": (0.5, 0.5)}
    arrays = stage_arrays(count_design(gold_design(rates, n=5000)), Priors(), stage="yes", families=THREE)
    state, settled, _ = mode(arrays, dense(arrays))
    assert settled
    skill = state.coefficients[:, 1]
    added = state.hyper[arrays.family_at[:, 1]]
    assert added[0] == added[1]
    common = state.hyper[arrays.mean_at[1]]
    assert skill[:2].mean() > common + added[0] > common > common + added[4] > skill[4]
    # The mode in the family's mean given the rest: precision-weighted, n / sd^2 of its models against 1 / tau^2.
    sd2, tau2 = (
        np.exp(2 * state.hyper[arrays.log_sd_at[1]]),
        np.exp(2 * state.hyper[arrays.prior_sd_at[arrays.family_at[0, 1]]]),
    )
    expected = (2 / sd2) / (2 / sd2 + 1 / tau2) * (skill[:2].mean() - common)
    assert added[0] == pytest.approx(expected, rel=0.05)


def test_components_hold_the_variance_between_families() -> None:
    """Catches an sd of families on the wrong hyper-parameter or left out of the shares: coefficients drawn from the
    model agree within families as the sds of families say."""
    rng = np.random.default_rng(5)
    models = [f"m{i:03d}" for i in range(9)]
    families = {model: "xyz"[i % 3] for i, model in enumerate(models)}
    design = count_design(template_design(rng, models=9, templates=3, forms=2))
    arrays = stage_arrays(design, Priors(), stage="yes", families=families)
    found = stage_components(arrays, stage_groups(design, "yes"), "yes")
    of_families = [c for c in found if c.factor == "family"]
    assert [(c.term, c.n_levels, c.prior, c.scale) for c in of_families] == [
        (term, 3, "family_sd", 1.0) for term in ("yes", "sensitivity", "polarity", "validity")
    ]
    assert {c.at for c in found} == set(np.flatnonzero(arrays.is_log_sd)) | {arrays.log_phi_at}
    within, between = [], []
    for _ in range(3000):
        truth = draw_stage(arrays, rng)
        c = of_families[3]
        b = truth.coefficients[:, 3].reshape(3, 3) - truth.hyper[arrays.mean_at[3]]
        sd, tau = np.exp(truth.hyper[arrays.log_sd_at[3]]), np.exp(truth.hyper[c.at])
        # Same family: covariance tau^2; other families: 0 around the common mean.
        same = np.mean([b[0, f] * b[1, f] for f in range(3)])
        within.append(same - tau**2)
        between.append((b**2).mean() - tau**2 - sd**2)
    for difference in (within, between):
        assert abs(np.mean(difference)) < 4 * np.std(difference) / np.sqrt(len(difference))


def test_families_are_tied_only_through_the_means() -> None:
    """Catches a curvature that rounding has filled, or an order in which its factor fills up: every gradient would
    then take the cube of all families' means."""
    models = [f"m{i:03d}" for i in range(9)]
    families = {model: "xyz"[i % 3] for i, model in enumerate(models)}
    design = count_design(template_design(np.random.default_rng(5), models=9, templates=3, forms=2))
    arrays = stage_arrays(design, Priors(), stage="yes", families=families)
    known = whitened_coordinates(arrays).coordinates.known
    added = int(arrays.family_at.max()) + 1
    assert added == 12
    assert arrays.mean_at.min() == added
    apart = np.arange(added)[:, None] % 3 != np.arange(added) % 3
    factor = np.linalg.cholesky(known + np.eye(len(known)))
    assert (known[:added, :added][apart] == 0).all()
    assert (factor[:added, :added][apart] == 0).all()
    assert np.count_nonzero(known[added:, :added]) > 0


def test_rows_of_families_are_means_over_their_models() -> None:
    """Catches an average over draws' neighbours, a model of another family, and an unasked one that blanks a family."""
    rng = np.random.default_rng(2)
    accuracy = rng.uniform(0.3, 0.9, (4, 2000, 5, 4))
    accuracy[:, :, 1] = np.nan
    table = family_rows(accuracy, list(THREE), FOUR_CELLS, THREE)
    bias = table[table["measure"] == "answer_bias"].set_index("family")
    assert bias["n_models"].tolist() == [1, 2, 1]
    cells = accuracy[:, :, 2:4].mean(axis=2).reshape(-1, 4)
    by_hand = (cells[:, 0] + cells[:, 3] - cells[:, 1] - cells[:, 2]) / 2
    assert bias.loc["b", ["ci_low", "estimate", "ci_high"]].tolist() == pytest.approx(
        np.quantile(by_hand, [0.025, 0.5, 0.975]).tolist()
    )
    assert family_rows(accuracy, list(THREE), FOUR_CELLS, {}).empty


def test_a_fit_knows_its_families() -> None:
    """Catches families that reach the sentence but not the model, and a kept fit that is the same with and without."""
    table = gold_design({"a1": (0.9, 0.8), "a2": (0.8, 0.8), "b1": (0.6, 0.7), "b2": (0.7, 0.6), "c1": (0.5, 0.6)})
    settings = SamplerSettings(chains=2, draws=50, tune=50, fast=True)
    plain = fit_answer_bias(table, settings=settings)
    with_families = fit_answer_bias(table, settings=settings, families=THREE)
    extra = with_families.draws["hyper: yes"].shape[-1] - plain.draws["hyper: yes"].shape[-1]
    assert extra == 2 * 3 + 2
    assert any("pooled within 3 model families" in said for said in with_families.sentences)
    assert with_families.glance["key"] != plain.glance["key"]
