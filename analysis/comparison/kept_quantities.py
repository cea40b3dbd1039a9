"""Contrasts of what two kept fits report by model: of incoherence, or of belief bias."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.belief_bias_result import NEW_MODEL, BeliefBiasFit
from analysis.bayes.incoherence_result import LINKED, MCMC, IncoherenceFit
from analysis.bayes.incoherence_summary import ROPE as LOG_ODDS_ROPE
from analysis.comparison.before_after_schools import NUMBERS, PAIR, posterior_says, with_medians
from analysis.comparison.posterior_differences import posterior_differences
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
THESE: Final = "these"
#: Measures contrasted, in order of printing, and whether they are in log-odds.
INCOHERENCE: Final[dict[str, bool]] = {"persistent": True, "noise": True}
BELIEF: Final[dict[str, bool]] = {"belief_bias": False, "endorsement_log_odds_shift": True, "accuracy": False}
NOT_REPORTED: Final = "the fit does not report it"


@dataclass(frozen=True, slots=True)
class KeptQuantities:
    """What one fit reports of its models.

    Attributes
    ----------
    rows : mapping of (model, measure) to (float, str)
        Posterior median, or why none may be shown.
    draws : mapping of (model, measure) to ndarray (chains, draws)
    """

    rows: Mapping[tuple[str, str], tuple[float, str]]
    draws: Mapping[tuple[str, str], Floats]

    def row(self, model: str, measure: str) -> tuple[float, str]:
        """Median, or NaN and why."""
        key = (model, measure)
        median, reason = self.rows.get(key, (np.nan, NOT_REPORTED))
        return (median, "") if not reason and key in self.draws else (np.nan, reason or NOT_REPORTED)


def incoherence_kept(fit: IncoherenceFit) -> KeptQuantities:
    """Persistent residual and noise of the instances at hand by SSL; models whose sampler failed have a reason."""
    table = fit.table
    whole = (table["item_family"].fillna("") == "") & (table["level"].fillna("") == "")
    table = table[whole & (table["variant"] == LINKED) & (table["target"] == THESE)]
    names = [(str(model), str(measure)) for model, measure in zip(table["model"], table["measure"], strict=True)]
    stored = {key: fit.draws.get(f"{LINKED}: {key[0]}: {key[1]}, {THESE}") for key in names if key[1] in INCOHERENCE}
    return KeptQuantities(_rows(table), {key: draws for key, draws in stored.items() if draws is not None})


def belief_kept(fit: BeliefBiasFit) -> KeptQuantities:
    """Belief bias, shift of endorsements and accuracy of these models on new items.

    Raises
    ------
    AnalysisError
        The draws of a measure are not those of the models of its rows.
    """
    table = fit.table[fit.table["target"] == THESE]
    draws: dict[tuple[str, str], Floats] = {}
    for measure in BELIEF:
        models = table.loc[table["measure"] == measure, "model"].astype(str).tolist()
        stored = fit.draws.get(measure)
        if stored is None or not models:
            continue
        fresh = (fit.table["model"] == NEW_MODEL) & (fit.table["measure"] == measure)
        if stored.shape[-1] != len(models) + int(fresh.any()):
            raise AnalysisError(f"a kept fit holds draws of {stored.shape[-1]} models and rows of {len(models)}")
        draws |= {(model, measure): stored[:, :, at] for at, model in enumerate(models)}
    return KeptQuantities(_rows(table), draws)


def _rows(table: pd.DataFrame) -> dict[tuple[str, str], tuple[float, str]]:
    found = {}
    for model, measure, median, why in table[["model", "measure", "estimate", "reason"]].itertuples(
        index=False, name=None
    ):
        reason = why if isinstance(why, str) else ""
        shown = np.isfinite(median) and not reason.startswith(MCMC)
        found[str(model), str(measure)] = (float(median), "") if shown else (np.nan, reason or NOT_REPORTED)
    return found


def kept_contrasts(
    before: KeptQuantities,
    after: KeptQuantities,
    pairs: Sequence[tuple[str, str]],
    measures: Mapping[str, bool],
    *,
    rng: np.random.Generator,
    rope: float,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """After minus before of every pair of models and measure.

    Parameters
    ----------
    before, after : KeptQuantities
        Of independent fits.
    pairs : sequence of (model before, model after)
    measures : mapping of str to bool
        Whether a measure is in log-odds: then differences within +- 0.05 count as none, else those within ``rope``.
    rng : numpy.random.Generator
        Pairs the draws of both sides.
    rope : float > 0
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        As of ``before_after_schools.posterior_contrasts``, with ``scale`` (log_odds or probability).
    """
    keys = pd.DataFrame([(*pair, measure) for pair in pairs for measure in measures], columns=PAIR)
    in_log_odds = keys["measure"].map(measures).astype(bool).to_numpy()
    margin = np.where(in_log_odds, LOG_ODDS_ROPE, rope)
    table = keys.assign(**dict.fromkeys(NUMBERS, np.nan), ci_level=ci_level, ci_method="eti")
    table = table.assign(rope_low=-margin, rope_high=margin, scale=np.where(in_log_odds, "log_odds", "probability"))
    table = with_medians(table, {"before": before.row, "after": after.row})
    for at, row in enumerate(keys.itertuples(index=False, name=None)):
        if table["reason"].iat[at]:
            continue
        first, second, measure = row
        draws = (before.draws[first, measure][..., None], after.draws[second, measure][..., None])
        numbers = posterior_differences(*draws, rng=rng, rope=margin[at], ci_level=ci_level)
        table.loc[[at], list(numbers.columns)] = numbers.set_axis([at], axis=0)
    return table.assign(posterior_says=[posterior_says(one) for one in table.to_dict("records")])
