"""Simulated votes in the format of syllogism vote files: one document per model, strategy and temperature."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.new_folder import new_folder
from analysis.simulation.syllogisms import (
    FAILED,
    NO,
    NONE,
    STUDY_TOML,
    TASK,
    UNREADABLE,
    VARIANTS,
    YES,
    ModelVotes,
    SimulatedSyllogisms,
)
from analysis.simulation.write_logs import write_truth

_WORDS: Final = {YES: "correct", NO: "incorrect", UNREADABLE: "unclear", FAILED: "error"}
_STEPS: Final = (
    "The first premise relates the middle term to the predicate, and the second one relates the subject to the middle "
    "term. I draw both relations as circles and see whether the circle of the conclusion is forced by them.",
    "Every arrangement of the three circles that respects the premises has to be considered, including those in which "
    "one of them is empty or in which two of them coincide.",
    "What the words mean in the world is of no concern here: only the form of the argument decides.",
    "Going through the arrangements one after the other leads to the answer below, and a second look confirms it.",
)
_LONG: Final = "\n".join(_STEPS)


def write_vote_files(simulated: SimulatedSyllogisms, out: Path, *, seed: int) -> tuple[Path, ...]:
    """Write vote files, ``truth.json`` and ``study.toml`` to a new or empty directory.

    The header of every file says ``simulated``; interrupted configurations end in ``.partial.json``.

    Raises
    ------
    AnalysisError
        ``out`` holds something already, or cannot be written.
    """
    with new_folder(out) as fresh:
        names = [path.relative_to(fresh) for path in _written(simulated, fresh, np.random.default_rng([seed, 1]))]
        write_truth(fresh, TASK, simulated.truth, asdict(simulated.settings), seed=seed)
        (fresh / "study.toml").write_text(STUDY_TOML, encoding="utf-8")
    return tuple(out / name for name in names)


def _written(simulated: SimulatedSyllogisms, out: Path, rng: np.random.Generator) -> Iterator[Path]:
    settings = simulated.settings
    for model in simulated.models:
        folder = out / model.name.replace("/", "-")
        folder.mkdir()
        for s, strategy in enumerate(settings.strategies):
            for t, temperature in enumerate(settings.temperatures):
                votes = model.votes[s, t]
                done = int((votes[:, 0] != NONE).sum())
                partial = done < len(votes)
                header = _header(model, strategy, temperature, done, len(votes), partial)
                results = [_result(simulated, votes[i], i, rng) for i in range(len(votes)) if votes[i, 0] != NONE]
                path = folder / f"{strategy}_temp{temperature}{'.partial' if partial else ''}.json"
                text = json.dumps({"metadata": header, "results": results}, indent=1)
                path.write_text(text + "\n", encoding="utf-8")
                yield path


def _header(
    model: ModelVotes, strategy: str, temperature: str, done: int, planned: int, partial: bool
) -> dict[str, Any]:
    return {
        "simulated": True,
        "model": model.name,
        "model_key": model.name,
        "strategy": strategy,
        "temperature": float(temperature),
        "total_instances": planned,
        "completed_instances": done,
        "status": "partial" if partial else "complete",
    }


def _result(
    simulated: SimulatedSyllogisms, votes: NDArray[np.int8], item: int, rng: np.random.Generator
) -> dict[str, Any]:
    asked = simulated.questions
    cast = votes[votes != NONE]
    yes, no = int((cast == YES).sum()), int((cast == NO).sum())
    valid = bool(asked.valid[item] == 1)
    said = "correct" if yes > no else "incorrect"
    return {
        "syllogism_id": f"SYL_{asked.unit[item] + 1:03d}",
        "variant": VARIANTS[asked.variant[item]],
        "ground_truth_syntax": "valid" if valid else "invalid",
        "ground_truth_NLU": "believable" if asked.labelled[item] else "unbelievable",
        "predicted": said,
        "confidence": max(yes, no) / max(yes + no, 1),
        "total_iterations": len(cast),
        "stopped_early": bool(len(cast) < len(votes)),
        "correct_count": yes,
        "incorrect_count": no,
        "is_correct_syntax": (said == "correct") == valid,
        "raw_responses": [
            {
                "iteration": k,
                "response": _text(int(code), rng, simulated.settings.long_share),
                "vote": _WORDS[int(code)],
            }
            for k, code in enumerate(cast, start=1)
        ],
    }


def _text(code: int, rng: np.random.Generator, long_share: float) -> str:
    if code == FAILED:
        return ""
    word = "It depends." if code == UNREADABLE else _WORDS[code]
    return f"{_LONG}\n\n{word}" if rng.random() < long_share else word
