"""Correlations of measures over models, and which of them share a part."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.frequentist.rank_correlation import correlation


@dataclass(frozen=True, slots=True)
class Association:
    """Two measures to correlate; ``absolute`` takes the second without its sign, ``shared`` says what both contain."""

    first: str
    second: str
    absolute: bool = False
    shared: str = ""


ASSOCIATIONS: Final = (
    Association("competence_floor", "answer_bias", True, "floor = BA − |bias|/2 contains |bias|"),
    Association("balanced_accuracy", "answer_bias", True),
    Association("competence_floor", "affirmative_floor", False, "two of the four cells are shared"),
    Association("accuracy", "uncertain_rate", False, "uncertain answers count as wrong"),
)
KINDS: Final = ("pearson", "spearman")
#: Fewer models than this are not correlated.
FEWEST: Final = 4


def association_table(
    estimates: pd.DataFrame, *, rng: np.random.Generator, permutations: int = 20_000, ci_level: float = 0.95
) -> pd.DataFrame:
    """Pearson and Spearman correlations over models of pairs of measures.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates of one task.

    Returns
    -------
    DataFrame
        One row per pair of measures and kind: ``first, second, absolute, shared, kind, estimate, ci_low,
        ci_high, p_value, r_squared, n_models, reason``; empty with fewer than 4 models.
    """
    wide = estimates.pivot(index="model", columns="measure", values="estimate").sort_index()
    rows = []
    for pair in ASSOCIATIONS:
        if not {pair.first, pair.second} <= set(wide.columns):
            continue
        x, y = wide[pair.first].to_numpy(float), wide[pair.second].to_numpy(float)
        y = np.abs(y) if pair.absolute else y
        if np.count_nonzero(~np.isnan(x) & ~np.isnan(y)) < FEWEST:
            continue
        for kind in KINDS:
            found = correlation(x, y, rng=rng, kind=kind, permutations=permutations, ci_level=ci_level)
            rows.append(_row(found) | {name: getattr(pair, name) for name in ("first", "second", "absolute", "shared")})
    return pd.DataFrame(rows, columns=["first", "second", "absolute", "shared", *_COLUMNS])


def size_table(
    rows: pd.DataFrame, *, rng: np.random.Generator, permutations: int = 20_000, ci_level: float = 0.95
) -> pd.DataFrame:
    """Rank correlations of model size with every measure, within each family and over all models.

    Parameters
    ----------
    rows : DataFrame
        ``family, size`` and one column per measure, a row per model.

    Returns
    -------
    DataFrame
        ``family`` ("" for all models), ``measure, kind`` (spearman, kendall) and the correlation.
    """
    measures = [name for name in rows.columns if name not in ("model", "label", "family", "size")]
    groups = [(str(family), part) for family, part in rows.dropna(subset=["family"]).groupby("family", sort=True)]
    if len(groups) > 1:
        groups.append(("", rows))
    found = []
    for family, part in groups:
        if part["size"].nunique() < 3:
            continue
        for measure in measures:
            for kind in ("spearman", "kendall"):
                one = correlation(
                    part["size"], part[measure], rng=rng, kind=kind, permutations=permutations, ci_level=ci_level
                )
                found.append({"family": family, "measure": measure} | _row(one))
    return pd.DataFrame(found, columns=["family", "measure", *_COLUMNS])


_COLUMNS: Final = (
    *("kind", "estimate", "ci_low", "ci_high", "ci_level", "ci_method"),
    *("p_value", "p_method", "mc_error", "r_squared", "n_models", "n_tied", "reason"),
)


def _row(found: object) -> dict[str, object]:
    fields = {name: getattr(found, name) for name in _COLUMNS if name not in ("r_squared", "n_models")}
    r = float(fields["estimate"])
    return fields | {"r_squared": r**2, "n_models": getattr(found, "n_clusters")}  # noqa: B009
