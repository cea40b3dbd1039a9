"""Figures with a row per model: what they draw, what they leave out and say so, and names out of logs."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Canvas

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


def ranked(names, values):
    """Accuracies that lie close to each other, against ranks."""
    shown = {"model": names, "value": values, "estimate": 0.85 + 0.001 * np.arange(len(names))}
    return pd.DataFrame(shown).assign(ci_low=0.8, ci_high=0.9)


def test_names_beside_an_external_rank_lie_within_the_frame_and_apart():
    """Catches the best model's name cut off at the right edge, and names drawn over each other."""
    names = [f"organisation/model-{i}" for i in range(4)]
    figure = external_rank_figure(ranked(names, [1.0, 2.0, 3.0, 20.0]), value="rank", name="x", lower_is_better=True)
    places = figure.draw.keywords["places"]
    assert figure.draw.keywords["texts"] == tuple(names)
    assert places.complete
    left, bottom, right, top = places.boxes.T
    assert left.min() >= 0
    assert right.max() <= figure.size[0] * 0.85 * 72
    apart = (left[:, None] >= right) | (right[:, None] <= left) | (bottom[:, None] >= top) | (top[:, None] <= bottom)
    assert apart[~np.eye(4, dtype=bool)].all()
    canvas = Canvas(figsize=figure.size)
    figure.draw(canvas)
    ticks = canvas.axes[0].get_xticks()
    assert (ticks == ticks.astype(int)).all()


def test_more_names_than_fit_become_numbers_that_the_caption_explains():
    """Catches models whose names find no place and are left out without a word."""
    names = [f"organisation/model-{i:02d}" for i in range(20)]
    figure = external_rank_figure(ranked(names, [1.0 + i % 2 for i in range(20)]), value="rank", name="x")
    assert figure.draw.keywords["texts"] == tuple(str(i + 1) for i in range(20))
    order = figure.data["model"].tolist()
    assert f"1 {order[0]}, 2 {order[1]}" in figure.caption
    assert all(name in figure.caption for name in names)


def test_numbers_on_shades_can_be_read():
    """Catches white numbers on a light shade: at .7 their contrast was below 3 to 1."""

    def luminance(colour):
        parts = np.array(to_rgb(colour))
        parts = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(parts @ [0.2126, 0.7152, 0.0722])

    values = np.linspace(0, 1, 51)
    rows = pd.DataFrame({"model": "m", "level": [f"{v:.2f}" for v in values], "estimate": values})
    figure = condition_heat_map(rows, factor="strategy", name="heat")
    canvas = Canvas(figsize=(40, 2))
    figure.draw(canvas)
    axes = canvas.axes[0]
    shades = [luminance(patch.get_facecolor()[0][:3]) for patch in axes.collections]
    texts = [luminance(text.get_color()) for text in axes.texts]
    contrast = [(max(a, b) + 0.05) / (min(a, b) + 0.05) for a, b in zip(shades, texts, strict=True)]
    assert min(contrast) > 3.9
