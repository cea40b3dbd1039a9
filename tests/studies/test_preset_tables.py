"""The tables and figures of the three published studies, in a report on simulated logs of their design."""

import pytest

from analysis.report.content import ReportContent
from analysis.report.formatted import format_table
from tests.studies.preset_reports import SIMULATED, preset_report

P, S, L = SIMULATED
#: What the studies print, in our own words: preset, number there, start of our table's or figure's name, words that
#: its headings, groups or data must have.
PUBLISHED = [
    (P, "Table 1", "design_templates", ("Template", "Validity", "Items")),
    (P, "Table 2", "design_forms", ("Form", "Polarity", "Items")),
    (P, "Table 3", "cells", ("Floor", "Acc.", "Bias", "Aff.", "Neg.", "PS", "Unc. (%)")),
    (P, "Table 4", "levels_form", ("Form", "affirmative", "negated", "PS")),
    (P, "Table 5", "by_form", ("Model", "Range")),
    (P, "Table 6", "contrast_negation", ("prefix", "not", "Difference")),
    (P, "Table 7", "by_activity", ("Model", "Range")),
    (P, "Table 8", "baseline_nationality", ("Model", "Largest")),
    (P, "Table 9", "baseline_gender", ("Model", "Largest")),
    (P, "Tables 10, 11", "contrast_two_wordings", ("Model", "Difference")),
    (P, "Table 12", "templates", ("Accuracy", "Mean |bias|", "Mean PS", "Agree")),
    (P, "Table 13", "model_sizes", ("Size", "Accuracy", "|Bias|", "PS", "Unc")),
    (P, "Table 14", "weightings_accuracy", ("Spread",)),
    (P, "Figure 1", "floor_bias", ("floor", "bias", "label")),
    (P, "Figure 2", "scaling", ("size", "family")),
    (P, "Figure 3", "heat_map", ("template", "polarity", "form")),
    (P, "affirmative floor", "contrasts", ("Aff. floor",)),
    (P, "correlations", "associations", ("Measures", "r ", "r²")),
    (P, "parts of the items", "restricted_floors", ("Floor",)),
    (S, "Tables 1, 2", "design_variants", ("Variant", "Validity", "Believability")),
    (S, "Table 3", "classification", ("Acc.", "Prec.", "Recall", "F1")),
    (S, "Table 3, all versions", "consistency", ("Consist",)),
    (S, "Table 3, two versions", "consistency_pairs", ("N", "X", "O")),
    (S, "Table 3, believability", "second_label", ("believab",)),
    (S, "Table 4", "belief_bias_labelled", ("Congruent", "Incongruent")),
    (S, "Table 4, equal weights", "belief_bias", ("Congruent", "Incongruent", "Bias", "Holm")),
    (S, "Table 5, strategies", "strategy_friedman", ("Friedman",)),
    (S, "Table 5, pairs", "strategy_pairs", ("Holm", "p")),
    (S, "Table 5, temperatures", "temperature_friedman", ("Friedman",)),
    (S, "Table 5, belief bias", "belief_bias_pooled", ("p",)),
    (S, "Table 5, McNemar", "strategy_units", ("McNemar",)),
    (S, "Table 5, correlations", "correlations", ("accuracy × consistency", "precision × recall", "second label",
                                                  "accuracy × belief bias")),
    (S, "Table 5, external rank", "external_correlation", ("Rank",)),
    (S, "Figure 1", "heat_map_strategy", ("zero_shot", "few_shot")),
    (S, "Figure 2", "belief_dumbbell", ("model",)),
    (S, "Figure 3", "belief_butterfly", ("left", "right")),
    (S, "Figure 4", "external_rank", ("model",)),
    (L, "Table 1", "families", ("Family",)),
    (L, "Table 2", "incoherence", ("|r|", "Persistent", "Noise", "Spread", "Direction", "Error")),
    (L, "Table 2, costs", "settings_cost", ("Reasoning tokens", "Answers")),
    (L, "Table 3", "associations", ("|r| and error", "coherent", "incoherent", "within instances")),
    (L, "Table 5", "families_levels", ("Model",)),
    (L, "Table 6", "noise_levels", ("Noise", "Persistent")),
    (L, "Table 7", "role_errors", ("Model",)),
    (L, "Table 8", "direct_and_implied", ("Direct",)),
    (L, "Table 9", "residual_differences", ("Bonferroni", "p")),
    (L, "Table 10", "robustness", (".001", ".05", "Rescaled", "sum − 1")),
    (L, "causal answers", "causal_answers", ("Observational", "Anomaly")),
    (L, "Figure 1", "persistent", ("model",)),
    (L, "Figure 2", "tokens", ("model",)),
]  # fmt: skip


@pytest.fixture(params=list(SIMULATED))
def preset(request: pytest.FixtureRequest) -> str:
    return request.param


def words_of(content: ReportContent, start: str) -> str:
    """Title, headings, groups, text cells and notes of the table of that name, or of a figure's data."""
    exact = [t for t in content.tables if _bare(t.spec.name) == start]
    tables = exact or [t for t in content.tables if t.spec.name.startswith(f"{start}_")]
    if tables:
        shown = format_table(tables[0])
        heads = [h.text for h in shown.headings] + [text for text, _, _ in shown.spanners]
        cells = [cell.text for row in shown.rows for cell in (*row.cells, *((row.group,) if row.group else ()))]
        assert shown.rows, start
        return " | ".join([shown.title, *heads, *cells, *(said for _, said in shown.notes)])
    figures = [f for f in content.figures if f.name.startswith(start)]
    assert figures, f"no table and no figure is called {start}"
    assert len(figures[0].data)
    return " | ".join([figures[0].title, figures[0].caption, *map(str, figures[0].data.columns)])


def _bare(name: str) -> str:
    return name.removesuffix("_probability_operators").removesuffix("_syllogisms")


@pytest.mark.parametrize(("name", "number", "start", "words"), PUBLISHED)
def test_everything_that_the_study_prints_is_in_the_report(name, number, start, words):
    """Catches a table that a preset no longer prints, and one that lost a column of the published one."""
    text = words_of(preset_report(name), start)
    assert [word for word in words if word.lower() not in text.lower()] == [], (number, text[:400])


def test_nothing_is_missing_from_the_numbering(preset):
    """Catches a number of the published study that points nowhere."""
    content = preset_report(preset)
    numbering = next(t for t in content.tables if t.spec.name.startswith("numbering"))
    assert numbering.rows.loc[numbering.rows["here"].isna(), "number"].tolist() == []
    numbered = [t.spec.title for t in content.tables if "of the published study)" in t.spec.title]
    assert len(numbered) >= 10
