"""All pairs of models on the items that they share: floors, balanced accuracy, bias, polarity sensitivity; ranks."""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.display import summary_html, summary_text
from analysis.errors import AnalysisError
from analysis.frequentist.equivalence import agreed_decision, equivalence_test
from analysis.frequentist.factor_levels import TreatedLevels
from analysis.frequentist.floor_difference import floor_differences
from analysis.frequentist.letters import compact_letters
from analysis.frequentist.linearised import unit_contrast_values
from analysis.frequentist.multiplicity import adjusted_bound
from analysis.frequentist.pairwise import pairwise_differences
from analysis.frequentist.rank_intervals import rank_intervals
from analysis.frequentist.unit_bootstrap import resampled_rates
from analysis.measures.competence import competence_floor
from analysis.measures.yes_no_bias import CONTRASTS, PAIR_WEIGHTS

Floats = NDArray[np.float64]
ROPE: Final = 0.02
FLOOR: Final = "competence_floor"
FLOOR_RANKED: Final = "only floors are ranked"


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison:
    """Comparison of M models.

    Attributes
    ----------
    pairs : DataFrame
        One row per measure and pair: ``model_a, model_b, estimate`` (a minus b), interval, tests adjusted by
        Holm over the pairs of a measure, effect sizes, equivalence within ``rope_low, rope_high``.
    models : DataFrame
        One row per measure and model: ``estimate``, ``letters`` (models that share one were not shown to
        differ), and for the floor its ``rank`` with limits.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     found = eh.compare_models(logs)
    >>> ranks = found.models[found.models["measure"] == "competence_floor"].set_index("model")["rank"]
    >>> int(ranks["simulated/even-hand"])
    1
    """

    pairs: pd.DataFrame
    models: pd.DataFrame

    def __repr__(self) -> str:
        """What was found, in short."""
        return summary_text(*self._shown())

    def _repr_html_(self) -> str:
        """The same for notebooks, with the first rows of the tables."""
        return summary_html(*self._shown())

    def _shown(self) -> tuple[str, tuple[str, ...], dict[str, pd.DataFrame]]:
        said = f"{self.models['model'].nunique()} models, pairs on the items that all answered"
        return "Comparison of models", (said,), {"models": self.models, "pairs": self.pairs}


def compare_models(
    data: TreatedLevels,
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    resamples: int = 10_000,
    ci_level: float = 0.95,
    rope: float = ROPE,
) -> ModelComparison:
    """Compare all pairs of models over the same units.

    Parameters
    ----------
    data : TreatedLevels
        Of one level, with four cells or two classes.
    rng : Generator
    rope : float > 0
        Differences within +- ``rope`` count as none.

    Raises
    ------
    AnalysisError
        The data have no cells, or several levels.

    Notes
    -----
    Floors are compared by the delta method at each model's worse class, since exchanging models within
    units tests more than equal floors; everything else by sign flips of units.
    """
    if data.n.shape[2] != 1 or data.arrays.cells == ("",):
        raise AnalysisError("models are compared on one level of all responses, with cells")
    n, y = data.n[:, :, 0], data.y[:, :, 0]
    classes, contrasts = compared_weights(data)
    parts = [floor_rows(n, y, classes, ci_level)]
    values = {name: unit_contrast_values(n, y, weights[None])[:, 0] for name, weights in contrasts.items()}
    parts += [flipped_rows(name, unit, rng, flips, ci_level) for name, unit in values.items()]
    pairs = pd.concat([with_equivalence(part, rope, 1 - ci_level) for part in parts], ignore_index=True)
    names = data.arrays.models
    for side in ("a", "b"):
        pairs.insert(1, f"model_{side}", [names[at] for at in pairs.pop(f"at_{side}")])
    models = _models(n, y, pairs, names, contrasts, classes, rng, resamples, ci_level)
    return ModelComparison(pairs.assign(ci_level=ci_level), models.assign(ci_level=ci_level))


def compared_weights(data: TreatedLevels) -> tuple[Floats, dict[str, Floats]]:
    """Rates whose minimum is the floor (C, K), and the contrasts by measure (K,), as weights of the cells."""
    if data.arrays.four:
        names = ("balanced_accuracy", "answer_bias", "polarity_sensitivity")
        return PAIR_WEIGHTS["yes_no"], dict(zip(names, CONTRASTS[:3], strict=True))
    return np.eye(2), {"balanced_accuracy": np.array([0.5, 0.5]), "answer_bias": np.array([1.0, -1.0])}


def floor_rows(n: Floats, y: Floats, classes: Floats, ci_level: float) -> pd.DataFrame:
    """One row per pair of models: difference of floors from trials and right answers (M, G, K)."""
    found = floor_differences(n, y, classes, ci_level=ci_level)
    return pd.DataFrame(
        {
            "measure": FLOOR,
            "at_a": found.pairs[:, 0],
            "at_b": found.pairs[:, 1],
            "estimate": found.estimate,
            "std_error": found.std_error,
            "df": found.df,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "ci_method": "cluster t at the worse class of each",
            "test": "delta t",
            "p_value": found.p_value,
            "p_adjusted": found.p_adjusted,
            "adjusted_bound": np.nan,
            "family_size": found.family_size,
            "n_clusters": found.n_clusters,
            "reason": found.reason,
        }
    )


def flipped_rows(measure: str, values: Floats, rng: np.random.Generator, flips: int, ci_level: float) -> pd.DataFrame:
    """One row per pair of models: difference of unit values (M, G), tested by sign flips of units."""
    found = pairwise_differences(values, rng=rng, flips=flips, ci_level=ci_level)
    resolution = np.where(found.at_floor, found.resolution, np.nan)
    return pd.DataFrame(
        {
            "measure": measure,
            "at_a": found.pairs[:, 0],
            "at_b": found.pairs[:, 1],
            "estimate": found.estimate,
            "std_error": found.std_error,
            "df": found.df,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "ci_method": found.ci_method,
            "test": "sign flips by unit",
            "p_value": found.p_value,
            "p_adjusted": found.p_adjusted,
            "adjusted_bound": adjusted_bound(found.p_value, found.p_adjusted, resolution),
            "family_size": found.family_size,
            "d_z": found.d_z,
            "d_av": found.d_av,
            "n_clusters": found.n_clusters,
            "reason": found.reason,
        }
    )


def with_equivalence(rows: pd.DataFrame, rope: float, alpha: float) -> pd.DataFrame:
    """The rows with two one-sided tests of each difference within +- ``rope``, and what interval and p agree on."""
    test = equivalence_test(rows["estimate"], rows["std_error"], rows["df"], rope=(-rope, rope), alpha=alpha)
    decision = agreed_decision(
        test.decision, ci_low=rows["ci_low"], ci_high=rows["ci_high"], p_adjusted=rows["p_adjusted"], rope=rope,
        alpha=alpha,
    )  # fmt: skip
    return rows.assign(
        p_adjust_method="holm", rope_low=-rope, rope_high=rope, p_equivalent=test.p_value, decision=decision
    )


def _models(
    n: Floats,
    y: Floats,
    pairs: pd.DataFrame,
    names: tuple[str, ...],
    contrasts: dict[str, Floats],
    classes: Floats,
    rng: np.random.Generator,
    resamples: int,
    ci_level: float,
) -> pd.DataFrame:
    total = n.sum(axis=1)
    rate = np.divide(y.sum(axis=1), total, out=np.full(total.shape, np.nan), where=total > 0)
    values = {FLOOR: competence_floor(rate)} | {name: rate @ weights for name, weights in contrasts.items()}
    ranks = rank_intervals(
        values[FLOOR], competence_floor(resampled_rates(n, y, rng=rng, resamples=resamples)), ci_level=ci_level
    )
    parts = []
    for measure, estimate in values.items():
        p = pairs.loc[pairs["measure"] == measure, "p_adjusted"].to_numpy(float)
        different = np.zeros((len(names), len(names)), dtype=bool)
        index = np.array(list(combinations(range(len(names)), 2)), dtype=np.int64).reshape(-1, 2)
        different[index[:, 0], index[:, 1]] = different[index[:, 1], index[:, 0]] = p <= 1 - ci_level
        rows = {"measure": measure, "model": list(names), "estimate": estimate}
        rows |= {"letters": list(compact_letters(different, estimate))}
        if measure == FLOOR:
            best, low, high = shown_ranks(estimate, different)
            rows |= {"rank": best, "rank_low": low, "rank_high": high}
            rows |= {"p_first": ranks.p_first, "reason": list(ranks.reason)}
        else:
            rows |= {"reason": FLOOR_RANKED}
        parts.append(pd.DataFrame(rows))
    return pd.concat(parts, ignore_index=True)


def shown_ranks(estimate: Floats, different: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Rank (M,) of each value, ties at the better rank, and the best and worst rank that the pairwise tests leave.

    Parameters
    ----------
    estimate : ndarray (M,)
        NaN: not ranked.
    different : ndarray (M, M) of bool
        Pairs that were shown to differ, adjusted over all pairs.

    Notes
    -----
    Best: one more than the models shown to be better; worst: the ranked models less those shown to be worse. Since
    the tests are adjusted over all pairs the limits hold for all models together, and fit the letters. Percentiles
    of resampled minima do not: the bootstrap of a minimum is off where its parts tie.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91:476-518, doi:10.1093/restud/rdad006.
    """
    ranked = ~np.isnan(estimate)
    higher = (estimate[None, :] > estimate[:, None]) & ranked[None, :]
    lower = (estimate[None, :] < estimate[:, None]) & ranked[None, :]
    columns = (
        1 + higher.sum(axis=1),
        1 + (different & higher).sum(axis=1),
        ranked.sum() - (different & lower).sum(axis=1),
    )
    best, low, high = (np.where(ranked, column.astype(float), np.nan) for column in columns)
    return best, low, high
