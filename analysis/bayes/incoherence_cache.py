"""Fits of incoherence kept on disk under the hash of everything that they depend on."""

import hashlib
import json
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.cache import code_version
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_result import IncoherenceFit
from analysis.bayes.sampling import SamplerSettings

_TABLES: Final = ("table", "contrasts", "glance", "gates", "predictive", "sensitivity", "refits", "augment")
_DRAWS: Final = "draws.npz"
_REST: Final = "fit.json"
#: Packages whose version changes draws or what is computed from them.
_PACKAGES: Final = ("numpy", "scipy", "numba", "nutpie", "pymc", "pytensor", "arviz")


def fit_key(
    checked: pd.DataFrame, priors: IncoherencePriors, settings: SamplerSettings, options: Mapping[str, Any]
) -> str:
    """Hash of data, priors, sampler settings, options, versions and code; the number of cores changes no result."""
    settled = {name: value for name, value in asdict(settings).items() if name != "cores"}
    versions = {name: version(name) for name in _PACKAGES}
    digest = hashlib.sha256(checked.to_csv(index=False).encode())
    digest.update(json.dumps([asdict(priors), settled, dict(options), versions], sort_keys=True).encode())
    digest.update(code_version().encode())
    return "incoherence-" + digest.hexdigest()[:32]


def load_fit(folder: Path, key: str) -> IncoherenceFit | None:
    """A kept fit, or None where there is none or where it cannot be read."""
    place = folder / key
    try:
        rest = json.loads((place / _REST).read_text(encoding="utf-8"))
        tables = {name: pd.read_parquet(place / f"{name}.parquet") for name in _TABLES}
        with np.load(place / _DRAWS, allow_pickle=False) as arrays:
            draws = {name: arrays[f"x{i}"] for i, name in enumerate(rest.pop("draw_names"))}
    except (OSError, ValueError, KeyError):
        return None
    found: dict[str, Any] = {**rest, **tables, "sentences": tuple(rest["sentences"]), "draws": draws}
    return IncoherenceFit(**found)


def keep_fit(folder: Path, key: str, fit: IncoherenceFit) -> None:
    """Write a fit, whole or not at all: tables as Parquet, draws as NumPy arrays."""
    partial = folder / f".{key}.{uuid.uuid4().hex}"
    partial.mkdir(parents=True)
    try:
        for name in _TABLES:
            getattr(fit, name).to_parquet(partial / f"{name}.parquet", index=False)
        np.savez(partial / _DRAWS, allow_pickle=False, **{f"x{i}": array for i, array in enumerate(fit.draws.values())})
        rest = {f.name: getattr(fit, f.name) for f in fields(fit) if f.name not in (*_TABLES, "draws")}
        (partial / _REST).write_text(json.dumps({**rest, "draw_names": list(fit.draws)}), encoding="utf-8")
        place = folder / key
        if place.exists():
            shutil.rmtree(place)
        partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
