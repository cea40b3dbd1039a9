"""Persistent incoherence by moments beside its posterior, row by row: what they say together, and why they differ."""

from typing import Any, Final

import pandas as pd

#: Reason -> its words in a report.
WORDS: Final = {
    "BOUNDARY": "BOUNDARY: near 0, where the square may be negative and a posterior may not",
    "TAIL": "TAIL: few units carry it",
    "CLIP": "CLIP: some answers are at the clip, which neither knows",
    "LINK": "LINK: SSL alone would say below .10, which is withheld: noisy instances may be incoherent",
}
#: Share of clipped answers from which on the clip is a reason.
CLIPPED: Final = 0.05
#: (detected by sign flips, decision of SSL) -> verdict.
_VERDICTS: Final = {
    ("detected", "above"): "both",
    ("detected", "below"): "small",
    ("detected", "undecided"): "size open",
    ("not detected", "above"): "posterior only",
    ("not detected", "below"): "neither",
    ("not detected", "undecided"): "open",
}


def incoherence_schools(moments: pd.DataFrame, posterior: pd.DataFrame, clipped: pd.Series) -> pd.DataFrame:
    """One row per model: both estimates, both decisions, the verdict, and reasons for a difference.

    Parameters
    ----------
    moments : DataFrame
        One row per model: ``model, estimate, ci_low, ci_high, ci_level, ci_method, p_value, resolution, tail,
        decision`` (detected, not detected, not tested), ``reason``; log-odds.
    posterior : DataFrame
        Rows of persistent incoherence, target these: ``model, variant`` (SSL, N) ``, estimate, ci_low, ci_high,
        ci_method, p_present, decision, withheld, reason``.
    clipped : Series
        Share of answers at the clip by model, in [0, 1].

    Returns
    -------
    DataFrame
        ``model``; ``moment`` and ``posterior``, each with ``_low, _high, _method, _reason``; ``p_value``,
        ``resolution``, ``p_present``; ``apart`` (an estimate lies outside the other's interval); ``verdict``: both,
        small, size open, posterior only, neither, open, or failed (no posterior, or no test); ``why``, in words.
    """
    linked = posterior[posterior["variant"] == "SSL"].set_index("model")
    rows = []
    for moment in moments.to_dict("records"):
        model = moment["model"]
        found: dict[Any, Any] = dict(linked.loc[model]) if model in linked.index else {"reason": "not fitted"}
        rows.append(_row(moment, found, float(clipped.get(model, 0.0))))
    return pd.DataFrame(rows)


def _row(moment: dict[Any, Any], found: dict[Any, Any], clipped: float) -> dict[str, Any]:
    usable = not str(found.get("reason") or "").startswith("MCMC") and pd.notna(found.get("estimate"))
    one = {name: moment[name] for name in ("model", "ci_level", "p_value", "resolution")}
    one |= _named("moment", moment)
    one |= _named("posterior", found if usable else {"reason": found.get("reason") or "not fitted"})
    verdict = _VERDICTS.get((moment["decision"], found.get("decision") or "")) if usable else None
    reasons = []
    if verdict is not None:
        near = moment["ci_low"] <= 0 or verdict in ("neither", "small")
        flags = {
            "BOUNDARY": near,
            "TAIL": bool(moment["tail"]) and moment["decision"] == "detected",
            "CLIP": clipped >= CLIPPED,
            "LINK": bool(found["withheld"]),
        }
        reasons = [WORDS[name] for name, holds in flags.items() if holds]
    return one | {
        "p_present": found.get("p_present") if usable else None,
        "apart": _apart(moment, found) if usable else None,
        "verdict": verdict or "failed",
        "why": "; ".join(reasons) or "-",
    }


def _named(stem: str, found: dict[Any, Any]) -> dict[str, Any]:
    ends = {f"{stem}_low": "ci_low", f"{stem}_high": "ci_high", f"{stem}_method": "ci_method"}
    return {
        stem: found.get("estimate"),
        **{name: found.get(column) for name, column in ends.items()},
        f"{stem}_reason": found.get("reason") or "",
    }


def _apart(a: dict[Any, Any], b: dict[Any, Any]) -> bool:
    inside = a["ci_low"] <= b["estimate"] <= a["ci_high"] and b["ci_low"] <= a["estimate"] <= b["ci_high"]
    return not inside
