"""Noise and persistent residual by item family and level: moments beside the posterior of SSL."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from analysis.bayes.incoherence_data import GROUPINGS
from analysis.bayes.incoherence_result import LINKED, MCMC
from analysis.frequentist.incoherence import incoherence_estimates
from analysis.report.columns import Count, Proportion, Text
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.census import withheld
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.coherence_tables import named_estimate, title_of
from analysis.studies.context import Resampling
from analysis.studies.wide_table import estimate_column, table_name

MEASURES: Final = {"noise": "Noise", "persistent": "Persistent"}
HEADS: Final = {"item_family": "family", "level": "level"}
_SCHOOLS: Final = {"moment": "Moments", "posterior": "SSL"}
NO_MOMENTS: Final = "no moment estimate of this group"


def group_moments(instances: pd.DataFrame, key: str, *, resampling: Resampling, ci_level: float) -> pd.DataFrame:
    """Noise and persistent residual of each model by ``key``, a column of the instances."""
    parts = [
        incoherence_estimates(
            part,
            rng=resampling.rng(f"level {name}"),
            resamples=resampling.resamples,
            ci_level=ci_level,
            measures=tuple(MEASURES),
        ).assign(**{key: name})
        for name, part in instances.groupby(key, sort=True)
    ]
    return pd.concat(parts, ignore_index=True)


def group_schools_rows(
    design: TaskDesign, results: CoherenceResults, table: pd.DataFrame, *, resampling: Resampling, ci_level: float
) -> pd.DataFrame:
    """One row per model and group with both schools side by side; ``table`` is that of a fit of incoherence.

    Empty where the instances have neither two families nor two levels.
    """
    rows: list[dict[str, Any]] = []
    posterior = table[(table["variant"] == LINKED) & table["measure"].isin(list(MEASURES))]
    for key in GROUPINGS:
        if results.instances[key].nunique() < 2:
            continue
        moments = group_moments(results.instances, key, resampling=resampling, ci_level=ci_level)
        moments = withheld(moments) if design.target == "census" else moments
        beside = {(r["model"], str(r[key]), r["measure"]): r for r in moments.to_dict("records")}
        for (model, group), part in posterior[posterior[key].fillna("") != ""].groupby(["model", key], sort=True):
            row: dict[str, Any] = {"model": model, "grouping": HEADS[key], "group": str(group), "ci_level": ci_level}
            for one in part.to_dict("records"):
                measure = one["measure"]
                moment = beside.get((model, str(group), measure), {"reason": NO_MOMENTS})
                row |= named_estimate(f"{measure}_moment", moment) | named_estimate(f"{measure}_posterior", one)
                if measure == "persistent":
                    failed = str(one["reason"] or "").startswith(MCMC)
                    row |= {"p_present": None if failed else one["p_present"], "n": one["n"]}
                    row |= {"n_clusters": one["n_clusters"]}
            rows.append(row)
    return pd.DataFrame(rows)


def group_schools_table(design: TaskDesign, rows: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Rows of ``group_schools_rows`` for a reader."""
    shown = rows.assign(label=[labels.get(str(m), str(m)) for m in rows["model"]])
    stems = {f"{measure}_{school}": head for measure in MEASURES for school, head in _SCHOOLS.items()}
    columns = [estimate_column(stem, head, digits=2) for stem, head in stems.items()]
    spec = TableSpec(
        table_name("persistent_groups", design),
        title=title_of("Noise and persistent residual by family and level, by both schools", design),
        columns=(
            Text("grouping", "By"),
            Text("group", "Group"),
            *columns,
            Proportion("p_present", "P(above .10)", reason="persistent_posterior_reason"),
            Count("n", "Instances"),
            Count("n_clusters", "Units"),
        ),
        spanners=tuple(
            Spanner(head, tuple(f"{measure}_{school}" for school in _SCHOOLS)) for measure, head in MEASURES.items()
        ),
        groups=("label",),
        order=("label", "grouping", OrderBy("group", natural=True)),
        note="Log-odds; instances in two wordings or more. SSL is fitted to all instances of a model at once: its "
        "groups borrow from each other, where the moments of a group know that group alone; hence narrower intervals, "
        "and groups that look more alike. Groups were not chosen after looking; nothing is adjusted for their number, "
        "and a probability above .95 in one group but not in another is no difference between them.",
    )
    return Table(spec, shown, simulated=design.simulated)
