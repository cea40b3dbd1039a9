"""Noise and persistent residual divided by kind of answer."""

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.incoherence_queries import (
    NOT_SEPARATED,
    OF_TRUTH,
    can_divide,
    divided_instances,
    query_shares,
)
from analysis.measures.identities import BUILT_IN, identity
from analysis.measures.identities_residuals import identity_residuals, join_rule
from analysis.reduction.instances import AnswerSets, answer_sets
from analysis.reduction.moments import by_wording, instance_moments

TOTAL = BUILT_IN[0]
TRUE = {"latent": (0.3, 0.7), "conditional": (0.2, 0.6)}


def logged(target: np.ndarray, latent: np.ndarray, conditional: np.ndarray) -> AnswerSets:
    """Sets of one model from answers (units, wordings), of two states (units, 2, wordings)."""
    rows = []
    for unit in range(len(target)):
        for k in range(target.shape[1]):
            base = {"model": "m", "unit": f"u{unit:02d}", "identity": "", "wording": f"w{k}", "sample": "0",
                    "item_family": "", "level": "", "tokens_reasoning": np.nan, "status": "answered"}  # fmt: skip
            rows.append(base | {"role": "target", "state": "", "probability": target[unit, k], "truth": 0.48})
            for role, values in (("latent", latent), ("conditional", conditional)):
                for s, state in enumerate("ab"):
                    found = {"probability": values[unit, s, k], "truth": TRUE[role][s]}
                    rows.append(base | {"role": role, "state": state} | found)
    table = pd.DataFrame(rows)
    sets = answer_sets(table.assign(item=table.index.astype(str)), join_rule(TOTAL))
    assert sets is not None
    return sets


def noisy(rng: np.random.Generator, units: int = 12) -> AnswerSets:
    target = rng.uniform(0, 1, (units, 3))
    return logged(target, rng.uniform(0, 1, (units, 2, 3)), rng.uniform(0, 1, (units, 2, 3)))


def test_parts_add_up_to_the_published_moments() -> None:
    """Variance and mean product of every instance, clip included: catches a part that is lost or counted twice."""
    sets = noisy(np.random.default_rng(1))
    sets.by_role["target"][0, 0] = 1.0
    moments = instance_moments(by_wording(identity_residuals(sets, TOTAL))).set_index("unit")
    sums = divided_instances(sets, TOTAL).groupby("unit")[["noise", "persistent"]].sum()
    variance = moments["ss"] / (moments["k"] - 1)
    np.testing.assert_allclose(sums["noise"], variance)
    np.testing.assert_allclose(sums["persistent"], moments["mean"] ** 2 - variance / moments["k"])


def test_two_wordings_by_hand() -> None:
    """Weights .3/.7 and then .4/.6, conditionals .2/.6 and then .3/.5: both orders of replacing are written out."""
    latent, conditional = np.array([[[0.3, 0.4], [0.7, 0.6]]]), np.array([[[0.2, 0.3], [0.6, 0.5]]])
    divided = divided_instances(logged(np.array([[0.5, 0.6]]), latent, conditional), TOTAL).set_index("role")

    def implied(w: int, c: int) -> float:
        p = float(latent[0, :, w] @ conditional[0, :, c])
        return float(np.log(p / (1 - p)))

    first, second = 0.0 - implied(0, 0), np.log(1.5) - implied(1, 1)
    of_latent = -0.5 * (implied(0, 0) - implied(1, 0) + implied(0, 1) - implied(1, 1))
    gap = first - second
    assert divided.loc["latent", "noise"] == pytest.approx(gap * of_latent / 2)
    assert divided.loc["target", "noise"] == pytest.approx(gap * (0.0 - np.log(1.5)) / 2)
    true = np.log(0.48 / 0.52)
    assert divided.loc["target", "persistent"] == pytest.approx(
        (second * (0 - true) + first * (np.log(1.5) - true)) / 2
    )
    assert divided.loc[OF_TRUTH, "persistent"] == pytest.approx(0, abs=1e-12)


def test_the_moving_and_the_wrong_answer_are_named() -> None:
    """Conditionals move between wordings, the direct answer is off in all of them: catches roles mixed up."""
    rng = np.random.default_rng(2)
    latent = np.broadcast_to(np.array([0.3, 0.7])[None, :, None], (40, 2, 3))
    conditional = np.array([0.2, 0.6])[None, :, None] + rng.uniform(-0.1, 0.1, (40, 2, 3))
    target = np.broadcast_to(rng.choice([0.35, 0.62], (40, 1)), (40, 3))
    divided = divided_instances(logged(target, latent, conditional), TOTAL)
    table = query_shares(divided, rng=rng, resamples=499).set_index("role")
    assert table.loc["conditional", "noise_share"] == pytest.approx(1)
    assert table.loc["target", "noise_share"] == pytest.approx(0)
    assert table.loc["target", "persistent_share"] == pytest.approx(1, abs=0.06)
    assert table["persistent_share"].sum() == pytest.approx(1)
    assert table.loc["target", "n"] == 40


def test_nothing_persistent_has_no_shares_and_says_why() -> None:
    """Catches shares of a square that may be 0: they have no meaning."""
    rng = np.random.default_rng(3)
    latent = np.broadcast_to(np.array([0.3, 0.7])[None, :, None], (30, 2, 3))
    conditional = np.broadcast_to(np.array([0.2, 0.6])[None, :, None], (30, 2, 3))
    target = 0.48 + rng.uniform(-0.2, 0.2, (30, 3))
    table = query_shares(divided_instances(logged(target, latent, conditional), TOTAL), rng=rng, resamples=499)
    assert table["persistent_share"].isna().all()
    assert set(table["persistent_share_reason"]) == {NOT_SEPARATED}


def test_what_cannot_be_divided() -> None:
    """Catches a division of bounds, of repeated samples, and of one residual per state."""
    sets = noisy(np.random.default_rng(4))
    assert can_divide(TOTAL, sets)
    assert not can_divide(identity("bound", "target", "sum(latent)", relation="<="), sets)
    assert not can_divide(identity("by state", "latent", "conditional"), sets)
    sets.keys.loc[1, "wording"] = "w0"
    assert not can_divide(TOTAL, sets)
