"""Which importer reads which file: the registry, and the walk over what the user named."""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from analysis.errors import AnalysisError
from analysis.importers import (
    consistency_ratings,
    deepeval,
    every_eval_ever,
    helm,
    inspect_ai,
    lighteval,
    likelihood_ratings,
    llm_logic,
    lm_eval,
    openai_evals,
    opencompass,
    probability_tuples,
    promptfoo,
    simple_evals,
    standard,
    syllogism_votes,
    wide_table,
)
from analysis.importers.byte_streams import relative_name
from analysis.importers.damage import foreign_kind, is_refused, other_encoding
from analysis.importers.probe import HEAD_BYTES, probe, undecodable_line
from analysis.importers.protocol import Claim, Probe
from analysis.schema.map_rules import MapRule
from analysis.schema.quoting import shown
from analysis.schema.responses import COLUMN_BY_NAME
from analysis.schema.study import Wide
from analysis.schema.study_keys import suggestion

#: Every importer, in the order in which formats are listed to users. The standard schema is asked last,
#: about files that nobody else claims.
IMPORTERS: tuple[ModuleType, ...] = (
    inspect_ai,
    lm_eval,
    helm,
    lighteval,
    every_eval_ever,
    openai_evals,
    opencompass,
    promptfoo,
    deepeval,
    simple_evals,
    llm_logic,
    syllogism_votes,
    probability_tuples,
    likelihood_ratings,
    consistency_ratings,
)

#: Directories deeper than this below a named one are not looked at.
MAX_DEPTH = 32
#: Names (lower case) of files that belong to a study and hold no responses.
COMPANIONS = frozenset({"study.toml", "overrides.csv", "makefile", "readme", "license", "licence", "citation.cff"})
_COMPANION_ENDINGS = (".md", ".rst")
#: Directories and files that tools leave behind: never a log, whatever they hold (checkpoints are copies).
_LITTER = frozenset({"__macosx", ".ds_store", "thumbs.db", "desktop.ini", "__pycache__", ".git", ".hg", ".svn"})
_LITTER_TOO = frozenset({".ipynb_checkpoints", ".venv", "node_modules", ".cache"})
#: What every folder that a report was written into holds; tables in it repeat rows of the logs.
_REPORT = frozenset({"index.html", "manifest.json", "numbers.tex", "report.tex", "tables", "data"})
_LONGEST_NAME = 100
#: Columns of a foreign table that a message lists at most.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Found:
    """One file, or directory that is a log by itself, and who reads it.

    ``relative`` is its POSIX path below the root. ``importer`` is None where nobody reads it; then
    ``reason`` says why. ``readable`` is False where it could not even be looked at.
    """

    path: Path
    relative: str
    importer: ModuleType | None
    claim: Claim
    reason: str = ""
    readable: bool = True


def format_names(importers: tuple[ModuleType, ...] = IMPORTERS) -> tuple[str, ...]:
    """Formats that are read, for messages."""
    return (*(str(module.NAME) for module in importers), standard.NAME)


def find_logs(
    paths: list[Path],
    root: Path,
    *,
    rules: Mapping[str, MapRule] | None = None,
    wide: Wide | None = None,
    importers: tuple[ModuleType, ...] | None = None,
    of_study: Collection[Path] = (),
) -> list[Found]:
    """Every file under ``paths`` with its importer, in order of relative path.

    Parameters
    ----------
    paths : list of Path
        Files and directories that the user named.
    root : Path
        Directory that names in messages are relative to.
    rules : mapping of str to MapRule, optional
        ``[map]`` of ``study.toml``: tables that it turns into logs are claimed as well.
    wide : Wide, optional
        ``[wide]`` of ``study.toml``: tables with one column per model are claimed as well.
    importers : tuple of modules, optional
        Instead of ``IMPORTERS``.
    of_study : collection of Path, optional
        Files that ``study.toml`` names, which are no logs whatever they hold.

    Raises
    ------
    AnalysisError
        A path does not exist; two importers claim one file; a file named by the user is nobody's.
    """
    known = IMPORTERS if importers is None else importers

    named = {path.name for path in of_study}

    def look(path: Path) -> Found:
        if path.name in named and any(path.exists() and path.samefile(other) for other in of_study):
            return Found(path, relative_name(path, root), None, Claim.COMPANION, "belongs to the study")
        return _identify(probe(path), relative_name(path, root), known, rules or {}, wide)

    found: dict[str, Found] = {}
    for path in paths:
        if path.is_dir():
            items = list(_walk(path, look, visited=set(), depth=0, relative=lambda p: relative_name(p, root)))
        elif os.path.lexists(path):
            items = [_named(look(path), format_names(known))]
        else:
            raise AnalysisError(f"{path}: no such file or directory", offenders=(str(path),))
        items = [replace(item, relative=path.name) if item.relative == "." else item for item in items]
        found |= {item.relative: item for item in items if item.relative not in found}
    return [found[name] for name in sorted(found)]


def _named(item: Found, formats: tuple[str, ...]) -> Found:
    """Refuse a file that the user named and nobody reads."""
    if item.importer is None and item.claim is Claim.NO:
        raise AnalysisError(
            f"{item.relative}: not a log of any known format ({item.reason}); known: {', '.join(formats)}",
            offenders=(item.relative,),
        )
    return item


def _walk(
    directory: Path,
    look: Callable[[Path], Found],
    *,
    visited: set[tuple[int, int]],
    depth: int,
    relative: Callable[[Path], str],
) -> Iterator[Found]:
    def skipped(path: Path, reason: str, *, readable: bool = True) -> Found:
        claim = Claim.NO if readable else Claim.REFUSED
        return Found(path, relative(path), None, claim, reason, readable)

    try:
        status = directory.stat()
        entries = sorted(os.listdir(directory))
    except OSError as error:
        yield skipped(directory, f"cannot be read ({error.strerror})", readable=False)
        return
    if (status.st_dev, status.st_ino) in visited:
        yield skipped(directory, "a link to a directory that is read already")
        return
    visited.add((status.st_dev, status.st_ino))
    if _REPORT.issubset(entries):
        yield skipped(directory, "a report, not logs")
        return
    if depth > MAX_DEPTH:
        yield skipped(directory, f"more than {MAX_DEPTH} directories deep")
        return
    whole = look(directory)
    if whole.claim is not Claim.NO:
        yield whole
        return
    for name in entries:
        path = directory / name
        if is_litter(name):
            yield skipped(path, "left by another program")
        elif path.is_dir():
            yield from _walk(path, look, visited=visited, depth=depth + 1, relative=relative)
        else:
            yield look(path)


def is_litter(name: str) -> bool:
    """Whether a name is one that tools leave behind."""
    return name.lower() in _LITTER or name.lower() in _LITTER_TOO or name.startswith("._")


def is_companion(name: str) -> bool:
    """Whether a file belongs to a study by its name."""
    lower = name.lower()
    return lower in COMPANIONS or lower.endswith(_COMPANION_ENDINGS)


def _identify(
    seen: Probe, relative: str, importers: tuple[ModuleType, ...], rules: Mapping[str, MapRule], wide: Wide | None
) -> Found:
    if is_companion(seen.path.name) and not seen.members:
        return Found(seen.path, relative, None, Claim.COMPANION, "belongs to the study")
    if seen.problem:
        return _problem(seen, relative)
    claims = [(module, claim) for module in importers if (claim := module.sniff(seen)) is not Claim.NO]
    logs = [(module, claim) for module, claim in claims if claim is not Claim.COMPANION]
    if len(logs) > 1:
        names = ", ".join(module.NAME for module, _ in logs)
        raise AnalysisError(
            f"{relative}: could be a log of {len(logs)} formats ({names}); remove what makes it look like both",
            offenders=(relative,),
        )
    if logs:
        return Found(seen.path, relative, *logs[0])
    if claims:
        module = claims[0][0]
        return Found(seen.path, relative, module, Claim.COMPANION, f"belongs to a log ({module.NAME})")
    if standard.sniff_mapped(seen, rules) is Claim.LOG:
        return Found(seen.path, relative, standard, Claim.LOG)
    if wide is not None and wide_table.sniff_wide(seen, wide, rules) is Claim.LOG:
        return Found(seen.path, relative, wide_table, Claim.LOG)
    if standard.is_damaged_parquet(seen):
        return Found(seen.path, relative, None, Claim.REFUSED, "damaged Parquet file; copy it again")
    lost = other_encoding(seen.head) or (_is_table(seen) and standard.nearly(standard.column_names(seen), rules))
    return Found(seen.path, relative, None, Claim.REFUSED if lost else Claim.NO, _stranger(seen, rules))


def _problem(seen: Probe, relative: str) -> Found:
    lost = seen.problem.startswith("cannot be read") or seen.problem == "broken symbolic link"
    claim = Claim.REFUSED if lost or is_refused(seen.problem) else Claim.NO
    return Found(seen.path, relative, None, claim, seen.problem, readable=not lost)


def _stranger(seen: Probe, rules: Mapping[str, MapRule]) -> str:
    """Why a file is nobody's; for a table, which columns it would need."""
    if not _is_table(seen):
        return _broken(seen) or "no known format"
    if line := undecodable_line(seen):
        return f"line {line}: not valid UTF-8; save the file as UTF-8"
    names = standard.column_names(seen)
    lacking = standard.missing_columns(names, rules)
    for column, rule in rules.items():
        absent = [s for s in rule.sources if not s.startswith("@") and s not in names]
        if absent and (column in lacking or column in standard.ANSWERS):
            near = suggestion(absent[0], names[:_NAMED])
            return f"it has no column {shown(absent[0])}, which [map] {column} in study.toml reads{near}"
    plain = {name: name.strip().casefold() for name in names if name not in COLUMN_BY_NAME}
    alike = ", ".join(shown(name) for name, folded in plain.items() if folded in COLUMN_BY_NAME)
    spelt = f", though it has {alike} (names are in small letters, without blanks around them)" if alike else ""
    return (
        f"its columns lack {', '.join(lacking)}{spelt}; "
        "[map] in study.toml can name them, or [wide] the columns of models: "
        "`evenhand study init` drafts it"
    )


def _broken(seen: Probe) -> str:
    """What is wrong with a file that is not what its ending says; empty where nothing is known to be."""
    if kind := foreign_kind(seen.head, seen.path.suffix.lower()):
        return kind
    if seen.path.suffix == ".eval" and not seen.members and not seen.text.lstrip().startswith("{"):
        return "ends in .eval and is no zip archive; copy it again"
    if seen.path.suffix not in (".json", ".jsonl") or len(seen.head) >= HEAD_BYTES:
        return ""
    first = seen.text.strip().partition("\n")[0] if seen.path.suffix == ".jsonl" else seen.text
    try:
        json.loads(first)
    except (ValueError, RecursionError) as error:
        return f"broken JSON ({str(error).partition(':')[0]}); copy it again"
    return ""


def _is_table(seen: Probe) -> bool:
    """Whether a file looks like rows with named columns; one lone object is a table only as JSON Lines by name."""
    names = standard.column_names(seen)
    lone = _is_single_object(seen.text) and ".jsonl" not in seen.path.suffixes
    return len(names) > 1 and all(len(name) <= _LONGEST_NAME for name in names) and not lone


def _is_single_object(text: str) -> bool:
    first, _, rest = text.strip().partition("\n")
    return first.startswith("{") and not rest.lstrip().startswith("{")
