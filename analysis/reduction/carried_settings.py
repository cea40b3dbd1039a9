"""Settings of a study in an imported file: those that columns of the schema can hold, and those that they cannot."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.schema.columns import ItemColumns, item_columns
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME
from analysis.schema.store import StoreWriter, open_store, store_columns, store_parts
from analysis.schema.study import Study

FACTOR: Final = "factor."
#: Where a unit that the logs name themselves is kept when the study declares another.
LOGGED_UNIT: Final = "meta.unit"
#: Fields of a study that the rows hold once they are taken in, or that say nothing of rows.
_HELD: Final = frozenset({"unit", "factors", "map", "wide", "items_file", "probability_scale", "reading"}) | frozenset(
    {"given", "path"}
)
#: Column -> the field of ``[models."name"]`` that fills it.
_OF_MODELS: Final = {"model_family": "family", "model_size": "size"}
#: Field of a study -> how ``study.toml`` calls it, where that is not a key of [study].
_SECTIONS: Final = {
    "kinds": "[study] kind",
    "models": "[models] label",
    "contrasts": "[[contrast]]",
    "baselines": "[factor]",
    "restrictions": "[[restriction]]",
    "coherence": "[coherence] and [[identity]]",
    "votes": "[votes]",
    "external": "[external]",
    "gate": "[gate]",
    "report": "[report]",
    "families": "[[family]]",
    "tables": "[[table]]",
    "priors": "[priors]",
}


def carry_settings(store: Path, study: Study) -> tuple[str, ...]:
    """Write the unit and the factors that a study declares into the columns of an imported file.

    The column ``unit`` becomes the declared unit; one that the logs have themselves is kept as ``meta.unit``.
    Declared factors without a prefix get the prefix ``factor.``, under which a study still finds them. Families and
    sizes of models go to ``model_family`` and ``model_size``.

    Parameters
    ----------
    store : Path
        File in the standard schema; it is replaced where a column changes.
    study : Study

    Returns
    -------
    tuple of str
        Settings that no column can hold, as ``study.toml`` calls them: a report of the file needs them named.

    Raises
    ------
    StudyError
        The study names columns that the logs do not have.
    """
    with open_store(store) as con:
        columns = store_columns(con)
    meaning = item_columns(study, columns)
    renamed, kept = _renamed_factors(meaning, columns)
    unit = meaning.unit if study.unit and meaning.unit != "unit" else None
    models = {
        column: {name: value for name, entry in study.models.items() if (value := getattr(entry, field)) is not None}
        for column, field in _OF_MODELS.items()
    }
    if renamed or unit or any(models.values()):
        with StoreWriter(store) as writer:
            for part in store_parts(store):
                with pq.ParquetFile(part) as file:
                    for batch in file.iter_batches():
                        writer.write(_carried(batch, unit, renamed, models))
    return (*(("[study] factors",) if kept else ()), *unheld_settings(study))


def unheld_settings(study: Study) -> tuple[str, ...]:
    """Settings that differ from the defaults and that no column can hold, as ``study.toml`` calls them."""
    default = Study()
    changed = [
        field.name
        for field in fields(Study)
        if field.name not in _HELD and getattr(study, field.name) != getattr(default, field.name)
    ]
    if not any(entry.label for entry in study.models.values()):
        changed = [name for name in changed if name != "models"]
    return tuple(dict.fromkeys(_SECTIONS.get(name, f"[study] {name}") for name in changed))


def _renamed_factors(meaning: ItemColumns, columns: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Declared factors -> their names with the prefix, and those whose prefixed name is another column's."""
    bare = {
        name: FACTOR + name.removeprefix("meta.")
        for name in meaning.factors
        if name in columns and name not in COLUMN_BY_NAME and not name.startswith((FACTOR, "score."))
    }
    taken = {name.lower() for name in columns}
    renamed = {name: new for name, new in bare.items() if new.lower() not in taken}
    return renamed, [name for name in bare if name not in renamed]


def _carried(
    batch: pa.RecordBatch, unit: str | None, renamed: Mapping[str, str], models: Mapping[str, Mapping[str, Any]]
) -> pa.RecordBatch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    if unit is not None:
        logged = columns["unit"]
        if logged.null_count < len(logged) and LOGGED_UNIT not in columns:
            columns[LOGGED_UNIT] = logged
        # A unit that is the item is what a report takes where the column is empty.
        columns["unit"] = pa.nulls(batch.num_rows, pa.string()) if unit == "item" else columns[unit]
    for column, declared in models.items():
        if declared:
            known = columns["model"].dictionary_encode()
            values = pa.array([declared.get(n) for n in known.dictionary.to_pylist()], _type(column))
            columns[column] = pc.coalesce(values.take(known.indices), columns[column])
    return pa.RecordBatch.from_pydict({renamed.get(name, name): column for name, column in columns.items()})


def _type(column: str) -> pa.DataType:
    return ARROW_TYPES[COLUMN_BY_NAME[column].kind]
