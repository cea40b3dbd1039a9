"""Accuracy and consistency of single answers from shares of votes."""

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.consistency import consistency_estimates
from analysis.frequentist.vote_shares import vote_share_estimates
from analysis.reduction.endorsements import endorsement_counts
from analysis.reduction.variants import variant_answers


def answers(endorsed: np.ndarray, unclear: float = 0.0) -> pd.DataFrame:
    """Shares of yes by unit and version (U, V); even units are valid."""
    rows = [
        {
            "model": "m",
            "unit": f"u{u}",
            "item": f"u{u}_{v}",
            "variant": f"v{v}",
            "gold": "yes" if u % 2 == 0 else "no",
            "believability": "believable",
            "strategy": "a",
            "endorsed": share * (1 - unclear),
            "right": (share if u % 2 == 0 else 1 - share) * (1 - unclear),
            "unclear": unclear,
            "n_answered": 10 * (1 - unclear),
            "n_uncertain": 10 * unclear,
        }
        for u, row in enumerate(endorsed)
        for v, share in enumerate(row)
    ]
    return pd.DataFrame(rows)


def measure(table: pd.DataFrame, name: str) -> float:
    return float(table.set_index("measure").loc[name, "estimate"])


def test_consistency_by_hand_and_unreadable_votes_left_out() -> None:
    """Two versions said yes in .8 and .5 of the votes are alike in .4 + .1 of the pairs: catches a product of the wrong
    shares, and unreadable votes that count as no.
    """
    table = answers(np.array([[0.8, 0.5], [1.0, 1.0], [0.0, 0.2]]), unclear=0.5)
    found = vote_share_estimates(table, conditions=("strategy",))
    assert measure(found, "consistency_all") == pytest.approx((0.5 + 1.0 + 0.8) / 3)
    assert measure(found, "accuracy") == pytest.approx((0.8 + 0.5 + 0 + 0 + 0.0 + 0.2) / 6)


def test_single_votes_give_the_consistency_of_answers() -> None:
    """Identity with the share of units answered alike where every question has one vote."""
    said = np.random.default_rng(1).integers(0, 2, (40, 3)).astype(float)
    table = answers(said).assign(answer=lambda t: np.where(t["endorsed"] == 1, "yes", "no"))
    placed = variant_answers(table, table["right"].to_numpy(), conditions=("strategy",))
    usual = consistency_estimates(placed, rng=np.random.default_rng(2), resamples=20)
    own = vote_share_estimates(table, conditions=("strategy",))
    for column in ("estimate", "ci_low", "ci_high", "n", "n_clusters"):
        a, b = (t.set_index("measure").loc["consistency_all", column] for t in (usual, own))
        assert a == pytest.approx(b)


def test_units_without_a_version_are_left_out_and_no_versions_give_no_row() -> None:
    """Catches an incomplete set that passes for one answered alike."""
    table = answers(np.array([[1.0, 1.0], [1.0, 0.0]]))
    found = vote_share_estimates(table[table["item"] != "u1_1"], conditions=("strategy",)).set_index("measure")
    assert found.loc["consistency_all", "n"] == 1
    alone = vote_share_estimates(table.drop(columns="variant"), conditions=("strategy",))
    assert set(alone["measure"]) == {"accuracy"}


def test_counts_of_endorsements_are_whole_numbers_of_votes() -> None:
    """Catches unreadable votes among the readable, and shares that lose a vote to rounding."""
    found = endorsement_counts(answers(np.array([[0.8, 0.6]]), unclear=0.5), conditions=("strategy",))
    assert found["n"].tolist() == [5, 5]
    assert found["k"].tolist() == [4, 3]
    assert list(found.columns) == ["model", "unit", "item", "gold", "believability", "variant", "strategy", "n", "k"]
