"""Fixtures that every stage's tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine, and no deadline: a busy machine is no fault of the code.
settings.register_profile("evenhand", deadline=None, derandomize=True)
settings.load_profile("evenhand")

ROOT = Path(__file__).resolve().parents[1]


def skip_or_fail(reason: str) -> None:
    """Skip with a reason; fail instead where the environment promises that everything is there."""
    if os.environ.get("EVENHAND_NO_SKIPS"):
        pytest.fail(f"not available, and EVENHAND_NO_SKIPS is set: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Directory of real logs and published numbers, when it lies beside the repository."""
    path = Path(os.environ.get("EVENHAND_SHARED", ROOT.parent / "shared"))
    if not (path / "logs" / "EXPECTED.tsv").is_file():
        skip_or_fail(f"no real logs at {path}")
    return path
