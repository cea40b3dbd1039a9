"""Three columns on one estimand: frequentist, Bayes without pooling, Bayes with pooling; and why they differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.comparison.reasons import WORDS, Reason
from analysis.comparison.shrinkage import expected_shift

#: Measures compared, with the value that a decision refers to.
REFERENCE: Final[dict[str, float]] = {
    "acc_yes": 0.5,
    "acc_no": 0.5,
    "balanced_accuracy": 0.5,
    "answer_bias": 0.0,
    "polarity_sensitivity": 0.0,
    "validity_contrast": 0.0,
    "competence_floor": 0.5,
    "cell_floor": 0.5,
}
FLOORS: Final = ("competence_floor", "cell_floor", "affirmative_floor")
#: Accuracies nearer than this to 0 or 1 are near a boundary.
EDGE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When columns count as agreeing; every value is printed with the comparison.

    ``location`` and ``width`` bound |difference| in standard errors and the ratio of widths between the
    frequentist and the unpooled column away from boundaries, ``location_edge`` and ``width_edge`` near
    them (a cell outside [.1, .9] or fewer than ``n_eff`` effective responses); ``shift`` bounds the
    distance of the pooled column from its expected place; ``narrow`` times the square root of the
    reliability, and ``wide``, bound its width; ``rope`` is the half-width of the region of practical
    equivalence; ``credibility`` the posterior probability that a decision needs.
    """

    location: float = 0.25
    width: tuple[float, float] = (0.85, 1.15)
    location_edge: float = 1.0
    width_edge: tuple[float, float] = (0.6, 1.5)
    n_eff: float = 40.0
    shift: float = 0.5
    narrow: float = 0.85
    wide: float = 1.3
    deff: float = 1.3
    tied: float = 2.0
    rope: float = 0.02
    credibility: float = 0.95


@dataclass(frozen=True, slots=True)
class Columns:
    """Tidy estimates of one task by each school, and what the comparison has to know of the data.

    Parameters
    ----------
    frequentist, unpooled, pooled : DataFrame
        One row per model × measure: ``model, measure, estimate, ci_low, ci_high, target``; the first
        also ``std_error``, the last also ``p_above`` (posterior probability of a value above the
        reference plus the rope), ``p_below`` and ``p_rope``.
    decisions : mapping
        (model, measure) -> above, below, undecided: the frequentist decision where a test made it;
        elsewhere the interval decides.
    facts : DataFrame
        One row per model: ``min_cell``, ``max_cell`` (extreme cell accuracies), ``n_eff`` (smallest of
        the classes), ``deff`` (cluster over binomial variance of the bias), ``tail`` (few units carry
        the bias), ``lost`` (share of planned responses without an answer).
    failed : str
        Why the pooled column is not shown; empty where it passed its gates.
    reference : mapping
        Measures compared, with the value that a decision refers to.
    """

    frequentist: pd.DataFrame
    unpooled: pd.DataFrame
    pooled: pd.DataFrame
    decisions: Mapping[tuple[str, str], str]
    facts: pd.DataFrame
    failed: str = ""
    reference: Mapping[str, float] = field(default_factory=lambda: REFERENCE)


def compare_schools(columns: Columns, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """One row per model × measure: the three columns, their differences, decisions, verdict and reason.

    Returns
    -------
    DataFrame
        ``model, measure``; ``estimate, ci_low, ci_high`` and the same with ``unpooled_`` and ``pooled_``;
        ``difference_se`` (pooled minus frequentist, in standard errors), ``expected_se`` (by shrinkage),
        ``width_ratio``; ``software_ok`` (frequentist against unpooled); ``decision``,
        ``pooled_decision``; ``verdict`` (agree, differ, explained, not shown); ``code`` and ``words``.
    """
    limits = Thresholds() if thresholds is None else thresholds
    table = _joined(columns)
    parts = []
    for _, group in table.groupby("measure", sort=False):
        shift, reliability = expected_shift(group["estimate"], group["std_error"])
        parts.append(group.assign(expected_se=shift, reliability=reliability))
    table = pd.concat(parts).sort_index() if parts else table.assign(expected_se=0.0, reliability=1.0)
    rows = [_compared(row, columns, limits) for row in table.to_dict("records")]
    return pd.DataFrame(rows)


def _joined(columns: Columns) -> pd.DataFrame:
    """Rows of the frequentist column in its order, with the others beside them."""
    keys = ["model", "measure"]
    own = [*keys, "estimate", "std_error", "ci_low", "ci_high", "target"]
    table = columns.frequentist.loc[columns.frequentist["measure"].isin(columns.reference), own].reset_index(drop=True)
    table = table.assign(model=table["model"].astype(str))
    for prefix, other in (("unpooled_", columns.unpooled), ("pooled_", columns.pooled)):
        wanted = [*keys, "estimate", "ci_low", "ci_high", "target", *_posterior(other)]
        part = other[wanted].assign(model=other["model"].astype(str))
        part = part.rename(columns={name: prefix + name for name in wanted if name not in keys})
        table = table.merge(part, on=keys, how="left", validate="one_to_one")
    facts = columns.facts.assign(model=columns.facts["model"].astype(str))
    return table.merge(facts, on="model", how="left", validate="many_to_one")


def _posterior(table: pd.DataFrame) -> list[str]:
    return [name for name in ("p_above", "p_below", "p_rope") if name in table.columns]


def _compared(row: dict[Any, Any], columns: Columns, limits: Thresholds) -> dict[str, Any]:
    error = row["std_error"]
    width = row["ci_high"] - row["ci_low"]
    scaled = error if error and error > 0 else np.nan
    difference = (row["pooled_estimate"] - row["estimate"]) / scaled
    ratio = (row["pooled_ci_high"] - row["pooled_ci_low"]) / width if width > 0 else np.nan
    decision = columns.decisions.get((row["model"], row["measure"])) or _by_interval(
        row, columns.reference[row["measure"]]
    )
    pooled_decision = "" if columns.failed else _by_posterior(row, limits)
    found = row | {"difference_se": difference, "width_ratio": ratio, "decision": decision}
    reasons = _reasons(found, columns, limits, pooled_decision)
    verdict = _verdict(found, pooled_decision, columns, limits)
    code = None if verdict in ("agree", "not compared") else reasons[0]
    if verdict == "differ" and code is not None and code is not Reason.UNEXPLAINED:
        verdict = "explained"
    kept = ("model", "measure", "estimate", "ci_low", "ci_high", "std_error", "expected_se", "reliability")
    prefixed = [f"{p}_{n}" for p in ("unpooled", "pooled") for n in ("estimate", "ci_low", "ci_high")]
    return {name: row[name] for name in (*kept, *prefixed)} | {
        "difference_se": difference,
        "width_ratio": ratio,
        "software_ok": _software_agrees(row, limits),
        "decision": decision,
        "pooled_decision": pooled_decision,
        "verdict": verdict,
        "code": "" if code is None else str(code),
        "words": "" if code is None else WORDS[code],
        "reason": columns.failed,
    }


def _by_interval(row: dict[Any, Any], null: float) -> str:
    if np.isnan(row["ci_low"]):
        return "not tested"
    return "above" if row["ci_low"] > null else "below" if row["ci_high"] < null else "undecided"


def _by_posterior(row: dict[Any, Any], limits: Thresholds) -> str:
    if np.isnan(row["pooled_estimate"]):
        return "not tested"
    if row["pooled_p_above"] > limits.credibility:
        return "above"
    if row["pooled_p_below"] > limits.credibility:
        return "below"
    return "equivalent" if row["pooled_p_rope"] > limits.credibility else "undecided"


def _at_edge(row: dict[Any, Any], limits: Thresholds) -> bool:
    return bool(row["min_cell"] < EDGE or row["max_cell"] > 1 - EDGE or row["n_eff"] < limits.n_eff)


def _software_agrees(row: dict[Any, Any], limits: Thresholds) -> bool | None:
    """Frequentist against unpooled; None where clusters, a minimum or a missing value make it no check."""
    error = row["std_error"]
    if row["measure"] in FLOORS or not error > 0 or np.isnan(row["unpooled_estimate"]) or row["deff"] > limits.deff:
        return None
    distance = abs(row["unpooled_estimate"] - row["estimate"]) / error
    ratio = (row["unpooled_ci_high"] - row["unpooled_ci_low"]) / (row["ci_high"] - row["ci_low"])
    edge = _at_edge(row, limits)
    low, high = limits.width_edge if edge else limits.width
    return bool(distance <= (limits.location_edge if edge else limits.location) and low <= ratio <= high)


def _verdict(row: dict[Any, Any], pooled_decision: str, columns: Columns, limits: Thresholds) -> str:
    if columns.failed:
        return "not shown"
    if "not tested" in (row["decision"], pooled_decision):
        return "not compared"
    same = row["decision"] == pooled_decision or (row["decision"], pooled_decision) == ("undecided", "equivalent")
    placed = np.isnan(row["difference_se"]) or abs(row["difference_se"] - row["expected_se"]) <= limits.shift
    lowest = limits.narrow * np.sqrt(row["reliability"])
    sized = np.isnan(row["width_ratio"]) or lowest <= row["width_ratio"] <= limits.wide
    return "agree" if same and placed and sized else "differ"


def _reasons(row: dict[Any, Any], columns: Columns, limits: Thresholds, pooled_decision: str) -> list[Reason]:
    """Every reason that applies, in order of precedence."""
    null = columns.reference[row["measure"]]
    decisive = ("above", "below")
    tied = abs(row.get("bias_z", np.nan)) < limits.tied
    narrow = row["width_ratio"] < limits.narrow * np.sqrt(row["reliability"])
    toward = row["expected_se"] * row["difference_se"] > 0
    applies = {
        Reason.MCMC: bool(columns.failed),
        Reason.TARGET: row["target"] != row["pooled_target"],
        Reason.CENSOR: row["lost"] > 0.05 and row["measure"] in FLOORS and abs(row["difference_se"]) > limits.shift,
        Reason.BOUNDARY: bool(row["min_cell"] < EDGE or row["max_cell"] > 1 - EDGE),
        Reason.TAIL: bool(row["tail"] or row["n_eff"] < limits.n_eff),
        Reason.CLUSTER: bool(row["deff"] > limits.deff and narrow),
        Reason.MIN: row["measure"] in FLOORS and bool(tied),
        Reason.SHRINK: bool(row["reliability"] < 0.95 and (toward or abs(row["expected_se"]) > 0.1 or narrow)),
        Reason.ROPE: (row["decision"] in decisive) != (pooled_decision in decisive)
        and abs(row["estimate"] - null) < 3 * limits.rope + 2 * row["std_error"],
    }
    found = [reason for reason in Reason if applies.get(reason)]
    return found or [Reason.UNEXPLAINED]
