"""One entry of OpenCompass predictions as columns: generated texts, perplexities and probabilities of labels."""

import math
import re
from collections.abc import Mapping
from typing import Any

from analysis.importers.inspect_messages import message_content
from analysis.importers.json_text import as_text
from analysis.importers.likelihood_choices import highest, number
from analysis.importers.lm_eval_choices import choice_labels
from analysis.importers.logged_texts import content_hash, single_gold
from analysis.schema.status import Status

LOWEST = "lowest_ppl"
LABEL = "label: "
NO_PREDICTION = "no prediction in the log"
DISAGREES = "the label of the lowest perplexity is not the harness's prediction: the lowest perplexity was taken"
#: LawBench writes the right letter as a sentence: "correct answer: B.", in Chinese.
_SENTENCE = re.compile(r"\s*正确答案\s*[:：]\s*([A-Z])\s*[.。]?\s*")
#: Marks that a model's chat template puts around a question.
_TEMPLATE = re.compile(
    r"<\|[^<>|]{1,40}\|>(?:(?:system|user|assistant)\b)?|<reserved_\d+>|</?s>|\[/?INST\]|<</?SYS>>|<eo[hs]>"
)

#: Columns and extra columns of one reply.
Reply = tuple[dict[str, Any], dict[str, str]]


def is_scored(entry: Mapping[str, Any]) -> bool:
    """Whether the entry compares perplexities of labels."""
    return any(key.startswith(LABEL) and isinstance(value, dict) for key, value in entry.items())


def is_conditional(entry: Mapping[str, Any]) -> bool:
    """Whether the entry holds probabilities of choices (CLP inferencer)."""
    return "choices" in entry and "pred_label" in entry and isinstance(entry.get("prediction"), list)


def prompt_text(prompt: Any) -> str | None:
    """A prompt as one text; messages as lines ``role: text``."""
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, list):
        return None
    lines = []
    for message in prompt:
        if isinstance(message, dict):
            text = message["prompt"] if "prompt" in message else message.get("content")
            said = message_content(text, {}).text if isinstance(text, list) else text
            lines.append(f"{as_text(message.get('role', ''))}: {'' if said is None else as_text(said)}")
        else:
            lines.append(as_text(message))
    return "\n".join(lines)


def question_hash(prompt: Any) -> str | None:
    """Hash of the question without a chat template, so that it is the same for models with different ones."""
    if isinstance(prompt, list):
        asked = [m.get("prompt", m.get("content")) for m in prompt if isinstance(m, dict) and not _is_model(m)]
        text = "\n".join(as_text(part) for part in asked if part is not None)
    else:
        text = prompt if isinstance(prompt, str) else ""
    bare = _TEMPLATE.sub("\n", text)
    return content_hash("\n".join(line.strip() for line in bare.split("\n") if line.strip())) if bare.strip() else None


def _is_model(message: Mapping[str, Any]) -> bool:
    return as_text(message.get("role", "")).upper() in {"BOT", "ASSISTANT"} and not message.get("prompt")


def gold_columns(entry: Mapping[str, Any]) -> Reply:
    """Gold answer: ``gold``, or ``refr``, whose sentence names a letter."""
    value = entry.get("gold")
    if value is None and isinstance(entry.get("refr"), str):
        letter = _SENTENCE.fullmatch(entry["refr"])
        if letter:
            return {"gold": letter[1]}, {"meta.target": entry["refr"]}
        value = entry["refr"]
    if isinstance(value, dict):
        # An object describes the item; it is no answer.
        return {"gold": None}, {f"meta.{key}": as_text(part) for key, part in value.items() if part is not None}
    if isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        return {"gold": None}, {"meta.target": as_text(value)}
    found = value if isinstance(value, list) else [] if value is None else [value]
    gold, extra = single_gold(as_text(part) for part in found)
    return {"gold": gold}, extra


def generated(entry: Mapping[str, Any]) -> list[Reply]:
    """Replies of a generation entry; a list of predictions is several replies to one question."""
    gold, gold_extra = gold_columns(entry)
    shared = gold | {"prompt": prompt_text(entry.get("origin_prompt"))}
    shared["prompt_hash"] = question_hash(entry.get("origin_prompt"))
    found = entry.get("prediction")
    predictions = found if isinstance(found, list) and found else [found]
    replies: list[Reply] = []
    for prediction in predictions:
        columns = dict(shared)
        if entry.get("success") is False:
            columns |= {"status": Status.ERRORED, "status_detail": "request failed"}
        elif prediction is None or isinstance(prediction, list):
            columns |= {"status": Status.MISSING, "status_detail": NO_PREDICTION}
        if prediction is not None and not isinstance(prediction, list):
            columns["output"] = as_text(prediction)
        replies.append((columns, gold_extra))
    return replies


def rounds(entry: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rounds of a conversation as entries of their own; None for anything else."""
    prompts, predictions, golds = entry.get("origin_prompt"), entry.get("prediction"), entry.get("gold")
    if not (isinstance(prompts, list) and isinstance(predictions, list) and isinstance(golds, list)):
        return None
    if not len(prompts) == len(predictions) == len(golds) or not all(isinstance(p, (list, str)) for p in prompts):
        return None
    triples = zip(prompts, predictions, golds, strict=True)
    return [{"origin_prompt": p, "prediction": answer, "gold": gold} for p, answer, gold in triples]


def scored(entry: Mapping[str, Any]) -> tuple[Reply, tuple[str, ...]]:
    """Answer of a perplexity entry: the label of the lowest value, none for a tie."""
    blocks = {key.removeprefix(LABEL): v for key, v in entry.items() if key.startswith(LABEL) and isinstance(v, dict)}
    texts, values = tuple(blocks), tuple(number(block.get("PPL")) for block in blocks.values())
    inputs = [block.get("testing input") for block in blocks.values()]
    prompt = entry.get("origin_prompt", inputs[0] if inputs else None)
    (columns, extra), notes = _chosen(entry, texts, tuple(-value for value in values), LOWEST)
    columns |= {"prompt": prompt_text(prompt), "prompt_hash": content_hash([prompt_text(text) for text in inputs])}
    extra["meta.ppl"] = as_text(list(values))
    predicted = entry.get("prediction")
    if columns["answer"] is not None and predicted is not None:
        taken = columns["answer"]
        labels = dict(zip(texts, choice_labels(texts), strict=True))
        if labels.get(as_text(predicted), as_text(predicted)) != taken:
            notes += (DISAGREES,)
    return (columns, extra), notes


def conditional(entry: Mapping[str, Any]) -> tuple[Reply, tuple[str, ...]]:
    """Answer of an entry with probabilities: the likeliest choice; ``p_yes`` where the choices are yes and no."""
    found = entry.get("choices")
    texts = tuple(as_text(choice) for choice in found) if isinstance(found, list) else ()
    values = tuple(number(value) for value in entry["prediction"])
    if len(texts) != len(values):
        values = (math.nan,) * len(texts)
    (columns, extra), notes = _chosen(entry, texts, values, "argmax")
    labels = choice_labels(texts)
    columns["prompt"] = prompt_text(entry.get("prompt"))
    columns["prompt_hash"] = content_hash(prompt_text(entry.get("testing input")), texts)
    if sorted(labels) == ["no", "yes"] and all(0 <= value <= 1 for value in values):
        yes, no = values[labels.index("yes")], values[labels.index("no")]
        columns["p_yes"] = yes / (yes + no) if yes + no > 0 else None
    extra["meta.probabilities"] = as_text(list(values))
    return (columns, extra), notes


def _chosen(
    entry: Mapping[str, Any], texts: tuple[str, ...], values: tuple[float, ...], rule: str
) -> tuple[Reply, tuple[str, ...]]:
    labels = choice_labels(texts)
    choice = highest(labels, values)
    columns = choice.columns()
    if choice.answer is not None:
        columns["rule"] = rule
    gold, extra = gold_columns(entry)
    extra |= {"meta.choices": as_text(list(texts))}
    if gold["gold"] is not None:
        gold["gold"] = _label(gold["gold"], entry.get("gold"), texts, labels)
    return (columns | gold, extra), choice.notes


def _label(gold: str, logged: Any, texts: tuple[str, ...], labels: tuple[str, ...]) -> str:
    """Label of the right choice, named by its text or, as a number, by its place."""
    stripped = [text.strip() for text in texts]
    if stripped.count(gold) == 1:
        return labels[stripped.index(gold)]
    if isinstance(logged, int) and not isinstance(logged, bool) and 0 <= logged < len(labels):
        return labels[logged]
    return gold
