"""The fit of the endorsement model: recovery, gates and retry, kept fits, undefined results."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.belief_bias import fit_belief_bias
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_result import NEW_MODEL, BeliefBiasFit
from analysis.bayes.quadrature import mean_logistic
from analysis.bayes.sampling import SamplerSettings
from analysis.errors import AnalysisError
from analysis.measures.belief import BELIEF_CELLS, belief_bias
from analysis.simulation.syllogisms import SimulatedSyllogisms, Syllogisms, simulate_syllogisms
from tests.bayes.endorsement_counts import CONDITIONS, small_counts, syllogism_counts

PAIRS = {"strategy": (("zero_shot", "few_shot"),)}
SETTINGS = Syllogisms(
    models=4, base_items=16, strategies=("zero_shot", "few_shot"), temperatures=("0.0", "1.0"), votes=4, unanimous=4,
    strategy_lean=(0.0, 0.3), strategy_discrimination=(0.0, -0.5), strategy_sd=0.2,
)  # fmt: skip
QUICK = SamplerSettings(chains=2, draws=60, tune=100, cores=1, fast=True)


@pytest.fixture(scope="module")
def simulated() -> SimulatedSyllogisms:
    return simulate_syllogisms(np.random.default_rng(11), SETTINGS)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fits")


@pytest.fixture(scope="module")
def fit(simulated: SimulatedSyllogisms, cache: Path) -> BeliefBiasFit:
    counts = syllogism_counts(simulated)
    last = simulated.models[-1].name
    counts = counts[~((counts["model"] == last) & (counts["strategy"] == "few_shot"))]
    return fit_belief_bias(counts, conditions=CONDITIONS, pairs=PAIRS, task="syllogisms", seed=5, cache=cache)


def population_cells(coefficients: dict[str, float]) -> np.ndarray:
    """Accuracies of the four cells over new items, at the mean effect of the two strategies."""
    lean, discrimination = coefficients["lean"] + 0.15, coefficients["discrimination"] - 0.25
    v, u = np.array([1, 1, -1, -1]), np.array([1, -1, 1, -1])
    eta = lean + discrimination * v + coefficients["belief"] * u + coefficients["belief_discrimination"] * v * u
    variance = SETTINGS.item_sd**2 + SETTINGS.model_item_sd**2 + SETTINGS.version_sd**2
    rate = mean_logistic(eta[None], np.array([variance]))[0]
    return np.where(v > 0, rate, 1 - rate)


def test_truth_is_recovered(fit: BeliefBiasFit, simulated: SimulatedSyllogisms) -> None:
    """Catches a swapped cell, sign or model: within 3.5 posterior sds of what is true of new items."""
    assert fit.status == "ok", fit.reason
    rows = fit.table.set_index(["model", "measure"])
    far = []
    for model, truth in simulated.truth.items():
        cells = population_cells(truth["coefficients"])
        named = {f"acc_{name.lower()}": value for name, value in zip(BELIEF_CELLS, cells, strict=True)}
        named |= {"belief_bias": belief_bias(cells), "consistency_all": truth["votes"]["consistency_all"]}
        for measure, value in named.items():
            row = rows.loc[model, measure]
            assert abs(row["estimate"] - value) < 3.5 * row["posterior_sd"] + 0.005, (model, measure)
            far.append(abs(row["estimate"] - value) / row["posterior_sd"])
    assert np.mean(far) < 1.5


def test_identities_hold_in_every_draw(fit: BeliefBiasFit) -> None:
    """Catches measures computed from different cells."""
    d = fit.draws
    np.testing.assert_allclose(d["congruent"] - d["incongruent"], d["belief_bias"], atol=1e-12)
    np.testing.assert_allclose((d["acc_vb"] + d["acc_iu"]) / 2, d["congruent"], atol=1e-12)
    difference = d["acc_vb"] + d["acc_ib"] - d["acc_vu"] - d["acc_iu"]
    np.testing.assert_allclose(d["discrimination_difference"], difference, atol=1e-12)


def test_belief_is_told_from_questions_that_have_it(simulated: SimulatedSyllogisms) -> None:
    """Catches effects of base items taken from nonsense versions: these must change no measure of belief."""
    counts = syllogism_counts(simulated)
    nonsense = counts["believability"] == ""
    changed = counts.assign(k=counts["k"].mask(nonsense, counts["n"]))
    one, two = (fit_belief_bias(c, conditions=CONDITIONS, settings=QUICK) for c in (counts, changed))
    np.testing.assert_array_equal(one.draws["belief_bias"], two.draws["belief_bias"])
    assert not np.array_equal(one.draws["accuracy"], two.draws["accuracy"])
    assert any("believability alone" in sentence for sentence in one.sentences)


def test_levels_are_compared_where_both_were_asked(fit: BeliefBiasFit, simulated: SimulatedSyllogisms) -> None:
    """Catches a contrast of a model that lacks a level, and one with the wrong sign."""
    rows = fit.contrasts.set_index("model")
    models = list(simulated.truth)
    assert rows.loc[models[-1], "reason"] == "no question that this model answered under both levels"
    assert np.isnan(rows.loc[models[-1], "estimate"])
    for model in models[:-1]:
        truth = simulated.truth[model]["strategies"]
        row = rows.loc[model]
        assert abs(row["estimate"] - (truth["zero_shot"] - truth["few_shot"])) < 4 * row["posterior_sd"] + 0.02


def test_a_contrast_of_a_new_model_is_around_the_mean_and_less_certain(fit: BeliefBiasFit) -> None:
    """Catches a contrast of levels for other models that is one of these, or has the certainty of those asked."""
    rows = fit.contrasts.set_index("model")
    new, asked = rows.loc[NEW_MODEL], rows.drop(NEW_MODEL).dropna(subset=["estimate"])
    assert new["target"] == "new_models"
    assert asked["estimate"].min() - 0.05 < new["estimate"] < asked["estimate"].max() + 0.05
    assert new["ci_high"] - new["ci_low"] > (asked["ci_high"] - asked["ci_low"]).max()
    assert new["ci_low"] < asked["estimate"].mean() < new["ci_high"]


def test_a_new_model_is_less_certain(fit: BeliefBiasFit) -> None:
    """Catches a prediction for a new model with the certainty of one that was asked."""
    rows = fit.table[fit.table["measure"] == "belief_bias"].set_index("model")
    width = rows["ci_high"] - rows["ci_low"]
    assert rows.loc[NEW_MODEL, "target"] == "new_models"
    assert width[NEW_MODEL] > 1.5 * width.drop(NEW_MODEL).max()


def test_every_reported_row_passed_the_gates_or_has_a_reason(fit: BeliefBiasFit) -> None:
    """Catches a number without diagnostics, NaN without a reason, and infinity."""
    for table in (fit.table, fit.contrasts):
        undefined = table["estimate"].isna()
        assert (table.loc[undefined, "reason"] != "").all()
        known = table[~undefined]
        assert (known["r_hat"] < 1.01).all()
        assert (known["ess_bulk"] > 400).all()
        assert not np.isinf(table.select_dtypes("number").to_numpy(float)).any()
    assert fit.gates["passed"].all()
    assert set(fit.gates["name"]) >= {"divergences", "BFMI", "R-hat", "bulk ESS", "MCSE of a probability"}


def test_fitted_questions_add_up_to_the_counts(fit: BeliefBiasFit, simulated: SimulatedSyllogisms) -> None:
    """Catches rows lost, and fitted rates of another question."""
    rows = fit.augment
    assert rows["n"].sum() == fit.glance["n"]
    assert rows["fitted"].between(0, 1).all()
    assert np.corrcoef(rows["observed"], rows["fitted"])[0, 1] > 0.95
    assert np.abs(rows["residual"]).mean() < 1
    assert (fit.predictive["tail"] > 0).all()
    assert set(fit.predictive["check"]) == {"share of Yes", "share of unanimous votes", "sd over questions"}


def test_fit_is_kept_and_read_again(fit: BeliefBiasFit, cache: Path, simulated: SimulatedSyllogisms) -> None:
    """Catches a key that depends on the order of rows, and tables or draws that change on disk."""
    counts = syllogism_counts(simulated)
    last = simulated.models[-1].name
    counts = counts[~((counts["model"] == last) & (counts["strategy"] == "few_shot"))]
    said: list[str] = []
    again = fit_belief_bias(
        counts.sample(frac=1, random_state=1), conditions=CONDITIONS, pairs=PAIRS, task="syllogisms", seed=5,
        cache=cache, progress=said.append,
    )  # fmt: skip
    assert said == ["the fit of the endorsement model is kept from an earlier run"]
    pd.testing.assert_frame_equal(again.table, fit.table)
    for name, values in fit.draws.items():
        np.testing.assert_array_equal(again.draws[name], values)


def test_seed_data_and_priors_change_the_kept_fit_and_a_damaged_one_is_made_again(tmp_path: Path) -> None:
    """Catches a key without the seed, the priors or a count, and a kept file that was changed and is believed."""
    counts = small_counts(np.random.default_rng(1))
    common = {"conditions": ("strategy",), "settings": QUICK, "cache": tmp_path}
    fit_belief_bias(counts, **common)
    fit_belief_bias(counts, seed=1, **common)
    fit_belief_bias(counts, priors=BeliefPriors(item_sd=1.0), **common)
    fit_belief_bias(counts.assign(k=0), **common)
    assert len(list(tmp_path.iterdir())) == 4
    for path in tmp_path.rglob("table.parquet"):
        path.write_bytes(path.read_bytes() + b"x")
    said: list[str] = []
    fit_belief_bias(counts, progress=said.append, **common)
    assert any("is made again" in sentence for sentence in said)


def test_same_seed_same_draws_on_any_number_of_cores() -> None:
    """Catches draws that depend on threads."""
    counts = small_counts(np.random.default_rng(2))
    one, two = (
        fit_belief_bias(counts, conditions=("strategy",), settings=replace(QUICK, cores=cores), seed=3)
        for cores in (1, 2)
    )
    np.testing.assert_array_equal(one.draws["belief_bias"], two.draws["belief_bias"])


def test_a_failed_gate_is_tried_once_more_and_then_said() -> None:
    """Catches a fit shown although a gate failed, and endless retries; a quick look is not repeated."""
    counts, said = small_counts(np.random.default_rng(3), models=2), []
    settings = replace(QUICK, fast=False)
    failed = fit_belief_bias(counts, conditions=("strategy",), settings=settings, progress=said.append)
    assert sum("sampling once more" in sentence for sentence in said) == 2  # once for either fit
    assert failed.status == "failed"
    assert "ESS" in failed.reason or "MCSE" in failed.reason
    said.clear()
    fit_belief_bias(counts, conditions=("strategy",), settings=QUICK, progress=said.append)
    assert not any("once more" in sentence for sentence in said)


@pytest.mark.parametrize(
    "changed", [{"models": 1}, {"versions": ("N",)}, {"strategies": ("a",), "votes": 1, "versions": ("N",)}]
)
def test_smaller_designs_are_fitted_by_rule(changed: dict[str, object]) -> None:
    """Catches a crash of a sub-model: one model, no versions, nothing repeated."""
    counts = small_counts(np.random.default_rng(4), units=12, **changed)
    if changed.get("versions") == ("N",):
        believed = np.where(np.arange(len(counts)) % 3 == 0, "believable", "unbelievable")
        counts = counts.assign(believability=pd.Series(believed).groupby(counts["item"]).transform("first"))
    found = fit_belief_bias(counts, conditions=("strategy",), settings=QUICK)
    rows = found.table[found.table["measure"] == "accuracy"]
    assert rows["estimate"].between(0, 1).all()
    assert (NEW_MODEL in set(rows["model"])) == (changed.get("models") != 1)
    assert ("consistency_all" in set(found.table["measure"])) == (changed.get("versions") is None)


def test_an_unknown_level_is_one_clear_error() -> None:
    """Catches a traceback for a level that nobody was asked under."""
    with pytest.raises(AnalysisError, match="strategy has no level 'c'"):
        fit_belief_bias(
            small_counts(np.random.default_rng(1)), conditions=("strategy",), pairs={"strategy": (("a", "c"),)}
        )
