"""May a change pass? One-sided tests of differences against thresholds set beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.before_after import BETTER
from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.proportion import SMALLEST_P
from analysis.schema.gate_settings import GATE_MODES

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gate:
    """A threshold for a difference, after minus before.

    Attributes
    ----------
    measure : str
    threshold : float
        A negative one guards against a fall below it, a positive one against a rise above it; 0 against
        any change for the worse.
    """

    measure: str
    threshold: float

    @property
    def falls(self) -> bool:
        """Whether a fall is guarded against.

        Raises
        ------
        AnalysisError
            The threshold is 0 and neither direction is worse.
        """
        if self.threshold:
            return self.threshold < 0
        if not BETTER[self.measure]:
            raise AnalysisError(
                f"gate {self.measure} = 0: neither direction is worse; give a negative threshold (against a fall) "
                "or a positive one (against a rise)"
            )
        return BETTER[self.measure] > 0


def gate_tests(rows: pd.DataFrame, gates: Sequence[Gate], *, mode: str, ci_level: float = 0.95) -> pd.DataFrame:
    """One row per gate and comparison: whether it passes.

    Parameters
    ----------
    rows : DataFrame
        Of ``before_after``, with ``task``, ``before_model``, ``after_model``.
    gates : sequence of Gate
    mode : {"shown", "possible"}
        ``shown``: fails where a change beyond the threshold is shown (Holm over all gated comparisons).
        ``possible``: fails unless such a change is ruled out (each by its own test, since all have to pass).
    ci_level : float in (0, 1)
        Tests are one-sided at 1 - level.

    Returns
    -------
    DataFrame
        ``change_limit`` (the threshold), ``guards`` (fall or rise), ``p_value`` (of the change beyond the threshold
        in mode ``shown``, of its being ruled out in mode ``possible``), ``p_adjusted``, ``outcome`` (passed,
        failed, not judged), ``reason``. Without a standard error nothing is judged: that fails in mode
        ``possible`` only.

    Raises
    ------
    AnalysisError
        An unknown mode, or a measure that no comparison has.
    """
    if mode not in GATE_MODES:
        raise AnalysisError(f"gate mode must be one of {', '.join(GATE_MODES)}, not {mode!r}")
    alpha = 1 - check_level(ci_level)
    parts = []
    for gate in gates:
        own = rows[rows["measure"] == gate.measure]
        if own.empty:
            known = ", ".join(dict.fromkeys(map(str, rows["measure"])))
            raise AnalysisError(f"gate {gate.measure}: not compared for any task; compared are {known}")
        guards = "fall" if gate.falls else "rise"
        parts.append(own.assign(change_limit=gate.threshold, guards=guards, p_value=_p_values(own, gate, mode)))
    found = pd.concat(parts, ignore_index=True)
    shown = mode == "shown"
    adjusted = holm(found["p_value"]) if shown else found["p_value"].to_numpy(float)
    found = found.assign(
        p_adjusted=adjusted,
        p_adjust_method="holm" if shown else "none",
        family_size=family_size(found["p_value"]) if shown else 1,
        mode=mode,
    )
    judged = [_outcome(row, shown, alpha) for row in found.to_dict("records")]
    names = ("task", "before_model", "after_model", "measure", "estimate", "ci_low", "ci_high", "ci_level", "ci_method")
    kept = (*names, "change_limit", "guards", "mode", "p_value", "p_adjusted", "p_adjust_method", "family_size")
    return found[list(kept)].assign(outcome=[o for o, _ in judged], reason=[why for _, why in judged])


def _p_values(rows: pd.DataFrame, gate: Gate, mode: str) -> Floats:
    """One-sided p-values; NaN where there is no standard error."""
    error, df = rows["std_error"].to_numpy(float), rows["df"].to_numpy(float)
    usable = (error > 0) & (df > 0)
    away = (rows["estimate"].to_numpy(float) - gate.threshold) / np.where(usable, error, 1.0)
    beyond = -away if gate.falls else away
    t = beyond if mode == "shown" else -beyond
    return np.where(usable, np.maximum(student.sf(t, np.where(usable, df, 1.0)), SMALLEST_P), np.nan)


def _outcome(row: dict[Any, Any], shown: bool, alpha: float) -> tuple[str, str]:
    if row["identical"]:
        return "passed", row["reason"]
    if np.isnan(row["p_value"]):
        why = row["reason"] or "no standard error"
        return ("not judged" if shown else "failed"), f"not tested: {why}"
    significant = row["p_adjusted"] <= alpha
    return ("failed" if significant == shown else "passed"), ""
