"""What a fit has to pass before its numbers are shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.bayes.diagnostics import bfmi
from analysis.bayes.sampling import Draws
from analysis.bayes.summaries import RANK

MOST_R_HAT: Final = 1.01
#: Of a quick look, whose Monte-Carlo errors are recorded but have no gate.
MOST_R_HAT_FAST: Final = 1.05
LEAST_ESS: Final = 400.0
LEAST_BFMI: Final = 0.3
MOST_SATURATED: Final = 0.01
#: Largest Monte-Carlo error of a printed probability, and of an interval's end as a share of its width: of the
#: log-odds or the probabilities, whichever is smaller, and of at least .01 (see ``summaries.accuracy_table``).
MOST_MCSE_PROBABILITY: Final = 0.01
MOST_MCSE_END: Final = 0.05
#: Gates that more draws of the same sampler would pass.
TOO_FEW_DRAWS: Final = frozenset({"bulk ESS", "tail ESS", "MCSE of a probability", "MCSE of an interval end / width"})


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate.

    Attributes
    ----------
    name : str
    value : float
        The worst value of the fit.
    limit : float
    passed : bool
    where : str
        The quantity or stage with the worst value.
    """

    name: str
    value: float
    limit: float
    passed: bool
    where: str

    @property
    def sentence(self) -> str:
        """What failed, for a reader."""
        return f"{self.name} {self.value:.4g} (limit {self.limit:g}) in {self.where}"


def sampler_gates(draws: Draws, *, stage: str) -> tuple[Gate, ...]:
    """Gates of the sampler itself: divergences, energy, depth of trees."""
    divergent = float(draws.diverging.sum())
    missing = bfmi(draws.energy)
    saturated = float((draws.depth >= draws.max_depth).mean())
    return (
        Gate("divergences", divergent, 0.0, divergent == 0, stage),
        Gate("BFMI", float(missing.min()), LEAST_BFMI, bool((missing > LEAST_BFMI).all()), stage),
        Gate("tree depth saturation", saturated, MOST_SATURATED, saturated <= MOST_SATURATED, stage),
    )


def quantity_gates(table: pd.DataFrame, *, fast: bool = False) -> tuple[Gate, ...]:
    """Gates of every reported quantity.

    Parameters
    ----------
    table : DataFrame
        Tidy estimates with ``r_hat, ess_bulk, ess_tail, mcse_probability, mcse_share, ci_low, ci_high``;
        rows without an interval are undefined and pass. A quantity that never moves has no R-hat and fails,
        but for a rank, which may be certain; ends of intervals of ranks are whole numbers and have no gate.
    fast : bool
        A quick look with few draws: R-hat alone, below MOST_R_HAT_FAST.
    """
    defined = table[table["ci_low"].notna()]
    is_rank = defined["measure"] == RANK
    moving = defined[~is_rank | (defined["posterior_sd"] > 0)]
    rows = defined[~is_rank]
    if rows.empty:
        return ()
    limit = MOST_R_HAT_FAST if fast else MOST_R_HAT
    gates = (
        _worst("R-hat", moving, moving["r_hat"].to_numpy(), limit, largest=True, strict=True),
        _worst("bulk ESS", moving, moving["ess_bulk"].to_numpy(), LEAST_ESS, largest=False, strict=True),
        _worst("tail ESS", rows, rows["ess_tail"].to_numpy(), LEAST_ESS, largest=False, strict=True),
        _worst("MCSE of a probability", rows, rows["mcse_probability"].fillna(0.0).to_numpy(), MOST_MCSE_PROBABILITY),
        _worst("MCSE of an interval end / width", rows, rows["mcse_share"].to_numpy(), MOST_MCSE_END),
    )
    return gates[:1] if fast else gates


def missing_draws(failed: pd.DataFrame) -> float:
    """How many times the draws the gates of TOO_FEW_DRAWS ask for; 1 where they are passed.

    ``failed`` has a row per gate: ``name, value, limit``. Effective sizes grow with the draws, Monte-Carlo errors
    fall with their square root.
    """
    few = failed[failed["name"].isin(TOO_FEW_DRAWS)]
    size = few["name"].str.endswith("ESS")
    times = np.where(size, few["limit"] / few["value"], (few["value"] / few["limit"]) ** 2)
    return float(np.max(times[np.isfinite(times)], initial=1.0))


def failures(gates: Sequence[Gate]) -> str:
    """One sentence that lists the gates not passed; empty where all are."""
    return "; ".join(gate.sentence for gate in gates if not gate.passed)


def _worst(
    name: str, rows: pd.DataFrame, values: np.ndarray, limit: float, *, largest: bool = True, strict: bool = False
) -> Gate:
    signed = np.where(np.isnan(values), np.inf, values if largest else -values)
    at = int(signed.argmax())
    value = float(values[at])
    bound = limit if largest else -limit
    passed = signed[at] < bound if strict else signed[at] <= bound
    row = rows.iloc[at]
    return Gate(name, value, limit, bool(passed), f"{row['measure']} of {row['model']}")
