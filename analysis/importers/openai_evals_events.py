"""Events of an OpenAI evals record log, joined by run and sample: what was asked, said, expected and scored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.importers.json_text import as_text
from analysis.importers.logged_factors import count
from analysis.importers.logged_texts import conversation, error_words

#: Events that are read; the others are counted.
READ = ("sampling", "match", "metrics", "error", "raw_sample", "pick_option")


@dataclass(frozen=True, slots=True)
class Sampling:
    """One call of a model: prompt, replies, and what the log says about the call."""

    prompt: str | None
    replies: tuple[str | None, ...]
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    moment: str | None


@dataclass(slots=True)
class Sample:
    """Everything recorded about one sample of one run, in order of the file."""

    run: str
    identity: str
    source: str
    samplings: list[Sampling] = field(default_factory=list)
    matches: list[dict[str, Any]] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    expected: Any = None
    error: str | None = None

    def add(self, kind: str, data: Mapping[str, Any], moment: Any) -> None:
        """Add one event."""
        if kind == "sampling":
            self.samplings.append(_sampling(data, moment))
        elif kind == "pick_option":
            self.samplings.append(_sampling({**data, "sampled": data.get("picked")}, moment))
        elif kind == "match":
            kept = ("correct", "expected", "picked", "sampled")
            self.matches.append({name: data[name] for name in kept if name in data})
        elif kind == "metrics":
            self.metrics |= {name: value for name, value in data.items() if name not in self.metrics}
        elif kind == "raw_sample":
            self.expected = data.get("ideal") if self.expected is None else self.expected
        elif kind == "error" and self.error is None:
            self.error = error_words(data) or as_text(data.get("type", "error without a message"))

    def answer(self, judges: int) -> tuple[Sampling | None, Sampling | None]:
        """The call that answered the sample, and the one that judged it.

        The answer is the call whose reply the match event names, else the first; a later call whose
        prompt holds that reply, or that of a second model, is the judge.

        Parameters
        ----------
        judges : int
            Models that the run names besides the one under test.
        """
        if not self.samplings:
            return None, None
        said = self.matches[0].get("sampled") if self.matches else None
        named = [call for call in self.samplings if said is not None and said in call.replies]
        chosen = named[0] if named else self.samplings[0]
        later = self.samplings[self.samplings.index(chosen) + 1 :]
        judge = next((call for call in later if _holds(call.prompt, chosen.replies)), None)
        return chosen, judge if judge is not None else later[-1] if judges and later else None

    def gold(self) -> list[str]:
        """Expected answers."""
        expected = self.matches[0].get("expected") if self.matches else None
        value = self.expected if expected is None else expected
        found = value if isinstance(value, list) else [] if value is None else [value]
        return [as_text(text) for text in found if text is not None]

    def scores(self) -> dict[str, Any]:
        """Correctness of the first match, and every metric with a single value."""
        correct = self.matches[0].get("correct") if self.matches else None
        scores = {} if correct is None else {"correct": correct}
        return scores | {name: v for name, v in self.metrics.items() if isinstance(v, (bool, int, float))}


def _sampling(data: Mapping[str, Any], moment: Any) -> Sampling:
    sampled = data.get("sampled")
    replies = tuple(sampled) if isinstance(sampled, list) else (sampled,)
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    model = data.get("model")
    return Sampling(
        prompt=conversation(data.get("prompt")),
        replies=tuple(None if reply is None else as_text(reply) for reply in replies),
        model=model if isinstance(model, str) and model else None,
        tokens_in=count(usage.get("prompt_tokens")),
        tokens_out=count(usage.get("completion_tokens")),
        moment=moment if isinstance(moment, str) else None,
    )


def _holds(prompt: str | None, replies: tuple[str | None, ...]) -> bool:
    return prompt is not None and any(reply is not None and len(reply) > 1 and reply in prompt for reply in replies)
