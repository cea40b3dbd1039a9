"""Record logs of OpenAI evals (JSON Lines of events), one response per reply of a sample.

Written against the logs of 2023 to 2025; events are joined by run and sample, never by their place.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import as_text, read_lines, top_level_keys
from analysis.importers.likelihood_choices import number
from analysis.importers.lm_eval_rows import REPEATS
from analysis.importers.logged_texts import content_hash, single_gold
from analysis.importers.named_scores import UNSCORED, absent_scorer, main_score, score_columns
from analysis.importers.openai_evals_events import READ, Sample, Sampling
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "OpenAI evals"
VERSIONS = "record logs of 2023-2025"
UNKNOWN = "unknown"
NO_SAMPLING = "no reply of a model in the log"
NO_REPORT = "no final report: the run was interrupted, samples that it planned may be absent"
JUDGED = "a judge's call is no response: kept as meta.judge_output"
OTHER_CALLS = "further calls of the model for the same sample: the one that was matched, else the first, was read"
SEVERAL_MATCHES = "several match events for one sample: the first was read"
_PREFERRED = ("correct", "score", "accuracy")
_SPEC_MARKS = ('"completion_fns"', '"model_names"', '"model_name"', '"base_eval"', '"eval_name"')


def sniff(probe: Probe) -> Claim:
    """Say whether a file begins with the specification of a run."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    is_spec = top_level_keys(probe.text) == ("spec",) and any(mark in probe.text for mark in _SPEC_MARKS)
    return Claim.LOG if is_spec else Claim.NO


@dataclass(slots=True)
class _Log:
    """Contents of a log: specifications by run, samples in order of appearance, what else was there."""

    specs: dict[str, dict[str, Any]] = field(default_factory=dict)
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)
    report: dict[str, Any] | None = None
    unread: dict[str, int] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per sample, in order of first appearance.

    Raises
    ------
    LogError
        A line is damaged or no event, or there are no samples.
    """
    where = relative_name(path, options.root)
    log = _collect(path, where, options)
    if not log.samples:
        raise LogError(where, "header only, no samples")
    names: dict[str, None] = {}
    for sample in log.samples.values():
        names |= dict.fromkeys(sample.scores())
    main = main_score(names, options.scorer, _PREFERRED)
    notes = (*log.notes, *_log_notes(log), *absent_scorer(names, options.scorer))
    for sample in log.samples.values():
        spec = log.specs.get(sample.run) or next(iter(log.specs.values()), {})
        responses, more = _responses(sample, spec, main)
        yield Record(sample.source, responses, notes=notes + more)
        notes = ()


def _collect(path: Path, where: str, options: ReadOptions) -> _Log:
    log = _Log()
    for line, value, odd in read_lines(path, options):
        log.notes |= dict.fromkeys(odd)
        if not isinstance(value, dict):
            raise LogError(where, "no JSON object", line=line)
        if "spec" in value:
            spec = value["spec"]
            if not isinstance(spec, dict):
                raise LogError(where, "the specification of the run is no object", line=line)
            log.specs.setdefault(as_text(spec.get("run_id", "")), spec)
        elif "final_report" in value:
            log.report = value["final_report"] if isinstance(value["final_report"], dict) else {}
        else:
            _add_event(log, value, where, line)
    return log


def _add_event(log: _Log, event: Mapping[str, Any], where: str, line: int) -> None:
    kind, data, identity = event.get("type"), event.get("data"), event.get("sample_id")
    if not isinstance(kind, str) or not isinstance(identity, (str, int)):
        raise LogError(where, 'no event: it lacks "type" or "sample_id"', line=line)
    if kind not in READ:
        log.unread[kind] = log.unread.get(kind, 0) + 1
        return
    run = as_text(event.get("run_id", ""))
    key = (run, as_text(identity))
    sample = log.samples.get(key)
    if sample is None:
        sample = log.samples[key] = Sample(run, key[1], f"{where}:{line}")
    if not isinstance(data, dict):
        raise LogError(where, f"the data of a {kind} event is no object", line=line)
    sample.add(kind, data, event.get("created_at"))


def _log_notes(log: _Log) -> tuple[str, ...]:
    notes = tuple(f"{n:,} events of type {kind} are not read" for kind, n in sorted(log.unread.items()))
    if log.report is None:
        return (*notes, NO_REPORT)
    reported = number(log.report.get("accuracy"))
    outcomes = [sample.scores().get("correct") for sample in log.samples.values()]
    if not math.isnan(reported) and outcomes and all(isinstance(o, bool) for o in outcomes):
        ours = sum(bool(o) for o in outcomes) / len(outcomes)
        if not math.isclose(ours, reported, rel_tol=1e-9, abs_tol=1e-12):
            notes += (f"the final report says accuracy {reported}, the samples of the file give {ours}",)
    return notes


def model_of(spec: Mapping[str, Any]) -> tuple[str, int]:
    """Model under test, and how many further models the run names."""
    functions = spec.get("completion_fns")
    if not isinstance(functions, list) or not functions:
        older = spec.get("model_names") or spec.get("model_name")
        functions = older.get("completions") if isinstance(older, dict) else older
        functions = functions if isinstance(functions, list) else [functions]
    names = [name for name in functions if isinstance(name, str) and name]
    return (names[0], len(names) - 1) if names else (UNKNOWN, 0)


def _responses(
    sample: Sample, spec: Mapping[str, Any], main: str | None
) -> tuple[tuple[Response, ...], tuple[str, ...]]:
    model, judges = model_of(spec)
    call, judge = sample.answer(judges)
    gold, extra = single_gold(sample.gold())
    scores, score_extra, notes = score_columns(sample.scores(), main, sample.source)
    notes += _sample_notes(sample, call, judge, bool(scores))
    extra |= _kept(sample, judge)
    replies: tuple[str | None, ...] = call.replies if call is not None else (_matched(sample),)
    task = spec.get("eval_name") or spec.get("base_eval") or ""
    responses = []
    for at, reply in enumerate(replies or (None,)):
        columns = _outcome(sample, reply) | (scores if at == 0 else {})
        responses.append(
            Response(
                model=model,
                item=sample.identity,
                task=as_text(task),
                sample=str(at),
                run=sample.run or None,
                output=reply,
                gold=gold,
                harness=NAME,
                source=sample.source,
                extra=extra | (score_extra if at == 0 else {}),
                **_call_columns(call, first=at == 0),
                **columns,
            )
        )
    return tuple(responses), notes


def _matched(sample: Sample) -> str | None:
    said = sample.matches[0].get("sampled") if sample.matches else None
    return None if said is None else as_text(said)


def _outcome(sample: Sample, reply: str | None) -> dict[str, Any]:
    if reply is not None:
        return {"status": None, "status_detail": sample.error}
    if sample.error is not None:
        return {"status": Status.ERRORED, "status_detail": sample.error}
    return {"status": Status.MISSING, "status_detail": NO_SAMPLING}


def _call_columns(call: Sampling | None, *, first: bool) -> dict[str, Any]:
    if call is None:
        return {}
    return {
        "prompt": call.prompt,
        "prompt_hash": None if call.prompt is None else content_hash(call.prompt),
        "model_resolved": call.model,
        "timestamp": call.moment,
        # Usage is that of the whole call, whatever the number of replies.
        "tokens_in": call.tokens_in if first else None,
        "tokens_out": call.tokens_out if first else None,
    }


def _kept(sample: Sample, judge: Sampling | None) -> dict[str, str]:
    extra = {f"meta.{name}": as_text(v) for name, v in sample.metrics.items() if isinstance(v, str)}
    picked = sample.matches[0].get("picked") if sample.matches else None
    if picked is not None:
        extra["meta.picked"] = as_text(picked)
    if judge is not None and judge.replies and judge.replies[0] is not None:
        extra["meta.judge_output"] = judge.replies[0]
    return extra


def _sample_notes(sample: Sample, call: Sampling | None, judge: Sampling | None, is_scored: bool) -> tuple[str, ...]:
    others = len(sample.samplings) - (call is not None) - (judge is not None)
    found = {
        JUDGED: judge is not None,
        OTHER_CALLS: others > 0,
        SEVERAL_MATCHES: len(sample.matches) > 1,
        REPEATS: call is not None and len(call.replies) > 1,
        UNSCORED: not is_scored and sample.error is None,
    }
    return tuple(note for note, holds in found.items() if holds)
