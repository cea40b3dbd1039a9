"""Real logs of HELM, LightEval, Every Eval Ever, OpenAI evals and OpenCompass against counts made without importers."""

import csv
import json
import math
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from analysis.errors import LogError
from analysis.importers import every_eval_ever, helm, lighteval, openai_evals, opencompass
from analysis.importers.detect import IMPORTERS as ALL
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.schema.responses import record_batch

IMPORTERS = {
    "helm": helm,
    "lighteval": lighteval,
    "every-eval-ever": every_eval_ever,
    "openai evals": openai_evals,
    "opencompass": opencompass,
}
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


@cache
def expected_rows(shared: Path) -> tuple[dict[str, str], ...]:
    with (shared / "logs" / "EXPECTED.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(row for row in rows if row["format"].startswith(tuple(IMPORTERS)))


def importer_of(row: dict[str, str]):
    return next(module for name, module in IMPORTERS.items() if row["format"].startswith(name))


@cache
def records(shared: Path, path: str, module):
    return tuple(module.read(shared / "logs" / path, ReadOptions(shared / "logs")))


def logs(shared: Path, kind: str = ""):
    """Every file to read: what is expected, its records and its responses."""
    for row in expected_rows(shared):
        if row["verdict"] == "read" and row["format"].startswith(kind):
            found = records(shared, row["path"], importer_of(row))
            yield row, found, [r for record in found for r in record.responses]


def responses_of(shared: Path, part: str):
    """Responses of the only file whose path holds ``part``."""
    (found,) = [responses for row, _, responses in logs(shared) if part in row["path"]]
    return found


def counts_in(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in re.findall(r"([\w./-]+)=(\d+)(?![\d.])", text)}


def test_the_list_has_the_files_this_test_is_about(shared):
    """Catches a filter that leaves nothing to compare."""
    verdicts = Counter((row["format"].split()[0], row["verdict"].split(":")[0]) for row in expected_rows(shared))
    assert verdicts == {
        ("helm", "read"): 7,
        ("lighteval", "read"): 2,
        ("lighteval", "refuse"): 2,
        ("every-eval-ever", "read"): 6,
        ("every-eval-ever", "refuse"): 2,
        ("openai", "read"): 2,
        ("opencompass", "read"): 3,
    }


def test_every_file_is_claimed_by_its_importer_alone(shared):
    """Catches sniffing by extension, and two importers that both want a file."""
    for row in expected_rows(shared):
        look = probe(shared / "logs" / row["path"])
        wanted = Claim.LOG if row["verdict"] == "read" else Claim.COMPANION
        claims = {module: module.sniff(look) for module in ALL}
        assert claims.pop(importer_of(row)) is wanted, row["path"]
        assert set(claims.values()) == {Claim.NO}, row["path"]


def test_no_log_of_another_format_is_claimed(shared):
    """Catches markers that other harnesses write as well."""
    own = tuple(str(shared / "logs" / row["path"]) for row in expected_rows(shared))
    others = [p for p in (shared / "logs").rglob("*") if p.is_file() and not str(p).startswith(own)]
    assert len(others) > 50
    for path in others:
        look = probe(path)
        assert {module.sniff(look) for module in IMPORTERS.values()} == {Claim.NO}, path


def test_aggregates_give_the_reason_and_no_row(shared):
    """Catches rows invented from means."""
    refused = [row for row in expected_rows(shared) if row["verdict"].startswith("refuse")]
    for row in refused:
        with pytest.raises(LogError) as caught:
            records(shared, row["path"], importer_of(row))
        assert caught.value.reason == row["verdict"].removeprefix("refuse: ")


def test_counts_of_records_responses_items_and_models(shared):
    """Catches entries of statistics counted as responses, events counted as samples, shortened model names."""
    for row, found, responses in logs(shared):
        per_item = Counter((r.model, r.task, r.item) for r in responses)
        counted = {
            "n_records": len(found),
            "n_responses": len(responses),
            "n_items": len({r.item for r in responses}),
            "models": "; ".join(sorted({r.model for r in responses})),
            "samples_per_item": f"{min(per_item.values())},{max(per_item.values())}",
            "errored": sum(r.status == "errored" for r in responses),
            "unscored": sum(r.logged_score is None and r.status != "errored" for r in responses),
        }
        assert {key: str(value) for key, value in counted.items()} == {key: row[key] for key in counted}, row["path"]
        assert len({(r.model, r.task, r.item, r.sample) for r in responses}) == len(responses), row["path"]
        assert all(r.score_value is None for r in responses if r.logged_score is None)


def test_responses_fit_the_store_and_name_their_source(shared):
    """Catches values of a wrong type, and sources that are not relative or not told apart."""
    for row, _, responses in logs(shared):
        extra = tuple(sorted({key for r in responses for key in r.extra}))
        assert all(key.startswith(("meta.", "score.", "factor.")) for key in extra)
        assert record_batch(responses, extra).num_rows == len(responses)
        assert all(r.source.startswith(row["path"]) and len(r.source) > len(row["path"]) for r in responses)
        assert len({r.source for r in responses}) == len(responses)
        assert all(r.prompt_hash and r.prompt for r in responses)


def test_gold_answers(shared):
    """Catches indices, option texts and sentences taken for letters, and lists cut to their first entry."""
    kinds = Counter()
    for row, _, responses in logs(shared):
        wanted = row["gold_counts"]
        if wanted == "none":
            assert all(r.gold is None for r in responses), row["path"]
            kinds["none"] += 1
        elif size := re.search(r"(\d+) to \d+ (?:correct )?references", wanted):
            several = [json.loads(r.extra["meta.target"]) for r in responses if r.gold is None]
            assert all(len(texts) == int(size[1]) for texts in several), row["path"]
            # The others have references that differ in case only.
            assert len(several) == (4 if size[1] == "2" else 0), row["path"]
            kinds["references"] += 1
        elif distinct := re.match(r"text \((\d+) distinct\)", wanted):
            assert len({r.gold for r in responses}) == int(distinct[1]), row["path"]
            kinds["text"] += 1
        else:
            wanted = re.sub(r" \([^)]*\)$", "", wanted)
            assert "; ".join(f"{k}={v}" for k, v in sorted(Counter(r.gold for r in responses).items())) == wanted
            kinds["counts"] += 1
    assert kinds == {"none": 2, "references": 3, "text": 1, "counts": 14}


def named_scores(responses, name: str, main: str) -> list[float]:
    if name == main:
        return [r.score_value for r in responses if r.score_value is not None]
    return [float(r.extra[f"score.{name}"]) for r in responses if f"score.{name}" in r.extra]


def test_the_main_score(shared):
    """Catches another statistic taken as the main one, a mean over other rows, and lost precision."""
    checked = 0
    for row, _, responses in logs(shared):
        mean = re.search(rf"mean=({NUMBER}) over (\d+)", row["score_summary"])
        if mean is None:
            continue
        values = named_scores(responses, "main", "main")
        assert len(values) == int(mean[2]), row["path"]
        assert math.fsum(values) / len(values) == pytest.approx(float(mean[1]), rel=1e-12, abs=0), row["path"]
        by_value = {repr(float(value)): count for value, count in Counter(values).items()}
        summary = row["score_summary"].split("; is_correct")[0]
        for value, count in re.findall(r"(-?\d+\.\d+)=(\d+)(?![\d.])", summary):
            assert by_value[value] == int(count), (row["path"], value)
        for value, count in re.findall(r"(False|True)=(\d+)", row["score_summary"]):
            texts = [r.extra.get("score.is_correct", r.logged_score) for r in responses]
            assert texts.count(value.lower()) == int(count), row["path"]
        checked += 1
    assert checked == 17


def test_scores_beside_the_main_one(shared):
    """Catches statistics of one instance lost where they stand in several entries."""
    checked = 0
    for row, _, responses in logs(shared, "helm"):
        for name, mean in re.findall(rf"(\w+) mean=({NUMBER})", row["note"]):
            values = named_scores(responses, name, row["score_name"])
            assert len(values) == len(responses)
            assert math.fsum(values) / len(values) == pytest.approx(float(mean), rel=1e-12, abs=0), (row["path"], name)
            checked += 1
    assert checked == 10


def test_splits_of_one_run(shared):
    """Catches instances of two splits that are mixed up."""
    checked = 0
    for row, _, responses in logs(shared, "helm"):
        splits = re.search(r"splits ((?:\w+=\d+(?:; )?)+)", row["note"])
        assert Counter(r.extra["meta.split"] for r in responses) == counts_in(splits[1]), row["path"]
        for split, mean, count in re.findall(rf"(\w+)=({NUMBER}) \(n=(\d+)\)", row["score_summary"]):
            values = [r.score_value for r in responses if r.extra["meta.split"] == split]
            assert len(values) == int(count)
            assert math.fsum(values) / len(values) == pytest.approx(float(mean), rel=1e-12, abs=0)
            checked += 1
    assert checked == 6


def test_letters_answered(shared):
    """Catches letters looked up with their blanks, and the option's text in place of its letter."""
    checked = 0
    for row, _, responses in logs(shared):
        letters = re.search(r"letters ((?:[A-E]=\d+(?:; )?)+)", row["note"].replace("letters answered", "letters"))
        sampled = re.search(r"letters sampled ((?:[A-E]=\d+(?:; )?)+)", row["note"])
        if letters:
            assert Counter(r.answer for r in responses) == counts_in(letters[1]), row["path"]
            assert {r.rule for r in responses} == {"harness_choice"}
            checked += 1
        elif sampled:
            assert Counter(r.output for r in responses) == counts_in(sampled[1]), row["path"]
            checked += 1
    assert checked == 10


def test_the_letters_and_the_exact_match_agree(shared):
    """Catches gold letters or answers shifted by one, and the score of another instance."""
    checked = 0
    for row, _, responses in logs(shared, "helm"):
        if row["score_name"] == "exact_match":
            assert all((r.answer == r.gold) == (r.score_value == 1) for r in responses), row["path"]
            checked += len(responses)
    assert checked == 140


def test_normalised_text_may_credit_a_wrong_letter(shared):
    """Catches quasi_exact_match taken as the main score: it ignores a negation sign."""
    responses = responses_of(shared, "formal_logic")
    wrong = [r for r in responses if r.answer != r.gold and r.extra["score.quasi_exact_match"] == "1.0"]
    assert [(r.item, r.gold, r.answer) for r in wrong] == [("id115", "D", "C")]


def test_polarity_and_context_of_bbq(shared):
    """Catches a substring test, which finds "negative" in "non-negative" and "ambiguous" in "non-ambiguous"."""
    rows = [(row, r) for row, _, r in logs(shared, "helm") if "/bbq:" in row["path"]]
    assert len(rows) == 2
    for row, responses in rows:
        wanted = counts_in(re.search(r"tags ([^;]*)", row["note"])[1])
        found = Counter(f"{r.extra['factor.question_polarity']}/{r.extra['factor.context']}" for r in responses)
        assert found == wanted


def outcomes(first, second) -> tuple[int, int, int, int]:
    """Both right, first only, second only, neither, over the items of both."""
    one, two = ({r.item: right(r) for r in responses} for responses in (first, second))
    assert one.keys() == two.keys()
    pairs = Counter((one[item], two[item]) for item in one)
    return pairs[True, True], pairs[True, False], pairs[False, True], pairs[False, False]


def right(response) -> bool:
    return (response.answer or sole_letter(response.output)) == response.gold


def test_two_models_on_bbq_are_paired_by_item(shared):
    """Catches tasks that differ by the model's name, and items that differ between runs."""
    haiku, llama = responses_of(shared, "claude-3-haiku"), responses_of(shared, "meta_llama-3-8b")
    assert outcomes(haiku, llama) == (30, 15, 0, 5)
    assert {r.task for r in haiku} == {r.task for r in llama} == {"bbq:subject=all,method=multiple_choice_joint"}
    assert {(r.item, r.prompt_hash) for r in haiku} == {(r.item, r.prompt_hash) for r in llama}


@pytest.mark.parametrize(("run", "instances"), [("dataset=hellaswag", "None/hellaswag"), ("philosophy", "None/mmlu")])
def test_a_helm_run_and_its_conversion_give_equal_rows(shared, run, instances):
    """Catches replies, ids, gold letters or scores changed by either of two importers."""
    one, two = responses_of(shared, run), responses_of(shared, instances)
    names = ("model", "item", "output", "answer", "gold", "score_value", "tokens_in", "tokens_out", "latency", "prompt")
    assert [[getattr(r, n) for n in names] for r in one] == [[getattr(r, n) for n in names] for r in two]


def test_a_generated_run_and_its_conversion_give_equal_replies(shared):
    """Catches references taken for options: the conversion repeats them there."""
    one, two = responses_of(shared, "helm/narrative_qa"), responses_of(shared, "None/narrativeqa")
    names = ("model", "item", "output", "answer", "gold")
    assert [[getattr(r, n) for n in names] for r in one] == [[getattr(r, n) for n in names] for r in two]
    assert all(r.answer is None for r in one)


def test_judges_of_one_response(shared):
    """Catches one row per judge."""
    responses = responses_of(shared, "anthropic_red_team")
    assert [r.score_value for r in responses] == [1.0, 1.0]
    for response in responses:
        assert {k: v for k, v in response.extra.items() if "score" in k} == {
            "score.art_gpt_score": "1.0",
            "score.art_claude_score": "1.0",
            "meta.anthropic_red_team.claude_score": "1.0",
            "meta.anthropic_red_team.gpt_score": "1.0",
        }


def test_lighteval_answers(shared):
    """Catches option texts with their blank, and the gold index beside words as answers."""
    anli, squad = responses_of(shared, "details_anli"), responses_of(shared, "details_squad_v2")
    assert Counter(r.answer for r in anli) == {"Neither": 1, "True": 1}
    assert {(r.rule, r.output, r.task) for r in anli} == {("argmax", None, "anli:r1|0")}
    assert {(r.answer, r.output, r.task) for r in squad} == {(None, "random baseline", "squad_v2|0")}
    assert not any("model named after" in n for record in records_of(shared, "details_") for n in record.notes)


def records_of(shared: Path, part: str):
    return [record for row, found, _ in logs(shared) if part in row["path"] for record in found]


def test_yes_of_pubmed(shared):
    """Catches letters that stand for the wrong option."""
    responses = responses_of(shared, "pubmed_qa")
    chosen = [json.loads(r.extra["meta.choices"])["ABC".index(r.answer)] for r in responses]
    assert chosen == ["yes", "yes"]
    assert [r.output for r in responses] == ["ANSWER: A", "ANSWER: A"]


def test_the_final_report_agrees_with_the_samples(shared):
    """Catches events joined by place: they are not in the order of the samples."""
    notes = [note for row, found, _ in logs(shared, "openai") for record in found for note in record.notes]
    assert notes == []
    rows = [r for row, _, found in logs(shared, "openai") for r in found]
    places = [int(r.item.rpartition(".")[2]) for r in rows]
    assert places != sorted(places)
    assert sum(r.output.strip() == r.gold for r in rows) <= sum(r.score_value == 1 for r in rows)


def sole_letter(text: str) -> str:
    """The one letter of A-D that occurs, else several or none."""
    found = {letter for letter in "ABCD" if letter in text}
    return found.pop() if len(found) == 1 else "several" if found else "none"


def tagged_letter(text: str) -> str | None:
    found = re.search(r"\[正确答案\]([A-D])<eoa>", text)
    return found[1] if found else None


@pytest.mark.parametrize("model", ["GPT4", "qwen-7b-chat-hf"])
def test_lawbench_by_the_rule_that_gives_the_published_numbers(shared, model):
    """Catches texts cut, gold letters taken from the sentence wrongly, and entries in the order of texts (10 < 2)."""
    (row,) = [row for row, _, _ in logs(shared, "opencompass") if f"/{model}/" in row["path"]]
    responses = responses_of(shared, f"/{model}/")
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for response in responses:
        table[response.gold][sole_letter(response.output)] += 1
    for gold, cells in re.findall(r"gold (\w+): ([^;]*)", row["yes_no_table"]):
        wanted = counts_in(cells)
        assert {answer: table[gold][answer] for answer in wanted} == wanted, gold
    right_count, mean = re.search(rf"right=(\d+) of 500, mean=({NUMBER})", row["score_summary"]).groups()
    found = sum(sole_letter(r.output) == r.gold for r in responses)
    assert (found, found / 500) == (int(right_count), float(mean))
    tags = Counter(tagged_letter(r.output) or "tag" for r in responses)
    assert tags == counts_in(re.search(r"followed by eoa: (.*?); right", row["note"])[1].replace("no tag", "tag"))
    by_tag = sum(tagged_letter(r.output) == r.gold for r in responses)
    assert by_tag == int(re.search(r"right by the tag=(\d+)", row["note"])[1])
    assert [r.item for r in responses] == [str(index) for index in range(500)]


def test_two_models_on_lawbench_are_paired_by_index(shared):
    """Catches pairing on the prompt, which differs by chat template; the hash of the question does not."""
    gpt, qwen = responses_of(shared, "/GPT4/"), responses_of(shared, "/qwen-7b-chat-hf/")
    assert outcomes(gpt, qwen) == (123, 153, 47, 177)
    assert [r.prompt_hash for r in gpt] == [r.prompt_hash for r in qwen]
    assert all(one.prompt != two.prompt for one, two in zip(gpt, qwen, strict=True))


def test_an_object_as_gold_is_no_right_answer(shared):
    """Catches the description of an item that becomes its gold answer."""
    responses = responses_of(shared, "COREV2_6A_")
    assert [r.gold for r in responses] == [None] * 8
    assert all(r.extra["meta.capability"] for r in responses)
    assert {(r.timestamp, r.run) for r in responses} == {("2023-12-08T19:43:51", "20231208_194351")}
