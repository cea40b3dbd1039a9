"""Instances of probability judgments as arrays of one size for all models."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]

REQUIRED: Final = ("task", "model", "unit", "identity", "k", "mean", "ss", "clipped")
GROUPINGS: Final = ("item_family", "level")
#: Units with two identities from which on their correlation is modelled, and fewest instances of a fit.
LEAST_PAIRED_UNITS: Final = 20
LEAST_INSTANCES: Final = 5
#: Noise of answers printed to two decimals, log-odds.
ROUNDING: Final = 0.01
#: Sd of what rounding does to all wordings of an instance alike, log-odds: answers that rewording leaves as they are,
#: are rounded alike in every wording. Both sides of a residual rounded to two decimals are off by .014 at one half, .02
#: at .2 and .04 at .1. Without it the slab of a model that is exact on most items shrinks to its rounding, and what the
#: other items are off by is left to noise.
SHARED_ROUNDING: Final = 0.02
ONE_WORDING: Final = "one wording: noise cannot be told from incoherence"


@dataclass(frozen=True, slots=True)
class Instances:
    """Instances of one model in at least two wordings, in the order of unit and identity.

    Attributes
    ----------
    model : str
    rows : DataFrame
        The instances used, n rows.
    set_aside : DataFrame
        Instances in one wording.
    k, mean, ss : ndarray (n,)
        Wordings, mean residual, sum of squared deviations from it.
    unit_at : ndarray of int (n,)
        Number of the unit among those whose correlation is modelled; 0 elsewhere.
    paired : ndarray of bool (n,)
        Whether the unit carries another identity, and the correlation is modelled.
    units, paired_units : int
        Distinct units, and those with at least two identities (modelled or not).
    """

    model: str
    rows: pd.DataFrame
    set_aside: pd.DataFrame
    k: Floats
    mean: Floats
    ss: Floats
    unit_at: NDArray[np.int64]
    paired: NDArray[np.bool_]
    units: int
    paired_units: int

    @property
    def size(self) -> int:
        """Number of instances used."""
        return len(self.rows)


def variance_of_mean(variance: Floats, k: Floats) -> Floats:
    """Variance of the mean residual of k wordings about its instance's mean, from that of one wording."""
    return variance / k + SHARED_ROUNDING**2


def checked_instances(table: pd.DataFrame) -> pd.DataFrame:
    """The table in the order of model, unit and identity, after checking every column.

    Raises
    ------
    AnalysisError
        A missing column, more than one task, a value out of range, an instance that occurs twice; with
        the first offenders.
    """
    missing = [name for name in REQUIRED if name not in table]
    if missing:
        raise AnalysisError(f"instances of incoherence lack the column(s) {', '.join(missing)}")
    if table.empty:
        raise AnalysisError("there is no instance to fit: no unit has residuals of a declared identity")
    if table["task"].nunique() != 1:
        raise AnalysisError(f"instances of one task at a time, not of {sorted(map(str, table['task'].unique()))}")
    keys = ["model", "unit", "identity"]
    number = table[["k", "mean", "ss", "clipped"]].astype(float)
    k, ss, clipped = number["k"], number["ss"], number["clipped"]
    bad = {
        "k must be a whole number of wordings, at least 1": ~((k >= 1) & (k == np.floor(k)) & np.isfinite(k)),
        "mean must be a finite number": ~np.isfinite(number["mean"]),
        "ss must be finite, not negative, and 0 with one wording": ~(
            np.isfinite(ss) & (ss >= 0) & ((k > 1) | (ss == 0))
        ),
        "clipped must lie in [0, 1]": ~clipped.between(0, 1),
        "model, unit and identity must name an instance once": table.duplicated(keys, keep=False),
        "model, unit and identity must be given": table[keys].isna().any(axis=1),
    }
    for rule, wrong in bad.items():
        if wrong.any():
            where = table.loc[wrong.to_numpy(), keys].head(3).map(str).agg(" / ".join, axis=1)
            raise AnalysisError(f"instances of incoherence: {rule} ({int(wrong.sum())} rows: {', '.join(where)})")
    plain = table.copy()
    plain[list(number.columns)] = number
    plain[keys] = table[keys].astype(str)
    return plain.sort_values(keys, kind="stable").reset_index(drop=True)


def model_instances(checked: pd.DataFrame) -> list[Instances]:
    """Instances of each model, models in order of name."""
    return [_of_model(str(model), rows) for model, rows in checked.groupby("model", sort=True)]


def sampled_units(table: pd.DataFrame, most: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """Instances of units drawn at random, the same units for all models; all of them where they are few enough.

    Parameters
    ----------
    table : DataFrame
        One row per model and instance: ``model, unit, identity``.
    most : int
        Instances of one model that may stay.
    rng : numpy.random.Generator

    Notes
    -----
    Units stay whole. What is drawn does not depend on the order of rows.
    """
    sizes = table.groupby(["unit", "model"]).size().groupby("unit").max().sort_index()
    if table.groupby("model").size().max() <= most:
        return table
    drawn = sizes.iloc[rng.permutation(len(sizes))]
    kept = drawn.index[drawn.cumsum() <= most]
    return table[table["unit"].isin(kept)]


def _of_model(model: str, rows: pd.DataFrame) -> Instances:
    used = rows[rows["k"] > 1].reset_index(drop=True)
    shared = used.groupby("unit")["identity"].transform("size").to_numpy() > 1
    paired_units = int(used.loc[shared, "unit"].nunique())
    paired = shared & (paired_units >= LEAST_PAIRED_UNITS)
    unit_at = np.zeros(len(used), np.int64)
    unit_at[paired] = pd.factorize(used.loc[paired, "unit"])[0]
    return Instances(
        model=model,
        rows=used,
        set_aside=rows[rows["k"] == 1].reset_index(drop=True),
        k=used["k"].to_numpy(float),
        mean=used["mean"].to_numpy(float),
        ss=used["ss"].to_numpy(float),
        unit_at=unit_at,
        paired=paired,
        units=int(used["unit"].nunique()),
        paired_units=paired_units,
    )


def observed_arrays(instances: Instances, *, size: int) -> dict[str, NDArray[np.generic]]:
    """Data of the models, padded to ``size`` instances with ``used`` = 0.

    Notes
    -----
    ``log_scale`` and ``log_scale_variance`` locate the log noise of each instance for the sampler's
    coordinates; they change no density. They are mean and variance of log chi-square with k - 1 degrees of
    freedom around the observed deviation; below twice the rounding, half a unit under its logarithm.
    """
    df = np.maximum(instances.k - 1, 1)
    square = instances.ss / df
    log_scale = 0.5 * (np.log(np.maximum(square, ROUNDING**2)) - digamma(df / 2) + np.log(df / 2))
    hidden = square < (2 * ROUNDING) ** 2
    filled: dict[str, tuple[NDArray[np.generic], float]] = {
        "mean": (instances.mean, 0.0),
        "ss": (instances.ss, 2.0),
        "k": (instances.k, 3.0),
        "used": (np.ones(instances.size), 0.0),
        "paired": (instances.paired.astype(float), 0.0),
        "unit_at": (instances.unit_at, 0),
        "log_scale": (np.where(hidden, np.log(ROUNDING) - 0.5, log_scale), 0.0),
        "log_scale_variance": (np.where(hidden, 1.0, 0.25 * polygamma(1, df / 2)), 1.0),
    }
    extra = size - instances.size
    if extra < 0:
        raise AnalysisError(f"{instances.size} instances do not fit into arrays of {size}")
    return {
        name: np.concatenate([values, np.full(extra, fill, dtype=values.dtype)])
        for name, (values, fill) in filled.items()
    }
