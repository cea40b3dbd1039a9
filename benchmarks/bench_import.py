"""Time and memory of taking in 4 million JSON Lines rows, answers re-read from their texts, as standard Parquet.

The rows are drawn by the simulator's texts: short and long replies, refusals and replies without an answer; each long
text is made different by a number in it, so that every one of them is read. The command measured is
``python -m analysis import --reread``; memory is that of all its processes together, sampled.

``--rows`` changes the size, ``--logs`` uses a file that is there already, ``--keep`` leaves the rows in place.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from analysis.simulation.answer_texts import NO, REFUSED, TRUNCATED, UNPARSED, YES, answer_texts

ROOT = Path(__file__).resolve().parents[1]
GOAL_SECONDS, GOAL_MEGABYTES = 60.0, 1000.0
CHUNK = 50_000
SHARES = {YES: 0.46, NO: 0.46, UNPARSED: 0.05, REFUSED: 0.015, TRUNCATED: 0.015}


def write_rows(path: Path, rows: int, seed: int) -> None:
    """Write the logs to be timed."""
    rng = np.random.default_rng(seed)
    codes = np.array(list(SHARES), np.int8)
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, rows, CHUNK):
            n = min(CHUNK, rows - start)
            outcome = rng.choice(codes, size=n, p=list(SHARES.values())).astype(np.int8)
            texts = answer_texts(rng, outcome).to_pylist()
            gold = rng.random(n) < 0.5
            stream.write("".join(_line(start + at, texts[at], bool(gold[at])) for at in range(n)))


def _line(number: int, text: str, gold: bool) -> str:
    """One response; a long text gets a number of its own in its middle."""
    if len(text) > 60:
        middle = text.find(" ", len(text) // 2)
        text = f"{text[:middle]} (case {number}){text[middle:]}"
    row = {
        "model": f"lab/model-{number % 29}",
        "task": "operators",
        "item": f"q{number // 29}",
        "gold": "yes" if gold else "no",
        "output": text,
        "strategy": "direct",
    }
    return json.dumps(row) + "\n"


def measured(command: list[str]) -> tuple[float, float, float, int]:
    """Wall seconds, CPU seconds of all processes, peak megabytes of all of them together, exit status."""
    before = os.times()
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, tree_megabytes(process.pid))
        time.sleep(0.1)
    wall, after = time.perf_counter() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, peak, process.returncode


def tree_megabytes(root: int) -> float:
    """Memory of a process and its descendants; pages that they share are counted once where the system tells."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(folder.name))
    total, waiting = 0.0, [root]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        total += _proportional_megabytes(process)
    return total


def _proportional_megabytes(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def main() -> None:
    """Write the rows, take them in, print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="JSON Lines file that is there already")
    parser.add_argument("--keep", type=Path, help="write the rows here and leave them")
    args = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").is_file():
        sys.exit("this benchmark reads memory from /proc and runs on Linux only")
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        logs = args.logs or args.keep or Path(folder) / "log.jsonl"
        if args.logs is None:
            write_rows(logs, args.rows, args.seed)
        print(f"{logs.stat().st_size / 1e6:,.0f} MB of JSON Lines; {platform.machine()}, load {os.getloadavg()[0]:.1f}")
        store = Path(folder) / "store.parquet"
        command = [sys.executable, "-m", "analysis", "import", str(logs), "--reread", "-o", str(store)]
        wall, cpu, peak, status = measured(command)
        if status:
            sys.exit(f"import ended with exit status {status}")
        print(
            f"wall {wall:.1f} s (goal {GOAL_SECONDS:.0f} s), CPU {cpu:.1f} s, "
            f"peak {peak:.0f} MB (goal {GOAL_MEGABYTES:.0f} MB)"
        )
        print(f"store {store.stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
