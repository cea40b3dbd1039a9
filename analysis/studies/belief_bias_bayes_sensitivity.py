"""How far the endorsement model leans on its priors: tables and sentences."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.belief_bias_result import BeliefBiasFit
from analysis.bayes.belief_bias_sensitivity import FELT, FOLLOWED
from analysis.bayes.components import FEW_LEVELS
from analysis.report.columns import Count, Number, Signed, Text
from analysis.report.numbers import counted
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec
from analysis.schema.task_design import TaskDesign
from analysis.studies.wide_table import table_name, titled

_SHORT: Final = {"belief_bias": "bias", "discrimination_difference": "discrimination", "accuracy": "accuracy"}
_TERMS: Final = {
    "lean": "leaning to endorse",
    "discrimination": "discrimination",
    "belief": "belief",
    "belief_discrimination": "belief × discrimination",
    "item": "base items",
    "model × item": "base items × models",
    "version": "questions × models",
}


def belief_sensitivity_table(
    design: TaskDesign, fit: BeliefBiasFit, labels: Mapping[str, str], *, mark: str = ""
) -> Table | None:
    """How far belief bias and accuracy move if prior or data get more weight; None where nothing was followed."""
    if fit.sensitivity.empty:
        return None
    wide: dict[str, dict[str, Any]] = {}
    for row in fit.sensitivity.to_dict("records"):
        model, short = str(row["model"]), _SHORT[str(row["measure"])]
        entry = wide.setdefault(model, {"model": model, "label": labels.get(model, model), "diagnosis": ""})
        entry |= {f"{short}_prior": row["prior_sensitivity"], f"{short}_data": row["likelihood_sensitivity"]}
        said = "" if row["diagnosis"].startswith("not ") else f"{short}: {row['diagnosis']}"
        entry["diagnosis"] = "; ".join(part for part in (entry["diagnosis"], said) if part)
    followed = [_SHORT[name] for name in FOLLOWED if name in set(fit.sensitivity["measure"])]
    names = [f"{short}_{kind}" for short in followed for kind in ("prior", "data")]
    rows = pd.DataFrame(list(wide.values())).reindex(columns=["model", "label", *names, "diagnosis"])
    rows = rows.assign(
        diagnosis=rows["diagnosis"].replace("", "none"),
        reason=np.where(rows[names].isna().any(axis=1), "not estimated, or it never moves", ""),
    )
    spec = TableSpec(
        table_name("belief_sensitivity", design),
        title=titled("Sensitivity of the endorsement model to its priors", design, mark),
        columns=(
            Text("label", "Model"),
            *(Number(f"{short}_{kind}", kind) for short in followed for kind in ("prior", "data")),
            Text("diagnosis", "Flag"),
        ),
        spanners=tuple(Spanner(short.capitalize(), (f"{short}_prior", f"{short}_data")) for short in followed),
        order=("label",),
        note=(
            "Power-scaling: change of the posterior (cumulative Jensen-Shannon distance) per doubling of the weight of "
            "the prior, and of the data. Above .05 for the prior a result is flagged."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def belief_spreads_table(
    design: TaskDesign, fit: BeliefBiasFit, labels: Mapping[str, str], *, mark: str = ""
) -> Table | None:
    """Standard deviations under the prior and, of few coefficients, under one of twice the scale."""
    if fit.spreads.empty:
        return None
    rows = fit.spreads.assign(
        what=[_what(str(term)) for term in fit.spreads["term"]],
        place=range(len(fit.spreads)),
        moved=[_moved(str(said), labels) for said in fit.spreads["moved"]],
    )
    enough = (rows["n_levels"] >= FEW_LEVELS) & (rows["reason"] == "")
    rows = rows.assign(reason=rows["reason"].mask(enough, f"{FEW_LEVELS} coefficients or more: no second prior"))
    for name in ("estimate", "upper_bound"):
        rows[f"{name}_reason"] = rows["reason"].where(rows[name].isna(), "")
    rows["pareto_k_reason"] = rows["reason"].where(enough | (rows["reason"] != ""), "all weights are equal")
    spec = TableSpec(
        table_name("belief_spreads", design),
        title=titled("Standard deviations of the endorsement model, and a second prior", design, mark),
        columns=(
            Text("what", "Between"),
            Count("n_levels", "Coefficients"),
            Number("prior_scale", "Prior", digits=2),
            Number("estimate", "SD", digits=2),
            Number("upper_bound", "Upper bound", digits=2),
            Number("second_scale", "Second", digits=2),
            Number("second_estimate", "SD", digits=2),
            Number("second_upper", "Upper bound", digits=2),
            Signed("shift", "Shift"),
            Text("moved", "Of"),
        ),
        spanners=(Spanner("Second prior", ("second_scale", "second_estimate", "second_upper", "shift", "moved")),),
        groups=("fit",),
        order=(OrderBy("place"),),
        note=(
            "Log-odds. Prior: scale of its half-normal density. A standard deviation cannot be 0: read the upper "
            f"bound, one-sided. Below {FEW_LEVELS} coefficients the choice of the scale is the analyst's: the second "
            "is twice as wide, the other priors as they are, by importance weights (not shown where their Pareto k is "
            "too large). Shift: largest change of a belief bias, difference of discrimination or accuracy under it, in "
            f"posterior standard deviations; from {FELT:g} on it counts as felt."
        ),
    )
    return Table(spec, rows, simulated=design.simulated)


def belief_sensitivity_limits(fit: BeliefBiasFit) -> tuple[str, ...]:
    """What a reader has to know of results that lean on the priors; without the task's name and full stop."""
    said, found = [], fit.sensitivity
    flagged = found[~found["diagnosis"].astype(str).str.startswith("not ")]
    if len(flagged):
        names = ", ".join(_SHORT[name] for name in FOLLOWED if name in set(flagged["measure"]))
        said.append(
            f"results of {flagged['model'].nunique()} of {counted(int(fit.glance['models']), 'model')} by the "
            f"endorsement model ({names}) lean on its priors (power-scaling)"
        )
    felt = fit.spreads[fit.spreads["shift"].abs() >= FELT]
    if len(felt):
        names = ", ".join(dict.fromkeys(_what(str(term)) for term in felt["term"]))
        said.append(
            f"a prior twice as wide of the standard deviation of {names} moves results of the endorsement model by up "
            f"to {felt['shift'].abs().max():.1f} posterior standard deviations"
        )
    return tuple(said)


def _what(term: str) -> str:
    kind, _, name = term.partition(": ")
    if name in _TERMS:
        return _TERMS[name] if name in ("item", "model × item", "version") else f"models: {_TERMS[name]}"
    factor, _, moved = name.rpartition("_")
    words = _TERMS[moved]
    return f"levels of {factor}: {words}" if kind == "tau" else f"levels of {factor} × models: {words}"


def _moved(said: str, labels: Mapping[str, str]) -> str:
    if not said:
        return "none"
    measure, _, model = said.partition(": ")
    return f"{_SHORT[measure]} of {labels.get(model, model)}"
