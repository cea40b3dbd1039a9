"""Both schools read the same responses with the same weights."""

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.design_matrix import count_design
from analysis.comparison.shared_input import cluster_estimates, comparison_facts, weighted_facets
from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.cell_covariance import cell_covariances
from analysis.reduction.units import unit_sums


def item_rows(rng: np.random.Generator, cells: tuple[str, ...], *, samples: tuple[int, ...] = (1,)) -> pd.DataFrame:
    """Counts by item of two models, asked ``samples`` times in turn."""
    rows = []
    for model in ("a", "b"):
        for i in range(48):
            cell, n = cells[i % len(cells)], samples[i % len(samples)]
            right = int(rng.binomial(n, 0.4 + 0.01 * (i % 9)))
            unclear = int(rng.binomial(n - right, 0.3))
            rows.append(
                {
                    "task": "t",
                    "model": model,
                    "item": f"i{i}",
                    "unit": f"u{i // len(cells)}",
                    "template": f"t{(i // len(cells)) % 3}",
                    "form": f"f{i % 5}",
                    "gold": "",
                    "cell": cell,
                    "n_planned": n,
                    "n_answered": n - unclear,
                    "n_uncertain": unclear,
                    "n_set_aside": 0,
                    "n_yes": 0,
                    "n_correct": right,
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("cells", "samples", "choice"),
    [
        (("VA", "VN", "IA", "IN"), (1,), {}),
        (("VA", "VN", "IA", "IN"), (1, 2, 3), {"strata": "template"}),
        (("VA", "VN", "IA", "IN"), (2, 1), {"strata": "form"}),
        (("gold_yes", "gold_no"), (2,), {}),
        (("gold_yes", "gold_no"), (3,), {"weighting": "item"}),
    ],
)
def test_weights_of_facets_give_the_frequentist_accuracies(
    cells: tuple[str, ...], samples: tuple[int, ...], choice: dict[str, str]
) -> None:
    """Catches a Bayesian column that weighs templates, forms or items otherwise than the frequentist one."""
    counts = item_rows(np.random.default_rng(3), cells, samples=samples)
    facets = weighted_facets(counts, **choice)
    design = count_design(facets)
    rate = np.divide(design.correct, design.scored, out=np.zeros_like(design.scored), where=design.scored > 0)
    estimates = answer_bias_estimates(unit_sums(counts, **choice)).set_index(["model", "measure"])["estimate"]
    names = {"VA": "acc_va", "VN": "acc_vn", "IA": "acc_ia", "IN": "acc_in", "gold_yes": "acc_yes", "gold_no": "acc_no"}
    for m, model in enumerate(design.models):
        for c, name in enumerate(design.names):
            mine = design.cell_of == c
            found = (design.weight[m, mine] * rate[m, mine]).sum() / design.weight[m, mine].sum()
            assert found == pytest.approx(estimates[model, names[name]]), (model, name)


def test_counts_by_facet_account_for_every_response_with_a_cell() -> None:
    """Catches rows lost in grouping, and rows without a cell that get in."""
    counts = item_rows(np.random.default_rng(4), ("VA", "VN", "IA", "IN"))
    outside = counts.head(5).assign(cell="", item="x")
    for units in (False, True):
        facets = weighted_facets(pd.concat([counts, outside]), units=units)
        assert facets["n_planned"].sum() == counts["n_planned"].sum()
        assert ("unit" in facets.columns) == units


def test_facts_and_repetition_come_from_the_units() -> None:
    """Catches a design effect or a tie read off the wrong column."""
    counts = item_rows(np.random.default_rng(5), ("VA", "VN", "IA", "IN"))
    once = cell_covariances(unit_sums(counts.assign(unit=counts["item"])))
    assert not cluster_estimates(once).reused
    assert cluster_estimates(cell_covariances(unit_sums(counts.assign(unit=counts["template"])))).reused
    facts = comparison_facts(once)
    estimates = answer_bias_estimates(unit_sums(counts.assign(unit=counts["item"]))).set_index(["model", "measure"])
    bias = estimates.loc[("a", "answer_bias")]
    assert facts.loc[0, "bias_z"] == pytest.approx(bias["estimate"] / bias["std_error"])
    assert facts.loc[0, "deff"] == pytest.approx(12 / 11)
    assert cluster_estimates(once).names == ("VA", "VN", "IA", "IN")
