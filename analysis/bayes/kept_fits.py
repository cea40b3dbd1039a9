"""Fits of any model kept on disk under the hash of everything that they depend on."""

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

from analysis.bayes.cache import UNREADABLE, code_version
from analysis.bayes.sampling import SamplerSettings

_DRAWS: Final = "draws.npz"
_REST: Final = "fit.json"
#: Packages whose version changes draws or what is computed from them.
_PACKAGES: Final = ("numpy", "scipy", "numba", "nutpie", "pymc", "pytensor", "arviz")


def key_of(kind: str, data: pd.DataFrame, priors: Any, settings: SamplerSettings, options: Mapping[str, Any]) -> str:
    """``<kind>-`` and a hash of data, priors, sampler settings, options, versions and code.

    The number of cores is left out: it changes no result. ``priors`` is a dataclass of numbers.
    """
    settled = {name: value for name, value in asdict(settings).items() if name != "cores"}
    versions = {name: version(name) for name in _PACKAGES}
    digest = hashlib.sha256(data.to_csv(index=False).encode())
    digest.update(json.dumps([asdict(priors), settled, dict(options), versions], sort_keys=True).encode())
    digest.update(code_version().encode())
    return f"{kind}-{digest.hexdigest()[:32]}"


def load_kept[Fit](
    folder: Path, key: str, kind: type[Fit], tables: Sequence[str], *, tell: Callable[[str], None] | None = None
) -> Fit | None:
    """A kept fit, or None where there is none or where it is not as it was written.

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
        Receives a sentence where something is there and is not used.

    Notes
    -----
    Every file is compared with its recorded hash before it is opened.
    """
    place = folder / key
    try:
        rest = json.loads((place / _REST).read_text(encoding="utf-8"))
        if rest.pop("files") == _digests(place):
            found = {name: pd.read_parquet(place / f"{name}.parquet") for name in tables}
            with np.load(place / _DRAWS, allow_pickle=False) as arrays:
                draws = {name: arrays[f"x{i}"] for i, name in enumerate(rest.pop("draw_names"))}
            return kind(**{**rest, **found, "sentences": tuple(rest["sentences"]), "draws": draws})
    except FileNotFoundError:
        if not place.exists():
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    if tell is not None:
        tell(f"{UNREADABLE} ({key}) and is made again")
    return None


def keep(folder: Path, key: str, fit: Any, tables: Sequence[str]) -> None:
    """Write a fit, whole or not at all: tables as Parquet, draws as NumPy arrays, the rest as JSON."""
    partial = folder / f".{key}.{uuid.uuid4().hex}"
    partial.mkdir(parents=True)
    try:
        for name in tables:
            getattr(fit, name).to_parquet(partial / f"{name}.parquet", index=False)
        np.savez(partial / _DRAWS, allow_pickle=False, **{f"x{i}": array for i, array in enumerate(fit.draws.values())})
        rest = {f.name: getattr(fit, f.name) for f in fields(fit) if f.name not in (*tables, "draws")}
        rest |= {"draw_names": list(fit.draws), "files": _digests(partial)}
        (partial / _REST).write_text(json.dumps(rest), encoding="utf-8")
        place = folder / key
        if place.exists():
            shutil.rmtree(place)
        partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _digests(place: Path) -> dict[str, str]:
    """SHA-256 of every file of a kept fit but the one that records them."""
    return {
        path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.name != _REST
    }
