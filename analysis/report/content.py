"""What a report consists of, before it is rendered as a page and written as files."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

import pandas as pd
from matplotlib.figure import Figure as Canvas

from analysis.errors import AnalysisError
from analysis.report.spec import Table

#: The whole summary of a report that has nothing to claim.
NOTHING_CLAIMED: Final = "Nothing in these logs allows a claim."
_STEM = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


@dataclass(frozen=True, slots=True)
class RenderedFigure:
    """A figure in its three formats, as bytes."""

    pdf: bytes
    svg: bytes
    png: bytes


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with the data it shows.

    ``name`` is the stem of its files, ``alt`` the alternative text, ``data`` the numbers drawn (written
    as CSV), ``size`` width and height in inches; ``draw`` fills an empty matplotlib figure of that size;
    ``rendered`` are its files where it was drawn already.
    """

    name: str
    title: str
    caption: str
    alt: str
    data: pd.DataFrame
    size: tuple[float, float]
    draw: Callable[[Canvas], None]
    rendered: RenderedFigure | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: plain sentences first, then tables and figures, then remarks in small type."""

    title: str
    lead: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportContent:
    """A whole report.

    ``summary`` says what can be claimed, ``limits`` what cannot, ``attention`` what the reader should
    look into, ``methods`` how the numbers were made, citing ``report.references``; ``data`` are the
    reduced tables by file stem; ``manifest`` is that of ``report.manifest``; ``files`` are further files
    of the folder ``data``, by relative path.
    """

    title: str
    summary: tuple[str, ...]
    attention: tuple[str, ...]
    sections: tuple[Section, ...]
    data: dict[str, pd.DataFrame]
    manifest: dict[str, Any]
    simulated: bool
    limits: tuple[str, ...] = field(default=())
    methods: tuple[str, ...] = field(default=())
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of all sections, in order."""
        return tuple(table for section in self.sections for table in section.tables)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Figures of all sections, in order."""
        return tuple(figure for section in self.sections for figure in section.figures)


def printed_sentences(content: ReportContent, sentences: Iterable[str]) -> tuple[str, ...]:
    """Sentences as a reader sees them: with a capital letter, unless they begin with the name of a model or task."""
    statuses = content.data.get("statuses", pd.DataFrame())
    names = {str(v).casefold() for column in ("model", "task") if column in statuses for v in statuses[column].unique()}
    starts = tuple(name for name in names if name)

    def capital(said: str) -> str:
        plain = re.match(r"[a-z]+(?=[ :,])", said) and not said.casefold().startswith(starts)
        return said[0].upper() + said[1:] if plain else said

    return tuple(map(capital, sentences))


def file_stem(*parts: str) -> str:
    """A stem that is safe in any file system and address, made of the letters and digits of ``parts``.

    Different texts may give the same stem; ``check_names`` finds that out before anything is written.
    """
    words = [re.sub(r"[^a-z0-9]+", "_", part.lower()).strip("_") for part in parts]
    return "_".join(word for word in words if word)[:80].rstrip("_") or "untitled"


def with_distinct_names(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Sections whose tables, and whose figures, have a file each: later ones of one name are numbered from 2.

    Tasks may differ in characters that no file name keeps.
    """
    tables: set[str] = set()
    figures: set[str] = set()
    found = []
    for section in sections:
        own = tuple(replace(t, spec=replace(t.spec, name=_free(t.spec.name, tables))) for t in section.tables)
        drawn = tuple(replace(figure, name=_free(figure.name, figures)) for figure in section.figures)
        found.append(replace(section, tables=own, figures=drawn))
    return tuple(found)


def _free(name: str, taken: set[str]) -> str:
    """The name, numbered if it is taken; it is taken from now on."""
    numbered = (name if k == 1 else f"{name[:70]}_{k}" for k in count(1))
    free = next(stem for stem in numbered if stem not in taken)
    taken.add(free)
    return free


def check_names(content: ReportContent) -> None:
    """Refuse names of tables, figures or data that are no safe stems or stand for two things."""
    kinds = {
        "table": [table.spec.name for table in content.tables],
        "figure": [figure.name for figure in content.figures],
        "data": list(content.data),
    }
    for kind, names in kinds.items():
        unsafe = [name for name in names if not _STEM.fullmatch(name)]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if unsafe or twice:
            what = "is no safe file name" if unsafe else "names two of them"
            raise AnalysisError(
                f"{kind} {(unsafe or twice)[0]!r} {what}; make names with file_stem", offenders=unsafe + twice
            )
