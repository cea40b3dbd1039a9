"""The ladder of units: what its left edge says."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from analysis.report.figures.unit_ladder import unit_ladder_figure


def edge_label(smallest: float) -> str:
    rows = pd.DataFrame(
        {
            "unit": ["rows", "items"],
            "test": "sign-flip",
            "p_value": [smallest, 0.2],
            "n_clusters": [800, 40],
            "resolution": [1e-9, 1e-4],
            "reason": "",
        }
    )
    figure = unit_ladder_figure(rows, name="unit_ladder", title="Ladder")
    canvas = plt.figure(figsize=figure.size)
    figure.draw(canvas)
    label = canvas.axes[0].get_xticklabels()[0].get_text()
    plt.close(canvas)
    return label


@pytest.mark.parametrize(("smallest", "label"), [(1e-12, "≤ 10⁻⁶"), (1e-6, "10⁻⁶"), (0.03, "10⁻⁶")])
def test_the_edge_is_a_bound_where_a_smaller_p_stands_on_it(smallest: float, label: str) -> None:
    """Catches a p of 1e-12 that is read off the axis as 1e-6, and a bound where none is needed."""
    assert edge_label(smallest) == label
