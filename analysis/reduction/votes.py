"""Repeated responses to one question: collapsed to one answer by a named rule, or kept as shares of the votes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.reduction.cells import COUNTS, facet_counts
from analysis.reduction.selection import EVERYTHING, Selection
from analysis.schema.design import TaskDesign
from analysis.schema.study import Study

#: What a tie may count as, besides a label: unreadable, or set aside.
TIE_UNCERTAIN: Final = "uncertain"
TIE_ASIDE: Final = "aside"
#: Columns of answers beside the keys: numbers of votes, what they came to, and shares of the scored ones.
VOTE_COLUMNS: Final = ("n_votes", "n_answered", "n_uncertain", "n_set_aside", "answer", "vote_share", "tied")
SHARES: Final = ("right", "endorsed", "unclear")
_IDENTITY: Final = ("task", "model", "item", "unit")


@dataclass(frozen=True, slots=True)
class VoteRule:
    """How votes become an answer.

    Attributes
    ----------
    tie : str
        What a tie for the most votes is: ``uncertain`` (unreadable), ``aside`` (in no denominator) or a label.
    """

    tie: str = TIE_UNCERTAIN

    @property
    def words(self) -> str:
        """The rule in words, for notes."""
        ties = {
            TIE_UNCERTAIN: "a tie counts as an unreadable answer",
            TIE_ASIDE: "a tie is set aside",
        }.get(self.tie, f"a tie counts as the answer {self.tie!r}")
        return f"the answer with the most votes among the readable ones; {ties}"


def vote_counts(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Counts by question, condition and answer, as ``facet_counts`` gives them."""
    factors = [name for name in (*design.item_factors, *design.conditions) if name not in _IDENTITY]
    return facet_counts(con, design, study, selection, by=("item", "unit", *factors, "gold", "cell", "answer"))


def collapsed_answers(votes: pd.DataFrame, rule: VoteRule | None = None) -> pd.DataFrame:
    """One answer for each model, question and condition: that of most of its votes.

    Parameters
    ----------
    votes : DataFrame
        As ``vote_counts`` returns.
    rule : VoteRule, optional

    Returns
    -------
    DataFrame
        The keys of ``votes`` without ``answer``, then ``VOTE_COLUMNS`` and ``SHARES``. ``answer`` is empty
        where there is none; ``vote_share`` is the share of the readable votes that the leading answer has.
        ``right``, ``endorsed`` (yes) and ``unclear`` are 0 or 1, or NaN where no vote was scored.
        Votes that failed count for nothing, unreadable ones only where no vote is readable.
    """
    chosen = VoteRule() if rule is None else rule
    keys, first, totals = _groups(votes)
    given = votes["n_answered"].to_numpy(np.int64)
    top = np.maximum.reduceat(given, first) if len(first) else given
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(votes))))
    leads = (given == top[group]) & (given > 0)
    leaders = np.add.reduceat(leads.astype(np.int64), first) if len(first) else top
    position = np.where(leads, np.arange(len(votes)), len(votes))
    winner = np.minimum.reduceat(position, first) if len(first) else position
    labels = np.append(votes["answer"].to_numpy(object).astype(str), "")
    answer, tied = labels[np.minimum(winner, len(votes))], leaders > 1
    readable = top > 0
    answer = np.where(tied, chosen.tie if chosen.tie not in (TIE_UNCERTAIN, TIE_ASIDE) else "", answer)
    unclear = np.where(readable, tied & (chosen.tie == TIE_UNCERTAIN), totals["n_uncertain"] > 0)
    scored = np.where(tied & (chosen.tie == TIE_ASIDE), False, readable | (totals["n_uncertain"] > 0))
    table = votes.iloc[first][keys].reset_index(drop=True)
    given_right = answer == table["gold"].to_numpy(object).astype(str)
    return table.assign(
        n_votes=totals["n_planned"],
        n_answered=totals["n_answered"],
        n_uncertain=totals["n_uncertain"],
        n_set_aside=totals["n_set_aside"],
        answer=answer,
        vote_share=np.divide(top, totals["n_answered"], out=np.full(len(first), np.nan), where=readable),
        tied=tied,
        right=np.where(scored, given_right & ~unclear, np.nan),
        endorsed=np.where(scored, (answer == "yes") & ~unclear, np.nan),
        unclear=np.where(scored, unclear, np.nan),
    )


def nested_answers(votes: pd.DataFrame) -> pd.DataFrame:
    """Shares of the votes of each model, question and condition, each vote a sample of what it answers.

    Returns
    -------
    DataFrame
        The keys of ``votes`` without ``answer``, the numbers of votes, and ``SHARES`` of the scored votes (readable
        or not); NaN where none was scored.
    """
    keys, first, totals = _groups(votes)
    scored = (totals["n_answered"] + totals["n_uncertain"]).astype(float)
    shares = {
        name: np.divide(totals[count], scored, out=np.full(len(first), np.nan), where=scored > 0)
        for name, count in zip(SHARES, ("n_correct", "n_yes", "n_uncertain"), strict=True)
    }
    numbers = {"n_votes": totals["n_planned"]} | {n: totals[n] for n in ("n_answered", "n_uncertain", "n_set_aside")}
    return votes.iloc[first][keys].reset_index(drop=True).assign(**numbers, **shares)


def has_repeats(answers: pd.DataFrame) -> bool:
    """Whether some question was answered more than once under one condition."""
    return bool((answers["n_votes"] > 1).any())


def _groups(votes: pd.DataFrame) -> tuple[list[str], NDArray[np.int64], dict[str, NDArray[np.int64]]]:
    """Keys without the answer, the first row of each group, and its summed counts; rows come sorted by key."""
    if "answer" not in votes.columns:
        raise AnalysisError("votes must be counted by answer; make them with vote_counts")
    keys = [name for name in votes.columns if name not in (*COUNTS, "answer")]
    first = _first_rows(votes, keys)
    counts = {name: votes[name].to_numpy(np.int64) for name in COUNTS}
    return keys, first, {n: np.add.reduceat(v, first) if len(first) else v for n, v in counts.items()}


def _first_rows(votes: pd.DataFrame, keys: Sequence[str]) -> NDArray[np.int64]:
    codes = [votes[key].cat.codes.to_numpy() for key in keys]
    if not len(votes):
        return np.zeros(0, np.int64)
    fresh = np.ones(len(votes), dtype=bool)
    fresh[1:] = np.any([code[1:] != code[:-1] for code in codes], axis=0)
    return np.flatnonzero(fresh)
