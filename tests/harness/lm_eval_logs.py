"""The study run by lm-evaluation-harness itself with a scripted model; needs lm_eval and no network."""

import json
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from twin_study import MEANINGS, TASK, Script, items, meaning, reply

#: Log-likelihoods of " Yes" and " No"; a tie where the model means neither.
LIKELIHOODS = {"Y": (-0.25, -1.5), "N": (-2.0, -0.5), "?": (-0.75, -0.75)}
TASK_FILE = """\
task: {task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: {kind}
doc_to_text: "{{{{question}}}}"
{rest}
"""
GENERATED = """\
doc_to_target: "{{{{gold}}}}"
repeats: {repeats}
generation_kwargs:
  until: ["<end>"]
  do_sample: false
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
CHOSEN = """\
doc_to_target: "{{{{['Yes', 'No'].index(gold)}}}}"
doc_to_choice: ["Yes", "No"]
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""


@register_model("scripted")
class Scripted(LM):
    """Replies as the study fixes them; each question is one request per repeat."""

    def __init__(self, model: str, **options: Any) -> None:
        super().__init__()
        self.script = Script(model)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Texts of the replies, in the order of the requests."""
        questions = [request.args[0] for request in requests]
        return [reply(self.script.model, question, self.script.repeat(question)) for question in questions]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Log-likelihood of each continuation, and whether it is the likelier."""
        found = []
        for request in requests:
            question, continuation = request.args[:2]
            yes, no = LIKELIHOODS[meaning(self.script.model, question, 0)]
            value = yes if continuation.strip() == "Yes" else no
            found.append((value, value == max(yes, no)))
        return found

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """No task of the study asks for it."""
        raise NotImplementedError


def write_lm_eval(folder: Path, work: Path, names: str, repeats: int, *, choice: bool) -> None:
    """Evaluate both models; ``choice`` compares the likelihoods of yes and no."""
    tasks = work / f"{names}_{repeats}_{'choice' if choice else 'text'}"
    tasks.mkdir(parents=True)
    data = tasks / "questions.jsonl"
    documents = [{"question": item.question, "gold": item.gold, **item.metadata(names)} for item in items()]
    data.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
    kind = "multiple_choice" if choice else "generate_until"
    rest = CHOSEN.format() if choice else GENERATED.format(repeats=repeats)
    text = TASK_FILE.format(task=TASK, data=json.dumps(str(data)), kind=kind, rest=rest)
    (tasks / f"{TASK}.yaml").write_text(text, encoding="utf-8")
    # The harness's own tasks are thousands of files, which its command line would index for every run.
    manager = TaskManager(include_path=str(tasks), include_defaults=False)
    for model in MEANINGS:
        _evaluate(model, folder, manager)


def _evaluate(model: str, folder: Path, manager: TaskManager) -> None:
    """One run, saved as ``lm-eval run --log_samples --output_path`` saves it."""
    tracker = EvaluationTracker(output_path=str(folder))
    results = simple_evaluate(
        model="scripted",
        model_args={"model": model},
        tasks=[TASK],
        task_manager=manager,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=TASK, samples=samples[TASK])
