"""Why two schools differ on one estimand: codes, what they mean, and the order in which they apply."""

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """Reason code of a difference; the order of the members is the order of precedence."""

    MCMC = "MCMC"
    TARGET = "TARGET"
    CENSOR = "CENSOR"
    BOUNDARY = "BOUNDARY"
    TAIL = "TAIL"
    CLUSTER = "CLUSTER"
    MIN = "MIN"
    SHRINK = "SHRINK"
    ROPE = "ROPE"
    UNEXPLAINED = "UNEXPLAINED"


#: What each code says to a reader.
WORDS: Final[dict[Reason, str]] = {
    Reason.MCMC: "the sampler failed a check, so the Bayesian column is not shown",
    Reason.TARGET: "the columns speak of different targets (these templates, or new ones)",
    Reason.CENSOR: "part of the answers lies at the clip or was lost, and the columns treat it differently",
    Reason.BOUNDARY: "the value lies near the end of its range, where the prior matters",
    Reason.TAIL: "the result rests on few units or responses, which the columns count differently",
    Reason.CLUSTER: "repeated units widen one interval and not the other",
    Reason.MIN: "the floor is the smaller of two nearly equal accuracies, which biases each column down differently",
    Reason.SHRINK: "the hierarchical model borrows strength from the other models, by about as much as expected",
    Reason.ROPE: "the difference from the reference value is detectable but may be negligible",
    Reason.UNEXPLAINED: "none of the expected causes applies: look at the model and at the data",
}
