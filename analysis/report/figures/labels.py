"""Names out of logs as they can be drawn: nothing hidden, nothing interpreted, nothing too long."""

import functools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.font_manager import findfont, get_font

from analysis.report.escape import ELLIPSIS, code_point, visible
from analysis.report.figures.style import label_font

#: Unicode categories that print nothing or steer the text around them.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def short_label(text: str, *, limit: int = 32, glyphs: frozenset[int] | None = None) -> str:
    """Text in which every invisible, steering or missing character is spelled ``[U+XXXX]``, on one line.

    Longer text is cut in the middle to at most ``limit`` characters: model names differ at both ends,
    vendor first, date or size last. A ``[U+XXXX]`` is never cut in two. ``glyphs`` are the code points
    that the font has; without it no character counts as missing. Text that prints nothing at all
    becomes ``[empty]`` or ``[blank]``.
    """
    units = _units(text, glyphs)
    if sum(map(len, units)) <= limit:
        return "".join(units)
    head = _fitting(units, (limit - 1) - (limit - 1) // 2)
    tail = _fitting(units[::-1], (limit - 1) // 2)
    return "".join([*head, ELLIPSIS, *tail[::-1]])


def drawn_labels(models: Sequence[str], labels: Mapping[str, str] | None = None, *, limit: int = 32) -> tuple[str, ...]:
    """One label per model in the font of the figures; equal labels are told apart by ``#1``, ``#2``.

    Parameters
    ----------
    models : sequence of str
        Distinct names as logged.
    labels : dict, optional
        Printed names by model; a model without one keeps its own name.
    limit : int
        Most characters of a label.
    """
    chosen = labels or {}
    short = [drawn_label(chosen.get(m, m), limit=limit) for m in models]
    shared = {label for label, times in Counter(short).items() if times > 1}
    seen: Counter[str] = Counter()
    result = []
    for label in short:
        seen[label] += 1
        result.append(f"{label} #{seen[label]}" if label in shared else label)
    return tuple(result)


def drawn_label(text: str, *, limit: int = 32) -> str:
    """Any text of the logs in the font of the figures: a level, an option, a family."""
    return short_label(text, limit=limit, glyphs=font_glyphs())


@functools.cache
def font_glyphs() -> frozenset[int]:
    """Code points that the font of the figures can draw."""
    return frozenset(get_font(findfont(label_font(8))).get_charmap())


def _units(text: str, glyphs: frozenset[int] | None) -> list[str]:
    if not text.strip():
        return ["[blank]" if text else "[empty]"]
    return [code_point(c) if _unseen(c, glyphs) else visible(c) for c in text]


def _unseen(character: str, glyphs: frozenset[int] | None) -> bool:
    category = unicodedata.category(character)
    if category in _UNSEEN or (category == "Zs" and character != " "):
        return True
    return glyphs is not None and ord(character) not in glyphs


def _fitting(units: Iterable[str], room: int) -> list[str]:
    taken: list[str] = []
    for unit in units:
        room -= len(unit)
        if room < 0:
            break
        taken.append(unit)
    return taken
