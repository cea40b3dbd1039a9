"""Rows of lm-evaluation-harness samples: filters, repeats, metrics, generations of the file."""

import hashlib
import json

import pytest

from analysis.errors import LogError
from analysis.importers import lm_eval
from analysis.importers.protocol import ReadOptions


def rows(path, options):
    return [response for record in lm_eval.read(path, options) for response in record.responses]


def notes(path, options):
    return " | ".join(note for record in lm_eval.read(path, options) for note in record.notes)


def test_a_generated_answer_is_one_row(samples_file, build, options):
    """Catches the filtered text taken for what the model said, and a task name cut at its underscores."""
    row = build.text_row(7, (" Yes, it is.",), filtered_resps=["yes"], target=" yes ")
    path = samples_file([row], "samples_even_or_odd_2_2025-04-01T12-00-00.123456.jsonl")
    (response,) = rows(path, options)
    assert (response.item, response.sample, response.task) == ("7", "0", "even_or_odd_2")
    assert (response.output, response.answer, response.gold) == (" Yes, it is.", None, "yes")
    assert (response.logged_score, response.score_value) == ("1.0", 1.0)
    assert (response.prompt, response.prompt_hash) == ("Q: Is 7 even?\nA:", f"{7:064x}")
    assert (response.run, response.timestamp) == ("2025-04-01T12:00:00.123456",) * 2
    assert response.source == f"{path.name}:1"
    assert response.extra["meta.filtered"] == "yes"
    assert response.extra["meta.doc.question"] == "Is 7 even?"


def two_filters(build, key=True):
    """Two documents, written once for each of two filters in blocks."""
    found = [build.text_row(i, filter=name, filtered_resps=[name]) for name in ("strict", "loose") for i in (0, 1)]
    return found if key else [{k: v for k, v in row.items() if k != "filter"} for row in found]


def test_rows_of_other_filters_are_set_aside(samples_file, build, options):
    """Catches n doubled by filters, and a filter that was asked for and not taken."""
    path = samples_file(two_filters(build))
    records = list(lm_eval.read(path, options))
    assert [r.set_aside for r in records] == [None, None, "another filter: loose", "another filter: loose"]
    asked = ReadOptions(options.root, filter="loose")
    assert [r.extra["meta.filtered"] for r in rows(path, asked)] == ["loose", "loose"]
    with pytest.raises(LogError, match='no rows of filter "other"; there are: strict, loose'):
        rows(path, ReadOptions(options.root, filter="other"))


def test_copies_for_other_filters_are_known_without_a_filter_key(samples_file, build, options):
    """Catches files before 0.4.7, where only the order tells the copies of a document apart."""
    records = list(lm_eval.read(samples_file(two_filters(build, key=False)), options))
    assert [r.set_aside for r in records] == [None, None] + ["repeat of the same document (another filter)"] * 2


def test_a_file_that_holds_a_run_twice_is_refused(samples_file, build, options):
    """Catches an appended second run counted as more data."""
    with pytest.raises(LogError, match=r'line 3 repeats document 0 of line 1 with filter "none"; two runs'):
        rows(samples_file([build.text_row(i) for i in (0, 1, 0, 1)]), options)
    bare = [{k: v for k, v in build.text_row(0, (text,)).items() if k != "filter"} for text in ("yes", "no")]
    with pytest.raises(LogError, match="line 2 repeats document 0 of line 1 with other replies"):
        rows(samples_file(bare), options)


def test_document_ids_keep_their_type(samples_file, build, options):
    """Catches 1 and "1" taken for one document that occurs twice."""
    assert len(rows(samples_file([build.text_row(1), build.text_row(1) | {"doc_id": "1"}]), options)) == 2


def test_repeats_are_samples_and_share_one_score(samples_file, build, options):
    """Catches the metric of the filtered reply counted once per repeat."""
    path = samples_file([build.text_row(0, ("no", "yes", ""))])
    found = rows(path, options)
    assert [(r.sample, r.output, r.logged_score) for r in found] == [
        ("0", "no", "1.0"),
        ("1", "yes", None),
        ("2", "", None),
    ]
    assert "stands at sample 0" in notes(path, options)


def test_mixed_requests_give_the_generated_text(samples_file, build, options):
    """Catches a log-likelihood printed as the answer of a task that asks for both."""
    row = build.text_row(0, ("blue",), resps=[["blue"], [["-1.5", "False"]]])
    row["arguments"]["gen_args_1"] = {"arg_0": "Q", "arg_1": " unanswerable"}
    row |= {"metrics": ["f1", "exact"], "f1": [{"id": "1"}, {"id": "1"}], "exact": {"id": "1"}}
    (response,) = rows(samples_file([row]), options)
    assert (response.output, response.extra["meta.f1"]) == ("blue", '[{"id": "1"}, {"id": "1"}]')


def test_metrics(samples_file, build, options):
    """Catches list metrics averaged, texts taken for metrics, and a main metric chosen by the alphabet."""
    row = build.text_row(0, metrics=["bleu", "exact_match", "f1"], bleu=41.5, f1=[1, 0], verdict="true", extra=3)
    path = samples_file([row])
    (response,) = rows(path, options)
    assert response.logged_score == "1.0"
    kept = {k: v for k, v in response.extra.items() if k.startswith("score.") or k in ("meta.f1", "meta.verdict")}
    assert kept == {"score.bleu": "41.5", "meta.f1": "[1, 0]", "meta.verdict": "true"}
    asked = ReadOptions(options.root, scorer="bleu")
    assert (rows(path, asked)[0].logged_score, rows(path, asked)[0].extra["score.exact_match"]) == ("41.5", "1.0")
    lacking = ReadOptions(options.root, scorer="f1")
    assert rows(path, lacking)[0].logged_score is None
    assert 'no metric "f1"' in notes(path, lacking)


@pytest.mark.parametrize(("value", "text"), [(float("nan"), "NaN"), (float("inf"), "Infinity")])
def test_a_score_that_is_not_finite_is_named(samples_file, build, options, value, text):
    """Catches NaN or infinity in the column of numbers, or read as wrong."""
    path = samples_file([build.text_row(0, exact_match=value)])
    (row,) = rows(path, options)
    assert (row.logged_score, row.score_value) == (text, None)
    assert f'metric "exact_match": {text} is no score, kept as missing ({path.name}:1)' in notes(path, options)


def test_every_generation_of_the_file_gives_the_same_row(samples_file, build, options):
    """Catches arrays read as lines, lists of arguments, numbers beside texts, and missing keys of old versions."""
    new = build.choice_row(0, ("-10.5", "-2.5"), acc=0.0)
    old = {k: v for k, v in new.items() if k not in ("filter", "metrics", "doc_hash")}
    old |= {"arguments": [["Q 0?", " yes"], ["Q 0?", " no"]], "target": 0, "resps": [[[-10.5, False]], [[-2.5, False]]]}
    name = "samples_even_2024-06-01T12-00-00.5"
    files = [
        samples_file([new], f"{name}.jsonl"),
        samples_file([old], f"{name}.json"),
        samples_file([old], f"b/{name}.jsonl", array=True),
    ]
    found = [rows(path, options)[0] for path in files]
    assert len({(r.item, r.answer, r.gold, r.p_yes, r.score_value, r.prompt, r.task) for r in found}) == 1
    assert found[1].prompt_hash == hashlib.sha256(b"Q 0?").hexdigest()
    assert found[2].source == f"b/{name}.jsonl#1"


def test_replies_flattened_by_forks_are_read(samples_file, build, options):
    """Catches a text taken apart into characters."""
    (row,) = rows(samples_file([build.text_row(0, resps=["yes it is"], filtered_resps="yes")]), options)
    assert (row.output, row.extra["meta.filtered"]) == ("yes it is", "yes")
    both = rows(samples_file([build.text_row(0, resps=["yes", "no"], filtered_resps="yes")]), options)
    assert [r.output for r in both] == ["yes", "no"]


def test_prompts_of_chat_models_are_decoded_twice(samples_file, build, options):
    """Catches JSON inside JSON printed as the prompt."""
    messages = json.dumps([{"role": "user", "content": "Red?"}])
    row = build.text_row(0, arguments={"gen_args_0": {"arg_0": [messages], "arg_1": {"temperature": 0.0}}})
    (response,) = rows(samples_file([row]), options)
    assert (response.prompt, response.temperature) == ("user: Red?", "0.0")
