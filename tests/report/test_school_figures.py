"""Forest, rank plot and predictive checks: nothing overlaps, the data stand behind the marks."""

import numpy as np
import pandas as pd
import pytest
from example_reports import HOSTILE
from matplotlib.text import Text
from test_figures import NAMES, overlaps

from analysis.report.content import Figure
from analysis.report.figures.forest import forest_figure
from analysis.report.figures.predictive_check import predictive_figure
from analysis.report.figures.rank_plot import rank_figure
from analysis.report.figures.render import drawn_canvas, rendered_figure
from analysis.report.figures.style import VERMILION


def compared(names: list[str], *, seed: int = 1) -> pd.DataFrame:
    """Rows of a comparison of one measure."""
    rng = np.random.default_rng(seed)
    estimate = rng.uniform(0.1, 0.9, len(names))
    columns = {"model": names, "measure": "competence_floor"}
    for prefix, shift in (("", 0.0), ("unpooled_", -0.004), ("pooled_", 0.02)):
        columns |= {
            f"{prefix}estimate": estimate + shift,
            f"{prefix}ci_low": estimate + shift - 0.05,
            f"{prefix}ci_high": estimate + shift + 0.05,
        }
    return pd.DataFrame(columns).assign(decision="undecided", pooled_decision="undecided", verdict="agree")


def forest(table: pd.DataFrame, **more: object) -> Figure:
    options = {"name": "forest", "title": "t", "axis": "competence floor", "reference": 0.5, "ci_level": 0.95}
    return forest_figure(table, **(options | more))


def checked(names: list[str]) -> pd.DataFrame:
    """Predictive checks of four kinds."""
    checks = ("share of Yes", "share of extreme cells", "sd over templates", "share of uncertain answers")
    rows = [
        {"model": m, "check": c, "observed": 0.5 + 0.01 * i, "expected": 0.5, "low": 0.4, "high": 0.6, "tail": 0.5}
        for i, m in enumerate(names)
        for c in checks
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("count", [1, 2, 29, 60])
def test_no_two_texts_of_a_figure_with_rows_overlap(count: int) -> None:
    """Catches labels too dense for their rows, or wider than their margin."""
    for figure in (forest(compared(NAMES[:count])), predictive_figure(checked(NAMES[:count]), name="p", title="t")):
        assert overlaps(drawn_canvas(figure)) == ([], [])


def test_hostile_names_and_an_empty_table_are_drawn() -> None:
    """Catches markup read as markup, and a traceback where nothing is estimated."""
    assert overlaps(drawn_canvas(forest(compared(HOSTILE)))) == ([], [])
    empty = compared(["a"])
    empty[[name for name in empty if "estimate" in name or "ci_" in name]] = np.nan
    figure = forest(empty)
    assert figure.alt.startswith("Empty plot")
    assert "Not shown: a" in figure.caption
    assert overlaps(drawn_canvas(figure)) == ([], [])
    assert overlaps(drawn_canvas(forest(compared([])))) == ([], [])


def test_three_marks_per_model_stand_at_their_values() -> None:
    """Catches columns exchanged, or a model's row drawn at another one."""
    figure = forest(compared(["low", "high"], seed=3))
    axes = drawn_canvas(figure).axes[0]
    marks = {
        (round(float(line.get_xdata()[0]), 9), line.get_marker()) for line in axes.lines if line.get_marker() in "osD"
    }
    wanted = {
        (round(row[f"{prefix}estimate"], 9), marker)
        for row in figure.data.to_dict("records")
        for prefix, marker in (("", "o"), ("unpooled_", "s"), ("pooled_", "D"))
    }
    assert marks == wanted
    shown = [text.get_text() for text in axes.get_yticklabels()]
    assert shown == figure.data.sort_values("estimate", ascending=False)["label"].tolist()


def test_a_disagreement_is_orange_and_counted() -> None:
    """Catches agreement painted as disagreement: negligible is what the other school leaves undecided."""
    table = compared(["a", "b", "c"])
    table["pooled_decision"] = ["above", "equivalent", "undecided"]
    figure = forest(table)
    orange = [line for line in drawn_canvas(figure).axes[0].lines if line.get_color() == VERMILION]
    assert len(orange) == 2
    assert "decide differently for 1 model" in figure.alt


def test_a_failed_column_is_absent_and_said() -> None:
    """Catches an empty mark, or a key for a column that is not there."""
    table = compared(["a", "b"])
    table[["pooled_estimate", "pooled_ci_low", "pooled_ci_high"]] = np.nan
    figure = forest(table, remark="Not shown is the hierarchical column (MCMC): divergences 3.")
    canvas = drawn_canvas(figure)
    texts = {text.get_text() for text in canvas.findobj(Text)}
    assert "Bayes, hierarchical" not in texts
    assert "frequentist" in texts
    assert figure.caption.endswith("divergences 3.")


def test_ranks_of_one_stuck_chain_leave_the_band() -> None:
    """Catches ranks within chains instead of over all: there every chain is uniform by construction."""
    rng = np.random.default_rng(2)
    good = rng.normal(size=(4, 1000))
    stuck = good.copy()
    stuck[2] += 3
    fine, bad = (
        rank_figure(draws, name="rank", title="t", quantity="floor of m", r_hat=1.0) for draws in (good, stuck)
    )
    assert (fine.data["draws"].groupby(fine.data["chain"]).sum() == 1000).all()
    assert bad.data["draws"].max() > 180 > 100 > fine.data["draws"].max()
    assert overlaps(drawn_canvas(fine)) == ([], [])
    assert rendered_figure(fine) == rendered_figure(fine)
