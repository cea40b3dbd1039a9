"""Table of slopes on the logarithm of model size."""

import numpy as np
import pandas as pd

from analysis.report.terminal import render_text
from analysis.studies.scaling import MEASURES
from analysis.studies.scaling_slopes import no_slopes, slope_rows, slopes_table
from tests.studies.task_designs import design


def logs(families: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Estimates of models whose bias falls from +.4 to -.2 with size, and their facts."""
    size = np.tile([1.0, 2.0, 4.0, 8.0], len(families))
    models = [f"m{i}" for i in range(len(size))]
    facts = pd.DataFrame({"model": models, "family": np.repeat(families, 4), "size": size})
    bias = 0.4 - 0.2 * np.log2(size)
    values = {"accuracy": 0.5 + 0.05 * np.log2(size), "answer_bias": bias}
    parts = [pd.DataFrame({"model": models, "measure": m, "estimate": v, "std_error": 0.01}) for m, v in values.items()]
    return pd.concat(parts, ignore_index=True), facts


def test_the_table_has_the_size_of_the_bias_and_its_standard_error() -> None:
    """Catches the signed bias under the heading |bias|: .4, .2, 0, .2 falls by .06 per doubling, not by .2."""
    estimates, facts = logs(["a", "b", "c"])
    found = slope_rows(estimates, facts, MEASURES, ci_level=0.95)
    assert set(found["measure"]) == {"accuracy", "abs_bias"}
    slope = found[(found["measure"] == "abs_bias") & (found["family"] == "a")]["estimate"].iloc[0]
    assert abs(slope - np.polyfit([0, 1, 2, 3], [0.4, 0.2, 0.0, 0.2], 1)[0]) < 0.01
    text = render_text(slopes_table(design(), found, MEASURES))
    assert "+0.05" in text
    assert "given with all families together" in text
    assert no_slopes(found) == ""


def test_one_family_has_a_sentence_and_no_table() -> None:
    """Catches a table of blanks where slopes cannot be pooled."""
    estimates, facts = logs(["a"])
    found = slope_rows(estimates, facts, MEASURES, ci_level=0.95)
    assert no_slopes(found).endswith("one alone has models of two sizes.")
    assert no_slopes(pd.DataFrame()) == ""
