"""Every example of the README and of the documentation does what the page says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.marked_blocks import RUN, Block, blocks_of, lacking_line

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def must_run(block: Block) -> bool:
    return block.language in RUN and block.said != "not run"


RUNNABLE = [name for name, page in zip(NAMES, PAGES, strict=True) if any(map(must_run, blocks_of(page)))]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the example logs and the environment, as a clone of the repository has them."""
    shutil.copytree(ROOT / "logs" / "example", tmp_path / "logs" / "example")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def ran(block: Block, place: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = ["bash", "-euo", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
    return subprocess.run(
        [*command, block.text],
        cwd=place,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.parametrize("name", RUNNABLE)
def test_examples_of_a_page_run_in_order(name: str, place: Path) -> None:
    """Catches a command that no longer exists, a file that nobody wrote, and output that the program does not print."""
    done = subprocess.CompletedProcess[str]([], 0, "", "")
    for block in blocks_of(ROOT / name):
        where = f"{name}:{block.line}"
        if block.said == "file":
            (place / block.value).parent.mkdir(parents=True, exist_ok=True)
            (place / block.value).write_text(block.text, encoding="utf-8")
        elif block.said == "output":
            missing = lacking_line(block.text, done.stdout)
            assert missing is None, f"{where}: not printed: {missing}\n{done.stdout}"
        elif must_run(block):
            done = ran(block, place)
            expected = int(block.value) if block.said == "exits" else 0
            assert done.returncode == expected, f"{where}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_run_says_why(name: str) -> None:
    """Catches an example that is left out without a reason, and a mark that stands before nothing it can mean."""
    for block in blocks_of(ROOT / name):
        where = f"{name}:{block.line}"
        if block.said == "not run":
            assert block.language in RUN, f"{where}: {block.language} is not run anyway"
            assert len(block.value.split()) >= 3, f"{where}: no reason"
        if block.said == "exits":
            assert must_run(block), f"{where}: exits: of a block that is not run"
            assert block.value.isdigit(), f"{where}: no status"


def test_the_reader_of_pages_sees_marks_and_order(tmp_path: Path) -> None:
    """Catches a reader that skips blocks: then the tests above pass whatever the pages say."""
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nfalse\n```\n\n<!-- not run: needs a harness here -->\n```sh\nx\n```\n"
        "<!-- exits: 2 -->\n\n```python\ny\n```\n"
        "<!-- file: a/b.csv -->\ntext between takes the mark away\n```csv\nz\n```\n````text\n```sh\n```\n````\n"
    )
    assert [(b.line, b.language, b.said, b.value) for b in blocks_of(page)] == [
        (1, "sh", "", ""),
        (6, "sh", "not run", "needs a harness here"),
        (11, "python", "exits", "2"),
        (16, "csv", "", ""),
        (19, "text", "", ""),
    ]
    assert lacking_line("a\n…\nc …", "a\nb\nc 1\n") is None
    assert lacking_line("c\na", "a\nb\nc\n") == "a"
