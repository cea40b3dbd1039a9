"""Tables that nobody claims: which of their columns may be the model, the item, the answer."""

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from analysis.importers.detect import find_logs
from analysis.importers.parquet_rows import text_column
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.importers.standard import column_names, raw_batches
from analysis.schema.draft_mapping import ColumnValues

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
    "temperature": ("temperature", "temp"),
    "sample": ("sample", "repeat", "repetition", "epoch", "iteration", "trial", "replicate"),
    "wording": ("wording", "paraphrase", "rewording", "phrasing"),
    "prompt": ("prompt", "prompt_text", "question_text", "full_prompt", "input"),
    "role": ("role", "query", "asked", "query_type"),
    "state": ("state", "latent_state"),
    "truth": ("true_probability", "truth", "ground_truth"),
}
#: Words that say what a column is even as one word of several in its name, as in "LLM name".
_TELLING: Final = {
    "model": {"model", "llm", "respondent"},
    "output": {"response", "output", "completion", "reply"},
    "gold": {"gold", "expected"},
    "unit": {"scenario", "vignette", "passage", "cluster"},
    "logged_score": {"score"},
    "probability": {"probability", "prob"},
    "strategy": {"strategy"},
    "temperature": {"temperature"},
    "wording": {"wording", "paraphrase"},
    "prompt": {"prompt"},
}
#: Short names are alike by accident: "Temp" and "item" share three letters of four.
_LIKE: Final = 0.85
_CANDIDATES: Final = 3
#: Between the words of a name: blanks, signs, or a capital after a small letter.
_BETWEEN: Final = re.compile(r"[\s_.\-/]+|(?<=[a-z])(?=[A-Z])")
#: Rows whose values are looked at.
_ROWS: Final = 1000


def foreign_tables(path: Path) -> dict[str, dict[str, ColumnValues]]:
    """Tables under a path that are no log as they are: name -> columns -> values. Empty where any file is a log.

    Raises
    ------
    LogError
        The first rows of a table cannot be read: damaged, or of another encoding.
    """
    found = find_logs([path], path) if path.is_dir() else []
    if any(item.claim is Claim.LOG for item in found):
        return {}
    files = [path] if path.is_file() else [item.path for item in found if item.importer is None]
    named = {file: column_names(probe(file)) for file in files if file.is_file()}
    return {file.name: _values(file) for file, names in named.items() if len(names) > 1}


def _values(file: Path) -> dict[str, ColumnValues]:
    """Columns of a table with the values of its first rows."""
    first = next(raw_batches(file, ReadOptions(file.parent)), None)
    if first is None:
        return {name: ColumnValues() for name in column_names(probe(file))}
    rows = first.rows.slice(0, _ROWS)
    return {
        name: ColumnValues(tuple(dict.fromkeys(v for v in text_column(column).to_pylist() if v)))
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    }


def candidates(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Column of the schema -> at most three columns whose names are like it, the likest first."""
    names = tuple(columns)
    found = {}
    for column, words in _WORDS.items():
        telling = _TELLING.get(column, frozenset[str]())
        scored = [(max(_likeness(name, word, telling) for word in words), name) for name in names]
        likely = sorted((pair for pair in scored if pair[0] >= _LIKE), key=lambda pair: (-pair[0], pair[1]))
        found[column] = tuple(name for _, name in likely[:_CANDIDATES])
    return found


def _likeness(name: str, word: str, telling: Collection[str]) -> float:
    folded = _BETWEEN.sub("_", name.strip()).casefold()
    alike = SequenceMatcher(None, folded, word).ratio()
    return max(alike, _LIKE) if telling and not {*folded.split("_")}.isdisjoint(telling) else alike
