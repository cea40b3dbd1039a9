"""How votes were cast, and whether the share of the majority says how often it is right."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.clustered_rates import clustered_rates, difference_limits, rate_limits
from analysis.frequentist.model_measures import from_rates, model_units, tidy
from analysis.measures.classification import credited

Floats = NDArray[np.float64]
#: Upper ends of the groups of vote shares; the last one is unanimity alone.
_EDGES: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NO_VOTES: Final = "no question with two readable votes or more"


def vote_summary(answers: pd.DataFrame, *, conditions: tuple[str, ...]) -> pd.DataFrame:
    """Questions, votes, early stops and ties by model.

    Parameters
    ----------
    answers : DataFrame
        As ``collapsed_answers`` returns: one row per question and configuration.
    conditions : tuple of str
        Columns that make up a configuration.

    Returns
    -------
    DataFrame
        ``model, questions, repeated`` (questions with two votes or more), ``votes, votes_least, votes_most,
        votes_mean, failed`` (votes), ``stopped_early`` (questions with fewer votes than the largest number in
        their configuration), ``unanimous`` (of the repeated), ``ties, no_answer`` (questions).
    """
    table = answers.assign(model=answers["model"].astype(str))
    planned = [table[name].astype(str) for name in conditions]
    most = table.groupby([table["model"], *planned], sort=False)["n_votes"].transform("max")
    repeated = table["n_votes"] > 1
    flags = pd.DataFrame(
        {
            "model": table["model"],
            "questions": 1,
            "repeated": repeated,
            "votes": table["n_votes"],
            "failed": table["n_set_aside"],
            "stopped_early": table["n_votes"] < most,
            "unanimous": repeated & (table["vote_share"] == 1),
            "ties": table["tied"],
            "no_answer": table["answer"].eq("") & ~table["tied"],
        }
    )
    sums = flags.groupby("model", sort=True).sum().astype("int64")
    spread = table.groupby("model", sort=True)["n_votes"].agg(["min", "max", "mean"])
    spread.columns = ["votes_least", "votes_most", "votes_mean"]
    return sums.join(spread).reset_index()


def vote_share_estimates(
    answers: pd.DataFrame,
    *,
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Mean share of the majority, how often it is right, and the difference: above 0 the votes are too sure.

    Returns
    -------
    DataFrame
        One row per model and measure: ``vote_share``, ``majority_accuracy``, ``vote_overconfidence``, over
        questions with two readable votes or more and no tie.

    Notes
    -----
    A share of votes is no probability: votes of one model share its errors, and questions that stopped early
    are unanimous by construction.
    """
    check_level(ci_level)
    used = _usable(answers)
    if used.empty:
        return pd.DataFrame(columns=["model", "measure"])
    known = model_units(used)
    share, right = used["vote_share"].to_numpy(float), used["right"].to_numpy(float)
    n = known.sums(np.ones(len(used)))
    both = np.concatenate([n, n], axis=-1)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    rates = clustered_rates(both, np.concatenate([known.sums(share), known.sums(right)], axis=-1), weights)
    low, high = rate_limits(rates, ci_level=ci_level)
    trials = n.sum(axis=(1, 2))
    found = [
        from_rates(name, rates, i, low[:, i], high[:, i], n=trials, nothing=NO_VOTES)
        for i, name in enumerate(("vote_share", "majority_accuracy"))
    ]
    ends = difference_limits(rates, 2, (0, 1), weights[2, :2], ci_level=ci_level)
    found.append(from_rates("vote_overconfidence", rates, 2, *ends, n=trials, nothing=NO_VOTES, difference=True))
    shared = {"ci_level": ci_level, "unit": unit, "task": task, "uncertain": "excluded", "weights": "micro"}
    return tidy(known.models, found, target=target, **shared)


def vote_calibration(answers: pd.DataFrame, *, ci_level: float = 0.95) -> pd.DataFrame:
    """Accuracy of the majority by its share of the votes, all models together.

    Returns
    -------
    DataFrame
        ``group`` (such as ``0.6 to 0.7``), ``share_low, share_high, mean_share, estimate`` (accuracy), interval
        by unit, ``n, n_models, n_clusters, reason``; groups without a question are absent.
    """
    used = _usable(answers)
    share = np.round(used["vote_share"].to_numpy(float), 9)
    group = np.searchsorted(np.array(_EDGES[1:-1]), share, side="right")
    group = np.where(share >= 1, len(_EDGES) - 1, group)
    group = np.where(share <= _EDGES[0], 0, group)
    tables = []
    for k in np.unique(group):
        rows = used[group == k].assign(model="all")
        known = model_units(rows)
        right = rows["right"].to_numpy(float)
        rates = clustered_rates(known.sums(np.ones(len(rows))), known.sums(right), np.ones((1, 1)))
        low, high = rate_limits(rates, ci_level=ci_level)
        found = from_rates(
            "majority_accuracy", rates, 0, low[:, 0], high[:, 0], n=np.array([len(rows)]), nothing=NO_VOTES
        )
        ends = (1.0, 1.0) if k == len(_EDGES) - 1 else (_EDGES[k], _EDGES[k + 1])
        tables.append(
            tidy(("all",), [found], target="these", ci_level=ci_level).assign(
                group="unanimous" if k == len(_EDGES) - 1 else f"{ends[0]:g} to {ends[1]:g}",
                share_low=ends[0],
                share_high=ends[1],
                mean_share=float(rows["vote_share"].mean()),
                n_models=used.loc[group == k, "model"].nunique(),
            )
        )
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["group", "estimate"])


def nested_differences(collapsed: pd.DataFrame, nested: pd.DataFrame, *, uncertain: str) -> pd.DataFrame:
    """Accuracy by the majority and by votes as nested samples, side by side.

    Returns
    -------
    DataFrame
        ``model, accuracy_majority, accuracy_votes, difference, questions``; every question weighs the same.
    """
    rows = []
    for name, table in (("accuracy_majority", collapsed), ("accuracy_votes", nested)):
        value = credited(table["right"], table["unclear"], uncertain=uncertain)
        rows.append(pd.Series(value).groupby(table["model"].astype(str).to_numpy()).mean().rename(name))
    both = pd.concat(rows, axis=1)
    counted = collapsed["model"].astype(str).value_counts()
    both["difference"] = both["accuracy_majority"] - both["accuracy_votes"]
    return both.assign(questions=counted).rename_axis("model").sort_index().reset_index()


def _usable(answers: pd.DataFrame) -> pd.DataFrame:
    """Questions with two readable votes or more and one winner."""
    keep = (answers["n_answered"] > 1) & ~answers["tied"] & answers["right"].notna()
    return answers[keep.to_numpy()]
