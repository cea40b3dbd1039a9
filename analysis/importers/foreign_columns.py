"""Tables that nobody claims: which of their columns may be the model, the item, the answer."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from analysis.importers.detect import find_logs
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim
from analysis.importers.standard import column_names

#: Column of the schema -> words under which other tables hold it.
_WORDS: Final = {
    "model": ("model", "model_name", "llm", "engine", "system"),
    "item": ("item", "id", "question_id", "item_id", "prompt_id", "doc_id", "question"),
    "output": ("output", "response", "completion", "reply", "generation", "text", "prediction", "answer"),
    "gold": ("gold", "label", "target", "expected", "correct_answer", "truth", "reference"),
    "unit": ("unit", "scenario", "base", "base_id", "group", "cluster", "passage", "source_id", "family"),
    "logged_score": ("score", "logged_score", "grade", "rating", "points", "correct", "accuracy"),
    "probability": ("probability", "prob", "stated_probability", "confidence", "estimate"),
    "strategy": ("strategy", "prompting", "prompt_strategy", "prompt_type", "condition", "shots"),
}
_LIKE: Final = 0.75
_CANDIDATES: Final = 3


def foreign_tables(path: Path) -> dict[str, tuple[str, ...]]:
    """Tables under a path that are no log as they are: name -> columns. Empty where any file is a log."""
    files = [path] if path.is_file() else [item.path for item in find_logs([path], path) if item.importer is None]
    if path.is_dir() and any(item.claim is Claim.LOG for item in find_logs([path], path)):
        return {}
    tables = {file.name: column_names(probe(file)) for file in files if file.is_file()}
    return {name: columns for name, columns in tables.items() if len(columns) > 1}


def candidates(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Column of the schema -> at most three columns whose names are like it, the likest first."""
    names = tuple(columns)
    found = {}
    for column, words in _WORDS.items():
        scored = [(max(_likeness(name, word) for word in words), name) for name in names]
        likely = sorted((pair for pair in scored if pair[0] >= _LIKE), key=lambda pair: (-pair[0], pair[1]))
        found[column] = tuple(name for _, name in likely[:_CANDIDATES])
    return found


def _likeness(name: str, word: str) -> float:
    folded = name.strip().casefold().replace(" ", "_").replace("-", "_")
    return SequenceMatcher(None, folded, word).ratio()
