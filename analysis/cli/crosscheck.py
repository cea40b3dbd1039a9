"""``evenhand crosscheck``: a report's classical statistics, recomputed by independent libraries."""

import argparse
from pathlib import Path

#: How close two numbers have to be to count as agreeing.
TOLERANCES = {
    "statsmodels WLS": "allowed 1e-9",
    "statsmodels cluster (CR0)": "allowed: what the leverage adjustment of CR2 can move",
    "statsmodels Wilson": "allowed 1e-6",
    "statsmodels Holm": "allowed 1e-12",
    "pingouin Holm": "allowed 1e-12",
    "numpy means by unit": "allowed 1e-9",
    "pandas means": "allowed 1e-9",
    "scipy sign flips": "enumerated up to 14 units, else allowed: the Monte-Carlo error of both",
}


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("crosscheck", help="recompute a report's statistics with statsmodels and pingouin")
    parser.add_argument("report", type=Path, help="folder that `evenhand report` wrote")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print how many numbers agree, and each that does not; exit 1 when one differs."""
    from analysis.cli.main import printable
    from analysis.verification.crosscheck import crosscheck_report

    result = crosscheck_report(args.report)
    rows = result.rows
    if rows.empty:
        print("nothing to check: this report holds no statistics that are recomputed")
    for name, group in rows.groupby("checked_with", sort=True):
        agree, largest = int(group["ok"].sum()), group["difference"].max()
        allowed = TOLERANCES[str(name)]
        print(f"{name}: {agree} of {len(group)} numbers agree (largest difference {largest:.2g}, {allowed})")
    left = [*result.unchecked, "resampled intervals", "Bayesian columns", *result.without_units]
    print(f"not recomputed: {', '.join(left)}")
    if not result.pingouin:
        print("pingouin is not installed: its second opinion was left out (pip install 'evenhand[crosscheck]')")
    for row in rows[~rows["ok"]].itertuples():
        what = printable(f"{row.task} {row.model} {row.measure} {row.number}".strip())
        print(f"DIFFERS {what}: {row.ours:.6g} against {row.theirs:.6g} ({row.checked_with})")
    return 1 if result.n_different else 0
