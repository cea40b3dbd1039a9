"""R1 to R18: faults that users of other tools met when logs and answers were read, and what happens here."""

import json
import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.cli.main import main
from analysis.errors import AnalysisError, LogError, StudyError
from analysis.importers import inspect_ai, standard
from analysis.importers.protocol import ReadOptions
from analysis.reduction.intake import IntakeSettings
from analysis.schema.store import StoreWriter
from analysis.schema.study import load_study


def listed(column: pd.Series) -> list:
    """Values of a column, None where it has none."""
    return [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]


def test_r1_yes_rate_is_of_what_the_model_said(write, reduced, logs_of):
    """R1: catches a yes rate counted over gold answers, which is the same for every model."""
    said = {
        "always yes": ("Yes", "Yes"),
        "always no": ("No", "No"),
        "perfect": ("Yes", "No"),
        "reversed": ("No", "Yes"),
    }
    rows = [
        row for model, (yes, no) in said.items() for row in logs_of.judged(model, {"yes": [yes] * 6, "no": [no] * 18})
    ]
    found = reduced(write(rows)).values()
    assert found["yes_rate"].to_dict() == {"always yes": 1, "always no": 0, "perfect": 0.25, "reversed": 0.75}
    assert found["answer_bias"].to_dict() == {"always yes": 1, "always no": -1, "perfect": 0, "reversed": 0}
    assert found["competence_floor"].to_dict() == {"always yes": 0, "always no": 0, "perfect": 1, "reversed": 0}


def test_r2_case_and_punctuation_do_not_make_an_answer_wrong(write, reduced, taken, logs_of):
    """R2: catches exact matching ("Yes." is not "yes"), and a rule that is not recorded."""
    said = {
        "yes": ["Yes.", "YES!", " yes ", "**Yes**", '"Yes"', "Yes, it is.", "(yes)", "yes\n"],
        "no": ["No.", "NO", "no,", "_No_", "'no'", "No - never.", "`no`", "No…"],
    }
    logs = write(logs_of.judged("m", said))
    assert reduced(logs).values().loc["m", ["accuracy", "uncertain_rate"]].tolist() == [1, 0]
    rules = taken(logs).rows["rule"]
    assert set(rules) == {"exact", "first_word"}


def test_r2_gold_answers_are_folded_like_answers(write, reduced):
    """R2: catches "Yes." in the log taken for another gold answer than "yes"."""
    golds = ["Yes", "yes.", "YES ", "No", "no.", " NO"]
    rows = [{"model": "m", "item": str(i), "gold": g, "output": g.strip(" .")} for i, g in enumerate(golds)]
    found = reduced(write(rows))
    assert sorted(found.counts["gold"].astype(str).unique()) == ["no", "yes"]
    assert found.values().loc["m", "accuracy"] == 1


UNREADABLE = [
    "",
    "   ",
    "Unknown",
    "The picture does not show one.",
    "There is a cat, not a dog.",
    "It is impossible to tell.",
    "maybe",
    "lol",
    "Yesterday it rained, nothing else.",
    "I know nothing.",
]


def test_r3_what_cannot_be_read_is_neither_yes_nor_no(write, taken, reduced, logs_of):
    """R3: catches a default of "yes", and "not" anywhere taken for "no"."""
    logs = write(logs_of.judged("m", {"yes": UNREADABLE, "no": UNREADABLE}))
    found = taken(logs)
    assert found.rows["answer"].isna().all()
    assert set(found.rows["status"]) <= {"unparsed", "refused"}
    assert found.rows["rule"].notna().all()
    task = reduced(logs)
    assert task.counts[["n_yes", "n_correct", "n_answered"]].to_numpy().sum() == 0
    bounds = task.bounds().set_index("measure")
    assert bounds.loc["competence_floor", ["bound_low", "bound_high"]].tolist() == [0, 1]
    assert bounds.loc["answer_bias", ["bound_low", "bound_high"]].tolist() == [-1, 1]


def test_r3_lost_answers_are_bounded_and_not_guessed(write, reduced, logs_of):
    """R3: catches bounds that leave unread answers out: 6 of 10 and 8 of 10 read right, the rest unreadable."""
    said = {"yes": ["Yes"] * 6 + ["?"] * 4, "no": ["No"] * 8 + [""] * 2}
    bounds = reduced(write(logs_of.judged("m", said))).bounds().set_index("measure")[["bound_low", "bound_high"]]
    assert bounds.loc["competence_floor"].tolist() == pytest.approx([0.6, 1])
    assert bounds.loc["answer_bias"].tolist() == pytest.approx([0.6 - 1, 1 - 0.8])


@pytest.mark.parametrize(
    ("uncertain", "yes", "no", "yes_rate"),
    [("incorrect", 0.6, 0.5, None), ("excluded", 1, 1, 6 / 11), ("half", 0.8, 0.75, None)],
)
def test_r4_one_treatment_runs_through_every_statistic(write, reduced, logs_of, uncertain, yes, no, yes_rate):
    """R4: catches "Unknown" that is wrong for one statistic and "no" for the next (6 of 10 and 5 of 10 read)."""
    said = {"yes": ["Yes"] * 6 + ["Unknown"] * 4, "no": ["No"] * 5 + ["Unknown"] * 5}
    task = reduced(write(logs_of.judged("m", said)))
    found = task.values(uncertain=uncertain).loc["m"]
    assert found[["acc_yes", "acc_no"]].tolist() == pytest.approx([yes, no])
    weights = (6, 5) if uncertain == "excluded" else (10, 10)
    assert found["accuracy"] == pytest.approx((weights[0] * yes + weights[1] * no) / sum(weights))
    assert found["answer_bias"] == pytest.approx(yes - no)
    assert found["competence_floor"] == pytest.approx(min(yes, no))
    if yes_rate is not None:
        assert found["yes_rate"] == pytest.approx(yes_rate)
    assert set(task.estimates(uncertain=uncertain)["uncertain"]) == {uncertain}


def test_r5_answers_are_whole_words_and_negated_ones_have_a_rule(write, taken):
    """R5: catches "correct" found in "incorrect", and "incorrect" in "not incorrect"."""
    texts = {
        "The claim is incorrect.": "no",
        "Incorrect": "no",
        "The claim is correct.": "yes",
        "This is not incorrect.": "yes",
        "It is not correct.": "no",
        "Correctness matters here.": None,
        "An incorrectly posed claim": None,
        "Incorrigible!": None,
    }
    rows = [{"model": "m", "item": str(i), "gold": "correct", "output": text} for i, text in enumerate(texts)]
    logs = write(rows, study='[reading]\nsynonyms = { yes = ["correct"], no = ["incorrect"] }\n')
    rows = taken(logs).rows
    assert listed(rows["answer"]) == list(texts.values())
    assert set(rows["rule"][rows["output"].str.contains(" not ")]) == {"negated"}


WORDS = ["None", "NA", "n/a", "null", "NaN", "True", "False", "001", "1", "1.0", "1e3", "inf", "-", "nan"]


def test_r6_words_of_other_readers_stay_text(write, reduced, taken):
    """R6: catches NA read as missing, True as a boolean, and the items 001, 1 and 1.0 taken for one."""
    lines = [
        f"{model},{item},{gold},{gold}"
        for model in WORDS
        for i, item in enumerate(WORDS)
        for gold in ["yes" if i % 2 else "no"]
    ]
    logs = write("model,item,gold,output\n" + "\n".join(lines) + "\n", "log.csv")
    found = taken(logs)
    assert set(found.rows["item"]) == set(found.rows["model"]) == set(WORDS)
    task = reduced(logs)
    assert sorted(task.counts["model"].cat.categories) == sorted(WORDS)
    values = task.values()
    assert values.index.tolist() == sorted(WORDS)
    assert (values["accuracy"] == 1).all()


def test_r6_answers_that_look_missing_are_answers(write, taken):
    """R6: catches an answer None turned into a missing one: it stays the text that was logged."""
    found = taken(write("model,item,output,logged_score\nm,1,None,1\nm,2,NA,0\nm,3,null,1\nm,4,,0\n", "log.csv"))
    assert listed(found.rows["output"]) == ["None", "NA", "null", None]


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[reading]\nsynonyms = { yes = [yes], no = [no] }\n", "line 2"),
        ("[reading]\nsynonyms = { yes = [true], no = [false] }\n", "synonyms"),
        ("[study]\nexclude = { level = [012] }\n", "line 2"),
        ("[study]\nexclude = { level = [12] }\n", "exclude"),
        ("[models.a]\nlabel = 012\n", "line 2"),
        ("[models.a]\nlabel = 1\n", "label"),
    ],
)
def test_r7_settings_never_turn_words_into_booleans_or_numbers(write, toml, words):
    """R7: catches yes and no read as booleans, 012 read as 10: what is not quoted is refused with its place."""
    logs = write([{"model": "a", "item": "1", "output": "Yes"}], study=toml)
    with pytest.raises(StudyError) as caught:
        load_study(logs / "study.toml")
    assert words in str(caught.value)


def test_r7_quoted_words_stay_as_they_are(write, taken):
    """R7: catches quoted "no", "on" and "012" read as anything but those texts."""
    toml = '[reading]\nsynonyms = { yes = ["on", "012"], no = ["off", "10"] }\n'
    rows = [
        {"model": "m", "item": str(i), "gold": g, "output": o}
        for i, (g, o) in enumerate([("yes", "on"), ("no", "off"), ("yes", "012"), ("no", "10"), ("no", "no")])
    ]
    assert taken(write(rows, study=toml)).rows["answer"].tolist() == ["yes", "no", "yes", "no", "no"]


def test_r8_nan_and_infinity_are_no_scores(write, taken, reduced):
    """R8: catches NaN and Infinity taken for scores, for 0, or dropped without a word; file and line are named."""
    scores = ["1", "NaN", "0", "-Infinity", "1", "1"]
    lines = [f'{{"model": "m", "item": "{i}", "output": "x", "logged_score": {s}}}' for i, s in enumerate(scores)]
    logs = write("\n".join(lines) + "\n")
    found = taken(logs)
    assert listed(found.rows["score_value"]) == [1, None, 0, None, 1, 1]
    (violation,) = [v for v in found.violations if v.rule == "invalid score"]
    assert (violation.count, violation.examples) == (2, ("log.jsonl:2", "log.jsonl:4"))
    row = reduced(logs).estimates().set_index("measure").loc["accuracy"]
    assert (row["n"], row["estimate"]) == (4, 0.75)


def test_r8_importers_of_harnesses_name_the_place_too(write, taken, logs_of):
    """R8: catches a NaN that passes where a harness wrote it."""
    write([logs_of.lm_eval_row(0, "x", "y", math.nan)], "samples_t_2025-04-01T12-00-00.1.jsonl")
    sample = logs_of.inspect_sample(1, "x", "y", math.inf)
    found = taken(write(json.dumps(logs_of.inspect_log("m", [sample])), "run.json"))
    assert found.rows["score_value"].isna().all()
    notes = " | ".join(found.intake.notes["note"])
    assert "(samples_t_2025-04-01T12-00-00.1.jsonl:1)" in notes
    assert "(run.json:samples[0])" in notes


def filtered_log(logs_of) -> list[dict]:
    return [
        logs_of.lm_eval_row(i, ("No", "Yes")[i % 2], ("no", "yes")[i % 2], filter=name)
        for name in ("strict", "loose")
        for i in range(12)
    ]


@pytest.mark.parametrize(("asked", "read", "aside"), [(None, "strict", "loose"), ("loose", "loose", "strict")])
def test_r9_rows_of_one_filter_are_read_and_it_is_named(write, report, logs_of, asked, read, aside):
    """R9: catches n doubled by filters, and a report that does not say which filter it is about."""
    logs = write(filtered_log(logs_of), "acme__m/samples_dogs_2025-04-01T12-00-00.1.jsonl")
    content = report(logs, intake=IntakeSettings(filter=asked))
    assert set(content.data["estimates"]["n"]) - {0} <= {6, 12}
    assert content.data["files"][["records", "used", "set_aside"]].to_numpy().tolist() == [[24, 12, 12]]
    said = " | ".join(content.sections[-1].notes)
    assert f'filter "{read}" is read and "{aside}" set aside' in said
    skipped = next(table for table in content.sections[-1].tables if table.spec.name == "records_skipped").rows
    assert skipped[["reason", "records"]].to_numpy().tolist() == [[f"another filter: {aside}", 12]]


def test_r10_a_retried_run_is_not_counted_twice(write, taken, logs_of, tmp_path, capsys):
    """R10: catches n doubled by a retry; both sources are named, and nothing is written."""
    samples = [logs_of.inspect_sample(i, "Yes", "Yes", "C") for i in range(4)]
    retry = {"run_id": "run-2", "eval_id": "eval-2"}
    write(json.dumps(logs_of.inspect_log("m", samples)), "first.json")
    logs = write(json.dumps(logs_of.inspect_log("m", samples, eval=retry)), "second.json")
    assert taken(logs).rules == ["duplicate response"]
    assert main(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "first.json" in said
    assert "second.json" in said
    assert not (tmp_path / "out").exists()


def test_r10_a_copy_under_another_name_is_refused_with_both(write, taken, logs_of):
    """R10: catches the same file found twice in a directory."""
    rows = logs_of.judged("m", {"yes": "Yes"})
    write(rows, "a.jsonl")
    with pytest.raises(AnalysisError, match=r"b/copy\.jsonl: the same content as a\.jsonl"):
        taken(write(rows, "b/copy.jsonl"))


def test_r10_an_errored_retry_does_not_replace_a_fuller_run(write, report, logs_of):
    """R10: catches a later, emptier run that wins because it is later."""
    samples = [logs_of.inspect_sample(i, ("No", "Yes")[i % 2], ("No", "Yes")[i % 2], "C") for i in range(12)]
    broken = [s | {"error": {"message": "boom"}, "scores": {}, "output": {"choices": []}} for s in samples[:5]]
    late = {"run_id": "run-2", "eval_id": "eval-2", "created": "2026-01-01T00:00:00+00:00"}
    write(json.dumps(logs_of.inspect_log("m", samples)), "first.json")
    logs = write(json.dumps(logs_of.inspect_log("m", broken, eval=late)), "second.json")
    with pytest.raises(AnalysisError, match="the later has 0 responses, the earlier 12"):
        report(logs, runs="latest")


@pytest.fixture
def partly_errored(write, logs_of) -> Path:
    """16 samples planned: 3 errored, 1 absent; a second model has them all. Yes is right for odd ids."""
    samples = [logs_of.inspect_sample(i, "Yes", ("No", "Yes")[i % 2], "IC"[i % 2]) for i in range(16)]
    broken = [
        s | {"error": {"message": "boom"}, "scores": {}, "output": {"choices": []}} if s["id"] in (0, 1, 3) else s
        for s in samples
    ]
    plan = {"samples": 16, "sample_ids": list(range(16))}
    write(json.dumps(logs_of.inspect_log("whole", samples, eval={"run_id": "run-2"})), "whole.json")
    log = logs_of.inspect_log("broken", broken[:-1], eval={"dataset": plan})
    return write(json.dumps(log), "broken.json")


def test_r11_errored_and_absent_samples_are_counted(partly_errored, report):
    """R11: catches a denominator that shrinks unsaid, and bounds over what came instead of what was planned."""
    content = report(partly_errored)
    statuses = content.data["statuses"].set_index("model").loc["broken"]
    assert statuses[["rows", "answered", "errored", "missing"]].tolist() == [16, 12, 3, 1]
    found = content.data["estimates"].query("model == 'broken'").set_index("measure")
    assert found.loc["accuracy", "n"] == 12
    assert found.loc["accuracy", "estimate"] == pytest.approx(5 / 12)
    assert found["estimate"].dropna().between(-1, 1)[["accuracy", "acc_yes", "acc_no", "competence_floor"]].all()
    bounds = content.data["uncertainty_bounds"].query("model == 'broken'").set_index("measure")
    assert bounds.loc["acc_yes", ["n_planned", "n_unscored"]].tolist() == [16, 4]
    assert bounds.loc["acc_yes", ["bound_low", "bound_high"]].tolist() == [5 / 8, 1]
    assert bounds.loc["acc_no", ["bound_low", "bound_high"]].tolist() == [0, 1 / 8]
    aside = content.data["set_aside"].query("model == 'broken'")
    assert dict(zip(aside["reason"], aside["rows"], strict=True)) == {"errored": 3, "missing": 1}


def test_r11_planned_items_of_unknown_gold_are_named(write, report, logs_of):
    """R11: catches bounds that silently run over fewer items than were planned."""
    samples = [logs_of.inspect_sample(i, "Yes", ("No", "Yes")[i % 2], "IC"[i % 2]) for i in range(10)]
    plan = {"samples": 12, "sample_ids": list(range(12))}
    content = report(write(json.dumps(logs_of.inspect_log("m", samples, eval={"dataset": plan})), "run.json"))
    assert content.data["statuses"]["missing"].tolist() == [2]
    assert content.data["set_aside"][["reason", "rows"]].to_numpy().tolist() == [["no response and no gold answer", 2]]
    assert any(sentence.startswith("2 planned responses stand in no bound") for sentence in content.limits)


def test_r12_a_missing_score_is_no_wrong_answer(write, report, logs_of):
    """R12: catches a crash, or a 0, for a reply that the scorer left without a score."""
    samples = [logs_of.inspect_sample(i, "teal", "the colour of the sea", "CI"[i % 2]) for i in range(8)]
    samples += [logs_of.inspect_sample(i, "blue", "the colour of the sky", None) for i in range(8, 11)]
    content = report(write(json.dumps(logs_of.inspect_log("m", samples)), "run.json"))
    assert content.data["statuses"][["rows", "answered"]].to_numpy().tolist() == [[11, 11]]
    accuracy = content.data["estimates"].set_index("measure").loc["accuracy"]
    assert (accuracy["n"], accuracy["estimate"]) == (8, 0.5)
    assert content.data["set_aside"][["reason", "rows"]].to_numpy().tolist() == [["no score", 3]]
    rows = content.manifest["rows"]
    assert (rows["responses"], rows["used"], rows["set_aside"]) == (11, 8, {"no score": 3})


def test_r12_the_answer_counts_where_only_the_score_is_missing(write, reduced, logs_of):
    """R12: catches a yes/no answer thrown away because nobody scored it: the gold answer says what is right."""
    samples = [logs_of.inspect_sample(i, "Yes", ("No", "Yes")[i % 2], None) for i in range(8)]
    task = reduced(write(json.dumps(logs_of.inspect_log("m", samples)), "run.json"))
    assert task.counts["n_answered"].sum() == 8
    assert task.values().loc["m", ["acc_yes", "acc_no"]].tolist() == [1, 0]


@pytest.mark.parametrize(("scores", "found"), [(["85", "90", "1", "0"], "2 of 4"), (["0.5", "1", "0", "1"], "1 of 4")])
def test_r13_scores_of_another_scale_are_not_rescaled(write, report, scores, found):
    """R13: catches 85 divided by 100, and a partial score rounded: no accuracy, with the reason."""
    rows = [{"model": "m", "item": str(i), "output": "x", "logged_score": s} for i, s in enumerate(scores)]
    content = report(write(rows))
    assert "estimates" not in content.data
    assert any(f"{found} scores are neither 0 nor 1" in sentence for sentence in content.limits)


def test_r13_a_score_that_is_no_number_is_no_zero(write, reduced):
    """R13: catches "excellent" and "n/a" counted as 0."""
    scores = ["1", "excellent", "0", "n/a", "1", "1"]
    rows = [{"model": "m", "item": str(i), "output": "x", "logged_score": s} for i, s in enumerate(scores)]
    accuracy = reduced(write(rows)).estimates().set_index("measure").loc["accuracy"]
    assert (accuracy["n"], accuracy["estimate"]) == (4, 0.75)


def test_r13_percent_among_fractions_is_refused_and_a_declared_scale_used(write, taken):
    """R13: catches numbers above 1 divided by 100 one by one."""
    rows = [{"model": "m", "item": str(i), "probability": p} for i, p in enumerate([0.5, 85, 90, 0.3])]
    assert "mixed scales" in taken(write(rows)).rules
    percent = [row | {"probability": p} for row, p in zip(rows, [50, 85, 90, 1], strict=True)]
    found = taken(write(percent, study='[study]\nkind = "probability"\nprobability_scale = "percent"\n'))
    assert found.rows["probability"].tolist() == [0.5, 0.85, 0.9, 0.01]
    assert "probability out of range" not in found.rules


def test_r14_the_full_name_is_the_model(write, reduced, taken, logs_of):
    """R14: catches two providers of one model merged because the prefix is cut."""
    rows = logs_of.judged("openai/gpt-x", {"yes": "Yes", "no": "No"})
    rows += logs_of.judged("azure/gpt-x", {"yes": "No", "no": "No"})
    rows += logs_of.judged("gpt-x", {"yes": "Yes", "no": "Yes"})
    logs = write(rows)
    assert reduced(logs).values()["competence_floor"].to_dict() == {"azure/gpt-x": 0, "gpt-x": 0, "openai/gpt-x": 1}
    assert taken(logs).rules == ["model names"]


def test_r15_items_of_two_tasks_do_not_collide(write, report, logs_of):
    """R15: catches document 0 of two tasks taken for one, and a missing metric counted as wrong."""
    for task, score in (("cats", 1.0), ("dogs", None)):
        rows = [logs_of.lm_eval_row(i, f"text {i}", f"gold text {i}", score) for i in range(6)]
        rows[0] |= {"exact_match": 0.0}
        logs = write(rows, f"m/samples_{task}_2025-04-01T12-00-00.1.jsonl")
    content = report(logs)
    accuracy = content.data["estimates"].query("measure == 'accuracy'").set_index("task")
    assert accuracy["n"].to_dict() == {"cats": 6, "dogs": 1}
    assert accuracy["estimate"].to_dict() == {"cats": 5 / 6, "dogs": 0}
    aside = content.data["set_aside"]
    assert aside[["task", "reason", "rows"]].to_numpy().tolist() == [["dogs", "no score", 5]]


def test_r16_pieces_do_not_grow_with_the_log(write, tmp_path):
    """R16: catches a reader or writer that holds the whole log: twice as many rows come in pieces of the same size."""
    row = json.dumps({"model": "m", "item": "%06d", "gold": "yes", "output": "x" * 150})
    largest = []
    for rows in (45_000, 90_000):
        path = write("\n".join(row % i for i in range(rows)) + "\n", f"{rows}.jsonl") / f"{rows}.jsonl"
        with StoreWriter(tmp_path / f"{rows}.parquet") as writer:
            sizes = []
            for batch in standard.read_batches(path, ReadOptions(path.parent)):
                sizes.append(batch.rows.nbytes)
                writer.write(batch.rows)
        written = pq.ParquetFile(tmp_path / f"{rows}.parquet").metadata
        assert written.num_rows == rows
        largest.append((max(sizes), max(written.row_group(i).num_rows for i in range(written.num_row_groups))))
    assert largest[1][0] <= 1.05 * largest[0][0]
    assert largest[1][1] <= 65_536


@pytest.mark.parametrize("kind", ["json", "archive"])
def test_r17_an_unknown_version_is_named_where_reading_fails(write, logs_of, kind):
    """R17: catches a message about some key where the reason is a newer version of the log."""
    log = logs_of.inspect_log("m", [{"id": 1, "epoch": 1}]) | {"version": 9}
    log["eval"] = log["eval"] | {"model": None}
    if kind == "json":
        path = write(json.dumps(log), "run.json") / "run.json"
    else:
        path = logs_of.inspect_archive(write("", "empty") / "run.eval", log)
    with pytest.raises(LogError, match=r"names no model .*version 9 is newer than this reader knows \(1-3\)"):
        list(inspect_ai.read(path, ReadOptions(path.parent)))


def test_r17_a_newer_version_that_can_be_read_is_noted(write, taken, logs_of):
    """R17: catches a newer log read without a word, or refused although nothing in it is unreadable."""
    log = logs_of.inspect_log("m", [logs_of.inspect_sample(1, "Yes", "Yes", "C")]) | {"version": 4}
    found = taken(write(json.dumps(log), "run.json"))
    assert len(found.rows) == 1
    assert any("log version 4 is newer" in note for note in found.intake.notes["note"])


def test_r17_a_store_of_another_schema_is_refused_with_its_version(write, taken):
    """R17: catches a store of a later schema read as if it were ours."""
    table = pa.table({"model": ["m"], "item": ["1"], "output": ["Yes"]})
    logs = write("", "note.txt")
    pq.write_table(table.replace_schema_metadata({"evenhand.schema": "7"}), logs / "log.parquet")
    with pytest.raises(AnalysisError, match=r"log\.parquet: written in version 7 of the standard schema; .* version 1"):
        taken(logs)


def estimates_of(reduced, logs) -> pd.DataFrame:
    return reduced(logs).estimates().reset_index(drop=True)


def test_r18_rows_are_joined_by_id_and_never_by_position(write, reduced, logs_of):
    """R18: catches gold answers paired with replies by their place: the archive holds the samples in reverse."""
    said = ["Yes", "No", "No", "Yes", "Yes", "No", "Yes", "No", "Yes", "No", "No", "No"]
    samples = [
        logs_of.inspect_sample(i, text, ("No", "Yes")[i % 2], "C" if (text == "Yes") == bool(i % 2) else "I")
        for i, text in enumerate(said)
    ]
    log = logs_of.inspect_log("m", samples)
    found = []
    for name, backwards in (("a", False), ("b", True)):
        folder = write("about", f"{name}/README.md") / name
        logs_of.inspect_archive(folder / "run.eval", log, shuffled=backwards)
        found.append(estimates_of(reduced, folder))
    pd.testing.assert_frame_equal(*found)
    right = sum((text == "Yes") == bool(i % 2) for i, text in enumerate(said))
    assert found[0].set_index("measure").loc["accuracy", "estimate"] == right / len(said)


def test_r18_order_of_rows_and_layout_of_files_change_nothing(write, reduced, logs_of):
    """R18: catches results that follow the order of rows, the order of files, their names or their number."""
    rows = [
        row
        for model, shift in (("b", 0), ("a", 1), ("c", 2))
        for row in logs_of.judged(
            model,
            {
                "yes": [("Yes", "No", "?", "Yes.")[(i + shift) % 4] for i in range(15)],
                "no": [("no", "No.", "yes")[(i * shift) % 3] for i in range(12)],
            },
        )
    ]
    whole = estimates_of(reduced, write(rows, "one/log.jsonl") / "one")
    for part in range(3):
        write(rows[::-1][part::3], f"parts/{2 - part}/z{part}.jsonl")
    pd.testing.assert_frame_equal(whole, estimates_of(reduced, write("about", "parts/README.md") / "parts"))
