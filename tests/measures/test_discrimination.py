"""Placements and the even cut: by hand, against scipy, with ties."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from analysis.errors import AnalysisError
from analysis.measures.discrimination import even_cut, placements


def test_placements_by_hand_with_a_tie() -> None:
    """Yes at .9, .5; No at .5, .1: catches a tie that counts whole, and the classes exchanged."""
    found = placements([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    np.testing.assert_allclose(found, [1, 0.75, 0.75, 1])


def test_mean_placement_is_the_area_of_scipy() -> None:
    rng = np.random.default_rng(0)
    yes = rng.random(60) < 0.4
    p = np.round(rng.random(60) * 0.5 + 0.3 * yes, 1)
    found = placements(p, yes)
    area = mannwhitneyu(p[yes], p[~yes]).statistic / (yes.sum() * (~yes).sum())
    assert found[yes].mean() == pytest.approx(area)
    assert found[~yes].mean() == pytest.approx(area)


def test_one_class_has_no_placements_and_no_cut() -> None:
    assert np.isnan(placements([0.2, 0.4], [True, True])).all()
    assert np.isnan(even_cut([0.2, 0.4], [True, True]).threshold)


def test_even_cut_in_a_gap_is_its_middle() -> None:
    """Two yes above and one no below .4 to .8, one of each astray: accuracy 2/3 on both sides."""
    cut = even_cut([0.9, 0.8, 0.3, 0.85, 0.4, 0.1], [True, True, True, False, False, False])
    assert (cut.low, cut.high, cut.threshold) == (0.4, 0.8, pytest.approx(0.6))
    assert cut.accuracy == pytest.approx(2 / 3)


def test_even_cut_on_a_tie_shares_it_out() -> None:
    """Everything at .7: half of it may be called yes. Catches a threshold off the only score there is."""
    cut = even_cut([0.7] * 4, [True, True, False, False])
    assert cut.threshold == cut.low == cut.high == 0.7
    assert cut.accuracy == pytest.approx(0.5)


def test_unknown_scores_are_refused() -> None:
    with pytest.raises(AnalysisError, match="known"):
        placements([0.2, np.nan], [True, False])
