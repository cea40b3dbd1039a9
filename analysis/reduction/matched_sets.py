"""Two sets of responses of one model, before and after, on the questions that both answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.reduction.cells import COUNTS

#: Names of the two sides, in the order in which models are sorted.
SIDES: Final = ("after", "before")
#: What became of a question: its most frequent outcome; ``mixed`` where two are equally frequent.
STATES: Final = ("right", "wrong", "unreadable", "mixed")
_FIXED: Final = ("unit", "gold", "cell")
#: Listed changes: name -> states before, states after.
CHANGES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "right_wrong": (("right",), ("wrong",)),
    "wrong_right": (("wrong",), ("right",)),
    "answered_unreadable": (("right", "wrong", "mixed"), ("unreadable",)),
    "unreadable_answered": (("unreadable",), ("right", "wrong", "mixed")),
}


@dataclass(frozen=True, slots=True)
class MatchedSets:
    """Questions of both sides.

    Attributes
    ----------
    counts : DataFrame
        Counts of the questions that both sides answered, as ``level_arrays`` takes them: ``model`` is the side.
    questions : DataFrame
        One row per such question: ``item``, the conditions matched, ``unit``, ``cell``, ``state_before``,
        ``state_after``, ``right_before``, ``right_after`` (share of right among scored responses).
    dropped : DataFrame
        ``reason, questions``: every other question of either side.
    conditions : tuple of str
        Conditions that questions are matched by, beside the item.
    unmatched : mapping of str to (tuple of str, tuple of str)
        Conditions of either side that they are not matched by, since no level occurs in both: their levels.
    """

    counts: pd.DataFrame
    questions: pd.DataFrame
    dropped: pd.DataFrame
    conditions: tuple[str, ...]
    unmatched: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


def matched_sets(before: pd.DataFrame, after: pd.DataFrame, conditions: Sequence[str]) -> MatchedSets:
    """Match the questions of two tables of counts by item and by the conditions that both have.

    Parameters
    ----------
    before, after : DataFrame
        Of one task and one model, as ``reduction.cells.item_counts`` returns.
    conditions : sequence of str
        Columns that are conditions in either.

    Raises
    ------
    AnalysisError
        No question was answered in both; the message says why.

    Notes
    -----
    Questions are the same by their names. One whose gold answer, cell or unit differs is dropped: it is not the
    same question any more.
    """
    levels = {name: (_levels(before, name), _levels(after, name)) for name in dict.fromkeys(conditions)}
    matched = tuple(name for name, (first, second) in levels.items() if set(first) & set(second))
    keys = ["item", *matched]
    both = _summed(before, keys).merge(_summed(after, keys), on=keys, how="outer", suffixes=("_before", "_after"))
    both = both.sort_values(keys, ignore_index=True)
    reasons = _reasons(both)
    kept = both[reasons == ""].reset_index(drop=True)
    tally = pd.Series(reasons[reasons != ""], dtype="str").value_counts().sort_index()
    dropped = pd.DataFrame({"reason": tally.index.astype("str"), "questions": tally.to_numpy(dtype="int64")})
    if kept.empty:
        listed = "; ".join(f"{n:,} {why}" for why, n in tally.items())
        raise AnalysisError(f"no question was answered in both: {listed or 'there is none'}")
    return MatchedSets(
        counts=pd.concat([_side(kept, side, keys) for side in SIDES], ignore_index=True),
        questions=_questions(kept, keys),
        dropped=dropped,
        conditions=matched,
        unmatched={name: found for name, found in levels.items() if name not in matched},
    )


def change_counts(questions: pd.DataFrame) -> dict[str, int]:
    """Number of questions by kind of change (``CHANGES``), of ``other`` changes, and of those that stayed."""
    before, after = questions["state_before"], questions["state_after"]
    found = {name: int((before.isin(first) & after.isin(second)).sum()) for name, (first, second) in CHANGES.items()}
    stayed = int((before == after).sum())
    return found | {"other": len(questions) - stayed - sum(found.values()), "stayed": stayed}


def unit_changes(questions: pd.DataFrame) -> pd.DataFrame:
    """One row per unit, the most changed first.

    Returns
    -------
    DataFrame
        ``unit, questions, right_before, right_after`` (means over its questions), ``change``, and
        ``changed``: questions whose state differs.
    """
    rows = questions.assign(changed=questions["state_before"] != questions["state_after"])
    units = rows.groupby("unit", observed=True, sort=True).agg(
        questions=("item", "size"),
        right_before=("right_before", "mean"),
        right_after=("right_after", "mean"),
        changed=("changed", "sum"),
    )
    units = units.assign(change=units["right_after"] - units["right_before"]).reset_index()
    # By how much the number of right answers moved, so that a unit of one question does not lead by its share.
    moved = (units["change"] * units["questions"]).abs().round(9)
    return units.assign(_moved=moved).sort_values(["_moved", "changed", "unit"], ascending=[False, False, True]).drop(
        columns="_moved"
    ).reset_index(drop=True)  # fmt: skip


def _levels(counts: pd.DataFrame, name: str) -> tuple[str, ...]:
    return tuple(sorted(set(counts[name].astype("str")))) if name in counts.columns else ()


def _summed(counts: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Counts by question; what is fixed within an item comes along."""
    names = [*keys, *_FIXED]
    texts = counts.assign(**{name: counts[name].astype("str") for name in names})
    return texts.groupby(names, sort=True)[list(COUNTS)].sum().reset_index()


def _reasons(both: pd.DataFrame) -> NDArray[np.str_]:
    """Why a question is dropped; empty where it is compared."""
    absent = {side: both[f"n_planned_{side}"].isna().to_numpy() for side in SIDES}
    scored = {
        side: ((both[f"n_answered_{side}"] + both[f"n_uncertain_{side}"]).fillna(0) > 0).to_numpy() for side in SIDES
    }
    differs = np.zeros(len(both), dtype=bool)
    for name in _FIXED:
        differs |= (both[f"{name}_before"] != both[f"{name}_after"]).to_numpy()
    return np.select(
        [absent["after"], absent["before"], differs, ~scored["before"], ~scored["after"]],
        [
            "asked before only",
            "asked after only",
            "with another gold answer, cell or unit",
            "without a response before",
            "without a response after",
        ],
        "",
    )


def _side(kept: pd.DataFrame, side: str, keys: list[str]) -> pd.DataFrame:
    columns = {name: kept[name] for name in keys} | {name: kept[f"{name}_before"] for name in _FIXED}
    counts = {name: kept[f"{name}_{side}"].astype("int64") for name in COUNTS}
    return pd.DataFrame({"model": side, **columns, **counts})


def _questions(kept: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    found = kept[keys].assign(unit=kept["unit_before"], cell=kept["cell_before"])
    for side in ("before", "after"):
        counts = {name: kept[f"{name}_{side}"].to_numpy(float) for name in ("n_answered", "n_uncertain", "n_correct")}
        parts = np.stack(
            [counts["n_correct"], counts["n_answered"] - counts["n_correct"], counts["n_uncertain"]], axis=1
        )
        tied = (parts == parts.max(axis=1, keepdims=True)).sum(axis=1) > 1
        state = np.where(tied, STATES[3], np.array(STATES[:3])[parts.argmax(axis=1)])
        found = found.assign(**{f"state_{side}": state, f"right_{side}": counts["n_correct"] / parts.sum(axis=1)})
    return found
