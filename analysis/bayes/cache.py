"""Fits of the answer-bias model kept on disk, their draws as a DataTree."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import xarray as xr

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.kept_fits import circumstances, keep_whole, load_intact, written_tables
from analysis.bayes.models.surface_layer import ClusterEstimates
from analysis.bayes.priors import Priors
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings

_TABLES: Final = ("table", "unpooled", "gates", "predictive", "sensitivity", "augment")
_DRAWS: Final = "draws.zarr"


def fit_key(
    design: CountDesign,
    surfaces: CountDesign | None,
    clusters: ClusterEstimates | None,
    priors: Priors,
    settings: SamplerSettings,
    options: Mapping[str, Any],
) -> str:
    """Hash of data, model, priors, sampler settings, seed and code; equal keys mean equal results."""
    digest = hashlib.sha256()
    for part in (design, surfaces, clusters):
        _add(digest, part)
    digest.update(circumstances(priors, settings, options))
    return digest.hexdigest()[:32]


def load_fit(folder: Path, key: str, *, tell: Callable[[str], None] | None = None) -> AnswerBiasFit | None:
    """A kept fit, or None as ``kept_fits.load_intact`` returns it.

    Parameters
    ----------
    folder : Path
    key : str
        Of ``fit_key``.
    tell : callable, optional
        Receives a sentence where something is there and is not used.

    Notes
    -----
    Draws are read as Zarr format 3, which holds plain arrays: nothing of a kept fit is ever executed.
    """
    return load_intact(folder, key, _loaded, tell=tell)


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


def keep_fit(folder: Path, key: str, fit: AnswerBiasFit) -> None:
    """Write a fit: tables as Parquet, draws as an ArviZ-style DataTree in Zarr; whole or not at all."""

    def write(place: Path) -> dict[str, Any]:
        draws_tree(fit).to_zarr(place / _DRAWS, consolidated=False, zarr_format=3)
        return {**written_tables(fit, _TABLES, place), "glance": dict(fit.glance)}

    keep_whole(folder, key, write)


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
