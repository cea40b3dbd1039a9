"""One paired change tested under every choice of the independent unit, and without each level in turn."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.paired import obuchowski
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.two_way import level_codes, two_way_test

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rung:
    """The same change with one kind of unit.

    Attributes
    ----------
    unit : str
        "rows", a given name, or "first × second".
    test : str
        Which test the p-value is of.
    estimate : float
        Net change over all pairs, b - c.
    std_error, df, statistic : float
        Of the net change: Obuchowski's score form, for the rows root of McNemar's statistic; for two
        facets the centred two-way form.
    p_value, mc_error : float
    n_clusters : int
        Units; for two facets the levels of the smaller.
    n : int
        Matched pairs.
    n_discordant : int
        Pairs that changed.
    deff : float
        How much the variance of the net change exceeds that of independent pairs.
    reason : str
    """

    unit: str
    test: str
    estimate: float
    std_error: float
    df: float
    statistic: float
    p_value: float
    mc_error: float
    n_clusters: int
    n: int
    n_discordant: int
    deff: float
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The change without one level of a facet.

    Attributes
    ----------
    level : str
        The level left out.
    estimate : float
        Net change b - c without it.
    net, share : float
        Its own net change, and that as a share of the whole (NaN where the whole is 0).
    p_value : float
        Sign-flip test over the units that remain.
    n_clusters, n : int
        Units and pairs that remain.
    reason : str
    """

    level: str
    estimate: float
    net: float
    share: float
    p_value: float
    n_clusters: int
    n: int
    reason: str


def unit_ladder(
    d: ArrayLike,
    units: Mapping[str, ArrayLike],
    *,
    rng: np.random.Generator,
    two_way: tuple[str, str] | None = None,
    flips: int = 20_000,
) -> tuple[Rung, ...]:
    """P-values of one paired change by rows, by every given unit, and by two crossed facets.

    Parameters
    ----------
    d : array_like (N,) in [-1, 1]
        Change of each matched pair, first minus second: 1 where the event is on the first side only, -1
        on the second only, 0 on both or neither; averages over repeats lie between.
    units : mapping of str to array_like (N,)
        Name of the unit -> its label at each pair, from fine to coarse.
    rng : Generator
    two_way : tuple of str, optional
        Names of the two crossed facets.
    flips : int

    Returns
    -------
    tuple of Rung
        Rows (McNemar), then the units in the order given (sign flips), then the two facets together.
    """
    change = _changes(d)
    codes = {name: _codes(labels, len(change), name) for name, labels in units.items()}
    rungs = [_rows(change), *(_unit(change, code, name, rng, flips) for name, code in codes.items())]
    if two_way is not None:
        missing = [name for name in two_way if name not in codes]
        if missing:
            raise AnalysisError(f"two_way names {missing} that units lack; units are {', '.join(codes)}")
        rungs.append(_crossed(change, codes[two_way[0]], codes[two_way[1]], " × ".join(two_way)))
    return tuple(rungs)


def leave_one_out(
    d: ArrayLike, levels: ArrayLike, unit: ArrayLike, *, rng: np.random.Generator, flips: int = 20_000
) -> tuple[LeftOut, ...]:
    """What remains of a change without each level (model, template) in turn.

    Parameters
    ----------
    d : array_like (N,) in [-1, 1]
    levels : array_like (N,)
        Level of each pair.
    unit : array_like (N,)
        Independent unit of each pair, for the sign-flip test.

    Returns
    -------
    tuple of LeftOut
        In order of the levels' labels.
    """
    change = _changes(d)
    codes, groups = _codes(levels, len(change), "levels"), _codes(unit, len(change), "unit")
    names = np.unique(np.asarray(levels))
    total = float(change.sum())
    found = []
    for at, name in enumerate(names):
        kept = codes != at
        rung = _unit(change[kept], level_codes(groups[kept]), "", rng, flips)
        net = float(change[~kept].sum())
        found.append(
            LeftOut(
                level=str(name),
                estimate=rung.estimate,
                net=net,
                share=net / total if total else np.nan,
                p_value=rung.p_value,
                n_clusters=rung.n_clusters,
                n=rung.n,
                reason=rung.reason,
            )
        )
    return tuple(found)


def _rows(change: Floats) -> Rung:
    if not np.isin(change, (-1, 0, 1)).all():
        return _averaged(change)
    test = mcnemar(int((change > 0).sum()), int((change < 0).sum()))
    n = int(test.n_clusters)
    return Rung(
        unit="rows",
        test=f"McNemar {test.method}",
        estimate=float(test.estimate),
        std_error=float(test.std_error),
        df=np.nan,
        statistic=float(test.estimate / test.std_error) if n else np.nan,
        p_value=float(test.p_value),
        mc_error=0.0,
        n_clusters=len(change),
        n=len(change),
        n_discordant=n,
        deff=1.0 if n else np.nan,
        reason=str(test.reason),
    )


def _averaged(change: Floats) -> Rung:
    missing = dict.fromkeys(("std_error", "df", "statistic", "p_value", "mc_error", "deff"), np.nan)
    return Rung(
        unit="rows",
        test="none",
        estimate=float(change.sum()),
        n_clusters=len(change),
        n=len(change),
        n_discordant=int((change != 0).sum()),
        reason="values between 0 and 1: McNemar's test needs single answers, right or wrong",
        **missing,
    )


def _unit(change: Floats, codes: NDArray[np.int64], name: str, rng: np.random.Generator, flips: int) -> Rung:
    net = np.bincount(codes, change) if len(change) else np.zeros(0)
    moved = np.bincount(codes, np.abs(change)) if len(change) else np.zeros(0)
    independent = float((change**2).sum())
    score, flipped = obuchowski(net, moved), sign_flip_test(net, rng=rng, flips=flips)
    return Rung(
        unit=name,
        test="sign flip, all patterns" if flipped.exact else "sign flip",
        estimate=float(change.sum()),
        std_error=float(score.std_error),
        df=float(score.df),
        statistic=float(score.statistic),
        p_value=float(flipped.p_value),
        mc_error=float(flipped.mc_error),
        n_clusters=len(net),
        n=len(change),
        n_discordant=int((change != 0).sum()),
        deff=float((net**2).sum() / independent) if independent else np.nan,
        reason=str(flipped.reason),
    )


def _crossed(change: Floats, first: NDArray[np.int64], second: NDArray[np.int64], name: str) -> Rung:
    test = two_way_test(change, first, second)
    return Rung(
        unit=name,
        test="two-way cluster t",
        estimate=float(change.sum()),
        std_error=test.std_error * len(change),
        df=test.df,
        statistic=test.statistic,
        p_value=test.p_value,
        mc_error=0.0,
        n_clusters=test.n_clusters,
        n=len(change),
        n_discordant=int((change != 0).sum()),
        deff=test.deff,
        reason=test.reason,
    )


def _changes(d: ArrayLike) -> Floats:
    change = np.asarray(d, float)
    if change.ndim != 1 or not (np.abs(change) <= 1).all():
        raise AnalysisError("the change of a pair must lie in [-1, 1], one number a pair; leave unmatched rows out")
    return change


def _codes(labels: ArrayLike, n: int, name: str) -> NDArray[np.int64]:
    codes = level_codes(labels)
    if codes.shape != (n,):
        raise AnalysisError(f"{name}: one label a pair is needed ({n}); found shape {codes.shape}")
    return codes
