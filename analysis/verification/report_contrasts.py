"""Two reports with kept fits: posterior contrasts beside paired tests over the units that both have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.arguments import check_level
from analysis.bayes.cache import load_fit
from analysis.bayes.result import AnswerBiasFit
from analysis.comparison.before_after_schools import CONTRASTED, beside_tests, posterior_contrasts
from analysis.errors import AnalysisError
from analysis.frequentist.before_after import with_verdicts
from analysis.frequentist.before_after_sums import before_after_of_sums
from analysis.frequentist.model_comparison import ROPE
from analysis.provenance import package_versions
from analysis.schema.quoting import shown
from analysis.verification.written_report import data_names, read_data, read_manifest

FITS: Final = "fits"
#: Settings that decide which quantity a report is about: column of its estimates -> its name.
_SHARED: Final = {"uncertain": "the treatment of uncertain answers", "target": "the target", "weights": "the weighting"}
#: What holds of every contrast.
INDEPENDENT: Final = (
    "The two fits are independent: what items share between both sides is not used, so that the intervals of the "
    "posterior differences are rather wide."
)


@dataclass(frozen=True, slots=True)
class ReportContrasts:
    """Posterior contrasts of two reports.

    Attributes
    ----------
    rows : DataFrame
        One row per task, pair of models and measure, as of ``comparison.beside_tests``, with ``task``, ``unit``,
        ``uncertain``, ``weights`` and ``target`` of the reports; empty where there is no contrast.
    notes : tuple of str
        Why there is no contrast of a task or model, or no paired test, and what limits them.
    """

    rows: pd.DataFrame
    notes: tuple[str, ...]


#: Said of a fit that is listed and not there as it was written.
DAMAGED: Final = "its kept fit is missing or damaged; make the report anew from its logs"


@dataclass(frozen=True, slots=True)
class _Report:
    """What a report keeps of its answer-bias model, by file stem; a missing one is empty."""

    side: str
    folder: Path
    manifest: Mapping[str, Any]
    estimates: pd.DataFrame
    fits: pd.DataFrame
    sums: pd.DataFrame

    @classmethod
    def read(cls, side: str, folder: Path) -> "_Report":
        manifest = read_manifest(folder)
        known = data_names(manifest)
        names = ("estimates", "bayesian_fits", "unit_sums")
        tables = [read_data(folder, name) if name in known else pd.DataFrame({"task": []}) for name in names]
        return cls(side, folder, manifest, *(table.astype({"task": "str"}) for table in tables))

    def of(self, table: pd.DataFrame, task: str) -> pd.DataFrame:
        return table[table["task"] == task]

    def fit(self, task: str) -> AnswerBiasFit | str:
        """The kept fit of a task that passed its gates, or why there is none."""
        found = self.of(self.fits, task)
        if problem := unusable_fits(self.manifest, found) or failed_fit(found):
            return problem
        key = found.iloc[0].get("key")
        fit = load_fit(self.folder / "data" / FITS, key) if isinstance(key, str) and key.isalnum() else None
        return fit if fit is not None else DAMAGED


def unusable_fits(manifest: Mapping[str, Any], found: pd.DataFrame) -> str:
    """Why none of the fits that a report lists of a task can be read; empty where they can."""
    if found.empty and manifest.get("settings", {}).get("bayes") in ("none", None):
        return "the report was made without Bayesian columns (--no-bayes)"
    return "the report has no such fit of this task" if found.empty else version_problem(manifest)


def failed_fit(found: pd.DataFrame) -> str:
    """Why the one fit of a task is not shown; empty where it passed its gates."""
    row = found.iloc[0]
    return "" if row["status"] == "ok" else f"its fit is not shown, {str(row['reason']).rstrip('.') or 'a gate failed'}"


def version_problem(manifest: Mapping[str, Any]) -> str:
    """Why the fits that a report keeps cannot be read; empty where this version wrote them."""
    made_by = str(manifest.get("versions", {}).get("evenhand", "unknown"))
    if made_by == (now := package_versions(())["evenhand"]):
        return ""
    return f"its fit was kept by version {made_by}, this is {now}; make the report anew from its logs"


def report_contrasts(
    before: Path, after: Path, *, rope: float = ROPE, ci_level: float = 0.95, seed: int = 0, flips: int = 20_000
) -> ReportContrasts:
    """Differences after minus before by the kept fits of two reports, beside paired tests of their sums by unit.

    Parameters
    ----------
    before, after : Path
        Folders of reports.
    rope : float in (0, 1)
        Differences within +- ``rope`` count as none.
    ci_level : float in (0, 1)
    seed : int >= 0
        Of the pairing of draws, and of the sign flips.
    flips : int

    Raises
    ------
    AnalysisError
        A folder holds no report, or its data cannot be read; a setting is out of range.

    Notes
    -----
    p-values are adjusted over all measures, models and tasks that have a contrast. Models are matched by name, or
    because each side has one only.
    """
    options = checked_options(rope, ci_level, seed, flips)
    sides = _Report.read("before", before), _Report.read("after", after)
    tasks = [
        task for task in values_of(sides[0].estimates, "task") if task in set(values_of(sides[1].estimates, "task"))
    ]
    if not tasks:
        return ReportContrasts(pd.DataFrame(), ("No posterior contrasts: the reports have no yes/no task in common.",))
    rows, tests = [], []
    said_of: dict[str, list[str]] = {}
    for task in tasks:
        found, tested, said = _task_contrasts(*sides, task, options)
        rows.append(found)
        tests.append(tested)
        for sentence in said:
            said_of.setdefault(sentence, []).append(task)
    notes = [of_tasks(sentence, named, len(tasks)) for sentence, named in said_of.items()]
    rows, tests = [part for part in rows if len(part)], [part for part in tests if len(part)]
    if not rows:
        return ReportContrasts(pd.DataFrame(), tuple(notes))
    judged = with_verdicts(pd.concat(tests, ignore_index=True), ci_level=ci_level) if tests else pd.DataFrame()
    return ReportContrasts(beside_tests(pd.concat(rows, ignore_index=True), judged), (INDEPENDENT, *notes))


def of_tasks(sentence: str, tasks: Sequence[str], total: int) -> str:
    """A sentence with the tasks that it is about, unless these are all."""
    if len(tasks) == total:
        return sentence
    return f"{'task' if len(tasks) == 1 else 'tasks'} {some_names([shown(task) for task in tasks])}: {sentence}"


def some_names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


@dataclass(frozen=True, slots=True)
class ContrastOptions:
    """What contrasts are made with."""

    rope: float
    ci_level: float
    seed: int
    flips: int

    def rng(self, *names: str) -> np.random.Generator:
        """A stream of its own for every name."""
        return np.random.default_rng([self.seed, *"\0".join(names).encode()])


def checked_options(rope: float, ci_level: float, seed: int, flips: int) -> ContrastOptions:
    """Options, or an AnalysisError that names the one out of range."""
    if not 0 < rope < 1:
        raise AnalysisError(f"differences that count as none must lie between 0 and 1, not {rope:g}")
    if seed < 0:
        raise AnalysisError(f"a seed is 0 or larger, not {seed}")
    return ContrastOptions(rope, check_level(ci_level), seed, flips)


def _task_contrasts(
    before: _Report, after: _Report, task: str, options: ContrastOptions
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Contrasts and paired tests of one task, and what is to be said of them."""
    fits = _comparable_fits(before, after, task)
    models = [values_of(report.of(report.estimates, task), "model") for report in (before, after)]
    pairs = pairs_by_name(*models)
    if isinstance(fits, str) or not pairs:
        why = fits if isinstance(fits, str) else "no model in common"
        return pd.DataFrame(), pd.DataFrame(), [f"No posterior contrasts: {why}."]
    settings = before.of(before.estimates, task).iloc[0]
    shared = {column: str(settings[column]) for column in (*_SHARED, "unit")}
    contrasts = posterior_contrasts(
        *fits,
        pairs,
        target=shared["target"],
        uncertain=shared["uncertain"],
        rng=options.rng("draws", task),
        rope=options.rope,
        ci_level=options.ci_level,
    ).assign(**shared)
    contrasts.insert(0, "task", task)
    tests, said = _tests(before, after, task, pairs, shared, options)
    quick = [r.side for r, fit in zip((before, after), fits, strict=True) if fit.glance.get("fast")]
    said += [f"A quick look with few draws (--fast): {' and '.join(quick)}."] if quick else []
    return contrasts, tests, left_out(models, pairs) + said


def _comparable_fits(before: _Report, after: _Report, task: str) -> tuple[AnswerBiasFit, AnswerBiasFit] | str:
    """Kept fits of one quantity on both sides, or why there are none."""
    first, second = before.fit(task), after.fit(task)
    missing = [f"{r.side}, {fit}" for r, fit in ((before, first), (after, second)) if isinstance(fit, str)]
    if isinstance(first, str) or isinstance(second, str):
        return "; ".join(missing)
    one, two = (report.of(report.estimates, task).iloc[0] for report in (before, after))
    for column, name in _SHARED.items():
        if str(one[column]) != str(two[column]):
            return f"{name} is {shown(str(one[column]))} before and {shown(str(two[column]))} after"
    if first.glance.get("key") == second.glance.get("key"):
        return "both reports keep the same fit, of the same responses"
    cells = ["/".join(cell for cell in values_of(r.of(r.sums, task), "cell") if cell) for r in (before, after)]
    return (first, second) if cells[0] == cells[1] else f"the cells are {cells[0]} before and {cells[1]} after"


def _tests(
    before: _Report,
    after: _Report,
    task: str,
    pairs: Sequence[tuple[str, str]],
    shared: Mapping[str, str],
    options: ContrastOptions,
) -> tuple[pd.DataFrame, list[str]]:
    """Paired tests of every pair of models over the units that both sides have, and why some are missing."""
    if shared["target"] == "census":
        return pd.DataFrame(), ["No paired test, since target = 'census' makes no claim beyond these items."]
    parts, said, dropped = [], [], []
    for first, second in pairs:
        sums = [r.of(r.sums, task) for r in (before, after)]
        own = [table[table["model"].astype(str) == m] for table, m in zip(sums, (first, second), strict=True)]
        rng = options.rng("flips", task, first, second)
        try:
            found = before_after_of_sums(
                *own,
                uncertain=shared["uncertain"],
                rng=rng,
                flips=options.flips,
                ci_level=options.ci_level,
                rope=options.rope,
            )
        except AnalysisError as error:
            said.append(f"{shown(first)}: no paired test, {error}.")
            continue
        kept = found.rows[found.rows["measure"].isin(CONTRASTED)]
        parts.append(kept.assign(task=task, before_model=first, after_model=second))
        if found.dropped:
            dropped.append(f"{found.dropped:,} of {shown(first)}")
    if dropped:
        said.append(f"Units of one side alone are left out of the paired tests: {some_names(dropped)}.")
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()), said


def pairs_by_name(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Models of one name; without any, the only model of each side."""
    same = [(name, name) for name in before if name in set(after)]
    alone = len(before) == len(after) == 1
    return same or ([(before[0], after[0])] if alone else [])


def left_out(models: Sequence[Sequence[str]], pairs: Sequence[tuple[str, str]]) -> list[str]:
    said = []
    for side, (name, found) in enumerate(zip(("before", "after"), models, strict=True)):
        rest = [model for model in found if model not in {pair[side] for pair in pairs}]
        if rest:
            said.append(
                f"Models found {name} only, without a contrast: {some_names([shown(model) for model in rest])}."
            )
    return said


def values_of(table: pd.DataFrame, column: str) -> list[str]:
    return sorted(set(table[column].astype(str))) if column in table.columns else []
