"""g-computation: the same cells, weights and treatments as the frequentist estimates; fresh templates and units."""

import numpy as np
import pandas as pd
import pytest

import analysis.bayes.mode
from analysis.bayes.design_matrix import CountDesign, count_design
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.generative import StageTruth, true_new_template_accuracies
from analysis.bayes.models.answer_bias import dense, stage_arrays
from analysis.bayes.models.unpooled import cell_counts, unpooled_accuracies
from analysis.bayes.posterior import StageFit, count_accuracies
from analysis.bayes.priors import Priors
from analysis.bayes.reconstruct import coefficient_draws
from analysis.bayes.sampling import Draws, SamplerSettings
from analysis.bayes.whitening import whitened_coordinates
from analysis.measures.rates import UNCERTAIN_TREATMENTS
from analysis.measures.yes_no_bias import FOUR_CELLS
from tests.bayes.designs import gold_design, template_design

SHORT = SamplerSettings(chains=2, draws=200, tune=150, cores=1, fast=True)


def _at_mode(design: CountDesign, stage: str) -> StageFit:
    """A stage whose every draw lies at the mode: what remains is the cells' own posterior."""
    arrays = stage_arrays(design, Priors(), stage=stage)
    at = whitened_coordinates(arrays).coordinates
    size = at.dimension
    nothing = np.zeros((2, 5))
    return StageFit(arrays, at, Draws(np.zeros((2, 5, size)), nothing > 0, nothing.astype(int), nothing, 1.0, 10))


def _weighted(table: pd.DataFrame, treatment: str) -> pd.DataFrame:
    """Accuracies by hand: weighted right answers over weighted trials of each cell."""
    scored = table["n_answered"] + table["n_uncertain"]
    right = table["n_correct"] + (table["n_uncertain"] / 2 if treatment == "half" else 0)
    trials = table["n_answered"] if treatment == "excluded" else scored
    parts = table.assign(right=right / scored * table["weight"], trials=trials / scored * table["weight"])
    sums = parts.groupby(["model", "cell"])[["right", "trials"]].sum()
    return (sums["right"] / sums["trials"]).unstack()[list(FOUR_CELLS)]


@pytest.mark.parametrize("treatment", list(UNCERTAIN_TREATMENTS))
def test_many_responses_give_the_frequentist_estimate(treatment: str) -> None:
    """Catches other weights, cells or treatments than those of the frequentist column: with a million responses a
    cell's own probability is its share, so only the weighting is left."""
    table = template_design(np.random.default_rng(4), models=3, forms=2, n=50)
    table[["n_answered", "n_uncertain", "n_correct"]] *= 20_000
    table["weight"] = np.random.default_rng(5).uniform(0.5, 4.0, len(table))
    design = count_design(table)
    fits = [_at_mode(design, stage) for stage in ("yes", "answered")]
    (found,) = count_accuracies(design, *fits, np.random.default_rng(6), wanted=[("these", treatment)])
    expected = _weighted(table, treatment).to_numpy()
    np.testing.assert_allclose(found.accuracy.mean(axis=(0, 1)), expected, atol=1e-3)


def test_fresh_templates_are_integrated() -> None:
    """Catches fresh templates without their variance, or with that of one source alone: 41 nodes against 15."""
    design = count_design(template_design(np.random.default_rng(4), models=2, templates=4, forms=2, n=30))
    fits = {stage: _at_mode(design, stage) for stage in ("yes", "answered")}
    wanted = [("new_templates", treatment) for treatment in UNCERTAIN_TREATMENTS]
    found = count_accuracies(design, fits["yes"], fits["answered"], np.random.default_rng(6), wanted=wanted)
    stages = {}
    for stage, fit in fits.items():
        b = np.stack([coefficient_draws(m, fit.hyper, fit.arrays, fit.coordinates)[0] for m in range(2)])
        eta = b @ dense(fit.arrays).T
        stages[stage] = (fit.arrays, StageTruth(fit.hyper.value[0], b, eta, eta))
    for (_, treatment), draws in zip(wanted, found, strict=True):
        expected = true_new_template_accuracies(design, stages, treatment)
        np.testing.assert_allclose(draws.accuracy[0, 0], expected, atol=1e-4)


def test_independent_cells_are_beta_by_hand() -> None:
    """Catches another prior than Jeffreys': 9 of 10 right is Beta(9.5, 1.5), mean 9.5 / 11."""
    design = count_design(gold_design({"a": (0.9, 0.4)}, n=10))
    draws = unpooled_accuracies(design, np.random.default_rng(1), treatments=("incorrect",), draws=20_000)[0].accuracy
    np.testing.assert_allclose(draws.mean(axis=(0, 1, 2)), [9.5 / 11, 4.5 / 11], atol=0.002)
    assert draws[..., 0].var() == pytest.approx(9.5 * 1.5 / (11**2 * 12), rel=0.03)


def test_unequal_weights_count_as_fewer_responses() -> None:
    """Catches weights that count as responses: two cells of 10, weighted 3 : 1, are 16 by Kish's formula."""
    rows = [
        {"model": "a", "cell": "gold_yes", "form": form, "n_answered": 10, "n_uncertain": 0, "n_correct": right}
        for form, right in (("f", 10), ("g", 0))
    ]
    table = pd.DataFrame(rows).assign(weight=[3.0, 1.0])
    right, _, wrong = cell_counts(count_design(table))
    assert right[0, 0] + wrong[0, 0] == pytest.approx(20 * (3 + 1) ** 2 / (2 * (9 + 1)))
    assert right[0, 0] / (right[0, 0] + wrong[0, 0]) == pytest.approx(0.75)


def test_poor_approximation_falls_back_to_coordinates_that_know_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a fallback that is not said, not used, or another model: both ways give the same answer."""
    facets = gold_design({"a": (0.9, 0.4), "b": (0.5, 0.6), "c": (0.7, 0.7)})
    plain = fit_answer_bias(facets, settings=SHORT, seed=2)
    monkeypatch.setattr(analysis.bayes.mode, "_ROUNDS", 1)
    fallen = fit_answer_bias(facets, settings=SHORT, seed=2)
    assert not any("non-centred" in sentence for sentence in plain.sentences)
    assert any("'yes' did not settle" in sentence and "non-centred" in sentence for sentence in fallen.sentences)
    both = [fit.table.query("uncertain == 'incorrect'").set_index(["model", "measure"]) for fit in (plain, fallen)]
    distance = (both[0]["estimate"] - both[1]["estimate"]).abs() / both[0]["posterior_sd"]
    assert distance[both[0]["scale"] != "rank"].max() < 0.35


def _surface_counts(rng: np.random.Generator, sd: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Gold-only answers of 3 models to 24 surfaces, 8 questions each; the truth is the mean over 100,000 surfaces."""
    lean, skill = np.array([0.8, -0.5, 0.0]), np.array([1.0, 0.6, 1.5])
    rows, truth = [], []
    for m in range(3):
        many = rng.normal(size=100_000) * sd
        truth.append([np.mean(1 / (1 + np.exp(-(s * lean[m] + skill[m] + s * many)))) for s in (1, -1)])
        for i, u in enumerate(rng.normal(size=24) * sd):
            for s, cell in ((1, "gold_yes"), (-1, "gold_no")):
                right = rng.binomial(4, 1 / (1 + np.exp(-(s * lean[m] + skill[m] + s * u))))
                rows.append((f"m{m}", cell, f"s{i:02d}", 4, 0, right))
    names = ["model", "cell", "unit", "n_answered", "n_uncertain", "n_correct"]
    return pd.DataFrame(rows, columns=names), np.array(truth)


def test_surface_effects_recover_the_population_and_widen_the_interval() -> None:
    """Catches units that are fitted but not integrated: their leaning must show in the width of the bias."""
    facets, truth = _surface_counts(np.random.default_rng(8), 1.2)
    settings = SHORT
    with_units = fit_answer_bias(facets, settings=settings, treatments=("incorrect",))
    counts = facets.groupby(["model", "cell"], as_index=False).sum(numeric_only=True)
    without = fit_answer_bias(counts, settings=settings, treatments=("incorrect",))
    assert any("integrate over new units" in sentence for sentence in with_units.sentences)
    tables = [fit.table.set_index(["measure", "model"]) for fit in (with_units, without)]
    for m in range(3):
        row, narrow = (table.loc[("answer_bias", f"m{m}")] for table in tables)
        bias = truth[m, 0] - truth[m, 1]
        assert row["ci_low"] < bias < row["ci_high"]
        assert row["ci_high"] - row["ci_low"] > 1.3 * (narrow["ci_high"] - narrow["ci_low"])
