"""Synthetic estimates and reports that the tests of figures, page and folder share."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from example_tables import HOSTILE_NAMES

from analysis.report.columns import Count, Estimate, Text
from analysis.report.content import ReportContent, Section
from analysis.report.figures.class_accuracy import class_accuracy_figure
from analysis.report.figures.floor_bias import floor_bias_figure
from analysis.report.manifest import report_manifest
from analysis.report.spec import Table, TableSpec

#: Names that would run, if a page took them for markup.
SCRIPTED = (
    "<script>document.title='owned'</script>",
    "--><img src=x onerror=\"document.title='owned'\">",
    "]]></style></script><svg onload=\"document.title='owned'\">",
    '" autofocus onfocus="document.title=\'owned\'" x="',
)
#: A lone surrogate fits no Parquet file, so no log hands one on.
HOSTILE = SCRIPTED + tuple(name for name in HOSTILE_NAMES if "\ud83d" not in name)


def tidy_estimates(
    models: Sequence[str], accuracies: Sequence[tuple[float, float]], half: float = 0.04
) -> pd.DataFrame:
    """Estimates as the frequentist stage writes them, with intervals of a fixed half width."""
    rows = []
    for model, (yes, no) in zip(models, accuracies, strict=True):
        values = {"acc_yes": yes, "acc_no": no, "answer_bias": yes - no, "competence_floor": min(yes, no)}
        for measure, value in values.items():
            least = -1.0 if measure == "answer_bias" else 0.0
            rows.append(
                {
                    "model": model,
                    "task": "demo",
                    "measure": measure,
                    "estimate": value,
                    "ci_low": max(least, value - half),
                    "ci_high": min(1.0, value + half),
                    "ci_level": 0.95,
                    "ci_method": "wilson",
                    "n": 1000 + len(rows),
                    "reason": "",
                }
            )
    return pd.DataFrame(rows)


def scattered(count: int, seed: int = 7) -> list[tuple[float, float]]:
    """Accuracies of models that differ in sensitivity and lean, as published ones do."""
    rng = np.random.default_rng(seed)
    centre, lean = rng.uniform(0.45, 0.75, count), rng.normal(0, 0.3, count)
    return [
        (float(np.clip(c + b / 2, 0, 1)), float(np.clip(c - b / 2, 0, 1))) for c, b in zip(centre, lean, strict=True)
    ]


FLOORS = TableSpec(
    "floors",
    "Competence floor by model",
    (
        Text("model", "Model"),
        Estimate("estimate", "Floor", help="the worse of the accuracies where Yes and where No is right"),
        Count("n", "Responses"),
    ),
    order="-estimate",
)


def example_report(
    models: Sequence[str], *, simulated: bool = True, title: str = "Answer bias in the demo task"
) -> ReportContent:
    """A small report on given models; everything in it is made up."""
    tidy = tidy_estimates(models, scattered(len(models)))
    floors = tidy[tidy["measure"] == "competence_floor"].reset_index(drop=True)
    section = Section(
        title="Task demo",
        lead=("The design has gold answers only.", f"The first model is {models[0]}."),
        tables=(Table(FLOORS, floors, simulated=simulated),),
        figures=(floor_bias_figure(tidy), class_accuracy_figure(tidy)),
        notes=("Intervals take the item as the independent unit.",),
    )
    manifest = report_manifest(
        inputs=[{"path": "demo/responses.jsonl", "bytes": 123456, "sha256": "ab" * 32}],
        settings={"uncertain": "incorrect", "ci_level": 0.95, "filters": {"models": list(models[:2])}},
        rows={"records": 40000, "rows": 39990, "set_aside": {"another filter": 10}},
        seeds={"simulation": 7},
        timings={"read": 1.25},
    )
    return ReportContent(
        title=title,
        summary=(
            f"3 of {len(models)} models have a floor above 0.5.",
            "The rest are undecided or below: their accuracy comes from a lean towards one answer.",
        ),
        limits=("Nothing is claimed about new templates: the log holds one.",),
        attention=(
            "2.1 % of the responses of one model could not be read.",
            f"{models[-1]} answered Yes every time.",
        ),
        sections=(section,),
        data={"estimates": tidy},
        manifest=manifest,
        simulated=simulated,
    )
