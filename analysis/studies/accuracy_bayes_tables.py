"""Tables of accuracies by both schools: comparison, differences, ranks, sds of items and models, checks, priors."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from analysis.bayes.accuracy_priors import AccuracyPriors, prior_table
from analysis.bayes.accuracy_result import ALL, AccuracyFit
from analysis.bayes.prior_settings import ACCURACY as ACCURACY_PRIOR
from analysis.comparison.accuracy_schools import ACCURACY, DIFFERENCE, AccuracySchools
from analysis.comparison.schools import Thresholds
from analysis.report.columns import Count, Estimate, Interval, Number, Proportion, Signed, Text
from analysis.report.numbers import fixed
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.comparison_table import (
    CONCLUSIONS,
    DECISION_SPANNER,
    DECISIONS,
    DIFFERENCE_SPANNER,
    DIFFERENCES,
    UNEXPLAINED_ROWS,
    missing_reasons,
    reasons_legend,
)
from analysis.studies.wide_table import table_name, titled

_LIMITS: Final = Thresholds()
#: Measure of all models -> its words.
_SPREADS: Final = {
    "sd_items": "sd of items (log-odds)",
    "sd_models": "sd between models (log-odds)",
    "share_units": "share of the items' variance that units have in common",
    "sd_reactions": "sd of what units are to single models (log-odds)",
    "log_concentration": "log concentration of samples of one item",
}


def accuracy_schools_table(
    design: TaskDesign, found: AccuracySchools, estimates: pd.DataFrame, labels: Mapping[str, str], *, mark: str = ""
) -> Table:
    """Three columns on the accuracy of each model, with verdict and reason."""
    own = estimates.loc[estimates["measure"] == ACCURACY, ["model", "ci_method", "ci_level", "n", "n_clusters", "unit"]]
    rows = found.comparison[found.comparison["measure"] == ACCURACY]
    rows = rows.merge(own.assign(model=own["model"].astype(str)), on="model", how="left")
    rows = _prepared(rows).assign(
        label=[labels.get(str(model), str(model)) for model in rows["model"]], unpooled_method="jeffreys"
    )
    spec = TableSpec(
        table_name("accuracy_schools", design),
        title=titled("Accuracy, frequentist and Bayesian", design, mark),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Frequentist", digits=3),
            Estimate("unpooled_estimate", "By itself", low="unpooled_ci_low", high="unpooled_ci_high",
                     method="unpooled_method", digits=3),
            *_COMPARED,
            *CONCLUSIONS,
            Count("n", "Questions"),
        ),
        spanners=(DIFFERENCE_SPANNER,),
        order=("-estimate", "label"),
        note="Hierarchical: these models, new items like these. By itself: beta posterior of one model. " + _note(rows),
        bold_where=UNEXPLAINED_ROWS,
    )  # fmt: skip
    return Table(spec, rows, simulated=design.simulated)


def accuracy_differences_table(
    design: TaskDesign, found: AccuracySchools, labels: Mapping[str, str], *, ci_level: float, mark: str = ""
) -> Table | None:
    """Both columns on the differences to the best model; None without a second model."""
    rows = found.comparison[found.comparison["measure"] == DIFFERENCE]
    if rows.empty:
        return None
    sizes = found.differences[["model", "n", "n_clusters", "reason"]].rename(columns={"reason": "own_reason"})
    rows = _prepared(rows.merge(sizes, on="model", how="left"))
    named = [[labels.get(str(m), str(m)) for m in rows[name]] for name in ("first", "second")]
    rows = rows.assign(
        label=[f"{a} − {b}" for a, b in zip(*named, strict=True)],
        ci_method="square-and-add of cluster Wilson (t)",
        ci_level=ci_level,
        unit=design.unit,
    )
    spec = TableSpec(
        table_name("accuracy_difference_schools", design),
        title=titled("Differences to the best model, frequentist and Bayesian", design, mark),
        columns=(
            Text("label", "Best − other"),
            Estimate("estimate", "Frequentist", digits=3, signed=True),
            *_COMPARED_SIGNED,
            *DECISIONS,
            Count("n", "Questions"),
        ),
        spanners=(DIFFERENCE_SPANNER, DECISION_SPANNER),
        order=("estimate", "label"),
        note=(
            "Frequentist: over the questions that both models have; hierarchical: on new items. The best model is "
            "picked by the same data. Decisions: frequentist by the interval; Bayesian where the posterior probability "
            f"of lying more than {fixed(_LIMITS.rope, 2)} beyond 0 exceeds {_LIMITS.credibility:g}, negligible where "
            f"that of lying within {fixed(_LIMITS.rope, 2)} does; not adjusted for the number of pairs. "
        )
        + _note(rows),
        bold_where=UNEXPLAINED_ROWS,
    )
    return Table(spec, rows, simulated=design.simulated)


def accuracy_ranks_table(design: TaskDesign, fit: AccuracyFit, labels: Mapping[str, str], *, mark: str = "") -> Table:
    """Posterior of each model's accuracy and rank, and of what all models share."""
    rows = fit.table[fit.table["measure"] == ACCURACY]
    several = len(rows) > 1
    alone = "no rank: a model drawn from the distribution of the models" if several else "one model only"
    rows = rows.assign(
        label=[labels.get(str(model), str(model)) for model in rows["model"]],
        rank_method="eti",
        rank_low_reason=rows["rank_low"].isna().map({True: alone, False: ""}),
        p_first_reason=rows["p_first"].isna().map({True: alone, False: ""}),
        last=(rows["target"] != "these").astype(int),
    )
    spec = TableSpec(
        table_name("accuracy_posterior", design),
        title=titled("Posterior of accuracy and rank, new items", design, mark),
        columns=(
            Text("label", "Model"),
            Estimate("estimate", "Accuracy", digits=3),
            Interval("rank_low", "Rank", high="rank_high", level="ci_level", method="rank_method", digits=0),
            Proportion("p_first", "P(best)", digits=2, help="posterior probability of the highest accuracy"),
            Count("n", "Questions"),
        ),
        order=("last", "-estimate", "label"),
        note="New items like these: effects of items are integrated."
        + (
            " The last row is of a model drawn from the distribution of the models, if these were drawn from it."
            * several
        ),
    )
    return Table(spec, rows.assign(reason=""), simulated=design.simulated)


def accuracy_spreads_table(design: TaskDesign, fit: AccuracyFit, *, mark: str = "") -> Table | None:
    """What all models share: sds of items and of models, and what units and samples have of them."""
    rows = fit.table[fit.table["model"] == ALL]
    if rows.empty:
        return None
    rows = rows.assign(label=rows["measure"].map(_SPREADS), reason="")
    spec = TableSpec(
        table_name("accuracy_spreads", design),
        title=titled("How much items and models differ", design, mark),
        columns=(Text("label", "Quantity"), Estimate("estimate", "Posterior", digits=2)),
        note="Standard deviations cannot be 0: their intervals cannot contain it.",
    )
    return Table(spec, rows, simulated=design.simulated)


def accuracy_checks_table(design: TaskDesign, fit: AccuracyFit, *, mark: str = "") -> Table:
    """Posterior predictive checks."""
    rows = fit.predictive.assign(ci_level=0.95, ci_method="eti", reason="")
    spec = TableSpec(
        table_name("accuracy_checks", design),
        title=titled("Posterior predictive checks of the accuracy model", design, mark),
        columns=(
            Text("check", "Check"),
            Number("observed", "Observed", digits=4),
            Estimate("expected", "Simulated", low="low", high="high", digits=4),
            Number("tail", "Tail", digits=3),
            Number("p_adjusted", "Adjusted", digits=3),
        ),
        note=(
            "Tail: twice the smaller share of data sets simulated from the fit at or beyond the observed value. "
            "Adjusted: share of simulated data sets of which any of these checks lies as far out, in standard "
            "deviations; the report warns below .05, which a right model meets in at most one fit in twenty."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def accuracy_priors_table(design: TaskDesign, priors: AccuracyPriors) -> Table:
    """Every prior with its meaning in probabilities."""
    rows = [
        {"prior": ACCURACY_PRIOR + name, "value": value, "meaning": meaning}
        for name, value, meaning in prior_table(priors)
    ]
    spec = TableSpec(
        table_name("accuracy_priors", design),
        title=titled("Priors of the accuracy model", design, ""),
        columns=(Text("prior", "Prior"), Number("value", "Value", digits=2), Text("meaning", "Meaning")),
        note="On the log-odds scale. The section [priors] of study.toml changes any of them by name.",
    )
    return Table(spec, pd.DataFrame(rows), simulated=design.simulated)


def _compared(*, signed: bool) -> tuple[Estimate, Signed, Signed, Number]:
    return (
        Estimate("pooled_estimate", "Hierarchical", low="pooled_ci_low", high="pooled_ci_high",
                 method="pooled_method", digits=3, signed=signed),
        *DIFFERENCES,
    )  # fmt: skip


_COMPARED: Final = _compared(signed=False)
_COMPARED_SIGNED: Final = _compared(signed=True)


def _prepared(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with interval methods and a reason for every missing number."""
    said = rows if "own_reason" in rows else rows.assign(own_reason="")
    return rows.assign(
        **missing_reasons(said),
        printed_code=rows["code"].replace("", "none"),
        pooled_method="eti",
        expected_se=rows["expected_se"].fillna(0.0),
        std_error=rows["std_error"].fillna(np.nan),
    )


def _note(rows: pd.DataFrame) -> str:
    return (
        "Difference: hierarchical minus frequentist in standard errors, and what partial pooling is expected to do; "
        "width ratio: hierarchical interval over frequentist." + reasons_legend(rows)
    )
