"""Tables of belief bias: congruent against incongruent, the cells with shifts, and a published definition."""

import pandas as pd

from analysis.frequentist.belief_bias import PUBLISHED
from analysis.frequentist.belief_bias_tests import PooledBeliefBias
from analysis.frequentist.conditions import paired_t
from analysis.report.columns import Count, Estimate, Number, Proportion, PValue, Signed, Text
from analysis.report.spec import Spanner, Table, TableSpec, Where
from analysis.studies.context import TaskContext
from analysis.studies.interval_and_test import disagreement_note
from analysis.studies.wide_table import estimate_column, table_name, wide_estimates

_CELLS = ("acc_vb", "acc_vu", "acc_ib", "acc_iu")
_MEASURES = (
    *_CELLS,
    "congruent",
    "incongruent",
    "belief_bias",
    "discrimination_difference",
    "endorsement_log_odds_shift",
    "endorsement_log_odds_interaction",
)
_LABELLED = ("congruent_labelled", "incongruent_labelled", PUBLISHED)


def bias_table(context: TaskContext, estimates: pd.DataFrame, tests: pd.DataFrame) -> Table:
    """Congruent and incongruent accuracy, their difference and its test."""
    design = context.design
    wide = wide_estimates(estimates, context.labels, _MEASURES)
    added = tests.set_index("model")[["p_value", "p_adjusted", "p_adjust_method", "family_size", "resolution"]]
    wide = wide.join(added, on="model").assign(p_value_reason="", p_adjusted_reason="")
    reasons = wide["model"].map(tests.set_index("model")["reason"])
    wide = wide.assign(p_value_reason=reasons, p_adjusted_reason=reasons)
    spec = TableSpec(
        table_name("belief_bias", design),
        title="Accuracy where belief and logic agree, and where they do not"
        + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("congruent", "Congruent", digits=3),
            estimate_column("incongruent", "Incongruent", digits=3),
            estimate_column("belief_bias", "Bias", digits=3, signed=True),
            PValue("p_value", "p", floor="resolution", help="permutation of believability over units within validity"),
            PValue("p_adjusted", "Holm"),
            Count("n", "n"),
            Count("n_clusters", "Units"),
        ),
        order=("-belief_bias", "label"),
        note=(
            "Congruent: valid and believable, or invalid and unbelievable; both cells weigh the same. Bias: congruent "
            "minus incongruent, above 0 leans to what is believed."
        ),
        bold_where=(Where("p_adjusted", "<=", 0.05, cells=("belief_bias",), meaning="adjusted p at most .05"),),
    )
    return Table(spec, wide, simulated=design.simulated)


def shift_table(context: TaskContext, estimates: pd.DataFrame) -> Table:
    """The four cells, the shift of endorsement, and the difference of discrimination."""
    design = context.design
    wide = wide_estimates(estimates, context.labels, _MEASURES)
    heads = ("Bel.", "Unbel.", "Bel.", "Unbel.")
    spec = TableSpec(
        table_name("belief_cells", design),
        title="Accuracy by validity and believability, shift and discrimination"
        + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            *(
                Proportion(name, head, digits=2, reason=f"{name}_missing")
                for name, head in zip(_CELLS, heads, strict=True)
            ),
            estimate_column("endorsement_log_odds_shift", "Shift (log-odds)", digits=2, signed=True),
            estimate_column("discrimination_difference", "Δ discrimination", digits=2, signed=True),
            estimate_column("endorsement_log_odds_interaction", "Δ (log-odds)", digits=2, signed=True),
        ),
        spanners=(Spanner("Valid", _CELLS[:2]), Spanner("Invalid", _CELLS[2:])),
        order=("-belief_bias", "label"),
        note=(
            "Shift: log-odds of Yes for believable minus unbelievable conclusions, mean over validity. "
            "Δ discrimination: Yes to valid minus Yes to invalid conclusions, believable less unbelievable; "
            "above 0, reasoning is better where conclusions are believable. 0.5 is added to the counts under log-odds."
        ),
    )
    return Table(spec, wide, simulated=design.simulated)


def labelled_table(context: TaskContext, estimates: pd.DataFrame, noted: pd.DataFrame) -> Table:
    """The definition by a noted label, beside belief bias."""
    design = context.design
    own = wide_estimates(estimates, context.labels, ("belief_bias",))
    wide = wide_estimates(noted, context.labels, _LABELLED)
    added = [name for name in own.columns if name.startswith("belief_bias")]
    wide = wide.merge(own[["model", *added]], on="model")
    spec = TableSpec(
        table_name("belief_bias_labelled", design),
        title="The same with nonsense counted as unbelievable" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("label", "Model"),
            estimate_column("congruent_labelled", "Congruent", digits=3),
            estimate_column("incongruent_labelled", "Incongruent", digits=3),
            estimate_column(PUBLISHED, "Difference", digits=3, signed=True),
            estimate_column("belief_bias", "Belief bias", digits=3, signed=True),
            Count("n", "n"),
        ),
        order=(f"-{PUBLISHED}", "label"),
        note=(
            "A published definition, for comparison: all items by their noted label, rows weighing the same. Among "
            "items without believability it is the accuracy on invalid minus that on valid ones, which is answer bias. "
            "Belief bias: as above, over items with believability alone."
        ),
    )
    return Table(spec, wide, simulated=design.simulated)


def pooled_table(context: TaskContext, estimates: pd.DataFrame, pooled: PooledBeliefBias) -> Table:
    """Belief bias over models: the t test that takes models as the sample, and what items and both allow."""
    design = context.design
    wide = wide_estimates(estimates, context.labels, ("congruent", "incongruent"))
    test = paired_t(wide["congruent"].to_numpy(float), wide["incongruent"].to_numpy(float), ci_level=context.ci_level)
    percentile = "percentile bootstrap"
    rows = [
        {
            "over": "models, items as they are",
            "low": test.ci_low,
            "high": test.ci_high,
            "method": "t over models",
            "statistic": test.statistic,
            "p_value": test.p_value,
            "d_z": test.d_z,
            "d_av": test.d_av,
            "n_clusters": test.n_clusters,
        },
        {
            "over": "items within cells, these models",
            "low": pooled.these_low,
            "high": pooled.these_high,
            "method": f"{percentile} over units",
            "p_value": pooled.p_value,
            "n_clusters": pooled.n_clusters,
        },
        {
            "over": "models × items",
            "low": pooled.both_low,
            "high": pooled.both_high,
            "method": f"{percentile} over models × units",
            "n_clusters": min(pooled.n_models, pooled.n_clusters),
        },
    ]
    table = pd.DataFrame(rows).assign(
        estimate=pooled.estimate, ci_level=context.ci_level, reason=["", *["not part of this test"] * 2]
    )
    spec = TableSpec(
        table_name("belief_bias_pooled", design),
        title="Mean belief bias, by what is drawn anew" + (f": {design.task}" if design.task else ""),
        columns=(
            Text("over", "Drawn anew"),
            Estimate("estimate", "Mean bias", low="low", high="high", method="method", digits=3, signed=True),
            Number("statistic", "t", digits=2),
            PValue("p_value", "p"),
            Signed("d_z", "d_z", digits=2),
            Signed("d_av", "d_av", digits=2),
            Count("n_clusters", "n"),
        ),
        note=(
            "p over items: permutation of believability within validity. A claim about other models and other items "
            "rests on the last row; models are no sample that anybody drew."
        ),
    )
    notes = disagreement_note(table, ci_level=context.ci_level, low="low", high="high")
    return Table(spec, table, notes=notes, simulated=design.simulated)
