"""Table that sets the moment estimate of persistent incoherence beside its posterior, row by row."""

from collections.abc import Mapping

import pandas as pd

from analysis.comparison.incoherence_schools import incoherence_schools
from analysis.report.columns import Decision, Flag, Proportion, PValue, Text
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.coherence_tables import title_of
from analysis.studies.wide_table import UNEXPLAINED, estimate_column, table_name

VERDICTS = {
    "both": "present by both",
    "small": "detected, but not above .10",
    "size open": "detected; whether above .10 is open",
    "posterior only": "above .10 by the posterior alone",
    "neither": "not detected, and not above .10",
    "open": "undecided by both",
    "failed": "no comparison",
}


def schools_rows(results: CoherenceResults, table: pd.DataFrame) -> pd.DataFrame:
    """Moments and posterior by model; ``table`` is that of a fit of incoherence."""
    whole = (table["item_family"].fillna("") == "") & (table["level"].fillna("") == "")
    posterior = table[whole & (table["measure"] == "persistent") & (table["target"] == "these")]
    estimates = results.estimates[results.estimates["measure"] == "persistent"]
    kept = ["model", "estimate", "ci_low", "ci_high", "ci_level", "ci_method", "reason"]
    tests = results.tests[["model", "p_value", "resolution", "tail", "decision"]]
    clipped = results.instances.groupby("model")["clipped"].mean()
    return incoherence_schools(estimates[kept].merge(tests, on="model"), posterior, clipped)


def schools_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """One row per model: moment estimate, posterior, test and probability, verdict and reasons."""
    shown = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])
    for stem in ("moment", "posterior"):
        missing = shown[stem].isna() & (shown[f"{stem}_reason"] == "")
        shown[f"{stem}_reason"] = shown[f"{stem}_reason"].mask(missing, UNEXPLAINED)
    columns = [
        estimate_column(stem, head, digits=2) for stem, head in (("moment", "Moments"), ("posterior", "SSL, these"))
    ]
    spec = TableSpec(
        table_name("coherence_schools", design),
        title=title_of("Persistent incoherence by both schools", design),
        columns=(
            Text("label", "Model"),
            *columns,
            PValue("p_value", "Sign-flip p", floor="resolution"),
            Proportion("p_present", "P(above .10)", reason="posterior_reason"),
            Decision("verdict", "Verdict", labels=VERDICTS),
            Flag("apart", "Estimates apart", reason="posterior_reason"),
            Text("why", "What to know"),
        ),
        order=("label",),
        note="Log-odds. The test asks whether there is any persistent residual, at .025 one-sided; the posterior, "
        "whether it exceeds .10 with a probability above .95 or below .05: both may be right at once. Apart: an "
        "estimate lies outside the other's interval.",
    )
    return Table(spec, shown, simulated=design.simulated)
