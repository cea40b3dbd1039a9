"""Answers joined into the sets that an identity needs, and why a set is incomplete."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.reduction.asked_queries import KEYS, Asked, joint_codes, served_answers

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: States that a variable has at least.
FEWEST_STATES: Final = 2
TWICE: Final = "two items for one query: {role}"
NOT_ASKED: Final = "not asked with the others (wording, sample, state): {role}"
UNANSWERED: Final = "no probability: {role}"
ONE_STATE: Final = "only one state of the {role} was asked: its complement is missing"
SOME_STATES: Final = (
    "not every state of the {role} was asked: if they add up to 1, an [[identity]] of study.toml can say so"
)
NO_STATE: Final = "no state is logged for the {role}: its complement is missing"


@dataclass(frozen=True, slots=True)
class JoinRule:
    """Which queries belong together.

    Attributes
    ----------
    roles : tuple of str
        Every one of them is needed.
    over_states : tuple of str
        Roles of which all states are needed.
    named_states : mapping of str to tuple of str
        Role -> states that are needed.
    not_with : tuple of str
        Instances that have a query of one of these roles are left alone.
    exhaustive : tuple of str
        Roles whose states must be all there are: one state alone, or none, is not.
    """

    roles: tuple[str, ...]
    over_states: tuple[str, ...] = ()
    named_states: Mapping[str, tuple[str, ...]] | None = None
    not_with: tuple[str, ...] = ()
    exhaustive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSets:
    """N sets of answers, S the largest number of states.

    Attributes
    ----------
    keys : DataFrame (N rows)
        ``KEYS``, ``item_family``, ``level``, as text.
    by_role, truth : mapping of str to (N, S)
        Probability, and what is true, by state in the order of the set's own states; NaN where there is none. A role
        without states stands in the first column.
    states : (N, S) of object
        Names of the states, None beyond the last one.
    has_states : mapping of str to (N,) of bool
        Whether the role has states there; one without is the same for every state.
    tokens : (N,)
        Mean reasoning tokens of the set's answers.
    reason : (N,) of object
        Why a set is incomplete; empty where it is complete.
    row, set_of_row : (R,)
        Rows of the answers and the sets that they stand in.
    """

    keys: pd.DataFrame
    by_role: Mapping[str, Floats]
    truth: Mapping[str, Floats]
    states: NDArray[np.object_]
    has_states: Mapping[str, NDArray[np.bool_]]
    tokens: Floats
    reason: NDArray[np.object_]
    row: Codes
    set_of_row: Codes

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Sets that have every answer."""
        return np.asarray(self.reason == "", dtype=bool)

    def rows_used(self, size: int) -> NDArray[np.bool_]:
        """Which of ``size`` rows stand in a complete set."""
        used = np.zeros(size, dtype=bool)
        used[self.row[self.complete[self.set_of_row]]] = True
        return used

    def incomplete(self) -> pd.DataFrame:
        """``model, reason, sets``: the incomplete sets, counted."""
        left = self.keys.loc[~self.complete, ["model"]].assign(reason=self.reason[~self.complete])
        return left.groupby(["model", "reason"], sort=True).size().rename("sets").reset_index()


def answer_sets(answers: pd.DataFrame, rule: JoinRule) -> AnswerSets | None:
    """Join answers by unit, identity, wording, model and sample.

    Parameters
    ----------
    answers : DataFrame
        As ``probability_answers`` returns. ``identity`` may list several, separated by ``;``; an empty one serves
        every identity of its unit.
    rule : JoinRule

    Returns
    -------
    AnswerSets or None
        None where no unit has a query of every role. A query asked of one model only is expected of that model's
        sets alone; a state is expected wherever the instance has it for any model.
    """
    asked = _instances(served_answers(answers, (*rule.roles, *rule.not_with)), rule)
    if not len(asked.row):
        return None
    stateful = _stateful(asked, rule)
    places, states, size = _state_places(asked, stateful)
    sets, codes, first = _set_codes(asked)
    instance = asked.column("instance")[first]
    found = _Filled(asked, codes, places, len(sets), states.shape[1])
    set_states, number = states[instance], size[instance]
    has_states = {role: _of_instances(asked, stateful, role, len(states))[instance] for role in rule.roles}
    reason = found.reasons(rule, has_states, set_states, number)
    return AnswerSets(
        keys=sets,
        by_role={role: found.values(asked.probability, role) for role in rule.roles},
        truth={role: found.values(asked.truth, role) for role in rule.roles},
        states=set_states,
        has_states=has_states,
        tokens=np.asarray(pd.Series(asked.tokens).groupby(codes).mean(), dtype=np.float64),
        reason=reason,
        row=asked.row,
        set_of_row=codes,
    )


def _instances(asked: Asked, rule: JoinRule) -> Asked:
    """Rows of instances that have every role for some model, with the instance's code."""
    code = joint_codes([asked.column("unit"), asked.column("identity")])
    roles = pd.DataFrame({"instance": code, "role": asked.column("role")}).drop_duplicates()
    wanted = {asked.code("role", role) for role in rule.roles}
    barred = set(roles.loc[roles["role"].isin([asked.code("role", role) for role in rule.not_with]), "instance"])
    counted = roles[roles["role"].isin(wanted)].groupby("instance").size()
    whole = set(counted.index[counted == len(rule.roles)]) - barred
    kept = asked.of_rows(np.isin(code, list(whole)) & asked.among("role", rule.roles))
    return replace(kept, codes=kept.codes.assign(instance=joint_codes([kept.column("unit"), kept.column("identity")])))


def _stateful(asked: Asked, rule: JoinRule) -> NDArray[np.bool_]:
    """Whether the state of an answer counts: it does in sums, where it is named, and where other roles share it."""
    needed = [asked.code("role", role) for role in {*rule.over_states, *(rule.named_states or ())}]
    rows = asked.codes[["instance", "role", "state"]]
    pairs = rows[rows["state"] != asked.code("state", "")].drop_duplicates()
    by_role = pairs.groupby(["instance", "role"])["state"].transform("size")
    by_state = pairs.groupby(["instance", "state"])["role"].transform("size")
    counts = pairs[(by_role > 1) | (by_state > 1) | pairs["role"].isin(needed)]
    size = len(asked.names["role"])
    marked = (counts["instance"] * size + counts["role"]).unique()
    return np.isin(asked.column("instance") * size + asked.column("role"), marked)


def _state_places(asked: Asked, stateful: NDArray[np.bool_]) -> tuple[Codes, NDArray[np.object_], Codes]:
    """Column of every answer, names of the states by instance, and how many there are."""
    rows = asked.codes[["instance", "state"]]
    pairs = rows[stateful].drop_duplicates().sort_values(["instance", "state"])
    pairs["place"] = pairs.groupby("instance").cumcount()
    instances = int(asked.column("instance").max()) + 1
    width = int(pairs["place"].max()) + 1 if len(pairs) else 1
    states = np.full((instances, width), None, dtype=object)
    states[pairs["instance"], pairs["place"]] = asked.names["state"][pairs["state"]]
    size = np.bincount(pairs["instance"].to_numpy(np.int64), minlength=instances)
    found = rows.merge(pairs, on=["instance", "state"], how="left")["place"].to_numpy(float)
    places = np.where(stateful & ~np.isnan(found), found, 0).astype(np.int64)
    return places, states, size


def _set_codes(asked: Asked) -> tuple[pd.DataFrame, Codes, Codes]:
    """Keys of the sets in order, the set of every answer, and the first answer of every set."""
    codes = joint_codes([asked.column(name) for name in KEYS])
    first = np.unique(codes, return_index=True)[1]
    keys = pd.DataFrame({name: asked.texts(name, first) for name in KEYS}, dtype=object)
    for name in ("item_family", "level"):
        # An item's own level; where the queries of one set differ, the first in order of name.
        least = asked.codes[name].groupby(codes).min().to_numpy(np.int64)
        keys[name] = asked.names[name][least]
    return keys, codes, first


def _of_instances(asked: Asked, stateful: NDArray[np.bool_], role: str, instances: int) -> NDArray[np.bool_]:
    marked = np.zeros(instances, dtype=bool)
    marked[asked.column("instance")[asked.among("role", (role,)) & stateful]] = True
    return marked


@dataclass(frozen=True, slots=True)
class _Filled:
    """Answers placed into arrays of sets × states."""

    asked: Asked
    codes: Codes
    places: Codes
    sets: int
    width: int

    def values(self, column: Floats, role: str) -> Floats:
        """(N, S) of one role; of several answers in one place, the last in order."""
        here = self.asked.among("role", (role,))
        placed = np.full((self.sets, self.width), np.nan)
        placed[self.codes[here], self.places[here]] = column[here]
        return placed

    def count(self, role: str, *, answered: bool) -> Codes:
        """(N, S): answers in every place."""
        here = self.asked.among("role", (role,))
        if answered:
            here = here & ~np.isnan(self.asked.probability)
        flat = self.codes[here] * self.width + self.places[here]
        return np.bincount(flat, minlength=self.sets * self.width).reshape(self.sets, self.width)

    def reasons(
        self,
        rule: JoinRule,
        has_states: Mapping[str, NDArray[np.bool_]],
        states: NDArray[np.object_],
        number: Codes,
    ) -> NDArray[np.object_]:
        """Why each set is incomplete, the first reason that applies; empty where it is complete."""
        reason = np.full(self.sets, "", dtype=object)
        real = np.arange(self.width) < np.maximum(number, 1)[:, None]
        asked = {role: self.count(role, answered=False) for role in rule.roles}
        known = {role: self.count(role, answered=True) for role in rule.roles}
        for role in rule.exhaustive:
            reason[(reason == "") & ~has_states[role]] = NO_STATE.format(role=role)
            reason[(reason == "") & (number < FEWEST_STATES)] = ONE_STATE.format(role=role)
        for role in rule.roles:
            reason[(reason == "") & (asked[role] > 1).any(axis=1)] = TWICE.format(role=role)
        for role in rule.exhaustive:
            lacking = (asked[role] == 0) & self._needed(role, rule, has_states[role], states, real)
            some = (asked[role] > 0).any(axis=1)
            reason[(reason == "") & lacking.any(axis=1) & some] = SOME_STATES.format(role=role)
        for text, counts in ((NOT_ASKED, asked), (UNANSWERED, known)):
            for role in rule.roles:
                lacking = (counts[role] == 0) & self._needed(role, rule, has_states[role], states, real)
                none = (counts[role] == 0).all(axis=1)
                reason[(reason == "") & (lacking.any(axis=1) | none)] = text.format(role=role)
        return reason

    def _needed(
        self,
        role: str,
        rule: JoinRule,
        stateful: NDArray[np.bool_],
        states: NDArray[np.object_],
        real: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """(N, S): places that must be filled."""
        first = np.zeros_like(real)
        first[:, 0] = True
        named = (rule.named_states or {}).get(role, ())
        if role in rule.over_states:
            return np.where(stateful[:, None], real, first)
        if named:
            return np.asarray(np.isin(states.astype(str), named), dtype=bool)
        return np.where(stateful[:, None], False, first)
