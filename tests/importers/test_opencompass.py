"""OpenCompass predictions, synthetic: texts, perplexities, probabilities, rounds, shards, names, damage."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import opencompass
from analysis.importers.opencompass_rows import question_hash
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

FOLDER = "outputs/20240102_030405/predictions/parrot-7b"


def entry(reply: Any = "B", **changes: Any) -> dict[str, Any]:
    return {"origin_prompt": "Which?", "prediction": reply, "gold": "A"} | changes


def ppl(values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An entry of the perplexity inferencer."""
    blocks = {
        f"label: {label}": {"testing input": f"Which? {label}", "prompt": f"shots Which? {label}", "PPL": value}
        for label, value in values.items()
    }
    return {"in-context examples": "shots", **blocks} | changes


@pytest.fixture
def predictions(tmp_path) -> Callable[..., Path]:
    """Write entries, keyed by index unless they are an object already."""

    def write(entries: Any, name: str = "colours.json", folder: str = FOLDER, indent: int | None = 4) -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        keyed = {str(index): value for index, value in enumerate(entries)} if isinstance(entries, list) else entries
        path.write_text(json.dumps(keyed, indent=indent, ensure_ascii=False), encoding="utf-8")
        return path

    return write


def rows(path: Path, options: ReadOptions):
    return [response for record in opencompass.read(path, options) for response in record.responses]


def notes(path: Path, options: ReadOptions) -> list[str]:
    return [note for record in opencompass.read(path, options) for note in record.notes]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (json.dumps({"0": entry()}), Claim.LOG),
        (json.dumps({"0": ppl({"A": 1.0})}), Claim.LOG),
        (json.dumps(entry() | {"idx": 0}), Claim.LOG),
        ('{"0": {"origin_prompt": "' + "x" * 90_000, Claim.LOG),
        ('{"0": {"text": "x"}}', Claim.NO),
        ('{"items": {"origin_prompt": "x"}}', Claim.NO),
        ('{"origin_prompt": "x", "prediction": "y"}', Claim.NO),
        ("[]", Claim.NO),
    ],
)
def test_only_predictions_are_claimed(tmp_path, text, claim):
    """Catches any object with numbered keys claimed, and a first entry that is longer than what is looked at."""
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    assert opencompass.sniff(probe(path)) is claim


def test_results_belong_to_their_predictions(predictions, tmp_path, options):
    """Catches a mean read as a row, and correctness that the harness recorded lost."""
    path = predictions([entry(), entry("A"), entry("C")])
    results = predictions(
        {"accuracy": 33.3, "details": {"0": {"correct": False}, "1": {"correct": [True]}}},
        folder=FOLDER.replace("predictions", "results"),
    )
    assert opencompass.sniff(probe(results)) is Claim.COMPANION
    assert [(r.logged_score, r.score_value) for r in rows(path, options)] == [
        ("false", 0.0),
        ("true", 1.0),
        (None, None),
    ]
    assert rows(path, ReadOptions(options.root, scorer="bleu"))[0].logged_score is None
    loose = tmp_path / "y.json"
    loose.write_text('{"accuracy": 33.3}', encoding="utf-8")
    assert opencompass.sniff(probe(loose)) is Claim.NO
    results.write_text('{"details": ', encoding="utf-8")
    assert any("results of this run cannot be read" in note for note in notes(path, options))


def test_columns(predictions, options):
    """Catches the model taken from elsewhere than its folder, and entries in the order of texts (10 before 2)."""
    found = rows(predictions([entry(str(n)) for n in range(12)]), options)
    assert [(r.item, r.output) for r in found] == [(str(n), str(n)) for n in range(12)]
    row = found[2]
    assert (row.model, row.task, row.run, row.timestamp) == (
        "parrot-7b",
        "colours",
        "20240102_030405",
        "2024-01-02T03:04:05",
    )
    assert (row.gold, row.prompt, row.answer, row.strategy) == ("A", "Which?", None, None)
    assert row.source == f'{FOLDER}/colours.json:["2"]'


def test_a_folder_between_is_the_strategy(predictions, options):
    """Catches two prompting strategies of one model taken for the same run."""
    path = predictions([entry()], folder="predictions/one_shot/parrot-7b")
    (row,) = rows(path, options)
    assert (row.model, row.strategy) == ("parrot-7b", "one_shot")
    assert any("read as the strategy" in note for note in notes(path, options))


def test_a_file_directly_in_predictions_has_no_model(predictions, options):
    """Catches the folder predictions taken for a model."""
    path = predictions([entry()], folder="predictions")
    assert rows(path, options)[0].model == "unknown"
    assert any("no folder names the model" in note for note in notes(path, options))


@pytest.mark.parametrize(
    ("fields", "gold", "target"),
    [
        ({"gold": " A "}, "A", None),
        ({"gold": 3}, "3", None),
        ({"gold": ["A"]}, "A", None),
        ({"gold": ["A", "B"]}, None, '["A", "B"]'),
        ({"gold": {"capability": "x"}}, None, None),
        ({"gold": None, "refr": "正确答案：C。"}, "C", "正确答案：C。"),
        ({"gold": None, "refr": "正确答案:AC"}, "正确答案:AC", None),
        ({"gold": None, "refr": "甲公司A应当赔偿"}, "甲公司A应当赔偿", None),
        ({"gold": None}, None, None),
    ],
)
def test_gold(predictions, options, fields, gold, target):
    """Catches a letter taken from any sentence, objects as answers, and lists cut to their first entry."""
    (row,) = rows(predictions([entry(**fields)]), options)
    assert (row.gold, row.extra.get("meta.target")) == (gold, target)


def test_the_question_is_the_same_under_every_chat_template():
    """Catches items that seem to differ between models because their templates do."""
    bare = "Which?\nA: x"
    templates = [
        bare,
        f"<|im_start|>user\n{bare}<|im_end|>\n<|im_start|>assistant\n",
        f"<reserved_106>{bare}<reserved_107>",
        f"<s>[INST] {bare} [/INST]",
        [{"role": "HUMAN", "prompt": bare}, {"role": "BOT", "prompt": ""}],
    ]
    assert len({question_hash(prompt) for prompt in templates}) == 1
    assert question_hash("Which?\nA: y") != question_hash(bare)
    assert question_hash(None) is None


def test_messages_empty_and_absent_predictions(predictions, options):
    """Catches empty replies called wrong or missing, and an absent prediction called empty."""
    prompt = [{"role": "SYSTEM", "prompt": "Short."}, {"role": "HUMAN", "prompt": "Which?"}]
    first, second, third = rows(predictions([entry("", origin_prompt=prompt), entry(None), entry(2)]), options)
    assert (first.output, first.status, first.prompt) == ("", None, "SYSTEM: Short.\nHUMAN: Which?")
    assert (second.output, second.status) == (None, "missing")
    assert (third.output, third.status) == ("2", None)


def test_several_predictions_are_samples(predictions, options):
    """Catches a list printed as one reply."""
    found = rows(predictions([entry(["A", "B"])]), options)
    assert [(r.item, r.sample, r.output, r.gold) for r in found] == [("0", "0", "A", "A"), ("0", "1", "B", "A")]


def test_rounds_of_a_conversation_are_items_of_one_unit(predictions, options):
    """Catches rounds with different questions read as repeats of one question."""
    talk = {"origin_prompt": [[{"role": "HUMAN", "prompt": p}] for p in ("first?", "second?")]}
    found = rows(predictions([talk | {"prediction": ["A", "B"], "gold": ["A", "C"]}]), options)
    assert [(r.item, r.unit, r.sample, r.output, r.gold, r.prompt) for r in found] == [
        ("0.1", "0", "0", "A", "A", "HUMAN: first?"),
        ("0.2", "0", "0", "B", "C", "HUMAN: second?"),
    ]


def test_the_lowest_perplexity_is_the_answer(predictions, options):
    """Catches the largest value taken, values compared as texts, and label blocks read as rows."""
    path = predictions([ppl({"A": 10.5, "B": 9.25, "C": 100.0}, prediction="B", gold="C")])
    (row,) = rows(path, options)
    assert (row.answer, row.rule, row.gold, row.output, row.status) == ("B", "lowest_ppl", "C", None, None)
    assert (json.loads(row.extra["meta.choices"]), json.loads(row.extra["meta.ppl"])) == (
        ["A", "B", "C"],
        [10.5, 9.25, 100.0],
    )
    assert (row.prompt, row.p_yes) == ("Which? A", None)
    assert not any("lowest perplexity" in note for note in notes(path, options))


def test_tied_perplexities_are_no_answer(predictions, options):
    """Catches the first of tied labels taken, as the harness does."""
    path = predictions([ppl({"A": 2.0, "B": 2.0}, prediction="A"), ppl({"A": 2.0, "B": float("nan")})])
    tie, lacking = rows(path, options)
    assert (tie.answer, tie.rule, tie.status) == (None, "tie", "unparsed")
    assert (lacking.answer, lacking.status) == (None, "unparsed")
    assert any("tie at the top" in note for note in notes(path, options))


def test_a_prediction_that_contradicts_the_perplexities_is_named(predictions, options):
    """Catches two answers of one entry that differ in silence."""
    path = predictions([ppl({"A": 1.0, "B": 2.0}, prediction="B")])
    assert rows(path, options)[0].answer == "A"
    assert any("lowest perplexity" in note for note in notes(path, options))


def test_labels_that_are_words(predictions, options):
    """Catches gold in another vocabulary than the answers: a number, or the text of a long label."""
    words = ppl({" Yes": 2.0, " No": 1.0}, gold=" Yes", prediction=" No")
    long = ppl({"The first of the two": 1.0, "The second of the two": 2.0}, gold="The second of the two")
    place = ppl({"left": 1.0, "right": 2.0}, gold=1)
    found = rows(predictions([words, long, place]), options)
    assert [(r.answer, r.gold) for r in found] == [("no", "yes"), ("A", "B"), ("left", "right")]


def test_probabilities_of_choices(predictions, options):
    """Catches a list of probabilities read as several replies."""
    clp = {"testing input": "Red?", "prompt": "Red?", "choices": ["yes", "no"], "pred_label": 1, "gold": 0}
    (row, uneven) = rows(predictions([clp | {"prediction": [0.2, 0.6]}, clp | {"prediction": [0.2]}]), options)
    assert (row.answer, row.gold, row.p_yes) == ("no", "yes", pytest.approx(0.25, rel=1e-12))
    assert (uneven.answer, uneven.status) == (None, "unparsed")


@pytest.mark.parametrize("indent", [4, None])
def test_shards_that_tile_are_one_data_set(predictions, options, indent):
    """Catches keys that restart at 0 taken for the same items, and shards in the order of texts (10 before 2)."""
    paths = [predictions([entry(), entry()], f"colours_{n}.json", indent=indent) for n in range(11)]
    paths.append(predictions([entry()], "colours_11.json", indent=indent))
    found = [r for path in paths for r in rows(path, options)]
    assert [r.item for r in found] == [str(n) for n in range(23)]
    assert {(r.task, r.run) for r in found} == {("colours", "20240102_030405")}


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ({0: 2, 2: 1}, "numbers 0, 2"),
        ({1: 2, 2: 2}, "numbers 1, 2"),
        ({0: 1, 1: 2}, "items 1, 2"),
        ({0: 2, 1: 1, 2: 2}, "items 2, 1, 2"),
    ],
)
def test_shards_that_do_not_tile_are_read_apart(predictions, options, sizes, why):
    """Catches items numbered past a lost or unfinished shard, which would pair them with the wrong questions."""
    paths = [predictions([entry()] * size, f"colours_{n}.json") for n, size in sizes.items()]
    assert {r.task for path in paths for r in rows(path, options)} == {f"colours_{n}" for n in sizes}
    assert any(why in note for note in notes(paths[0], options))


def test_a_shard_that_skips_an_index_does_not_tile(predictions, options):
    """Catches a size that hides a lost item."""
    first = predictions({"0": entry(), "2": entry()}, "colours_0.json")
    predictions([entry()], "colours_1.json")
    assert {r.task for r in rows(first, options)} == {"colours_0"}


def test_names_that_end_in_a_number_by_themselves(predictions, options):
    """Catches a data set cut out of its name."""
    (row,) = rows(predictions([entry()], "colours_0.json"), options)
    assert row.task == "colours_0"
    predictions([entry()], "colours_1.json")
    predictions([entry()], "colours.json")
    (row,) = rows(predictions([entry()], "colours_0.json"), options)
    assert (row.task, row.item) == ("colours_0", "0")


def test_skipped_indices_are_missing(predictions, options):
    """Catches items that were planned and are not in the file lost from the denominators."""
    found = list(opencompass.read(predictions({"0": entry(), "2": entry()}), options))
    assert [(record.in_file, record.responses[0].item, record.responses[0].status) for record in found] == [
        (True, "0", None),
        (True, "2", None),
        (False, "1", "missing"),
    ]


def test_json_lines(tmp_path, options):
    """Catches failed calls scored as answers, and two data sets of one file taken for repeats."""
    lines = [
        entry() | {"id": 0, "data_abbr": "a", "success": True},
        entry("") | {"id": 1, "data_abbr": "a", "success": False},
        entry() | {"id": 0, "data_abbr": "b", "success": True},
    ]
    path = tmp_path / "predictions" / "parrot" / "x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert opencompass.sniff(probe(path)) is Claim.LOG
    found = rows(path, options)
    assert [(r.task, r.item, r.status) for r in found] == [("a", "0", None), ("a", "1", "errored"), ("b", "0", None)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"0": {"origin_prompt": "x", "prediction": "A"}, "0": {"origin_prompt": "x"}}', "index 0 stands twice"),
        ('{"0": {"origin_prompt": "x"}, "a": {}}', "is no index"),
        ('{"0": {"origin_prompt": "x"}, "1": []}', 'entry "1" is no JSON object'),
        ('{"0": {"origin_prompt": "x"}, "1": {}}', "neither a prompt nor a prediction"),
        ('{"0": {"origin_prompt": "x"}, "99999999": {"prediction": "A"}}', "with only 2 entries"),
        ('{"0": {"origin_prompt": "x"', "JSON is cut off"),
        ("{}", "no predictions in the file"),
    ],
)
def test_damage_is_named(tmp_path, options, text, reason):
    """Catches tracebacks, runs appended to each other, and millions of invented rows."""
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=reason):
        rows(path, options)
