"""One run of the main job: what is refused before any log is read."""

from pathlib import Path

import pytest

from analysis.errors import AnalysisError
from analysis.studies.run import RunSettings, run_report


@pytest.mark.parametrize("level", [0.0, 1e-12, 0.4, 0.99999999, 1.0, 2.0, float("nan")])
def test_an_odd_level_is_refused_before_logs_are_read(level: float) -> None:
    """Catches a minute of reading for nothing, and decisions at a level at which every model is shown above .5."""
    with pytest.raises(AnalysisError, match=r"--ci-level must lie between 0\.5 and 0\.9999"):
        run_report([Path("no such logs")], RunSettings(ci_level=level))
