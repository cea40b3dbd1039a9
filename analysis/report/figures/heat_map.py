"""Accuracy of every model on every template: affirmative and negated side by side, one panel per question form."""

import functools
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_label, drawn_labels
from analysis.report.figures.style import BLUE, FAINT, INK, PAPER, SOFT, VERMILION
from analysis.report.numbers import counted

#: From always wrong over chance to always right.
COLOURS: Final = LinearSegmentedColormap.from_list("accuracy", [VERMILION, "#F7F4EE", BLUE])
_TEXT: Final = 5.6
_ROW: Final = 0.125
_COLUMN: Final = 0.092
_LEFT: Final = 1.95
_LONGEST: Final = 28


def heat_map_figure(rows: pd.DataFrame, *, name: str, subject: str = "") -> Figure:
    """Heat map of cell accuracies.

    Parameters
    ----------
    rows : DataFrame
        ``model, label, template, polarity, form, estimate``; rows of the panels in order of appearance of
        ``template``, columns in that of ``model``. An accuracy that is missing stays grey.
    name : str
    """
    data = rows[["form", "template", "polarity", "model", "label", "estimate"]].reset_index(drop=True)
    forms, templates = list(dict.fromkeys(data["form"])), list(dict.fromkeys(data["template"]))
    polarities, models = list(dict.fromkeys(data["polarity"])), list(dict.fromkeys(data["model"]))
    labels = dict(zip(data["model"].astype(str), data["label"].astype(str), strict=True))
    panel = (max(_COLUMN * len(models) * len(polarities) + 0.12, 2.2), _ROW * len(templates))
    bottom = round(0.2 + 0.05 * max((len(name) for name in drawn_labels(models, labels, limit=_LONGEST)), default=0), 2)
    size = (round(_LEFT + panel[0] + 0.75, 2), round(0.12 + len(forms) * (panel[1] + 0.28) + bottom, 2))
    return Figure(
        name=name,
        title="Accuracy by template, polarity, form and model" + (f": {subject}" if subject else ""),
        caption=(
            "Orange: answered wrong; pale: at chance (.5); blue: answered right; grey: not asked. Models from left to "
            "right by competence floor, highest first."
        ),
        alt=(
            f"Heat map with {counted(len(forms), 'panel')}, {counted(len(templates), 'template')} as rows and "
            f"{counted(len(models), 'model')} as columns, {' and '.join(polarities)} questions side by side."
        ),
        data=data,
        size=size,
        draw=functools.partial(
            _draw, data=data, forms=forms, templates=templates, polarities=polarities, models=models, labels=labels,
            panel=panel, size=size, bottom=bottom,
        ),
    )  # fmt: skip


def _draw(
    figure: Canvas,
    data: pd.DataFrame,
    forms: list[str],
    templates: list[str],
    polarities: list[str],
    models: list[str],
    labels: dict[str, str],
    panel: tuple[float, float],
    size: tuple[float, float],
    bottom: float,
) -> None:
    width, height = size
    half = (panel[0] - 0.12 * (len(polarities) - 1)) / len(polarities)
    image = None
    shown = drawn_labels(models, labels, limit=_LONGEST)
    for at, form in enumerate(forms):
        foot = height - 0.34 - at * (panel[1] + 0.28) - panel[1]
        for column, polarity in enumerate(polarities):
            left = _LEFT + column * (half + 0.12)
            axes = figure.add_axes((left / width, foot / height, half / width, panel[1] / height))
            part = data[(data["form"] == form) & (data["polarity"] == polarity)]
            values = _matrix(part, templates, models)
            axes.set_facecolor(FAINT)
            image = axes.imshow(values, cmap=COLOURS, vmin=0, vmax=1, aspect="auto", interpolation="none")
            axes.add_collection(_grid(*values.shape), autolim=False)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            names = [drawn_label(t.replace("_", " "), limit=34) for t in templates] if column == 0 else []
            axes.set_yticks(range(len(names)), names, fontsize=_TEXT)
            last = at == len(forms) - 1
            axes.set_xticks(range(len(models)) if last else [], shown if last else [], fontsize=_TEXT, rotation=90)
            if at == 0:
                figure.text((left + half / 2) / width, 1 - 0.03 / height, polarity, ha="center", va="top", fontsize=7)
        head = drawn_label(form, limit=40)
        figure.text(
            0.06 / width, (foot + panel[1] + 0.03) / height, head, ha="left", va="bottom", fontsize=7, weight="bold"
        )
    if image is not None:
        scale = figure.add_axes(((_LEFT + panel[0] + 0.15) / width, bottom / height, 0.09 / width, 1.1 / height))
        bar = figure.colorbar(image, cax=scale, ticks=[0, 0.5, 1])
        bar.ax.set_yticklabels(["0", "0.5", "1"], fontsize=_TEXT + 1, color=INK)
        bar.outline.set_edgecolor(FAINT)
        bar.ax.tick_params(length=2, color=SOFT)


def _grid(rows: int, columns: int) -> LineCollection:
    """Pale lines between the cells: one artist, where ticks of their own would cost more than all the rest."""
    level = [((-0.5, at - 0.5), (columns - 0.5, at - 0.5)) for at in range(1, rows)]
    upright = [((at - 0.5, -0.5), (at - 0.5, rows - 0.5)) for at in range(1, columns)]
    return LineCollection(level + upright, colors=PAPER, linewidths=0.4, zorder=2)


def _matrix(part: pd.DataFrame, templates: list[str], models: list[str]) -> NDArray[np.float64]:
    """Templates × models; missing where nothing was asked."""
    values = np.full((len(templates), len(models)), np.nan)
    row, column = part["template"].map(templates.index), part["model"].map(models.index)
    values[row.to_numpy(int), column.to_numpy(int)] = part["estimate"].to_numpy(float)
    return values
