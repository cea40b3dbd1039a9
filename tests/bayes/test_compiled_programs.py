"""Compiled programs on disk never outlive the sources that they are made of."""

import subprocess
import sys
from pathlib import Path

from analysis.bayes.compiled_programs import drop_stale_programs

CALLED = "from numba import njit\n\n@njit(cache=True)\ndef one(x):\n    return x + {}\n"
CALLER = "from numba import njit\nfrom called import one\n\n@njit(cache=True)\ndef two(x):\n    return one(x)\n"
ASKED = (
    "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
    "from analysis.bayes.compiled_programs import drop_stale_programs\n"
    "drop_stale_programs(Path(sys.argv[1]))\n"
    "from caller import two; print(two(1))\n"
)


def answer(folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", ASKED, str(folder)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_change_in_a_called_file_is_noticed(tmp_path: Path) -> None:
    """Catches a density that is still computed by the code before an update: numba compares the caller's file only."""
    (tmp_path / "called.py").write_text(CALLED.format(1))
    (tmp_path / "caller.py").write_text(CALLER)
    assert answer(tmp_path) == "2"
    (tmp_path / "called.py").write_text(CALLED.format(10))
    assert answer(tmp_path) == "11"


def test_programs_of_the_same_sources_are_kept(tmp_path: Path) -> None:
    """Catches a compilation at every start."""
    (tmp_path / "called.py").write_text(CALLED.format(1))
    assert drop_stale_programs(tmp_path)
    program = tmp_path / "__pycache__" / "x.nbi"
    program.write_bytes(b"")
    assert not drop_stale_programs(tmp_path)
    assert program.exists()
