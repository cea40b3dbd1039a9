"""When *below* is withheld: by each reason, and by none."""

import pandas as pd
import pytest

from analysis.bayes.incoherence_decisions import LINK, NO_NORMAL, OPEN, below_withheld
from analysis.bayes.incoherence_predictive import LINK_CHECK


def rows(decision: str, normal: float, *, normal_reason: str = "") -> pd.DataFrame:
    """SSL and N of one model; N's own decision is not what is judged."""
    linked = {"variant": "SSL", "model": "m", "p_present": 0.02, "decision": decision, "reason": ""}
    other = {"variant": "N", "model": "m", "p_present": normal, "decision": "undecided", "reason": normal_reason}
    return pd.DataFrame([linked, other])


def check(tail: float, *, observed: float = 0.5) -> pd.DataFrame:
    row = {"variant": "SSL", "model": "m", "check": LINK_CHECK, "observed": observed, "expected": 0.3, "tail": tail}
    # The same check of N, which linked noise always breaks, says nothing here.
    return pd.DataFrame([row, {**row, "variant": "N", "tail": 0.0}])


@pytest.mark.parametrize(
    ("normal", "tail", "observed", "reason"),
    [
        (0.01, 0.4, 0.5, ""),
        (0.06, 0.4, 0.5, OPEN),
        (0.01, 0.04, 0.5, LINK),
        (0.01, 0.04, 0.1, ""),
    ],
)
def test_below_needs_the_normal_model_and_an_expected_link(normal, tail, observed, reason):
    """Catches a check read on the wrong side, N's check read for SSL's, and N asked for its estimate only."""
    found = below_withheld(rows("below", normal), check(tail, observed=observed)).iloc[0]
    assert (found["withheld"], found["decision"]) == (reason, "undecided" if reason else "below")


def test_failed_normal_model_confirms_nothing():
    """Catches the number of a failed fit taken as agreement."""
    found = below_withheld(rows("below", 0.0, normal_reason="MCMC: R-hat"), check(0.5))
    assert found["withheld"].tolist() == [NO_NORMAL, ""]


@pytest.mark.parametrize("decision", ["above", "undecided", ""])
def test_other_decisions_stand(decision):
    """Catches a rule that withholds *above*."""
    found = below_withheld(rows(decision, 0.9), check(0.0))
    assert found["decision"].tolist() == [decision, "undecided"]
    assert (found["withheld"] == "").all()
