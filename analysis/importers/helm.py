"""HELM run directories: ``scenario_state.json`` with the statistics beside it, one response per completion.

Written against the layouts of 2023 to 2025 (joint and separate multiple choice, generation, perturbations).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.helm_run import (
    AGGREGATE,
    RUN_SPEC,
    STATES,
    STATS,
    Key,
    Run,
    Stats,
    read_run,
    read_stats,
    request_states,
)
from analysis.importers.helm_separate import separate_records
from analysis.importers.helm_states import (
    WORST,
    answer_columns,
    checked_state,
    completion_text,
    completions,
    is_summary,
    item_columns,
    judge_columns,
    model_name,
    outcome_columns,
    token_columns,
)
from analysis.importers.json_text import top_level_keys
from analysis.importers.named_scores import UNSCORED, absent_scorer, score_columns
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "HELM"
VERSIONS = "run directories of 2023-2025"
SEVERAL = "several completions per request: the scores, which belong to the first, stand there"
#: Files of a run or a suite, by keys that stand together in no other harness's files.
_COMPANION_KEYS = (
    {"scenario_spec", "adapter_spec", "name"},
    {"instance_id", "train_trial_index", "stats"},
    {"name", "count", "sum_squared"},
    {"run_spec", "run_path"},
    {"definition_path", "description", "name"},
)


def sniff(probe: Probe) -> Claim:
    """Say whether a directory is a run, or a file belongs to one."""
    inside = set(probe.members)
    if not probe.head:
        if {RUN_SPEC, STATES} <= inside:
            return Claim.LOG
        return Claim.REFUSED if RUN_SPEC in inside and inside & {STATS, "stats.json"} else Claim.NO
    if not probe.text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    if "adapter_spec" in keys and ("request_states" in keys or probe.path.name == STATES):
        return Claim.LOG
    return Claim.COMPANION if any(marks <= keys for marks in _COMPANION_KEYS) else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per request state, in file order.

    Raises
    ------
    LogError
        The directory holds aggregates only, no request states, or damaged files.
    """
    directory = path if path.is_dir() else path.parent
    if not (directory / STATES).is_file():
        where = relative_name(directory, options.root)
        hint = "give the run directory with its scenario_state.json"
        raise LogError(directory.name if where == "." else where, AGGREGATE, hint=hint)
    run = read_run(directory, options)
    stats = read_stats(directory, options)
    main = stats.main(run, options.scorer)
    notes = stats.notes + _scorer_notes(stats, main, options.scorer)
    states = request_states(directory, options)
    where = relative_name(directory / STATES, options.root)
    if run.is_separate:
        records = separate_records(states, run, stats, main, where)
    else:
        records = (_record(value, (source, where), run, stats, main, odd) for source, value, odd in states)
    for record in records:
        yield Record(record.source, record.responses, record.set_aside, notes=notes + record.notes)
        notes = ()


def _scorer_notes(stats: Stats, main: str | None, asked: str | None) -> tuple[str, ...]:
    others = sorted(set(stats.names) - {main})
    if main is None:
        return absent_scorer(stats.names, asked)
    return (f'score "{main}"; others are kept as score.<name>: {", ".join(others)}',) if others else ()


def _record(value: Any, at: tuple[str, str], run: Run, stats: Stats, main: str | None, odd: tuple[str, ...]) -> Record:
    source, where = at
    state, key = checked_state(value, source, where)
    if is_summary(state):
        return Record(source, set_aside=WORST, notes=odd)
    responses, notes = _responses(state, key, source, run, stats, main)
    return Record(source, responses, notes=odd + notes)


def _responses(
    state: dict[str, Any], key: Key, source: str, run: Run, stats: Stats, main: str | None
) -> tuple[tuple[Response, ...], tuple[str, ...]]:
    shared, shared_extra = item_columns(state, key, run)
    shared |= token_columns(stats.by_key.get(key, {}))
    shared_extra |= judge_columns(state)
    index = state.get("reference_index")
    if isinstance(index, int):
        # One request per reference that is no option: each is a question of its own.
        shared |= {"item": f"{shared['item']} [reference {index}]", "unit": key[0]}
    scores, score_extra, notes = score_columns(stats.scores(key), main, source)
    found = completions(state)
    if len(found) > 1:
        notes += (SEVERAL,)
    responses = []
    drafts: list[dict[str, Any] | None] = [*found] if found else [None]
    for at, completion in enumerate(drafts):
        outcome, outcome_extra = outcome_columns(state, completion)
        text = completion_text(completion) if completion else None
        answer, answer_extra, odd = answer_columns(state, text, run)
        notes += odd
        decided = outcome | {name: value for name, value in answer.items() if outcome.get(name) is None}
        own = shared | decided | (scores if at == 0 else {})
        extra = shared_extra | outcome_extra | answer_extra | (score_extra if at == 0 else {})
        responses.append(
            Response(
                model=model_name(state, run),
                task=run.task,
                sample=str(key[2]) if len(found) < 2 else f"{key[2]}.{at}",
                run=run.where,
                harness=NAME,
                source=source,
                extra=extra | {"meta.run_name": run.name},
                **own,
            )
        )
    if not scores and responses[0].status not in (Status.ERRORED, Status.MISSING):
        notes += (UNSCORED,)
    return tuple(responses), notes
