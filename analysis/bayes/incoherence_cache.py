"""Fits of incoherence kept on disk under the hash of everything that they depend on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_result import IncoherenceFit
from analysis.bayes.kept_fits import keep, key_of, load_kept
from analysis.bayes.sampling import SamplerSettings

_TABLES: Final = ("table", "contrasts", "glance", "gates", "predictive", "sensitivity", "refits", "augment")


def fit_key(
    checked: pd.DataFrame, priors: IncoherencePriors, settings: SamplerSettings, options: Mapping[str, Any]
) -> str:
    """Hash of data, priors, sampler settings, options, versions and code; the number of cores changes no result."""
    return key_of("incoherence", checked, priors, settings, options)


def load_fit(folder: Path, key: str, *, tell: Callable[[str], None] | None = None) -> IncoherenceFit | None:
    """A kept fit, or None as ``kept_fits.load_intact`` returns it."""
    return load_kept(folder, key, IncoherenceFit, _TABLES, tell=tell)


def keep_fit(folder: Path, key: str, fit: IncoherenceFit) -> None:
    """Write a fit, whole or not at all."""
    keep(folder, key, fit, _TABLES)
