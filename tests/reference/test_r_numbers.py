"""Our results beside those of R on the same tables; see README.md for how the numbers of R are made."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.clustered import clustered_contrasts
from analysis.frequentist.equivalence import equivalence_test
from analysis.frequentist.friedman import friedman_test, nemenyi_test
from analysis.frequentist.homogeneity import homogeneity
from analysis.frequentist.level_wald import cochran_q, hotelling, welch
from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.multiplicity import benjamini_hochberg, bonferroni, holm
from analysis.frequentist.paired_intervals import odds_ratio, paired_difference
from analysis.frequentist.proportion import wilson_interval
from analysis.frequentist.rank_correlation import correlation
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.signed_ranks import signed_rank_test
from analysis.frequentist.studentised_range import range_probability, range_quantile
from analysis.frequentist.unit_bootstrap import bootstrap_t, percentile_limits, resampled_sums
from analysis.simulation.truth import mean_expit

HERE = Path(__file__).parent
#: Relative distance at which two programs that compute one number agree.
EXACT = 1e-9
DRAWS = 100_000


class Numbers:
    """The numbers of R by test and quantity."""

    def __init__(self) -> None:
        self.table = pd.read_csv(HERE / "r_numbers.csv").set_index(["test", "quantity"])

    def value(self, test: str, quantity: str, kind: str) -> float:
        row = self.table.loc[(test, quantity)]
        assert row["kind"] == kind, f"{test}, {quantity} is {row['kind']}"
        return float(row["value"])

    def agree(self, test: str, **found: float) -> None:
        for quantity, value in found.items():
            assert value == pytest.approx(self.value(test, quantity, "exact"), rel=EXACT, abs=1e-12), quantity

    def near(self, test: str, quantity: str, value: float, error: float, *, kind: str = "simulated") -> None:
        """Within 4 standard errors of both simulations."""
        theirs = self.value(test, quantity, kind)
        both = float(np.hypot(self.table.loc[(test, quantity), "error"], error))
        assert abs(value - theirs) <= 4 * both, f"{quantity}: {value} for {theirs} ± {both}"


@pytest.fixture(scope="module")
def r() -> Numbers:
    return Numbers()


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(HERE / "inputs" / f"{name}.csv")


def drawn(p: float) -> float:
    """Monte-Carlo standard error of a p-value of ours."""
    return float(np.sqrt(p * (1 - p) / DRAWS))


def by_unit(rows: pd.DataFrame, column: str, cells: str) -> np.ndarray:
    """Sums (units, cells) of a column."""
    return rows.pivot_table(index="unit", columns=cells, values=column, aggfunc="sum", fill_value=0).to_numpy(float)


def test_inputs_are_those_of_their_script(tmp_path: Path) -> None:
    """Catches tables changed by hand, or a script changed after R had read its tables."""
    script = (HERE / "make_inputs.py").read_text(encoding="utf-8")
    (tmp_path / "make_inputs.py").write_text(script, encoding="utf-8")
    subprocess.run([sys.executable, str(tmp_path / "make_inputs.py")], check=True)
    written = {path.name: path.read_bytes() for path in (tmp_path / "inputs").iterdir()}
    assert written == {path.name: path.read_bytes() for path in (HERE / "inputs").iterdir()}


def test_mcnemar(r: Numbers) -> None:
    """Catches a mid-p that keeps the whole probability of the observed table, and a one-sided exact p."""
    pairs = table("pairs")
    b = int(((pairs["first"] == 1) & (pairs["second"] == 0)).sum())
    c = int(((pairs["first"] == 0) & (pairs["second"] == 1)).sum())
    found = mcnemar(b, c)
    names = ("statistic", "statistic_corrected", "p_exact", "p_mid", "p_chi2", "p_corrected")
    r.agree("mcnemar", **{name: float(getattr(found, name)) for name in names})
    ratio = odds_ratio(b, c, method="exact")
    r.agree("odds ratio", ci_low=ratio.ci_low, ci_high=ratio.ci_high)
    low, high = wilson_interval(pairs["first"].sum(), len(pairs))
    r.agree("wilson", ci_low=float(low), ci_high=float(high))


def test_cochran_q(r: Numbers) -> None:
    """Catches a Q that counts units without discordance, and permutations across units."""
    answers = table("answers").pivot(index="unit", columns="level", values="right").to_numpy(float)
    found = cochran_q(answers)
    r.agree("cochran q", statistic=found.statistic, p_value=found.p_value)
    permuted = homogeneity(answers, rng=np.random.default_rng(1), permutations=DRAWS)
    assert float(permuted.q) == pytest.approx(found.statistic, rel=EXACT)
    r.near("cochran q", "p_permutation", float(permuted.p_q), drawn(float(permuted.p_q)))


def test_levels_of_one_factor(r: Numbers) -> None:
    """Catches labels permuted over all rows where they belong within units, or the reverse."""
    blocks = table("blocks")[["a", "b", "c"]].to_numpy(float)
    within = homogeneity(blocks, rng=np.random.default_rng(2), permutations=DRAWS)
    r.near("levels within units", "p_q", float(within.p_q), drawn(float(within.p_q)))
    joint = hotelling(blocks)
    r.agree("hotelling", statistic=joint.statistic, df=joint.df, df_error=joint.df_error, p_value=joint.p_value)
    groups = table("groups")
    unequal = welch(groups["value"], groups["level"])
    r.agree("welch", statistic=unequal.statistic, df_error=unequal.df_error, p_value=unequal.p_value)
    apart = np.full((len(groups), 3), np.nan)
    apart[np.arange(len(groups)), groups["level"] - 1] = groups["value"]
    between = homogeneity(apart, rng=np.random.default_rng(3), permutations=DRAWS)
    r.near("levels between units", "p_q", float(between.p_q), drawn(float(between.p_q)))


def test_friedman_and_nemenyi(r: Numbers) -> None:
    """Catches ties left uncorrected, and a studentised range with the wrong scale (a factor of the root of 2)."""
    values = table("conditions")[["a", "b", "c"]].to_numpy(float)
    found = friedman_test(values, rng=np.random.default_rng(4), permutations=DRAWS)
    r.agree("friedman", statistic=found.statistic, p_chi2=found.p_chi2)
    r.near("friedman", "p_value", found.p_value, 0.0 if found.p_method == "exact" else drawn(found.p_value))
    pairs = nemenyi_test(found.mean_ranks, found.n_clusters)
    r.agree(
        "nemenyi",
        **{f"{i + 1}-{j + 1}": float(p) for (i, j), p in zip(pairs.pairs, pairs.p_adjusted, strict=True)},
    )
    r.near("nemenyi", "critical_difference", pairs.critical_difference, 0.0, kind="rounded")


@pytest.mark.parametrize("k", [2, 3, 5, 11, 29])
def test_studentised_range(r: Numbers, k: int) -> None:
    """Catches an integration too coarse in either tail."""
    r.near("studentised range", f"P(W <= 3), k = {k}", float(range_probability(3.0, k)), 0.0, kind="rounded")
    r.near("studentised range", f"95 %, k = {k}", range_quantile(0.95, k), 0.0, kind="rounded")


def test_differences(r: Numbers) -> None:
    """Catches zeros that are ranked, ties broken by order, and sign flips that count one tail."""
    d = table("differences")["d"].to_numpy(float)
    ranked = signed_rank_test(d)
    assert ranked.exact
    assert ranked.n_zero > 0
    assert ranked.n_tied > 0
    r.agree("signed ranks", p_value=ranked.p_value, statistic=ranked.statistic)
    flipped = sign_flip_test(d, rng=np.random.default_rng(5))
    assert flipped.exact
    r.agree("sign flips", p_value=float(flipped.p_value))


def test_equivalence(r: Numbers) -> None:
    """Catches the smaller of the two one-sided p-values, and limits at 1 - alpha."""
    d = table("differences")["d"].to_numpy(float) / 100
    error = d.std(ddof=1) / np.sqrt(len(d))
    found = equivalence_test(d.mean(), error, len(d) - 1, rope=(-0.03, 0.03))
    r.agree("t", p_value=float(found.p_zero))
    r.agree("tost", p_value=float(found.p_value), ci_low=float(found.ci_low), ci_high=float(found.ci_high))


CONTRASTS = np.array([[1, -1, -1, 1], [1, -1, 1, -1], [0.5, 0.5, 0.5, 0.5]]) / 2


def test_clustered_rates(r: Numbers) -> None:
    """Catches a correction for few units that is not CR2, and degrees of freedom that take units as equal."""
    rows = table("rows").assign(n=1)
    n, y = by_unit(rows, "n", "cell"), by_unit(rows, "right", "cell")
    cells = clustered_contrasts(n, y, np.eye(4))
    r.agree("clustered rates", **{f"rate {i + 1}": cells.estimate[i] for i in range(4)})
    upper = [(i, j) for i in range(4) for j in range(i, 4)]
    r.agree("clustered rates", **{f"CR2 {i + 1}{j + 1}": cells.covariance[i, j] for i, j in upper})
    found = clustered_contrasts(n, y, CONTRASTS)
    for k, name in enumerate(("bias", "polarity", "accuracy")):
        r.agree("clustered rates", **{f"{name} std_error": np.sqrt(found.variance[k]), f"{name} df": found.df[k]})


def test_robust_errors_of_generalised_estimating_equations(r: Numbers) -> None:
    """The sandwich of GEE has no correction for few units: the same values, each unit's product undone.

    Catches residuals that are not summed within units, and a scale of probabilities taken for log-odds.
    """
    rows = table("rows").assign(n=1)
    n, y = by_unit(rows, "n", "cell"), by_unit(rows, "right", "cell")
    share = n / n.sum(axis=0)
    off = (y - n * y.sum(axis=0) / n.sum(axis=0)) / n.sum(axis=0)
    sandwich = off.T @ off
    ours = clustered_contrasts(n, y, np.eye(4)).covariance
    for i in range(4):
        for j in range(i, 4):
            theirs = r.value("clustered rates", f"CR0 {i + 1}{j + 1}", "exact")
            assert sandwich[i, j] == pytest.approx(theirs, rel=1e-6, abs=1e-9)
    ratio = np.diagonal(ours) / np.diagonal(sandwich)
    assert (ratio > 1).all()
    assert (ratio < 1 / (1 - share.max(axis=0))).all()


def test_random_intercept_implies_the_rates_of_the_cells(r: Numbers) -> None:
    """A conditional model, averaged over units, gives nearly the marginal rates: loosely, within 1.5 standard errors.

    Catches log-odds of a typical unit taken for those of the mean (attenuated), and cells out of order.
    """
    rows = table("rows").assign(n=1)
    cells = clustered_contrasts(by_unit(rows, "n", "cell"), by_unit(rows, "right", "cell"), np.eye(4))
    sd = r.value("random intercept", "sd", "loose")
    log_odds = np.array([r.value("random intercept", f"log odds {i + 1}", "loose") for i in range(4)])
    apart = (mean_expit(log_odds, sd) - cells.estimate) / np.sqrt(cells.variance)
    assert np.abs(apart).max() < 1.5
    assert np.abs(mean_expit(log_odds[::-1], sd) - cells.estimate).max() > 0.1


def test_paired_difference(r: Numbers) -> None:
    """Catches pairs taken as independent, and degrees of freedom of units - 1 for units of unequal size."""
    matched = table("matched").assign(n=1).groupby("unit").sum()
    found = paired_difference(matched["n"], matched["first"], matched["second"])
    names = ("estimate", "std_error", "df", "p_value")
    r.agree("paired difference", **{name: float(getattr(found, name)) for name in names})


def test_unit_bootstrap(r: Numbers) -> None:
    """Catches rows resampled in place of units, and studentised limits with their ends exchanged."""
    matched = table("matched").assign(n=1).groupby("unit").sum()
    change = (matched["first"] - matched["second"]).to_numpy(float)
    size = matched["n"].to_numpy(float)
    sums = resampled_sums(np.column_stack([change, size]), rng=np.random.default_rng(6), resamples=DRAWS)
    limits = percentile_limits(sums[:, 0] / sums[:, 1])
    studentised = bootstrap_t(change, sizes=size, rng=np.random.default_rng(7), resamples=DRAWS)
    for end, value in zip(("ci_low", "ci_high"), limits, strict=True):
        error = float(r.table.loc[("bootstrap", f"percentile {end}"), "error"]) * np.sqrt(2)
        r.near("bootstrap", f"percentile {end}", float(value), error)
        assert float(value) == pytest.approx(r.value("bootstrap", f"BCa {end}", "loose"), abs=studentised.std_error / 4)
    for end in ("ci_low", "ci_high"):
        error = float(r.table.loc[("bootstrap", f"studentised {end}"), "error"]) * np.sqrt(2)
        r.near("bootstrap", f"studentised {end}", float(getattr(studentised, end)), error)


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_correlations(r: Numbers, kind: str) -> None:
    """Catches one-sided p-values, and orders enumerated of both sides."""
    models = table("models")
    found = correlation(models["x"], models["y"], kind=kind, rng=np.random.default_rng(8))
    assert found.p_method == "exact"
    r.agree(f"correlation {kind}", estimate=found.estimate)
    if kind == "pearson":
        r.agree("correlation pearson", ci_low=found.ci_low, ci_high=found.ci_high)
        r.near("correlation pearson", "p_value", found.p_value, 0.0)
    else:
        r.agree(f"correlation {kind}", p_value=found.p_value)


def test_correlations_with_ties(r: Numbers) -> None:
    """Catches tau-a for tau-b, and ranks of ties by order."""
    models = table("models")
    tau = correlation(models["x"], models["z"], kind="kendall", rng=np.random.default_rng(9))
    rho = correlation(models["x"], models["z"], kind="spearman", rng=np.random.default_rng(9))
    assert rho.n_tied > 0
    r.agree("correlation kendall, ties", estimate=tau.estimate)
    r.agree("correlation spearman, ties", estimate=rho.estimate)
    r.near("correlation spearman, ties", "p_value", rho.p_value, 0.0)


@pytest.mark.parametrize(("name", "adjust"), [("holm", holm), ("bonferroni", bonferroni), ("BH", benjamini_hochberg)])
def test_adjustments(r: Numbers, name: str, adjust: object) -> None:
    """Catches an adjustment that does not keep the order of p-values, or exceeds 1."""
    p = table("p_values")["p"].to_numpy(float)
    found = adjust(p)  # type: ignore[operator]
    r.agree(f"adjusted by {name}", **{str(i + 1): float(value) for i, value in enumerate(found)})
