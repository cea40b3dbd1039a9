"""HELM run directories of every layout, synthetic: options, perturbed copies, trials, failures."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import helm
from analysis.importers.detect import find_logs
from analysis.importers.helm_run import perturbation_name, task_name
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

TYPOS = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed", "prob": 0.1}
ORIGINAL_OF_TYPOS = TYPOS | {"computed_on": "original"}
WORST = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "worst"}


def state(identity: str = "id1", reply: str = " B", **changes: Any) -> dict[str, Any]:
    """A request state of joint multiple choice whose right answer is B."""
    options = {"A": "iron", "B": "gold", "C": "tin"}
    instance = {
        "input": {"text": f"What is {identity}?"},
        "references": [{"output": {"text": t}, "tags": ["correct"] if t == "gold" else []} for t in options.values()],
        "split": "test",
        "id": identity,
    }
    instance |= changes.pop("instance", {})
    request = {"model": "acme/parrot", "model_deployment": "host/parrot", "prompt": "Q?", "temperature": 0.0}
    result = {
        "success": True,
        "completions": [{"text": reply, "logprob": -0.5, "tokens": [{"text": reply, "logprob": -0.5}]}],
        "request_time": 1.5,
        "request_datetime": 1700000000,
    }
    result |= changes.pop("result", {})
    whole = {"instance": instance, "train_trial_index": 0, "output_mapping": options, "request": request}
    return whole | {"result": result} | changes


def stats(identity: str = "id1", value: float = 1.0, name: str = "exact_match", **entry: Any) -> dict[str, Any]:
    """Statistics of one instance; ``about`` is the perturbation in the statistic's own name."""
    about = entry.pop("about", None)
    label = {"name": name, "split": "test"} | ({"perturbation": about} if about else {})
    stat = {"name": label, "count": 1, "sum": value, "sum_squared": value**2, "mean": value}
    tokens = {
        "name": {"name": "num_prompt_tokens", "split": "test"},
        "count": 1,
        "sum": 40,
        "sum_squared": 1600,
        "mean": 40.0,
    }
    return {"instance_id": identity, "train_trial_index": 0, "stats": [tokens, stat]} | entry


@pytest.fixture
def run_directory(tmp_path) -> Callable[..., Path]:
    """Write a run directory; ``stats_of=None`` leaves the statistics out."""

    def write(states: list[Any], stats_of: list[Any] | None = None, **spec: Any) -> Path:
        directory = tmp_path / spec.pop("folder", "mmlu-model=acme_parrot")
        directory.mkdir(exist_ok=True)
        adapter = {"method": spec.pop("method", "multiple_choice_joint"), "model": "acme/parrot"}
        run = {"name": "mmlu:subject=a,model=acme_parrot", "adapter_spec": adapter, "scenario_spec": {}} | spec
        contents = {"run_spec.json": run, "scenario_state.json": {"adapter_spec": adapter, "request_states": states}}
        if stats_of is not None:
            contents["per_instance_stats.json"] = stats_of
        for name, value in contents.items():
            (directory / name).write_text(json.dumps(value, indent=2), encoding="utf-8")
        return directory

    return write


def rows(path: Path, options: ReadOptions):
    return [response for record in helm.read(path, options) for response in record.responses]


def notes(path: Path, options: ReadOptions) -> list[str]:
    return [note for record in helm.read(path, options) for note in record.notes]


def test_a_run_is_one_log_and_its_files_are_not_logs_of_their_own(run_directory, tmp_path):
    """Catches a directory whose five files are read, or reported, one by one."""
    run_directory([state()], [stats()])
    found = find_logs([tmp_path], tmp_path)
    assert [(f.relative, f.claim, f.importer) for f in found] == [("mmlu-model=acme_parrot", Claim.LOG, helm)]


def test_loose_files_of_a_run_are_companions(tmp_path):
    """Catches statistics of a run offered as a table of responses."""
    for name, value in {
        "run_spec.json": {"name": "x", "scenario_spec": {}, "adapter_spec": {}},
        "per_instance_stats.json": [stats()],
        "stats.json": stats()["stats"],
        "run_specs.json": [{"name": "x", "scenario_spec": {}, "adapter_spec": {}}],
    }.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
        assert helm.sniff(probe(tmp_path / name)) is Claim.COMPANION, name


def test_a_run_without_its_states_is_refused(run_directory, tmp_path, options):
    """Catches a run that held aggregates only and vanished without a word."""
    directory = run_directory([state()], [stats()])
    (directory / "scenario_state.json").unlink()
    assert helm.sniff(probe(directory)) is Claim.REFUSED
    with pytest.raises(LogError, match="aggregate only"):
        rows(directory, options)


def test_the_states_file_can_be_named_itself(run_directory, options):
    """Catches a path that is right and not understood."""
    directory = run_directory([state()], [stats()])
    named = directory / "scenario_state.json"
    assert helm.sniff(probe(named)) is Claim.LOG
    assert rows(named, options) == rows(directory, options)


def test_columns_of_a_joint_choice(run_directory, options):
    """Catches the option's text as answer, a shortened model, and the directory's name as the task."""
    (row,) = rows(run_directory([state()], [stats()]), options)
    assert (row.model, row.task, row.item, row.sample) == ("acme/parrot", "mmlu:subject=a", "id1", "0")
    assert (row.answer, row.rule, row.gold, row.output) == ("B", "harness_choice", "B", " B")
    assert (row.logged_score, row.score_value, row.tokens_in) == ("1.0", 1.0, 40)
    assert (row.latency, row.timestamp, row.temperature, row.prompt) == (1.5, "1700000000", "0.0", "Q?")
    assert row.source == "mmlu-model=acme_parrot/scenario_state.json:request_states[0]"
    assert row.extra["meta.model_deployment"] == "host/parrot"
    assert row.unit is None
    assert "factor.perturbation" not in row.extra


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("mmlu:subject=a,method=joint,model=x_y", "mmlu:subject=a,method=joint"),
        ("boolq:model=x_y,data_augmentation=canonical", "boolq:data_augmentation=canonical"),
        ("boolq:model=x_y", "boolq"),
        ("boolq:submodel=big,model=x_y,model_deployment=z", "boolq:submodel=big"),
    ],
)
def test_the_task_is_the_run_without_its_model(name, task):
    """Catches runs of two models that cannot be paired, and parts of other names taken away."""
    assert task_name(name) == task


@pytest.mark.parametrize("reply", ["Bb", " gold", "B.", "E"])
def test_a_completion_outside_the_mapping_is_no_answer(run_directory, options, reply):
    """Catches a first letter taken for an answer that the harness did not credit."""
    directory = run_directory([state(reply=reply)], [stats(value=0.0)])
    (row,) = rows(directory, options)
    assert (row.answer, row.status, row.rule, row.output) == (None, "unparsed", "harness_choice", reply)
    assert "the completion is none of the option letters" in notes(directory, options)


def test_an_empty_completion_is_left_to_the_reader(run_directory, options):
    """Catches empty replies called wrong, or missing."""
    empty = state(result={"completions": [{"text": "", "finish_reason": {"reason": "length"}}]})
    nothing = state("id2", result={"completions": []})
    first, second = rows(run_directory([empty, nothing]), options)
    assert (first.output, first.status, first.extra["meta.stop_reason"]) == ("", None, "length")
    assert (second.output, second.status) == ("", None)


def test_a_chain_of_thought_is_left_to_the_reader(run_directory, options):
    """Catches reasoning called unparsed because it is longer than a letter."""
    directory = run_directory([state(reply="It shines, so B")], method="multiple_choice_joint_chain_of_thought")
    (row,) = rows(directory, options)
    assert (row.answer, row.status, row.gold) == (None, None, "B")


def test_failed_and_absent_requests(run_directory, options):
    """Catches failed calls scored as wrong."""
    failed = state(result={"success": False, "completions": [], "error": "rate limit\ndetail"})
    blocked = state("id2", result={"completions": [{"text": "", "finish_reason": {"reason": "content_filter"}}]})
    never = state("id3") | {"result": None}
    found = rows(run_directory([failed, blocked, never]), options)
    assert [(r.status, r.status_detail) for r in found] == [
        ("errored", "rate limit"),
        ("refused", "content_filter"),
        ("missing", "the request has no result in the log"),
    ]


def test_several_right_options_are_no_gold_answer(run_directory, options):
    """Catches the first of several right references taken as the right one."""
    references = [{"output": {"text": t}, "tags": ["correct"]} for t in ("iron", "gold", "tin")]
    (row,) = rows(run_directory([state(instance={"references": references})]), options)
    assert (row.gold, json.loads(row.extra["meta.target"])) == (None, ["A", "B", "C"])


def test_equal_option_texts_are_told_apart_by_place(run_directory, options):
    """Catches gold looked up by text, which finds the wrong one of two equal options."""
    texts = {"A": "gold", "B": "gold"}
    references = [{"output": {"text": "gold"}, "tags": tags} for tags in ([], ["correct"])]
    (row,) = rows(run_directory([state(instance={"references": references}, output_mapping=texts)]), options)
    assert row.gold == "B"


def test_perturbed_copies_are_items_of_one_unit(run_directory, options):
    """Catches copies that overwrite or double each other: they share the id, and statistics repeat the original."""
    states = [
        state(),
        state(reply=" A", instance={"perturbation": TYPOS, "input": {"text": "Waht is id1?"}}),
        state(reply=" C", instance={"perturbation": WORST}),
        state(train_trial_index=1),
    ]
    entries = [
        stats(value=1.0),
        stats(value=0.5, about=ORIGINAL_OF_TYPOS),
        stats(value=0.0, perturbation=TYPOS, about=TYPOS),
        stats(value=0.25, perturbation=WORST, about=WORST),
        stats(value=0.75, train_trial_index=1),
    ]
    directory = run_directory(states, entries, data_augmenter_spec={"perturbation_specs": [{"class_name": "Typos"}]})
    found = list(helm.read(directory, options))
    assert [record.set_aside for record in found] == [
        None,
        None,
        "worst case over perturbed copies: a summary, no response",
        None,
    ]
    responses = [r for record in found for r in record.responses]
    assert [(r.item, r.unit, r.sample, r.answer, r.score_value) for r in responses] == [
        ("id1", "id1", "0", "B", 1.0),
        ("id1 [typos(prob=0.1)]", "id1", "0", "A", 0.0),
        ("id1", "id1", "1", "B", 0.75),
    ]
    assert [r.extra["factor.perturbation"] for r in responses] == ["original", "typos(prob=0.1)", "original"]
    assert responses[0].prompt_hash != responses[1].prompt_hash
    assert not any("different values" in note for record in found for note in record.notes)


def test_perturbations_of_one_name_are_told_apart():
    """Catches two dialects merged because both are called dialect."""
    one, two = ({"name": "dialect", "computed_on": "perturbed", "target": t} for t in ("AAE", "SAE"))
    assert perturbation_name(one) != perturbation_name(two)
    assert perturbation_name(TYPOS) == perturbation_name(ORIGINAL_OF_TYPOS)
    assert perturbation_name(None) == perturbation_name({}) == ""


def test_entries_of_one_instance_are_merged(run_directory, options):
    """Catches a second entry, which holds other metrics, that replaces the first or makes a second row."""
    directory = run_directory([state()], [stats(value=0.0), stats(value=0.5, name="toxicity")])
    (row,) = rows(directory, options)
    assert (row.score_value, row.extra["score.toxicity"]) == (0.0, "0.5")


def test_contradicting_statistics_are_named(run_directory, options):
    """Catches the last of two values taken in silence."""
    directory = run_directory([state()], [stats(value=1.0), stats(value=0.0)])
    assert rows(directory, options)[0].score_value == 1.0
    assert any("different values" in note for note in notes(directory, options))


def test_a_statistic_of_nothing_is_no_score(run_directory, options):
    """Catches count 0 read as the score 0."""
    entry = stats()
    entry["stats"][1] = {"name": {"name": "exact_match", "split": "test"}, "count": 0, "sum": 0}
    directory = run_directory([state()], [entry])
    (row,) = rows(directory, options)
    assert (row.logged_score, row.score_value) == (None, None)
    assert "no score of its own in the log" in notes(directory, options)


def test_the_main_score_and_the_one_asked_for(run_directory, options):
    """Catches bookkeeping taken for a score, and a score in place of the one asked for."""
    entry = stats(value=0.0)
    entry["stats"] += stats(value=0.4, name="f1_score")["stats"][1:]
    entry["stats"] += stats(value=3.0, name="finish_reason_stop")["stats"][1:]
    choice = run_directory([state()], [entry])
    assert rows(choice, options)[0].logged_score == "0.0"
    assert {k for k in rows(choice, options)[0].extra if k.startswith("score.")} == {"score.f1_score"}
    asked = ReadOptions(options.root, scorer="f1_score")
    assert (rows(choice, asked)[0].logged_score, rows(choice, asked)[0].extra["score.exact_match"]) == ("0.4", "0.0")
    lacking = ReadOptions(options.root, scorer="bleu")
    assert rows(choice, lacking)[0].logged_score is None
    assert any('no scorer "bleu"' in note for note in notes(choice, lacking))
    text = run_directory([state() | {"output_mapping": None}], [entry], method="generation")
    assert rows(text, options)[0].logged_score == "0.4"


def test_the_order_of_entries_does_not_choose_the_score(run_directory, options):
    """Catches a main score that depends on which entry of an instance comes first."""
    entries = [stats(name="judged"), stats(name="bleu")]
    found = [rows(run_directory([state()], order), options)[0] for order in (entries, entries[::-1])]
    assert [(r.logged_score, list(r.extra).count("score.judged")) for r in found] == [("1.0", 1)] * 2


def test_a_score_that_is_not_finite_is_named(run_directory, options):
    """Catches NaN in the column of numbers."""
    directory = run_directory([state()], [stats(value=float("nan"))])
    assert (rows(directory, options)[0].logged_score, rows(directory, options)[0].score_value) == ("NaN", None)
    assert any("NaN is no score" in note for note in notes(directory, options))


def test_without_statistics_the_answers_are_still_read(run_directory, options):
    """Catches answers lost with a file that only scores them."""
    directory = run_directory([state()])
    assert rows(directory, options)[0].answer == "B"
    assert "no per_instance_stats.json: rows are unscored" in notes(directory, options)


def test_several_completions_are_samples(run_directory, options):
    """Catches all completions but the first lost, and the score counted for each of them."""
    several = {"completions": [{"text": "gold"}, {"text": "tin"}]}
    directory = run_directory([state(result=several, output_mapping=None)], [stats()], method="generation")
    found = rows(directory, options)
    assert [(r.sample, r.output, r.score_value) for r in found] == [("0.0", "gold", 1.0), ("0.1", "tin", None)]


def test_tags_that_differ_between_references_are_no_factor(run_directory, options):
    """Catches the polarity of one reference taken for that of the question."""
    tags = [["negative", "ambiguous"], ["correct", "non-negative", "ambiguous"], ["non-negative", "ambiguous"]]
    references = [{"output": {"text": t}, "tags": g} for t, g in zip(("iron", "gold", "tin"), tags, strict=True)]
    (row,) = rows(run_directory([state(instance={"references": references})]), options)
    assert "factor.question_polarity" not in row.extra
    assert json.loads(row.extra["meta.tags"]) == ["ambiguous"]


def option(index: int, logprobs: list[float], mode: str = "original", **changes: Any) -> dict[str, Any]:
    """A request of separate multiple choice: the prompt's tokens, then those of the option."""
    texts = (" iron", " gold leaf", " tin")
    words = [" gold", " leaf"] if index == 1 else [texts[index]]
    tokens = [{"text": "Q?", "logprob": -9.0}]
    tokens += [{"text": text, "logprob": value} for text, value in zip(words, logprobs, strict=True)]
    references = [{"output": {"text": t.strip()}, "tags": ["correct"] if t == " gold leaf" else []} for t in texts]
    result = {"completions": [{"text": "".join(t["text"] for t in tokens), "tokens": tokens}]}
    whole = state(instance={"references": references} | changes.pop("instance", {}), result=result)
    return whole | {"output_mapping": None, "reference_index": index, "request_mode": mode} | changes


def test_separate_options_give_one_response(run_directory, options):
    """Catches n multiplied by the options, the sum taken where the harness ranks by token, prompt tokens counted."""
    states = [option(0, [-1.2]), option(1, [-1.0, -1.0]), option(2, [-3.0])]
    directory = run_directory(states, [stats()], method="multiple_choice_separate_original")
    found = list(helm.read(directory, options))
    assert [len(record.responses) for record in found] == [1, 0, 0]
    assert len({record.set_aside for record in found[1:]}) == 1
    (row,) = found[0].responses
    assert (row.answer, row.rule, row.gold, row.score_value, row.output) == ("B", "argmax", "B", 1.0, None)
    assert json.loads(row.extra["meta.option_scores"]) == [-1.2, -1.0, -3.0]
    assert json.loads(row.extra["meta.choices"]) == ["iron", "gold leaf", "tin"]


def test_calibrated_options_are_ranked_by_the_gain(run_directory, options):
    """Catches calibration requests read as further options."""
    states = [option(0, [-1.0]), option(1, [-2.0, -2.0]), option(2, [-3.0])]
    states += [option(0, [-1.0], "calibration"), option(1, [-5.0, -4.0], "calibration")]
    states += [option(2, [-3.5], "calibration")]
    directory = run_directory(states, method="multiple_choice_separate_calibrated")
    (row,) = rows(directory, options)
    assert (row.answer, json.loads(row.extra["meta.option_scores"])) == ("B", [0.0, 5.0, 0.5])


def test_a_tie_between_options_is_no_answer(run_directory, options):
    """Catches the first of tied options taken, as the harness does."""
    states = [option(0, [-1.0]), option(1, [-1.0, -1.0]), option(2, [-3.0])]
    directory = run_directory(states, [stats(value=0.5)], method="multiple_choice_separate_original")
    (row,) = rows(directory, options)
    assert (row.answer, row.status, row.rule, row.score_value) == (None, "unparsed", "tie", 0.5)
    assert any("tie at the top" in note for note in notes(directory, options))


def test_tokens_that_do_not_spell_the_option(run_directory, options):
    """Catches a log-likelihood of other tokens; what the harness predicted is taken, and nothing without it."""
    states = [option(0, [-1.0]), option(1, [-1.0, -1.0]), option(2, [-3.0])]
    for entry in states:
        entry["result"]["completions"][0]["tokens"][-1]["text"] = "bytes:\\xe2"
    predicted = stats(value=2, name="predicted_index")
    known = run_directory(states, [predicted], method="multiple_choice_separate_original")
    assert [(r.answer, r.rule) for r in rows(known, options)] == [("C", "harness_choice")]
    unknown = run_directory(states, [stats()], method="multiple_choice_separate_original")
    assert [(r.answer, r.status) for r in rows(unknown, options)] == [(None, "unparsed")]


def test_an_argmax_that_contradicts_the_harness_is_named(run_directory, options):
    """Catches two sources of one answer that differ in silence."""
    states = [option(0, [-1.0]), option(1, [-2.0, -2.0]), option(2, [-3.0])]
    directory = run_directory(
        states, [stats(value=1, name="predicted_index")], method="multiple_choice_separate_original"
    )
    assert rows(directory, options)[0].answer == "A"
    assert any("predicted_index" in note for note in notes(directory, options))


def test_separate_trials_and_copies_stay_apart(run_directory, options):
    """Catches options of different trials or perturbed copies compared with each other."""
    values = ([-1.0], [-2.0, -2.0], [-3.0])
    states = [option(i, v) for i, v in enumerate(values)]
    states += [option(i, v[::-1], train_trial_index=1) for i, v in enumerate(([-3.0], [-1.0, -1.0], [-2.0]))]
    states += [option(i, v, instance={"perturbation": TYPOS}) for i, v in enumerate(([-3.0], [-2.0, -2.0], [-1.0]))]
    found = rows(run_directory(states, method="multiple_choice_separate_original"), options)
    assert [(r.item, r.sample, r.answer) for r in found] == [
        ("id1", "0", "A"),
        ("id1", "1", "B"),
        ("id1 [typos(prob=0.1)]", "0", "C"),
    ]


def test_a_failed_option_makes_the_response_errored(run_directory, options):
    """Catches an argmax over the options that came back."""
    states = [option(0, [-1.0]), option(1, [-1.0, -1.0])]
    states[1]["result"] = {"success": False, "error": "timeout", "completions": []}
    (row,) = rows(run_directory(states, method="multiple_choice_separate_original"), options)
    assert (row.status, row.status_detail, row.answer) == ("errored", "timeout", None)


def test_yes_and_no_as_options_have_a_probability(run_directory, options):
    """Catches letters in place of yes and no, and p_yes from the wrong option."""
    references = [{"output": {"text": t}, "tags": ["correct"] if t == "Yes" else []} for t in ("No", "Yes")]
    states = []
    for index, (text, value) in enumerate([(" No", -2.0), (" Yes", -1.0)]):
        entry = option(0, [value], instance={"references": references}, reference_index=index)
        entry["result"]["completions"][0]["tokens"][-1]["text"] = text
        states.append(entry)
    (row,) = rows(run_directory(states, method="multiple_choice_separate_original"), options)
    assert (row.answer, row.gold) == ("yes", "yes")
    assert row.p_yes == pytest.approx(0.7310585786300049, rel=1e-12)


def test_references_that_are_no_options_are_questions_of_their_own(run_directory, options):
    """Catches passages ranked one by one that overwrite each other."""
    states = [state(reply="Yes", reference_index=i, output_mapping=None) for i in range(2)]
    found = rows(run_directory(states, method="ranking_binary"), options)
    assert [(r.item, r.unit) for r in found] == [("id1 [reference 0]", "id1"), ("id1 [reference 1]", "id1")]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("scenario_state.json", '{"request_states": [{"instance"', "JSON is cut off"),
        ("scenario_state.json", '{"request_states": []}', "no request states in the file"),
        ("scenario_state.json", '{"request_states": [3]}', "is no request state"),
        ("per_instance_stats.json", '[{"instance_id": "id1", "stats": [', "JSON is cut off"),
        ("per_instance_stats.json", "[{}]", "is no list of statistics"),
        ("per_instance_stats.json", "{}", "not a list of instances"),
        ("run_spec.json", "{}", 'lacks "name"'),
    ],
)
def test_damage_is_named_with_its_file(run_directory, options, name, text, reason):
    """Catches tracebacks, and rows of a run whose file was cut."""
    directory = run_directory([state()], [stats()])
    (directory / name).write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=reason) as caught:
        rows(directory, options)
    assert caught.value.path.endswith(name)
