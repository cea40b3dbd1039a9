"""Names of files as shown: below the directory that was given, whatever stands beside it."""

from pathlib import Path

import pytest

from analysis.importers.byte_streams import relative_name


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        ("/logs/a/b.json", "/logs", "a/b.json"),
        ("/logs", "/logs", "."),
        ("/logs2/b.json", "/logs", "b.json"),
        ("/logs/b.json", "/logs/a", "b.json"),
        ("/srv/b.json", "/", "srv/b.json"),
        ("/", "/", "."),
        ("//srv/b.json", "/", "b.json"),
        ("a/b.json", ".", "a/b.json"),
        ("a/b.json", "a", "b.json"),
    ],
)
def test_names_are_relative_to_the_directory_alone(path: str, root: str, name: str) -> None:
    """Catches a directory whose name merely begins with that of the root, and the top of the file system."""
    assert relative_name(Path(path), Path(root)) == name
