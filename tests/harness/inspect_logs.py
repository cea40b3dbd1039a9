"""The study run by Inspect AI itself with its mock model; needs inspect_ai and no network."""

from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from twin_study import MEANINGS, TASK, Script, items, reply


def write_inspect(folder: Path, names: str, repeats: int, form: str, *, failed: frozenset[str] = frozenset()) -> None:
    """Evaluate both models and write one log each, ``form`` being eval or json; ``failed`` items raise."""
    samples = [
        Sample(id=item.name, input=item.question, target=item.gold, metadata=item.metadata(names)) for item in items()
    ]
    broken = {item.question for item in items() if item.name in failed}
    for name in MEANINGS:
        logs = eval(
            Task(dataset=MemoryDataset(samples), scorer=match(location="exact"), name=TASK),
            model=get_model(name, custom_outputs=_outputs(name, broken), memoize=False),
            epochs=repeats,
            log_dir=str(folder),
            log_format=form,
            fail_on_error=False if failed else None,
            max_samples=1,
            display="none",
        )
        if logs[0].status != "success":
            raise SystemExit(f"Inspect did not finish: {logs[0].error.message if logs[0].error else logs[0].status}")


def _outputs(name: str, broken: set[str]) -> Any:
    script = Script(name)

    def output(messages: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        question = messages[-1].text
        if question in broken:
            raise RuntimeError("the provider hung up")
        text = reply(name, question, script.repeat(question))
        # Without a usage the mock model counts tokens, for which it fetches a vocabulary.
        return ModelOutput.from_content(name, text).model_copy(update={"usage": ModelUsage(total_tokens=1)})

    return output
