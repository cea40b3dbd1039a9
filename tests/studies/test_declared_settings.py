"""Settings that name something the logs lack, or that would merge or split what they should not, are said."""

import json
from pathlib import Path

import pytest

from analysis.errors import AnalysisError, StudyError
from analysis.reduction.selection import parse_selection
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

RESAMPLING = Resampling(flips=100, resamples=100)


def logged(folder: Path, study: str = "", **changed) -> list[Path]:
    """Logs of two models under two temperatures, with a study."""
    rows = [
        {"model": m, "item": f"i{i}", "form": f"f{i % 2}", "gold": g, "strategy": s, "temperature": t}
        | {"answer": ("yes", "no")[(i + len(s)) % 3 == 0], "topic": "odd" if i % 2 else "even"}
        for m in ("a", "b")
        for s in ("plain", "steps")
        for t in (0, 1)
        for i, g in enumerate(["yes", "no"] * 5)
    ]
    rows = [row | {name: made(row) for name, made in changed.items()} for row in rows]
    (folder / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "study.toml").write_text(study)
    return [folder]


def reported(paths: list[Path], *where: str):
    return run_report(paths, RunSettings(resampling=RESAMPLING, selection=parse_selection(where)))


def test_every_level_that_no_response_has_is_named_with_those_there_are(tmp_path) -> None:
    """Catches a misspelt baseline, contrast or restriction that changes nothing and says nothing."""
    study = """
[study]
factors = ["topic"]
[factor.strategy]
baseline = "plane"
[[contrast]]
factor = "form"
levels = ["f0", "f7"]
where = { topic = ["eve"] }
[[restriction]]
name = "core"
keep = { topic = ["even", "other"] }
"""
    said = [line for line in reported(logged(tmp_path, study)).attention if line.startswith("study.toml, ")]
    assert said == [
        'study.toml, baseline of [factor.strategy]: no response has strategy = "plane"; did you mean "plain"? '
        'Levels: "plain", "steps".',
        'study.toml, contrast "form": no response has form = "f7". Levels: "f0", "f1".',
        'study.toml, where of contrast "form": no response has topic = "eve"; did you mean "even"? '
        'Levels: "even", "odd".',
        'study.toml, keep of restriction "core": no response has topic = "other". Levels: "even", "odd".',
    ]


def test_levels_that_exist_are_not_mentioned(tmp_path) -> None:
    """Catches derived columns (validity, polarity) and exclusions taken for misspelt ones."""
    study = '[study]\nexclude = { form = ["f1"] }\n[factor.strategy]\nbaseline = "plain"\n'
    content = reported(logged(tmp_path, study, validity=lambda row: "valid", gold=lambda row: None,
                              polarity=lambda row: ("affirmative", "negated")[int(row["item"][1:]) % 2]))  # fmt: skip
    assert not [line for line in content.attention if line.startswith("study.toml, ")]


def test_the_baseline_of_a_condition_of_the_logs_own_is_used(tmp_path) -> None:
    """Catches a baseline under the bare name of a column that the store keeps with a prefix."""
    rows = [
        {
            "model": "a",
            "item": f"i{i}",
            "factor.tone": t,
            "gold": ("yes", "no")[i % 2],
            "answer": ("yes", "no")[i % 3 == 0],
        }
        for t in ("calm", "firm", "loud")
        for i in range(10)
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "study.toml").write_text('[study]\nconditions = ["tone"]\n[factor.tone]\nbaseline = "loud"\n')
    pairs = reported([tmp_path]).data["condition_by_model"]
    assert set(zip(pairs["first"], pairs["second"], strict=True)) == {("loud", "calm"), ("loud", "firm")}


def test_models_of_one_label_are_refused(tmp_path) -> None:
    """Catches two models printed under one name, by two labels or by the label and the name of another."""
    for study in ('[models."a"]\nlabel = "b"\n', '[models."a"]\nlabel = "x"\n[models."b"]\nlabel = "x"\n'):
        with pytest.raises(StudyError, match='"a" and "b" are both printed as'):
            reported(logged(tmp_path, study))


def test_one_temperature_written_in_two_ways_is_one_level(tmp_path) -> None:
    """Catches 0 and 0.0 taken as two conditions, of which each model would have one."""
    spelt = {("a", 0): "0", ("b", 0): "0.0", ("a", 1): "1", ("b", 1): "1.0"}
    paths = logged(tmp_path, temperature=lambda row: spelt[row["model"], row["temperature"]])
    content = reported(paths)
    levels = content.data["condition_accuracies"].query("factor == 'temperature'")["level"]
    assert set(levels) == {"0", "1"}
    said = 'Temperature: levels that are the same number are one level ("0.0" counts as "0", "1.0" counts as "1").'
    assert said in content.attention


def test_levels_that_are_not_all_numbers_stay_as_they_are(tmp_path) -> None:
    """Catches names such as 1e3 read as numbers among names."""
    content = reported(logged(tmp_path, temperature=lambda row: ("low", "1.0")[row["temperature"]]))
    levels = content.data["condition_accuracies"].query("factor == 'temperature'")["level"]
    assert set(levels) == {"low", "1.0"}
    assert not [line for line in content.attention if "same number" in line]


def test_a_column_of_the_logs_is_selected_by_its_own_name(tmp_path) -> None:
    """Catches a mapped or unknown column that --where finds only under the prefix of the store."""
    paths = logged(tmp_path, '[map]\nmodel = "LLM"\n', LLM=lambda row: row["model"].upper())
    for row_of in ("LLM=A", "topic=even"):
        used = reported(paths, row_of).data["set_aside"]
        assert used.loc[used["reason"] == f"not selected: {row_of}", "rows"].sum() == 40
    with pytest.raises(AnalysisError, match='did you mean "topic"'):
        reported(paths, "topics=even")


def test_gold_answers_in_other_words_come_with_what_to_do(tmp_path) -> None:
    """Catches a refusal that leaves out what validate knows of the cause."""
    rows = [
        {"model": "a", "item": f"i{i}", "gold": g, "output": ("Yes", "No")[i % 3 == 0]}
        for i, g in enumerate(["TRUE", "FALSE"] * 5)
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(AnalysisError, match=r"none of the 10 responses is left[^~]*synonyms = \{ yes = "):
        reported([tmp_path])
