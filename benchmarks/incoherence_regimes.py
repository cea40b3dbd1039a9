"""Simulated instances of incoherence: 83 identities of 57 units in three wordings, fourteen regimes."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

WORDINGS = 3
#: 31 units with one identity, 26 with two.
UNIT = np.concatenate([np.arange(31), np.repeat(np.arange(31, 57), 2)])
IDENTITY = np.concatenate([np.zeros(31, int), np.tile([0, 1], 26)])
UNITS = 57
#: Answers are printed to two decimals: smaller residuals are 0.
SMALLEST = 0.001
ACTIVE, NOISY = 0.15, 0.3
#: Share of units that are noisy and incoherent, by effect.
LINKED = {"linked": NOISY, "rarely linked": 0.15, "small linked": NOISY, "rounded linked": NOISY}
#: Sd of what two decimals do to answers that are the same in all wordings.
ROUNDED = 0.016


@dataclass(frozen=True, slots=True)
class Regime:
    """``effect``: none, small, medium, heavy or of LINKED; ``noise``: Gaussian, mostly-zero, lognormal or linked."""

    effect: str
    noise: str
    persistent: float

    @property
    def name(self) -> str:
        return f"{self.effect}, {self.noise} noise"


REGIMES = (
    Regime("none", "Gaussian", 0.0),
    Regime("none", "mostly-zero", 0.0),
    Regime("none", "lognormal", 0.0),
    Regime("small", "Gaussian", 0.1),
    Regime("small", "mostly-zero", 0.1),
    Regime("medium", "Gaussian", 0.3),
    Regime("medium", "lognormal", 0.3),
    Regime("medium", "mostly-zero", 0.3),
    Regime("heavy", "Gaussian", 0.3),
    Regime("heavy", "mostly-zero", 0.3),
    Regime("linked", "linked", 0.3),
    Regime("rarely linked", "linked", 0.3),
    Regime("small linked", "linked", 0.15),
    Regime("rounded linked", "linked", 0.3),
)


def simulated(regime: Regime, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means (n,) of one data set, and its residuals (n, wordings)."""
    n = len(UNIT)
    z = np.sqrt(0.5) * rng.standard_normal(UNITS)[UNIT] + np.sqrt(0.5) * rng.standard_normal(n)
    noise = rng.standard_normal((n, WORDINGS))
    if regime.effect in LINKED:
        share = LINKED[regime.effect]
        on = (rng.random(UNITS) < share)[UNIT]
        size = regime.persistent / np.sqrt(share)
        rounded = regime.effect == "rounded linked"
        mu, sd = on * size * z, np.where(on, size, 0.0 if rounded else 0.01)
        alike = np.where(on, 0.0, ROUNDED * rng.standard_normal(n)) if rounded else 0.0
    else:
        scale = {"none": 0.0, "small": 0.1, "medium": 0.3, "heavy": np.sqrt(0.09 / ACTIVE)}[regime.effect]
        active = (rng.random(UNITS) < ACTIVE)[UNIT] if regime.effect == "heavy" else 1.0
        mu, sd, alike = active * scale * z, _noise_sd(regime.noise, rng), 0.0
    residuals = (mu + alike)[:, None] + sd[:, None] * noise
    return mu, np.where(np.abs(residuals) < SMALLEST, 0.0, residuals)


def _noise_sd(noise: str, rng: np.random.Generator) -> NDArray[np.float64]:
    if noise == "Gaussian":
        return np.full(len(UNIT), 0.3)
    if noise == "mostly-zero":
        return np.where(rng.random(UNITS) < 1 - NOISY, 0.01, np.sqrt(0.09 / NOISY))[UNIT]
    return 0.15 * np.exp(rng.standard_normal(UNITS))[UNIT]


def instance_table(residuals: NDArray[np.float64], model: str = "simulated") -> pd.DataFrame:
    """Instances as ``fit_incoherence`` takes them."""
    mean = residuals.mean(axis=1)
    return pd.DataFrame(
        {
            "task": "simulated",
            "model": model,
            "unit": [f"u{unit:02d}" for unit in UNIT],
            "identity": [f"identity {i}" for i in IDENTITY],
            "k": residuals.shape[1],
            "mean": mean,
            "ss": ((residuals - mean[:, None]) ** 2).sum(axis=1),
            "clipped": 0.0,
        }
    )
