"""Frequentist estimates and tests of logs, as tidy tables."""

from collections.abc import Sequence

import pandas as pd

from analysis.api.logs import Logs, contexts_of
from analysis.errors import AnalysisError
from analysis.frequentist.model_comparison import ModelComparison
from analysis.studies.between_models import compared_models
from analysis.studies.coherence_results import coherence_results
from analysis.studies.context import TaskContext


def item_counts(logs: Logs) -> pd.DataFrame:
    """Integer counts by task, model, item, factors and conditions: what every estimate is made from.

    Tasks whose answers are neither right nor wrong have none.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     counts = eh.item_counts(logs)
    >>> int(counts["n_planned"].sum()), int(counts["n_uncertain"].sum())
    (2400, 53)
    """
    found = [context.counts for context in contexts_of(logs) if isinstance(context.counts, pd.DataFrame)]
    return together(
        [table.astype({name: "str" for name in table.columns if not name.startswith("n_")}) for table in found]
    )


def measures(logs: Logs) -> pd.DataFrame:
    """Accuracies, answer bias, competence floor and all other measures with intervals, one row each.

    The same rows as ``data/estimates.parquet`` of a report.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     table = eh.measures(logs)
    >>> floors = table[table["measure"] == "competence_floor"].set_index("model")["estimate"]
    >>> floors.round(3).tolist()
    [0.817, 0.497, 0.278, 0.408]
    """
    return together([context.estimates for context in contexts_of(logs) if context.estimates is not None])


def floor_tests(logs: Logs) -> pd.DataFrame:
    """Is each competence floor above or below .5? Holm-adjusted over models, yes/no tasks only.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     tests = eh.floor_tests(logs)
    >>> tests.loc[tests["alternative"] == "greater", "decision"].tolist()
    ['above', 'undecided', 'below', 'undecided']
    """
    return together([context.judgement.tests for context in contexts_of(logs) if context.judgement is not None])


def compare_models(logs: Logs) -> ModelComparison:
    """All pairs of models on the items that all of them answered; yes/no tasks only.

    Returns
    -------
    ModelComparison
        ``pairs``: differences with intervals, tests, equivalence; ``models``: ranks and letters.

    Raises
    ------
    AnalysisError
        No task allows it; the message says why.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     found = eh.compare_models(logs)
    >>> floors = found.pairs[found.pairs["measure"] == "competence_floor"]
    >>> len(floors), int((floors["p_adjusted"] < 0.05).sum())
    (6, 4)
    """
    found, reasons = [], []
    for context in contexts_of(logs):
        if context.judgement is None or context.design.target == "census":
            reasons.append("no yes/no task with a claim beyond its items")
            continue
        compared = compared_models(context) if _models(context) > 1 else "there is one model only"
        if isinstance(compared, str):
            reasons.append(compared)
        else:
            found.append(compared[1])
    if not found:
        raise AnalysisError(f"models cannot be compared: {'; '.join(dict.fromkeys(reasons))}")
    return ModelComparison(together([one.pairs for one in found]), together([one.models for one in found]))


def incoherence(logs: Logs) -> pd.DataFrame:
    """Persistent incoherence, noise and their companions by moments, for tasks of stated probabilities.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:  # yes/no answers: no probabilities to be incoherent
    ...     eh.incoherence(logs).empty
    True
    """
    found = []
    for context in contexts_of(logs):
        if context.probabilities is None:
            continue
        results = coherence_results(
            context.probabilities,
            context.design,
            context.study,
            resampling=context.resampling,
            ci_level=context.ci_level,
        )
        if results is not None:
            found.append(results.estimates)
    return together(found)


def _models(context: TaskContext) -> int:
    return int(context.counts["model"].nunique()) if isinstance(context.counts, pd.DataFrame) else 0


def together(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of several tasks, one after the other; empty without any."""
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
