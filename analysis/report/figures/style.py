"""One look for every figure: a font that ships with matplotlib, colours that colour-blind readers tell apart."""

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

#: Font that matplotlib brings along, so that a figure is the same on every machine.
FONT: Final = "DejaVu Sans"
TEXT_SIZE: Final = 8.0
LABEL_SIZE: Final = 7.0

#: Okabe and Ito (2008), "Color universal design".
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
INK: Final = "#222222"
SOFT: Final = "#6B6B6B"
FAINT: Final = "#C9C9C9"
SHADE: Final = "#F1F1EE"
PAPER: Final = "#FFFFFF"

#: Settings under which every figure is drawn and saved.
STYLE: Final[Any] = {
    "font.family": [FONT],
    "font.size": TEXT_SIZE,
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT_SIZE,
    "axes.linewidth": 0.6,
    "axes.unicode_minus": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    # A projecting cap would carry the bar of an interval beyond its ends, and below 0.
    "lines.solid_capstyle": "butt",
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.dpi": 72.0,
    "savefig.dpi": 200.0,
    "path.simplify": False,
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "svg.fonttype": "path",
    "svg.hashsalt": "evenhand",
}


def label_font(size: float) -> FontProperties:
    """The figures' font at a size in points."""
    return FontProperties(family=FONT, size=size)


def style_unit_axis(axes: Axes, *, x: str, y: str) -> None:
    """Both axes from 0 to 1 with ticks at fifths and a little air, named ``x`` and ``y``."""
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    names = ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks(ticks, names)
    axes.set_yticks(ticks, names)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
