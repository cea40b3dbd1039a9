"""What holds for all results of one promptfoo evaluation: its header, its providers, its tests."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from analysis.importers.content_digest import content_digest, content_name
from analysis.importers.json_text import as_object, as_text

UNKNOWN = "unknown"
NO_MODEL = f'the file does not name the model: it is called "{UNKNOWN}"; name it under [map] in study.toml'
ONLY_PROVIDER = "the results name no provider: the model is the only one in config.providers"
SAME_PROVIDER = "one provider runs under several labels: its models are told apart as provider [label]"
#: Variables that promptfoo adds itself: they differ between runs of one test.
_OWN_VARIABLES = frozenset({"sessionId"})


@dataclass(slots=True)
class Evaluation:
    """Facts of a whole file, gathered before its results are read.

    ``header`` holds the members beside the results, under dotted keys; ``labels`` the labels by provider;
    ``variants`` the first place of every set of assertions, by question.
    """

    where: str
    header: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, set[str]] = field(default_factory=dict)
    variants: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    counted: int = 0

    def note(self, result: Mapping[str, Any]) -> None:
        """Remember what one result says about providers and tests."""
        provider, label = provider_of(result)
        if provider is not None:
            self.labels.setdefault(provider, set()).add(label)
        test = result.get("testIdx")
        place = (test if type(test) is int else self.counted, self.counted)
        seen = self.variants.setdefault(question_name(template_of(result), variables_of(result)), {})
        asserted = content_digest(assertions_of(result))
        seen[asserted] = min(place, seen.get(asserted, place))
        self.counted += 1

    def item(self, result: Mapping[str, Any]) -> str:
        """Name of the question; tests of one content that assert different things get a number."""
        name = question_name(template_of(result), variables_of(result))
        variants = self.variants.get(name, {})
        if len(variants) < 2:
            return name
        ranked = sorted(variants, key=lambda asserted: variants[asserted])
        return f"{name}#{ranked.index(content_digest(assertions_of(result))) + 1}"

    def model(self, result: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
        """Name of the model that a result is of, and notes."""
        provider, label = provider_of(result)
        if provider is None:
            provider = self._column_provider(result)
        if provider is not None:
            several = len(self.labels.get(provider, ())) > 1
            return (f"{provider} [{label}]", (SAME_PROVIDER,)) if several and label else (provider, ())
        configured = configured_providers(self.config)
        if len(configured) == 1:
            return configured[0][0], (ONLY_PROVIDER,)
        return UNKNOWN, (NO_MODEL,)

    def _column_provider(self, result: Mapping[str, Any]) -> str | None:
        prompts, index = self.header.get("results.prompts"), result.get("promptIdx")
        if not isinstance(prompts, list) or type(index) is not int or not 0 <= index < len(prompts):
            return None
        name = as_object(prompts[index]).get("provider")
        return name if isinstance(name, str) and name else None

    @property
    def config(self) -> dict[str, Any]:
        """Configuration of the evaluation, empty where the file has none."""
        return as_object(self.header.get("config"))

    @property
    def run(self) -> str:
        """Id of the evaluation, else the file."""
        name = self.header.get("evalId")
        return name if isinstance(name, str) and name else self.where

    @property
    def timestamp(self) -> str | None:
        """Time of the evaluation as logged."""
        times = (self.header.get(key) for key in ("results.timestamp", "createdAt"))
        return next((time for time in times if isinstance(time, str)), None)

    @property
    def harness(self) -> str:
        """promptfoo, with its version where the file has it."""
        version = as_object(self.header.get("metadata")).get("promptfooVersion")
        return f"promptfoo {version}" if isinstance(version, str) else "promptfoo"

    def temperature(self, model: str) -> str | None:
        """Temperature that the configuration sets for a provider."""
        values = {as_text(v) for name, v in configured_providers(self.config) if name == model and v is not None}
        return values.pop() if len(values) == 1 else None

    def asserts_everywhere(self) -> bool:
        """Whether the configuration gives every test an assertion."""
        tests = self.config.get("tests")
        listed = tests if isinstance(tests, list) else []
        default = as_object(self.config.get("defaultTest")).get("assert")
        return bool(default) or (bool(listed) and all(as_object(test).get("assert") for test in listed))


def provider_of(result: Mapping[str, Any]) -> tuple[str | None, str]:
    """Id and label of the provider of a result; None where it names none."""
    provider = result.get("provider")
    if isinstance(provider, dict):
        name, label = provider.get("id"), provider.get("label")
        label = label if isinstance(label, str) else ""
        return (name if isinstance(name, str) and name else label or None), label
    return (provider if isinstance(provider, str) and provider else None), ""


def configured_providers(config: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Id and temperature of the providers of a configuration, in every form it may have."""
    listed = config.get("providers")
    return tuple(_configured(listed if isinstance(listed, list) else [listed]))


def _configured(listed: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for entry in listed:
        if isinstance(entry, str) and entry:
            yield entry, None
        elif isinstance(entry, dict) and isinstance(entry.get("id"), str):
            yield entry["id"], as_object(entry.get("config")).get("temperature")
        elif isinstance(entry, dict) and len(entry) == 1:
            ((name, value),) = entry.items()
            own = as_object(value)
            yield name, as_object(own.get("config")).get("temperature")


def template_of(result: Mapping[str, Any]) -> str:
    """Prompt before its variables were filled in, as far as the result has it."""
    prompt = result.get("prompt")
    if isinstance(prompt, str):
        return prompt
    texts = (as_object(prompt).get(key) for key in ("label", "display", "raw"))
    return next((text for text in texts if isinstance(text, str) and text), "")


def variables_of(result: Mapping[str, Any]) -> dict[str, str]:
    """Variables of a test as text; of the oldest lists, every key of its own."""
    given = result.get("vars")
    test = as_object(result.get("testCase")).get("vars")
    if isinstance(test, dict) and test:
        found = test
    elif isinstance(given, dict):
        found = given
    elif given is None and isinstance(result.get("prompt"), str):
        found = {key: value for key, value in result.items() if key not in {"prompt", "output"}}
    else:
        found = {}
    return {k: as_text(v) for k, v in found.items() if not k.startswith("_") and k not in _OWN_VARIABLES}


def question_name(template: str, variables: Mapping[str, str]) -> str:
    """Name of the question that a prompt asks of the variables: the same in every generation of the files."""
    return f"{content_name(dict(variables))}-{_template_name(template)}"


@lru_cache(maxsize=1024)
def _template_name(template: str) -> str:
    return content_name(template)[:8]


def assertions_of(result: Mapping[str, Any]) -> list[Any]:
    """Assertions that graded a result: those of its test, else those graded, else the expectation of old files."""
    listed = as_object(result.get("testCase")).get("assert")
    if isinstance(listed, list) and listed:
        return listed
    parts = as_object(result.get("gradingResult")).get("componentResults")
    graded = (
        [part["assertion"] for part in parts if as_object(part).get("assertion")] if isinstance(parts, list) else []
    )
    if graded:
        return graded
    expected = as_object(result.get("vars")).get("__expected")
    return [{"type": "expected", "value": expected}] if expected not in (None, "") else []
