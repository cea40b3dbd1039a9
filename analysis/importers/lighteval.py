"""LightEval details files (Parquet), one response per reply, one per document where options were scored.

Written against the layout of 0.11 and later (``doc``, ``model_response``, ``metric``) and the flat one before it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import as_text, open_log, top_level_keys
from analysis.importers.lighteval_files import RunInfo, run_info
from analysis.importers.lighteval_rows import Sample, new_sample, old_sample, plain
from analysis.importers.likelihood_choices import highest
from analysis.importers.lm_eval_choices import choice_labels, yes_probability
from analysis.importers.lm_eval_rows import MAIN_METRICS, REPEATS
from analysis.importers.logged_factors import metadata_columns
from analysis.importers.logged_texts import content_hash, single_gold
from analysis.importers.named_scores import UNSCORED, absent_scorer, main_score, score_columns
from analysis.importers.parquet_rows import MAGIC, parquet_names
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "LightEval"
VERSIONS = "details files of 0.11 and later, and the flat layout before"
AGGREGATE = "aggregate only"
NO_IDS = "no item ids in this layout: items are numbered by row, the hash of the question tells if runs differ"
NO_REPLY = "neither a text nor log-probabilities in the log"
UNEQUAL = "the number of log-probabilities is not that of the options: no answer"
_NEW = {"doc", "model_response", "metric"}
_OLD = {"full_prompt", "predictions", "metrics"}
_ROWS = 1024


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds details, or results that belong to some."""
    if probe.head.startswith(MAGIC):
        names = set(parquet_names(probe))
        return Claim.LOG if names >= _NEW or names >= _OLD else Claim.NO
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    return Claim.COMPANION if {"config_general", "results"} <= set(top_level_keys(probe.text)) else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per row, in file order.

    Raises
    ------
    LogError
        The file holds aggregates only, no rows, other columns, or is damaged.
    """
    where = relative_name(path, options.root)
    with open_log(path, options) as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise LogError(where, AGGREGATE, hint="run LightEval with --save-details, and give the details_*.parquet")
    info = run_info(path, options)
    notes = info.notes
    count = 0
    for count, row in enumerate(_rows(path, where), start=1):
        sample = new_sample(row) if "doc" in row else old_sample(row)
        if sample is None:
            raise LogError(where, f"row {count} is no document with a response")
        record = _record(sample, info, f"{where}#{count}", options.scorer)
        yield Record(record.source, record.responses, notes=notes + record.notes)
        notes = ()
    if not count:
        raise LogError(where, "no rows in the file")


def _rows(path: Path, where: str) -> Iterator[dict[str, Any]]:
    try:
        with pq.ParquetFile(path) as file:
            names = set(file.schema_arrow.names)
            if not (names >= _NEW or names >= _OLD):
                raise LogError(where, f"no details: its columns are {', '.join(sorted(names))}")
            for batch in file.iter_batches(batch_size=_ROWS):
                yield from map(plain, batch.to_pylist())
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        first = (str(error).splitlines() or ["no reason given"])[0]
        raise LogError(where, f"damaged Parquet file ({first})", hint="copy it again") from error


def _record(sample: Sample, info: RunInfo, source: str, asked: str | None) -> Record:
    item = sample.item if sample.item is not None else source.rpartition("#")[2]
    notes: tuple[str, ...] = () if sample.item is not None else (NO_IDS,)
    factors, extra = metadata_columns(sample.specific, prefix="meta.")
    answers, more = _texts(sample) if sample.texts else _choice(sample)
    scores, score_extra, odd = _scores(sample, asked, source)
    if not scores:
        odd += (UNSCORED,)
    responses = []
    for at, (columns, own) in enumerate(answers):
        first = at == 0
        responses.append(
            Response(
                model=info.model,
                item=item,
                task=sample.task or info.task,
                sample=str(at),
                run=info.run,
                timestamp=info.timestamp,
                harness=info.harness,
                temperature=info.temperature,
                prompt=sample.query if sample.prompt is None else sample.prompt,
                prompt_hash=content_hash(sample.query, sample.choices),
                tokens_in=_at(sample.tokens_in, at if len(sample.tokens_in) > 1 else 0),
                tokens_out=_at(sample.tokens_out, at),
                source=source,
                extra=extra | own | (score_extra if first else {}),
                **factors | columns | (scores if first else {}),
            )
        )
    return Record(source, tuple(responses), notes=notes + more + odd)


def _scores(sample: Sample, asked: str | None, source: str) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    known = {name: value for name, value in sample.metrics.items() if value is not None}
    single = {str(name): value for name, value in known.items() if isinstance(value, (bool, int, float))}
    columns, extra, notes = score_columns(single, main_score(single, asked, MAIN_METRICS), source)
    extra |= {f"meta.metric.{name}": as_text(value) for name, value in known.items() if str(name) not in single}
    return columns, extra, notes + absent_scorer(single, asked)


def _texts(sample: Sample) -> tuple[list[tuple[dict[str, Any], dict[str, str]]], tuple[str, ...]]:
    gold, target = single_gold(sample.gold_texts)
    answers = []
    for at, text in enumerate(sample.texts):
        extra = dict(target)
        columns: dict[str, Any] = {"gold": gold, "output": None if text is None else as_text(text)}
        if text is None:
            columns |= {"status": Status.MISSING, "status_detail": NO_REPLY}
        finished, reasoning = _at(sample.finished, at), _at(sample.reasoning, at)
        if finished is not None and finished != text:
            extra["meta.post_processed"] = as_text(finished)
        if reasoning is not None:
            columns["reasoning"] = as_text(reasoning)
        answers.append((columns, extra))
    return answers, (REPEATS,) if len(answers) > 1 else ()


def _choice(sample: Sample) -> tuple[list[tuple[dict[str, Any], dict[str, str]]], tuple[str, ...]]:
    values = sample.loglikelihoods
    if not values:
        gold, target = single_gold(sample.gold_texts)
        return [({"gold": gold, "status": Status.MISSING, "status_detail": NO_REPLY}, target)], ()
    extra = {"meta.loglikelihood": as_text(list(values)), "meta.choices": as_text([c.strip() for c in sample.choices])}
    if len(sample.choices) < 2:
        # A single log-likelihood has no competing option: there is a score and no answer.
        return [({"gold": None}, extra)], ()
    labels = choice_labels(sample.choices)
    gold, target = single_gold(labels[at] for at in sample.gold)
    if len(values) != len(labels):
        unread = {"status": Status.UNPARSED, "status_detail": UNEQUAL}
        return [({"gold": gold} | unread, extra | target)], (UNEQUAL,)
    choice = highest(labels, values)
    readable = choice.status is None or choice.rule == "tie"
    p_yes = yes_probability(labels, values) if readable else None
    return [({"gold": gold, "p_yes": p_yes} | choice.columns(), extra | target)], choice.notes


def _at(values: tuple[Any, ...], at: int) -> Any:
    return values[at] if at < len(values) else None
