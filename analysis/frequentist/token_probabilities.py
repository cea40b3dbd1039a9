"""Yes/no answers judged by the probability of their tokens: area under the curve, bias, the even cut."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.frequentist.clustered_rates import (
    ClusteredRates,
    clustered_rates,
    difference_limits,
    floor_limits,
    rate_limits,
)
from analysis.frequentist.proportion import effective_n, score_limits
from analysis.measures.discrimination import even_cut, placements

Floats = NDArray[np.float64]
#: Thresholds tried for the limits of the even cut.
GRID: Final = 200
#: Shares of rightness vary less than right and wrong do: their number does not bound what they are worth.
UNBOUNDED: Final = np.inf
TOKENS: Final = "token probabilities"
ANSWERS: Final = "answers"
RATE: Final = "cluster Wilson (t)"
DIFFERENCE: Final = "square-and-add of cluster Wilson (t)"
FLOOR: Final = "smallest of cluster Wilson (t)"
INVERTED: Final = "cuts at which no bias is shown"
ONE_CLASS: Final = "needs questions with either gold answer"
ONE_UNIT: Final = "only one unit of a class: the variance between units is unknown"
CHOSEN: Final = "no interval: the threshold was found on the same answers"
#: Both class rates, their mean and their difference, as weights of the classes (yes, no).
_WEIGHTS: Final = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, -1]])


@dataclass(frozen=True, slots=True)
class _Classes:
    """Questions of one model: class 0 where Yes is right, 1 where No is."""

    unit: NDArray[np.int64]
    cls: NDArray[np.int64]
    units: int

    def arrays(self, values: Floats) -> tuple[Floats, Floats]:
        """Questions and sums of ``values`` (..., N), by unit and class: (G, 2) and (..., G, 2)."""
        index = self.unit * 2 + self.cls
        n = np.bincount(index, minlength=2 * self.units).astype(float).reshape(self.units, 2)
        flat = np.atleast_2d(values)
        sums = np.stack([np.bincount(index, row, minlength=2 * self.units) for row in flat])
        return n, sums.reshape(*values.shape[:-1], self.units, 2)


def token_probability_estimates(questions: pd.DataFrame, *, ci_level: float = 0.95) -> pd.DataFrame:
    """Estimates of every model from the probabilities of its tokens, beside those from its answers.

    Parameters
    ----------
    questions : DataFrame
        ``model, unit, truth`` (1 where Yes is right, else 0), ``probability`` (of yes, known), ``right`` (share of
        right answers; missing where there is none). Every row weighs the same.
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        One row per model, ``based_on`` (token probabilities, answers) and measure: ``auc``, ``even_threshold`` and
        ``even_accuracy`` (token probabilities only), ``acc_yes``, ``acc_no``, ``balanced_accuracy``,
        ``answer_bias``, ``competence_floor``; with interval, ``n`` questions, ``n_clusters`` and ``reason``.

    Notes
    -----
    With probabilities p of yes, ``acc_yes`` is the mean of p where Yes is right and ``acc_no`` that of 1 - p where No
    is: what answers drawn at temperature 1 would give on average. The area counts ties half. Its variance is that of
    the mean placements of both classes, summed by unit (CR2); with one question a unit this is DeLong's, else
    Obuchowski's up to the correction for few units. Limits are Wilson's at the effective number of questions.
    The limits of the even cut are those thresholds at which the interval of the bias still holds 0.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837-845.
    Obuchowski (1997), Biometrics 53:567-578 (clustered data).
    """
    check_level(ci_level)
    parts = []
    for model, rows in questions.groupby("model", sort=True, observed=True):
        unit, names = pd.factorize(rows["unit"], sort=True)
        truth, p = rows["truth"].to_numpy(float), rows["probability"].to_numpy(float)
        classes = _Classes(np.asarray(unit, dtype=np.int64), (truth == 0).astype(np.int64), len(names))
        found = [_area(classes, p, ci_level), *_even(classes, p, ci_level)]
        found += _class_rows(classes, np.where(truth == 1, p, 1 - p), UNBOUNDED, ci_level)
        known = rows["right"].notna().to_numpy()
        answered = _Classes(classes.unit[known], classes.cls[known], classes.units)
        table = [{"based_on": TOKENS} | row for row in found]
        right = rows["right"].to_numpy(float)[known]
        table += [{"based_on": ANSWERS} | row for row in _class_rows(answered, right, len(right), ci_level)]
        parts.append(pd.DataFrame(table).assign(model=str(model)))
    return pd.concat(parts, ignore_index=True).assign(ci_level=ci_level) if parts else pd.DataFrame()


def _area(classes: _Classes, p: Floats, ci_level: float) -> dict[str, object]:
    if len(np.unique(classes.cls)) < 2:
        return _row("auc", np.nan, np.nan, np.nan, "", classes, ONE_CLASS)
    # The area moves with the mean placement of either class: their sum has its variance, their mean its value.
    rates = clustered_rates(*classes.arrays(placements(p, classes.cls == 0)), _WEIGHTS[2:3], rows=[UNBOUNDED])
    found = rates.contrasts
    area = found.estimate
    n_eff = effective_n(
        area,
        4 * found.variance,
        rows=UNBOUNDED,
        design_units=found.design_units,
        few_deviate=rates.few_deviate,
    )
    low, high = score_limits(area, n_eff, student.ppf(0.5 + ci_level / 2, found.df))
    return _row("auc", area[0], low[0], high[0], RATE, classes, ONE_UNIT if found.single[0] else "")


def _class_rows(classes: _Classes, right: Floats, rows: float, ci_level: float) -> list[dict[str, object]]:
    """Accuracies of the classes, their mean, difference and minimum, from N shares of rightness worth ``rows``."""
    rates = clustered_rates(*classes.arrays(right), _WEIGHTS, rows=np.full(4, rows))
    low, high = rate_limits(rates, ci_level=ci_level)
    estimate, found = rates.contrasts.estimate, rates.contrasts
    bias = difference_limits(rates, 3, (0, 1), _WEIGHTS[3], ci_level=ci_level)
    floor = floor_limits(rates, (0, 1), ci_level=ci_level)
    reasons = np.select([found.empty, found.single], [ONE_CLASS, ONE_UNIT], "")
    names = ("acc_yes", "acc_no", "balanced_accuracy")
    table = [_row(name, estimate[q], low[q], high[q], RATE, classes, reasons[q]) for q, name in enumerate(names)]
    last = (classes, reasons[3])
    table.append(_row("answer_bias", estimate[3], float(bias[0]), float(bias[1]), DIFFERENCE, *last))
    table.append(_row("competence_floor", estimate[:2].min(), float(floor[0]), float(floor[1]), FLOOR, *last))
    return table


def _even(classes: _Classes, p: Floats, ci_level: float) -> list[dict[str, object]]:
    cut = even_cut(p, classes.cls == 0)
    if np.isnan(cut.threshold):
        names = ("even_threshold", "even_accuracy")
        return [_row(name, np.nan, np.nan, np.nan, "", classes, ONE_CLASS) for name in names]
    values = np.unique(p)
    tried = values[np.unique(np.linspace(0, len(values) - 1, GRID).round().astype(int))]
    rates, limits = _bias_at(classes, p, tried, ci_level)
    single = bool(rates.contrasts.single[..., 3].any())
    above, below = tried[limits[0] > 0], tried[limits[1] < 0]
    low = min(float(above.max()) if len(above) else 0.0, cut.low)
    high = max(float(below.min()) if len(below) else 1.0, cut.high)
    ends = (np.nan, np.nan) if single else (low, high)
    return [
        _row("even_threshold", cut.threshold, *ends, INVERTED, classes, ONE_UNIT if single else ""),
        _row("even_accuracy", cut.accuracy, np.nan, np.nan, "", classes, CHOSEN),
    ]


def _bias_at(
    classes: _Classes, p: Floats, tried: Floats, ci_level: float
) -> tuple[ClusteredRates, tuple[Floats, Floats]]:
    """Rates and limits of the bias (T,) when answers are cut at each threshold, scores at the cut counting half."""
    side = np.sign(p[None] - tried[:, None])
    yes = (side + 1) / 2
    n, y = classes.arrays(np.where(classes.cls == 0, yes, 1 - yes))
    rates = clustered_rates(np.broadcast_to(n, y.shape), y, _WEIGHTS)
    return rates, difference_limits(rates, 3, (0, 1), _WEIGHTS[3], ci_level=ci_level)


def _row(
    measure: str, estimate: float, low: float, high: float, method: str, classes: _Classes, reason: str
) -> dict[str, object]:
    known = bool(np.isfinite(low))
    return {
        "measure": measure,
        "estimate": float(estimate),
        "ci_low": float(low),
        "ci_high": float(high),
        "ci_method": method if known else "",
        "scale": "probability difference" if measure == "answer_bias" else "probability",
        "n": len(classes.cls),
        "n_clusters": len(np.unique(classes.unit)),
        "reason": str(reason),
    }
