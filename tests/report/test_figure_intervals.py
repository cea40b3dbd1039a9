"""Tests of what figures show of intervals: undefined ones, and words that they would cross."""

import numpy as np
import pytest
from example_reports import tidy_estimates

from analysis.report.figures.class_accuracy import class_accuracy_figure
from analysis.report.figures.floor_bias import floor_bias_figure
from analysis.report.figures.render import drawn_canvas

FIGURES = (floor_bias_figure, class_accuracy_figure)


@pytest.mark.parametrize("make", FIGURES)
def test_a_bias_without_interval_is_no_proven_lean(make):
    """A point whose bias has no interval is drawn filled, as one whose interval excludes 0."""
    tidy = tidy_estimates(["proven", "none", "unknown"], [(0.9, 0.3), (0.51, 0.5), (0.8, 0.6)])
    bare = tidy["model"].eq("unknown") & tidy["measure"].eq("answer_bias")
    tidy.loc[bare, ["ci_low", "ci_high"]] = np.nan
    figure = make(tidy)
    kinds = figure.data.set_index("model")["bias_interval"].to_dict()
    assert kinds == {"proven": "excludes 0", "none": "includes 0", "unknown": "undefined"}
    axes = drawn_canvas(figure).axes[0]
    marks = [line.get_marker() for line in axes.lines if len(line.get_xydata()) == 1]
    assert sorted(marks) == ["o", "o", "x"]
    legend = {text.get_text() for text in axes.get_legend().get_texts()}
    assert "no interval" in legend
    assert "Crosses: the bias has no interval" in figure.caption
    assert "undefined for 1 model, drawn as crosses" in figure.alt
    assert "Crosses" not in make(tidy_estimates(["proven"], [(0.9, 0.3)])).caption


def test_words_inside_the_frame_give_way_to_intervals():
    """A bar runs through "mostly says Yes" or "out of reach", where there is room beside it."""
    for figure, words in (
        (class_accuracy_figure(tidy_estimates(["m"], [(0.94, 0.25)], half=0.06)), "mostly says Yes"),
        (floor_bias_figure(tidy_estimates(["m"], [(0.97, 0.1)], half=0.85)), "out of reach"),
    ):
        canvas = drawn_canvas(figure)
        canvas.draw_without_rendering()
        axes = canvas.axes[0]
        text = next(t for t in axes.texts if t.get_text().startswith(words))
        box = text.get_window_extent()
        for line in axes.lines:
            if line.get_linestyle() == "-" and line.get_alpha() == 0.4:
                ends = axes.transData.transform(line.get_xydata())
                along = ends[0] + np.linspace(0, 1, 200)[:, None] * (ends[1] - ends[0])
                assert not ((along > box.min) & (along < box.max)).all(axis=1).any()
