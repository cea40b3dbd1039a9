"""Three accounts of uncertain answers compared by how well they predict units that were left out."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.linalg import LinAlgError

from analysis.bayes.uncertain_rows import LEAST_DIFFERENCE, LEAST_ERRORS, compare_uncertain, why_not_compared
from analysis.report.columns import Count, Decision, Number, Signed, Text
from analysis.report.content import Section
from analysis.report.numbers import fixed, signed
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.context import Part, TaskContext
from analysis.studies.summary import sentence
from analysis.studies.wide_table import table_name

#: Counts by model, cell and unit beyond which a report does not wait.
MOST_COUNTS: Final = 30_000
ACCOUNTS: Final = {
    "two stages, by cell": "two stages, free by cell (as above)",
    "two stages": "two stages, one share",
    "softmax": "softmax: competes with Yes and No",
    "signal detection": "signal detection: between two criteria",
}
_DECISIONS: Final = {
    "reference": "reference",
    "better": "predicts better",
    "worse": "predicts worse",
    "not told apart": "not told apart",
    "": "not compared",
}


_METHODS: Final = (
    "Accounts of uncertain answers (two stages, softmax, signal detection with two criteria), hierarchical over models "
    "with coefficients normal around their mode, were compared by the log predictive density of groups of units that "
    "were left out by new fits.",
)


def uncertain_models_part(context: TaskContext) -> Part | None:
    """The comparison, where there are uncertain answers and Bayesian results are wanted."""
    settings, design = context.bayes, context.design
    if settings is None or settings.skipped or context.judgement is None or isinstance(context.counts, str):
        return None
    rows = context.counts[context.counts["cell"].astype("str") != ""]
    keys = ["model", "cell", "unit"]
    counts = rows.groupby(keys, observed=True)[["n_answered", "n_uncertain", "n_correct"]].sum().reset_index()
    if counts["n_uncertain"].sum() == 0:
        return None
    reason = why_not_compared(counts)
    if not reason and len(counts) > MOST_COUNTS:
        reason = f"{len(counts):,} counts by model, cell and unit, compared up to {MOST_COUNTS:,}"
    if reason:
        return Part(limits=(sentence(context.where, f"accounts of uncertain answers are not compared: {reason}"),))
    try:
        found = compare_uncertain(counts, seed=settings.seed)
    except (LinAlgError, ArithmeticError) as error:
        said = f"accounts of uncertain answers could not be compared: {error}"
        return Part(limits=(sentence(context.where, said),))
    title = f"How answers come to be uncertain: {design.task}" if design.task else "How answers come to be uncertain"
    section = Section(title, lead=_lead(found), tables=(uncertain_models_table(design, found),))
    return Part((section,), methods=_METHODS, data={"uncertain_models": found.assign(task=design.task)})


def uncertain_models_table(design: TaskDesign, found: pd.DataFrame) -> Table:
    """One row per account with its predictive density and the difference from the report's own."""
    numbers = ("elpd", "difference", "std_error", "mc_error")
    rows = found.assign(**{name: found[name] if name in found.columns else np.nan for name in numbers})
    spec = TableSpec(
        table_name("uncertain_models", design),
        title="Accounts of uncertain answers" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("account", "Account", labels=ACCOUNTS),
            Number("elpd", "Log predictive density", digits=1),
            Signed("difference", "Difference", digits=1),
            Number("std_error", "SE", digits=1),
            Number("mc_error", "Monte-Carlo error", digits=1),
            Decision("decision", "Out of sample", labels=_DECISIONS),
            Count("n_units", "Units"),
        ),
        order=("-elpd",),
        note=(
            f"Sum over units of the log density of their responses under fits without them ({found['n_folds'].iloc[0]} "
            "groups of units, each left out by a new fit, so there are no importance weights to fail); SE of the "
            "difference over units. Hierarchical over models, on responses by cell and unit, coefficients normal "
            f"around their mode. Told apart beyond {LEAST_ERRORS:g} SE and {LEAST_DIFFERENCE:g}. It decides how "
            "uncertain answers are best described, and changes no other number: which treatment of them is right for "
            "an estimate is a question of what is asked, not of fit."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def _lead(found: pd.DataFrame) -> tuple[str, ...]:
    compared = found[found["decision"].isin(["better", "worse", "not told apart"])]
    if compared.empty:
        return ()
    said = [
        f"{row['account']} {_DECISIONS[str(row['decision'])]} ({signed(row['difference'], 1)}, "
        f"SE {fixed(row['std_error'], 1)})"
        for row in compared.to_dict("records")
    ]
    return (f"Against two stages with a share free in every cell: {'; '.join(said)}.",)
