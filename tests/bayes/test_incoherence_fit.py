"""The whole fit: recovery, identical results from shuffled rows and from the cache, set-aside rows, failed gates."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.gates import Gate
from analysis.bayes.incoherence import IncoherenceFit, fit_incoherence
from analysis.bayes.incoherence_attempt import judged_rows, longer_settings
from analysis.bayes.incoherence_contrasts import contrast_table
from analysis.bayes.incoherence_data import checked_instances, model_instances
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_sampling import incoherence_settings
from analysis.errors import AnalysisError
from tests.bayes.incoherence_tables import paired_names, residual_table

UNIT, IDENTITY = paired_names(22, 8)
SIZE = len(UNIT)
LEAN, NOISE = 0.5, 0.3


def simulated_instances() -> pd.DataFrame:
    """Models: no incoherence; a lean of .5; one with two wordings fewer units; one with three instances."""
    rng = np.random.default_rng(21)
    tables = []
    for model, lean in (("coherent", 0.0), ("leaning", LEAN)):
        residuals = lean + NOISE * rng.standard_normal((SIZE, 4))
        tables.append(residual_table(residuals, model=model, unit=UNIT, identity=IDENTITY))
    tiny = residual_table(rng.standard_normal((3, 3)), model="tiny")
    table = pd.concat([*tables, tiny], ignore_index=True)
    single = (table["model"] == "leaning") & (table["unit"] == "s07")
    table.loc[single, ["k", "ss"]] = [1, 0.0]
    table["item_family"] = np.where(table["unit"].str.startswith("p"), "pairs", "singles")
    table["level"] = np.where(table["unit"] == "s01", 2.0, 1.0)
    return table


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fits")


@pytest.fixture(scope="module")
def fit(cache: Path) -> IncoherenceFit:
    return fit_incoherence(simulated_instances(), seed=5, cache=cache)


def row(fit: IncoherenceFit, model: str, measure: str, *, variant: str = "SSL", target: str = "these") -> pd.Series:
    table = fit.table
    whole = (table["item_family"] == "") & (table["level"] == "") & (table["variant"] == variant)
    found = table[whole & (table["model"] == model) & (table["measure"] == measure) & (table["target"] == target)]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("variant", ["SSL", "N"])
def test_truth_is_recovered(fit: IncoherenceFit, variant: str) -> None:
    """Catches noise counted as persistent, a lean of the wrong sign, or a decision against the truth."""
    assert fit.status == "ok", fit.reason
    leaning = {name: row(fit, "leaning", name, variant=variant) for name in ("persistent", "noise", "direction")}
    assert leaning["persistent"]["ci_low"] < LEAN < leaning["persistent"]["ci_high"]
    assert leaning["noise"]["estimate"] == pytest.approx(NOISE, abs=0.04)
    assert leaning["direction"]["estimate"] == pytest.approx(LEAN, abs=0.06)
    assert leaning["direction"]["p_direction"] > 0.99
    assert leaning["persistent"]["decision"] == "above"
    assert leaning["persistent"]["bayes_factor_bound"] == "at least"
    coherent = row(fit, "coherent", "persistent", variant=variant)
    assert coherent["p_present"] < 0.5
    assert coherent["bayes_factor"] < 1
    assert coherent["hdi_low"] < 0.03
    assert coherent["upper_bound"] <= coherent["ci_high"]


def test_contrast_is_over_shared_instances(fit: IncoherenceFit) -> None:
    """Catches a contrast of different instances, or one with the sign turned."""
    found = fit.contrasts.set_index(["model_a", "model_b", "measure"]).loc[("coherent", "leaning", "persistent")]
    assert found["n"] == SIZE - 1
    assert found["n_dropped"] == 1
    assert found["estimate"] < -0.3
    assert found["decision"] == "difference"
    assert set(fit.contrasts["model"]) == {"coherent - leaning"}


def test_rows_in_are_rows_used_and_set_aside(fit: IncoherenceFit) -> None:
    """Catches instances that vanish, or that stay without saying why they were not used."""
    given = simulated_instances()
    assert len(fit.augment) == len(given)
    aside = fit.augment[fit.augment["reason"] != ""]
    assert aside["model"].value_counts().to_dict() == {"tiny": 3, "leaning": 1}
    assert row(fit, "leaning", "persistent")["n"] == SIZE - 1
    tiny = fit.table[fit.table["model"] == "tiny"]
    assert (tiny["reason"].str.contains("fewer than")).all()
    assert tiny["estimate"].isna().all()


def test_subgroups_and_small_ones(fit: IncoherenceFit) -> None:
    """Catches a subgroup fitted to all instances, and a subgroup of one instance without a reason."""
    table = fit.table[(fit.table["model"] == "coherent") & (fit.table["measure"] == "persistent")]
    families = table[table["item_family"] != ""].set_index("item_family")
    assert families.loc["pairs", "n"] == 44
    assert families.loc["singles", "n"] == 8
    levels = table[table["level"] != ""].set_index("level")
    assert "fewer than" in levels.loc["2.0", "reason"]


def test_undefined_rows_carry_a_reason_and_no_number_is_infinite(fit: IncoherenceFit) -> None:
    """Catches NaN or infinity that reaches a reader unexplained."""
    for table in (fit.table, fit.contrasts):
        undefined = table["estimate"].isna()
        assert (table.loc[undefined, "reason"] != "").all()
        numbers = table.select_dtypes("number")
        assert not np.isinf(numbers.to_numpy(float)).any()
    known = fit.table[fit.table["estimate"].notna()]
    assert known[["ci_low", "ci_high", "posterior_sd"]].notna().all().all()


def test_fit_is_kept_and_read_again(fit: IncoherenceFit, cache: Path) -> None:
    """Catches a key without the data or the seed, and tables or draws that change on disk."""
    said: list[str] = []
    again = fit_incoherence(
        simulated_instances().sample(frac=1, random_state=1), seed=5, cache=cache, progress=said.append
    )
    assert said == ["the fit of incoherence is kept from an earlier run"]
    pd.testing.assert_frame_equal(again.table, fit.table, check_dtype=False)
    for name, values in fit.draws.items():
        np.testing.assert_array_equal(again.draws[name], values)
    assert len(list(cache.iterdir())) == 1


def test_predictive_checks_and_sensitivity_are_complete(fit: IncoherenceFit) -> None:
    """Catches a check or a refit that silently falls away."""
    assert fit.predictive.groupby(["variant", "model"]).size().eq(5).all()
    inside = fit.predictive.dropna(subset=["expected"])
    assert (inside["tail"] > 0.001).all()
    assert fit.refits.groupby("model")["prior"].nunique().eq(3).all()
    assert set(fit.sensitivity["model"]) == {"coherent", "leaning"}
    assert fit.sensitivity[["prior_sensitivity", "likelihood_sensitivity"]].notna().all().all()
    assert any("prior probability" in sentence for sentence in fit.sentences)


def test_nothing_to_fit_is_a_result(tmp_path: Path) -> None:
    """One wording throughout: catches a crash, or an estimate of what cannot be known."""
    table = simulated_instances().assign(k=1, ss=0.0)
    found = fit_incoherence(table, cache=tmp_path)
    assert found.status == "failed"
    assert "two wordings" in found.reason
    assert found.table["estimate"].isna().all()
    assert (found.table["reason"] != "").all()
    assert fit_incoherence(table, cache=tmp_path).reason == found.reason


def test_bad_input_is_one_clear_error() -> None:
    """Catches a traceback from the sampler for bad input."""
    with pytest.raises(AnalysisError, match="ci_level"):
        fit_incoherence(simulated_instances(), ci_level=1.0)
    with pytest.raises(AnalysisError, match="lack the column"):
        fit_incoherence(simulated_instances().drop(columns="ss"))


def test_a_second_attempt_has_the_draws_that_the_first_lacked() -> None:
    """MCSE .02 against .01 needs four times the draws, a margin more; divergences need shorter steps."""
    settings = replace(incoherence_settings(), draws=1000)
    imprecise = Gate("MCSE of a probability", 0.02, 0.01, False, "m")
    assert longer_settings(settings, (imprecise,), size=83).draws == 6000
    assert longer_settings(settings, (imprecise,), size=83).target_accept == 0.9
    assert longer_settings(settings, (imprecise,), size=3000).draws == 2000
    scarce = Gate("bulk ESS", 390.0, 400.0, False, "m")
    assert longer_settings(settings, (scarce,), size=83).draws == 2000
    divergent = Gate("divergences", 3.0, 0.0, False, "m")
    assert longer_settings(settings, (divergent, scarce), size=83).target_accept == 0.99


def test_one_imprecise_row_fails_alone(fit: IncoherenceFit) -> None:
    """Catches a gate that condemns all rows, or none."""
    rows = fit.contrasts.copy()
    rows.loc[1, "r_hat"] = 1.5
    judged = judged_rows(rows)
    assert judged.loc[1, "reason"].startswith("MCMC: R-hat")
    assert (judged["reason"].drop(index=1) == "").all()


def test_models_without_common_instances_have_a_reason() -> None:
    """Catches a contrast of models that were asked different things."""
    rng = np.random.default_rng(2)
    a = residual_table(rng.normal(size=(8, 2)), model="a")
    b = residual_table(rng.normal(size=(8, 2)), model="b", identity=["other"] * 8)
    models = model_instances(checked_instances(pd.concat([a, b])))
    found = contrast_table(models, {}, ci_level=0.95)
    assert (found["reason"] == "fewer than 5 instances in common").all()
    assert (found["n"] == 0).all()


def test_priors_change_the_fit_that_is_kept(cache: Path, fit: IncoherenceFit) -> None:
    """Catches a key without the priors."""
    few = simulated_instances().query("model == 'tiny'")
    fit_incoherence(few, cache=cache)
    before = len(list(cache.iterdir()))
    fit_incoherence(few, cache=cache, priors=IncoherencePriors(slab_scale=0.75))
    assert len(list(cache.iterdir())) == before + 1
