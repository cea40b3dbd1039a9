"""Whether a report that lies on disk is the one that the same command would write again."""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from analysis.errors import AnalysisError
from analysis.provenance import file_digest, package_versions, platform_name, python_version
from analysis.report.manifest import MANIFEST_NAME, changed_versions, holds_our_manifest
from analysis.report.typeset import ENGINES

#: What a manifest says of the circumstances in which its report was made, and of what was printed then.
CIRCUMSTANCES: Final = "circumstances"
SAID: Final = "said"


def circumstances(paths: Iterable[Path], named: Iterable[Path], options: Mapping[str, Any]) -> str:
    """Hash of everything that a report depends on; empty where some of it cannot be read.

    Parameters
    ----------
    paths : iterable of Path
        Log files and directories as the user named them. Every file counts, also one that is no log: a report lists it.
    named : iterable of Path
        Files elsewhere that the report uses: settings, answers of a person, tables that the settings name.
    options : mapping
        What the user chose, in JSON types.

    Notes
    -----
    Covers names and content of all files, options, the code and data files of this package, versions of packages and
    of Python, the platform, and which LaTeX engines are installed. Fonts and the version of the engine are not
    covered. Content is hashed, so that neither a copy nor a touched file counts as changed.
    """
    digest = hashlib.sha256()
    told = {
        "options": dict(options),
        "versions": package_versions(),
        "python": python_version(),
        "platform": platform_name(),
        "engines": [name for name in ENGINES if shutil.which(name)],
    }
    digest.update(json.dumps(told, sort_keys=True).encode())
    package = Path(__file__).resolve().parents[1]
    try:
        places = [Path(os.path.abspath(path)) for path in paths]
        root = os.path.commonpath(places) if places else ""
        known = [(package, "code"), *((p, os.path.relpath(p, root)) for p in places), *((p, p.name) for p in named)]
        for place, called in known:
            digest.update(b"\0\0" + os.fsencode(called))
            for name, content in _entries(place, ours=place == package):
                digest.update(b"\0" + os.fsencode(name) + b"\0" + os.fsencode(content))
    except (OSError, AnalysisError):
        return ""
    return digest.hexdigest()


def unchanged(folder: Path, now: str) -> dict[str, Any] | None:
    """What was said when the report in ``folder`` was made, if it was made in the circumstances ``now`` and is whole.

    Parameters
    ----------
    folder : Path
    now : str
        As ``circumstances`` returns it.

    Returns
    -------
    dict or None
        None where the report has to be made: there is none, it came about otherwise, or a file is missing, altered
        or not among those it wrote.
    """
    if not now or not holds_our_manifest(folder) or changed_versions(folder):
        return None
    manifest = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
    said, outputs = manifest.get(SAID), manifest.get("outputs")
    if manifest.get(CIRCUMSTANCES) != now or not isinstance(said, dict) or not isinstance(outputs, dict):
        return None
    try:
        there = dict(_entries(folder, ours=False))
    except (OSError, AnalysisError):
        return None
    there.pop(MANIFEST_NAME, None)
    return said if there == {name: entry.get("sha256") for name, entry in outputs.items()} else None


def _entries(place: Path, *, ours: bool) -> Iterator[tuple[str, str]]:
    """Name and hash of every file in a directory, or of the file itself; only regular files are opened.

    ``ours`` leaves compiled code out.
    """
    if not place.is_dir():
        yield place.name, file_digest(place)
        return
    for root, folders, files in os.walk(place, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not (ours and name == "__pycache__"))
        for name in sorted(files):
            path = Path(root) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                yield path.relative_to(place).as_posix(), f"-> {os.readlink(path)}" + _behind(path)
            elif stat.S_ISREG(mode):
                yield path.relative_to(place).as_posix(), file_digest(path)
            else:
                yield path.relative_to(place).as_posix(), f"kind {stat.S_IFMT(mode):o}"


def _behind(link: Path) -> str:
    """Hash of the file that a link leads to; a link to a directory is not followed."""
    return file_digest(link) if link.is_file() else ""


def _refuse(error: OSError) -> None:
    raise error
