"""A browser for the tests of the page; shared examples are importable in every import mode of pytest."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from chromium import Browser, chromium_path, running_browser
from example_tables import skip_or_fail


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        skip_or_fail("no Chromium")
    with running_browser(str(path), tmp_path_factory.mktemp("profile")) as found:
        yield found
