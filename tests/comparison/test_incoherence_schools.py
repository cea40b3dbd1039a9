"""Moments beside the posterior: every verdict and every reason, from rows written by hand."""

import pandas as pd
import pytest

from analysis.comparison.incoherence_schools import WORDS, incoherence_schools


def moment(decision: str, estimate: float, low: float, high: float, *, tail: bool = False) -> pd.DataFrame:
    row = {"model": "m", "estimate": estimate, "ci_low": low, "ci_high": high, "ci_level": 0.95, "ci_method": "b",
           "p_value": 0.01, "resolution": 0.001, "tail": tail, "decision": decision, "reason": ""}  # fmt: skip
    return pd.DataFrame([row])


def posterior(decision: str, *, withheld: str = "", reason: str = "", estimate: float = 0.2) -> pd.DataFrame:
    row = {"model": "m", "estimate": estimate, "ci_low": 0.15, "ci_high": 0.25, "ci_method": "eti", "reason": reason}
    linked = {**row, "variant": "SSL", "p_present": 0.5, "decision": decision, "withheld": withheld}
    return pd.DataFrame([linked, {**row, "variant": "N", "p_present": 0.8, "decision": "undecided", "withheld": ""}])


@pytest.mark.parametrize(
    ("detected", "decision", "verdict"),
    [
        ("detected", "above", "both"),
        ("detected", "below", "small"),
        ("detected", "undecided", "size open"),
        ("not detected", "above", "posterior only"),
        ("not detected", "below", "neither"),
        ("not detected", "undecided", "open"),
        ("not tested", "above", "failed"),
    ],
)
def test_verdict_follows_both_decisions(detected: str, decision: str, verdict: str) -> None:
    """Catches a pair of decisions read as another."""
    found = incoherence_schools(moment(detected, 0.2, 0.1, 0.3), posterior(decision), pd.Series({"m": 0.0}))
    assert found.loc[0, "verdict"] == verdict


def test_reasons_are_those_that_hold() -> None:
    """Catches a reason that is always given, or never: none; tail and clip; boundary; link."""
    none, clip = pd.Series({"m": 0.04}), pd.Series({"m": 0.05})
    plain = incoherence_schools(moment("detected", 0.2, 0.1, 0.3), posterior("above"), none)
    assert plain.loc[0, "why"] == "-"
    heavy = incoherence_schools(moment("detected", 0.2, 0.1, 0.3, tail=True), posterior("above"), clip)
    assert heavy.loc[0, "why"] == f"{WORDS['TAIL']}; {WORDS['CLIP']}"
    near = incoherence_schools(moment("not detected", 0.0, 0.0, 0.1, tail=True), posterior("undecided"), none)
    assert near.loc[0, "why"] == WORDS["BOUNDARY"]
    hidden = incoherence_schools(moment("not detected", 0.2, 0.1, 0.3), posterior("undecided", withheld="N"), none)
    assert hidden.loc[0, "why"] == WORDS["LINK"]


def test_estimates_are_apart_where_one_misses_the_other() -> None:
    """.2 in [.1, .3] and .2 in [.15, .25] hold each other; .26 lies outside the posterior's interval."""
    nothing = pd.Series(dtype=float)
    near = incoherence_schools(moment("detected", 0.2, 0.1, 0.3), posterior("above"), nothing)
    assert not near.loc[0, "apart"]
    far = incoherence_schools(moment("detected", 0.26, 0.1, 0.3), posterior("above"), nothing)
    assert far.loc[0, "apart"]


def test_failed_sampler_leaves_the_moment_alone() -> None:
    """Catches numbers of a failed fit, and a model without a fit that crashes."""
    failed = posterior("", reason="MCMC: R-hat")
    found = incoherence_schools(moment("detected", 0.2, 0.1, 0.3), failed, pd.Series({"m": 0.0})).loc[0]
    assert (found["verdict"], found["posterior_reason"], found["moment"]) == ("failed", "MCMC: R-hat", 0.2)
    assert found["posterior"] is None
    assert found["p_present"] is None
    absent = failed.assign(model="other")
    other = incoherence_schools(moment("detected", 0.2, 0.1, 0.3), absent, pd.Series({"m": 0.0})).loc[0]
    assert other["posterior_reason"] == "not fitted"
