"""Compiled programs that numba keeps on disk, dropped when a source they may be made of has changed."""

import hashlib
from pathlib import Path
from typing import Final

_STAMP: Final = "compiled_from.txt"


def drop_stale_programs(folder: Path) -> bool:
    """Remove what numba compiled from other sources than those that lie in a folder now.

    numba keeps a function until the file that defines it changes; a function that it calls from another file is
    compiled into it, and a change of that one goes unnoticed. Where the folder cannot be written to, nothing happens.

    Parameters
    ----------
    folder : Path
        With the sources, and numba's files in its ``__pycache__``.

    Returns
    -------
    bool
        Whether programs were made of other sources, or of unknown ones.
    """
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    kept, said = folder / "__pycache__", digest.hexdigest()
    stamp = kept / _STAMP
    try:
        if stamp.is_file() and stamp.read_text(encoding="ascii") == said:
            return False
        kept.mkdir(exist_ok=True)
        for program in kept.glob("*.nb[ci]"):
            program.unlink(missing_ok=True)
        stamp.write_text(said, encoding="ascii")
    except OSError:
        return False
    return True
