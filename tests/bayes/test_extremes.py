"""Sparse and extreme counts: a fit passes its gates or says why not, and every blank number has a reason."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.attempt import SILENT
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings
from analysis.bayes.summaries import CERTAIN, NOT_ASKED
from tests.bayes.designs import gold_design, template_design

SHORT = SamplerSettings(chains=2, draws=150, tune=100, cores=1, fast=True)
ALWAYS = ("estimate", "posterior_mean", "posterior_sd", "ci_low", "ci_high")
DIAGNOSED = (*ALWAYS, "r_hat", "ess_bulk", "ess_tail", "mcse", "mcse_end", "mcse_share")


def _base(**changed: int) -> pd.DataFrame:
    return template_design(np.random.default_rng(1), **{"models": 3, "forms": 2, **changed})


def _answering(right: Callable[[pd.DataFrame], np.ndarray], models: tuple[str, ...]) -> pd.DataFrame:
    """The base design with the right answers of some models replaced."""
    table = _base()
    changed = table["model"].isin(models)
    table.loc[changed, "n_correct"] = right(table)[changed]
    return table


def _all_yes(table: pd.DataFrame) -> np.ndarray:
    return np.where(table["cell"].isin(["VA", "IN"]), table["n_answered"], 0)


def _all_right(table: pd.DataFrame) -> np.ndarray:
    return table["n_answered"].to_numpy()


def _silent(models: tuple[str, ...]) -> pd.DataFrame:
    table = _base()
    changed = table["model"].isin(models)
    table.loc[changed, "n_uncertain"] += table.loc[changed, "n_answered"]
    table.loc[changed, ["n_answered", "n_correct"]] = 0
    return table


def _without(rows: Callable[[pd.DataFrame], pd.Series]) -> pd.DataFrame:
    table = _base()
    return table[~rows(table)]


ALL = ("m000", "m001", "m002")
DESIGNS: dict[str, Callable[[], pd.DataFrame]] = {
    "three items per cell": lambda: _base(n=3),
    "one item per cell": lambda: _base(n=1),
    "one model always says Yes": lambda: _answering(_all_yes, ("m000",)),
    "every model always says Yes": lambda: _answering(_all_yes, ALL),
    "one model always right": lambda: _answering(_all_right, ("m001",)),
    "every model always right": lambda: _answering(_all_right, ALL),
    "one model never answered": lambda: _silent(("m000",)),
    "no model ever answered": lambda: _silent(ALL),
    "template seen by one model": lambda: _without(lambda t: (t["template"] == "t01") & (t["model"] != "m000")),
    "empty cell of one model": lambda: _without(lambda t: (t["cell"] == "IN") & (t["model"] == "m001")),
    "one template, no invalid ones": lambda: _without(lambda t: t["template"] != "t00"),
    "one form": lambda: _without(lambda t: t["form"] != "f0"),
    "no templates, no forms": lambda: _base().groupby(["task", "model", "cell"], as_index=False).sum(numeric_only=True),
    "one model": lambda: _base(models=1),
    "gold alone": lambda: gold_design({"a": (0.9, 0.4), "b": (1.0, 0.0), "c": (0.6, 0.7)}),
    "gold alone, one model always right": lambda: gold_design({"a": (1.0, 1.0)}),
    "gold alone, separated": lambda: gold_design({"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (1.0, 1.0)}, n=2),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_extreme_counts_give_numbers_or_a_reason(name: str) -> None:
    """Catches a traceback, a warning, a number without meaning, and a blank without a reason."""
    facets = DESIGNS[name]()
    before = facets.copy()
    fit = fit_answer_bias(facets, settings=SHORT, seed=3)
    pd.testing.assert_frame_equal(facets, before)
    assert (fit.status == "ok") == (fit.reason == "")
    for table, numbers in ((fit.table, DIAGNOSED), (fit.unpooled, ALWAYS)):
        blank = table[list(ALWAYS)].isna().any(axis=1)
        assert set(table.loc[blank, "reason"]) <= {NOT_ASKED, SILENT}
        plain = table[table["reason"] == ""]
        assert np.isfinite(plain[list(numbers)]).all(axis=None)
        assert set(table["reason"]) <= {"", NOT_ASKED, SILENT, CERTAIN}
        assert (table["ci_low"].isna() | (table["ci_low"] <= table["ci_high"])).all()
    assert np.isfinite(fit.augment[["observed", "fitted"]]).all(axis=None)
    assert np.isfinite(fit.predictive.select_dtypes("number")).all(axis=None)
    assert np.isfinite(fit.sensitivity.select_dtypes("number")).all(axis=None)
    assert fit.glance["n"] == facets[["n_answered", "n_uncertain"]].to_numpy().sum()


def _rows(fit: AnswerBiasFit, model: str, uncertain: str = "incorrect") -> pd.DataFrame:
    table = fit.table.query("model == @model and uncertain == @uncertain and target == 'these'")
    return table.set_index("measure")


def test_a_model_that_never_answered_has_no_bias_and_no_place_among_the_answered() -> None:
    """Catches an even hand that is read into silence, and an accuracy among answers that were never given."""
    fit = fit_answer_bias(_silent(("m000",)), settings=SHORT, seed=3)
    assert (_rows(fit, "m000").loc[["answer_bias", "polarity_sensitivity"], "reason"] == SILENT).all()
    assert _rows(fit, "m000").loc["acc_yes", "ci_high"] < 0.05
    assert (_rows(fit, "m000", "excluded")["reason"] == SILENT).all()
    assert _rows(fit, "m001", "excluded").loc["floor_rank", "ci_high"] <= 2
    assert fit.unpooled.query("model == 'm000' and uncertain == 'excluded'")["estimate"].isna().all()


def test_a_model_that_always_says_yes_has_bias_near_one() -> None:
    """Catches shrinkage that pulls a certain answer to the other models, and a sign of the bias."""
    rows = _rows(fit_answer_bias(_answering(_all_yes, ("m000",)), settings=SHORT, seed=3), "m000", "excluded")
    assert rows.loc["answer_bias", "ci_low"] > 0.9
    assert rows.loc["competence_floor", "ci_high"] < 0.05
    assert rows.loc["competence_floor", "p_above"] == 0.0


def test_an_empty_cell_blanks_what_needs_it_and_nothing_else() -> None:
    """Catches a cell that is filled from other models, and ranks that vanish for everybody."""
    fit = fit_answer_bias(DESIGNS["empty cell of one model"](), settings=SHORT, seed=3)
    rows = _rows(fit, "m001")
    assert np.isfinite(rows.loc[["acc_va", "acc_vn", "acc_ia"], "estimate"]).all()
    assert (rows.loc[["acc_in", "acc_yes", "answer_bias", "floor_rank"], "reason"] == NOT_ASKED).all()
    assert _rows(fit, "m000").loc["floor_rank", "ci_high"] <= 2


def test_one_model_says_that_nothing_is_pooled() -> None:
    """Catches a sub-model chosen without a word."""
    fit = fit_answer_bias(gold_design({"a": (0.8, 0.6)}), settings=SHORT)
    assert any("nothing is pooled" in sentence for sentence in fit.sentences)
    assert not (fit.table["measure"] == "floor_rank").any()
