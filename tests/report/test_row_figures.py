"""Figures with a row per model: what they draw, what they leave out and say so, and names out of logs."""

import numpy as np
import pandas as pd
import pytest

from analysis.report.figures.butterfly import butterfly_figure
from analysis.report.figures.condition_heat_map import condition_heat_map
from analysis.report.figures.dumbbell import dumbbell_figure
from analysis.report.figures.external_rank import external_rank_figure
from analysis.report.figures.render import rendered_figure

HOSTILE = "$x_{1}$ <b>\u202e" + "long " * 30


def belief(models):
    rows = []
    for i, model in enumerate(models):
        known = model != "silent"
        for measure, value in (("congruent", 0.9 - i / 10), ("incongruent", 0.5), ("belief_bias", 0.4 - i / 10)):
            rows.append(
                {
                    "model": model, "measure": measure, "estimate": value if known else np.nan,
                    "ci_low": value - 0.1 if known else np.nan, "ci_high": value + 0.1 if known else np.nan,
                    "ci_level": 0.95, "reason": "" if known else "no cell",
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def figures():
    models = ["a", HOSTILE, "silent"]
    levels = pd.DataFrame(
        [
            {"model": m, "level": x, "estimate": np.nan if (m, x) == ("a", "few") else 0.5}
            for m in models
            for x in ("zero", "few")
        ]
    )
    points = pd.DataFrame(
        {"model": models, "value": [3.0, 1.0, np.nan], "estimate": [0.5, 0.9, 0.2], "ci_low": 0.1, "ci_high": 0.95}
    )
    return {
        "dumbbell": dumbbell_figure(belief(models), name="dumbbell"),
        "butterfly": butterfly_figure(
            pd.DataFrame({"model": models, "left": [0.9, 0.4, np.nan], "right": [0.5, 0.6, 0.1]}), name="butterfly"
        ),
        "heat": condition_heat_map(levels, factor="strategy", name="heat", levels=("zero", "few")),
        "external": external_rank_figure(points, value="rank", name="external", lower_is_better=True),
    }


@pytest.mark.parametrize("name", ["dumbbell", "butterfly", "heat", "external"])
def test_figures_render_the_same_twice(name):
    """Catches a name that breaks the drawing, and drawings that differ from run to run."""
    first, second = (rendered_figure(figures()[name], simulated=True) for _ in range(2))
    assert first.svg == second.svg
    assert first.png[:4] == b"\x89PNG"


def test_data_behind_the_figures():
    """Catches models sorted by name, and undefined ones drawn or lost in silence."""
    drawn = figures()
    assert drawn["dumbbell"].data["model"].tolist() == ["a", HOSTILE]
    assert "Not shown: silent (no cell)." in drawn["dumbbell"].caption
    assert drawn["butterfly"].data["left"].tolist() == [0.9, 0.4]
    assert "Not shown: 1 model" in drawn["butterfly"].caption
    assert list(drawn["heat"].data.columns[2:]) == ["zero", "few"]
    assert "Empty: 1 cell" in drawn["heat"].caption
    assert drawn["external"].data["value"].tolist() == [1, 3]


def test_nothing_to_draw():
    """Catches a crash on a task whose models all lack a cell."""
    empty = dumbbell_figure(belief(["silent"]), name="empty")
    assert empty.data.empty
    rendered_figure(empty)
