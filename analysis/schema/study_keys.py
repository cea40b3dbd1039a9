"""Every key of ``study.toml``: its section, form, known values and meaning. Adding a key is one line here."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from analysis.schema.gate_settings import GATE_MODES, GATED
from analysis.schema.reading_settings import VERDICTS
from analysis.schema.report_settings import ADJUSTMENTS
from analysis.vocabulary import MEASURES

KINDS: Final = ("judgement", "choice", "probability", "score")
TARGETS: Final = ("these", "new_items", "new_templates", "new_models", "census")
WEIGHTS: Final = ("micro", "prompt", "template", "form", "cell")
UNCERTAIN_TREATMENTS: Final = ("incorrect", "excluded", "half")
PROBABILITY_SCALES: Final = ("fraction", "percent")
UNPAIRED_FORMS: Final = ("exclude", "include")
WIDE_VALUES: Final = ("logged_score", "answer", "output", "probability")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a section.

    ``form`` names the type in TOML (see ``FORMS``); ``values`` are the known values, empty where
    anything goes; ``required`` keys must stand in every table of their section.
    """

    name: str
    form: str
    meaning: str
    values: tuple[str, ...] = ()
    required: bool = False


#: Section -> its keys. ``models`` and ``factor`` are one table per name, ``contrast`` and ``restriction`` arrays of
#: tables; ``map`` is
#: free in its names and is read by ``schema.mapping``, ``priors`` holds numbers under the names of ``bayes.priors``.
KEYS: Final[dict[str, tuple[Key, ...]]] = {
    "study": (
        Key("name", "text", "name of the study, printed in the report"),
        Key("kind", "text or table", "what an answer is; a table gives it per task", KINDS),
        Key("target", "text", "what the claim is about", TARGETS),
        Key("unit", "text", "column that is the independent unit"),
        Key("conditions", "texts", "factors that vary within an item"),
        Key("factors", "texts", "further columns that are factors of the item"),
        Key("weights", "text", "weighting of the rows within a cell", WEIGHTS),
        Key("uncertain", "text", "treatment of responses without a readable answer", UNCERTAIN_TREATMENTS),
        Key("exclude", "table of texts", "column -> levels that are left out"),
        Key("unpaired_forms", "text", "question forms asked with one polarity only, in the cells", UNPAIRED_FORMS),
        Key("pool_tasks", "flag", "treat all tasks as one"),
        Key("probability_scale", "text", "scale of probabilities in the logs", PROBABILITY_SCALES),
    ),
    "wide": (
        Key("models", "texts", "columns of a table that are models: names, or patterns with * and ?", required=True),
        Key("value", "text", "column of the schema that their cells fill", WIDE_VALUES),
    ),
    "reading": (
        Key("synonyms", "table of texts", "answer -> words that mean it"),
        Key("verdicts", "texts", "pairs of verdicts that mean yes and no", tuple(VERDICTS)),
    ),
    "items": (
        Key("file", "text", "CSV with the key of items, beside study.toml or below its directory", required=True),
    ),
    "models": (
        Key("label", "text", "name to print"),
        Key("family", "text", "family of the model"),
        Key("size", "number", "size in billions of parameters"),
    ),
    "contrast": (
        Key("factor", "text", "factor whose levels are compared", required=True),
        Key("levels", "texts", "levels to compare, in order", required=True),
        Key("match", "texts", "columns that pair the responses"),
        Key("name", "text", "name to print"),
        Key("where", "table of texts", "column -> levels that are compared; the rest is left out"),
    ),
    "factor": (Key("baseline", "text", "level that the others are compared with"),),
    "restriction": (
        Key("name", "text", "name to print", required=True),
        Key("keep", "table of texts", "column -> levels that are kept"),
        Key("drop", "table of texts", "column -> levels that are left out"),
    ),
    "identity": (
        Key("name", "text", "name to print", required=True),
        Key("left", "text", "expression over roles: what is observed", required=True),
        Key("right", "text", "expression over roles: what the other answers imply", required=True),
        Key("relation", "text", "left = right, or a bound of left", ("=", "<=", ">=")),
        Key("scale", "text", "scale of the residual", ("log_odds", "probability")),
    ),
    "coherence": (Key("clip", "share", "probabilities are moved to within [clip, 1 - clip]"),),
    "votes": (
        Key("tie", "text", "what a tie of repeated responses is: uncertain, aside (set aside), or an answer"),
        Key("label_column", "text", "column with a second yes/no label of the item, such as believable"),
        Key("label_yes", "text", "value of that column for which yes would be right"),
    ),
    "external": (
        Key("file", "text", "CSV beside study.toml, or below its directory", required=True),
        Key("model", "text", "column with the names of the models", required=True),
        Key("value", "text", "column with a number for each", required=True),
        Key("name", "text", "name to print"),
        Key("lower_is_better", "flag", "whether small numbers are good, as of ranks"),
        Key("names", "table of texts", "model as logged -> its name in the file"),
    ),
    "gate": (
        *(Key(name, "number", "threshold of the change that `evenhand diff` lets pass") for name in GATED),
        Key("mode", "text", "fails where such a change is shown, or where it is possible", GATE_MODES),
    ),
    "planning": (
        Key("smallest_effect", "proportion", "smallest effect of interest, in probabilities"),
        Key("smallest_log_odds", "positive", "smallest persistent incoherence of interest, in log-odds"),
        Key("power", "proportion", "probability with which it ought to be shown"),
    ),
    "report": (
        Key("primary", "texts", "measures that are confirmatory; the rest is labelled exploratory", tuple(MEASURES)),
        Key("tables", "texts", "tables to print; without it, all of them"),
    ),
    "family": (
        Key("name", "text", "name to print", required=True),
        Key(
            "tests",
            "texts",
            "tables of results, data/<name>.parquet of a report, whose tests belong to it",
            required=True,
        ),
        Key("where", "table of texts", "column -> levels that belong to it"),
        Key("method", "text", "adjustment over all its tests", ADJUSTMENTS),
    ),
    "table": (
        Key("name", "file name", "name of its files: small letters, digits, _ and -", required=True),
        Key("title", "text", "caption", required=True),
        Key("columns", "texts", "measures, in order of printing", required=True),
        Key("rows", "text", "model, or a factor"),
        Key("headers", "table of texts", "measure -> word at the head of its column"),
        Key("model", "text", "model whose levels of the factor are printed"),
        Key("task", "text", "task that it is about"),
        Key("source", "text", "table of results, data/<name>.parquet of a report, that holds the measures"),
        Key("order", "text", "measure by which the rows are ordered, with - in front the largest first"),
        Key("digits", "digits", "decimals"),
        Key("intervals", "flag", "whether intervals are printed"),
        Key("number", "text", "number to print in place of the report's own"),
        Key("label", "text", "label for references in LaTeX"),
        Key("note", "text", "sentence under the table"),
    ),
    "priors": (),
}
#: Sections that hold one table for every name, and sections that are arrays of tables.
NAMED_SECTIONS: Final = frozenset({"models", "factor"})
LISTED_SECTIONS: Final = frozenset({"contrast", "restriction", "identity", "family", "table"})
#: Sections of numbers whose names another stage checks.
NUMBER_SECTIONS: Final = frozenset({"priors"})
SECTIONS: Final = (*KEYS, "map")


def is_texts(value: Any) -> bool:
    """Whether a TOML value is a non-empty text or a list of them."""
    listed = value if isinstance(value, list) else [value]
    return all(isinstance(v, str) and v for v in listed)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _is_table_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(is_texts(v) for v in value.values())


def _is_text_table(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) and v for v in value.values())


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


#: Form -> (test, description for messages).
FORMS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "text": (_is_text, "a text that is not empty"),
    "flag": (lambda value: isinstance(value, bool), "true or false"),
    "number": (_is_number, "a finite number"),
    "digits": (lambda value: type(value) is int and 0 <= value <= 6, "a whole number from 0 to 6"),
    "file name": (
        lambda value: isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_-]{0,59}", value) is not None,
        "a name of small letters, digits, _ and -",
    ),
    "proportion": (lambda value: _is_number(value) and 0 < value < 1, "a number above 0 and below 1"),
    "positive": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    "share": (lambda value: _is_number(value) and 0 < value < 0.5, "a number above 0 and below 0.5"),
    "texts": (is_texts, "a list of texts"),
    "table of texts": (_is_table_of_texts, "a table of lists of texts"),
    "text or table": (
        lambda value: _is_text(value) or _is_text_table(value),
        "a text, or a table with one text per task",
    ),
}


def type_name(value: Any) -> str:
    """TOML's name for the type of a value, with the value where it is short."""
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "a table",
    }
    name = names.get(type(value), f"a {type(value).__name__}")
    return name if isinstance(value, list | dict) or len(repr(value)) > 40 else f"{name} ({value!r})"


def suggestion(name: str, known: tuple[str, ...]) -> str:
    """``; did you mean "x"?`` when a known name is near, else the list of known names."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(known)}"


def check_table(where: str, section: str, table: Any) -> tuple[dict[str, Any], list[str]]:
    """Values of one table of a section, and every problem found in it.

    Lists come back as tuples, and a single text where a list may stand as a list of one.
    """
    if not isinstance(table, dict):
        return {}, [f"{where}: must be a table, not {type_name(table)}"]
    keys = {key.name: key for key in KEYS[section]}
    values: dict[str, Any] = {}
    problems = [
        f"{where}: lacks {key.name!r}, {key.meaning}" for key in keys.values() if key.required and key.name not in table
    ]
    for name, value in table.items():
        if name not in keys:
            problems.append(f"{where} {name}: unknown key{_elsewhere(name, section) or suggestion(name, tuple(keys))}")
            continue
        found = _check_value(f"{where} {name}", keys[name], value)
        problems += found
        if not found:
            values[name] = _frozen(keys[name].form, value)
    return values, problems


def check_numbers(where: str, table: Any) -> tuple[dict[str, float], list[str]]:
    """Values of a section of numbers under free names, and every problem found in it."""
    if not isinstance(table, dict):
        return {}, [f"{where}: must be a table, not {type_name(table)}"]
    test, description = FORMS["number"]
    problems = [
        f"{where} {name}: must be {description}, not {type_name(v)}" for name, v in table.items() if not test(v)
    ]
    return {name: float(value) for name, value in table.items() if test(value)}, problems


def _elsewhere(name: str, section: str) -> str:
    for other, keys in KEYS.items():
        if other != section and any(key.name == name for key in keys):
            return f"; it belongs to [{other}]"
    return ""


def _check_value(where: str, key: Key, value: Any) -> list[str]:
    test, description = FORMS[key.form]
    if not test(value):
        return [f"{where}: must be {description}, not {type_name(value)}"]
    if not key.values:
        return []
    members = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return [f"{where}: unknown value {v!r}{suggestion(v, key.values)}" for v in members if v not in key.values]


def _frozen(form: str, value: Any) -> Any:
    if form == "texts":
        return _as_tuple(value)
    if form == "table of texts":
        return {name: _as_tuple(v) for name, v in value.items()}
    return value


def _as_tuple(value: str | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([value] if isinstance(value, str) else value))


def duplicated(groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Texts that stand in more than one group, regardless of case."""
    seen: dict[str, str] = {}
    twice = []
    for name, texts in groups.items():
        for text in texts:
            folded = text.casefold().strip()
            if seen.setdefault(folded, name) != name:
                twice.append(text)
    return twice
