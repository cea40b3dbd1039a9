"""What a report keeps to itself: texts with ``--no-text``, users and hosts always; canaries in every format."""

import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import zstandard

from analysis.cli.main import main

#: In every raw text of the logs, and in everything of them that says who ran what, and where.
TEXT, PLACE = "quokka", "wombat"
REPLIES = {True: f"The {TEXT} thinks so. Yes", False: f"The {TEXT} thinks not. No"}
HOME = f"/home/{PLACE}"


def standard(folder: Path) -> None:
    """JSON Lines whose items, units, levels and grades are whole texts; one model twice, below two homes."""
    rows = [
        {
            "model": f"{home}/models/m",
            "task": "standard",
            "item": f"Does the {TEXT} of case {i} sleep?\nAnswer yes or no.",
            "unit": f"story of the {TEXT} {i // 4}",
            "gold": ("yes", "no")[i % 2],
            "output": REPLIES[i % 3 == 0],
            "reasoning": f"A {TEXT} once said",
            "prompt": f"Hint: the {TEXT}. Case {i}?",
            "status_detail": f"moderated: {TEXT}",
            "run": f"{HOME}/run-1",
            "model_resolved": f"http://{PLACE}.example.org:8000/v1",
            "factor.passage": f"In the {i % 2} beginning there was the {TEXT}, and it slept for a long time",
            "meta.hint": f"a {TEXT} knows",
            "meta.command": f"python -m evals --user {PLACE}",
        }
        for home in (HOME, f"/Users/{PLACE}2")
        for i in range(24)
    ]
    (folder / "standard.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def graded(folder: Path) -> None:
    """A table of free answers with grades in words, which messages of the checks quote."""
    words = (f"{TEXT} good", f"{TEXT} bad", "1", "0")
    rows = [
        {"model": "g", "task": "graded", "item": f"g{i}", "output": f"{TEXT} {i}", "logged_score": words[i % 4]}
        for i in range(16)
    ]
    (folder / "graded.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def labels_apart(folder: Path) -> None:
    """Options whose gold answers are never answered: a warning quotes both."""
    rows = [
        {"model": "c", "task": "apart", "item": f"c{i}", "gold": f"{TEXT}{i % 3}", "answer": f"tame {TEXT}{i % 2}"}
        for i in range(12)
    ]
    (folder / "apart.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def inspect_log(folder: Path) -> None:
    """An Inspect log with metadata, explanations, errors, and an environment that names its user."""
    samples = [
        {
            "id": i,
            "epoch": 1,
            "input": f"Is the {TEXT} {i} red?",
            "target": ("yes", "no")[i % 2],
            "output": {
                "model": "parrot",
                "choices": [{"message": {"role": "assistant", "content": REPLIES[i % 3 == 0]}, "stop_reason": "stop"}],
                "completion": REPLIES[i % 3 == 0],
            },
            "messages": [{"role": "user", "content": f"Is the {TEXT} {i} red?"}],
            "scores": {
                "match": {"value": "C", "answer": f"{TEXT}", "explanation": f"the {TEXT} agrees"},
                "judge": {"value": f"a fine {TEXT}", "explanation": f"the {TEXT} agrees"},
            },
            "metadata": {"hint": f"ask the {TEXT}", "author": PLACE},
        }
        for i in range(1, 9)
    ]
    evaluation = {
        "eval_id": "eval-1",
        "run_id": "run-1",
        "created": "2025-03-01T10:00:00+00:00",
        "task": "inspected",
        "dataset": {
            "name": "inspected",
            "location": f"{HOME}/data.json",
            "samples": 8,
            "sample_ids": list(range(1, 9)),
        },
        "model": "acme/parrot-1",
        "model_args": {"path": f"{HOME}/w"},
        "revision": {"type": "git", "origin": f"git@{PLACE}.example.org:x.git", "commit": "0"},
        "metadata": {"user": PLACE, "command": f"inspect eval --user {PLACE}"},
        "config": {"epochs": 1},
        "packages": {"inspect_ai": "0.3.200"},
        "scorers": [{"name": "judge"}, {"name": "match"}],
    }
    log = {"version": 2, "status": "success", "eval": evaluation, "plan": {"config": {}}, "samples": samples}
    (folder / "inspected.json").write_text(json.dumps(log))


def lm_eval_log(folder: Path) -> None:
    """Samples with the results beside them, whose settings name the machine."""
    rows = [
        {
            "doc_id": i,
            "doc": {"question": f"Is the {TEXT} {i} even?", "answer": "yes"},
            "target": ("yes", "no")[i % 2],
            "arguments": {"gen_args_0": {"arg_0": f"Q: Is the {TEXT} {i} even?", "arg_1": {"until": ["\n"]}}},
            "resps": [[REPLIES[i % 3 == 0]]],
            "filtered_resps": [REPLIES[i % 3 == 0]],
            "filter": "none",
            "metrics": ["exact_match"],
            "doc_hash": f"{i:064x}",
            "exact_match": 1.0,
        }
        for i in range(8)
    ]
    place = folder / "harness"
    place.mkdir()
    stamp = "2025-04-01T12-00-00.123456"
    (place / f"samples_even_{stamp}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    results = {
        "results": {"even": {"alias": "even", "exact_match,none": 1.0}},
        "configs": {"even": {"task": "even", "description": f"the {TEXT}"}},
        "config": {"model": "hf", "model_args": f"pretrained={HOME}/models/llama", "device": f"{PLACE}-gpu"},
        "model_name": f"{HOME}/models/llama",
        "model_source": "hf",
        "pretty_env_info": f"Host: {PLACE}",
        "user": PLACE,
        "git_hash": "0",
    }
    (place / f"results_{stamp}.json").write_text(json.dumps(results))


def openai_log(folder: Path) -> None:
    """A record log whose specification says who ran it with which command."""
    spec = {
        "completion_fns": ["acme/owl"],
        "eval_name": "records.dev.v0",
        "base_eval": "records",
        "run_id": "r1",
        "created_by": PLACE,
        "run_config": {"command": f"oaieval --user {PLACE}"},
    }
    lines: list[Any] = [{"spec": spec}]
    for i in range(8):
        one = {"run_id": "r1", "event_id": i, "sample_id": f"records.{i}", "created_at": "2024-01-01 10:00:00+00:00"}
        asked = {"prompt": f"Which {TEXT}?", "sampled": [f"the {TEXT}"]}
        judged = {"correct": i % 2 == 0, "expected": f"a {TEXT}", "picked": None}
        lines += [one | {"type": "sampling", "data": asked}, one | {"type": "match", "data": judged}]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def promptfoo_log(folder: Path) -> None:
    """Results of version 3 with variables, assertions, reasons, an author and options of the command line."""
    equals = {"type": "equals", "value": f"the {TEXT}"}
    results = [
        {
            "promptIdx": 0,
            "testIdx": i,
            "provider": {"id": f"http://{PLACE}.example.org/v1", "label": ""},
            "prompt": {"raw": f"Is the {TEXT} {i} red?", "label": f"Is the {TEXT} red?"},
            "vars": {"object": f"{TEXT} {i}"},
            "response": {"output": f"it is a {TEXT}", "cached": False},
            "success": i % 2 == 0,
            "score": (i + 1) % 2,
            "failureReason": 0,
            "gradingResult": {"pass": i % 2 == 0, "score": (i + 1) % 2, "reason": f"{TEXT}"},
            "testCase": {"vars": {"object": f"{TEXT} {i}"}, "assert": [equals], "metadata": {"note": f"a {TEXT}"}},
        }
        for i in range(8)
    ]
    inner = {"version": 3, "timestamp": "2025-01-02T03:04:05Z", "prompts": [], "results": results, "stats": {}}
    log = {
        "evalId": "eval-1",
        "results": inner,
        "config": {"description": f"{TEXT}s", "commandLineOptions": {"envPath": f"{HOME}/.env"}},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.120.8", "author": f"{PLACE}@example.org"},
    }
    (folder / "promptfoo.json").write_text(json.dumps(log, indent=2))


def deepeval_log(folder: Path) -> None:
    """A test run whose items are known by their text alone."""
    cases = [
        {
            "name": f"case_{i}",
            "input": f"Is the {TEXT} {i} red?",
            "actualOutput": REPLIES[i % 3 == 0],
            "expectedOutput": ("yes", "no")[i % 2],
            "context": [f"A {TEXT}."],
            "success": True,
            "metricsData": [{"name": "Right", "score": i % 2, "success": True, "reason": f"the {TEXT}"}],
        }
        for i in range(8)
    ]
    log = {"testRunData": {"testCases": cases, "metricsScores": [], "hyperparameters": {"owner": PLACE}}}
    (folder / ".latest_test_run.json").write_text(json.dumps(log))


def llm_logic_log(folder: Path) -> None:
    """Files that lost the folders which name their questions."""
    for i in range(4):
        log = {
            "user_prompt": f"Can the {TEXT} infer {i}?",
            "system_prompt": f"You are a {TEXT}.",
            "model": "owl-1",
            "temperature": 0.5,
            "responses": [{"content": REPLIES[i % 2 == 0]} for _ in range(3)],
        }
        (folder / f"logic_{i}.json").write_text(json.dumps(log))


def helm_log(folder: Path) -> None:
    """A run directory with instructions and requests."""
    adapter = {"method": "multiple_choice_joint", "model": "acme/heron", "instructions": f"Think of a {TEXT}."}
    options = {"A": f"iron {TEXT}", "B": f"gold {TEXT}"}
    states = [
        {
            "instance": {
                "input": {"text": f"What is the {TEXT} {i}?"},
                "references": [
                    {"output": {"text": text}, "tags": ["correct"] if label == "AB"[i % 2] else []}
                    for label, text in options.items()
                ],
                "split": "test",
                "id": f"id{i}",
            },
            "train_trial_index": 0,
            "output_mapping": options,
            "request": {"model": "acme/heron", "model_deployment": f"{PLACE}/heron", "prompt": f"{TEXT}?"},
            "result": {"success": True, "completions": [{"text": f" B because of the {TEXT}", "logprob": -0.5}]},
        }
        for i in range(8)
    ]
    spec = {
        "name": "facts:subject=a,model=acme_heron",
        "adapter_spec": adapter,
        "scenario_spec": {"args": {"u": PLACE}},
    }
    place = folder / "facts-model=acme_heron"
    place.mkdir()
    (place / "run_spec.json").write_text(json.dumps(spec, indent=2))
    (place / "scenario_state.json").write_text(
        json.dumps({"adapter_spec": adapter, "request_states": states}, indent=2)
    )


WRITERS = (
    standard,
    graded,
    labels_apart,
    inspect_log,
    lm_eval_log,
    openai_log,
    promptfoo_log,
    deepeval_log,
    llm_logic_log,
    helm_log,
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canaries") / "logs"
    folder.mkdir()
    for write in WRITERS:
        write(folder)
    (folder / "broken.jsonl").write_text(json.dumps({"model": "m", "item": f"a {TEXT}"}) + f'\n{{"item": "{TEXT}\n')
    return folder


@pytest.fixture(scope="module")
def reports(logs: Path) -> dict[bool, Path]:
    """Reports on all logs without and with ``--no-text``, in a folder of a user who must not be named either."""
    out = logs.parent / f"home of {PLACE}"
    made = {}
    for no_text in (False, True):
        made[no_text] = out / f"report-{no_text}"
        more = ["--no-text"] if no_text else ["--no-pdf"]
        assert main(["report", "--no-bayes", "--keep-going", str(logs), "--out", str(made[no_text]), *more]) == 0
    return made


def readable(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is compressed in them: cells, streams, texts of pages."""
    content = path.read_bytes()
    yield content
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        yield zstandard.ZstdDecompressor().stream_reader(content).read()
    if path.suffix == ".parquet":
        yield repr(pq.read_table(path).to_pydict()).encode()
        yield repr(pq.read_metadata(path).metadata).encode()
    if path.suffix in (".pdf", ".png"):
        for start in re.finditer(rb"stream\r?\n|IDAT", content):
            stream = zlib.decompressobj()
            try:
                yield stream.decompress(content[start.end() :])
            except zlib.error:
                continue
    if path.suffix == ".pdf" and (program := shutil.which("pdftotext")):
        yield subprocess.run([program, str(path), "-"], capture_output=True, check=True).stdout


def files_with(folder: Path, word: str) -> list[str]:
    """Files of a report whose name or content holds the word, with its neighbourhood."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        for content in (name.encode(), *readable(path)):
            place = content.lower().find(word.encode())
            if place >= 0:
                found.append(f"{name}: {content[max(0, place - 60) : place + 60]!r}")
                break
    return found


def test_the_canaries_are_read(reports):
    """The checks below pass because nothing of the logs was read, or because the search finds nothing."""
    manifest = json.loads((reports[True] / "manifest.json").read_text())
    assert len({entry["format"] for entry in manifest["inputs"]}) >= 8
    assert manifest["rows"]["used"] > 100
    found = files_with(reports[False], TEXT)
    assert {Path(name.split(":")[0]).suffix for name in found} >= {".parquet", ".html"}


def test_no_text_reaches_any_byte_of_the_report(reports):
    """Catches a prompt as the name of an item, a level that is a passage, an answer that a message quotes."""
    assert files_with(reports[True], TEXT) == []


@pytest.mark.parametrize("no_text", [False, True])
def test_users_hosts_and_commands_never_reach_the_report(reports, no_text):
    """Catches the home directory in a model's name, the host of its address, an absolute path of the report."""
    assert files_with(reports[no_text], PLACE) == []


def test_the_numbers_are_those_of_the_texts(reports):
    """Catches rows lost or merged where names are replaced: two users' models of one name stay two."""
    by_flag = {
        no_text: {
            name: pq.read_table(out / "data" / f"{name}.parquet").to_pandas()
            for name in ("estimates", "unit_sums", "floor_tests")
        }
        for no_text, out in reports.items()
    }
    for name, table in by_flag[False].items():
        numbers = table.select_dtypes("number").columns
        keys = [c for c in ("task", "model", "measure", "estimate", "n") if c in table]
        one, two = (by_flag[flag][name].sort_values(keys)[numbers].reset_index(drop=True) for flag in (False, True))
        if name != "unit_sums":
            pd.testing.assert_frame_equal(one, two, rtol=1e-9)
        assert len(one) == len(two)
    models = set(by_flag[True]["estimates"]["model"])
    assert {"~/models/m", "~2/models/m"} <= models


def test_kept_draws_of_an_earlier_report_hold_no_text_either(tmp_path):
    """Catches the fits of a report with texts kept in the folder of the one without them."""
    logs = tmp_path / "logs"
    logs.mkdir()
    standard(logs)
    out = tmp_path / "out"
    for more in ([], ["--no-text"]):
        assert main(["report", "--fast", "--no-pdf", str(logs), "--out", str(out), *more]) == 0
    assert list(out.glob("data/fits/*/draws.zarr"))
    assert files_with(out, TEXT) == []
    assert files_with(out, PLACE) == []


def test_the_audit_shows_no_text_where_none_is_wanted(tmp_path, capsys):
    """Catches samples, or the items of contradictions, printed under ``--no-text``."""
    logs = tmp_path / "logs"
    logs.mkdir()
    standard(logs)
    assert main(["audit", str(logs)]) == 0
    assert TEXT in capsys.readouterr().out
    assert main(["audit", str(logs), "--no-text"]) == 0
    said = capsys.readouterr().out
    assert TEXT not in said
    assert PLACE not in said


@pytest.mark.parametrize("command", ["report", "audit"])
def test_messages_about_bad_logs_quote_no_text_where_none_is_wanted(tmp_path, capsys, command):
    """Catches a response that the message of a refused log quotes to the terminal, and so to the log of a build."""
    rows = [{"model": "m", "item": f"q{i}", "gold": "yes", "probability": f"a {TEXT}"} for i in range(3)]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([command, str(tmp_path)]) == 2
    assert TEXT in capsys.readouterr().err
    assert main([command, str(tmp_path), "--no-text"]) == 2
    said = capsys.readouterr().err
    assert TEXT not in said
    assert "bad.jsonl: line 1: probability must be a number" in said
    assert "--no-text leaves out" in said


def test_messages_about_settings_quote_them_whatever_is_left_out_of_the_logs(tmp_path, capsys):
    """Catches a message about study.toml from which the key at fault is missing under ``--no-text``."""
    standard(tmp_path)
    (tmp_path / "study.toml").write_text("[study]\ncolour = 'red'\n")
    assert main(["report", str(tmp_path), "--no-text"]) == 2
    assert "colour" in capsys.readouterr().err


def test_validate_shows_no_text_and_finds_the_same_without_it(logs, tmp_path, capsys):
    """Catches an item's text as the place of a violation, a quoted answer, and violations that vanish with texts."""
    nameless = tmp_path / "logs"
    shutil.copytree(logs, nameless)
    rows = [{"model": "n", "task": "odd", "item": f"Is a {TEXT} {i} odd?", "gold": "yes"} for i in range(3)]
    rows += [{**row, "gold": "no", "output": f"{TEXT}!", "answer": f"{TEXT}, perhaps"} for row in rows]
    (nameless / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = {}
    for more in ((), ("--no-text",)):
        assert main(["validate", str(nameless), *more]) == 1
        said[more] = capsys.readouterr().out
    assert TEXT in said[()]
    assert TEXT not in said["--no-text",]
    assert PLACE not in said["--no-text",]
    found = {more: re.findall(r"^(?:error|warning): [a-z ,]+", text, re.MULTILINE) for more, text in said.items()}
    assert found[()] == found["--no-text",]
    assert len(found[()]) > 3
    assert said[()].splitlines()[-1] == said["--no-text",].splitlines()[-1]


def later(folder: Path) -> Path:
    """The standard logs of another day, in which some answers changed."""
    folder.mkdir()
    standard(folder)
    path = folder / "standard.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    turned = [{**row, "output": REPLIES[i % 5 == 0]} for i, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in turned))
    return folder


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_diff_of_logs_shows_no_text_and_the_same_numbers(tmp_path, capsys, more):
    """Catches questions and units named by their text, and pairs lost where these names are replaced."""
    before, after = tmp_path / "before", later(tmp_path / "after")
    before.mkdir()
    standard(before)
    assert main(["diff", str(before), str(after), *more]) == 0
    plain = capsys.readouterr().out
    assert main(["diff", str(before), str(after), "--no-text", *more]) == 0
    private = capsys.readouterr().out
    assert TEXT in plain
    assert TEXT not in private
    assert PLACE not in private
    if more:
        one, two = json.loads(plain), json.loads(private)
        assert len(one["questions"]) == len(two["questions"]) > 0
        assert [row["estimate"] for row in one["comparisons"]] == [row["estimate"] for row in two["comparisons"]]


def test_diff_of_reports_shows_none_of_their_texts(tmp_path, capsys):
    """Catches texts that a report keeps printed by a diff that was asked for none."""
    logs = {"before": tmp_path / "before", "after": later(tmp_path / "after")}
    logs["before"].mkdir()
    standard(logs["before"])
    made = {}
    for side, place in logs.items():
        for more in ((), ("--no-text",)):
            made[side, more] = tmp_path / f"{side}{len(more)}"
            settings = ["--no-bayes", "--no-pdf", "--quiet", "--out", str(made[side, more])]
            assert main(["report", str(place), *settings, *more]) == 0
    capsys.readouterr()
    assert main(["diff", str(made["before", ()]), str(made["after", ("--no-text",)]), "--no-text"]) == 2
    refused = capsys.readouterr()
    assert TEXT not in refused.out + refused.err
    assert "before0" in refused.err
    assert "after1" not in refused.err
    assert main(["diff", *(str(made[s, ("--no-text",)]) for s in logs), "--no-text", "--json"]) == 0
    private = capsys.readouterr().out
    assert json.loads(private)["values"]
    assert TEXT not in private
