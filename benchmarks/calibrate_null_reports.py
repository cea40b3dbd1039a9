"""False claims of whole reports on logs in which there is nothing to find.

    python benchmarks/calibrate_null_reports.py [--studies 200] [--seed 20260801] [--out FILE.csv]

Every study is a small benchmark on probability operators: surfaces move all answers to them, in part for all models
alike, and nothing else does. Half of the studies have coins for models (every accuracy .5, floor .5), half have models
that are right in 70 % of every cell, with 3 % unreadable answers. Each is written as logs, read and reported without
the Bayesian columns; then the claims of the report are counted by kind. ``benchmarks/results/null_reports.csv`` has a
row per kind: the error rate that the report states, the rate seen, and the probability of seeing as much or more if
the stated rate were true (``p_more``: binomial over reports for families; for single claims, which are not independent
within a report, by the t distribution over the shares of the reports). ``more`` marks kinds whose ``p_more`` is below
.05 after Holm's adjustment over all kinds with a stated rate.

``--levels`` makes the same studies again and of their reports only the estimates by level of a factor, at a quarter of
the time: the rows of these kinds are replaced, and the file beside the results says so.
"""

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from null_claims import Claims, level_claims, null_claims
from scipy.stats import binom
from scipy.stats import t as student

from analysis.frequentist.factor_levels import level_estimates, treated
from analysis.frequentist.multiplicity import holm
from analysis.provenance import Clock
from analysis.reduction.levels import factors_with_levels, level_arrays
from analysis.simulation.operator_settings import model_sizes
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.responders import Responder
from analysis.simulation.write_logs import write_logs
from analysis.studies.context import Resampling
from analysis.studies.factors import ELSEWHERE, unit_counts
from analysis.studies.prepared import RunSettings, prepared
from analysis.studies.run import run_report

MODELS = 5
#: Studies after which the results so far are written.
BLOCK = 20
#: Accuracy of every cell and share of unreadable answers.
REGIMES = {"coins": (0.5, 0.0), "able": (0.7, 0.03)}


def null_study(regime: str) -> ProbabilityOperators:
    """Design in which no model, class, form, template or level differs from another."""
    accuracy, uncertain = REGIMES[regime]
    return ProbabilityOperators(
        responders=tuple(
            Responder(
                f"{regime}-{m + 1}", *(accuracy,) * 4, uncertain_yes=uncertain, uncertain_no=uncertain
            )
            for m in range(MODELS)
        ),
        surfaces=30,
        valid_templates=3,
        invalid_templates=3,
        forms=("truth", "direct", "follow"),
        template_sd=0.0,
        form_sd=0.0,
        surface_yes_sd=0.8,
        surface_difficulty_sd=0.5,
        follow_pull=0.0,
        not_pull=0.0,
        sizes=model_sizes(MODELS),
    )  # fmt: skip


def claims_of_study(regime: str, seed: int) -> list[Claims]:
    """Claims of the report on one study."""
    logs = simulate_probability_operators(np.random.default_rng(seed), null_study(regime))
    with tempfile.TemporaryDirectory() as folder:
        write_logs(logs, Path(folder) / "logs", fmt="parquet", seed=seed)
        settings = RunSettings(resampling=Resampling(flips=1999, resamples=999, seed=seed))
        content = run_report([Path(folder) / "logs"], settings)
    return null_claims(content, logs.truth, coin=regime == "coins")


def level_claims_of_study(regime: str, seed: int) -> list[Claims]:
    """Claims of the same report on levels of factors, without its other parts."""
    logs = simulate_probability_operators(np.random.default_rng(seed), null_study(regime))
    with tempfile.TemporaryDirectory() as folder:
        write_logs(logs, Path(folder) / "logs", fmt="parquet", seed=seed)
        with prepared([Path(folder) / "logs"], RunSettings(), Clock()) as ready:
            (context,) = ready.contexts
            counts = unit_counts(context)
            factors = [f for f in factors_with_levels(context.design, counts) if f not in ELSEWHERE]
            rows = [
                level_estimates(treated(level_arrays(counts, f), uncertain=context.design.uncertain)) for f in factors
            ]
    return list(level_claims(pd.concat(rows, ignore_index=True)))


def claims_table(
    studies: Iterable[int], seed: int, claims: Callable[[str, int], list[Claims]] = claims_of_study
) -> pd.DataFrame:
    """Claims of every study, a row per study and kind; even studies have coins."""
    regimes = tuple(REGIMES)
    rows = []
    for study in studies:
        regime = regimes[study % 2]
        found = claims(regime, seed + study)
        rows += [
            {"study": study, "regime": regime, "kind": c.kind, "stated": c.stated, "per": c.per}
            | {"possible": c.possible, "false": c.false}
            for c in found
        ]
    return pd.DataFrame(rows)


def judged(claims: pd.DataFrame) -> pd.DataFrame:
    """One row per kind: claims, false ones, their rate beside the stated one, and the verdict."""
    rows = []
    for (kind, per), group in claims[claims["possible"] > 0].groupby(["kind", "per"], sort=False):
        stated, reports = float(group["stated"].iloc[0]), len(group)
        wrong = group["false"] > 0 if per == "report" else group["false"] / group["possible"]
        rate = float(wrong.mean())
        rows.append(
            {
                "kind": kind,
                "per": per,
                "reports": reports,
                "claims": int(group["possible"].sum()),
                "false": int(group["false"].sum()),
                "reports_with_false": int((group["false"] > 0).sum()),
                "stated": stated,
                "rate": rate,
                "p_more": np.nan if np.isnan(stated) else _p_more(wrong.to_numpy(float), stated, per),
            }
        )
    return with_verdicts(pd.DataFrame(rows))


def with_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Kinds with their p-values adjusted over all of them."""
    known = table["p_more"].notna()
    adjusted = pd.Series(np.nan, index=table.index)
    adjusted[known] = holm(table.loc[known, "p_more"].to_numpy())
    return table.assign(p_more_adjusted=adjusted, more=adjusted < 0.05)


def _p_more(wrong: np.ndarray, stated: float, per: str) -> float:
    """Probability of at least so many false claims if the stated rate were true."""
    if per == "report":
        return float(binom.sf(wrong.sum() - 1, len(wrong), stated))
    spread = wrong.std(ddof=1) if len(wrong) > 1 else 0.0
    if spread == 0:
        return float(wrong.mean() <= stated)
    return float(student.sf((wrong.mean() - stated) / (spread / np.sqrt(len(wrong))), len(wrong) - 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "null_reports.csv")
    parser.add_argument("--levels", action="store_true", help="re-make only the kinds on levels of factors")
    args = parser.parse_args()
    if args.levels:
        replace_levels(args.out, args.studies, args.seed)
        return
    args.out.parent.mkdir(parents=True, exist_ok=True)
    found: list[pd.DataFrame] = []
    for first in range(0, args.studies, BLOCK):
        found.append(claims_table(range(first, min(first + BLOCK, args.studies)), args.seed))
        written(judged(pd.concat(found, ignore_index=True)), args.out, min(first + BLOCK, args.studies), args.seed)


def replace_levels(out: Path, studies: int, seed: int) -> None:
    """Replace the kinds on levels of factors in results that exist."""
    found = judged(claims_table(range(studies), seed, level_claims_of_study)).set_index("kind")
    table = pd.read_csv(out)
    table = table.set_index("kind")
    missing = set(found.index) - set(table.index)
    if missing:
        raise SystemExit(f"{out} has no {', '.join(sorted(missing))}: make all kinds first")
    for name in ("reports", "claims", "false", "reports_with_false", "stated", "rate", "p_more"):
        table.loc[found.index, name] = found[name]
    table = with_verdicts(table.drop(columns=["p_more_adjusted", "more"]).reset_index())
    table.round(5).to_csv(out, index=False)
    note = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    note["kinds_with_more"] = sorted(table.loc[table["more"], "kind"])
    note["levels_made_again"] = {
        "command": f"python benchmarks/calibrate_null_reports.py --levels --studies {studies} --seed {seed}",
        "kinds": list(found.index),
        "cpu_seconds": round(time.process_time(), 1),
    }
    out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    print(found[["claims", "false", "stated", "rate", "p_more"]].to_string())


def written(table: pd.DataFrame, out: Path, studies: int, seed: int) -> None:
    """Write what the studies so far show, so that a run cut short is not lost."""
    table.round(5).to_csv(out, index=False)
    more = table[table["more"]]
    note = {
        "command": f"python benchmarks/calibrate_null_reports.py --studies {studies} --seed {seed}",
        "versions": {name: version(name) for name in ("numpy", "scipy", "pandas", "duckdb")}
        | {"python": platform.python_version()},
        "kinds_with_a_stated_rate": int(table["stated"].notna().sum()),
        "kinds_with_more": sorted(more["kind"]),
        "cpu_seconds": round(time.process_time(), 1),
    }
    out.with_suffix(".json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    shown = ["kind", "per", "claims", "false", "stated", "rate", "p_more"]
    print(f"{studies} reports, {note['cpu_seconds']} CPU seconds: {out}")
    print(more[shown].to_string(index=False) if len(more) else "no kind of claim is false more often than stated")


if __name__ == "__main__":
    main()
