"""The evidence for the methods, as tables of what ``make calibrate`` and ``make bench`` wrote."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One file of results: what it shows, and how its rows become the rows of a table."""

    stem: str
    title: str
    says: str
    rows: Callable[[pd.DataFrame], pd.DataFrame]


def _columns(*names: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda table: table[[name for name in names if name in table.columns]]


def _floor_coverage(table: pd.DataFrame) -> pd.DataFrame:
    """Least, median and most coverage over the regimes of a measure, interval and layout of units."""
    covered = table[table["coverage"].notna()].copy()
    covered["units serve"] = covered["split"].map(lambda split: "all cells" if pd.isna(split) else "one kind of cell")
    grouped = covered.groupby(["measure", "method", "units serve"], sort=True)
    return grouped.agg(
        regimes=("coverage", "size"),
        least=("coverage", "min"),
        median=("coverage", "median"),
        most=("coverage", "max"),
        in_band=("in_band", "mean"),
    ).reset_index()


def _rejections(table: pd.DataFrame) -> pd.DataFrame:
    """Least and most rejection rate of the floor tests by case."""
    tests = table[table["rejected"].notna()]
    grouped = tests.groupby(["measure", "case"], sort=True)
    return grouped.agg(regimes=("rejected", "size"), least=("rejected", "min"), most=("rejected", "max")).reset_index()


def _ranks(table: pd.DataFrame) -> pd.DataFrame:
    return table[["quantity", "simulations", "ks_p_holm", "chi2_p_holm", "mean_rank", "coverage_95"]]


EVIDENCE = (
    Evidence(
        "floor_coverage",
        "Coverage of the intervals of rates, floors and differences",
        "Nominal .95; least, median and most over the simulated regimes of one kind; `in_band` is the share of "
        "regimes within the accepted band of .928 to .972.",
        _floor_coverage,
    ),
    Evidence(
        "floor_coverage",
        "Rejection rates of the tests of the floor",
        "Nominal .05; where the floor is .5 the rate is the size of the test.",
        _rejections,
    ),
    Evidence(
        "deviate_coverage",
        "Coverage of the intervals of d' and c",
        "Nominal .95, in the same regimes; an interval that is open on a side covers whatever lies there.",
        _floor_coverage,
    ),
    Evidence(
        "test_sizes",
        "Size, power and coverage of paired tests, factors and pairwise comparisons",
        "One row per simulated regime, method and quantity; the band is derived from the number of replicates.",
        _columns("regime", "method", "quantity", "estimate", "replicates", "band_low", "band_high"),
    ),
    Evidence(
        "planning_power",
        "Power that planning predicts",
        "Beside the share of simulated studies in which the report's own test rejects.",
        _columns("question", "design", "effect", "predicted", "simulated", "mc_error", "replicates"),
    ),
    Evidence(
        "persistent_coverage",
        "Persistent incoherence by moments",
        "Coverage at .95 and size at .05, by the true persistent part and the kind of noise.",
        _columns("truth", "noise", "quantity", "value", "low", "high", "replicates"),
    ),
    Evidence(
        "bias_coverage",
        "Intervals of the hierarchical model of answer bias",
        "Coverage, mean width and error beside the frequentist column on the same simulated data sets.",
        _columns("design", "measure", "method", "intervals", "coverage", "coverage_se", "width", "rmse", "divergences"),
    ),
    Evidence(
        "bias_agreement",
        "How often the two schools decide alike",
        "On the same simulated data sets: rows with the same decision, also among models whose cells all lie inside, "
        "and the verdicts that a report would print.",
        _columns(
            "design",
            "measure",
            "rows",
            "decisions_alike",
            "interior_rows",
            "interior_alike",
            "verdict_agree",
            "verdict_explained",
            "verdict_differ",
        ),
    ),
    Evidence(
        "bias_sbc",
        "Simulation-based calibration of the model of counts",
        "Parameters are drawn from the prior, data from the model, and the rank of the truth among the draws should be "
        "uniform; p-values are adjusted by Holm over all quantities.",
        _ranks,
    ),
    Evidence(
        "bias_sbc_units",
        "Simulation-based calibration of the model of estimates by unit",
        "As above, where units are asked more than once.",
        _ranks,
    ),
    Evidence(
        "bias_sbc_families",
        "Simulation-based calibration of the model of estimates by unit with families of models",
        "As above, for eight models in four families.",
        _ranks,
    ),
    Evidence(
        "incoherence_sbc",
        "Simulation-based calibration of the models of incoherence",
        "SSL: spike and slab linked to the noise; N: normal.",
        _columns("model", "quantity", "simulations", "p_adjusted", "coverage", "coverage_nominal", "passed"),
    ),
    Evidence(
        "incoherence_regimes",
        "Estimators of persistent incoherence over regimes",
        "Bias and error by estimator; `hit_rate` is how often incoherence is said to be present.",
        _columns("regime", "model", "simulations", "bias", "rmse", "coverage_these", "coverage_population", "hit_rate"),
    ),
    Evidence(
        "incoherence_hierarchy_sbc",
        "Simulation-based calibration of the prototype that pools incoherence over models",
        "Four models of 25 instances; `with_divergences` is the share of fits that could not be printed.",
        _columns("quantity", "simulations", "p_adjusted", "coverage", "coverage_nominal", "with_divergences", "passed"),
    ),
    Evidence(
        "incoherence_hierarchy_regimes",
        "Incoherence of several models at once against one by one",
        "The prototype that pools beside SSL and N; `sets` are simulated data sets of seven models.",
        _columns("regime", "of", "fit", "sets", "bias", "rmse", "width", "coverage", "cpu", "with_divergences"),
    ),
    Evidence(
        "measurement_sbc",
        "Simulation-based calibration of the model of single answers",
        "Coherent beliefs, what breaks them, noise by kind of question, answers at the clip censored.",
        _columns("quantity", "simulations", "p_adjusted", "coverage", "coverage_nominal", "passed"),
    ),
    Evidence(
        "measurement_responders",
        "Single answers: model beside moments",
        "Simulated responders of known noise and violation; answers of two decimals.",
        _columns("responder", "quantity", "estimator", "simulations", "truth", "bias", "rmse", "coverage"),
    ),
    Evidence(
        "bias_scaling",
        "Cost of the hierarchical model by number of models",
        "Time of a gradient, of the first approximation, and of whole fits with their gates.",
        _columns(
            "models",
            "parameters",
            "gradient_ms",
            "approximation_s",
            "fit_status",
            "fit_cpu_s",
            "fit_cpu_s_per_model",
            "divergences",
            "largest_r_hat",
            "smallest_ess",
        ),
    ),
    Evidence(
        "trajectories",
        "Exact trajectories of large models against the plain leapfrog",
        "Differences of the two over their Monte-Carlo errors; equal targets give a standard deviation of 1.",
        _columns("statistic", "quantities", "mean_quotient", "sd_quotient", "largest"),
    ),
    Evidence(
        "readers",
        "Cost of reading logs",
        "Beside other readers of the same files; compare CPU seconds, since the machine had other work.",
        _columns("log", "log_mb", "rows", "reader", "cpu_s", "wall_s", "peak_mb", "load"),
    ),
)


def evidence_tables() -> str:
    """Markdown: one section per table, with the command that made it."""
    return "\n".join(part for evidence in EVIDENCE for part in _section(evidence))


def _section(evidence: Evidence) -> Iterator[str]:
    table = evidence.rows(pd.read_csv(RESULTS / f"{evidence.stem}.csv"))
    record = json.loads((RESULTS / f"{evidence.stem}.json").read_text(encoding="utf-8"))
    yield f"## {evidence.title}\n"
    yield f"{evidence.says}\n"
    yield f"| {' | '.join(str(name).replace('_', ' ') for name in table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    for row in table.itertuples(index=False, name=None):
        yield f"| {' | '.join(map(_cell, row))} |"
    yield f"\nSimulated data or timings, made by `{record['command']}`.\n"


def _cell(value: object) -> str:
    if pd.isna(value):
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
