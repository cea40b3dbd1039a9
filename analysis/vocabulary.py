"""Names of output columns, each with one meaning everywhere."""

from typing import Final

#: Column name -> meaning, with unit or range. Result tables use these names and no synonyms.
OUTPUT_COLUMNS: Final[dict[str, str]] = {
    "model": "model name as logged",
    "task": "benchmark or data set",
    "measure": "name of the estimated quantity (see MEASURES)",
    "estimate": "point estimate, in the unit of its scale",
    "std_error": "cluster-robust standard error, same unit",
    "ci_low": "lower end of the interval",
    "ci_high": "upper end of the interval",
    "ci_level": "nominal coverage of the interval, in (0, 1)",
    "ci_method": "how the interval was made",
    "scale": "probability, probability difference, log_odds, standard normal deviate",
    "statistic": "test statistic",
    "df": "degrees of freedom",
    "test": "name of the test",
    "alternative": "less, greater or two-sided",
    "p_value": "unadjusted p-value, in (0, 1]",
    "p_adjusted": "p-value after adjustment, in (0, 1]",
    "p_adjust_method": "name of the adjustment",
    "family_size": "number of tests adjusted together",
    "n": "scored responses",
    "k": "events among them",
    "n_items": "distinct questions",
    "n_clusters": "independent units",
    "n_eff": "effective number of responses given clustering",
    "n_unscored": "responses set aside (errored or missing)",
    "unit": "what the independent unit is",
    "uncertain": "treatment of uncertain answers: incorrect, excluded, half",
    "weights": "weighting of the items",
    "target": "what the claim is about: these, new_items, new_templates, new_models, census",
    "reason": "why a result is undefined, or what limits it; empty otherwise",
}

#: Measure -> what it is, and what its sign means.
MEASURES: Final[dict[str, str]] = {
    "accuracy": "share of right answers",
    "uncertain_rate": "share of responses without a readable answer",
    "yes_rate": "share of Yes among scored responses",
    "acc_yes": "accuracy where Yes is right",
    "acc_no": "accuracy where No is right",
    "acc_va": "accuracy, valid affirmative (Yes is right)",
    "acc_vn": "accuracy, valid negated (No is right)",
    "acc_ia": "accuracy, invalid affirmative (No is right)",
    "acc_in": "accuracy, invalid negated (Yes is right)",
    "balanced_accuracy": "mean of acc_yes and acc_no",
    "answer_bias": "acc_yes - acc_no; above 0 leans to Yes",
    "polarity_sensitivity": "affirmative minus negated accuracy; above 0: negation is not applied",
    "validity_contrast": "accuracy on valid minus invalid; above 0: endorsement follows polarity",
    "competence_floor": "the worse of acc_yes and acc_no",
    "affirmative_floor": "the worse of acc_va and acc_ia",
    "cell_floor": "the worst of the four cells",
    "d_prime": "z(hit rate) - z(false-alarm rate)",
    "criterion_c": "-(z(hit rate) + z(false-alarm rate)) / 2; below 0 leans to Yes",
}
