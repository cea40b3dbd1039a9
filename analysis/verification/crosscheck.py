"""The classical statistics of a report, recomputed from its reduced tables with other people's code.

statsmodels gives contrasts, cluster-robust errors, Wilson limits and Holm adjustment; pingouin, where installed,
gives Holm as a second opinion (GPL-3: an extra, never imported by the core). Paired differences and means of
incoherence stand in modules of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.stats import norm, t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from analysis.verification.crosscheck_accuracy import FAMILIES, difference_rows, family_rows
from analysis.verification.crosscheck_coherence import coherence_rows
from analysis.verification.written_report import report_data

#: Measure -> weights of the cells in it, for designs of four cells, of two, and without cells.
CONTRASTS = {
    "accuracy": {"": 1.0},
    "acc_yes": {"VA": 0.5, "IN": 0.5, "gold_yes": 1.0},
    "acc_no": {"VN": 0.5, "IA": 0.5, "gold_no": 1.0},
    "acc_va": {"VA": 1.0},
    "acc_vn": {"VN": 1.0},
    "acc_ia": {"IA": 1.0},
    "acc_in": {"IN": 1.0},
    "balanced_accuracy": {"VA": 0.25, "IN": 0.25, "VN": 0.25, "IA": 0.25, "gold_yes": 0.5, "gold_no": 0.5},
    "answer_bias": {"VA": 0.5, "IN": 0.5, "VN": -0.5, "IA": -0.5, "gold_yes": 1.0, "gold_no": -1.0},
    "polarity_sensitivity": {"VA": 0.5, "IA": 0.5, "VN": -0.5, "IN": -0.5},
    "validity_contrast": {"VA": 0.5, "VN": 0.5, "IA": -0.5, "IN": -0.5},
}
#: Columns of `unit_sums` that hold trials and events under each treatment of uncertain answers.
TREATMENTS = {
    "incorrect": ("w_scored", ("w_correct", 1.0, "w_uncertain", 0.0)),
    "excluded": ("w_answered", ("w_correct_answered", 1.0, "w_uncertain", 0.0)),
    "half": ("w_scored", ("w_correct", 1.0, "w_uncertain", 0.5)),
}
ESTIMATE_TOLERANCE = 1e-9
ADJUSTED_TOLERANCE = 1e-12
#: Data files of which something is recomputed: by ``contrast_rows``, the families, and the residuals.
_RECOMPUTED = {"estimates", "floor_tests", "instances", "residuals", "incoherence", *(name for name, *_ in FAMILIES)}
#: Of the sign flips that are drawn where they are too many to enumerate.
_SEED = 20_261_130


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Outcome of recomputing a report.

    ``rows`` has one row per compared number: what, model, measure, ours, theirs, difference, allowed, ok, with.
    ``n_different`` counts rows outside what is allowed; ``unchecked`` names the data files with estimates or
    p-values of which nothing was recomputed, ``without_units`` what could not be for want of values by unit.
    """

    rows: pd.DataFrame
    n_different: int
    pingouin: bool
    unchecked: tuple[str, ...]
    without_units: tuple[str, ...]


def crosscheck_report(report: Path) -> CrossCheck:
    """Recompute the classical statistics of a report directory.

    Parameters
    ----------
    report : Path
        A directory that `evenhand report` wrote (with ``data/unit_sums.parquet`` and friends).

    Returns
    -------
    CrossCheck

    Raises
    ------
    AnalysisError
        The directory holds no report, or one of another version.
    """
    data = report_data(report)
    has_pingouin = find_spec("pingouin") is not None
    rows: list[tuple] = [
        *family_rows(data), *difference_rows(data, np.random.default_rng(_SEED)), *coherence_rows(data),
    ]  # fmt: skip
    if {"unit_sums", "estimates"} <= set(data):
        rows += [*contrast_rows(data["unit_sums"], data["estimates"]), *limit_rows(data["estimates"])]
    if "floor_tests" in data:
        rows += holm_rows(data["floor_tests"])
        rows += pingouin_rows(data["floor_tests"]) if has_pingouin else []
    table = pd.DataFrame(
        rows, columns=["task", "model", "measure", "number", "ours", "theirs", "allowed", "checked_with"]
    )
    table["difference"] = (table["ours"] - table["theirs"]).abs()
    table["ok"] = table["difference"] <= table["allowed"]
    results = {name for name, found in data.items() if {"estimate", "p_value", "difference"} & set(found.columns)}
    scores = "leaderboard" in data and not (set(data["leaderboard"]["task"]) <= set(_tasks(data)))
    return CrossCheck(
        rows=table,
        n_different=int((~table["ok"]).sum()),
        pingouin=has_pingouin,
        unchecked=tuple(sorted(results - _RECOMPUTED)),
        without_units=("mean scores, of which a report keeps no values by unit",) if scores else (),
    )


def _tasks(data: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Tasks of which a report keeps sums by unit."""
    return data["unit_sums"]["task"] if "unit_sums" in data else pd.Series(dtype=str)


def contrast_rows(sums: pd.DataFrame, estimates: pd.DataFrame) -> list[tuple]:
    """Contrasts of cell means and their standard errors by weighted least squares with clustered errors.

    statsmodels gives the sandwich without correction (CR0), ours is CR2; how far they may differ follows from the
    shares of the units in the cells (``leverage_shift``), and that is the tolerance.
    """
    rows = []
    wanted = estimates[estimates["measure"].isin(CONTRASTS) & estimates["estimate"].notna()]
    for (task, model), group in wanted.groupby(["task", "model"], sort=False, observed=True):
        part = sums[(sums["task"] == task) & (sums["model"] == model)]
        if part["stratum"].nunique() > 1 or group["std_error"].isna().all():
            continue
        trials, (right, one, unsure, credit) = TREATMENTS[str(group["uncertain"].iloc[0])]
        part = part[part[trials] > 0]
        cells = sorted(part["cell"].astype(str).unique())
        design = np.column_stack([(part["cell"].astype(str) == c).to_numpy(float) for c in cells])
        share = (one * part[right] + credit * part[unsure]) / part[trials]
        codes = pd.factorize(part["unit"])[0]
        fit = sm.WLS(share.to_numpy(float), design, weights=part[trials].to_numpy(float)).fit(
            cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}
        )
        moved = leverage_shift(part, trials, design, fit.resid, codes)
        for row in group.to_dict("records"):
            weights = np.array([CONTRASTS[row["measure"]].get(c, 0.0) for c in cells])
            if not weights.any():
                continue
            theirs = float(fit.params @ weights)
            error = float(np.sqrt(weights @ fit.cov_params() @ weights))
            rows.append(
                (
                    task,
                    model,
                    row["measure"],
                    "estimate",
                    row["estimate"],
                    theirs,
                    ESTIMATE_TOLERANCE,
                    "statsmodels WLS",
                )
            )
            bound = float(np.sqrt(((moved @ np.abs(weights)) ** 2).sum())) + ESTIMATE_TOLERANCE
            if not np.isnan(row["std_error"]):
                rows.append(
                    (
                        task,
                        model,
                        row["measure"],
                        "std_error",
                        row["std_error"],
                        error,
                        bound,
                        "statsmodels cluster (CR0)",
                    )
                )
    return rows


def leverage_shift(
    part: pd.DataFrame, trials: str, design: np.ndarray, residuals: np.ndarray, units: np.ndarray
) -> np.ndarray:
    """How far the leverage adjustment of CR2 can move each unit's part of each cell mean, shape (units, cells).

    CR2 multiplies the part of unit g in cell c by 1 / sqrt(1 - h), h the share of the unit in the cell. By the
    triangle inequality the standard error of a contrast l differs from CR0's by at most the norm over units of
    sum_c |l_c| times these numbers.
    """
    weight = part[trials].to_numpy(float)[:, None] * design
    share = weight / weight.sum(axis=0)
    by_unit = np.zeros((units.max() + 1, design.shape[1]))
    pieces, leverage = by_unit.copy(), by_unit.copy()
    np.add.at(pieces, units, share * np.asarray(residuals)[:, None])
    np.add.at(leverage, units, share)
    with np.errstate(divide="ignore"):
        return np.abs(pieces) * (1 / np.sqrt(np.maximum(1 - leverage, 1e-12)) - 1)


def limit_rows(estimates: pd.DataFrame) -> list[tuple]:
    """Wilson limits from the recorded effective n and t quantile."""
    rows = []
    wilson = estimates[(estimates["ci_method"] == "cluster Wilson (t)") & estimates["ci_low"].notna()]
    for row in wilson.to_dict("records"):
        alpha = 2 * norm.sf(t.ppf((1 + row["ci_level"]) / 2, row["df"]))
        low, high = proportion_confint(row["estimate"] * row["n_eff"], row["n_eff"], alpha=alpha, method="wilson")
        for name, ours, theirs in (("ci_low", row["ci_low"], low), ("ci_high", row["ci_high"], high)):
            rows.append((row["task"], row["model"], row["measure"], name, ours, theirs, 1e-6, "statsmodels Wilson"))
    return rows


def holm_rows(tests: pd.DataFrame) -> list[tuple]:
    """Holm-adjusted p-values of each family, by statsmodels."""
    return adjusted_rows(tests, lambda p: multipletests(p, method="holm")[1], "statsmodels Holm")


def pingouin_rows(tests: pd.DataFrame) -> list[tuple]:
    """The same adjustment by pingouin."""
    import pingouin  # noqa: PLC0415 - GPL-3, an extra: the core must run without it

    return adjusted_rows(tests, lambda p: pingouin.multicomp(p, method="holm")[1], "pingouin Holm")


def adjusted_rows(tests: pd.DataFrame, adjust: Callable[[np.ndarray], np.ndarray], checked_with: str) -> list[tuple]:
    """Our adjusted p-values beside those that ``adjust`` gives for each family."""
    rows = []
    for (task, alternative), family in tests[tests["p_value"].notna()].groupby(["task", "alternative"], observed=True):
        theirs = adjust(family["p_value"].to_numpy(float))
        number = f"p_adjusted ({alternative})"
        for model, ours, value in zip(family["model"], family["p_adjusted"], theirs, strict=True):
            rows.append((task, model, "competence_floor", number, ours, value, ADJUSTED_TOLERANCE, checked_with))
    return rows
