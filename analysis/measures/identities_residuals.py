"""Residuals of an identity over sets of answers: a row per set (and state), with its errors where truths are known."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.measures.coherence import CLIP, at_clip, log_odds, residual
from analysis.measures.identities import Identity
from analysis.measures.identities_values import evaluated
from analysis.reduction.instances import AnswerSets, Floats, JoinRule

#: Role that is renormalised over its states where robustness is asked for.
LATENT = "latent"


def join_rule(identity: Identity) -> JoinRule:
    """What the identity needs of the answers; a built-in sum over a latent's states needs all that there are."""
    summed = identity.summed()
    exhaustive = summed if LATENT in summed and not identity.declared else ()
    return JoinRule(identity.roles, summed, identity.named_states(), identity.not_with, exhaustive)


def renormalised(sets: AnswerSets, role: str = LATENT) -> AnswerSets:
    """The sets with one role's probabilities divided by their sum over states; unchanged where that is 0."""
    values = sets.by_role[role]
    total = np.nansum(values, axis=1, keepdims=True)
    scaled = np.divide(values, total, out=values.copy(), where=(total > 0) & sets.has_states[role][:, None])
    return replace(sets, by_role={**sets.by_role, role: scaled})


def state_sums(sets: AnswerSets, role: str = LATENT) -> Floats:
    """Sum of a role's probabilities over the states of each set (N,); NaN where the set is incomplete."""
    return np.where(sets.complete, np.nansum(sets.by_role[role], axis=1), np.nan)


def identity_residuals(sets: AnswerSets, identity: Identity, *, clip: float = CLIP) -> pd.DataFrame:
    """Both sides, residuals and errors of every complete set.

    Parameters
    ----------
    sets : AnswerSets
    identity : Identity
    clip : float in (0, .5)

    Returns
    -------
    DataFrame
        One row per complete set, and per state where a state is free (then ``identity`` ends in its name):
        ``model, unit, identity, wording, sample, item_family, level``; ``left``, ``right`` (probabilities);
        ``residual`` (on the identity's scale), ``difference`` (left - right; the directed violation of a bound);
        ``at_clip_left``, ``at_clip_right``; ``tokens``; ``truth`` (of the left side), ``truth_gap`` (by how much the
        truths break the identity), ``error_left``, ``error_right`` (absolute, log-odds) and ``error_<role>`` (mean
        over the role's answers); missing where the truth is not known, or a side divides by 0.
    """
    by_state = _by_state(sets, identity)
    place = _places(sets, by_state)
    at = place[:, 0]
    keys = _row_keys(sets, by_state, place)
    pick = (at, place[:, 1])
    left, right = (evaluated(side, sets)[pick] for side in (identity.left, identity.right))
    of_truth = replace(sets, by_role=sets.truth)
    truth, implied = (evaluated(side, of_truth)[pick] for side in (identity.left, identity.right))
    rows = keys.assign(
        left=left,
        right=right,
        residual=residual(left, right, relation=identity.relation, scale=identity.scale, clip=clip),
        difference=residual(left, right, relation=identity.relation, scale="probability"),
        at_clip_left=at_clip(left, clip=clip),
        at_clip_right=at_clip(right, clip=clip),
        tokens=sets.tokens[at],
        truth=truth,
        truth_gap=residual(truth, implied, relation=identity.relation, scale="probability"),
        error_left=_error(left, truth, clip),
        error_right=_error(right, truth, clip),
    )
    for role in identity.roles:
        errors = _error(sets.by_role[role], sets.truth[role], clip)
        known = ~np.isnan(errors)
        mean = np.divide(
            np.where(known, errors, 0).sum(axis=1), known.sum(axis=1), out=np.full(len(errors), np.nan),
            where=known.any(axis=1),
        )  # fmt: skip
        rows[f"error_{role}"] = mean[at]
    return rows[rows["residual"].notna()].reset_index(drop=True)


def sets_of_residuals(sets: AnswerSets, identity: Identity, residuals: pd.DataFrame) -> NDArray[np.bool_]:
    """Which sets (N,) the residuals come from: rows of ``identity_residuals``, or of their means by wording."""
    by_state = _by_state(sets, identity)
    place = _places(sets, by_state)
    names = ["model", "unit", "identity", "wording"]
    rows = _row_keys(sets, by_state, place)[names].assign(at=place[:, 0])
    found = np.zeros(len(sets.keys), dtype=bool)
    found[rows.merge(residuals[names].drop_duplicates(), on=names)["at"]] = True
    return found


def _row_keys(sets: AnswerSets, by_state: NDArray[np.bool_], place: NDArray[np.int64]) -> pd.DataFrame:
    """Keys of the sets at (set, state); the identity ends in the state's name where one is free."""
    at = place[:, 0]
    keys = sets.keys.iloc[at].reset_index(drop=True)
    named = [f"|{name}" if own else "" for name, own in zip(sets.states[at, place[:, 1]], by_state[at], strict=True)]
    return keys.assign(identity=keys["identity"] + np.array(named, dtype=object))


def _by_state(sets: AnswerSets, identity: Identity) -> NDArray[np.bool_]:
    """Sets (N,) in which a role with states stands outside every sum: they have a residual for each state."""
    return np.logical_or.reduce([np.zeros(len(sets.keys), bool), *(sets.has_states[role] for role in identity.free)])


def _places(sets: AnswerSets, by_state: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(set, state) of every row: the first state alone where none is free."""
    real = (sets.states != None) & by_state[:, None]  # noqa: E711
    real[:, 0] |= ~by_state
    return np.argwhere(real & sets.complete[:, None])


def _error(probability: Floats, truth: Floats, clip: float) -> Floats:
    found: Floats = np.abs(log_odds(probability, clip=clip) - log_odds(truth, clip=clip))
    return found
