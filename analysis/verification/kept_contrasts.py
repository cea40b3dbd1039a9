"""Two reports with kept fits of incoherence or belief bias: posterior contrasts, beside paired tests if any exist."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.belief_bias_result import TABLES, BeliefBiasFit
from analysis.bayes.incoherence_cache import load_fit
from analysis.bayes.incoherence_result import IncoherenceFit
from analysis.bayes.kept_fits import load_kept
from analysis.comparison.before_after_schools import NOT_TESTED, beside_tests
from analysis.comparison.kept_quantities import (
    BELIEF,
    INCOHERENCE,
    KeptQuantities,
    belief_kept,
    incoherence_kept,
    kept_contrasts,
)
from analysis.frequentist.incoherence_differences import pairwise_differences
from analysis.frequentist.multiplicity import adjusted_bound, family_size, holm
from analysis.schema.quoting import shown
from analysis.verification.report_contrasts import (
    DAMAGED,
    FITS,
    INDEPENDENT,
    ContrastOptions,
    ReportContrasts,
    checked_options,
    failed_fit,
    left_out,
    of_tasks,
    pairs_by_name,
    unusable_fits,
    values_of,
)
from analysis.verification.written_report import data_names, read_data, read_manifest

NO_NOISE_TEST: Final = "noise has no paired test"
NONE_SHARED: Final = "no instance in two wordings on both sides"
NO_VOTES: Final = "Belief bias has no paired test: reports keep no votes."
_SQUARES: Final = "Paired tests of the persistent residual are of its square, which has an unbiased estimate."
NO_KEY: Final = "its table of fits does not say where they are kept; make the report anew from its logs"
#: Which of two models the paired test has first in the order of names.
_AFTER, _BEFORE = "1 after", "2 before"


@dataclass(frozen=True, slots=True)
class _Kind:
    """One model whose fits a report keeps: table of its fits, measures, and how its fits are read."""

    name: str
    fits: str
    measures: Mapping[str, bool]
    load: Callable[[Path, str], Any]
    quantities: Callable[[Any], KeptQuantities]


def _belief_fit(folder: Path, key: str) -> BeliefBiasFit | None:
    return load_kept(folder, key, BeliefBiasFit, TABLES)


_KINDS: Final = {
    "incoherence": _Kind("incoherence", "incoherence_fits", INCOHERENCE, load_fit, incoherence_kept),
    "belief_bias": _Kind("belief bias", "belief_bayes_fits", BELIEF, _belief_fit, belief_kept),
}


@dataclass(frozen=True, slots=True)
class _Side:
    """What a report keeps of one kind of fit."""

    side: str
    folder: Path
    kind: _Kind
    manifest: Mapping[str, Any]
    fits: pd.DataFrame

    @classmethod
    def read(cls, side: str, folder: Path, kind: _Kind) -> "_Side":
        manifest = read_manifest(folder)
        found = kind.fits in data_names(manifest)
        table = read_data(folder, kind.fits) if found else pd.DataFrame({"task": []})
        return cls(side, folder, kind, manifest, table.astype({"task": "str"}))

    def data(self, name: str, task: str) -> pd.DataFrame:
        """Rows of a task; empty where the report has no such table."""
        if name not in data_names(self.manifest):
            return pd.DataFrame()
        table = read_data(self.folder, name)
        return table[table["task"].astype(str) == task]

    def fit(self, task: str) -> IncoherenceFit | BeliefBiasFit | str:
        """The kept fit of a task, or why none can be used; single models of one of incoherence may have failed."""
        found = self.fits[self.fits["task"] == task]
        if problem := unusable_fits(self.manifest, found):
            return problem
        if self.kind.name != "incoherence" and (problem := failed_fit(found)):
            return problem
        key = found.iloc[0].get("key")
        if not isinstance(key, str):
            return NO_KEY
        fit = self.kind.load(self.folder / "data" / FITS, key) if key.replace("-", "").isalnum() else None
        return fit if fit is not None else DAMAGED


def kept_fit_contrasts(
    before: Path,
    after: Path,
    kind: str,
    *,
    rope: float,
    ci_level: float = 0.95,
    seed: int = 0,
    flips: int = 20_000,
) -> ReportContrasts:
    """Differences after minus before by the kept fits of incoherence or belief bias of two reports.

    Parameters
    ----------
    before, after : Path
        Folders of reports.
    kind : {"incoherence", "belief_bias"}
    rope : float in (0, 1)
        Differences of probabilities within +- ``rope`` count as none; those in log-odds within 0.05.
    ci_level, seed, flips
        As of ``report_contrasts``.

    Raises
    ------
    AnalysisError
        A folder holds no report, or its data cannot be read; a setting is out of range.

    Notes
    -----
    Nothing is said where neither report has such a fit. Paired tests of the squared persistent residual are over the
    instances that both reports have in two wordings or more, adjusted by Holm over all of them.
    """
    options, chosen = checked_options(rope, ci_level, seed, flips), _KINDS[kind]
    sides = _Side.read("before", before, chosen), _Side.read("after", after, chosen)
    tasks = sorted({task for side in sides for task in values_of(side.fits, "task")})
    rows, tests = [], []
    said_of: dict[str, list[str]] = {}
    for task in tasks:
        found, tested, said = _task_contrasts(sides, task, chosen, options)
        rows.append(found)
        tests.append(tested)
        for sentence in said:
            said_of.setdefault(sentence, []).append(task)
    notes = [of_tasks(sentence, named, len(tasks)) for sentence, named in said_of.items()]
    rows, tests = [part for part in rows if len(part)], [part for part in tests if len(part)]
    if not rows:
        return ReportContrasts(pd.DataFrame(), tuple(notes))
    judged = _judged(pd.concat(tests, ignore_index=True), ci_level) if tests else pd.DataFrame()
    return ReportContrasts(beside_tests(pd.concat(rows, ignore_index=True), judged), (INDEPENDENT, *notes))


def _task_contrasts(
    sides: tuple[_Side, _Side], task: str, kind: _Kind, options: ContrastOptions
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Contrasts and paired tests of one task, and what is to be said of them."""
    none = f"No posterior contrasts of {kind.name}: "
    fits = [side.fit(task) for side in sides]
    missing = [f"{side.side}, {fit}" for side, fit in zip(sides, fits, strict=True) if isinstance(fit, str)]
    if missing:
        return pd.DataFrame(), pd.DataFrame(), [f"{none}{'; '.join(missing)}."]
    if (why := _incomparable(sides, task, fits)) is not None:
        return pd.DataFrame(), pd.DataFrame(), [f"{none}{why}."]
    quantities = [kind.quantities(fit) for fit in fits]
    models = [sorted({model for model, _ in one.rows}) for one in quantities]
    pairs = pairs_by_name(models[0], models[1])
    if not pairs:
        return pd.DataFrame(), pd.DataFrame(), [f"{none}no model in common."]
    first, second = quantities
    rows = kept_contrasts(
        first,
        second,
        pairs,
        kind.measures,
        rng=options.rng("draws", kind.name, task),
        rope=options.rope,
        ci_level=options.ci_level,
    )
    rows.insert(0, "task", task)
    if kind.measures is INCOHERENCE:
        tests, said = _tests(sides, task, pairs, options)
    else:
        tests, said = pd.DataFrame(), [NO_VOTES, *_conditions_said([_levels(fit) for fit in fits])]
    quick = [side.side for side, fit in zip(sides, fits, strict=True) if _fast(fit)]
    said += [f"A quick look with few draws (--fast): {' and '.join(quick)}."] if quick else []
    return rows, tests, left_out(models, pairs) + said


def _fast(fit: Any) -> bool:
    return bool(fit.glance["fast"]) if isinstance(fit, BeliefBiasFit) else bool(fit.glance["fast"].any())


def _incomparable(sides: tuple[_Side, _Side], task: str, fits: Sequence[Any]) -> str | None:
    """Why two fits are not of one quantity, or not of independent data; None where they are."""
    keys = [fit.glance.get("key") if isinstance(fit, BeliefBiasFit) else fit.key for fit in fits]
    if keys[0] == keys[1]:
        return "both reports keep the same fit, of the same responses"
    names = [", ".join(values_of(side.data("instances", task), "identity_name")) for side in sides]
    if names[0] != names[1]:
        return f"the identity is {shown(names[0])} before and {shown(names[1])} after"
    return None


def _conditions_said(sides: Sequence[Mapping[str, list[str]]]) -> list[str]:
    """What is averaged over on both sides, and what of it is not matched; nothing where no condition varies."""
    first, second = sides
    apart = [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]
    if not first and not second:
        return []
    if not apart:
        return [f"Both sides are averaged over {_listed(first)}: kept fits are not compared within conditions."]
    lists = [_listed({name: one[name] for name in apart if name in one}) or "none" for one in (first, second)]
    return [f"Conditions are not matched, each side is averaged over its own: {lists[0]} before, {lists[1]} after."]


def _levels(fit: Any) -> dict[str, list[str]]:
    """Levels of every condition that the report of a fit compares."""
    if fit.contrasts.empty:
        return {}
    names = fit.contrasts[["factor", "first", "second"]].astype(str)
    return {
        str(factor): sorted({*rows["first"], *rows["second"]}) for factor, rows in names.groupby("factor", sort=True)
    }


def _listed(levels: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{shown(name)} ({', '.join(map(shown, found))})" for name, found in levels.items())


def _tests(
    sides: tuple[_Side, _Side], task: str, pairs: Sequence[tuple[str, str]], options: ContrastOptions
) -> tuple[pd.DataFrame, list[str]]:
    """Paired tests of the squared persistent residual of every pair, and why some are missing."""
    if any("census" in values_of(side.data("incoherence", task), "target") for side in sides):
        return pd.DataFrame(), ["No paired test, since target = 'census' makes no claim beyond these items."]
    tables = [side.data("instances", task) for side in sides]
    if any(table.empty for table in tables):
        return pd.DataFrame(), ["No paired test: a report keeps no instances."]
    parts = []
    for first, second in pairs:
        own = [
            table[table["model"].astype(str) == model].assign(model=name)
            for table, model, name in zip(tables, (first, second), (_BEFORE, _AFTER), strict=True)
        ]
        label = {"task": task, "before_model": first, "after_model": second}
        parts.append(pd.DataFrame([{**label, "measure": "noise", "reason": NO_NOISE_TEST}]))
        both = pd.concat(own, ignore_index=True)
        if not _share_repeated(both):
            parts.append(pd.DataFrame([{**label, "measure": "persistent", "reason": NONE_SHARED}]))
            continue
        rng = options.rng("flips", "incoherence", task, first, second)
        found = pairwise_differences(both, rng=rng, flips=options.flips, ci_level=options.ci_level, squared=True)
        parts.append(found.assign(**label, measure="persistent"))
    return pd.concat(parts, ignore_index=True), [_SQUARES]


def _share_repeated(both: pd.DataFrame) -> bool:
    """Whether some instance was asked in two wordings or more on both sides."""
    keys = both.loc[both["k"] > 1, ["unit", "identity"]].astype(str)
    return bool(keys.duplicated().any())


def _judged(tests: pd.DataFrame, ci_level: float) -> pd.DataFrame:
    """Paired tests with p-values adjusted over all of them, and what they allow to say."""
    columns = ("estimate", "ci_low", "ci_high", "ci_method", "p_value", "resolution", "n_clusters")
    missing = [name for name in columns if name not in tests]
    rows = tests.assign(**dict.fromkeys(missing, np.nan))
    p = rows["p_value"].to_numpy(float)
    adjusted = holm(p)
    better = np.where(rows["estimate"].to_numpy(float) < 0, "better", "worse")
    said = np.where(adjusted <= 1 - ci_level, better, "undecided")
    return rows.assign(
        p_adjusted=adjusted,
        p_adjust_method="holm",
        family_size=family_size(p),
        adjusted_bound=adjusted_bound(p, adjusted, rows["resolution"]),
        equivalent_p_adjusted=np.nan,
        verdict=np.where(np.isnan(adjusted), NOT_TESTED, said),
        reason=rows["reason"].fillna(""),
    )
