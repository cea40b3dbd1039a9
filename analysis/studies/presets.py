"""Designs of published studies that the report knows: settings that follow from the design, numbers of its tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pandas as pd

from analysis.errors import AnalysisError
from analysis.report.columns import Text
from analysis.report.content import Section
from analysis.report.spec import Table, TableSpec
from analysis.schema.study import Contrast, Study
from analysis.schema.task_design import TaskDesign
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import table_name

NEGATION: Final = Contrast(
    "negation", ("prefix", "not"), ("template", "form"), "Negation as a prefix or as the word not"
)
#: Levels that are a baseline wherever they occur beside names: the same questions about letters.
BASELINES: Final = ("letters", "letter", "letter variables", "variables")
#: Levels of a condition that the others are compared with.
PLAIN_CONDITIONS: Final = ("zero_shot", "zero-shot")


@dataclass(frozen=True, slots=True)
class Preset:
    """A published design.

    ``needs`` are factors by which it is recognised; ``tables`` maps the number of a table or figure to what
    it shows and the stem of the report's own; ``exclude`` are levels that it leaves out of the cells; ``kind`` is
    that of its answers, where the factors do not tell.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    tables: tuple[tuple[str, str, str], ...]
    exclude: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind: str = ""


PROBABILITY_OPERATORS: Final = Preset(
    "probability-operators",
    "probability operators (arXiv 2607.27405)",
    ("validity", "polarity", "template", "form", "negation"),
    (
        ("Table 1", "templates", "design_templates"),
        ("Table 2", "question forms", "design_forms"),
        ("Table 3", "cells, bias, polarity sensitivity, floor", "cells"),
        ("Table 4", "accuracy and polarity sensitivity per form", "levels_form"),
        ("Tables 5, 15", "accuracy per form and model", "by_form"),
        ("Table 6", "prefix against not", "contrast_negation_as_a_prefix_or_as_the_word_not"),
        ("Tables 7, 17", "accuracy per activity", "by_activity"),
        ("Tables 8, 18", "nationality of names minus letters", "baseline_nationality"),
        ("Tables 9, 16", "gender of names minus letters", "baseline_gender"),
        ("Tables 10, 11", "two wordings of one pattern", "contrast_two_wordings"),
        ("Table 12", "templates", "templates"),
        ("Table 13", "size within family", "model_sizes"),
        ("Table 14", "weightings", "weightings_accuracy"),
        ("Text", "floor of affirmative questions alone", "contrasts"),
        ("Text", "what goes with the floor and with |bias|", "associations"),
        ("Text", "floor without some of the items", "restricted_floors"),
        ("Figure 1", "floor against |bias|", "floor_bias"),
        ("Figure 2", "accuracy against size", "scaling"),
        ("Figure 3", "heat map", "heat_map"),
    ),
    {"negation": ("not",)},
)
SYLLOGISMS: Final = Preset(
    "syllogisms",
    "formal and natural-language syllogisms",
    ("variant", "believability"),
    (
        ("Tables 1, 2", "versions and their items", "design_variants"),
        ("Table 3", "accuracy, precision, recall, F1", "classification"),
        ("Table 3", "consistency over all versions", "consistency"),
        ("Table 3", "consistency of two versions", "consistency_pairs"),
        ("Table 3", "accuracy against believability", "second_label"),
        ("Table 4", "belief bias with nonsense as unbelievable (as published)", "belief_bias_labelled"),
        ("Table 4", "belief bias with equal cell weights", "belief_bias"),
        ("Table 5", "Friedman over strategies", "strategy_friedman"),
        ("Table 5", "zero-shot against the others", "strategy_pairs"),
        ("Table 5", "Friedman over temperatures", "temperature_friedman"),
        ("Table 5", "belief bias over models", "belief_bias_pooled"),
        ("Table 5", "McNemar, and every other unit", "strategy_units"),
        ("Table 5", "correlations", "correlations"),
        ("Table 5", "correlation with an external rank", "external_correlation"),
        ("Figure 1", "accuracy by strategy", "heat_map_strategy"),
        ("Figure 2", "congruent and incongruent accuracy", "belief_dumbbell"),
        ("Figure 3", "accuracy against validity and against believability", "belief_butterfly"),
        ("Figure 4", "accuracy against an external rank", "external_rank"),
    ),
)
LATENT_COHERENCE: Final = Preset(
    "latent-coherence",
    "the law of total probability (arXiv 2610.31833)",
    ("item_family", "level", "wording"),
    (
        ("Table 1", "families and levels", "families"),
        ("Table 2", "mean |r|, persistent, noise, spread, direction, error", "incoherence"),
        ("Table 2", "tests of the persistent residual", "persistent_tests"),
        ("Table 2", "reasoning tokens, further sizes", "residual_sizes"),
        ("Table 3", "|r|, error and length of reasoning", "associations"),
        ("Table 4", "settings and cost", "settings_cost"),
        ("Table 5", "mean |r| by family and level", "families_levels"),
        ("Table 6", "noise and persistent residual by level", "noise_levels"),
        ("Table 7", "errors by kind of answer", "role_errors"),
        ("Table 8", "direct answer and decomposition", "direct_and_implied"),
        ("Table 9", "differences between models", "residual_differences"),
        ("Table 10", "clip, scale, rescaled states", "robustness"),
        ("Text", "causal answers", "causal_answers"),
        ("Figure 1", "mean |r| and persistent residual", "persistent"),
        ("Figure 2", "mean |r| against reasoning tokens", "tokens"),
    ),
    kind="probability",
)
PRESETS: Final = {preset.name: preset for preset in (PROBABILITY_OPERATORS, SYLLOGISMS, LATENT_COHERENCE)}


def preset_of(name: str) -> Preset:
    """The preset of that name.

    Raises
    ------
    AnalysisError
        There is none.
    """
    if name not in PRESETS:
        raise AnalysisError(f"no preset is called {name!r}; there is {', '.join(PRESETS)}")
    return PRESETS[name]


def recognised(design: TaskDesign) -> Preset | None:
    """The published design whose factors a task has, each with two levels or more."""
    fitting = (preset for preset in PRESETS.values() if preset.kind in ("", design.kind))
    return next((preset for preset in fitting if not lacking(preset, design)), None)


def lacking(preset: Preset, design: TaskDesign) -> tuple[str, ...]:
    """Factors that a design needs and a task does not have."""
    return tuple(name for name in preset.needs if len(design.item_factors.get(name, ())) < 2)


def study_with_preset(study: Study, name: str) -> Study:
    """The study with what the preset leaves out of the cells, unless it excludes something itself.

    Raises
    ------
    AnalysisError
        There is no such preset.
    """
    preset = preset_of(name)
    given = "study.exclude" in study.given
    return study if given else replace(study, exclude={**study.exclude, **preset.exclude})


def with_preset(context: TaskContext, name: str | None = None) -> tuple[TaskContext, Preset | None]:
    """The context with the settings that follow from a design, where the study does not set them itself.

    Parameters
    ----------
    context : TaskContext
    name : str, optional
        Preset asked for; without one the design is recognised by its factors.

    Returns
    -------
    TaskContext, Preset or None
    """
    preset = preset_of(name) if name else recognised(context.design)
    if preset is None or lacking(preset, context.design):
        return context, None
    return replace(context, study=_completed(context.study, context.design)), preset


def _completed(study: Study, design: TaskDesign) -> Study:
    levels = design.item_factors.get("negation", ())
    declared = {contrast.factor for contrast in study.contrasts}
    contrasts = study.contrasts
    if "negation" not in declared and set(NEGATION.levels) <= set(levels):
        contrasts = (*contrasts, NEGATION)
    baselines = dict(study.baselines)
    for factor, names in design.item_factors.items():
        known = [level for level in names if level in BASELINES]
        if known and factor not in baselines and factor.removeprefix("factor.") not in baselines:
            baselines[factor] = known[0]
    for condition, names in design.conditions.items():
        known = [level for level in names if level in PLAIN_CONDITIONS]
        if known:
            baselines.setdefault(condition, known[0])
    return replace(study, contrasts=contrasts, baselines=baselines)


def preset_parts(context: TaskContext, preset: Preset | None, parts: list[Part]) -> list[Part]:
    """The parts of a task, with those that its preset adds; or why the preset asked for does not fit."""
    if preset is None:
        if context.preset is None:
            return parts
        absent = ", ".join(lacking(preset_of(context.preset), context.design))
        words = f"{context.where}--preset {context.preset} does not fit: no two levels of {absent}."
        return [*parts, Part(attention=(words,))]
    if context.preset is not None:
        parts = [
            replace(part, sections=tuple(captioned(s, preset, context.design) for s in part.sections)) for part in parts
        ]
    sections = [section for part in parts for section in part.sections]
    printed = [table.spec.name for section in sections for table in section.tables]
    printed += [figure.name for section in sections for figure in section.figures]
    return [*parts, numbering_part(context, preset, tuple(printed), asked=context.preset is not None)]


def captioned(section: Section, preset: Preset, design: TaskDesign) -> Section:
    """The section with the numbers of the published study in the captions of its tables and figures."""
    tables = tuple(
        replace(table, spec=replace(table.spec, title=_numbered(table.spec.title, table.spec.name, preset, design)))
        for table in section.tables
    )
    figures = tuple(replace(f, title=_numbered(f.title, f.name, preset, design)) for f in section.figures)
    return replace(section, tables=tables, figures=figures)


def _numbered(title: str, name: str, preset: Preset, design: TaskDesign) -> str:
    numbers = [number for number, _, stem in preset.tables if _is(name, stem, design) and number != "Text"]
    return f"{title} ({', '.join(dict.fromkeys(numbers))} of the published study)" if numbers else title


def _is(name: str, stem: str, design: TaskDesign) -> bool:
    """Whether a table or figure is the one of that stem; those of two wordings have the pattern's name behind it."""
    return name == table_name(stem, design) or (stem.endswith("wordings") and name.startswith(stem))


def numbering_part(context: TaskContext, preset: Preset, printed: tuple[str, ...], *, asked: bool) -> Part:
    """Which table or figure of the published study is which of this report.

    Parameters
    ----------
    context : TaskContext
    preset : Preset
    printed : tuple of str
        Stems of the tables and figures that the task prints.
    asked : bool
        Whether the preset was asked for, or recognised.
    """
    rows = []
    for number, shows, stem in preset.tables:
        found = [name for name in printed if _is(name, stem, context.design)]
        missing = "" if found else "the logs lack what it needs"
        rows.append({"number": number, "shows": shows, "here": ", ".join(found) or None, "reason": missing})
    spec = TableSpec(
        table_name("numbering", context.design),
        title=f"Tables and figures of {preset.title} in this report",
        columns=(Text("number", "There"), Text("shows", "What it shows"), Text("here", "Here", reason="reason")),
    )
    how = "as asked for with --preset" if asked else "recognised by its columns"
    section = Section(
        f"{context.where}Numbering",
        lead=(f"Design like that of {preset.title}, {how}.",),
        tables=(Table(spec, pd.DataFrame(rows), simulated=context.design.simulated),),
    )
    return Part((section,))
