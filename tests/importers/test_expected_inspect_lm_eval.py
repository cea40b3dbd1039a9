"""Real logs of Inspect and lm-eval against counts that were made without the importers (``EXPECTED.tsv``)."""

import csv
import json
import math
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from analysis.errors import LogError
from analysis.importers import inspect_ai, lm_eval
from analysis.importers.inspect_scores import scale, score_number
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.schema.responses import record_batch

IMPORTERS = {"inspect": inspect_ai, "lm-eval": lm_eval}
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


@cache
def expected_rows(shared: Path) -> tuple[dict[str, str], ...]:
    with (shared / "logs" / "EXPECTED.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(row for row in rows if row["format"].startswith(tuple(IMPORTERS)))


@cache
def records(shared: Path, path: str, importer: str):
    module = IMPORTERS[importer]
    return tuple(module.read(shared / "logs" / path, ReadOptions(shared / "logs")))


def logs(shared: Path, verdict: str):
    """Every file with that verdict: what is expected, its records and its responses in the file."""
    for row in expected_rows(shared):
        if row["verdict"].startswith(verdict):
            importer = next(name for name in IMPORTERS if row["format"].startswith(name))
            found = [r for r in records(shared, row["path"], importer) if r.in_file] if verdict == "read" else []
            yield row, found, [response for record in found for response in record.responses]


def test_the_list_has_the_files_this_test_is_about(shared):
    """Catches a filter that leaves nothing to compare."""
    verdicts = Counter((row["format"].split()[0], row["verdict"].split(":")[0]) for row in expected_rows(shared))
    assert verdicts == {
        ("inspect", "read"): 22,
        ("inspect", "refuse"): 3,
        ("lm-eval", "read"): 15,
        ("lm-eval", "refuse"): 11,
    }


def test_every_file_is_claimed_by_its_importer_alone(shared):
    """Catches sniffing by extension, and two importers that both want a file."""
    for row in expected_rows(shared):
        look = probe(shared / "logs" / row["path"])
        claims = {name: module.sniff(look) for name, module in IMPORTERS.items()}
        mine = "inspect" if row["format"].startswith("inspect") else "lm-eval"
        wanted = Claim.COMPANION if row["format"] == "lm-eval results" else Claim.LOG
        assert claims.pop(mine) == wanted, row["path"]
        assert set(claims.values()) == {Claim.NO}, row["path"]


def test_no_log_of_another_format_is_claimed(shared):
    """Catches markers that other harnesses write as well."""
    others = [
        p for p in (shared / "logs").rglob("*") if p.is_file() and "inspect_" not in str(p) and "lm_eval" not in str(p)
    ]
    assert len(others) > 50
    for path in others:
        look = probe(path)
        assert {module.sniff(look) for module in IMPORTERS.values()} == {Claim.NO}, path


def test_refused_files_give_the_reason_and_no_row(shared):
    """Catches rows invented from a header that claims an accuracy."""
    for row, _, _ in logs(shared, "refuse"):
        importer = next(name for name in IMPORTERS if row["format"].startswith(name))
        with pytest.raises(LogError) as caught:
            records(shared, row["path"], importer)
        assert caught.value.reason == row["verdict"].removeprefix("refuse: ")


def test_counts_of_records_responses_items_and_models(shared):
    """Catches filters and repeats counted as documents, lost epochs, and shortened model names."""
    for row, found, responses in logs(shared, "read"):
        per_item = Counter((r.model, r.item) for r in responses)
        counted = {
            "n_records": len(found),
            "n_responses": len(responses),
            "n_items": len({r.item for r in responses}),
            "models": "; ".join(sorted({r.model for r in responses})),
            "samples_per_item": f"{min(per_item.values())},{max(per_item.values())}",
            "errored": sum(r.status == "errored" for r in responses),
        }
        assert {key: str(value) for key, value in counted.items()} == {key: row[key] for key in counted}, row["path"]
        assert len({(r.model, r.task, r.item, r.sample) for r in responses}) == len(responses), row["path"]


def test_responses_fit_the_store_and_name_their_source(shared):
    """Catches values of a wrong type, half surrogates, and sources that are not relative."""
    for row, _, responses in logs(shared, "read"):
        extra = tuple(sorted({key for r in responses for key in r.extra}))
        assert all(key.startswith(("meta.", "score.", "factor.")) for key in extra)
        assert record_batch(responses, extra).num_rows == len(responses)
        assert all(r.source.startswith(row["path"]) and len(r.source) > len(row["path"]) for r in responses)
        assert len({r.source for r in responses}) * 3 >= len(responses)


def test_unscored_rows_have_neither_text_nor_number(shared):
    """Catches a missing score read as 0; repeats share the score of their document."""
    for row, _, responses in logs(shared, "read"):
        scored = {(r.model, r.item) for r in responses if r.logged_score is not None}
        repeats = row["n_records"] != row["n_responses"]
        rest = [r for r in responses if r.logged_score is None and r.status != "errored"]
        unscored = [r for r in rest if not (repeats and (r.model, r.item) in scored)]
        assert len(unscored) == int(row["unscored"]), row["path"]
        assert all(r.score_value is None for r in rest), row["path"]


def test_gold_answers(shared):
    """Catches leading blanks kept, indices taken for answers, and lists of targets cut to their first."""
    for row, _, responses in logs(shared, "read"):
        wanted = row["gold_counts"]
        if wanted.startswith("none"):
            assert all(r.gold is None for r in responses), row["path"]
        elif wanted.startswith("text"):
            assert len({r.gold for r in responses}) == int(re.search(r"\d+", wanted)[0]), row["path"]
        elif wanted.startswith("list"):
            assert [(r.gold, json.loads(r.extra["meta.target"])) for r in responses] == [(None, ["2", "2.0"])]
        elif "index" in wanted:
            counts = Counter(r.gold for r in responses)
            assert wanted.startswith("; ".join(f"{k}={v}" for k, v in sorted(counts.items()))), row["path"]
        else:
            counts = Counter(r.extra.get("meta.target", r.gold) for r in responses)
            assert "; ".join(f"{k}={v}" for k, v in sorted(counts.items())) == wanted, row["path"]


def test_gold_of_an_index_is_the_label_of_its_choice(shared):
    """Catches a gold answer in another vocabulary than the answers: 0-3 beside A-D."""
    (responses,) = [r for row, _, r in logs(shared, "read") if "negotiationtom" in row["path"]]
    assert Counter(r.gold for r in responses) == {"A": 9, "B": 2, "C": 3, "D": 6}
    assert all((r.answer == r.gold) == (r.score_value == 1) for r in responses)


def scores_of(responses, name: str, main: str) -> list[tuple[str, float | None]]:
    if name == main:
        return [(r.logged_score, r.score_value) for r in responses if r.logged_score is not None]
    texts = [r.extra[f"score.{name}"] for r in responses if f"score.{name}" in r.extra]
    return [(text, score_number(text, scale(texts))) for text in texts]


def check_scores(scores, summary: str, path: str) -> None:
    """Compare counts by value and the mean with a summary such as ``C=5; NaN=2; mean=0.5 over 5``."""
    numbers = [number for _, number in scores if number is not None]
    mean = re.search(rf"mean=({NUMBER})(?: over (\d+))?", summary)
    assert math.fsum(numbers) / len(numbers) == pytest.approx(float(mean[1]), rel=1e-12), path
    assert mean[2] is None or len(numbers) == int(mean[2]), path
    wanted = dict(re.findall(r"(?<![\w.])([A-Za-z]\w*|-?\d+\.\d+)=(\d+)(?![\d.])", summary))
    counts = Counter(text for text, _ in scores)
    by_number = Counter(repr(number) for number in numbers)
    for value, count in wanted.items():
        if value != "mean":
            assert (counts[value] or by_number[value]) == int(count), (path, value)


def test_scores_of_inspect_logs(shared):
    """Catches letters on a wrong scale, NaN averaged as 0, and the wrong scorer taken as the main one."""
    checked = 0
    for row, _, responses in logs(shared, "read"):
        if row["format"].startswith("inspect") and row["score_name"] != "-":
            check_scores(
                scores_of(responses, row["score_name"], row["score_name"]),
                row["score_summary"].split(" | ")[0],
                row["path"],
            )
            for name, summary in re.findall(r"scorer (\w+): (\S+=\S.*?mean=\S+ over \d+)", row["note"]):
                check_scores(scores_of(responses, name, row["score_name"]), summary, row["path"])
                checked += 1
            for key, mean in re.findall(rf"(\w+) mean=({NUMBER})", row["note"].partition("dictscore:")[2]):
                values = [float(r.extra[f"score.dictscore.{key}"]) for r in responses if r.status != "errored"]
                assert math.fsum(values) / 17 == pytest.approx(float(mean), rel=1e-12)
                checked += 1
    assert checked == 8


def test_scores_of_lm_eval_files(shared):
    """Catches list metrics averaged, the main metric not taken by the rule, scores repeated over replies."""
    checked = 0
    for row, _, responses in logs(shared, "read"):
        if row["format"] == "lm-eval samples":
            for part in row["score_summary"].split("; "):
                found = re.match(rf"(\w+)(?:,([\w@-]+))? mean={NUMBER} over", part)
                if found and found[2] in (None, "strict-match"):
                    check_scores(
                        scores_of(responses, found[1], row["score_name"]), row_part(row, found[0]), row["path"]
                    )
                    checked += 1
    assert checked == 31


def row_part(row: dict[str, str], start: str) -> str:
    """The summary of one metric, with its counts in parentheses if it has them."""
    summary = row["score_summary"]
    tail = summary[summary.index(start) :]
    return re.match(r"[^;(]*(?:\([^)]*\))?", tail)[0]


def test_resolved_models(shared):
    """Catches the requested name copied into the column for the model that answered."""
    for row, _, responses in logs(shared, "read"):
        named = re.search(r"resolved model ([^;]+)", row["note"])
        if named:
            assert {r.model_resolved for r in responses} <= {named[1].strip(), None, *(r.model for r in responses)}
            assert named[1].strip() in {r.model_resolved for r in responses}


def test_letters_and_shuffled_choices(shared):
    """Catches letters taken from the model's own order where the body of the log is in the original one."""
    for row, _, responses in logs(shared, "read"):
        letters = re.search(r"letters read after ANSWER: ([^;]*(?:; \w+=\d+)*)", row["note"])
        if letters:
            counts = Counter(r.answer or "other" for r in responses if r.status != "errored")
            assert counts == {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", letters[1])}, row["path"]
        if "choices were shuffled" in row["note"]:
            scored = [r for r in responses if r.status != "errored"]
            assert Counter(r.extra.get("meta.letter_sent") for r in scored) == {"A": 8, "B": 7, None: 2}
            # The other eight were shuffled into the order they had.
            assert sum(r.extra.get("meta.choices_shuffled") == "true" for r in scored) == 9
            moved = [r for r in scored if r.answer and r.extra["meta.letter_sent"] != r.answer]
            assert 0 < len(moved) <= 9


def test_ties_are_named_and_not_answered(shared):
    """Catches ties broken silently towards the first choice, and a comparison of log-likelihoods as text."""
    seen = 0
    for row, _, responses in logs(shared, "read"):
        ties = re.search(r"exact ties at the top=(\d+)", row["note"])
        if ties:
            tied = [r for r in responses if r.rule == "tie"]
            assert len(tied) == int(ties[1])
            assert all(r.answer is None and r.status == "unparsed" for r in tied)
            clear = [r for r in responses if r.rule == "argmax"]
            assert len(clear) + len(tied) == len(responses)
            assert all((r.answer == r.gold) == (r.score_value == 1) for r in clear)
            seen += 1
    assert seen == 3


def answers(responses) -> list[str]:
    """Answers as the reader finds them; a letter stands for its choice."""
    extra = tuple(sorted({key for r in responses for key in r.extra}))
    read = read_answers(record_batch(responses, extra), ReadingPolicy()).column("answer").to_pylist()
    return ["other" if label is None else word(label, r) for label, r in zip(read, responses, strict=True)]


def word(label: str, response) -> str:
    choices = json.loads(response.extra.get("meta.choices", "[]"))
    folded = [choice.strip().casefold() for choice in choices]
    if {"yes", "no"} <= set(folded) and len(label) == 1:
        return folded[ord(label) - ord("A")]
    return label if len(label) == 1 else label.casefold()


def test_yes_no_tables(shared):
    """Catches answers or gold mixed up: the table crosses both."""
    checked = 0
    for row, _, responses in logs(shared, "read"):
        table = row["yes_no_table"].rpartition("ties as other: ")[2]
        if table == "-":
            continue
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for response, answer in zip(responses, answers(responses), strict=True):
            if response.status != "errored":
                counts[word(response.gold, response)][answer] += 1
        for gold, cells in re.findall(r"gold (\w+): ([^;]*)", table):
            wanted = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", cells)}
            assert {k: counts[gold][k] for k in wanted} == wanted, (row["path"], gold)
            checked += sum(wanted.values())
    assert checked == 989


def test_both_containers_of_one_log_give_equal_rows(shared):
    """Catches a difference between the two readers of Inspect logs."""
    base = "UKGovernmentBEIS+inspect_ai/tests/log/test_eval_log/log_formats"
    (one,) = records(shared, f"inspect_eval/{base}.eval", "inspect")
    (two,) = records(shared, f"inspect_json/{base}.json", "inspect")
    first, second = one.responses[0], two.responses[0]
    different = {n for n in first.__slots__ if getattr(first, n) != getattr(second, n)}
    assert different <= {"source", "run", "timestamp"}
