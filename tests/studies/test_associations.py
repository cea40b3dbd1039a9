"""The correlation in the caption of floor against bias."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.studies.associations import floor_bias_words
from analysis.studies.context import Resampling


def context(target: str = "these") -> SimpleNamespace:
    flips = Resampling(flips=50)
    return SimpleNamespace(resampling=flips, ci_level=0.95, design=SimpleNamespace(target=target))


def estimates(bias: list[float], floor: list[float]) -> pd.DataFrame:
    models = [f"m{i}" for i in range(len(bias))]
    parts = {"answer_bias": bias, "competence_floor": floor}
    return pd.concat([pd.DataFrame({"model": models, "measure": k, "estimate": v}) for k, v in parts.items()])


def test_r_and_its_square_are_those_of_the_size_of_the_bias() -> None:
    """Catches the signed bias, r for its square, and a caption without the warning."""
    bias, floor = [0.4, -0.3, 0.1, -0.05, 0.2], [0.3, 0.4, 0.55, 0.6, 0.42]
    r = np.corrcoef(np.abs(bias), floor)[0, 1]
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * 1.959964 / np.sqrt(2))
    said = floor_bias_words(context(), estimates(bias, floor))
    shown = [f"{x:+.2f}".replace("-", "−") for x in (r, low, high)]
    assert said.startswith(f"Over 5 models r = {shown[0]} [{shown[1]}, {shown[2]}] (95% CI), R² = {r * r:.2f}: ")
    assert "part-whole" in said
    census = floor_bias_words(context("census"), estimates(bias, floor))
    assert "[" not in census
    assert f"R² = {r * r:.2f}" in census


@pytest.mark.parametrize("bias", [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3, np.nan], [0.2, 0.2, -0.2, 0.2]])
def test_few_models_or_one_value_have_no_correlation(bias: list[float]) -> None:
    """Catches r of three models, of a model without an estimate, and of a constant."""
    assert floor_bias_words(context(), estimates(bias, [0.1, 0.2, 0.3, 0.4][: len(bias)])) == ""
