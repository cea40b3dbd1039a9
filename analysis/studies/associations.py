"""Which measures go together over models, and which correlations are part-whole."""

import pandas as pd

from analysis.comparison.associations import FEWEST, association_table
from analysis.frequentist.rank_correlation import correlation
from analysis.report.columns import Count, Estimate, Proportion, PValue, Text
from analysis.report.content import Section
from analysis.report.numbers import fixed, level, signed
from analysis.report.spec import Table, TableSpec
from analysis.studies.context import Part, TaskContext
from analysis.studies.wide_table import table_name

NAMES = {
    "competence_floor": "floor",
    "answer_bias": "bias",
    "balanced_accuracy": "BA",
    "affirmative_floor": "affirmative floor",
    "accuracy": "accuracy",
    "uncertain_rate": "uncertain rate",
}


def associations_part(context: TaskContext) -> Part | None:
    """Correlations over models, where there are enough of them."""
    if context.estimates is None or context.judgement is None or context.design.target == "census":
        return None
    rows = association_table(
        context.estimates,
        rng=context.resampling.rng("associations"),
        permutations=context.resampling.flips,
        ci_level=context.ci_level,
    )
    if rows.empty or rows["estimate"].isna().all():
        return None
    second = [
        f"|{NAMES[m]}|" if absolute else NAMES[m] for m, absolute in zip(rows["second"], rows["absolute"], strict=True)
    ]
    rows = rows.assign(pair=[f"{NAMES[m]} and {other}" for m, other in zip(rows["first"], second, strict=True)])
    spec = TableSpec(
        table_name("associations", context.design),
        title="Correlations of measures over models",
        columns=(
            Text("pair", "Measures"),
            Text("kind", "Correlation"),
            Estimate("estimate", "r", signed=True, digits=2),
            Proportion("r_squared", "r²", digits=2, reason="reason"),
            PValue("p_value", "p"),
            Text("shared", "Shared part"),
            Count("n_models", "Models"),
        ),
        note=(
            "A correlation with a shared part is part-whole: it is away from 0 whatever the models do, and its p-value "
            "means nothing. Models are taken as independent draws, their values as known."
        ),
    )
    shown = rows.assign(shared=rows["shared"].replace("", "none"))
    section = Section(
        f"{context.where}Measures that go together",
        tables=(Table(spec, shown, simulated=context.design.simulated),),
        notes=(_warning(rows),),
    )
    return Part((section,), data={"associations": rows.assign(task=context.design.task)})


def _warning(rows: pd.DataFrame) -> str:
    whole = rows[(rows["shared"] != "") & (rows["kind"] == "pearson")]
    return f"Part-whole: {'; '.join(f'{r} ({s})' for r, s in zip(whole['pair'], whole['shared'], strict=True))}."


def floor_bias_words(context: TaskContext, estimates: pd.DataFrame) -> str:
    """How floor and |bias| go together over the models, for the caption of their figure; empty with few models.

    A census has r and R² without an interval.
    """
    wide = estimates[estimates["measure"].isin(["competence_floor", "answer_bias"])].pivot(
        index="model", columns="measure", values="estimate"
    )
    if wide.dropna().shape[0] < FEWEST:
        return ""
    found = correlation(
        wide["competence_floor"],
        wide["answer_bias"].abs(),
        rng=context.resampling.rng("associations"),
        kind="pearson",
        permutations=context.resampling.flips,
        ci_level=context.ci_level,
    )
    if pd.isna(found.estimate):
        return ""
    limits = f" [{signed(found.ci_low, 2)}, {signed(found.ci_high, 2)}] ({level(found.ci_level)} CI)"
    shown = "" if pd.isna(found.ci_low) or context.design.target == "census" else limits
    return (
        f"Over {found.n_clusters} models r = {signed(found.estimate, 2)}{shown}, R² = {fixed(found.estimate**2, 2)}: a "
        "part-whole correlation, since the floor is BA − |bias|/2; it says how much of the floor is bias, not that one "
        "leads to the other."
    )
