"""Claims of a report on logs in which nothing is there: how many of each kind could be false, and how many are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.frequentist.uncertain_answers import flags
from analysis.report.content import ReportContent

LEVEL = 0.05
#: Signed measures that are 0 wherever nothing depends on the question asked.
SIGNED = ("answer_bias", "polarity_sensitivity", "validity_contrast")
#: Columns of a matched pair of conditions that take pairs, not units, as independent.
NAIVE = {"McNemar mid-p": "p_mid", "McNemar exact": "p_exact"}


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims of one kind in one report.

    Attributes
    ----------
    kind : str
    stated : float
        Error rate that the report states: of a family (one claim or more is false), or of each claim.
        NaN where the report itself calls the row a wrong choice of unit, or where no claim could be false.
    per : str
        ``report``: any false claim of the family counts; ``claim``: the share of false ones does.
    possible, false : int
    """

    kind: str
    stated: float
    per: str
    possible: int
    false: int


def null_claims(content: ReportContent, truth: dict[str, Any], *, coin: bool) -> list[Claims]:
    """Every kind of claim of a report, judged by the truth of its logs.

    Parameters
    ----------
    content : ReportContent
    truth : mapping
        Of each model, as the simulator writes it; nothing differs between models, levels and classes.
    coin : bool
        Whether every floor is .5; otherwise they all lie above.
    """
    data = content.data
    return [
        *_floors(data, coin=coin),
        *_intervals(data["estimates"], truth),
        *_factors(data),
        *_contrasts(data),
        *_pairs(data),
        *_templates(data),
        *_correlations(data),
        *_uncertain(data["unit_sums"]),
    ]


def _family(kind: str, false: "pd.Series[bool]", stated: float = LEVEL) -> Claims:
    return Claims(kind, stated, "report", len(false), int(false.sum()))


def _each(kind: str, false: "pd.Series[bool]", stated: float = LEVEL) -> Claims:
    return Claims(kind, stated, "claim", len(false), int(false.sum()))


def _floors(data: dict[str, pd.DataFrame], *, coin: bool) -> Iterator[Claims]:
    """Decisions on the floor, of all items and of parts of them, and changes between these."""
    tests = data["floor_tests"]
    decided = tests.loc[tests["alternative"] == "greater", "decision"]
    parts = data["restrictions"]
    if coin:
        yield _family("floor above .5", decided == "above")
        yield _family("bold floor on a part of the items", parts["decision"] == "above")
    yield _family("floor below .5", decided == "below")
    for part, rows in parts[parts["change_adjusted"].notna()].groupby("part"):
        yield _family(f"floor changes: {part}", rows["change_adjusted"] <= LEVEL)


def _intervals(estimates: pd.DataFrame, truth: dict[str, Any]) -> Iterator[Claims]:
    """Intervals of a measure that miss the truth, uncertain answers counted as wrong."""
    known = {m: _flat(entry["surfaces"]["population"]["incorrect"]) for m, entry in truth.items()}
    rows = estimates[estimates["uncertain"].eq("incorrect") & estimates["ci_low"].notna()]
    for measure, group in rows.groupby("measure", sort=False):
        if measure in next(iter(known.values())):
            true = group["model"].map(lambda m, name=measure: known[m][name])
            yield _each(f"interval misses: {measure}", _misses(group, true))
            if measure in SIGNED:
                yield _each(f"interval excludes 0: {measure}", _misses(group, 0.0))


def _factors(data: dict[str, pd.DataFrame]) -> Iterator[Claims]:
    """Ranges over levels, distances from a baseline, and what levels lean to."""
    for (factor, measure), rows in data["level_ranges"].groupby(["factor", "measure"], sort=False):
        tested = rows[rows["p_value"].notna()]
        yield _family(f"range by {_short(factor)}: {measure}", tested["p_adjusted"] <= LEVEL)
        yield _each(f"range by {_short(factor)}: {measure} (not adjusted)", tested["p_value"] <= LEVEL)
        limited = rows[rows["denoised_low"].notna()]
        if len(limited):
            yield _each(f"denoised sd above 0 by {_short(factor)}: {measure}", limited["denoised_low"] > 0, LEVEL / 2)
    for factor, rows in data["baseline_largest"].groupby("factor", sort=False):
        yield _family(f"largest distance from the baseline of {_short(factor)}", rows["p_adjusted"] <= LEVEL)
    for factor, rows in data["baseline_differences"].groupby("factor", sort=False):
        known = rows[rows["ci_low"].notna()]
        yield _each(f"simultaneous intervals: {_short(factor)}", _misses(known, 0.0).groupby(known["model"]).any())
    yield from level_claims(data["level_estimates"])


def level_claims(levels: pd.DataFrame) -> Iterator[Claims]:
    """Intervals of a signed measure by level that exclude 0."""
    for (factor, measure), rows in levels[levels["measure"].isin(SIGNED)].groupby(["factor", "measure"], sort=False):
        known = rows[rows["ci_low"].notna()]
        if len(known):
            yield _each(f"interval excludes 0 by level of {_short(factor)}: {measure}", _misses(known, 0.0))


def _contrasts(data: dict[str, pd.DataFrame]) -> Iterator[Claims]:
    """Paired contrasts by model, and all models together under every choice of the unit."""
    for number, (_, rows) in enumerate(data["paired_contrasts"].groupby("contrast", sort=True), start=1):
        yield _family(f"contrast {number}: shown", rows["p_adjusted"] <= LEVEL)
        yield _each(f"contrast {number}: sign flips", rows["p_value"] <= LEVEL)
        yield _each(f"contrast {number}: Obuchowski", rows["p_obuchowski"] <= LEVEL)
        yield _each(f"contrast {number}: interval", _misses(rows, 0.0))
        for name, column in NAIVE.items():
            yield _each(f"contrast {number}: {name} (pairs as units)", rows[column] <= LEVEL, np.nan)
    for number, (_, ladder) in enumerate(data["unit_ladders"].groupby("contrast", sort=True), start=1):
        tested = ladder[ladder["p_value"].notna()]
        for unit, test, p in zip(tested["unit"], tested["test"], tested["p_value"], strict=True):
            stated = LEVEL if str(unit) == "unit" else np.nan
            yield Claims(f"contrast {number}: ladder by {unit} ({test})", stated, "report", 1, int(p <= LEVEL))


def _pairs(data: dict[str, pd.DataFrame]) -> Iterator[Claims]:
    """Comparisons of models with each other."""
    for measure, rows in data["model_pairs"].groupby("measure", sort=False):
        yield _family(f"pairs of models: {measure}", rows["p_adjusted"] <= LEVEL)
        yield _family(f"pairs beyond ±.02: {measure}", rows["decision"] == "difference")
        yield _each(f"interval of pairs: {measure}", _misses(rows, 0.0))
        # The models are equal, so that equivalence is true of every pair.
        yield _each(f"pairs within ±.02 (true): {measure}", rows["decision"] == "equivalent", np.nan)
    ranks = data["model_ranks"]
    for measure, rows in ranks[ranks["rank_low"].notna()].groupby("measure", sort=False):
        yield _family(f"rank limits: {measure}", (rows["rank_low"] > 1) | (rows["rank_high"] < len(rows)))


def _templates(data: dict[str, pd.DataFrame]) -> Iterator[Claims]:
    rows = data["templates"]
    leaning = int((rows["leaning_yes"] + rows["leaning_no"]).sum())
    yield Claims("templates: models that lean", LEVEL, "claim", int(rows["n_models"].sum()), leaning)


def _correlations(data: dict[str, pd.DataFrame]) -> Iterator[Claims]:
    """Correlations with the size of models, and between measures that share no data."""
    tables = {"size": data["size_correlations"]}
    related = data["associations"]
    tables["another measure"] = related[~related["shared"].astype(bool)] if "shared" in related else related.iloc[:0]
    for name, table in tables.items():
        for kind, rows in table[table["p_value"].notna()].groupby("kind", sort=False):
            yield _each(f"correlation with {name}: {kind}", rows["p_value"] <= LEVEL)


def _uncertain(sums: pd.DataFrame) -> Iterator[Claims]:
    """Models whose share of uncertain answers is said to differ between the classes."""
    if sums["n_uncertain"].sum() == 0:
        return
    found = flags(sums)
    differ = found.loc[found["flag"] == "uncertain answers differ", "model"]
    models = pd.Series(sorted(sums["model"].unique()))
    yield _each("uncertain answers differ", models.isin(differ))


def _misses(rows: pd.DataFrame, true: "float | pd.Series[float]") -> "pd.Series[bool]":
    return (rows["ci_low"] > true) | (rows["ci_high"] < true)


def _short(factor: object) -> str:
    return str(factor).removeprefix("factor.")


def _flat(known: dict[str, Any]) -> dict[str, float]:
    """Measures and cells of one model by name."""
    return {**{k: v for k, v in known.items() if k != "cells"}, **known["cells"]}
