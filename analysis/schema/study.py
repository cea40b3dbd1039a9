"""Settings of an analysis, as ``study.toml`` declares them."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import StudyError
from analysis.schema.coherence_settings import Coherence, coherence_of
from analysis.schema.external_settings import External, external_of
from analysis.schema.gate_settings import GateSettings, gate_of
from analysis.schema.map_rules import MapRule, read_rules
from analysis.schema.planning_settings import PlanningSettings, planning_of
from analysis.schema.reading_settings import Reading, reading_of
from analysis.schema.report_settings import DeclaredTable, Family, Report, families_of, report_of, tables_of
from analysis.schema.responses import CONDITIONS
from analysis.schema.study_keys import (
    LISTED_SECTIONS,
    NAMED_SECTIONS,
    NUMBER_SECTIONS,
    SECTIONS,
    check_numbers,
    check_table,
    duplicated,
    suggestion,
    type_name,
)
from analysis.schema.vote_settings import Votes, votes_of

FILE_NAME = "study.toml"
#: Endings of files beside logs that hold no responses.
_NO_LOGS = frozenset({".md", ".rst", ".toml", ".py", ".pdf"})


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """What ``[models."name"]`` says of one model; None where it says nothing."""

    label: str | None = None
    family: str | None = None
    size: float | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two or more levels of a factor to compare, on responses paired by the columns of ``match``.

    ``where`` names the levels of other columns that are compared; the rest is left out.
    """

    factor: str
    levels: tuple[str, ...]
    match: tuple[str, ...] = ()
    name: str = ""
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Restriction:
    """A part of the items on which the floor is estimated a second time: levels kept, levels left out."""

    name: str
    keep: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drop: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wide:
    """Tables with one column per model: which columns these are, and which column of the schema their cells fill."""

    models: tuple[str, ...]
    value: str = "logged_score"


@dataclass(frozen=True, slots=True)
class Study:
    """Settings of one analysis; the defaults are those of a directory without ``study.toml``.

    ``kind`` holds for every task that ``kinds`` does not name; None means read off the columns.
    ``unit`` None means the column ``unit``, or else the item. ``given`` lists the keys that the file
    sets, as ``study.target``; ``baselines`` are levels by factor; ``priors`` are names and scales of
    ``bayes.priors``; ``path`` is the file, empty without one.
    """

    name: str = ""
    kind: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    target: str = "these"
    unit: str | None = None
    conditions: tuple[str, ...] = CONDITIONS
    factors: tuple[str, ...] = ()
    weights: str = "micro"
    uncertain: str = "incorrect"
    exclude: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unpaired_forms: str = "exclude"
    pool_tasks: bool = False
    probability_scale: str = "fraction"
    reading: Reading = field(default_factory=Reading)
    map: Mapping[str, MapRule] = field(default_factory=dict)
    wide: Wide | None = None
    models: Mapping[str, ModelEntry] = field(default_factory=dict)
    contrasts: tuple[Contrast, ...] = ()
    baselines: Mapping[str, str] = field(default_factory=dict)
    restrictions: tuple[Restriction, ...] = ()
    coherence: Coherence = field(default_factory=Coherence)
    votes: Votes = field(default_factory=Votes)
    external: External | None = None
    items_file: str = ""
    gate: GateSettings = field(default_factory=GateSettings)
    planning: PlanningSettings = field(default_factory=PlanningSettings)
    report: Report = field(default_factory=Report)
    families: tuple[Family, ...] = ()
    tables: tuple[DeclaredTable, ...] = ()
    priors: Mapping[str, float] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    path: str = ""

    def kind_of(self, task: str) -> str | None:
        """Kind declared for a task, None where it is to be read off the columns."""
        return self.kinds.get(task, self.kind)

    def label(self, model: str) -> str:
        """Name to print for a model: the declared label, or the name as logged."""
        entry = self.models.get(model)
        return entry.label if entry and entry.label else model

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Columns that settings refer to: key -> names, in the order of the file's sections."""
        named = {
            "study.unit": (self.unit,) if self.unit else (),
            "study.conditions": self.conditions if "study.conditions" in self.given else (),
            "study.factors": self.factors,
            "study.exclude": tuple(self.exclude),
            **{f"contrast[{i}].factor": (c.factor,) for i, c in enumerate(self.contrasts, 1)},
            **{f"contrast[{i}].match": c.match for i, c in enumerate(self.contrasts, 1)},
            **{f"contrast[{i}].where": tuple(c.where) for i, c in enumerate(self.contrasts, 1)},
            "factor": tuple(self.baselines),
            **{f"restriction[{i}]": (*r.keep, *r.drop) for i, r in enumerate(self.restrictions, 1)},
        }
        return {key: names for key, names in named.items() if names}


def load_study(path: Path | None) -> Study:
    """Read ``study.toml``, or give the defaults when there is no file.

    Parameters
    ----------
    path : Path or None

    Raises
    ------
    StudyError
        The file cannot be read, or holds unknown keys, wrong types or unknown values: all of them in
        one message, each with its key; ``offenders`` has one entry per problem.
    """
    if path is None:
        return Study()
    study, problems = _read_sections(_parsed(path), str(path))
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise StudyError(f"{path}: {count}; see docs/study_toml.md\n{listed}", offenders=problems)
    return study


def find_study(paths: list[Path]) -> Path | None:
    """``study.toml`` of the logs that a user named.

    Parameters
    ----------
    paths : list of Path
        Files and directories. One that lies in a directory itself, or beside a file, counts first; else one
        further down in a directory, where it is the only one and every log lies beside or below it.

    Returns
    -------
    Path or None
        None where there is no such file.

    Raises
    ------
    StudyError
        Several could be meant, or one further down holds for some of the logs only.
    """
    folders = list(dict.fromkeys(path if path.is_dir() else path.parent for path in paths))
    found = {file.resolve(): file for folder in folders if (file := folder / FILE_NAME).is_file()}
    if not found:
        found = {file.resolve(): file for path in paths if path.is_dir() for file in _studies_below(path)}
        partial = [file for file in found.values() if _files_outside(file.parent, paths)]
        if len(found) == 1 and partial:
            raise StudyError(
                f"{partial[0]}: lies beside some of the logs only; move it to the top, name it with --study, "
                "or report on its directory alone",
                offenders=[str(partial[0])],
            )
    if len(found) > 1:
        named = [str(path) for path in sorted(found.values())]
        listed = ", ".join(named[:5]) + (", …" if len(named) > 5 else "")
        raise StudyError(
            f"{len(found)} files could be meant: {listed}; name one with --study, or name the logs of one study only",
            offenders=named,
        )
    return next(iter(found.values()), None)


def _studies_below(folder: Path) -> list[Path]:
    return sorted(Path(place, FILE_NAME) for place, _, names in _walk(folder) if FILE_NAME in names)


def _files_outside(folder: Path, paths: list[Path]) -> bool:
    """Whether some named file, or file in a named directory, may be a log that is not below the folder."""
    inner = folder.resolve()
    for path in paths:
        for place, _, names in _walk(path) if path.is_dir() else [(str(path.parent), [], [path.name])]:
            logs = [n for n in names if not n.startswith(".") and Path(n).suffix.lower() not in _NO_LOGS]
            if logs and not Path(place).resolve().is_relative_to(inner):
                return True
    return False


def _walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Directories below a folder, without hidden ones."""
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield place, inner, names


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path}: not valid TOML: {error}; texts and names with dots or slashes need quotes") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except RecursionError:
        raise StudyError(f"{path}: not valid TOML: nested too deeply") from None
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror or error}") from None


def _read_sections(raw: dict[str, Any], path: str) -> tuple[Study, list[str]]:
    problems = [f"[{name}]: unknown section{suggestion(name, SECTIONS)}" for name in raw if name not in SECTIONS]
    values: dict[str, Any] = {}
    for section in SECTIONS:
        if section in raw and section != "map":
            values[section], found = _read_section(section, raw[section])
            problems += found
    settings = _settings(values)
    study = Study(**settings, path=path, given=_given(raw))
    rules, found = read_rules(raw.get("map", {}), tuple(name for names in study.columns.values() for name in names))
    twice = duplicated(study.reading.synonyms)
    problems += found + [f"[reading] synonyms: {text!r} stands under two answers" for text in twice]
    return Study(**settings, path=path, given=study.given, map=rules), problems


def _read_section(section: str, raw: Any) -> tuple[Any, list[str]]:
    """Checked values of a section: a table, tables by name, or a list of tables."""
    if section in NAMED_SECTIONS:
        if not isinstance(raw, dict):
            return {}, [f"[{section}]: must hold one table per name, not {type_name(raw)}"]
        read = {name: check_table(f'[{section}."{name}"]', section, table) for name, table in raw.items()}
        return {name: values for name, (values, _) in read.items()}, [p for _, found in read.values() for p in found]
    if section in LISTED_SECTIONS:
        if not isinstance(raw, list):
            return [], [f"[[{section}]]: must be an array of tables (double brackets), not {type_name(raw)}"]
        listed = [check_table(f"[[{section}]] {i}", section, table) for i, table in enumerate(raw, 1)]
        complete = [values for values, found in listed if not found]
        return complete, [p for _, found in listed for p in found]
    if section in NUMBER_SECTIONS:
        return check_numbers(f"[{section}]", raw)
    return check_table(f"[{section}]", section, raw)


def _settings(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``Study`` from checked values."""
    settings = dict(values.get("study", {}))
    kind = settings.pop("kind", None)
    settings |= {"kinds": kind} if isinstance(kind, dict) else {"kind": kind}
    settings["reading"] = reading_of(values)
    settings["items_file"] = values.get("items", {}).get("file", "")
    settings["wide"] = Wide(**values["wide"]) if "models" in values.get("wide", {}) else None
    settings["models"] = {name: ModelEntry(**entry) for name, entry in values.get("models", {}).items()}
    settings["contrasts"] = tuple(Contrast(**entry) for entry in values.get("contrast", []))
    factors = values.get("factor", {})
    settings["baselines"] = {name: entry["baseline"] for name, entry in factors.items() if "baseline" in entry}
    settings["restrictions"] = tuple(Restriction(**entry) for entry in values.get("restriction", []))
    settings |= {"coherence": coherence_of(values), "votes": votes_of(values), "external": external_of(values)}
    settings |= {"gate": gate_of(values), "planning": planning_of(values), "report": report_of(values)}
    settings["families"], settings["tables"] = families_of(values), tables_of(values)
    settings["priors"] = values.get("priors", {})
    return settings


def _given(raw: dict[str, Any]) -> frozenset[str]:
    tables = {section: table for section, table in raw.items() if isinstance(table, dict)}
    return frozenset(f"{section}.{key}" for section, table in tables.items() for key in table)
