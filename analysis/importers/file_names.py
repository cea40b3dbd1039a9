"""Names of files and folders, for logs that say nowhere else which model or data set they are of."""

from pathlib import Path

_ENDINGS = (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


def stem(path: Path) -> str:
    """Name of a file without its endings, as text that can be stored."""
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return storable(name)


def folder(path: Path, level: int = 1) -> str:
    """Name of the folder of a file (``level`` 1), of the folder around that (2), ...; empty where there is none."""
    return storable(path.parents[level - 1].name) if level <= len(path.parents) else ""


def storable(name: str) -> str:
    """Name with the bytes that are not UTF-8 replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
