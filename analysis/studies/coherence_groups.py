"""Tables of incoherence by family and level, and of what it goes with."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.report.columns import Count, Estimate, Text
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.coherence_tables import MOST_COLUMNS, by_model, title_of
from analysis.studies.wide_table import estimate_column, table_name


def groups_table(
    design: TaskDesign, means: pd.DataFrame, labels: Mapping[str, str], *, name: str, title: str, note: str,
    measures: Mapping[str, str],
) -> Table:  # fmt: skip
    """Measures by family and level, models in rows: wide where there are few groups, else long."""
    keys = [c for c in ("item_family", "level") if c in means.columns]
    groups = means[keys].drop_duplicates().sort_values(keys).itertuples(index=False, name=None)
    listed = list(groups)
    if len(listed) * len(measures) > MOST_COLUMNS:
        return _long_groups(design, means, labels, name=name, title=title, note=note, measures=measures, keys=keys)
    rows: dict[str, dict[str, Any]] = {}
    columns: list[Estimate] = []
    spanners: dict[str, list[str]] = {}
    for at, group in enumerate(listed):
        for measure, head in measures.items():
            stem = f"g{at}_{measure}"
            words = " ".join(part for part in group if part) or "all"
            heading = head if len(measures) > 1 else (group[-1] or words)
            columns.append(estimate_column(stem, heading, digits=2))
            spanners.setdefault(words if len(measures) > 1 else (group[0] or words), []).append(stem)
    for record in means.to_dict("records"):
        at = listed.index(tuple(record[k] for k in keys))
        stem = f"g{at}_{record['measure']}"
        if record["measure"] not in measures:
            continue
        model = str(record["model"])
        row = rows.setdefault(
            model, {"model": model, "label": labels.get(model, model), "ci_level": record["ci_level"]}
        )
        row |= {stem: record["estimate"], f"{stem}_low": record["ci_low"], f"{stem}_high": record["ci_high"],
                f"{stem}_method": record["ci_method"], f"{stem}_reason": record["reason"]}  # fmt: skip
    table = pd.DataFrame(rows.values())
    for column in columns:
        for end, default in (("", None), ("_low", None), ("_high", None), ("_method", None), ("_reason", "none asked")):
            if f"{column.name}{end}" not in table:
                table[f"{column.name}{end}"] = default
        table[f"{column.name}_reason"] = table[f"{column.name}_reason"].fillna("none asked")
    spec = TableSpec(
        table_name(name, design),
        title=title_of(title, design),
        columns=(Text("label", "Model"), *columns),
        spanners=tuple(Spanner(head, tuple(names)) for head, names in spanners.items() if head),
        order=("label",),
        note=note,
    )
    return Table(spec, table, simulated=design.simulated)


def _long_groups(
    design: TaskDesign, means: pd.DataFrame, labels: Mapping[str, str], *, name: str, title: str, note: str,
    measures: Mapping[str, str], keys: list[str],
) -> Table:  # fmt: skip
    rows = means[means["measure"].isin(measures)].copy()
    rows["label"] = [labels.get(str(m), str(m)) for m in rows["model"]]
    rows["measure_word"] = [measures[m] for m in rows["measure"]]
    heads = {"item_family": "Family", "level": "Level"}
    word = (Text("measure_word", "Measure"),) if len(measures) > 1 else ()
    spec = TableSpec(
        table_name(name, design),
        title=title_of(title, design),
        columns=(
            Text("label", "Model"),
            *(Text(key, heads[key]) for key in keys),
            *word,
            Estimate("estimate", next(iter(measures.values())) if len(measures) == 1 else "Estimate", digits=2),
            Count("n", "Instances"),
            Count("n_clusters", "Units"),
        ),
        order=("label", *(OrderBy(key, natural=True) for key in keys)),
        note=note,
    )
    return Table(spec, rows, simulated=design.simulated)


def associations_table(
    design: TaskDesign, found: pd.DataFrame, errors: pd.DataFrame, labels: Mapping[str, str]
) -> Table:
    """How |r| goes with error and with the length of reasoning."""
    measures = ("rank_error", "rank_tokens", "centred_tokens")
    wide = by_model(found, measures, labels)
    for group in ("coherent", "incoherent"):
        part = errors[(errors["coherence"] == group) & (errors["measure"] == "error_left")] if len(errors) else errors
        one = part.set_index("model") if len(part) else pd.DataFrame()
        for column, suffix in (("estimate", ""), ("ci_low", "_low"), ("ci_high", "_high"), ("ci_method", "_method")):
            wide[f"{group}{suffix}"] = wide["model"].map(one[column]) if len(one) else None
        wide[f"n_{group}"] = wide["model"].map(one["n"]).fillna(0).astype(int) if len(one) else 0
        reason = wide["model"].map(one["reason"]) if len(one) else pd.Series([None] * len(wide))
        wide[f"{group}_reason"] = reason.fillna("no such instance with a truth")
    spec = TableSpec(
        table_name("associations", design),
        title=title_of("Incoherence, error and length of reasoning", design),
        columns=(
            Text("label", "Model"),
            estimate_column("rank_error", "|r| and error", signed=True, digits=2),
            estimate_column("coherent", "coherent", digits=2),
            Count("n_coherent", "n"),
            estimate_column("incoherent", "incoherent", digits=2),
            Count("n_incoherent", "n"),
            estimate_column("rank_tokens", "across instances", signed=True, digits=2),
            estimate_column("centred_tokens", "within instances", signed=True, digits=2),
        ),
        spanners=(
            Spanner("Error of the direct answer where", ("coherent", "n_coherent", "incoherent", "n_incoherent")),
            Spanner("|r| and reasoning tokens", ("rank_tokens", "centred_tokens")),
        ),
        order=("label",),
        note="Errors are absolute, in log-odds. "
        "|r| and error, |r| and tokens across instances: Spearman. Coherent: |r| up to 0.1, incoherent: "
        "above 0.5. Within instances: Pearson of |r| and log tokens, both minus the mean of their instance, over "
        "its wordings. The error of the direct answer is part of the residual: some correlation is there by "
        "construction.",
    )
    return Table(spec, wide, simulated=design.simulated)
