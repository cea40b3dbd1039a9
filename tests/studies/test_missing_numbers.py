"""No number is missing from the data files of a report without a reason beside it."""

import re

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.model_comparison import FLOOR_RANKED
from analysis.schema.report_settings import Family
from analysis.schema.study import Study
from analysis.studies.comparison_table import stored_comparison
from analysis.studies.primary import NO_ESTIMATE, primary_part
from tests.studies.preset_reports import SIMULATED, preset_report

#: Columns (of a table, or of all) that may be missing without a word, and why a reader needs none.
EXEMPT = {
    r".*/n_eff": "effective responses exist for rates, not for differences, d' and c",
    r".*/min_bias_if_tied": "the bias of a smallest value; other measures are none",
    r".*/(resolution|adjusted_bound|p_floor|adjusted_floor)": "a least p is of tests by draws; exact ones have none",
    r".*/df": "degrees of freedom are of t and F; tests by signs or draws have none",
    r"(model_pairs|.*_pairs)/(d_z|d_av)": "sizes in standard deviations over units; a floor is no mean over units",
    r"condition_overall/std_error": "tests of all levels together estimate no one number",
    r"incoherence/(std_error|squared.*)": "squared scale and normal errors are of some measures only, by definition",
    r"queries_at_fault/(n|n_clusters|noise_share.*)": "a row of all roles together stands beside those of each role",
}


def unexplained(stem: str, table: pd.DataFrame) -> list[str]:
    """Columns of numbers that are missing in some row in which no column of reasons says anything."""
    said = [name for name in map(str, table.columns) if name == "reason" or name.endswith("_reason")]
    silent = ~(table[said].fillna("").astype(str) != "").any(axis=1)
    numbers = [name for name in map(str, table.columns) if pd.api.types.is_float_dtype(table[name])]
    free = [name for name in numbers if any(re.fullmatch(known, f"{stem}/{name}") for known in EXEMPT)]
    return [name for name in numbers if name not in free and (table[name].isna() & silent).any()]


@pytest.mark.parametrize("preset", SIMULATED)
def test_missing_numbers_of_every_data_table_have_a_reason(preset: str) -> None:
    """Catches NaN without a word in any table that a report keeps, whichever part wrote it."""
    content = preset_report(preset)
    found = {stem: names for stem, table in content.data.items() if (names := unexplained(stem, table))}
    assert len(content.data) > 8
    assert found == {}


def test_an_unexplained_number_is_seen() -> None:
    """Catches a check that passes whatever a table holds."""
    table = pd.DataFrame({"estimate": [0.5, np.nan], "ci_low": [0.4, np.nan], "df": np.nan, "reason": ["", ""]})
    assert unexplained("any", table) == ["estimate", "ci_low"]
    assert unexplained("any", table.assign(low_reason=["", "one unit"])) == []


def schools(**changes: object) -> pd.DataFrame:
    """Three models: all numbers, no frequentist standard error, nothing at all."""
    numbers = ["estimate", "ci_low", "ci_high", "std_error", "unpooled_estimate", "pooled_estimate"]
    rows = pd.DataFrame(
        {"model": ["a", "b", "c"], "measure": "answer_bias", "reason": "", **dict.fromkeys(numbers, 0.1)}
    )
    rows = rows.assign(difference_se=[0.1, np.nan, np.nan], width_ratio=[1.0, 1.0, np.nan])
    rows.loc[1, "std_error"] = np.nan
    rows.loc[2, numbers] = np.nan
    return rows.assign(**changes)


OWN = pd.DataFrame({"model": ["a", "b", "c"], "measure": "answer_bias", "reason": ["", "", "no answer could be read"]})


def test_both_schools_beside_each_other_say_why_numbers_are_missing() -> None:
    """Catches rows of schools whose frequentist estimate, or standard error, is undefined without a word."""
    found = stored_comparison(schools(), OWN)
    assert unexplained("schools", found) == []
    assert found["estimate_reason"].tolist() == ["", "", "no answer could be read"]
    assert found["difference_se_reason"].iloc[1] == "no standard error to measure a difference by"
    assert unexplained("schools", schools()) != []


def test_a_failed_fit_and_a_school_without_unpooled_column_are_said() -> None:
    """Catches the reason of a failed fit lost on the way, and a column that never exists left to be guessed."""
    failed = stored_comparison(schools(reason="R-hat 1.2", pooled_estimate=np.nan), OWN)
    assert failed["pooled_estimate_reason"].tolist() == ["R-hat 1.2"] * 3
    none = stored_comparison(schools(unpooled_estimate=np.nan), OWN, unpooled="none there")
    assert none["unpooled_estimate_reason"].tolist() == ["none there"] * 3


def test_families_say_which_tests_have_no_estimate() -> None:
    """Catches the empty reason of tests, Friedman's say, that estimate nothing."""
    tests = pd.DataFrame(
        {"measure": ["x", "y", "z"], "estimate": [0.1, np.nan, np.nan], "reason": ["", "", "one unit"]}
    )
    tests["p_value"] = [0.01, 0.2, np.nan]
    study = Study(families=(Family(name="all", tests=("tested",), method="holm"),))
    part = primary_part(study, {"tested": tests}, {}, ci_level=0.95, simulated=False)
    assert part is not None
    assert part.data["families"]["reason"].tolist() == ["", NO_ESTIMATE, "one unit"]


def test_ranks_of_other_measures_are_said_not_to_exist() -> None:
    """Catches a rank that looks lost where none is made."""
    ranks = preset_report("probability-operators").data["model_ranks"]
    assert set(ranks.loc[ranks["measure"] != "competence_floor", "reason"]) == {FLOOR_RANKED}
