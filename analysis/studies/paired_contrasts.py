"""Declared contrasts: two levels of a factor on responses that agree in everything else."""

from dataclasses import dataclass

import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.paired_contrast import (
    contrast_by_model,
    contrast_ladder,
    treated_pairs,
    without_each_model,
)
from analysis.reduction.pairs import SIDES, MatchedPairs, matched_pairs
from analysis.report.columns import Count, Estimate, Number, Percent, Proportion, PValue, Text
from analysis.report.content import Section
from analysis.report.figures.unit_ladder import unit_ladder_figure
from analysis.report.numbers import counted, fixed, signed
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.schema.study import Contrast
from analysis.studies.context import Part, TaskContext
from analysis.studies.factor_tables import factor_label, named
from analysis.studies.weights import unit_used
from analysis.studies.wide_table import table_name


@dataclass(frozen=True, slots=True)
class ContrastResults:
    """What was found for one pair of levels: tables of ``frequentist.paired_contrast``."""

    contrast: Contrast
    matched: MatchedPairs
    by_model: pd.DataFrame
    ladder: pd.DataFrame
    without: pd.DataFrame

    @property
    def title(self) -> str:
        """Name of the contrast as printed."""
        usual = f"{factor_label(self.matched.factor).capitalize()}: {self.matched.first} against {self.matched.second}"
        return self.contrast.name or usual


def paired_contrasts_part(context: TaskContext) -> Part | None:
    """One section per declared contrast whose levels this task has."""
    if isinstance(context.counts, str) and context.design.kind == "score":
        return _graded(context)
    if isinstance(context.counts, str) or context.estimates is None or context.design.target == "census":
        return None
    summary: list[str] = []
    limits: list[str] = []
    sections, attention, found = [], [], []
    for contrast in context.study.contrasts:
        for second in contrast.levels[1:]:
            try:
                results = _results(context, contrast, (contrast.levels[0], second))
            except AnalysisError as error:
                attention.append(
                    f"{context.where}the contrast {contrast.name or contrast.factor} was not made: {error}."
                )
                continue
            sections.append(_section(context, results))
            (summary if _shown(context, results) else limits).append(f"{context.where}{_sentence(context, results)}")
            found.append(results)
    if not sections and not attention:
        return None
    data = {}
    if found:
        data = {
            "paired_contrasts": pd.concat([_marked(r, r.by_model) for r in found], ignore_index=True),
            "unit_ladders": pd.concat([_marked(r, r.ladder) for r in found], ignore_index=True),
            "contrast_without_model": pd.concat([_marked(r, r.without) for r in found], ignore_index=True),
            "unmatched": pd.concat([_marked(r, r.matched.unmatched) for r in found], ignore_index=True),
        }
        data = {name: table.assign(task=context.design.task) for name, table in data.items()}
    methods = (_METHODS.format(flips=context.resampling.flips),) if found else ()
    return Part(tuple(sections), tuple(summary), tuple(limits), attention=tuple(attention), methods=methods, data=data)


def _graded(context: TaskContext) -> Part | None:
    """Contrasts of graded scores, which are no pairs of right and wrong answers: where they are made instead."""
    others = [c for c in context.study.contrasts if c.factor not in context.design.varying or c.where]
    said = tuple(
        f"{context.where}the contrast {contrast.name or contrast.factor} was not made: the scores are graded, and only "
        "levels of a condition that varies within questions, without restrictions, are compared by them."
        for contrast in others
    )
    return Part(attention=said) if said else None


_METHODS = (
    "Paired contrasts use responses that agree in everything but the compared factor; the change is tested by "
    "{flips:,} sign flips of whole units (all patterns with 16 units or fewer), with Holm's adjustment over models. "
    "Obuchowski's test and McNemar's exact and mid-p tests stand beside them; McNemar's take pairs as independent."
)


def _results(context: TaskContext, contrast: Contrast, levels: tuple[str, str]) -> ContrastResults:
    context.progress(f"contrast {contrast.name or contrast.factor}")
    matched = matched_pairs(context.con, context.design, contrast, levels=levels, selection=context.selection)
    pairs = treated_pairs(matched.pairs, uncertain=context.design.uncertain)
    if context.design.target == "new_templates" and "template" in pairs.columns:
        pairs = pairs.assign(unit=pairs["template"])
    if pairs.empty:
        raise AnalysisError(f"no response to {levels[0]!r} has a partner among those to {levels[1]!r}")
    flips, stream = context.resampling.flips, f"contrast {contrast.factor} {levels[0]} {levels[1]}"
    models = tuple(str(m) for m in matched.unmatched["model"])
    draw = context.resampling.rng
    by_model = contrast_by_model(pairs, models, rng=draw(stream), flips=flips, ci_level=context.ci_level)
    by_model = by_model.merge(matched.unmatched, on="model", how="left", validate="one_to_one")
    described = by_model.assign(unit=unit_used(context.design), uncertain=context.design.uncertain)
    unit = unit_used(context.design)
    ladder = contrast_ladder(pairs, unit=unit, rng=draw(f"{stream} ladder"), flips=flips)
    without = without_each_model(pairs, rng=draw(f"{stream} without"), flips=flips)
    return ContrastResults(contrast, matched, described, ladder, without)


def _marked(results: ContrastResults, rows: pd.DataFrame) -> pd.DataFrame:
    matched = results.matched
    return rows.assign(contrast=results.title, factor=matched.factor, first=matched.first, second=matched.second)


def _section(context: TaskContext, results: ContrastResults) -> Section:
    matched, ladder = results.matched, results.ladder
    tables = [contrast_table(context, results), tests_table(context, results)]
    figures = []
    if len(results.by_model) > 1 or ladder["unit"].nunique() > 2:
        tables.append(ladder_table(context, results))
        figures.append(
            unit_ladder_figure(
                ladder,
                name=table_name(f"unit_ladder_{results.title}", context.design),
                title=f"{results.title}: p-value by unit",
                alpha=1 - context.ci_level,
            )
        )
    lost = matched.unmatched[["only_first", "only_second", "ambiguous", "set_aside"]].sum()
    notes = [
        f"Matched on model, {', '.join(factor_label(name) for name in matched.matched_on)}: "
        f"{counted(int(matched.unmatched['pairs'].sum()), 'pair')}; without a partner "
        f"{int(lost['only_first']):,} responses to {matched.first!r} and {int(lost['only_second']):,} to "
        f"{matched.second!r}; errored or missing {int(lost['set_aside']):,}."
    ]
    if lost["ambiguous"]:
        notes.append(
            f"{counted(int(lost['ambiguous']), 'response')} left out because several share one key; name more columns "
            "in the contrast's match."
        )
    if results.contrast.where:
        kept = "; ".join(f"{factor_label(c)}: {', '.join(levels)}" for c, levels in results.contrast.where.items())
        notes.append(f"Only {kept}.")
    return Section(
        f"{context.where}{results.title}",
        lead=(_sentence(context, results), _means(results)),
        tables=tuple(tables),
        figures=tuple(figures),
        notes=tuple(notes),
    )


def contrast_table(context: TaskContext, results: ContrastResults) -> Table:
    """Accuracies on either side, of judgements Yes rates as well, their difference; largest first."""
    matched, rows = results.matched, named(results.by_model, context.labels)
    said_yes = context.design.kind == "judgement"
    spec = TableSpec(
        table_name(f"contrast_{results.title}", context.design),
        title=results.title,
        columns=(
            Text("label", "Model"),
            Proportion("accuracy_first", matched.first),
            Proportion("accuracy_second", matched.second),
            Estimate("estimate", "Difference", signed=True, reason="reason"),
            PValue("p_value", "p", floor="resolution", reason="test_reason"),
            PValue("p_adjusted", "Holm", floor="adjusted_bound", reason="test_reason"),
            *(Percent(f"yes_{side}", getattr(matched, side)) for side in SIDES if said_yes),
            Count("n", "Pairs"),
            Count("n_clusters", "Units"),
        ),
        spanners=(
            Spanner("Accuracy", ("accuracy_first", "accuracy_second")),
            *((Spanner("Yes answers", ("yes_first", "yes_second")),) if said_yes else ()),
        ),
        order=("-estimate", "label"),
        note=(
            f"Difference: accuracy on {matched.first} minus {matched.second}, over the same pairs. p: sign flips of "
            "units, exact for few of them; the interval is an approximation. Where they disagree (an interval without "
            "0 beside a p above the level), believe p: the difference is not shown."
        ),
    )
    return Table(spec, rows, simulated=context.design.simulated)


def tests_table(context: TaskContext, results: ContrastResults) -> Table:
    """Discordant pairs, odds ratio, and the tests that take units, or pairs, as independent."""
    rows = named(results.by_model, context.labels).assign(odds_level=context.ci_level)
    spec = TableSpec(
        table_name(f"contrast_tests_{results.title}", context.design),
        title=f"{results.title}: pairs that changed",
        columns=(
            Text("label", "Model"),
            Number("b", "Only first right", digits=0),
            Number("c", "Only second right", digits=0),
            Estimate(
                "odds_ratio", "Odds ratio", low="odds_low", high="odds_high", level="odds_level", method="odds_method",
                digits=2, reason="odds_reason",
            ),
            PValue("p_value", "Sign flips", floor="resolution", reason="test_reason"),
            PValue("p_obuchowski", "Obuchowski", reason="test_reason"),
            PValue("p_mid", "McNemar mid-p", reason="test_reason"),
            PValue("p_exact", "exact", reason="test_reason"),
            Number("deff", "Design effect", digits=1, reason="test_reason"),
        ),
        order=("-estimate", "label"),
        note=(
            "Sign flips and Obuchowski: by unit. McNemar: pairs taken as independent, which overstates the evidence by "
            "the design effect (variance of the net change over that of independent pairs)."
        ),
    )  # fmt: skip
    return Table(spec, rows, simulated=context.design.simulated)


def ladder_table(context: TaskContext, results: ContrastResults) -> Table:
    """The change over all models under every choice of the independent unit."""
    rows = results.ladder.assign(test_name=results.ladder["test"]).drop(columns="test").rename(columns={"unit": "rung"})
    spec = TableSpec(
        table_name(f"ladder_{results.title}", context.design),
        title=f"{results.title}: all models together, by independent unit",
        columns=(
            Text("rung", "Independent unit"),
            Count("n_clusters", "Units"),
            Text("test_name", "Test"),
            Number("deff", "Design effect", digits=1),
            PValue("p_value", "p", floor="resolution"),
        ),
        note=(
            "The same pairs throughout; only what is taken as independent differs. Two facets together: the number of "
            "units is that of the smaller."
        ),
    )
    exact = ~rows["test_name"].str.fullmatch("sign flip")
    return Table(spec, rows.assign(resolution=rows["resolution"].mask(exact)), simulated=context.design.simulated)


def _means(results: ContrastResults) -> str:
    rows, matched = results.by_model, results.matched
    first, second = float(rows["accuracy_first"].mean()), float(rows["accuracy_second"].mean())
    return (
        f"Mean over models: {fixed(first, 3)} on {matched.first}, {fixed(second, 3)} on {matched.second}, difference "
        f"{signed(float(rows['estimate'].mean()), 3)}; the first is higher for {int((rows['estimate'] > 0).sum())} of "
        f"{counted(len(rows), 'model')}."
    )


def _shown(context: TaskContext, results: ContrastResults) -> int:
    return int((results.by_model["p_adjusted"] <= 1 - context.ci_level).sum())


def _sentence(context: TaskContext, results: ContrastResults) -> str:
    rows, matched = results.by_model, results.matched
    shown = rows[rows["p_adjusted"] <= 1 - context.ci_level]
    higher, lower = int((shown["estimate"] > 0).sum()), int((shown["estimate"] < 0).sum())
    if not len(shown):
        return (
            f"{results.title}: a difference of accuracy between {matched.first} and {matched.second} is shown for none "
            f"of {counted(len(rows), 'model')}."
        )
    return (
        f"{results.title}: accuracy on {matched.first} is shown to be higher than on {matched.second} for {higher} of "
        f"{counted(len(rows), 'model')}, lower for {lower}."
    )
