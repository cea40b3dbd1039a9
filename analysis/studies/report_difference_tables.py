"""Tables of a difference between two reports."""

from typing import Final

import pandas as pd

from analysis.report.columns import Count, Decision, Estimate, Number, Proportion, PValue, Signed, Text
from analysis.report.spec import Spanner, Table, TableSpec
from analysis.studies.difference_tables import HEADS, UNTESTED, Level, with_pairs

#: Changed values printed.
MOST_VALUES: Final = 20
_KINDS: Final = {"setting": "Settings", "version": "Versions", "input": "Inputs (SHA-256)"}
_HASH: Final = 12
SAYS: Final = {name: name for name in ("higher", "lower", "open", "not tested", "not estimated")} | {
    "same": "same within the margin"
}
KEPT_HEADS: Final = {
    "persistent": "Persistent residual, log-odds",
    "noise": "Noise, log-odds",
    "belief_bias": "Belief bias Δ",
    "endorsement_log_odds_shift": "Shift of endorsements, log-odds",
    "accuracy": "Accuracy",
}
AGREEMENT: Final = {name: name for name in ("agree", "one is open", "differ", "not compared")}


def choices_table(choices: pd.DataFrame, *, simulated: bool) -> Table:
    """Settings, versions and inputs that differ."""
    rows = choices.assign(kind=choices["kind"].map(_KINDS))
    inputs = choices["kind"] == "input"
    for side in ("before", "after"):
        rows[side] = choices[side].where(~inputs, choices[side].str[:_HASH]).replace("", "none")
    spec = TableSpec(
        "differing_choices",
        title="Settings, versions and inputs that differ",
        columns=(Text("name", "Name"), Text("before", "Before"), Text("after", "After")),
        groups=("kind",),
    )
    return Table(spec, rows, simulated=simulated)


def numbers_table(numbers: pd.DataFrame, *, simulated: bool) -> Table:
    """Columns of data in which something changed."""
    spec = TableSpec(
        "changed_columns",
        title="Data that changed",
        columns=(
            Text("column", "Column"),
            Count("compared", "Rows"),
            Count("changed", "Changed"),
            Number("largest", "Largest change", digits=4, reason="reason"),
        ),
        groups=("data",),
        note="Rows are matched by what they are about. No test: the data of a report hold no paired responses.",
    )
    reason = pd.Series("text or missing numbers", index=numbers.index).where(numbers["largest"].isna(), "")
    return Table(spec, numbers.assign(reason=reason), simulated=simulated)


def values_table(values: pd.DataFrame, *, simulated: bool) -> Table:
    """The estimates that changed most."""
    found = values[values["column"] == "estimate"]
    size = found["change"].astype(float).abs()
    rows = found.assign(_size=size).sort_values(["_size", "data", "row"], ascending=[False, True, True])
    reason = pd.Series("defined on one side only", index=rows.index).where(rows["change"].isna(), "")
    spec = TableSpec(
        "changed_estimates",
        title="Estimates that changed most",
        columns=(
            Text("row", "Of"),
            Text("before", "Before"),
            Text("after", "After"),
            Signed("change", "Change", digits=4, reason="reason"),
        ),
        groups=("data",),
        note=f"{len(found):,} estimates changed; at most {MOST_VALUES} are printed, --json gives all.",
    )
    return Table(spec, rows.assign(reason=reason).drop(columns="_size").head(MOST_VALUES), simulated=simulated)


def rows_table(rows: pd.DataFrame, *, simulated: bool) -> Table | None:
    """Data with rows that one report alone has; None where there are none."""
    found = rows[(rows["before_only"] > 0) | (rows["after_only"] > 0)]
    if found.empty:
        return None
    spec = TableSpec(
        "unmatched_rows",
        title="Rows that one report alone has",
        columns=(
            Text("data", "Data"),
            Count("compared", "Both"),
            Count("before_only", "Before only"),
            Count("after_only", "After only"),
        ),
    )
    return Table(spec, found, simulated=simulated)


def contrasts_table(contrasts: pd.DataFrame, *, simulated: bool) -> Table:
    """Posterior differences of the kept fits beside paired tests, and whether both agree."""
    rows = with_pairs(contrasts, str).assign(head=[HEADS[m] for m in contrasts["measure"]])
    for name in ("paired_estimate", "p_adjusted", "equivalent_p_adjusted"):
        rows[f"{name}_reason"] = rows["paired_reason"].replace("", UNTESTED).where(rows[name].isna(), "")
    level, rope = float(rows["ci_level"].iloc[0]), float(rows["rope_high"].iloc[0])
    posterior = ("before", "after", "estimate", "p_after_higher", "p_beyond", "posterior_says")
    paired = ("paired_estimate", "p_adjusted", "equivalent_p_adjusted", "paired_says")
    spec = TableSpec(
        "posterior_contrasts",
        title="Posterior differences beside paired tests",
        columns=(
            Text("head", "Measure"),
            Level("before", "Before", digits=3),
            Level("after", "After", digits=3),
            Estimate("estimate", "Difference", signed=True),
            Proportion("p_after_higher", "P(after > before)"),
            Proportion("p_beyond", f"P(beyond ±{rope:g})"),
            Decision("posterior_says", "Says", labels=SAYS),
            Estimate(
                "paired_estimate",
                "Paired difference",
                signed=True,
                low="paired_ci_low",
                high="paired_ci_high",
                method="paired_ci_method",
            ),
            PValue("p_adjusted", "p", floor="adjusted_bound"),
            PValue("equivalent_p_adjusted", f"p (within ±{rope:g})", family="equivalent_family_size"),
            Decision("paired_says", "Says", labels=SAYS),
            Decision("agreement", "Agreement", labels=AGREEMENT),
        ),
        groups=("pair",),
        spanners=(Spanner("Posterior", posterior), Spanner("Paired tests", paired)),
        note=_contrasts_note(level, rope),
    )
    return Table(spec, rows, simulated=simulated)


def kept_contrasts_table(contrasts: pd.DataFrame, *, simulated: bool) -> Table:
    """Posterior differences of incoherence or of belief bias, beside the paired test where there is one."""
    rows = with_pairs(contrasts, str).assign(head=[KEPT_HEADS[m] for m in contrasts["measure"]])
    tested = bool(rows["p_adjusted"].notna().any())
    level = float(rows["ci_level"].iloc[0])
    for name in ("paired_estimate", "p_adjusted"):
        rows[f"{name}_reason"] = rows["paired_reason"].replace("", UNTESTED).where(rows[name].isna(), "")
    paired = (
        Estimate(
            "paired_estimate",
            "Difference of squares",
            signed=True,
            low="paired_ci_low",
            high="paired_ci_high",
            method="paired_ci_method",
        ),
        PValue("p_adjusted", "p", floor="adjusted_bound"),
        Decision("paired_says", "Says", labels=SAYS),
        Decision("agreement", "Agreement", labels=AGREEMENT),
    )
    posterior = ("before", "after", "estimate", "p_after_higher", "p_beyond", "posterior_says")
    spec = TableSpec(
        "incoherence_contrasts" if "persistent" in set(rows["measure"]) else "belief_contrasts",
        title="Posterior differences of " + ("incoherence" if "persistent" in set(rows["measure"]) else "belief bias"),
        columns=(
            Text("head", "Measure"),
            Number("before", "Before", digits=3, reason="reason"),
            Number("after", "After", digits=3, reason="reason"),
            Estimate("estimate", "Difference", signed=True, reason="reason"),
            Proportion("p_after_higher", "P(after > before)", reason="reason"),
            Proportion("p_beyond", "P(beyond margin)", reason="reason"),
            Decision("posterior_says", "Says", labels=SAYS),
            *(paired if tested else ()),
        ),
        groups=("pair",),
        spanners=(
            Spanner("Posterior", posterior),
            Spanner("Paired test", ("paired_estimate", "p_adjusted", "paired_says")),
        )
        if tested
        else (),
        note=_kept_note(rows, level, tested=tested),
    )
    return Table(spec, rows, simulated=simulated)


def _kept_note(rows: pd.DataFrame, level: float, *, tested: bool) -> str:
    margins = [
        f"±{bound:g} {unit}"
        for scale, unit in (("log_odds", "log-odds"), ("probability", "as a proportion"))
        for bound in sorted(set(rows.loc[rows["scale"] == scale, "rope_high"]))
    ]
    said = (
        "Differences are after minus before: medians of the kept draws of two independent fits, paired at random. "
        f"Margins: {' and '.join(margins)}; same where the probability of lying within exceeds {level:g}, else higher "
        "or lower where the interval lies on one side of 0, else open; not adjusted for the number of comparisons."
    )
    if "persistent" not in set(rows["measure"]):
        said += (
            " Kept fits hold no draws within a condition (a strategy, a temperature), so that nothing is compared "
            "within one: for that, make both reports of its rows alone (--where)."
        )
    if tested:
        said += (
            " The paired test is of the square of the persistent residual, by sign flips of the units whose instances "
            "both reports have; it has no equivalence."
        )
    return said


def _contrasts_note(level: float, rope: float) -> str:
    """How either school comes to what it says."""
    return (
        "Differences are after minus before. Posterior: medians of the kept draws of two independent fits, paired at "
        f"random; same within the margin where the probability of lying within ±{rope:g} exceeds {level:g}, else "
        "higher or lower where the interval lies on one side of 0, else open; not adjusted for the number of "
        "comparisons, as the p-values are. Paired tests: over the units that both reports have, with the weights of "
        "the reports; floors by the delta method, the rest by sign flips of units; same where equivalence is shown or "
        "no unit differs. One is open: one school decides and the other does not, which is no contradiction."
    )
