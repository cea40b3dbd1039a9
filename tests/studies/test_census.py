"""Where nothing is inferred, a run says once what it leaves out."""

import json

from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=100, resamples=100))


def test_two_tasks_of_a_census_name_what_is_left_out_once(tmp_path) -> None:
    """Catches a census report from which parts vanish silently, and parts named that no task would have."""
    rows = [
        {"model": m, "task": t, "item": f"{t}{i}", "form": f"f{i % 3}", "gold": g, "answer": (g, "yes")[i % 5 == 0]}
        for m in ("a", "b")
        for t in ("one", "two")
        for i, g in enumerate(["yes", "no"] * 6)
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "study.toml").write_text('[study]\ntarget = "census"\n')
    content = run_report([tmp_path], SETTINGS)
    said = [sentence for sentence in content.limits if "whole population" in sentence]
    assert said == [
        "The benchmark is taken as the whole population (target = census): values have no intervals, and what rests on "
        "tests is left out (tests of the floor, comparisons of models, levels of factors, token probabilities where "
        "known)."
    ]
    assert "model_pairs" not in content.data
    (tmp_path / "study.toml").unlink()
    inferred = run_report([tmp_path], SETTINGS)
    assert not [sentence for sentence in inferred.limits if "whole population" in sentence]
    assert {"model_pairs", "level_ranges"} <= set(inferred.data)
