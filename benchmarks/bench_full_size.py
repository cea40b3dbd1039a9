"""Time of a whole report at full size: 29 models × 14,320 prompts, 415,280 responses as JSON Lines.

Each stage runs in a process of its own, so that its peak memory is its own (this one stays small, because
a new process starts with the peak of the one that made it):

- ``simulate``: writing the logs;
- ``report``: ``python -m analysis report``, from the logs to the page;
- ``import``: reading the logs into the store;
- ``reduction``: design, counts, sums by unit and exclusions from the store.

``make bench`` runs all of them; ``--models`` and ``--surfaces`` change the size, ``--logs`` uses logs
that are there already.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGES = Path(__file__).with_name("full_size_stages.py")
GOAL_SECONDS, GOAL_MEGABYTES = 25.0, 1000.0
LIBRARIES = ("numpy", "pandas", "pyarrow", "duckdb", "scipy", "matplotlib")


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall time, CPU time of user and system in seconds, peak resident memory in megabytes, exit status."""

    wall: float
    cpu: float
    peak: float
    status: int


def cost_of(command: list[str]) -> Cost:
    """Run a command as a new process and measure it alone."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, process.returncode)


def stage(name: str, logs: Path, work: Path, args: argparse.Namespace) -> list[str]:
    """Command line of one stage."""
    if name == "report":
        return [sys.executable, "-m", "analysis", "report", str(logs), "--out", str(work / "report"), "--quiet"]
    size = ["--models", str(args.models), "--surfaces", str(args.surfaces), "--seed", str(args.seed)]
    return [sys.executable, str(STAGES), name, str(logs), str(work), *size]


def machine() -> str:
    """Processor, cores, memory and versions, in three lines."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return (
        f"{platform.system()} {platform.machine()}, {processor()}, {cores} cores, {memory:.0f} GiB; load {load}\n"
        f"Python {platform.python_version()}, {libraries}"
    )


def processor() -> str:
    """Model of the processor, where the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=29)
    parser.add_argument("--surfaces", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="use these logs; nothing is simulated")
    parser.add_argument(
        "--stages", nargs="+", choices=("report", "import", "reduction"), default=["report", "import", "reduction"]
    )
    parser.add_argument(
        "--repeats", type=int, default=1, help="runs of each stage; the median is compared with the goal"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Time the stages; 1 where one fails or the report misses its goal."""
    args = parse(argv)
    print(machine())
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        logs = args.logs or Path(folder) / "logs"
        if not args.logs and timed("simulate", logs, Path(folder), args, repeats=1):
            return 1
        files = [p for p in logs.iterdir() if p.is_file()] if logs.is_dir() else [logs]
        print(f"logs: {sum(p.stat().st_size for p in files) / 1e6:.0f} MB in {len(files)} files")
        return max([timed(name, logs, Path(folder), args, repeats=args.repeats) for name in args.stages])


def timed(name: str, logs: Path, folder: Path, args: argparse.Namespace, *, repeats: int) -> int:
    """Print the cost of one stage; 1 where it fails or misses its goal."""
    costs = [cost_of(stage(name, logs, folder, args)) for _ in range(repeats)]
    if any(cost.status for cost in costs):
        print(f"{name:<10} failed with status {max(cost.status for cost in costs)}")
        return 1
    wall, cpu, peak = (statistics.median(getattr(cost, key) for cost in costs) for key in ("wall", "cpu", "peak"))
    missed = name == "report" and (wall > GOAL_SECONDS or peak > GOAL_MEGABYTES)
    goal = (
        f" (goal {GOAL_SECONDS:.0f} s, {GOAL_MEGABYTES:.0f} MB: {'missed' if missed else 'met'})"
        if name == "report"
        else ""
    )
    print(f"{name:<10} {wall:6.2f} s wall, {cpu:6.2f} s CPU, peak {peak:5.0f} MB{goal}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
