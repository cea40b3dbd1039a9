"""Token probabilities in a report: beside the answers to the same questions, those without one counted."""

import json

import numpy as np
import pytest

from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=200, resamples=200))


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Two models with the same order of probabilities, one of them pushed to yes; every question asked twice."""
    folder = tmp_path_factory.mktemp("tokens")
    rng = np.random.default_rng(4)
    rows = []
    for item in range(60):
        gold = ("yes", "no")[item % 2]
        z = rng.normal(1.0 if gold == "yes" else -1.0, 1.0)
        for model, lean in (("even", 0.0), ("leaning", 2.0)):
            p = float(1 / (1 + np.exp(-z - lean)))
            row = {"model": model, "item": f"q{item}", "gold": gold, "answer": "yes" if p > 0.5 else "no", "p_yes": p}
            rows += [row | {"sample": "0"}, row | {"sample": "1"}]
    rows[0].pop("p_yes")
    (folder / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run_report([folder], SETTINGS)


def estimate(content, model: str, based_on: str, measure: str) -> float:
    rows = content.data["token_probabilities"]
    chosen = rows[(rows["model"] == model) & (rows["based_on"] == based_on) & (rows["measure"] == measure)]
    return float(chosen["estimate"].iloc[0])


def test_a_lean_moves_bias_and_cut_and_leaves_the_area(content) -> None:
    """Catches answers taken for probabilities, and yes and no exchanged."""
    tokens, answers = "token probabilities", "answers"
    assert estimate(content, "even", tokens, "auc") == pytest.approx(estimate(content, "leaning", tokens, "auc"))
    assert estimate(content, "leaning", tokens, "answer_bias") > 0.3
    assert estimate(content, "leaning", answers, "answer_bias") > estimate(content, "even", answers, "answer_bias")
    cut = estimate(content, "leaning", tokens, "even_threshold")
    logit = np.log(cut / (1 - cut))
    plain = estimate(content, "even", tokens, "even_threshold")
    assert logit == pytest.approx(2 + np.log(plain / (1 - plain)), abs=0.15)


def test_answers_of_the_section_are_those_of_the_report(content) -> None:
    """Without cells of four, both weigh items alike: catches other rows or weights."""
    for measure in ("acc_yes", "acc_no", "answer_bias", "competence_floor"):
        rows = content.data["estimates"]
        found = rows[(rows["model"] == "leaning") & (rows["measure"] == measure)]["estimate"].iloc[0]
        assert estimate(content, "leaning", "answers", measure) == pytest.approx(found)


def test_what_lacks_a_probability_is_counted(content) -> None:
    section = next(s for s in content.sections if s.title.endswith("Token probabilities"))
    assert section.lead[0] == (
        "Token probabilities are known for 60 questions and 2 models; 1 response without them not used here."
    )
    assert [table.spec.name for table in section.tables] == [
        "token_probabilities",
        "token_threshold",
        "token_calibration",
    ]
    assert (content.data["token_probabilities"]["n"] == 60).all(), "repeats are one question"


def test_one_class_alone_is_said_and_not_estimated(tmp_path) -> None:
    """Catches a crash, or an area, of a model that was never asked where No is right."""
    rows = [{"model": m, "item": f"q{i}", "gold": ("yes", "no")[i % 2], "answer": "yes", "p_yes": 0.2 + i / 40}
            for m in ("both", "half") for i in range(12) if m == "both" or i % 2 == 0]  # fmt: skip
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    content = run_report([tmp_path], SETTINGS)
    table = next(t for t in content.tables if t.spec.name == "token_threshold")
    half = table.rows.set_index("model").loc["half"]
    assert half["even_accuracy_missing"] == half["auc_reason"] == "needs questions with either gold answer"
