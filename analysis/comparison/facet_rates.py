"""Accuracy of every model in every facet of a design, in the order in which a heat map shows them."""

from collections.abc import Mapping

import pandas as pd

from analysis.measures.rates import share, treated_counts

_VALIDITY = {"valid": 0, "invalid": 1}


def facet_rates(
    counts: pd.DataFrame, estimates: pd.DataFrame, labels: Mapping[str, str], *, uncertain: str = "incorrect"
) -> pd.DataFrame:
    """One row per template × polarity × form × model.

    Parameters
    ----------
    counts : DataFrame
        ``reduction.cells.facet_counts`` by validity, template, polarity and, where there are any, form.
    estimates : DataFrame
        Tidy estimates whose competence floor orders the models, highest first.
    labels : mapping of str to str

    Returns
    -------
    DataFrame
        ``form, template, validity, polarity, model, label, n, estimate``; valid templates first.
    """
    floor = estimates[estimates["measure"] == "competence_floor"].set_index("model")["estimate"]
    rows = counts.astype({name: "str" for name in ("model", "validity", "template", "polarity")})
    rows = rows.assign(form=rows["form"].astype(str) if "form" in rows.columns else "")
    n, y = treated_counts(
        rows["n_answered"] + rows["n_uncertain"],
        rows["n_correct"],
        rows["n_uncertain"],
        rows["n_answered"],
        rows["n_correct"],
        uncertain=uncertain,
    )
    rows = rows.assign(
        n=n,
        estimate=share(y, n),
        label=[labels.get(m, m) for m in rows["model"]],
        _floor=rows["model"].map(floor).fillna(-1.0),
        _validity=rows["validity"].map(_VALIDITY).fillna(2),
    )
    keys = ["form", "_validity", "template", "polarity", "_floor", "model"]
    ordered = rows.sort_values(keys, ascending=[True, True, True, True, False, True], kind="stable")
    return ordered[["form", "template", "validity", "polarity", "model", "label", "n", "estimate"]].reset_index(
        drop=True
    )
