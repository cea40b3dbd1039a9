"""Where nothing is inferred, a run says once what it leaves out."""

import json
import re

import numpy as np

from analysis.frequentist.measure_columns import CENSUS
from analysis.report.terminal import render_text
from analysis.simulation.latent_coherence import LatentCoherence, simulate_latent_coherence
from analysis.simulation.latent_responders import RESPONDERS
from analysis.simulation.write_logs import write_logs
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
        "The benchmark is taken as the whole population (target = census): frequentist values have no intervals, and "
        "what rests on tests is left out (tests of the floor, comparisons of models, levels of factors, correlations "
        "with size where known, token probabilities where known). Bayesian columns, where these are fitted, keep "
        "theirs: they are about the probabilities that the model supposes behind the answers, hence about what asking "
        "again would give, not about this population, whose values are known."
    ]
    assert "model_pairs" not in content.data
    (tmp_path / "study.toml").unlink()
    inferred = run_report([tmp_path], SETTINGS)
    assert not [sentence for sentence in inferred.limits if "whole population" in sentence]
    assert {"model_pairs", "level_ranges"} <= set(inferred.data)


def printed(content) -> dict[str, str]:
    """Every table as text, by its name without the task."""
    return {table.spec.name: render_text(table) for table in content.tables}


def census_of(logs, folder):
    """Report on simulated logs, taken as a census."""
    write_logs(logs, folder / "logs", fmt="parquet", seed=1)
    path = folder / "logs" / "study.toml"
    path.write_text(path.read_text().replace("[study]", '[study]\ntarget = "census"', 1))
    return run_report([folder / "logs"], SETTINGS)


def test_conditions_of_a_census_are_values_alone(tmp_path) -> None:
    """Catches intervals of strategies, and tests between them, where nothing is drawn from a population."""
    rows = [
        {"model": m, "item": f"i{i}", "strategy": s, "gold": g, "answer": ("yes", "no")[(i * 7 + k) % 3 == 0]}
        for m in ("a", "b")
        for k, s in enumerate(("plain", "steps", "votes"))
        for i, g in enumerate(["yes", "no"] * 8)
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "study.toml").write_text('[study]\ntarget = "census"\n')
    content = run_report([tmp_path], SETTINGS)
    found = content.data["condition_accuracies"]
    assert found["estimate"].notna().all()
    assert found[["ci_low", "ci_high"]].isna().all(axis=None)
    assert set(found["reason"]) == {CENSUS}
    assert not {"condition_pairs", "condition_ladders", "condition_by_model"} & set(content.data)
    assert not [said for said in content.summary if "strategy" in said]
    assert "differences between conditions" in " ".join(content.limits)
    shown = printed(content)["strategy_accuracy"]
    assert CENSUS in shown
    assert "[0." not in shown


def test_coherence_of_a_census_has_no_intervals(tmp_path) -> None:
    """Catches bootstrap intervals over questions, and comparisons of models, that a census does not allow."""
    settings = LatentCoherence(responders=RESPONDERS[:3], units=14, causal=2, reworded=10)
    content = census_of(simulate_latent_coherence(np.random.default_rng(5), settings), tmp_path)
    assert content.data["incoherence"][["ci_low", "ci_high"]].isna().all(axis=None)
    assert content.data["calibration"].filter(regex="_(low|high)$").isna().all(axis=None)
    shown = printed(content)
    assert "persistent_tests" in shown
    assert not {"residual_differences", "persistent_differences"} & set(shown)
    for name, text in shown.items():
        assert not re.search(r"\d \[[−+]?\d", text), name
    assert "comparisons of residuals" in " ".join(content.limits)


def test_order_of_models_in_a_census_has_no_rank_limits(tmp_path) -> None:
    """Catches ranks with limits and tests against the best model where all questions were asked."""
    rows = [
        {"model": m, "item": f"i{i}", "logged_score": (i * k) % 5 / 4}
        for k, m in enumerate(("a", "b", "c"), start=1)
        for i in range(12)
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "study.toml").write_text('[study]\ntarget = "census"\nkind = "score"\n')
    content = run_report([tmp_path], SETTINGS)
    board = content.data["leaderboard"]
    assert not {"rank_low", "p_first", "p_value", "decision"} & set(board)
    assert board["ci_low"].isna().all()
    assert not [said for said in content.summary if "rank limits" in said]
    assert "limits of ranks" in " ".join(content.limits)


def test_sizes_of_models_in_a_census_have_no_tests(tmp_path) -> None:
    """Catches p-values of correlations with size, and their note, where nothing is tested."""
    rows = [
        {"model": m, "model_family": "f", "model_size": size, "item": f"i{i}", "gold": g, "answer": a}
        for size, m in enumerate(("a", "b", "c"), start=1)
        for i, g in enumerate(["yes", "no"] * 8)
        for a in [("yes", "no")[(i * size) % 3 == 0]]
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    inferred = run_report([tmp_path], SETTINGS)
    assert "size_correlations" in inferred.data
    (tmp_path / "study.toml").write_text('[study]\ntarget = "census"\n')
    content = run_report([tmp_path], SETTINGS)
    assert {"model_sizes"} <= set(content.data)
    assert "size_correlations" not in content.data
    assert "size_correlations" not in printed(content)
    assert not [note for section in content.sections for note in section.notes if "p-value" in note]
    assert "correlations with size" in " ".join(content.limits)
