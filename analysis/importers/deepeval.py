"""DeepEval test runs (``.deepeval/.latest_test_run.json`` and the run alone): one response per test case.

Written against the camelCase layout of DeepEval 1 to 3; unknown keys are ignored.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.content_digest import content_digest, content_name
from analysis.importers.inspect_scores import as_number
from analysis.importers.json_text import JsonParser, as_object, as_text, read_text, top_level_keys
from analysis.importers.logged_factors import metadata_columns
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response

NAME = "DeepEval"
VERSIONS = "test runs of DeepEval 1-3"
UNKNOWN = "unknown"
NO_MODEL = (
    'a test run does not name the model under test (evaluationModel is the judge): it is called "unknown"; '
    "name it under [map] in study.toml"
)
LOGGED_MODEL = "model named after hyperparameters.model, which the user logged"
SPANS = "a trace of spans belongs to the test case: metrics of its spans are not read"
CONVERSATION = "a conversation of several turns: the last reply is the output"
LINK_ONLY = "only a link to results in the cloud, no test cases"


def sniff(probe: Probe) -> Claim:
    """Say whether a file is a test run, a link to one, or the cache beside it."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    if "test_cases_lookup_map" in keys:
        return Claim.COMPANION
    if "testRunData" in keys or (keys & {"testCases", "conversationalTestCases"} and _is_run(keys, probe.text)):
        return Claim.LOG
    return Claim.REFUSED if keys == {"testRunLink"} else Claim.NO


def _is_run(keys: set[str], text: str) -> bool:
    return bool(keys & {"metricsScores", "testPassed", "testFailed"}) or '"metricsData"' in text


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per test case, in file order.

    Raises
    ------
    LogError
        The file is a link to results elsewhere, holds no test cases, or is damaged.
    """
    where = relative_name(path, options.root)
    text, notes = read_text(path, options)
    whole, odd = JsonParser(where).parse(text)
    run, cases = _test_cases(whole, where)
    notes += odd
    asked: dict[str, int] = {}
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, dict):
            raise LogError(where, f"test case {number} is no JSON object")
        item = content_name(_question(case))
        asked[item] = asked.get(item, -1) + 1
        response, more = _response(case, run, f"{where}#{number}", options.scorer)
        yield Record(f"{where}#{number}", (_placed(response, item, asked[item], where),), notes=notes + more)
        notes = ()


def _placed(response: Mapping[str, Any], item: str, sample: int, run: str) -> Response:
    return Response(item=item, sample=str(sample), run=run, harness="deepeval", **response)


def _test_cases(whole: Any, where: str) -> tuple[dict[str, Any], list[Any]]:
    outer = as_object(whole)
    run = as_object(outer.get("testRunData", outer))
    lists = [run.get(key) for key in ("testCases", "conversationalTestCases")]
    for found in lists:
        if found is not None and not isinstance(found, list):
            raise LogError(where, "the test cases are no list")
    cases = [case for found in lists for case in found or ()]
    if not cases:
        raise LogError(where, LINK_ONLY if outer.get("testRunLink") else "no test cases in the file")
    return run, cases


def _question(case: Mapping[str, Any]) -> Any:
    """What was asked: names of test cases are positions."""
    if case.get("input") is not None:
        return case["input"]
    turns = _turns(case)
    asked = [turn.get("content") for turn in turns if turn.get("role") != "assistant"]
    return [case.get("scenario"), asked or case.get("name")]


def _turns(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    turns = case.get("turns")
    return [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []


def _response(
    case: Mapping[str, Any], run: Mapping[str, Any], source: str, scorer: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    model, notes = _model(run)
    factors, extra = metadata_columns(case.get("additionalMetadata") or case.get("metadata"), prefix="meta.")
    columns: dict[str, Any] = dict(factors)
    columns |= _texts(case)
    for key in ("name", "success", "order"):
        if isinstance(case.get(key), (str, int, float)):
            extra[f"meta.{key}"] = as_text(case[key])
    scores, more = _scores(case, extra, scorer)
    if as_object(case.get("trace")):
        more += (SPANS,)
    if _turns(case):
        more += (CONVERSATION,)
    return {"model": model, "source": source, "extra": extra, **columns, **scores}, notes + more


def _model(run: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    logged = as_object(run.get("hyperparameters")).get("model")
    if isinstance(logged, str) and logged:
        return logged, (LOGGED_MODEL,)
    return UNKNOWN, (NO_MODEL,)


def _texts(case: Mapping[str, Any]) -> dict[str, Any]:
    turns = _turns(case)
    replies = [turn.get("content") for turn in turns if turn.get("role") == "assistant"]
    output = replies[-1] if replies and "actualOutput" not in case else case.get("actualOutput")
    prompt, gold = case.get("input"), case.get("expectedOutput", case.get("expectedOutcome"))
    return {
        "output": None if output is None else as_text(output),
        "prompt": None if prompt is None else as_text(prompt),
        "prompt_hash": content_digest(_question(case)),
        "gold": as_text(gold).strip() or None if isinstance(gold, (str, int, float)) else None,
    }


def _scores(
    case: Mapping[str, Any], extra: dict[str, str], scorer: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The score of one metric (the one asked for, else the first); others are extra columns."""
    listed = case.get("metricsData")
    metrics = (
        {as_text(m["name"]): m for m in listed or () if isinstance(m, dict) and m.get("name")}
        if isinstance(listed, list)
        else {}
    )
    main = scorer if scorer is not None else next(iter(metrics), None)
    notes: tuple[str, ...] = ()
    for name, metric in metrics.items():
        notes += _judged(name, metric, extra)
        if name != main and metric.get("score") is not None:
            extra[f"score.{name}"] = as_text(metric["score"])
    chosen = metrics.get(main or "")
    if chosen is None:
        return {}, (*notes, "no score of its own in the log")
    score = chosen.get("score")
    if score is None:
        return {}, (*notes, f'metric "{main}" has no score: the row is unscored')
    others = (f'score of metric "{main}"; others are kept as score.<name>',) if len(metrics) > 1 else ()
    odd = () if as_number(score) is not None else (f'metric "{main}": {as_text(score)} is no score, kept as missing',)
    return {"logged_score": as_text(score), "score_value": as_number(score)}, notes + others + odd


def _judged(name: str, metric: Mapping[str, Any], extra: dict[str, str]) -> tuple[str, ...]:
    judge, success = metric.get("evaluationModel"), metric.get("success")
    if isinstance(judge, str):
        extra[f"meta.judge.{name}"] = judge
    if isinstance(success, bool):
        extra[f"meta.success.{name}"] = as_text(success)
    return (f'metric "{name}" failed: its judge gave no score',) if metric.get("error") else ()
