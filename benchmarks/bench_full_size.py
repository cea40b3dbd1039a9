"""Time of a whole report at full size: 29 models × 14,320 prompts, 415,280 responses as JSON Lines.

Each stage runs in a process of its own, so that its peak memory is its own (this one stays small, because
a new process starts with the peak of the one that made it):

- ``simulate``: writing the logs;
- ``report``: ``python -m analysis report``, from the logs to the page, into a folder without kept fits;
- ``second``: the same command once more, where nothing changed;
- ``again``: the same with ``--again``, made anew with the kept fits;
- ``import``: reading the logs into the store;
- ``reduction``: design, counts, sums by unit and exclusions from the store.

``make bench`` runs all of them; ``--models`` and ``--surfaces`` change the size, ``--logs`` uses logs
that are there already. At the default size the costs go to ``results/full_size.json``, or where ``--results`` says.
"""

import argparse
import json
import os
import platform
import shutil
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
RESULTS = Path(__file__).parent / "results" / "full_size.json"
#: Most seconds of wall time by stage, and most megabytes of a report.
GOAL_SECONDS = {"report": 90.0, "second": 15.0}
GOAL_MEGABYTES = 2000.0
#: Stages in the order in which they need each other.
ORDER = ("report", "second", "again", "import", "reduction")
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
    if name in ("report", "second", "again"):
        options = ["--quiet", "--again"] if name == "again" else ["--quiet"]
        return [sys.executable, "-m", "analysis", "report", str(logs), "--out", str(work / "report"), *options]
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
    parser.add_argument("--stages", nargs="+", choices=ORDER, default=list(ORDER), help="second and again need report")
    parser.add_argument("--results", type=Path, help="file of the costs (default at full size: results/full_size.json)")
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
        if not args.logs and timed("simulate", logs, Path(folder), args, repeats=1).status:
            return 1
        files = [p for p in logs.iterdir() if p.is_file()] if logs.is_dir() else [logs]
        print(f"logs: {sum(p.stat().st_size for p in files) / 1e6:.0f} MB in {len(files)} files")
        stages = [name for name in ORDER if name in args.stages]
        costs = {name: timed(name, logs, Path(folder), args, repeats=args.repeats) for name in stages}
    full = not args.logs and (args.models, args.surfaces) == (29, 80)
    if (results := args.results or (RESULTS if full else None)) is not None:
        results.write_text(json.dumps(told(costs, args), indent=2) + "\n", encoding="utf-8")
    return int(any(cost.status or missed(name, cost) for name, cost in costs.items()))


def timed(name: str, logs: Path, folder: Path, args: argparse.Namespace, *, repeats: int) -> Cost:
    """Print and return the median cost of one stage."""
    costs = []
    for _ in range(repeats):
        if name == "report":  # anew each time: neither the report nor its fits are there
            shutil.rmtree(folder / "report", ignore_errors=True)
        costs.append(cost_of(stage(name, logs, folder, args)))
    status = max((cost.status for cost in costs), key=abs)
    wall, cpu, peak = (statistics.median(getattr(cost, key) for cost in costs) for key in ("wall", "cpu", "peak"))
    cost = Cost(wall, cpu, peak, status)
    if status:
        print(f"{name:<10} failed with status {status}")
        return cost
    limit = f"{GOAL_SECONDS[name]:.0f} s, {GOAL_MEGABYTES:.0f} MB" if name in GOAL_SECONDS else ""
    goal = f" (goal {limit}: {'missed' if missed(name, cost) else 'met'})" if limit else ""
    print(f"{name:<10} {cost.wall:6.2f} s wall, {cost.cpu:6.2f} s CPU, peak {cost.peak:5.0f} MB{goal}")
    return cost


def missed(name: str, cost: Cost) -> bool:
    """Whether a stage that has a goal took longer, or held more in memory."""
    return name in GOAL_SECONDS and (cost.wall > GOAL_SECONDS[name] or cost.peak > GOAL_MEGABYTES)


def told(costs: dict[str, Cost], args: argparse.Namespace) -> dict[str, object]:
    """Machine, size, goals and costs, as JSON holds them."""
    return {
        "machine": machine().splitlines(),
        "models": args.models,
        "surfaces": args.surfaces,
        "repeats": args.repeats,
        "goal_seconds": GOAL_SECONDS,
        "goal_megabytes": GOAL_MEGABYTES,
        "stages": {
            name: {
                "wall_seconds": round(cost.wall, 2),
                "cpu_seconds": round(cost.cpu, 2),
                "peak_megabytes": round(cost.peak),
                "met": not cost.status and not missed(name, cost) if name in GOAL_SECONDS else None,
            }
            for name, cost in costs.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
