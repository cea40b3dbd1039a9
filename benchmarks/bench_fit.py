"""Time of the Bayesian fit at full size, and the same data through bambi.

    python benchmarks/bench_fit.py [--logs DIR] [--cores 2] [--limit 3000]

Without ``--logs`` the logs of 29 models × 14,400 prompts are simulated. bambi runs in an environment of its own,
whose interpreter EVENHAND_BAMBI_PYTHON names; without it that part is skipped and says so. It gets the same
counts (one row per model, cell, template and form), the same columns, NUTS of nutpie, and as many CPU seconds as
``--limit`` allows. Results and machine go to ``benchmarks/results/bench_fit.json``.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_full_size import ROOT, STAGES, machine

HERE = Path(__file__).parent
BAMBI = "EVENHAND_BAMBI_PYTHON"
MOST_R_HAT = 1.01


def answer_of(command: list[str], *, limit: int | None = None) -> dict[str, object]:
    """Last line of what a command prints, as JSON; how it ended where it printed none.

    ``limit`` is in CPU seconds of all its threads, which a busy machine changes less than wall time.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=err, text=True)
        if limit is not None:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        lines, complaint = out.read().strip().splitlines(), err.read().strip()
    spent = {
        "process_s": round(time.perf_counter() - started, 1),
        "process_cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
    }
    if process.returncode in {-signal.SIGXCPU, -signal.SIGKILL} and limit is not None:
        return {"status": f"not finished after {limit} CPU s"} | spent
    if process.returncode or not lines:
        return {"status": f"ended with {process.returncode}: {complaint[-400:]}"}
    return json.loads(lines[-1]) | spent


def compared(own: dict[str, object], other: dict[str, object]) -> str:
    """The ratio of CPU times to an R-hat below the limit, in words."""
    if "cpu_s" not in own or other.get("status") == "skipped":
        return "no ratio"
    spent = other.get("cpu_s", other.get("process_cpu_s"))
    if spent is None:
        return "no ratio: bambi failed"
    ratio = float(spent) / float(own["cpu_s"])
    reached = float(other.get("max_r_hat", 9)) < MOST_R_HAT
    said = f"bambi / evenhand, CPU s: {'' if reached else 'at least '}{ratio:.1f} (R-hat < {MOST_R_HAT} {reached=})"
    if "min_ess_bulk" not in other:
        return said
    per_draw = [float(fit["min_ess_bulk"]) / float(fit["cpu_s"]) for fit in (own, other)]
    return f"{said}; CPU s per effective draw of the slowest quantity: {per_draw[0] / per_draw[1]:.0f}"


def main() -> None:
    """Run the stages and write what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--limit", type=int, default=3000, help="CPU seconds that bambi may take")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "bench_fit.json")
    args = parser.parse_args()
    stages = [sys.executable, str(HERE / "fit_stages.py")]
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        work = Path(folder)
        logs = args.logs or work / "logs"
        if args.logs is None:
            size = ["--models", "29", "--surfaces", "80", "--seed", "1"]
            subprocess.run([sys.executable, str(STAGES), "simulate", str(logs), str(work), *size], cwd=ROOT, check=True)
        found = {"machine": machine(), "data": answer_of([*stages, "facets", str(work), "--logs", str(logs)])}
        found["evenhand"] = answer_of([*stages, "fit", str(work), "--cores", str(args.cores)])
        python = os.environ.get(BAMBI)
        found["bambi"] = (
            answer_of([python, str(HERE / "fit_bambi.py"), str(work / "facets.csv"), str(args.cores)], limit=args.limit)
            if python
            else {"status": "skipped", "reason": f"{BAMBI} does not name an interpreter with bambi"}
        )
    found["ratio"] = compared(found["evenhand"], found["bambi"])
    found["command"] = f"python benchmarks/bench_fit.py --cores {args.cores} --limit {args.limit}"
    found["simulated"] = found["data"].get("simulated", False)
    args.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
