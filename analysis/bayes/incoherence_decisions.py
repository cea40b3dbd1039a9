"""When "persistent incoherence lies below the threshold" is not said although SSL alone would say so."""

from typing import Final

import pandas as pd

from analysis.bayes.incoherence_predictive import LINK_CHECK
from analysis.bayes.incoherence_priors import PRESENT
from analysis.bayes.incoherence_result import LINKED, MCMC, NORMAL
from analysis.bayes.incoherence_summary import SURE

OPEN: Final = f"model N leaves a persistent residual above {PRESENT:.2f} open"
NO_NORMAL: Final = "model N has no posterior that could confirm it"
LINK: Final = "noisy instances lie farther from 0 than SSL expects"
#: Tail of the posterior predictive check below which the link of noise and mean is not what SSL expects.
_SURPRISING: Final = 0.05


def below_withheld(table: pd.DataFrame, predictive: pd.DataFrame) -> pd.DataFrame:
    """The rows of a fit with ``withheld``, and *undecided* instead of *below* where a reason stands there.

    Parameters
    ----------
    table : DataFrame
        With ``variant, model, p_present, decision, reason``.
    predictive : DataFrame
        As ``incoherence_predictive.predictive_checks`` returns, with ``variant``.

    Notes
    -----
    SSL explains incoherence of few noisy instances away as noise when these are too few to show that it goes with the
    noise; N, which cannot, then leaves it open. A row of SSL says *below* only where N too gives the
    threshold a probability under 1 - SURE, and where noisy instances do not lie farther from 0 than SSL expects.
    *Above* is never withheld: without any incoherence SSL did not say it.
    """
    if predictive.empty:
        return table.assign(withheld="")
    chosen = (table["variant"] == LINKED) & (table["decision"] == "below")
    normal = table[(table["variant"] == NORMAL) & (table["decision"] != "")].set_index("model")
    checks = predictive[(predictive["variant"] == LINKED) & (predictive["check"] == LINK_CHECK)].set_index("model")
    reasons = [
        _reason(str(model), normal, checks) if below else ""
        for model, below in zip(table["model"], chosen, strict=True)
    ]
    found = table.assign(withheld=reasons)
    found["decision"] = found["decision"].mask(found["withheld"] != "", "undecided")
    return found


def _reason(model: str, normal: pd.DataFrame, checks: pd.DataFrame) -> str:
    if model not in normal.index or str(normal["reason"][model]).startswith(MCMC):
        return NO_NORMAL
    if normal["p_present"][model] >= 1 - SURE:
        return OPEN
    check = checks.loc[model]
    surprising = check["tail"] < _SURPRISING and check["observed"] > check["expected"]
    return LINK if surprising else ""
