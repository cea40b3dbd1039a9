"""Questions from logs: what a design could have shown at the variances that were observed in it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.planning.answers import answer
from analysis.planning.floor_power import floor_power
from analysis.planning.persistent_power import observed_noise_terms, persistent_power
from analysis.planning.question import Question, detectable_effect
from analysis.planning.range_power import range_power
from analysis.planning.t_power import t_test_power
from analysis.schema.planning_settings import PlanningSettings

#: Stem of standard errors of differences in accuracy, of tasks without other comparisons of models.
PAIRS: Final = "pair_errors"
NOT_AT_ENDS: Final = "at the largest standard errors no possible effect is shown with this power"
LEFT_OUT: Final = "left out, without a standard error: {} of {}"
_SINGLE: Final = ("answer_bias", "balanced_accuracy", "polarity_sensitivity")
_BELIEF: Final = ("belief_bias", "discrimination_difference")
_PAIRED: Final = ("competence_floor", "balanced_accuracy", "answer_bias", "polarity_sensitivity", "accuracy")
DIFFERENCE: Final = "probability difference"

Parameters = dict[str, float]
Row = dict[str, Any]


def observed_designs(
    tables: Mapping[str, pd.DataFrame],
    *,
    level: float = 0.05,
    power: float | None = None,
    effect: float | None = None,
    planning: PlanningSettings | None = None,
) -> pd.DataFrame:
    """What each estimand of a report could have shown, from the standard errors that the report has.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Data of a report by stem: ``estimates``, ``model_pairs``, ``pair_errors``, ``paired_contrasts``,
        ``level_ranges``, ``condition_pairs``, ``belief_bias``, ``instances``, ``leaderboard`` (of graded scores).
    level : float in (0, 1)
        Of the tests; two-sided but for the floor, and for persistent incoherence at half of it, that of one end of
        its interval.
    power : float in (0, 1), optional
    effect : float, optional
        Of which power and units are given.
    planning : PlanningSettings
        Effects and power where those two are not given.

    Returns
    -------
    DataFrame
        Columns of ``answers.answer``, with ``task``, ``asked``, ``contrast``, the median, smallest and largest
        standard error over the models or pairs (``n_models`` of them), what is detectable at the smallest and largest,
        and ``parameters``: the numbers behind the power, as JSON for ``observed_question``.

    Notes
    -----
    A property of the design at the variances observed, not "observed power": no observed effect enters.

    References
    ----------
    Hoenig and Heisey (2001), The American Statistician 55:19-24, doi:10.1198/000313001300339897.
    """
    rows, of_interest = [], planning or PlanningSettings()
    target = power or of_interest.power
    for found in _candidates(tables, level):
        usual = of_interest.log_odds if found["scale"] == "log-odds" else of_interest.effect
        shared = {name: found[name] for name in ("task", "asked", "contrast", "n_models")}
        errors = {name: found[name] for name in ("std_error", "std_error_low", "std_error_high")}
        middle = observed_question(found | {"parameters": json.dumps(found["middle"])})
        row = shared | errors | answer(middle, effect=effect or usual, power=target)
        for end in ("low", "high"):
            row[f"detectable_{end}"] = _at_end(found, end, middle, float(row["detectable_effect"]), target)
        ends = NOT_AT_ENDS if np.isnan([row["detectable_low"], row["detectable_high"]]).any() else ""
        row["reason"] = "; ".join(said for said in (row["reason"], ends, found["reason"]) if said)
        rows.append(row | {"parameters": json.dumps(found["middle"]), "level": found["middle"]["level"]})
    return pd.DataFrame(rows)


def _at_end(found: Row, end: str, middle: Question, detectable: float, power: float) -> float:
    """What is detectable at the smallest or largest standard error; in proportion to it where nothing else differs."""
    if str(found["asked"]).startswith(("t:", "range:")) and np.isfinite(detectable):
        scaled = detectable * found[f"std_error_{end}"] / found["std_error"]
        return float(scaled) if scaled <= middle.most_effect else float("nan")
    question = observed_question(found | {"parameters": json.dumps(found[end])})
    return detectable_effect(question, power=power)


def observed_question(row: Mapping[str, Any] | pd.Series) -> Question:
    """The question behind a row of ``observed_designs``."""
    of: Parameters = json.loads(row["parameters"])
    made = {"floor": _floor, "persistent": _persistent, "range": _range, "t": _t}[str(row["asked"]).split(":")[0]]
    return made(of, row)


def _question(of: Parameters, row: Mapping[str, Any] | pd.Series, test: str, most: float, power: Any) -> Question:
    return Question(
        measure=str(row["measure"]),
        test=test,
        units=int(of["units"]),
        unit=str(row["unit"]),
        least_units=int(of.get("least", 2)),
        most_effect=most,
        scale=str(row["scale"]),
        power=power,
    )


def _freedom(df: float, observed: float, units: int) -> float:
    """Degrees of freedom in proportion to the units."""
    return max(df * (units - 1) / max(observed - 1, 1), 1.0)


def _t(of: Parameters, row: Mapping[str, Any] | pd.Series) -> Question:
    def power(effect: float, units: int) -> float:
        error = of["std_error"] * np.sqrt(of["units"] / units)
        return float(t_test_power(effect, error, df=_freedom(of["df"], of["units"], units), level=of["level"]))

    most = 100.0 if row["scale"] == "log-odds" else 1.0
    return _question(of, row, f"t, two-sided {100 * of['level']:g}%", most, power)


def _floor(of: Parameters, row: Mapping[str, Any] | pd.Series) -> Question:
    def power(effect: float, units: int) -> float:
        rate, size = 0.5 + effect, units / of["units"]
        df = (_freedom(of["df_yes"], of["units"], units), _freedom(of["df_no"], of["units"], units))
        n_eff = (of["n_eff_yes"] * size, of["n_eff_no"] * size)
        return float(
            floor_power(rate, rate, n_eff=n_eff, df=df, level=of["level"], correlation=of["class_correlation"])
        )

    said = f"both classes above .5, one-sided {100 * of['level']:g}%"
    return _question(of, row, said, 0.495, power)


def _persistent(of: Parameters, row: Mapping[str, Any] | pd.Series) -> Question:
    def power(effect: float, units: int) -> float:
        instances = of["instances"] * units / of["units"]
        return float(persistent_power(effect, instances, flat=of["flat"], slope=of["slope"], level=of["level"]))

    said = f"sign flips of wordings, one-sided {100 * of['level']:g}%"
    return _question(of, row, said, 10.0, power)


def _range(of: Parameters, row: Mapping[str, Any] | pd.Series) -> Question:
    levels = int(of["levels"])

    def power(effect: float, units: int) -> float:
        return range_power(effect, of["std_error"] * float(np.sqrt(of["units"] / units)), levels, level=of["level"])

    said = f"range of {levels} levels, {100 * of['level']:g}%"
    return _question(of, row, said, 1.0, power)


def _candidates(tables: Mapping[str, pd.DataFrame], level: float) -> Iterator[Row]:
    """Rows of the tables of a report that estimate the same thing, one per estimand and task."""
    estimates = tables.get("estimates", pd.DataFrame(columns=["task"]))
    for name, own in estimates.groupby("task", sort=False):
        yield from _floors(str(name), own, level)
        for measure in _SINGLE:
            yield from _t_rows(str(name), measure, "", own[own["measure"] == measure], level)
        if "competence_floor" not in set(own.loc[own["std_error"].notna(), "measure"]):
            yield from _t_rows(str(name), "accuracy", "", own[own["measure"] == "accuracy"], level)
    board = tables.get("leaderboard", pd.DataFrame(columns=["task"]))
    graded = board[~board["task"].isin(estimates["task"])]
    for name, own in graded.groupby("task", sort=False):
        yield from _t_rows(str(name), "mean_score", "", own, level)
    for stem, measures, by in (
        ("model_pairs", _PAIRED, ""),
        (PAIRS, ("accuracy", "mean_score"), ""),
        ("paired_contrasts", ("accuracy",), "contrast"),
        ("condition_pairs", ("accuracy", "mean_score"), "factor"),
        ("belief_bias", _BELIEF, ""),
    ):
        table = tables.get(stem)
        if table is None:
            continue
        plain = np.where(table["task"].isin(graded["task"]), "mean_score", "accuracy")
        kept = table if "measure" in table else table.assign(measure=plain)
        label = kept[by].astype(str) + (", over models" if by == "factor" else "") if by else ""
        kept = kept.assign(label="two models" if stem in ("model_pairs", PAIRS) else label)
        for (task, contrast), group in kept.groupby(["task", "label"], sort=False):
            for measure in measures:
                yield from _t_rows(str(task), measure, str(contrast), group[group["measure"] == measure], level)
    yield from _ranges(tables.get("level_ranges"), level)
    yield from _persistents(tables.get("instances"), level / 2)


def _shared(task: str, kind: str, measure: str, contrast: str, unit: str, scale: str = DIFFERENCE) -> Row:
    asked = f"{kind}: {measure}" + (f", {contrast}" if contrast else "")
    return {"task": task, "asked": asked, "measure": measure, "contrast": contrast, "unit": unit, "scale": scale}


def _errors(rows: pd.DataFrame, known: pd.DataFrame) -> Row:
    left = len(rows) - len(known)
    return {
        "std_error": float(known["std_error"].median()),
        "std_error_low": float(known["std_error"].min()),
        "std_error_high": float(known["std_error"].max()),
        "n_models": len(known),
        "reason": LEFT_OUT.format(left, len(rows)) if left else "",
    }


def _t_rows(task: str, measure: str, contrast: str, rows: pd.DataFrame, level: float) -> Iterator[Row]:
    known = rows[rows["std_error"] > 0]
    if known.empty:
        return
    df = max(float(known["df"].fillna(known["n_clusters"] - 1).median()), 1.0)
    units = float(round(known["n_clusters"].median()))
    errors = _errors(rows, known)
    parameters = {
        end: {"std_error": errors[name], "df": df, "units": units, "level": level}
        for end, name in (("middle", "std_error"), ("low", "std_error_low"), ("high", "std_error_high"))
    }
    yield _shared(task, "t", measure, contrast, str(known["unit"].iloc[0])) | errors | parameters


def _floors(task: str, estimates: pd.DataFrame, level: float) -> Iterator[Row]:
    """The intersection-union test of each model, from the effective responses of both classes."""
    wide = {
        name: estimates.pivot(index="model", columns="measure", values=name)
        for name in ("std_error", "n_eff", "df", "n_clusters")
    }
    needed = ["acc_yes", "acc_no", "answer_bias", "competence_floor"]
    if not set(needed) <= set(wide["n_eff"].columns):
        return
    errors: pd.DataFrame = wide["std_error"]
    known = errors.index[(errors[needed[:2]] > 0).all(axis=1) & errors["answer_bias"].notna()]
    if known.empty:
        return
    spread = 2 * errors["acc_yes"] * errors["acc_no"]
    correlation = (errors["acc_yes"] ** 2 + errors["acc_no"] ** 2 - errors["answer_bias"] ** 2) / spread
    found = pd.DataFrame(
        {
            "n_eff_yes": wide["n_eff"]["acc_yes"],
            "n_eff_no": wide["n_eff"]["acc_no"],
            "df_yes": wide["df"]["acc_yes"].clip(lower=1),
            "df_no": wide["df"]["acc_no"].clip(lower=1),
            "class_correlation": correlation.clip(-1, 1),
            "units": wide["n_clusters"]["competence_floor"],
        }
    ).loc[known]
    least = found[["n_eff_yes", "n_eff_no"]].min(axis=1)
    picked = {"low": found.iloc[least.argmax()], "high": found.iloc[least.argmin()], "middle": found.median()}
    parameters = {
        end: {str(k): float(v) for k, v in one.items()} | {"units": float(round(one["units"])), "level": level}
        for end, one in picked.items()
    }
    rows = estimates[estimates["measure"] == "competence_floor"]
    own = rows[rows["model"].isin(known)]
    yield _shared(task, "floor", "competence_floor", "", str(own["unit"].iloc[0])) | _errors(rows, own) | parameters


def _ranges(ranges: pd.DataFrame | None, level: float) -> Iterator[Row]:
    """Ranges of accuracy over levels within units."""
    if ranges is None:
        return
    kept = ranges[(ranges["measure"] == "accuracy") & (ranges["design"] == "within")]
    for (task, factor), rows in kept.groupby(["task", "factor"], sort=False):
        known = rows[(rows["std_error"] > 0) & (rows["n_clusters"] > 1)]
        if known.empty:
            continue
        levels = float(round((known["df"] / (known["n_clusters"] - 1)).median()) + 1)
        units = float(round(known["n_clusters"].median()))
        errors = _errors(rows, known)
        parameters = {
            end: {"std_error": errors[name], "levels": max(levels, 2.0), "units": units, "level": level}
            for end, name in (("middle", "std_error"), ("low", "std_error_low"), ("high", "std_error_high"))
        }
        yield _shared(str(task), "range", "accuracy", str(factor), str(known["unit"].iloc[0])) | errors | parameters


def _persistents(instances: pd.DataFrame | None, level: float) -> Iterator[Row]:
    """Persistent incoherence, from the rewording noise of each model."""
    if instances is None:
        return
    repeated = instances[(instances["k"] > 1) & (instances["ss"] > 0)]
    for task, group in repeated.groupby("task", sort=False):
        terms = []
        for _, rows in group.groupby("model", sort=True):
            flat, slope = observed_noise_terms(rows["ss"] / (rows["k"] - 1), rows["k"])
            terms.append([flat, slope, len(rows), rows["unit"].nunique(), np.sqrt(flat / len(rows))])
        found = pd.DataFrame(terms, columns=["flat", "slope", "instances", "units", "std_error"])
        ordered = {"low": found["std_error"].argmin(), "high": found["std_error"].argmax()}
        picked = {end: found.iloc[i] for end, i in ordered.items()} | {"middle": found.median()}
        parameters = {
            end: {str(k): float(v) for k, v in one.items() if k != "std_error"}
            | {"units": float(round(one["units"])), "level": level}
            for end, one in picked.items()
        }
        yield (
            _shared(str(task), "persistent", "persistent", "", "unit", "log-odds") | _errors(found, found) | parameters
        )
