"""One run of the main job: what is refused before any log is read, what is made while a long part is waited for."""

from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.report.columns import Text
from analysis.report.content import Section
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import Part
from analysis.studies.parts import BegunParts
from analysis.studies.run import RunSettings, run_report, with_texts


@pytest.mark.parametrize("level", [0.0, 1e-12, 0.4, 0.99999999, 1.0, 2.0, float("nan")])
def test_an_odd_level_is_refused_before_logs_are_read(level: float) -> None:
    """Catches a minute of reading for nothing, and decisions at a level at which every model is shown above .5."""
    with pytest.raises(AnalysisError, match=r"--ci-level must lie between 0\.5 and 0\.9999"):
        run_report([Path("no such logs")], RunSettings(ci_level=level))


def test_tables_are_rendered_while_a_long_part_is_waited_for() -> None:
    """Catches tables left for the end, where nothing else could be done meanwhile; and work done for nothing once
    there is nothing to wait for."""
    table = Table(TableSpec("one", "One", (Text("model", "Model"),)), pd.DataFrame({"model": ["a"]}))
    long: Future[Part | None] = Future()
    begun = BegunParts(cast(Any, None), None, (Part((Section("Section", tables=(table,)),)), None, long))
    short, none, waited = with_texts(begun).made
    assert isinstance(short, Part)
    assert short.sections[0].tables[0].rendered is not None
    assert (none, waited) == (None, long)
    long.set_result(None)
    assert with_texts(begun) is begun
