"""``report.pdf``: the document compiled, where a LaTeX engine is installed."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from analysis.report.document import DOCUMENT

ENGINES: Final = ("pdflatex", "lualatex")
#: Seconds for one pass; a document of this kind takes a few.
_PATIENCE: Final = 120
#: References to tables and figures are right from the second pass, columns of tables over several pages from the third.
_PASSES: Final = (2, 5)
#: In the file of a table that breaks over pages.
_LONG: Final = rb"\begin{longtable}"
#: What the engine's log says as long as another pass would change something.
_UNSETTLED: Final = re.compile(rb"Rerun (?:LaTeX|to get)|widths have changed")


@dataclass(frozen=True, slots=True)
class Typeset:
    """What became of the document: ``engine`` empty without one, ``problem`` empty where the PDF was made."""

    engine: str = ""
    problem: str = ""


def typeset(folder: Path, *, figures: Event | None = None) -> Typeset:
    """Compile ``report.tex`` in the folder of a report and put ``report.pdf`` beside it.

    The engine may not run programs, nor read or write outside the report and its own scratch folder.
    Whatever goes wrong leaves the report as it was, without a PDF, and is said in ``problem``.

    Parameters
    ----------
    folder : Path
    figures : Event, optional
        Set once the figures are those to print. Until then they may be blank pages of the same size, with which
        the passes are made that only find out where everything stands; default: they are there.
    """
    engine = next((name for name in ENGINES if shutil.which(name)), "")
    if not engine:
        return Typeset(problem=f"no LaTeX engine is installed ({' or '.join(ENGINES)})")
    with tempfile.TemporaryDirectory(prefix="evenhand-latex-") as scratch:
        command = [
            engine,
            "-interaction=nonstopmode",
            "-halt-on-error",
            "-no-shell-escape",
            f"-output-directory={scratch}",
        ]
        without_output = _unprinted_passes(folder)
        for done in range(1, _PASSES[1] + 1):
            unprinted = done <= without_output
            if not unprinted and figures is not None:
                figures.wait()
            problem = _one_pass([*command, *(["-draftmode"] if unprinted else []), DOCUMENT], folder, scratch)
            if problem:
                return Typeset(engine, problem)
            if not unprinted and done >= _PASSES[0] and _settled(Path(scratch, DOCUMENT).with_suffix(".log")):
                break
        made = Path(scratch, DOCUMENT).with_suffix(".pdf")
        if not made.is_file():
            return Typeset(engine, f"{engine} wrote no document")
        shutil.copyfile(made, folder / made.name)
    return Typeset(engine)


def _unprinted_passes(folder: Path) -> int:
    """Passes after which another one is needed anyhow, so that they need not write the document."""
    return _PASSES[0] if any(_LONG in path.read_bytes() for path in folder.glob("tables/*.tex")) else _PASSES[0] - 1


def _settled(log: Path) -> bool:
    return not (log.is_file() and _UNSETTLED.search(log.read_bytes()))


def _one_pass(command: list[str], folder: Path, scratch: str) -> str:
    """Why one pass failed, empty where it did not."""
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": "0",
        "FORCE_SOURCE_DATE": "1",
        "openin_any": "p",
        "TEXMFOUTPUT": scratch,
    }
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took more than {_PATIENCE} s"
    except OSError as error:
        return f"{command[0]} cannot be run ({error.strerror or error})"
    if done.returncode == 0:
        return ""
    said = re.search(r"^!? ?(.*(?:Error|!).*)$", done.stdout.decode("utf-8", "replace"), re.MULTILINE)
    return f"{command[0]} stopped: {said[1].strip()[:200] if said else 'see report.tex'}"
