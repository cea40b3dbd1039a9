"""Bayesian columns of persistent incoherence beside the moment estimates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.bayes.incoherence import fit_incoherence
from analysis.bayes.incoherence_data import sampled_units
from analysis.bayes.incoherence_result import LINKED, MCMC, NORMAL, IncoherenceFit
from analysis.bayes.incoherence_sampling import incoherence_settings
from analysis.bayes.sampling import fast_settings
from analysis.report.columns import Count, Decision, Estimate, Number, Proportion, Text
from analysis.report.content import Section
from analysis.report.numbers import fixed
from analysis.report.spec import Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.bayesian_columns import UNUSABLE, files_of_fit, first_line, teller
from analysis.studies.coherence_checks import check_data, check_tables
from analysis.studies.coherence_group_schools import group_schools_rows, group_schools_table
from analysis.studies.coherence_results import CoherenceResults
from analysis.studies.coherence_schools import schools_rows, schools_table
from analysis.studies.coherence_tables import named_estimate, title_of
from analysis.studies.context import Part, TaskContext
from analysis.studies.summary import sentence
from analysis.studies.wide_table import estimate_column, table_name

DECISIONS = {"above": "yes", "below": "no", "undecided": "undecided", "": "not judged"}
CONTRASTS = {"difference": "difference", "equivalent": "equivalent", "undecided": "undecided", "": "not judged"}
COLUMNS = ("task", "model", "unit", "identity", "item_family", "level", "k", "mean", "ss", "clipped")
#: Most instances of one model, and of all models, that a report waits for; so many of one model are fitted anyway.
MOST_INSTANCES = 1000
MOST_IN_ALL = 14_000
LEAST_OF_MODEL = 200


def coherence_bayes_part(context: TaskContext, results: CoherenceResults, labels: Mapping[str, str]) -> Part | None:
    """SSL and the normal model, beside the moment estimates; None where none is wanted or possible."""
    settings, design, instances = context.bayes, context.design, results.instances
    if settings is None or not (instances["k"] > 1).any():
        return None
    fitted = fitted_instances(context, instances)
    tell, ignored = teller(context, "")
    try:
        fit = fit_incoherence(
            fitted[list(COLUMNS)],
            settings=fast_settings() if settings.fast else incoherence_settings(),
            ci_level=context.ci_level,
            seed=settings.seed,
            cache=settings.kept,
            progress=tell,
        )
    except UNUSABLE as error:
        return Part(limits=(sentence(context.where, f"no Bayesian column of incoherence: {first_line(error)}"),))
    failed = [sentence(context.where, said) for said in ignored]
    failed += [sentence(context.where, f"Bayesian incoherence (MCMC): {fit.reason}")] if fit.reason else []
    failed += _withheld(fit, labels, where=context.where)
    if settings.fast:
        failed.append(sentence(context.where, "the Bayesian columns are a quick look with few draws (--fast)"))
    schools = schools_rows(results, fit.table)
    beside = [schools_table(design, schools, labels)]
    groups = group_schools_rows(design, results, fit.table, resampling=context.resampling, ci_level=context.ci_level)
    if len(groups):
        beside.append(group_schools_table(design, groups, labels))
    title = f"Persistent incoherence, Bayesian: {design.task}" if design.task else "Persistent incoherence, Bayesian"
    return Part(
        (
            Section(
                title,
                lead=(*sampling_sentences(instances, fitted), *fit.sentences),
                tables=(*beside, *_tables(design, fit, labels), *check_tables(design, fit, labels)),
            ),
        ),
        attention=tuple(failed),
        limits=tuple(sentence(context.where, said) for said in sampling_sentences(instances, fitted)),
        summary=_claims(fit, labels, where=context.where),
        data={
            "coherence_schools": schools.assign(task=design.task),
            **({"persistent_groups": groups.assign(task=design.task)} if len(groups) else {}),
            "incoherence_bayes": fit.table,
            "incoherence_contrasts": fit.contrasts,
            "incoherence_fits": fit.glance.assign(task=design.task, key=fit.key),
            **check_data(design, fit),
        },
        files=files_of_fit(context, fit.key),
    )


def fitted_instances(context: TaskContext, instances: pd.DataFrame) -> pd.DataFrame:
    """Instances of the models of incoherence: a random sample of whole units where there are too many to wait for."""
    models = instances["model"].nunique()
    most = min(MOST_INSTANCES, max(LEAST_OF_MODEL, MOST_IN_ALL // models))
    return sampled_units(instances, most, rng=context.resampling.rng("incoherence sample"))


def sampling_sentences(instances: pd.DataFrame, fitted: pd.DataFrame) -> tuple[str, ...]:
    """That not all instances were fitted; nothing where they were."""
    if len(fitted) == len(instances):
        return ()
    of, kept = (int(table.groupby("model").size().max()) for table in (instances, fitted))
    return (
        "The Bayesian columns of incoherence rest on a random sample of whole units, the same for all models: "
        f"{kept:,} instances of a model, of {of:,}, which bounds their time; “these” instances are the sample's.",
    )


def _tables(design: TaskDesign, fit: IncoherenceFit, labels: Mapping[str, str]) -> tuple[Table, ...]:
    made = [posterior_table(design, fit, labels)]
    contrasts = fit.contrasts
    if len(contrasts):
        made.append(contrasts_table(design, contrasts, labels))
    if len(fit.glance):
        made.append(fits_table(design, fit.glance, labels))
    return tuple(made)


def posterior_table(design: TaskDesign, fit: IncoherenceFit, labels: Mapping[str, str]) -> Table:
    """Persistent incoherence of each model by both models: these instances, and new items."""
    rows = fit.table[(fit.table["measure"] == "persistent") & (fit.table["item_family"].fillna("") == "")]
    rows = rows[rows["level"].fillna("") == ""]
    wide = _merged(rows, labels)
    spec = TableSpec(
        table_name("persistent_posterior", design),
        title=title_of("Persistent incoherence: posterior beside the moment estimate", design),
        columns=(
            Text("label", "Model"),
            *(
                estimate_column(stem, head, digits=2)
                for stem, head in (
                    ("linked_these", "SSL, these"),
                    ("normal_these", "N, these"),
                    ("linked_new", "SSL, new items"),
                )
            ),
            Number("upper_bound", "Upper bound", digits=2),
            Proportion("p_present", "P(above .10)"),
            Text("factor", "Bayes factor", reason="linked_these_reason"),
            Decision("decision", "Above .10", labels=DECISIONS),
            Count("n", "Instances"),
        ),
        order=("label",),
        note="Medians in log-odds. SSL: a share of the instances is incoherent, with a probability that grows or "
        "falls with the instance's own noise; N: every instance is, normally distributed. These: the instances "
        "asked; new items: more like them, which near 0 rests on the priors. A posterior of a positive quantity "
        "never holds 0: read the upper bound and the probability. No is said only where N agrees and noisy instances "
        "do not lie farther from 0 than SSL expects. Bayes factor: posterior over prior odds of exceeding .10; "
        "a bound where all draws agree.",
    )
    return Table(spec, wide, simulated=design.simulated)


def _merged(rows: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """One row per model with the three posteriors side by side."""
    stems = {("these", LINKED): "linked_these", ("these", NORMAL): "normal_these", ("new_items", LINKED): "linked_new"}
    made = []
    for model, group in rows.groupby("model", sort=True):
        row: dict[str, Any] = {"model": model, "label": labels.get(str(model), str(model))}
        for (target, variant), stem in stems.items():
            part = group[(group["target"] == target) & (group["variant"] == variant)]
            one = part.iloc[0].to_dict() if len(part) else {"reason": "not fitted"}
            shown = not str(one.get("reason") or "").startswith(MCMC)
            row |= named_estimate(stem, one)
            if stem == "linked_these":
                row |= {name: one.get(name) if shown else None for name in ("upper_bound", "p_present", "bayes_factor")}
                row["factor"] = bayes_factor_text(one) if shown else None
                row |= {"decision": (one.get("decision") or "") if shown else "", "n": one.get("n", 0)}
                row |= {"ci_level": one.get("ci_level"), "reason": row[f"{stem}_reason"]}
        made.append(row)
    return pd.DataFrame(made)


def bayes_factor_text(row: Mapping[Any, Any]) -> str | None:
    """A Bayes factor in three digits or so, as a bound where all draws agree."""
    value = row.get("bayes_factor")
    if value is None or pd.isna(value):
        return None
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 4
    return {"at least": "≥ ", "at most": "≤ "}.get(str(row.get("bayes_factor_bound") or ""), "") + fixed(value, digits)


def contrasts_table(design: TaskDesign, contrasts: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Differences of persistent incoherence between models."""
    rows = contrasts[contrasts["measure"] == "persistent"]
    names = [
        f"{labels.get(str(a), str(a))} − {labels.get(str(b), str(b))}"
        for a, b in zip(rows["model_a"], rows["model_b"], strict=True)
    ]
    rows = rows.assign(pair=names)
    failed = rows["reason"].fillna("").str.startswith(MCMC)
    rows.loc[failed, ["estimate", "ci_low", "ci_high", "p_direction", "p_rope"]] = None
    spec = TableSpec(
        table_name("persistent_contrasts", design),
        title=title_of("Differences of persistent incoherence, posterior of SSL", design),
        columns=(
            Text("pair", "First minus second"),
            Estimate("estimate", "Difference", digits=2, signed=True),
            Proportion("p_direction", "P(direction)"),
            Proportion("p_rope", "P(within ±.05)"),
            Decision("decision", "Decision", labels=CONTRASTS),
            Count("n", "Instances"),
        ),
        order=("pair",),
        note="Over the instances that both have. Difference and equivalent: with a posterior probability above "
        ".95, beyond and within ±.05 log-odds. Models are fitted separately: nothing adjusts for the number of "
        "pairs.",
    )
    return Table(spec, rows, simulated=design.simulated)


def fits_table(design: TaskDesign, glance: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """Every fit with its sampler's state and time."""
    rows = glance.assign(label=[labels.get(str(m), str(m)) for m in glance["model"]])
    spec = TableSpec(
        table_name("incoherence_fits", design),
        title=title_of("Fits of incoherence", design),
        columns=(
            Text("variant", "Variant"),
            Text("label", "Model"),
            Text("status", "Status"),
            Count("divergences", "Divergences", optional=True),
        ),
        order=("variant", "label"),
    )
    return Table(spec, rows, simulated=design.simulated)


def _claims(fit: IncoherenceFit, labels: Mapping[str, str], *, where: str) -> tuple[str, ...]:
    rows = fit.table[
        (fit.table["measure"] == "persistent") & (fit.table["target"] == "these") & (fit.table["variant"] == LINKED)
        & (fit.table["item_family"].fillna("") == "") & (fit.table["level"].fillna("") == "")
        & (fit.table["decision"] == "above")
    ]  # fmt: skip
    names = [
        f"{labels.get(str(m), str(m))} ({fixed(e, 2)})" for m, e in zip(rows["model"], rows["estimate"], strict=True)
    ]
    words = f"persistent incoherence exceeds .10 with a posterior probability above .95 for {', '.join(names)}"
    return (sentence(where, words),) if names else ()


def _withheld(fit: IncoherenceFit, labels: Mapping[str, str], *, where: str) -> list[str]:
    """Models of which SSL alone would say that they lie below .10, with why it is not said."""
    rows = fit.table[fit.table["withheld"] != ""]
    names = [f"{labels.get(str(m), str(m))} ({why})" for m, why in zip(rows["model"], rows["withheld"], strict=True)]
    words = f"persistent incoherence below .10, which SSL alone would give, is left undecided for {', '.join(names)}"
    return [sentence(where, words)] if names else []
