"""Which kind of answer carries the noise of a residual, and which the part of it that persists over rewordings.

What replacing one role's answers by others (those of another wording, or the truth) does to the residual depends on
what the other roles hold; averaged over all orders of replacing (Shapley values) the parts of the roles add up to the
whole change, whatever the identity and the clip.

References
----------
Shapley (1953), Contributions to the Theory of Games II: 307-317, doi:10.1515/9781400881970-018.
"""

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.incoherence_means import FEWEST, grouped_means
from analysis.frequentist.unit_bootstrap import bootstrap_t
from analysis.measures.coherence import CLIP, residual
from analysis.measures.identities import Identity
from analysis.measures.identities_values import evaluated
from analysis.reduction.instances import AnswerSets, Floats
from analysis.reduction.moments import INSTANCE

#: More roles than this are not divided: every subset of them is evaluated.
MOST_ROLES: Final = 5
NOT_SEPARATED: Final = "the persistent residual is not separated from 0"
NO_TRUTH: Final = "the truth of an answer is not logged"
#: Row of what the logged truths themselves break.
OF_TRUTH: Final = "truth"

Rows = NDArray[np.int64]


def can_divide(identity: Identity, sets: AnswerSets) -> bool:
    """Whether residuals can be divided: an equation of log-odds, one residual and one sample per wording, few roles."""
    whole = sets.keys[sets.complete]
    return (
        (identity.scale, identity.relation) == ("log_odds", "=")
        and not any(sets.has_states[role].any() for role in identity.free)
        and 1 < len(identity.roles) <= MOST_ROLES
        and not whole.duplicated([*INSTANCE, "wording"]).any()
    )


def divided_instances(sets: AnswerSets, identity: Identity, *, clip: float = CLIP) -> pd.DataFrame:
    """Noise and persistent square of every instance in two wordings or more, divided by role.

    Parameters
    ----------
    sets : AnswerSets
    identity : Identity
        One for which ``can_divide`` holds.
    clip : float in (0, .5)

    Returns
    -------
    DataFrame
        ``model, unit, identity, role, noise, persistent``, a row per instance and role. ``noise`` adds up over roles to
        the variance of the residual between wordings. ``persistent``, the mean product of the residual in one wording
        and the role's part of its distance from the truths' residual in another, adds up to the mean product of
        residuals, with a row ``OF_TRUTH`` for what the truths break themselves. Missing where a truth is not known.
    """
    everything = np.flatnonzero(sets.complete)
    whole = _mixed(sets, sets, identity, everything, everything, frozenset(), clip)
    where, r = everything[np.isfinite(whole)], whole[np.isfinite(whole)]
    grouped = sets.keys.iloc[where][list(INSTANCE)].astype(str).groupby(list(INSTANCE), sort=True)
    code, instances = np.asarray(grouped.ngroup(), np.int64), grouped.size().reset_index()[list(INSTANCE)]
    count = len(instances)
    k = np.bincount(code, minlength=count)

    def added(values: Floats, at: Rows) -> Floats:
        return np.bincount(code[at], weights=values, minlength=count)

    every = np.arange(len(where))
    a, b = _pairs(code)
    moved = {
        role: added((r[a] - r[b]) * part, a)
        for role, part in _parts(sets, sets, identity, where[a], where[b], clip).items()
    }
    true = replace(sets, by_role=sets.truth)
    off = _parts(sets, true, identity, where, where, clip)
    off[OF_TRUTH] = _mixed(true, true, identity, where, where, frozenset(), clip)
    stays = {role: added(r, every) * added(part, every) - added(r * part, every) for role, part in off.items()}
    kept = k > 1
    named = instances[kept].reset_index(drop=True)
    parts = [
        named.assign(
            role=role,
            noise=moved.get(role, np.zeros(count))[kept] / (k * (k - 1))[kept],
            persistent=square[kept] / (k * (k - 1))[kept],
        )
        for role, square in stays.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _pairs(code: Rows) -> tuple[Rows, Rows]:
    """All pairs of sets of one instance, each once."""
    rows = pd.DataFrame({"code": code, "at": np.arange(len(code))})
    both = rows.merge(rows, on="code")
    both = both[both["at_x"] < both["at_y"]]
    return both["at_x"].to_numpy(np.int64), both["at_y"].to_numpy(np.int64)


def _parts(base: AnswerSets, other: AnswerSets, identity: Identity, a: Rows, b: Rows, clip: float) -> dict[str, Floats]:
    """The residuals of ``base`` at a less those of ``other`` at b, divided by role."""
    roles = identity.roles
    values = {
        frozenset(some): _mixed(base, other, identity, a, b, frozenset(some), clip)
        for size in range(len(roles) + 1)
        for some in combinations(roles, size)
    }
    found = {role: np.zeros(len(a)) for role in roles}
    for some, value in values.items():
        for role in set(roles) - some:
            weight = 1 / (len(roles) * comb(len(roles) - 1, len(some)))
            found[role] += weight * (values[some | {role}] - value)
    return found


def _mixed(
    base: AnswerSets, other: AnswerSets, identity: Identity, a: Rows, b: Rows, own: frozenset[str], clip: float
) -> Floats:
    """Residuals of sets whose roles ``own`` are those of ``base`` at a, and the others those of ``other`` at b."""
    sets = replace(
        base,
        by_role={
            role: base.by_role[role][a] if role in own else other.by_role[role][b] for role in identity.roles
        },
        states=base.states[a],
        has_states={role: base.has_states[role][a] for role in identity.roles},
    )  # fmt: skip
    left, right = (evaluated(side, sets)[:, 0] for side in (identity.left, identity.right))
    return residual(left, right, clip=clip)


def query_shares(
    divided: pd.DataFrame, *, rng: np.random.Generator, resamples: int = 10_000, ci_level: float = 0.95
) -> pd.DataFrame:
    """What each kind of answer has of noise and persistent residual, by model.

    Parameters
    ----------
    divided : DataFrame
        As ``divided_instances`` returns.

    Returns
    -------
    DataFrame
        ``model, role, noise_share`` (of the variance between wordings; negative where the role makes up for others)
        with ``_low, _high, _reason``; ``persistent`` (part of the squared persistent residual), with the same, and
        ``persistent_share``, given where the interval of the whole square lies above 0; ``ci_level, ci_method, n,
        n_clusters``.
    """
    keys = list(INSTANCE)
    whole = divided.groupby(keys, sort=True)[["noise", "persistent"]].sum(min_count=1)
    whole["known"] = divided["persistent"].notna().groupby([divided[name] for name in keys]).all()
    rows = divided.join(whole.add_suffix("_whole"), on=keys)
    rows.loc[~rows["known_whole"].astype(bool), "persistent"] = np.nan
    parts = grouped_means(
        rows, {"part": "persistent"}, by=("model", "role"), rng=rng, resamples=resamples, ci_level=ci_level
    )
    total = whole.reset_index().assign(persistent=whole["persistent"].where(whole["known"]).to_numpy())
    square = grouped_means(
        total, {"part": "persistent"}, by=("model",), rng=rng, resamples=resamples, ci_level=ci_level
    ).set_index("model")
    table = parts.rename(columns={"estimate": "persistent", "ci_low": "persistent_low", "ci_high": "persistent_high"})
    table = table.drop(columns=["measure", "std_error", "n", "n_clusters"]).rename(
        columns={"reason": "persistent_reason"}
    )
    table["persistent_reason"] = table["persistent_reason"].mask(table["persistent"].isna(), NO_TRUTH)
    above = (square["ci_low"] > 0).reindex(table["model"]).to_numpy()
    table["persistent_share"] = np.where(
        above, table["persistent"] / square["estimate"].reindex(table["model"]).to_numpy(), np.nan
    )
    table["persistent_share_reason"] = np.where(
        table["persistent"].isna(), NO_TRUTH, np.where(above, "", NOT_SEPARATED)
    )
    shares = table.merge(
        _noise_shares(rows, rng=rng, resamples=resamples, ci_level=ci_level), on=["model", "role"], how="left"
    )
    for column in ("n", "n_clusters"):
        shares[column] = shares.groupby("model")[column].transform("max").astype(int)
    shares["noise_share_reason"] = shares["noise_share_reason"].fillna("no answer")
    return shares


def _noise_shares(rows: pd.DataFrame, *, rng: np.random.Generator, resamples: int, ci_level: float) -> pd.DataFrame:
    """Shares of the variance between wordings with intervals: ratios of sums over units; none of the truths' row."""
    units = pd.Index(sorted(rows["unit"].unique()))
    of_answers = rows[(rows["role"] != OF_TRUTH) & rows["noise_whole"].notna()]
    keys: list[tuple[object, ...]] = []
    tops: list[Floats] = []
    sizes: list[Floats] = []
    for key, part in of_answers.groupby(["model", "role"], sort=True):
        code = units.get_indexer(pd.Index(part["unit"]))
        there = np.bincount(code, minlength=len(units)) > 0
        for column, kept in (("noise", tops), ("noise_whole", sizes)):
            kept.append(np.where(there, np.bincount(code, weights=part[column], minlength=len(units)), np.nan))
        keys.append((*key, len(part)))
    found = bootstrap_t(np.stack(tops), sizes=np.stack(sizes), rng=rng, resamples=resamples, ci_level=ci_level)
    few = found.n_clusters < FEWEST
    reason = np.where(np.isnan(found.estimate), "no answer moves between wordings", found.reason)
    return pd.DataFrame(keys, columns=["model", "role", "n"]).assign(
        noise_share=found.estimate,
        noise_share_low=np.where(few, np.nan, found.ci_low),
        noise_share_high=np.where(few, np.nan, found.ci_high),
        noise_share_reason=np.where(few & (reason == ""), f"fewer than {FEWEST} units", reason),
        n_clusters=found.n_clusters,
    )
