"""Before and after by both schools: posterior contrasts of two fits beside paired tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.summaries import KERNELS, NOT_ASKED
from analysis.comparison.columns import draws_of, headline_rows, rows_of
from analysis.comparison.posterior_differences import posterior_differences
from analysis.measures.yes_no_bias import FOUR_CELLS

Floats = NDArray[np.float64]
#: Measures of which posterior contrasts are made, in order of printing.
CONTRASTED: Final = ("competence_floor", "balanced_accuracy", "answer_bias", "polarity_sensitivity")
#: What either school says of a difference.
HIGHER, LOWER, SAME, OPEN = "higher", "lower", "same", "open"
NOT_ESTIMATED, NOT_TESTED = "not estimated", "not tested"
AGREE, DIFFER, ONE_OPEN, NOT_COMPARED = "agree", "differ", "one is open", "not compared"
NUMBERS: Final = (
    *("before", "after", "estimate", "ci_low", "ci_high", "p_after_higher", "p_beyond"),
    *("mcse", "mcse_probability"),
)
PAIR: Final = ["before_model", "after_model", "measure"]


@dataclass(frozen=True, slots=True)
class _Side:
    """Draws (chains, draws, M, cells) behind the rows of one fit, its models; median and reason of every row."""

    accuracy: Floats
    models: tuple[str, ...]
    rows: Mapping[tuple[str, str], tuple[float, str]]

    @classmethod
    def of(cls, fit: AnswerBiasFit, target: str, uncertain: str) -> "_Side":
        likelihood, own = headline_rows(fit, target)
        table = rows_of(fit.table, own, uncertain, likelihood)
        names = zip(table["model"].astype(str), table["measure"].astype(str), strict=True)
        values = zip(table["estimate"].astype(float), table["reason"].astype(str), strict=True)
        return cls(*draws_of(fit, likelihood, own, uncertain), dict(zip(names, values, strict=True)))

    @property
    def four(self) -> bool:
        return self.accuracy.shape[-1] == len(FOUR_CELLS)

    def row(self, model: str, measure: str) -> tuple[float, str]:
        """Posterior median, or why there is none."""
        median, reason = self.rows.get((model, measure), (np.nan, NOT_ASKED))
        return (median, "") if np.isfinite(median) else (np.nan, reason or NOT_ASKED)

    def draws(self, keys: pd.DataFrame, column: str) -> Floats:
        """Draws (chains, draws, Q) of the measures of some models."""
        place = {model: at for at, model in enumerate(self.models)}
        asked = zip(keys[column], keys["measure"], strict=True)
        return np.stack([KERNELS[measure][0](self.accuracy[:, :, place[model]]) for model, measure in asked], axis=-1)


def posterior_contrasts(
    before: AnswerBiasFit,
    after: AnswerBiasFit,
    pairs: Sequence[tuple[str, str]],
    *,
    target: str,
    uncertain: str,
    rng: np.random.Generator,
    rope: float,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """After minus before of every pair of models and measure, from the draws of two fits.

    Parameters
    ----------
    before, after : AnswerBiasFit
        Of the same cells; both passed their gates.
    pairs : sequence of (model before, model after)
    target, uncertain : str
        Of the reports: they choose the rows of the fits.
    rng : numpy.random.Generator
    rope : float > 0
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``before_model, after_model, measure``; ``before, after`` (posterior medians), the columns of
        ``posterior_differences``, ``posterior_says`` (higher, lower, same, open, not estimated) and ``reason``,
        where a side has no such quantity.
    """
    sides = {"before": _Side.of(before, target, uncertain), "after": _Side.of(after, target, uncertain)}
    keys = pd.DataFrame([(*pair, measure) for pair in pairs for measure in CONTRASTED], columns=PAIR)
    four = sides["before"].four and sides["after"].four
    keys = keys[[four or not KERNELS[measure][2] for measure in keys["measure"]]].reset_index(drop=True)
    table = keys.assign(**dict.fromkeys(NUMBERS, np.nan), ci_level=ci_level, ci_method="eti")
    table = table.assign(rope_low=-rope, rope_high=rope, reason="")
    table = with_medians(table, {name: side.row for name, side in sides.items()})
    known = np.flatnonzero((table["reason"] == "").to_numpy())
    if len(known):
        draws = [side.draws(table.loc[known], f"{name}_model") for name, side in sides.items()]
        numbers = posterior_differences(*draws, rng=rng, rope=rope, ci_level=ci_level)
        table.loc[known, list(numbers.columns)] = numbers.set_axis(known, axis=0)
    return table.assign(posterior_says=[posterior_says(row) for row in table.to_dict("records")])


def with_medians(keys: pd.DataFrame, sides: Mapping[str, Callable[[str, str], tuple[float, str]]]) -> pd.DataFrame:
    """``before`` and ``after``, the medians of both sides, and ``reason`` where a side has none.

    Parameters
    ----------
    keys : DataFrame
        With the columns PAIR.
    sides : mapping of str to callable
        ``before`` and ``after``: median of a model and measure, or NaN and why.
    """
    table = keys.assign(reason="")
    for name, row in sides.items():
        found = [row(*asked) for asked in zip(keys[f"{name}_model"], keys["measure"], strict=True)]
        said = zip(table["reason"], found, strict=True)
        table[name] = [median for median, _ in found]
        table["reason"] = [old or (f"{name}: {why}" if why else "") for old, (_, why) in said]
    return table


def beside_tests(contrasts: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Posterior contrasts with what the paired tests say, and whether both agree.

    Parameters
    ----------
    contrasts : DataFrame
        Of ``posterior_contrasts``, with ``task``.
    tests : DataFrame
        ``task, before_model, after_model, measure`` and the columns of ``frequentist.with_verdicts``; may be empty.

    Returns
    -------
    DataFrame
        The contrasts with ``paired_estimate, paired_ci_low, paired_ci_high``, the adjusted p-values and
        ``verdict`` of the tests, ``paired_says``, ``paired_reason`` and ``agreement`` (agree, one is open, differ,
        not compared).
    """
    keep = {name: f"paired_{name}" for name in ("estimate", "ci_low", "ci_high", "ci_method", "reason")}
    same = ["p_adjusted", "equivalent_p_adjusted", "p_adjust_method", "family_size", "adjusted_bound"]
    same += ["equivalent_family_size", "n_clusters", "verdict"]
    other = tests.reindex(columns=["task", *PAIR, *keep, *same]).rename(columns=keep)
    found = contrasts.merge(other, on=["task", *PAIR], how="left", validate="one_to_one")
    found["verdict"] = found["verdict"].astype("object").where(found["verdict"].notna(), NOT_TESTED)
    found["paired_reason"] = found["paired_reason"].astype("object").where(found["paired_reason"].notna(), NOT_TESTED)
    found["paired_says"] = [_paired_says(row) for row in found.to_dict("records")]
    pairs = zip(found["posterior_says"], found["paired_says"], strict=True)
    return found.assign(agreement=[agreement(posterior, paired) for posterior, paired in pairs])


def agreement(posterior: str, paired: str) -> str:
    """Whether two statements about a difference agree."""
    if posterior == NOT_ESTIMATED or paired == NOT_TESTED:
        return NOT_COMPARED
    if posterior == paired:
        return AGREE
    return ONE_OPEN if OPEN in (posterior, paired) else DIFFER


def posterior_says(row: Mapping[Any, Any]) -> str:
    """Same within the margin where its probability exceeds the level; else the side on which the interval lies."""
    if row["reason"]:
        return NOT_ESTIMATED
    if 1 - row["p_beyond"] > row["ci_level"]:
        return SAME
    return HIGHER if row["ci_low"] > 0 else LOWER if row["ci_high"] < 0 else OPEN


def _paired_says(row: Mapping[Any, Any]) -> str:
    words = {"unchanged": SAME, "equivalent": SAME, "undecided": OPEN, NOT_TESTED: NOT_TESTED}
    if row["verdict"] in words:
        return words[row["verdict"]]
    return HIGHER if row["paired_estimate"] > 0 else LOWER
