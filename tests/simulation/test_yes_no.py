"""The plain yes/no benchmark: design, exact responders, truth."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.simulation.responders import Responder, named_responders
from analysis.simulation.yes_no import YesNo, simulate_yes_no


def test_constant_yes_is_right_on_every_yes_item_and_on_no_other():
    """Catches gold answers that follow the responses, or effects in a responder without spread."""
    logs = simulate_yes_no(np.random.default_rng(1), YesNo(named_responders(["constant-yes"]), items=31, answers=True))
    rows = logs.tables[0][1].to_pandas()
    assert (rows["answer"] == "yes").all()
    assert rows["gold"].value_counts().to_dict() == {"yes": 16, "no": 15}
    truth = logs.truth["simulated/constant-yes"]["items"]["population"]["incorrect"]
    assert truth["cells"] == {"gold_yes": 1.0, "gold_no": 0.0}
    assert (truth["answer_bias"], truth["competence_floor"]) == (1.0, 0.0)


def test_samples_of_an_item_share_its_difficulty():
    """Catches item effects drawn per response: with them the variance of item means stays binomial."""
    responder = Responder("simulated/a", 0.5, 0.5, 0.5, 0.5)
    settings = YesNo((responder,), items=300, samples=20, item_difficulty_sd=2.0, item_yes_sd=0.0, answers=True)
    rows = simulate_yes_no(np.random.default_rng(2), settings).tables[0][1].to_pandas()
    assert rows.groupby("item")["sample"].nunique().eq(20).all()
    means = (rows["answer"] == rows["gold"]).groupby(rows["item"]).mean()
    assert means.var() > 4 * 0.25 / 20


def test_observed_accuracy_lies_around_the_truth_over_items():
    """Catches a truth that ignores the items' spread; 4 standard errors of 4,000 independent items."""
    responder = Responder("simulated/a", 0.97, 0.2, 0.3, 0.93, 1.0, 0.1, 0.0)
    settings = YesNo((responder,), items=8000, answers=True)
    logs = simulate_yes_no(np.random.default_rng(3), settings)
    rows = logs.tables[0][1].to_pandas()
    truth = logs.truth[responder.name]["items"]["population"]["incorrect"]["cells"]
    for gold in ("yes", "no"):
        share = (rows["answer"] == gold)[rows["gold"] == gold].mean()
        assert abs(share - truth[f"gold_{gold}"]) < 4 * np.sqrt(0.25 / 4000)
    assert truth["gold_yes"] < 0.95 * 0.9


def test_impossible_sizes_are_refused():
    """Catches an empty benchmark, or one with a single gold answer."""
    with pytest.raises(AnalysisError, match="items"):
        YesNo(named_responders(["coin"]), items=1)
    with pytest.raises(AnalysisError, match="samples"):
        YesNo(named_responders(["coin"]), samples=0)
