"""The section on how much each factor explains."""

import numpy as np
import pandas as pd

from analysis.bayes.components import VarianceComponents, variance_components
from analysis.bayes.result import AnswerBiasFit
from analysis.report.terminal import render_text
from analysis.studies.variance_components import components_section
from tests.bayes.designs import gold_design
from tests.studies.task_designs import design


def found(values: list[float]) -> VarianceComponents:
    hyper = np.array(values) + 0.01 * np.random.default_rng(1).normal(size=(4, 500, len(values)))
    nothing = pd.DataFrame()
    fit = AnswerBiasFit(
        *("t", "ok", "", nothing, nothing, {"fast": False}, nothing, nothing, nothing, nothing, ()),
        {"hyper: yes": hyper},
    )
    counts = gold_design({"a": (0.8, 0.6), "b": (0.7, 0.5), "c": (0.6, 0.7)})
    return variance_components(fit, counts)


def test_both_tables_print_and_the_sentence_names_the_largest_share() -> None:
    """Catches columns that the data lack, and a sentence about another factor than the largest."""
    section = components_section(design(), found([0.1, 1.0, np.log(0.8), np.log(0.6)]))
    assert section is not None
    first, second = (render_text(table) for table in section.tables)
    assert "between models: leaning to Yes" in first
    assert " 64.0 [" in first
    assert "4.00" in second, "the wider prior of leaning is 2 x 2"
    assert "between models: leaning to Yes 64% [" in section.lead[0]


def test_a_row_that_failed_a_gate_is_named_with_its_reason() -> None:
    """Catches numbers of a standard deviation that did not converge, or a blank without a reason."""
    all_rows = found([0.1, 1.0, np.log(0.8), np.log(0.6)])
    table = all_rows.table.copy()
    numbers = ["estimate", "ci_low", "ci_high", "upper_bound", "p_present", "share", "share_low", "share_high"]
    table.loc[0, numbers] = np.nan
    table.loc[0, "reason"] = "MCMC: R-hat 1.2 (limit 1.01)"
    section = components_section(design(), VarianceComponents(table, all_rows.second.iloc[:0]))
    assert section is not None
    assert len(section.tables) == 1
    assert "R-hat 1.2" in render_text(section.tables[0])
    assert "between models 36%" in section.lead[0], "of a factor with one term left the term is not named"


def test_nothing_to_report_is_no_section() -> None:
    """Catches an empty table where one model is alone."""
    assert components_section(design(), VarianceComponents(pd.DataFrame(), pd.DataFrame())) is None
