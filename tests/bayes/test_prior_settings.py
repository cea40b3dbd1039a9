"""``[priors]`` of a study: names of three models in one section."""

import pytest

from analysis.bayes.accuracy_priors import AccuracyPriors
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.prior_settings import (
    OF_ACCURACY,
    OF_ANSWER_BIAS,
    OF_BELIEF_BIAS,
    accuracy_priors,
    answer_bias_priors,
    belief_bias_priors,
    check_priors,
)
from analysis.bayes.priors import Priors
from analysis.errors import StudyError


def test_a_name_belongs_to_one_model() -> None:
    """Catches a prior added to one model under a name that another one has: it would change both."""
    names = (*OF_ANSWER_BIAS, *OF_BELIEF_BIAS, *OF_ACCURACY)
    assert len(names) == len(set(names))


def test_each_model_takes_its_own_names_and_keeps_the_other_defaults() -> None:
    """Catches a scale given to the other model, or refused as unknown there."""
    settings = {"template_sd": 2, "item_sd": 3, "belief_mean": -1.0, "accuracy_item_sd": 1.0}
    assert answer_bias_priors(settings) == Priors(template_sd=2.0)
    assert belief_bias_priors(settings) == BeliefPriors(item_sd=3.0, belief_mean=-1.0)
    assert belief_bias_priors({}) == BeliefPriors()
    assert accuracy_priors(settings | {"accuracy_level_mean": -0.5}) == AccuracyPriors(item_sd=1.0, level_mean=-0.5)


def test_every_problem_of_both_models_is_named_at_once() -> None:
    """Catches a misspelt name that is ignored, an unknown one without the known ones, and a scale of 0."""
    wrong = {"itm_sd": 1.0, "qqqq": 1.0, "item_sd": 0.0, "belief_mean": float("nan"), "template_sd": -1.0}
    wrong |= {"accuracy_unit_shape": 0.0, "accuracy_level_mean": float("inf")}
    with pytest.raises(StudyError) as caught:
        check_priors(wrong)
    message = str(caught.value)
    assert 'itm_sd: unknown prior; did you mean "item_sd"?' in message
    unknown = next(line for line in message.splitlines() if "qqqq" in line)
    assert all(name in unknown for name in (*OF_ANSWER_BIAS, *OF_BELIEF_BIAS, *OF_ACCURACY))
    for name in ("item_sd", "template_sd", "accuracy_unit_shape"):
        assert f"[priors] {name}: a scale must be a number above 0" in message
    for name in ("belief_mean", "accuracy_level_mean"):
        assert f"{name}: must be a finite number" in message
