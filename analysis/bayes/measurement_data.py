"""Single answers of the law of total probability as arrays, and the priors of the model of them."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from analysis.bayes.prior_values import check_values
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]

#: Kinds of question, in the order of their noise everywhere.
ROLES: Final = ("target", "latent", "conditional")
#: Fewest instances and wordings of a fit.
LEAST_INSTANCES: Final = 5
LEAST_WORDINGS: Final = 2


@dataclass(frozen=True, slots=True)
class MeasurementPriors:
    """Priors of the model of single answers, in log-odds.

    Attributes
    ----------
    lean_sd, violation_scale, sum_scale : float
        sd of the mean violation; half-normal scales of the violations' sd and of that of the states' sums.
    noise_log_mean, noise_log_sd : float
        Of the log noise of each kind of question.
    belief_sd : float
        sd of a coherent belief around the truth (around 0 where none is known).
    """

    lean_sd: float = 0.1
    violation_scale: float = 0.375
    sum_scale: float = 0.375
    noise_log_mean: float = float(np.log(0.2))
    noise_log_sd: float = 1.0
    belief_sd: float = 1.5

    def __post_init__(self) -> None:
        check_values(self, {"noise_log_mean"})


@dataclass(frozen=True, slots=True)
class SingleAnswers:
    """Answers of n instances in up to K wordings, log-odds; the M states of all instances stand one after another.

    Attributes
    ----------
    target : ndarray (n, K)
        Direct answers; NaN where there is none.
    latent, conditional : ndarray (M, K)
        P(state), P(event | state).
    first : ndarray of int (n + 1,)
        Instance i has the states first[i] to first[i + 1] - 1.
    latent_centre, conditional_centre : ndarray (M,)
        Log of the true P(state), log-odds of the true P(event | state); 0 where unknown.
    limit : float
        Log-odds of the upper clip: an answer at or beyond it is known to lie there, and no more.
    """

    target: Floats
    latent: Floats
    conditional: Floats
    first: NDArray[np.int64]
    latent_centre: Floats
    conditional_centre: Floats
    limit: float

    @property
    def size(self) -> int:
        """Number of instances."""
        return len(self.target)

    @property
    def instance(self) -> NDArray[np.int64]:
        """Instance of every state (M,)."""
        return np.repeat(np.arange(self.size), np.diff(self.first))

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether a state is the last one of its instance (M,): its weight is what the others leave."""
        found = np.zeros(len(self.latent), bool)
        found[self.first[1:] - 1] = True
        return found

    @property
    def clipped(self) -> float:
        """Share of answers at or beyond the clip."""
        every = np.concatenate([self.target.ravel(), self.latent.ravel(), self.conditional.ravel()])
        known = every[~np.isnan(every)]
        return float((np.abs(known) >= self.limit).mean())


def single_answers(
    target: Floats,
    latent: Floats,
    conditional: Floats,
    first: NDArray[np.int64],
    *,
    truth_latent: Floats | None = None,
    truth_conditional: Floats | None = None,
    clip: float = 0.01,
) -> SingleAnswers:
    """Probabilities (shapes of ``SingleAnswers``) as what the model reads.

    Parameters
    ----------
    target, latent, conditional : ndarray
        Stated probabilities; NaN where there is none.
    first : ndarray of int (n + 1,)
    truth_latent, truth_conditional : ndarray (M,), optional
        True probabilities, NaN where unknown.
    clip : float in (0, .5)

    Raises
    ------
    AnalysisError
        Shapes that do not fit, too few instances or wordings, an instance with fewer than two states.
    """
    states = np.diff(first)
    if len(target) < LEAST_INSTANCES or target.shape[1] < LEAST_WORDINGS:
        raise AnalysisError(
            f"the model of single answers needs {LEAST_INSTANCES} instances in {LEAST_WORDINGS} wordings, "
            f"not {len(target)} in {target.shape[1]}"
        )
    if latent.shape != (first[-1], target.shape[1]) or conditional.shape != latent.shape or len(states) != len(target):
        raise AnalysisError("answers on states do not fit the instances: one row per state, one column per wording")
    if (states < 2).any():
        raise AnalysisError("every instance needs at least two states")
    size = len(latent)
    weight = np.full(size, np.nan) if truth_latent is None else np.clip(truth_latent, clip, 1 - clip)
    chance = np.full(size, np.nan) if truth_conditional is None else np.clip(truth_conditional, clip, 1 - clip)
    limit = float(logit(1 - clip))
    return SingleAnswers(
        target=_odds(target, limit),
        latent=_odds(latent, limit),
        conditional=_odds(conditional, limit),
        first=np.asarray(first, np.int64),
        latent_centre=np.nan_to_num(np.log(weight)),
        conditional_centre=np.nan_to_num(logit(chance)),
        limit=limit,
    )


def _odds(probability: Floats, limit: float) -> Floats:
    """Log-odds within the limits; NaN stays NaN."""
    found: Floats = np.clip(logit(np.clip(probability, 1e-12, 1 - 1e-12)), -limit, limit)
    return found
