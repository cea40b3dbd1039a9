"""Fits kept on disk under the hash of everything that they depend on."""

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import xarray as xr

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.models.surface_layer import ClusterEstimates
from analysis.bayes.priors import Priors
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings

_TABLES: Final = ("table", "unpooled", "gates", "predictive", "sensitivity", "augment")
_DRAWS: Final = "draws.zarr"
_REST: Final = "fit.json"
#: What is said of a kept fit that is not as it was written.
UNREADABLE: Final = "a kept fit cannot be used"
#: Packages whose version changes draws or what is computed from them.
_PACKAGES: Final = ("numpy", "scipy", "numba", "nutpie", "arviz")


def fit_key(
    design: CountDesign,
    surfaces: CountDesign | None,
    clusters: ClusterEstimates | None,
    priors: Priors,
    settings: SamplerSettings,
    options: Mapping[str, Any],
) -> str:
    """Hash of data, model, priors, sampler settings, seed and code; equal keys mean equal results.

    The number of cores is left out: it changes no result.
    """
    digest = hashlib.sha256()
    for part in (design, surfaces, clusters):
        _add(digest, part)
    settled = {name: value for name, value in asdict(settings).items() if name != "cores"}
    versions = {name: version(name) for name in _PACKAGES}
    digest.update(json.dumps([asdict(priors), settled, dict(options), versions], sort_keys=True).encode())
    digest.update(code_version().encode())
    return digest.hexdigest()[:32]


def code_version() -> str:
    """Hash of the sources of this stage and of the measures it applies."""
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for folder in (here, here.parent / "measures"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(here.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def load_fit(folder: Path, key: str, *, tell: Callable[[str], None] | None = None) -> AnswerBiasFit | None:
    """A kept fit, or None where there is none or where it is not as it was written.

    Parameters
    ----------
    folder : Path
    key : str
        Of ``fit_key``.
    tell : callable, optional
        Receives a sentence where something is there and is not used.

    Notes
    -----
    Every file is compared with its recorded hash before it is opened, and draws are read as Zarr format 3, which
    holds plain arrays: nothing of a kept fit is ever executed.
    """
    place = folder / key
    try:
        rest = json.loads((place / _REST).read_text(encoding="utf-8"))
        digests = rest.pop("files")
        intact = digests == _digests(place)
        if intact:
            return _loaded(place, rest)
    except FileNotFoundError:
        if not place.exists():
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    if tell is not None:
        tell(f"{UNREADABLE} ({key}) and is made again")
    return None


def _loaded(place: Path, rest: dict[str, Any]) -> AnswerBiasFit:
    tables = {name: pd.read_parquet(place / f"{name}.parquet") for name in _TABLES}
    with xr.open_datatree(place / _DRAWS, engine="zarr", consolidated=False, zarr_format=3) as tree:
        draws = {
            str(array.attrs["name"]): array.to_numpy()
            for group in ("posterior", "hyper_parameters")
            for _, array in sorted(tree[group].data_vars.items(), key=lambda item: int(str(item[0])[1:]))
        }
    found: dict[str, Any] = {**rest, **tables, "sentences": tuple(rest["sentences"]), "draws": draws}
    return AnswerBiasFit(**found)


def kept_files(folder: Path, key: str) -> dict[str, bytes]:
    """The files of a kept fit by their path relative to ``folder``; empty where there is none."""
    place = folder / key
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()
    }


def _digests(place: Path) -> dict[str, str]:
    """SHA-256 of every file of a kept fit but the one that records them."""
    return {
        path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.relative_to(place).as_posix() != _REST
    }


def keep_fit(folder: Path, key: str, fit: AnswerBiasFit) -> None:
    """Write a fit: tables as Parquet, draws as an ArviZ-style DataTree in Zarr; whole or not at all."""
    partial = folder / f".{key}.{uuid.uuid4().hex}"
    partial.mkdir(parents=True)
    try:
        for name in _TABLES:
            getattr(fit, name).to_parquet(partial / f"{name}.parquet", index=False)
        draws_tree(fit).to_zarr(partial / _DRAWS, consolidated=False, zarr_format=3)
        rest = {f.name: getattr(fit, f.name) for f in fields(fit) if f.name not in (*_TABLES, "draws")}
        rest["glance"] = dict(fit.glance)
        rest["files"] = _digests(partial)
        (partial / _REST).write_text(json.dumps(rest), encoding="utf-8")
        place = folder / key
        if place.exists():
            shutil.rmtree(place)
        partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def draws_tree(fit: AnswerBiasFit) -> xr.DataTree:
    """Draws as a DataTree: ``posterior`` (accuracies by model and cell) and ``hyper_parameters``."""
    groups: dict[str, dict[str, Any]] = {"posterior": {}, "hyper_parameters": {}}
    for i, (name, array) in enumerate(fit.draws.items()):
        group = "hyper_parameters" if name.startswith("hyper") else "posterior"
        inner = ("parameter",) if group == "hyper_parameters" else ("model", "cell")
        dims = ("chain", "draw", *(f"{dim}_{i}" for dim in inner))
        groups[group][f"x{i}"] = (dims, array, {"name": name})
    return xr.DataTree.from_dict({name: xr.Dataset(arrays) for name, arrays in groups.items()})


def _add(digest: Any, part: Any) -> None:
    """Content of a frozen dataclass of arrays, tables and texts."""
    if part is None:
        digest.update(b"none\0")
        return
    for field in fields(part):
        value = getattr(part, field.name)
        digest.update(field.name.encode() + b"\0")
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
        elif isinstance(value, pd.DataFrame):
            digest.update(value.to_csv(index=False).encode())
        else:
            digest.update(repr(value).encode())
