"""One instance of Every Eval Ever as the columns of the schema: reply, answer, gold, status, cost."""

from collections.abc import Mapping
from typing import Any

from analysis.importers.inspect_messages import message_content
from analysis.importers.inspect_sample import HARNESS_CHOICE
from analysis.importers.json_text import as_text
from analysis.importers.logged_factors import count, metadata_columns, seconds
from analysis.importers.logged_texts import content_hash, error_words, letters, single_gold
from analysis.schema.status import Status

NO_OUTPUT = "no output in the log"


def texts(value: Any) -> list[str]:
    """A text, or the texts of a list."""
    found = value if isinstance(value, list) else [] if value is None else [value]
    return [as_text(entry) for entry in found if entry is not None]


def object_at(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Member of a row that is an object; empty for anything else."""
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def options_of(row: Mapping[str, Any]) -> list[str]:
    """Options of a multiple-choice item; a converter may repeat the references there, which are none."""
    asked = object_at(row, "input")
    choices, reference = texts(asked.get("choices")), texts(asked.get("reference"))
    return [] if len(choices) < 2 or set(choices) <= set(reference) else choices


def label_of(text: str, options: list[str]) -> str | None:
    """Letter of an option: by its text, else as the letter itself; None for anything else."""
    labels, stripped = letters(len(options)), [option.strip() for option in options]
    if stripped.count(text.strip()) == 1:
        return labels[stripped.index(text.strip())]
    return text.strip() if text.strip() in labels and text.strip() not in stripped else None


def row_columns(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """What all replies of a row share: gold, prompt, cost, metadata, failure."""
    asked, usage, times = object_at(row, "input"), object_at(row, "token_usage"), object_at(row, "performance")
    options = options_of(row)
    columns, extra = metadata_columns(row.get("metadata"), prefix="meta.")
    filled: dict[str, Any] = dict(columns)
    gold, target = _gold(texts(asked.get("reference")), options)
    prompt = asked.get("formatted") or asked.get("raw")
    digest = row.get("sample_hash")
    milliseconds = seconds(times.get("generation_time_ms"))
    milliseconds = seconds(times.get("latency_ms")) if milliseconds is None else milliseconds
    failure = error_words(row.get("error"))
    filled |= {
        "gold": gold,
        "prompt": None if prompt is None else as_text(prompt),
        "prompt_hash": digest if isinstance(digest, str) and digest else content_hash(asked.get("raw"), options),
        "tokens_in": count(usage.get("input_tokens")),
        "tokens_out": count(usage.get("output_tokens")),
        "tokens_reasoning": count(usage.get("reasoning_tokens")),
        "latency": None if milliseconds is None else milliseconds / 1000,
        "status": Status.ERRORED if failure else None,
        "status_detail": failure,
    }
    if options:
        extra["meta.choices"] = as_text(options)
    kind = row.get("interaction_type")
    if isinstance(kind, str) and kind != "single_turn":
        extra["meta.interaction_type"] = kind
    return filled, extra | target


def _gold(references: list[str], options: list[str]) -> tuple[str | None, dict[str, str]]:
    if not options:
        return single_gold(references)
    labels = [label_of(reference, options) for reference in references]
    known = [label for label in labels if label is not None]
    gold, target = single_gold(known if len(known) == len(references) else references)
    if gold is not None and references and gold != references[0].strip():
        target = {"meta.target": references[0].strip()}
    return gold, target


def replies(row: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Columns and extra columns of each reply of a row; one without a text where there is none."""
    output, options = object_at(row, "output"), options_of(row)
    raw, thoughts = texts(output.get("raw")), texts(output.get("reasoning_trace"))
    said, thought = _last_reply(row)
    if not raw and said is None:
        missing = {} if error_words(row.get("error")) else {"status": Status.MISSING, "status_detail": NO_OUTPUT}
        return [(missing, {})]
    found = []
    for at, text in enumerate(raw or [None]):
        columns, extra = _reply(text, said if len(raw) < 2 else None, options)
        columns["reasoning"] = thoughts[at] if at < len(thoughts) else thought
        if len(raw) < 2 and "answer" not in columns:
            columns |= _attributed(row, options)
        found.append((columns, extra))
    return found


def _reply(raw: str | None, said: str | None, options: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The whole reply if the log has it; what a converter took out of it is then an answer, or metadata."""
    if raw is None or said is None or said.strip() == raw.strip():
        return {"output": said if raw is None else raw}, {}
    label = label_of(raw, options) if options else None
    if label is None:
        return {"output": said}, {"meta.output_raw": raw}
    return {"output": said, "answer": label, "rule": HARNESS_CHOICE}, {}


def _attributed(row: Mapping[str, Any], options: list[str]) -> dict[str, Any]:
    """Option that the harness took from the reply, where it recorded one."""
    entries = row.get("answer_attribution")
    found = [e for e in entries if isinstance(e, dict) and e.get("is_terminal")] if isinstance(entries, list) else []
    value = found[-1].get("extracted_value") if found else None
    label = label_of(value, options) if isinstance(value, str) and options else None
    return {} if label is None else {"answer": label, "rule": HARNESS_CHOICE}


def _last_reply(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Text and reasoning of the last message of the model (0.2.0 calls the messages interactions)."""
    messages = row.get("messages") or row.get("interactions")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "assistant":
            content = message_content(message.get("content"), {})
            trace = texts(message.get("reasoning_trace"))
            text = content.text
            # Some converters wrote the Python form of a list of parts instead of a text.
            is_list = text is not None and text.startswith("[") and text.rstrip().endswith("]")
            if text and text.strip() and not is_list:
                return text, content.reasoning or ("\n".join(trace) or None)
    return None, None


def scores(row: Mapping[str, Any]) -> dict[str, Any]:
    """Score and correctness of a row, as logged; None where there is none."""
    evaluation = object_at(row, "evaluation")
    return {
        name: value
        for name in ("score", "is_correct")
        if isinstance(value := evaluation.get(name), (bool, int, float, str))
    }
