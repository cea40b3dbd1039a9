"""Figure of the lean to each option: which rows, which panels, which marks, and the words beside them."""

import numpy as np
import pandas as pd

from analysis.report.figures.option_lean import MOST_PANELS, option_lean_figure
from analysis.report.figures.render import drawn_canvas


def leans(models: int, options: str) -> pd.DataFrame:
    """Model m leans to option m (in turn) by .05 (m + 1), away from the next one; other intervals hold 0."""
    rows = []
    for m in range(models):
        for k, option in enumerate(options):
            size = 0.05 * (m + 1)
            value = {0: size, 1: -size}.get((k - m) % len(options), 0.0)
            rows.append({"model": f"m{m}", "option": option, "estimate": value, "ci_low": value - 0.02})
    table = pd.DataFrame(rows)
    return table.assign(ci_high=table["estimate"] + 0.02)


def figure(rows: pd.DataFrame):
    return option_lean_figure(rows, name="option_lean", title="Lean", ci_level=0.95, labels={"m1": "Second"})


def test_data_hold_every_row_with_the_largest_lean_first() -> None:
    """Catches the sign of a mark mixed up, models out of order, and rows lost from the CSV."""
    data = figure(leans(3, "ABC")).data
    assert data["model"].drop_duplicates().tolist() == ["m2", "m1", "m0"]
    assert set(data["label"]) == {"m0", "Second", "m2"}
    assert data.set_index(["model", "option"])["lean"].to_dict() == {
        ("m0", "A"): "more", ("m0", "B"): "less", ("m0", "C"): "",
        ("m1", "A"): "", ("m1", "B"): "more", ("m1", "C"): "less",
        ("m2", "A"): "less", ("m2", "B"): "", ("m2", "C"): "more",
    }  # fmt: skip


def test_a_panel_per_option_on_one_scale_with_a_row_per_model() -> None:
    """Catches panels of unlike scale, which would make a small lean look large, and models that share a row."""
    canvas = drawn_canvas(figure(leans(29, "ABCD")))
    panels = canvas.axes
    assert [axes.get_title() for axes in panels] == list("ABCD")
    assert len({axes.get_xlim() for axes in panels}) == 1
    assert len(panels[0].get_yticks()) == 29
    marks = sorted(line.get_ydata()[0] for line in panels[0].lines if line.get_marker() == "o")
    np.testing.assert_allclose(marks, range(29))


def test_twelve_options_draw_those_with_the_largest_leans_and_say_so() -> None:
    """Catches a figure too wide for a page, and options left out silently."""
    found = figure(leans(3, "ABCDEFGHIJKL"))
    assert [axes.get_title() for axes in drawn_canvas(found).axes] == list("ABCDEF")
    assert f"the {MOST_PANELS} of 12 options" in found.caption
    assert found.data["option"].nunique() == 12


def test_undefined_models_are_named_and_words_give_the_extremes() -> None:
    """Catches a model without answers drawn at 0, and alternative text without numbers."""
    rows = leans(2, "AB")
    numbers = ["estimate", "ci_low", "ci_high"]
    rows.loc[rows["model"] == "m1", numbers] = np.nan
    found = figure(rows)
    assert "Not shown: Second (undefined)." in found.caption
    assert "The largest lean is +0.05 to A (m0), the smallest −0.05 to B (m0)." in found.alt
    assert "exclude 0 for 1 of 1 model" in found.alt
    assert len(drawn_canvas(found).axes[0].get_yticks()) == 1
    nothing = figure(rows.assign(**dict.fromkeys(numbers, np.nan)))
    assert nothing.alt == "Empty plot: no model has answers."
    assert drawn_canvas(nothing) is not None
