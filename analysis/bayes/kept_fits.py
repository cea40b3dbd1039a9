"""Fits kept on disk, whole and as they were written, under the hash of everything that they depend on."""

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.sampling import SamplerSettings

#: What is said of a kept fit that is not as it was written.
UNREADABLE: Final = "a kept fit cannot be used"
_DRAWS: Final = "draws.npz"
_REST: Final = "fit.json"
#: Packages whose version changes draws or what is computed from them.
_PACKAGES: Final = ("numpy", "scipy", "numba", "nutpie", "pymc", "pytensor", "arviz")


def code_version() -> str:
    """Hash of the sources of this stage and of the measures it applies."""
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for folder in (here, here.parent / "measures"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(here.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def circumstances(priors: Any, settings: SamplerSettings, options: Mapping[str, Any]) -> bytes:
    """What a fit depends on beside its data: priors (a dataclass of numbers), settings, options, versions, code.

    The number of cores is left out: it changes no result.
    """
    settled = {name: value for name, value in asdict(settings).items() if name != "cores"}
    versions = {name: version(name) for name in _PACKAGES}
    told = json.dumps([asdict(priors), settled, dict(options), versions], sort_keys=True)
    return told.encode() + code_version().encode()


def key_of(kind: str, data: pd.DataFrame, priors: Any, settings: SamplerSettings, options: Mapping[str, Any]) -> str:
    """``<kind>-`` and a hash of data and ``circumstances``."""
    digest = hashlib.sha256(data.to_csv(index=False).encode())
    digest.update(circumstances(priors, settings, options))
    return f"{kind}-{digest.hexdigest()[:32]}"


def load_intact[Fit](
    folder: Path,
    key: str,
    read: Callable[[Path, dict[str, Any]], Fit],
    *,
    tell: Callable[[str], None] | None = None,
) -> Fit | None:
    """A kept fit, or None where there is none or where it is not as it was written.

    Parameters
    ----------
    folder : Path
    key : str
    read : callable
        Makes the fit of the folder in which it lies and of what JSON holds of it.
    tell : callable, optional
        Receives a sentence where something is there and is not used.

    Notes
    -----
    Every file is compared with its recorded hash before it is opened.
    """
    place = folder / key
    try:
        rest = json.loads((place / _REST).read_text(encoding="utf-8"))
        if rest.pop("files") == _digests(place):
            return read(place, rest)
    except FileNotFoundError:
        if not place.exists():
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    if tell is not None:
        tell(f"{UNREADABLE} ({key}) and is made again")
    return None


def keep_whole(folder: Path, key: str, write: Callable[[Path], dict[str, Any]]) -> None:
    """Keep what ``write`` puts into a new folder, and as JSON what it returns: all of it, or nothing."""
    partial = folder / f".{key}.{uuid.uuid4().hex}"
    partial.mkdir(parents=True)
    try:
        rest = write(partial)
        (partial / _REST).write_text(json.dumps({**rest, "files": _digests(partial)}), encoding="utf-8")
        place = folder / key
        if place.exists():
            shutil.rmtree(place)
        partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def kept_files(folder: Path, key: str) -> dict[str, bytes]:
    """The files of a kept fit by their path relative to ``folder``; empty where there is none."""
    place = folder / key
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()
    }


def load_kept[Fit](
    folder: Path, key: str, kind: type[Fit], tables: Sequence[str], *, tell: Callable[[str], None] | None = None
) -> Fit | None:
    """A fit that ``keep`` wrote, or None as ``load_intact`` returns it.

    Parameters
    ----------
    folder : Path
    key : str
    kind : type
        Frozen dataclass with the fields ``tables``, ``draws`` (mapping to arrays), ``sentences`` (tuple), and others
        that JSON can hold.
    tables : sequence of str
        Fields that are tables.
    tell : callable, optional
    """

    def read(place: Path, rest: dict[str, Any]) -> Fit:
        found = {name: pd.read_parquet(place / f"{name}.parquet") for name in tables}
        with np.load(place / _DRAWS, allow_pickle=False) as arrays:
            draws = {name: arrays[f"x{i}"] for i, name in enumerate(rest.pop("draw_names"))}
        return kind(**{**rest, **found, "sentences": tuple(rest["sentences"]), "draws": draws})

    return load_intact(folder, key, read, tell=tell)


def keep(folder: Path, key: str, fit: Any, tables: Sequence[str]) -> None:
    """Write a fit, whole or not at all: tables as Parquet, draws as NumPy arrays, the rest as JSON."""

    def write(place: Path) -> dict[str, Any]:
        np.savez(place / _DRAWS, allow_pickle=False, **{f"x{i}": array for i, array in enumerate(fit.draws.values())})
        return {**written_tables(fit, tables, place), "draw_names": list(fit.draws)}

    keep_whole(folder, key, write)


def written_tables(fit: Any, tables: Sequence[str], place: Path) -> dict[str, Any]:
    """Write the tables of a fit as Parquet; returns its other fields but the draws."""
    for name in tables:
        getattr(fit, name).to_parquet(place / f"{name}.parquet", index=False)
    return {f.name: getattr(fit, f.name) for f in fields(fit) if f.name not in (*tables, "draws")}


def _digests(place: Path) -> dict[str, str]:
    """SHA-256 of every file of a kept fit but the one that records them."""
    return {
        path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.name != _REST
    }
