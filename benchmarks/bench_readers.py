"""Readers of logs beside the ones that people would use instead, each run as a process of its own.

    python benchmarks/bench_readers.py [--rows 400000] [--samples 50000] [--repeats 1] [--out FILE.csv]

- ``json_lines``: a table of ``--rows`` responses as JSON Lines: ``evenhand import``, which reads the answers from the
  texts and writes Parquet; pandas ``read_json(lines=True)``, which reads no answers, with and without writing Parquet.
  pandas holds the whole table, about 1 GB for the 400,000 rows of the default and so some 10 GB for the 4 million that
  ``bench_import.py`` times: ``--rows 4000000`` compares at that size where there is so much memory.
- ``inspect``: one ``.eval`` log of ``--samples`` samples, made by Inspect AI: ``evenhand import``; Inspect's
  ``samples_df`` with the replies, and with its default columns, which hold no replies. Needs EVENHAND_HARNESS_PYTHON,
  a Python with inspect_ai (docs/formats/harness_check.md); left out without.

Writes ``benchmarks/results/readers.csv`` and, beside it, the same name with ``.json``: command, versions, machine.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from bench_full_size import Cost, cost_of, machine

HERE = Path(__file__).resolve().parent
VARIABLE = "EVENHAND_HARNESS_PYTHON"
#: Replies whose answer is a bare word, a sentence, or stands behind some reasoning, in turn.
REPLIES = (
    "Yes",
    "No.",
    "**Yes**, because every glim is a dorn and the premise says that all of them are counted here.",
    "The first premise rules that out. So the answer is no.",
    "Answer: yes",
    "It cannot be told from what is given.",
)
PANDAS = "import sys, pandas as pd; frame = pd.read_json(sys.argv[1], lines=True, dtype=False); "
PANDAS_COUNT = "print(f'    {len(frame):,} rows')"


@dataclass(frozen=True, slots=True)
class Timing:
    """Cost of one reader on one log; megabytes are 10^6 bytes, ``peak_mb`` that of the largest process."""

    log: str
    log_mb: float
    rows: int
    reader: str
    run: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    load: float


def write_rows(path: Path, rows: int) -> None:
    """A judgement study of 2,000 questions as JSON Lines, about 210 bytes a row."""
    with path.open("w", encoding="utf-8") as stream:
        for number in range(rows):
            model, question = divmod(number, 2000)
            negated = question % 2
            row = {
                "model": f"provider-{model % 7}/model-{model}",
                "task": "twins",
                "item": f"q{question:05d}",
                "unit": f"u{question // 2:05d}",
                "validity": "valid" if question % 4 < 2 else "invalid",
                "polarity": "negated" if negated else "affirmative",
                "gold": "no" if (question % 4 < 2) == bool(negated) else "yes",
                "output": REPLIES[(number * 7 + model) % len(REPLIES)],
            }
            stream.write(json.dumps(row) + "\n")


def json_lines_readers(path: Path, folder: Path) -> dict[str, list[str]]:
    """Command by reader."""
    parquet = f"frame.to_parquet({str(folder / 'pandas.parquet')!r}); "
    return {
        "evenhand import": evenhand(path, folder),
        "pandas read_json": [sys.executable, "-c", PANDAS + PANDAS_COUNT, str(path)],
        "pandas read_json, to_parquet": [sys.executable, "-c", PANDAS + parquet + PANDAS_COUNT, str(path)],
    }


def inspect_readers(path: Path, folder: Path, python: str) -> dict[str, list[str]]:
    """Command by reader."""
    script = str(HERE / "inspect_reader.py")
    return {
        "evenhand import": evenhand(path, folder),
        "samples_df with replies": [python, script, "replies", str(path)],
        "samples_df, default columns (no replies)": [python, script, "summaries", str(path)],
    }


def evenhand(path: Path, folder: Path) -> list[str]:
    """The import of one log."""
    return [sys.executable, "-m", "analysis", "import", str(path), "-o", str(folder / "evenhand.parquet")]


def timings(log: str, path: Path, rows: int, readers: dict[str, list[str]], repeats: int) -> list[Timing]:
    """Run every reader ``repeats`` times, in turn, and print what it cost."""
    size, found = path.stat().st_size / 1e6, []
    print(f"{log}: {rows:,} rows, {size:,.0f} MB")
    for run in range(1, repeats + 1):
        for reader, command in readers.items():
            load = os.getloadavg()[0]
            cost = cost_of(command)
            if cost.status:
                raise SystemExit(f"{reader} failed on {path.name} with status {cost.status}")
            print(f"  {reader:<42} {cost.wall:7.2f} s wall {cost.cpu:7.2f} s CPU {cost.peak:6.0f} MB")
            found.append(timing(log, size, rows, reader, run, cost, load))
    return found


def timing(log: str, size: float, rows: int, reader: str, run: int, cost: Cost, load: float) -> Timing:
    """A row of the results, rounded to what the clock tells."""
    return Timing(
        log,
        round(size, 1),
        rows,
        reader,
        run,
        round(cost.wall, 2),
        round(cost.cpu, 2),
        round(cost.peak),
        round(load, 1),
    )


def write_results(out: Path, found: list[Timing], argv: list[str], inspect_version: str) -> None:
    """The timings, and beside them how they came about."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(asdict(found[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in found)
    hardware, software = machine().split("\n")
    about = {
        "command": " ".join(["python benchmarks/bench_readers.py", *argv]),
        "machine": hardware,
        "versions": f"{software}, inspect_ai {inspect_version}" if inspect_version else software,
        "note": "load is the run queue when a reader began: on a busy machine compare CPU seconds, not wall time",
    }
    out.with_suffix(".json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the logs, time the readers, save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "readers.csv")
    args = parser.parse_args(argv)
    python, found, inspect_version = os.environ.get(VARIABLE), [], ""
    print(machine())
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as name:
        folder = Path(name)
        rows = folder / "responses.jsonl"
        write_rows(rows, args.rows)
        found += timings("json_lines", rows, args.rows, json_lines_readers(rows, folder), args.repeats)
        if python:
            subprocess.run(
                [python, str(HERE / "inspect_reader.py"), "write", str(folder), str(args.samples)], check=True
            )
            log = folder / "large.eval"
            found += timings("inspect", log, args.samples, inspect_readers(log, folder, python), args.repeats)
            asked = [python, "-c", "import importlib.metadata as m; print(m.version('inspect_ai'))"]
            inspect_version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        else:
            print(f"inspect: left out, {VARIABLE} names no Python with inspect_ai")
    write_results(args.out, found, argv, inspect_version)
    print(f"written: {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
