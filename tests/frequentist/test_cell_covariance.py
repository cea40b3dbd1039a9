"""Cell accuracies with their covariance: the same numbers as the estimates that readers see."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.cell_covariance import cell_covariances
from tests.frequentist.unit_tables import crossed, items, table, unit_row

FOUR = {"VA": (9, 7, 8, 5, 9), "VN": (4, 6, 3, 5, 5), "IA": (8, 9, 6, 7, 7), "IN": (2, 5, 3, 3, 6)}


@pytest.mark.parametrize("uncertain", ["incorrect", "excluded", "half"])
def test_covariance_gives_the_standard_errors_of_every_contrast(uncertain: str) -> None:
    """Catches cells in another order, a lost covariance, or another treatment of uncertain answers."""
    sums = table(crossed("a", FOUR, 10, uncertain=2), crossed("b", {k: v[::-1] for k, v in FOUR.items()}, 10))
    found = cell_covariances(sums, uncertain=uncertain)
    estimates = answer_bias_estimates(sums, uncertain=uncertain).set_index(["model", "measure"])
    contrasts = {
        "acc_va": [1, 0, 0, 0],
        "answer_bias": [0.5, -0.5, -0.5, 0.5],
        "polarity_sensitivity": [0.5, -0.5, 0.5, -0.5],
        "validity_contrast": [0.5, 0.5, -0.5, -0.5],
    }
    for m, model in enumerate(found.models):
        for name, weights in contrasts.items():
            row = estimates.loc[model, name]
            assert found.estimate[m] @ weights == pytest.approx(row["estimate"])
            assert weights @ found.covariance[m] @ weights == pytest.approx(row["std_error"] ** 2)
        assert found.df[m] == pytest.approx(estimates.loc[(model, "answer_bias"), "df"])
        assert found.n_eff[m, 1] == pytest.approx(estimates.loc[(model, "acc_vn"), "n_eff"])
        classes = [estimates.loc[(model, name), "n_eff"] for name in ("acc_yes", "acc_no")]
        assert found.class_n_eff[m] == pytest.approx(min(classes))


def test_binomial_variance_units_rows_and_lost_answers_by_hand() -> None:
    """Catches a design effect against the wrong reference: 20 items a class, 12 and 9 right, one set aside."""
    rows = items("m", [1] * 12 + [0] * 8, [1] * 9 + [0] * 11)
    rows.append(unit_row("m", "gold_yes", "lost", 0, 0, set_aside=1))
    found = cell_covariances(table(rows))
    assert found.cells == ("gold_yes", "gold_no")
    assert found.binomial_variance[0] == pytest.approx(0.6 * 0.4 / 20 + 0.45 * 0.55 / 20)
    assert found.bias_variance[0] == pytest.approx(0.6 * 0.4 / 19 + 0.45 * 0.55 / 19)
    assert found.rows.tolist() == [[20, 20]]
    assert found.units.tolist() == [[20, 20]]
    assert found.lost[0] == pytest.approx(1 / 41)
    assert not found.few_deviate[0]


def test_a_model_without_a_cell_is_undefined_and_others_are_not() -> None:
    """Catches a covariance of zero where nothing is known."""
    sums = table(crossed("a", FOUR, 10), crossed("b", {k: v for k, v in FOUR.items() if k != "IN"}, 10))
    found = cell_covariances(sums)
    assert np.isnan(found.covariance[1, 3, 3])
    assert np.isnan(found.bias_variance[1])
    assert np.isfinite(found.covariance[0]).all()


def test_several_tasks_and_unknown_gold_are_refused() -> None:
    """Catches tasks joined into one covariance."""
    one = table(crossed("a", FOUR, 10))
    with pytest.raises(AnalysisError, match="one task"):
        cell_covariances(pd.concat([one, one.assign(task="other")]))
    with pytest.raises(AnalysisError, match="not known"):
        cell_covariances(one.assign(cell=""))
