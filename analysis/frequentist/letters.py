"""Compact letter display: objects that share a letter were not shown to differ."""

from string import ascii_lowercase

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError


def compact_letters(different: ArrayLike, values: ArrayLike) -> tuple[str, ...]:
    """Letters of each object from decisions on all pairs.

    Parameters
    ----------
    different : array_like of bool (M, M), symmetric
        Whether two objects were shown to differ (adjusted p-value at most alpha).
    values : array_like (M,)
        Letters start at the highest value; objects without one (NaN) get none.

    Returns
    -------
    tuple of str
        Two objects share a letter exactly where they were not shown to differ. Beyond z letters go on
        as a2, b2, ..., parted by commas.

    Notes
    -----
    Insert-and-absorb: every pair that differs splits the groups that hold both; groups inside another go.

    References
    ----------
    Piepho (2004), J. Comput. Graph. Stat. 13:456-466, doi:10.1198/1061860043515.
    """
    apart, score = np.asarray(different, bool), np.asarray(values, float)
    m = len(score)
    if score.ndim != 1 or apart.shape != (m, m) or not np.array_equal(apart, apart.T):
        raise AnalysisError(f"decisions must be symmetric, one row and column an object; found {apart.shape} for {m}")
    ranked = [int(i) for i in np.argsort(-score, kind="stable") if not np.isnan(score[i])]
    groups = _groups(apart, ranked)
    place = {model: at for at, model in enumerate(ranked)}
    groups.sort(key=lambda group: sorted(place[i] for i in group))
    names = [_name(at) for at in range(len(groups))]
    joint = "," if len(groups) > len(ascii_lowercase) else ""
    return tuple(
        joint.join(name for name, group in zip(names, groups, strict=True) if model in group) for model in range(m)
    )


def _groups(apart: NDArray[np.bool_], members: list[int]) -> list[frozenset[int]]:
    groups = [frozenset(members)] if members else []
    for at, one in enumerate(members):
        for other in members[at + 1 :]:
            if apart[one, other]:
                groups = _absorbed([part for group in groups for part in _split(group, one, other)])
    return groups


def _split(group: frozenset[int], one: int, other: int) -> list[frozenset[int]]:
    return [group - {one}, group - {other}] if one in group and other in group else [group]


def _absorbed(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    kept: list[frozenset[int]] = []
    for group in sorted(set(groups), key=lambda g: (-len(g), sorted(g))):
        if not any(group <= larger for larger in kept):
            kept.append(group)
    return kept


def _name(at: int) -> str:
    turn, letter = divmod(at, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(turn + 1) if turn else "")
