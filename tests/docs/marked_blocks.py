"""Fenced blocks of a page, and what the comment before each says about it.

Every block of ``sh`` and ``python`` is run, unless the comment before it says why not:

- ``<!-- not run: REASON -->``: it is not run, for the reason given
- ``<!-- exits: 2 -->``: it is run, and ends with this status
- ``<!-- file: PATH -->``: the block, of any language, is written to this file first
- ``<!-- output -->``: its lines stand in this order in what the block before printed; ``…`` is anything
"""

import re
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"<!--\s*(not run|exits|file|output)(?::\s*(.*?))?\s*-->")
_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<language>[^\s`]*)")
RUN = ("sh", "python")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it begins, its language, its text, and what is said of it."""

    line: int
    language: str
    text: str
    said: str
    value: str


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page in order."""
    found: list[Block] = []
    said, value, lines = "", "", iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if comment := _COMMENT.fullmatch(line.strip()):
            said, value = comment[1], comment[2] or ""
        elif fence := _FENCE.match(line):
            inside = []
            for _, inner in lines:
                if inner.rstrip() == fence["ticks"]:
                    break
                inside.append(inner)
            found.append(Block(number, fence["language"], "\n".join(inside) + "\n", said, value))
            said, value = "", ""
        elif line.strip():
            said, value = "", ""
    return found


def lacking_line(shown: str, printed: str) -> str | None:
    """First line of ``shown`` that does not come, in this order, among the lines of ``printed``; None if all do."""
    lines = iter(printed.splitlines())
    for wanted in shown.splitlines():
        if wanted.strip() in ("", "…"):
            continue
        pattern = re.compile(".*".join(map(re.escape, wanted.rstrip().split("…"))))
        if not any(pattern.fullmatch(line.rstrip()) for line in lines):
            return wanted
    return None
