"""One number per model from a CSV that ``study.toml`` names, matched by exact names."""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import StudyError
from analysis.schema.external_settings import External
from analysis.schema.study_keys import suggestion


@dataclass(frozen=True, slots=True)
class ExternalValues:
    """Numbers of the models that have one.

    Attributes
    ----------
    values : dict of float
        Model as logged -> number.
    unmatched_models : tuple of str
        Models of the logs without a row in the file.
    unmatched_names : tuple of str
        Names in the file without a model in the logs.
    """

    values: dict[str, float]
    unmatched_models: tuple[str, ...]
    unmatched_names: tuple[str, ...]


def external_values(settings: External, study: str, models: Iterable[str]) -> ExternalValues:
    """Read the table and match it to models.

    Parameters
    ----------
    settings : External
    study : str
        Path of ``study.toml``; the file must lie in its directory or below.
    models : iterable of str
        Names as logged.

    Raises
    ------
    StudyError
        The file lies elsewhere, cannot be read, lacks a column, names a model twice or holds something that is no
        number; or ``names`` lists a model or a name that does not exist.
    """
    where = f"{study}: [external]"
    table = _read(settings, study, where)
    known = sorted(set(models))
    unknown = [model for model in settings.names if model not in known]
    absent = [name for name in settings.names.values() if name not in table]
    if unknown or absent:
        first = unknown[0] if unknown else absent[0]
        place, options = ("logs", tuple(known)) if unknown else (settings.file, tuple(table))
        raise StudyError(
            f"{where} names: no model {first!r} in the {place}{suggestion(first, options)}", offenders=unknown + absent
        )
    partner = {model: settings.names.get(model, model) for model in known}
    twice = [name for name in set(partner.values()) if list(partner.values()).count(name) > 1 and name in table]
    if twice:
        raise StudyError(f"{where}: several models stand for {twice[0]!r} of {settings.file}", offenders=twice)
    values = {model: table[name] for model, name in partner.items() if name in table}
    return ExternalValues(
        values,
        tuple(model for model in known if model not in values),
        tuple(name for name in table if name not in partner.values()),
    )


def _read(settings: External, study: str, where: str) -> dict[str, float]:
    folder = Path(study).resolve().parent
    path = (folder / settings.file).resolve()
    if not path.is_relative_to(folder):
        raise StudyError(f"{where} file: {settings.file!r} lies outside the directory of study.toml; copy it there")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StudyError(f"{where} file: {settings.file} cannot be read: {reason}") from None
    header = tuple(name for name in (rows[0] if rows else {}) if name is not None)
    for column in (settings.model, settings.value):
        if column not in header:
            raise StudyError(f"{where}: {settings.file} has no column {column!r}{suggestion(column, header)}")
    table: dict[str, float] = {}
    for line, row in enumerate(rows, start=2):
        name, text = (row[settings.model] or "").strip(), (row[settings.value] or "").strip()
        if not name or not text:
            continue
        if name in table:
            raise StudyError(f"{where}: {settings.file}:{line}: {name!r} stands in two rows", offenders=(name,))
        table[name] = _number(text, f"{where}: {settings.file}:{line}")
    return table


def _number(text: str, where: str) -> float:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise StudyError(f"{where}: {text!r} is no number")
    return value
