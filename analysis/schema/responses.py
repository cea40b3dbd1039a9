"""The standard schema: the columns of one row per response, version 1."""

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from analysis.schema.status import Status

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the standard schema.

    ``kind`` is the Arrow type in the store (text, number, integer, flag); ``group`` is the heading
    under which ``evenhand schema`` prints it; ``required`` columns must be in every log.
    """

    name: str
    kind: str
    group: str
    meaning: str
    required: bool = False
    values: tuple[str, ...] = ()


COLUMNS: tuple[Column, ...] = (
    Column("model", "text", "identity", "name as logged, never shortened or merged", required=True),
    Column("task", "text", "identity", "benchmark or data set; default empty"),
    Column("item", "text", "identity", "one question exactly as asked", required=True),
    Column("unit", "text", "identity", "the independent unit; default: the item"),
    Column("sample", "text", "identity", "repeat, epoch or vote of the same question; default 0"),
    Column("run", "text", "identity", "run or log id"),
    Column("output", "text", "answer", "raw text of the response"),
    Column("answer", "text", "answer", "yes, no, an option label, or empty"),
    Column("rule", "text", "answer", "the reading rule that produced the answer"),
    Column("gold", "text", "answer", "right answer, same vocabulary as answer"),
    Column("status", "text", "answer", "what became of the response", values=tuple(Status)),
    Column("status_detail", "text", "answer", "the harness's own words"),
    Column("logged_score", "text", "answer", "what the harness said, in its scale"),
    Column("score_value", "number", "answer", "logged_score as a number, where its scale is known"),
    Column("probability", "number", "answer", "stated probability in [0, 1]"),
    Column("truth", "number", "answer", "exact probability or outcome to compare with"),
    Column("p_yes", "number", "answer", "probability that the model's tokens give to yes"),
    Column("validity", "text", "factors", "logical validity of the item", values=("valid", "invalid")),
    Column("polarity", "text", "factors", "polarity of the question", values=("affirmative", "negated")),
    Column("template", "text", "factors", "argument template of the item"),
    Column("form", "text", "factors", "question form"),
    Column("negation", "text", "factors", "how the question is negated (prefix, not, ...)"),
    Column("wording", "text", "factors", "rewording of one query"),
    Column("variant", "text", "factors", "version of one base item with the same gold answer"),
    Column("believability", "text", "factors", "empty where it does not apply", values=("believable", "unbelievable")),
    Column("item_family", "text", "factors", "family of items"),
    Column("level", "text", "factors", "level within a family"),
    Column("strategy", "text", "factors", "prompting strategy (a condition)"),
    Column("temperature", "text", "factors", "sampling temperature as logged (a condition)"),
    Column("model_family", "text", "factors", "family of the model"),
    Column("model_size", "number", "factors", "size of the model, billions of parameters"),
    Column("role", "text", "probability queries", "target, latent, conditional, complement, do"),
    Column("state", "text", "probability queries", "state of the latent variable"),
    Column("identity", "text", "probability queries", "identities served, separated by ';'"),
    Column("tokens_in", "integer", "cost and origin", "prompt tokens"),
    Column("tokens_out", "integer", "cost and origin", "completion tokens"),
    Column("tokens_reasoning", "integer", "cost and origin", "reasoning tokens"),
    Column("latency", "number", "cost and origin", "seconds from request to response"),
    Column("timestamp", "text", "cost and origin", "time of the response, as logged"),
    Column("harness", "text", "cost and origin", "harness and version that wrote the log"),
    Column("model_resolved", "text", "cost and origin", "concrete model that answered"),
    Column("prompt", "text", "cost and origin", "prompt as sent"),
    Column("prompt_hash", "text", "cost and origin", "stable hash of the question's content"),
    Column("reasoning", "text", "cost and origin", "reasoning text, kept out of the answer"),
    Column("source", "text", "cost and origin", "file and line or member, relative to the directory given"),
    Column("simulated", "flag", "cost and origin", "true for generated logs"),
)

#: Prefixes under which a log may add columns of its own.
EXTRA_PREFIXES = ("factor.", "score.", "meta.")
COLUMN_BY_NAME = {column.name: column for column in COLUMNS}
ARROW_TYPES = {"text": pa.string(), "number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_()}
#: Factors of the item with a known meaning; other factors are declared or carry the prefix ``factor.``.
ITEM_FACTORS = tuple(
    c.name
    for c in COLUMNS
    if c.group == "factors" and c.name not in {"strategy", "temperature", "model_family", "model_size"}
)
#: Factors that vary within an item unless ``study.toml`` says otherwise.
CONDITIONS = ("strategy", "temperature")


@dataclass(frozen=True, slots=True)
class Response:
    """One response elicited (or planned) from one model, as its harness logged it.

    Fields are the columns of the standard schema, all optional but ``model`` and ``item``; ``None``
    means "not in the log". Numbers are numbers; everything else is the logged text, exact.
    ``extra`` holds columns under ``factor.``, ``score.`` and ``meta.`` (text values).
    An importer fills what the log says and decides nothing: ``answer`` and ``rule`` only where the
    harness recorded which option was chosen, ``status`` only for failures the harness recorded
    (errored, refused, truncated, missing); the reader decides the rest.
    """

    model: str
    item: str
    task: str = ""
    unit: str | None = None
    sample: str = "0"
    run: str | None = None
    output: str | None = None
    answer: str | None = None
    rule: str | None = None
    gold: str | None = None
    status: str | None = None
    status_detail: str | None = None
    logged_score: str | None = None
    score_value: float | None = None
    probability: float | None = None
    truth: float | None = None
    p_yes: float | None = None
    validity: str | None = None
    polarity: str | None = None
    template: str | None = None
    form: str | None = None
    negation: str | None = None
    wording: str | None = None
    variant: str | None = None
    believability: str | None = None
    item_family: str | None = None
    level: str | None = None
    strategy: str | None = None
    temperature: str | None = None
    model_family: str | None = None
    model_size: float | None = None
    role: str | None = None
    state: str | None = None
    identity: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    latency: float | None = None
    timestamp: str | None = None
    harness: str | None = None
    model_resolved: str | None = None
    prompt: str | None = None
    prompt_hash: str | None = None
    reasoning: str | None = None
    source: str | None = None
    simulated: bool | None = None
    extra: dict[str, str] = field(default_factory=dict)


#: Names of the fields but ``extra``, in the order of ``COLUMNS`` (that of ``Response`` begins with the required ones).
RESPONSE_FIELDS = tuple(column.name for column in COLUMNS)


def arrow_schema(extra: tuple[str, ...] = ()) -> pa.Schema:
    """Arrow schema of the store: every standard column in order, then ``extra`` as text."""
    known = [pa.field(c.name, ARROW_TYPES[c.kind]) for c in COLUMNS]
    return pa.schema(known + [pa.field(name, pa.string()) for name in extra])


def record_batch(responses: list[Response], extra: tuple[str, ...] = ()) -> pa.RecordBatch:
    """Responses as one Arrow batch in the store's schema; extras outside ``extra`` are an error."""
    schema = arrow_schema(extra)
    columns: list[Any] = [[getattr(r, name) for r in responses] for name in RESPONSE_FIELDS]
    columns += [[r.extra.get(name) for r in responses] for name in extra]
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
