"""What a fit of the endorsement model gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

TABLES: Final = ("table", "contrasts", "unpooled", "gates", "predictive", "sensitivity", "spreads", "augment")
#: Pseudo-model of the target ``new_models``.
NEW_MODEL: Final = "a new model"
NEW_MODELS: Final = "new_models"


def level_name(factor: str, first: str, second: str) -> str:
    """Name of the draws of a contrast of two levels of a condition."""
    return f"{factor}: {first} - {second}"


@dataclass(frozen=True, slots=True)
class BeliefBiasFit:
    """Result of ``fit_belief_bias``; answers tidy (``table``, ``contrasts``), glance and augment.

    Attributes
    ----------
    task : str
    status : str
        ``ok``, or ``failed`` where a gate was not passed after the retry: then no number may be read as a result.
    reason : str
        Why it failed; empty otherwise.
    table : DataFrame
        One row per model and measure: ``acc_vb`` ..., ``congruent``, ``incongruent``, ``belief_bias``,
        ``discrimination_difference``, ``endorsement_log_odds_shift``, ``endorsement_log_odds_interaction``,
        ``accuracy``, ``consistency_all``; ``target`` these (these models, new items), and of NEW_MODEL new_models.
    contrasts : DataFrame
        Accuracy under the first minus the second level of a condition, by model: ``factor, first, second``.
    unpooled : DataFrame
        The same of each model by itself, independent cells with a Jeffreys prior; ``measure`` of two levels is
        ``level_name``.
    glance : mapping
        One row about the fit.
    gates : DataFrame
        ``group, name, value, limit, passed, where``.
    predictive : DataFrame
        Posterior predictive checks.
    sensitivity : DataFrame
        Power-scaling of prior and likelihood.
    spreads : DataFrame
        Standard deviations of each fit, those of few coefficients also under a second prior.
    augment : DataFrame
        One row per model and question: ``n, k, observed, fitted, residual``.
    sentences : tuple of str
    draws : mapping of str to ndarray (chains, draws, models)
        Draws of what is reported, by measure and ``level_name``; the last model of a measure may be NEW_MODEL.
    """

    task: str
    status: str
    reason: str
    table: pd.DataFrame
    contrasts: pd.DataFrame
    unpooled: pd.DataFrame
    glance: Mapping[str, Any]
    gates: pd.DataFrame
    predictive: pd.DataFrame
    sensitivity: pd.DataFrame
    spreads: pd.DataFrame
    augment: pd.DataFrame
    sentences: tuple[str, ...]
    draws: Mapping[str, np.ndarray] = field(repr=False)
