"""What holds for a whole HELM run: its name, model and method, and the statistics of each instance."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import JsonParser, as_text, read_text, walk_object
from analysis.importers.named_scores import main_score
from analysis.importers.protocol import ReadOptions

RUN_SPEC, STATES, STATS = "run_spec.json", "scenario_state.json", "per_instance_stats.json"
AGGREGATE = "aggregate only"
#: Statistics that describe the request and score nothing.
BOOKKEEPING = frozenset(
    {
        "num_references",
        "num_train_trials",
        "num_train_instances",
        "num_prompt_tokens",
        "num_completion_tokens",
        "num_output_tokens",
        "num_perplexity_tokens",
        "num_bytes",
        "num_instances",
        "num_requests",
        "training_co2_cost",
        "training_energy_cost",
        "inference_runtime",
        "inference_denoised_runtime",
        "inference_idealized_runtime",
        "inference_runtime_discrepancy",
        "estimated_num_tokens_cost",
        "batch_size",
        "prompt_truncated",
        "max_prob",
        "logprob",
        "predicted_index",
    }
)
_FINISH = "finish_reason_"
#: Parts of a perturbation's description that do not tell two perturbed copies apart.
_DESCRIPTIVE = frozenset({"name", "robustness", "fairness", "computed_on"})
_MODEL_PART = re.compile(r"(?:(?<=[,:])|^)(?:model|model_deployment)=[^,]*,?")
_BLANK = re.compile(r"[ \t\r\n\ufeff]*")

#: Instance id, perturbation, train trial.
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Run:
    """Settings of one run; ``where`` is its directory as users know it."""

    where: str
    name: str
    task: str
    model: str | None
    method: str
    is_perturbed: bool

    @property
    def is_separate(self) -> bool:
        """Whether every option of an instance was a request of its own."""
        return self.method.startswith("multiple_choice_separate")


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics by instance, entries of one instance merged; ``places`` says where in an entry a score stands."""

    by_key: dict[Key, dict[str, float | int]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Scores in the order in which an entry lists them, whatever the order of the entries."""
        return tuple(sorted(self.places, key=lambda name: (self.places[name], name)))

    def scores(self, key: Key) -> dict[str, float | int]:
        """What scores an instance, without bookkeeping."""
        return {name: value for name, value in self.by_key.get(key, {}).items() if is_score(name)}

    def main(self, run: Run, asked: str | None) -> str | None:
        """Name of the main score: exact_match for options, f1_score before it for free text, else the first."""
        free = () if run.method.startswith("multiple_choice") else ("f1_score",)
        return main_score(self.names, asked, (*free, "exact_match"))


def is_score(name: str) -> bool:
    """Whether a statistic scores a response."""
    return name not in BOOKKEEPING and not name.startswith(_FINISH)


def read_run(directory: Path, options: ReadOptions) -> Run:
    """Settings of a run from its ``run_spec.json``; a directory without one is a LogError."""
    path = directory / RUN_SPEC
    if not path.is_file():
        raise LogError(
            relative_name(directory / STATES, options.root),
            f"no {RUN_SPEC} beside it: the run is unknown",
            hint="copy the whole run directory",
        )
    spec, _ = JsonParser(relative_name(path, options.root)).parse(read_text(path, options)[0])
    if not isinstance(spec, dict) or not isinstance(spec.get("name"), str) or not spec["name"]:
        raise LogError(relative_name(path, options.root), 'holds no run: it lacks "name"')
    adapter = spec.get("adapter_spec")
    adapter = adapter if isinstance(adapter, dict) else {}
    augmenter = spec.get("data_augmenter_spec")
    perturbations = augmenter.get("perturbation_specs") if isinstance(augmenter, dict) else None
    model, method = adapter.get("model"), adapter.get("method")
    where = relative_name(directory, options.root)
    return Run(
        where=directory.name if where == "." else where,
        name=spec["name"],
        task=task_name(spec["name"]),
        model=model if isinstance(model, str) and model else None,
        method=method if isinstance(method, str) else "",
        is_perturbed=bool(perturbations),
    )


def task_name(run_name: str) -> str:
    """Name of a run without its model, so that the runs of two models are one task."""
    return _MODEL_PART.sub("", run_name).rstrip(",:")


def perturbation_name(description: Any) -> str:
    """Name of a perturbation with the parameters that tell it from others; empty where there is none."""
    if not isinstance(description, Mapping) or not description:
        return ""
    parameters = [
        f"{key}={as_text(value)}"
        for key, value in sorted(description.items())
        if key not in _DESCRIPTIVE and value is not None
    ]
    name = as_text(description.get("name", "unnamed"))
    return f"{name}({','.join(parameters)})" if parameters else name


def is_worst(description: Any) -> bool:
    """Whether a perturbation stands for the worst case over copies, which is a summary and no response."""
    return isinstance(description, Mapping) and description.get("computed_on") == "worst"


def instance_key(entry: Mapping[str, Any], instance_id: Any, perturbation: Any) -> Key:
    """What identifies an instance: its id, perturbation and train trial."""
    trial = entry.get("train_trial_index")
    known = trial if isinstance(trial, int) and not isinstance(trial, bool) else 0
    return as_text(instance_id), perturbation_name(perturbation), known


def read_stats(directory: Path, options: ReadOptions) -> Stats:
    """Statistics per instance; without the file there are none, and a note says so.

    Raises
    ------
    LogError
        The file is damaged.
    """
    path = directory / STATS
    if not path.is_file():
        return Stats(notes=(f"no {STATS}: rows are unscored",))
    where = relative_name(path, options.root)
    stats = Stats()
    differing = 0
    for number, entry in enumerate(_entries(read_text(path, options)[0], where)):
        if not isinstance(entry, dict) or not isinstance(entry.get("stats"), list) or "instance_id" not in entry:
            raise LogError(where, f"entry {number} is no list of statistics of an instance")
        if not is_worst(entry.get("perturbation")):
            differing += _merge(stats, entry)
    notes = (f"{differing} statistics stand twice with different values: the first was taken",) if differing else ()
    return Stats(stats.by_key, stats.places, notes)


def _merge(stats: Stats, entry: Mapping[str, Any]) -> int:
    """Add one entry; how many statistics contradict earlier entries of the same instance."""
    key = instance_key(entry, entry["instance_id"], entry.get("perturbation"))
    values = stats.by_key.setdefault(key, {})
    differing = place = 0
    for name, value, is_own in sorted(_values(entry, key[1]), key=lambda found: not found[2]):
        if is_score(name):
            stats.places[name] = min(place, stats.places.get(name, place))
            place += 1
        before = values.setdefault(name, value)
        differing += is_own and before != value and not (before != before and value != value)
    return differing


def _values(entry: Mapping[str, Any], perturbation: str) -> Iterator[tuple[str, float | int, bool]]:
    """Name, mean and whether it is the instance's own (not repeated for a perturbation) of each statistic."""
    for stat in entry["stats"]:
        name = stat.get("name") if isinstance(stat, dict) else None
        if not isinstance(name, dict) or not isinstance(name.get("name"), str):
            continue
        about = name.get("perturbation")
        mean = stat.get("mean")
        if is_worst(about) or isinstance(mean, bool) or not isinstance(mean, (int, float)):
            continue
        own = perturbation_name(about) in ("", perturbation)
        computed_on = about.get("computed_on") if isinstance(about, dict) else None
        if own or computed_on == "original":
            yield name["name"], mean, own


def _entries(text: str, where: str) -> Iterator[Any]:
    """Items of a JSON array, one at a time."""
    parser = JsonParser(where, note_duplicates=False)
    at = _skip(text, 0)
    if not text.startswith("[", at):
        raise parser.error("not a list of instances")
    at = _skip(text, at + 1)
    while not text.startswith("]", at):
        value, at, _ = parser.value_at(text, at)
        yield value
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("]", at):
            raise parser.error("JSON is cut off" if at >= len(text) else "not valid JSON (expected ',')")


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def request_states(directory: Path, options: ReadOptions) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Source, request state and notes, in file order; a file without any is a LogError."""
    path = directory / STATES
    where = relative_name(path, options.root)
    if not path.is_file():
        raise LogError(relative_name(directory, options.root), f"{AGGREGATE}: no {STATES}")
    text, notes = read_text(path, options)
    count = 0
    for member in walk_object(text, where, stream="request_states"):
        if member.key == "request_states" and member.index is not None:
            count += 1
            yield f"{where}:request_states[{member.index}]", member.value, notes + member.notes
            notes = ()
    if not count:
        raise LogError(where, "no request states in the file")
