"""Simulated models that state probabilities: how incoherent, noisy, wrong and reliable they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import numpy as np

from analysis.errors import AnalysisError

NOISES: Final = ("gaussian", "lognormal", "mostly_zero", "t3")


@dataclass(frozen=True, slots=True)
class CoherenceResponder:
    """One simulated model; residuals are direct answer minus decomposition, in log-odds.

    ``spread`` is the standard deviation of the persistent residual between instances, ``lean`` its mean; where
    ``active`` < 1 only that share of items carries it, and where ``linked`` these are the noisiest ones. ``noise`` is
    the root mean square of the rewording noise, ``noise_kind`` its distribution. ``belief_error`` is the standard
    deviation of the beliefs about the truth, twice as large for qualitative items. Answers have ``digits`` decimals;
    probabilities of states miss a sum of 1 by about ``sum_error``. ``tokens`` is the median number of reasoning tokens.
    """

    name: str
    spread: float = 0.2
    lean: float = 0.0
    noise: float = 0.3
    noise_kind: str = "gaussian"
    active: float = 1.0
    linked: bool = False
    belief_error: float = 0.3
    digits: int = 3
    sum_error: float = 0.0
    tokens: float = 1000.0
    missing: float = 0.0
    unparsed: float = 0.0

    def __post_init__(self) -> None:
        scales = (self.spread, self.noise, self.belief_error, self.sum_error, self.tokens)
        if not all(0 <= scale < np.inf for scale in scales) or not np.isfinite(self.lean):
            raise AnalysisError(f"responder {self.name!r}: scales must be finite and not negative")
        if self.noise_kind not in NOISES or not 0 < self.active <= 1 or not 1 <= self.digits <= 6:
            raise AnalysisError(
                f"responder {self.name!r}: noise_kind is one of {', '.join(NOISES)}, active in (0, 1], digits 1 to 6"
            )
        if not 0 <= self.missing + self.unparsed <= 1:
            raise AnalysisError(f"responder {self.name!r}: missing and unparsed are shares that add up to at most 1")


#: Seven responders: coherent to incoherent, with every kind of noise, tails, linked noise, rounding and gaps.
RESPONDERS: Final = (
    CoherenceResponder("simulated/coherent", 0.0, 0.0, 0.10, belief_error=0.15, tokens=450),
    CoherenceResponder("simulated/steady", 0.08, 0.0, 0.12, belief_error=0.2, tokens=480, missing=0.002),
    CoherenceResponder("simulated/few-items", 0.27, 0.05, 0.30, active=0.15, belief_error=0.25, tokens=16900),
    CoherenceResponder("simulated/noisy", 0.10, 0.05, 0.50, "lognormal", belief_error=0.3, tokens=4400),
    CoherenceResponder("simulated/linked", 0.30, -0.10, 0.45, "mostly_zero", 0.3, True, digits=2, tokens=7200),
    CoherenceResponder("simulated/heavy-noise", 0.15, 0.0, 0.30, "t3", belief_error=0.3, sum_error=0.02, tokens=5600),
    CoherenceResponder("simulated/leaning", 0.32, 0.15, 0.35, belief_error=0.4, digits=2, sum_error=0.03, tokens=1200,
                       unparsed=0.01),
)  # fmt: skip


def named_coherence_responders(names: Sequence[str]) -> tuple[CoherenceResponder, ...]:
    """Responders of ``RESPONDERS`` by name (without ``simulated/``), each once."""
    known = {responder.name.removeprefix("simulated/"): responder for responder in RESPONDERS}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1) or list(known)
            raise AnalysisError(
                f"no simulated responder of this study is called {name!r}; there is {', '.join(near)}",
                offenders=(name,),
            )
    if len(set(names)) != len(names):
        raise AnalysisError("a simulated responder is named twice", offenders=tuple(names))
    return tuple(known[name] for name in names)
