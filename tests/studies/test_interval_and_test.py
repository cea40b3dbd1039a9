"""Which of an interval and a p-value to believe is said where they disagree, and only there."""

import numpy as np
import pandas as pd

from analysis.studies.interval_and_test import disagreement_note


def test_disagreement_is_said_where_it_is() -> None:
    """Catches an interval without 0 beside p = .058 left unexplained, and a note under tables that need none."""
    rows = pd.DataFrame(
        {"ci_low": [0.028, -0.4, np.nan], "ci_high": [0.192, 0.6, np.nan], "p_value": [0.058, 0.5, 0.1]}
    )
    assert disagreement_note(rows, ci_level=0.95)[0].startswith("In 1 row the interval and the p-value")
    assert disagreement_note(rows.iloc[1:], ci_level=0.95) == ()
