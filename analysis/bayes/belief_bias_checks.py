"""Does the endorsement model reproduce the answers? Fitted questions, and posterior predictive checks."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_program import Parameters
from analysis.bayes.belief_bias_sampling import EndorsementDraws
from analysis.measures.rates import share

Floats = NDArray[np.float64]

#: Draws over which fitted rates are averaged, and replicates of the data.
_DRAWS: Final = 200


def question_log_odds(m: int, design: BeliefDesign, draws: EndorsementDraws, found: Parameters) -> Floats:
    """Log-odds (S, C, Q) of endorsing every question of one model, with its effects."""
    d = draws.model.data
    b = found.coefficient[:, m]
    base = b @ d.of_question
    if len(d.unit):
        base = base + found.effect[:, m, d.effect]
    moved = np.einsum("sf,cvf->scv", b, d.of_configuration)
    return base[:, None] + moved[:, :, design.side]


def fitted_questions(design: BeliefDesign, draws: EndorsementDraws) -> pd.DataFrame:
    """Observed and fitted share of endorsements by model and question, over configurations.

    Returns
    -------
    DataFrame
        ``model, unit, item, gold, believability, variant, n, k, observed, fitted``, ``residual``: observed minus fitted
        in binomial standard deviations. Questions without an answer of a model have no row.
    """
    found, parts = draws.parameters(most=_DRAWS), []
    for m, model in enumerate(design.models):
        p = expit(question_log_odds(m, design, draws, found)).mean(axis=0)
        answered = design.answered[m]
        n, k = answered.sum(axis=0), design.yes[m].sum(axis=0)
        fitted = share((p * answered).sum(axis=0), n)
        sd = np.sqrt((p * (1 - p) * answered).sum(axis=0))
        numbers = {"n": n.astype(int), "k": k.astype(int), "observed": share(k, n), "fitted": fitted}
        rows = design.questions.assign(model=model, **numbers, residual=share(k - (p * answered).sum(axis=0), sd))
        parts.append(rows[n > 0])
    return pd.concat(parts, ignore_index=True)[["model", *design.questions.columns, *numbers, "residual"]]


def predictive_checks(design: BeliefDesign, draws: EndorsementDraws, rng: np.random.Generator) -> pd.DataFrame:
    """Observed statistics of each model against replicates from the posterior, its effects kept.

    Returns
    -------
    DataFrame
        ``model, check, observed, expected`` (median of the replicates), ``low, high`` (95 %), ``tail``: twice the
        smaller share of replicates beyond the observed value. Checks: share of Yes; share of questions × configurations
        with several answers that are unanimous (too small where votes are less independent than the model has it);
        sd over questions of the share of Yes.
    """
    found, rows = draws.parameters(most=_DRAWS), []
    for m, model in enumerate(design.models):
        n = design.answered[m]
        if not n.any():
            continue
        p = expit(question_log_odds(m, design, draws, found))
        replicated = rng.binomial(n.astype(np.int64), p).astype(float)
        for name, check in _CHECKS.items():
            observed, simulated = check(design.yes[m][None], n)[0], check(replicated, n)
            if np.isfinite(observed):
                rows.append(_row(model, name, float(observed), simulated))
    return pd.DataFrame(rows, columns=["model", "check", "observed", "expected", "low", "high", "tail"])


def _share_of_yes(k: Floats, n: Floats) -> Floats:
    return np.asarray(k.sum(axis=(1, 2)) / n.sum(), float)


def _unanimous(k: Floats, n: Floats) -> Floats:
    several = n > 1
    alike = (k == 0) | (k == n)
    return share((alike & several).sum(axis=(1, 2)), np.broadcast_to(several.sum(), len(k)))


def _spread(k: Floats, n: Floats) -> Floats:
    asked = n.sum(axis=0) > 0
    return np.asarray((k.sum(axis=1)[:, asked] / n.sum(axis=0)[asked]).std(axis=1), float)


_CHECKS: Final = {
    "share of Yes": _share_of_yes,
    "share of unanimous votes": _unanimous,
    "sd over questions": _spread,
}


def _row(model: str, check: str, observed: float, replicates: Floats) -> dict[str, object]:
    low, middle, high = np.quantile(replicates, [0.025, 0.5, 0.975])
    slack = 1e-12  # equal but for rounding
    beyond = min((replicates <= observed + slack).mean(), (replicates >= observed - slack).mean())
    numbers = {"observed": observed, "expected": middle, "low": low, "high": high, "tail": min(1.0, 2 * beyond)}
    return {"model": model, "check": check, **{name: float(x) for name, x in numbers.items()}}
