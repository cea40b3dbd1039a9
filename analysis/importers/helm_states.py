"""One request state of a HELM run as the columns of the schema that the state alone decides."""

from collections.abc import Mapping
from typing import Any

from analysis.errors import LogError
from analysis.importers.helm_run import Key, Run, instance_key, is_worst
from analysis.importers.inspect_sample import HARNESS_CHOICE, REFUSALS
from analysis.importers.json_text import as_text
from analysis.importers.likelihood_choices import number
from analysis.importers.logged_factors import count, seconds
from analysis.importers.logged_texts import content_hash, conversation, error_words, single_gold
from analysis.schema.status import Status

ORIGINAL = "original"
OUTSIDE = "the completion is none of the option letters"
WORST = "worst case over perturbed copies: a summary, no response"
JOINT = "multiple_choice_joint"
_CORRECT = "correct"
UNKNOWN = "unknown"
#: Tags of BBQ: the polarity of the question, and whether its context tells the answer. Compared whole.
_BBQ = {
    "factor.question_polarity": ("negative", "non-negative"),
    "factor.context": ("ambiguous", "non-ambiguous"),
}


def checked_state(value: Any, source: str, where: str) -> tuple[dict[str, Any], Key]:
    """A request state and the key of its instance; anything else is a LogError."""
    place = source.removeprefix(where + ":")
    instance = value.get("instance") if isinstance(value, dict) else None
    if not isinstance(instance, dict) or not isinstance(instance.get("id"), (str, int)):
        raise LogError(where, f"{place} is no request state: its instance has no id")
    return value, instance_key(value, instance["id"], instance.get("perturbation"))


def is_summary(state: Mapping[str, Any]) -> bool:
    """Whether a state stands for the worst case over perturbed copies."""
    return is_worst(state["instance"].get("perturbation"))


def object_at(value: Any, key: str) -> dict[str, Any]:
    """Member of an object that is an object itself; empty for anything else."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def model_name(state: Mapping[str, Any], run: Run) -> str:
    """Model of the run, else of the request."""
    model = object_at(state, "request").get("model")
    return run.model or (model if isinstance(model, str) and model else UNKNOWN)


def references(state: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Text and tags of each reference."""
    found = state["instance"].get("references")
    pairs = []
    for reference in found if isinstance(found, list) else []:
        tags = reference.get("tags") if isinstance(reference, dict) else None
        text = object_at(reference, "output").get("text")
        pairs.append(
            (
                as_text(text) if text is not None else "",
                tuple(as_text(tag) for tag in tags) if isinstance(tags, list) else (),
            )
        )
    return pairs


def item_columns(state: Mapping[str, Any], key: Key, run: Run) -> tuple[dict[str, Any], dict[str, str]]:
    """Columns that the instance decides: item, unit, prompt, hash, factors from tags."""
    instance, request = state["instance"], object_at(state, "request")
    texts = references(state)
    identity, perturbation, _ = key
    item = f"{identity} [{perturbation}]" if perturbation else identity
    content = instance.get("input")
    extra = {f"meta.{name}": as_text(instance[name]) for name in ("split", "sub_split") if instance.get(name)}
    columns: dict[str, Any] = {
        "item": item,
        "prompt": conversation(request.get("prompt")) or conversation(request.get("messages")),
        "prompt_hash": content_hash(content, [text for text, _ in texts]),
    }
    if run.is_perturbed or perturbation:
        columns["unit"] = identity
        extra["factor.perturbation"] = perturbation or ORIGINAL
    return columns, extra | _tag_columns(texts)


def _tag_columns(texts: list[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """Factors that every reference repeats in its tags."""
    if not texts:
        return {}
    shared = [tag for tag in texts[0][1] if tag != _CORRECT and all(tag in tags for _, tags in texts)]
    columns = {"meta.tags": as_text(shared)} if shared else {}
    named = {column: [tag for tag in levels if tag in shared] for column, levels in _BBQ.items()}
    if all(len(found) == 1 for found in named.values()):
        columns |= {column: found[0] for column, found in named.items()}
    return columns


def answer_columns(
    state: Mapping[str, Any], completion: str | None, run: Run
) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    """Gold answer, and for options the letter that the harness would read."""
    correct = [text for text, tags in references(state) if _CORRECT in tags]
    mapping = state.get("output_mapping")
    if not isinstance(mapping, dict) or not mapping:
        gold, extra = single_gold(correct)
        return {"gold": gold}, extra, ()
    options = {label: as_text(text) for label, text in mapping.items()}
    gold, extra = single_gold(_right_labels(options, state))
    extra["meta.choices"] = as_text(list(options.values()))
    if completion is None or not completion.strip() or run.method not in (JOINT, ""):
        return {"gold": gold}, extra, ()
    if completion.strip() in options:
        return {"gold": gold, "answer": completion.strip(), "rule": HARNESS_CHOICE}, extra, ()
    outside = {"status": Status.UNPARSED, "status_detail": OUTSIDE, "rule": HARNESS_CHOICE}
    return {"gold": gold} | outside, extra, (OUTSIDE,)


def _right_labels(options: Mapping[str, str], state: Mapping[str, Any]) -> list[str]:
    """Labels of the right options: by position where options and references agree, else by text."""
    texts = references(state)
    labels = list(options)
    if [text for text, _ in texts] == list(options.values()):
        return [label for label, (_, tags) in zip(labels, texts, strict=True) if _CORRECT in tags]
    right = {text for text, tags in texts if _CORRECT in tags}
    return [label for label in labels if options[label] in right]


def completions(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Completions of a state's result."""
    found = object_at(state, "result").get("completions")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def completion_text(completion: Mapping[str, Any]) -> str | None:
    """Text of a completion."""
    text = completion.get("text")
    return None if text is None else as_text(text)


def outcome_columns(
    state: Mapping[str, Any], completion: Mapping[str, Any] | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Text, status and cost of one completion (None: there is none)."""
    request, result = object_at(state, "request"), object_at(state, "result")
    reason = object_at(completion, "finish_reason").get("reason")
    extra = {"meta.stop_reason": reason} if isinstance(reason, str) and reason else {}
    moment, temperature = result.get("request_datetime"), request.get("temperature")
    columns: dict[str, Any] = {
        "temperature": None if temperature is None else as_text(temperature),
        "latency": seconds(result.get("request_time")),
        "timestamp": None if moment is None else as_text(moment),
        "output": completion_text(completion) if completion else None,
    }
    failure = error_words(result.get("error"))
    if not result:
        columns |= {"status": Status.MISSING, "status_detail": "the request has no result in the log"}
    elif result.get("success") is False:
        columns |= {"status": Status.ERRORED, "status_detail": failure or "request failed"}
    elif reason in REFUSALS:
        columns |= {"status": Status.REFUSED, "status_detail": failure or reason}
    elif columns["output"] is None:
        # The request succeeded and nothing came back: an empty reply, not an absent one.
        columns |= {"output": "", "status_detail": failure or "no completion"}
    deployment = request.get("model_deployment")
    if isinstance(deployment, str) and deployment:
        extra["meta.model_deployment"] = deployment
    return columns, extra


def token_columns(stats: Mapping[str, float | int]) -> dict[str, Any]:
    """Tokens that the harness counted for an instance."""

    def whole(name: str) -> int | None:
        value = number(stats.get(name))
        return count(int(value)) if value.is_integer() else None

    return {"tokens_in": whole("num_prompt_tokens"), "tokens_out": whole("num_completion_tokens")}


def judge_columns(state: Mapping[str, Any]) -> dict[str, str]:
    """Numbers that annotators gave, each on its own scale."""
    return {
        f"meta.{annotator}.{name}": as_text(value)
        for annotator, found in object_at(state, "annotations").items()
        if isinstance(found, dict)
        for name, value in found.items()
        if isinstance(value, (int, float))
    }
