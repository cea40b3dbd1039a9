"""Belief bias of each model by itself: cells by conjugacy, weights of votes, levels over shared questions."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_unpooled import unpooled_endorsements

CELLS = (("yes", "believable"), ("yes", "unbelievable"), ("no", "believable"), ("no", "unbelievable"))


def counts(rows: list[tuple[str, str, str, int, int]]) -> pd.DataFrame:
    """One question per row: gold, believability, strategy, n, k; the same question where unit numbers repeat."""
    table = pd.DataFrame(rows, columns=["gold", "believability", "strategy", "n", "k"])
    place = table.groupby(["gold", "believability", "strategy"]).cumcount().astype(str)
    item = table["gold"] + table["believability"] + place
    return table.assign(model="m", unit=item, item=item)


def found(table: pd.DataFrame, pairs: dict[str, tuple[tuple[str, str], ...]] | None = None) -> pd.DataFrame:
    design = belief_design(table, conditions=("strategy",))
    rows = unpooled_endorsements(design, pairs or {}, np.random.default_rng(0), ci_level=0.9)
    return rows.set_index("measure")


def test_cells_are_beta_posteriors_and_bias_is_that_of_their_medians() -> None:
    """Catches another prior, a swapped cell, endorsements for right answers, and a sign."""
    said = {CELLS[0]: 18, CELLS[1]: 12, CELLS[2]: 10, CELLS[3]: 4}
    rows = [(*cell, "a", 1, int(i < k)) for cell, k in said.items() for i in range(20)]
    table = found(counts(rows))
    for name, right in (("acc_vb", 18), ("acc_vu", 12), ("acc_ib", 10), ("acc_iu", 16)):
        exact = beta.ppf([0.05, 0.5, 0.95], right + 0.5, 20.5 - right)
        own = table.loc[name, ["ci_low", "estimate", "ci_high"]].to_numpy(float)
        assert own == pytest.approx(exact, abs=0.004), name
    # (18 + 16 - 12 - 10) / 40 before the prior, which moves four means of 20 answers by at most .02 each.
    assert table.loc["belief_bias", "estimate"] == pytest.approx(0.3, abs=0.02)
    # Standard deviation of half the signed sum of four betas.
    sd = 0.5 * np.sqrt(sum(beta.var(right + 0.5, 20.5 - right) for right in (18, 12, 10, 16)))
    width = table.loc["belief_bias", "ci_high"] - table.loc["belief_bias", "ci_low"]
    assert width == pytest.approx(2 * 1.645 * sd, rel=0.03)


def test_questions_weigh_the_same_and_votes_count_by_their_effective_number() -> None:
    """Catches a question of nine votes that weighs nine times one of one vote: 4 / (1 / 9 + 1 / 9 + 1 + 1) = 7.2."""
    rows = [(*cell, "a", n, n * (i < 2)) for cell in CELLS for i, n in enumerate((9, 1, 9, 1))]
    table = found(counts(rows))
    effective = 16 / (2 + 2 / 9)
    exact = beta.ppf([0.05, 0.95], effective / 2 + 0.5, effective / 2 + 0.5)
    assert table.loc["acc_vb", ["ci_low", "ci_high"]].to_numpy(float) == pytest.approx(exact, abs=0.008)


def test_levels_are_compared_over_questions_answered_under_both() -> None:
    """Catches questions of one level alone in a contrast: those of "b" alone are all wrong and must not count."""
    shared = [("yes", "believable", level, 1, int(i < k)) for level, k in (("a", 9), ("b", 5)) for i in range(10)]
    alone = [("yes", "believable", "b", 1, 0) for _ in range(20)]
    table = found(counts([*shared, *alone]), {"strategy": (("a", "b"),)})
    assert table.loc["strategy: a - b", "n"] == 10
    assert table.loc["strategy: a - b", "estimate"] == pytest.approx(9.5 / 11 - 5.5 / 11, abs=0.02)


def test_a_model_without_a_cell_has_no_belief_bias() -> None:
    """Catches a bias from three cells."""
    full = counts([(*cell, "a", 1, i % 2) for cell in CELLS for i in range(4)])
    missing = full[~((full["gold"] == "no") & (full["believability"] == "believable"))].assign(model="other")
    design = belief_design(pd.concat([full, missing]), conditions=())
    rows = unpooled_endorsements(design, {}, np.random.default_rng(0), ci_level=0.95)
    other = set(rows.loc[rows["model"] == "other", "measure"])
    assert other == {"accuracy"}
    assert "belief_bias" in set(rows.loc[rows["model"] == "m", "measure"])
