"""Reports on scores under several strategies: compared by question, and every score accounted for."""

from pathlib import Path

import numpy as np
import pytest

from analysis.report.content import ReportContent
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=500, resamples=300))
STUDY = """
[map]
item = "question"
logged_score = "score"
strategy = "prompting"

[[contrast]]
factor = "strategy"
levels = ["cot", "plain"]
"""


def report(folder: Path, *, graded: bool, samples: int = 1) -> ReportContent:
    """Three models on 40 questions; ``cot`` is right where ``plain`` is, and on questions 0, 4, 8, ... as well."""
    rng = np.random.default_rng(3)
    lines = ["model,question,prompting,score" + (",sample" if samples > 1 else "")]
    for m in range(3):
        for q in range(40):
            base = rng.random() < 0.5 and q % 4 != 0
            for strategy, right in (("plain", base), ("cot", base or q % 4 == 0)):
                for s in range(samples):
                    score = 0.25 + 0.5 * right if graded else int(right)
                    lines.append(f"m{m},q{q},{strategy},{score}" + (f",{s}" if samples > 1 else ""))
    folder.mkdir()
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")
    (folder / "study.toml").write_text(STUDY)
    return run_report([folder], SETTINGS)


@pytest.fixture(scope="module", params=[False, True], ids=["binary", "graded"])
def content(request, tmp_path_factory):
    return report(tmp_path_factory.mktemp("scored") / "logs", graded=request.param), request.param


def test_strategies_of_scores_are_compared_by_question(content) -> None:
    """Catches conditions of scored tasks left out: 10 of 40 questions change, by 1 or by half a point."""
    found, graded = content
    by_model = found.data["condition_by_model"]
    assert (by_model["n_clusters"] == 40).all()
    assert by_model["estimate"].to_numpy() == pytest.approx(0.125 if graded else 0.25)
    measure = "mean score" if graded else "accuracy"
    said = " ".join(found.summary)
    assert f"for these models together, {measure} under strategy cot differs from that under plain" in said.lower()
    assert not any("no scored response has" in line for line in found.attention)


def test_every_score_that_is_used_counts_as_used(content) -> None:
    """Catches responses listed as set aside beside the results made from them."""
    found, _ = content
    assert int(found.data["set_aside"]["rows"].sum()) == 0
    assert found.manifest["rows"]["used"] == 240


def test_one_unit_throughout_where_a_model_is_left_out(content) -> None:
    """Catches the p-value over models printed in a row of p-values over questions."""
    found, _ = content
    table = next(t for t in found.tables if t.spec.name.startswith("strategy_without_a_model"))
    steps = found.data["condition_ladders"].set_index("rung")
    assert table.rows["p_all"].tolist() == [steps.loc["item", "p_value"]]


def test_pass_at_k_keeps_conditions_apart(content, tmp_path) -> None:
    """Catches answers under two strategies taken for two samples of one question."""
    found, graded = content
    assert "pass_at_k" not in found.data
    assert graded or any("no pass@k" in line for line in found.limits)
    twice = report(tmp_path / "logs", graded=False, samples=2).data["pass_at_k"]
    assert set(twice["condition"]) == {"strategy cot", "strategy plain"}
    once = twice[twice["measure"] == "pass_at_1"].set_index(["model", "condition"])["estimate"]
    both = twice[twice["measure"] == "pass_at_2"].set_index(["model", "condition"])["estimate"]
    assert (once == both).all()
