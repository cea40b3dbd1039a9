"""How the Bayesian columns were made, in sentences of the methods section."""

from analysis.bayes.result import UNITS, AnswerBiasFit
from analysis.schema.task_design import TaskDesign


def bayesian_methods(design: TaskDesign, fit: AnswerBiasFit) -> tuple[str, ...]:
    """Model, sampler, gates and comparison, written from the settings used."""
    glance = fit.glance
    said = [
        "A hierarchical logistic model in two stages (is there an answer; is it Yes) was fitted to the counts by model"
        f"{_facets(fit)} and cell, with effects that vary between models and beta-binomial variation between cells "
        "where the design leaves any. Accuracies were computed from its draws with the weights of the frequentist "
        "estimates (g-computation); regression coefficients are not reported.",
        f"It was sampled by NUTS (nutpie) in whitened coordinates, {glance['chains']} chains of {glance['draws']:,} "
        f"draws, seed {glance['seed']}; the model was checked against its definition in PyMC.",
        "Results are shown if rank-normalised split R-hat is below its limit and the further checks of the sampler are "
        "passed for every reported quantity.",
        "Bayesian intervals are equal-tailed; estimates are posterior medians.",
        "The unpooled column takes cells as independent with Jeffreys priors.",
    ]
    if glance["headline"] == UNITS:
        said.insert(
            1,
            "Because units are asked more than once, the compared rows are those of a hierarchical model of the "
            "accuracies with their cluster-robust covariance, on the log-odds scale.",
        )
    if fit.glance["fast"]:
        said.append("The Bayesian fit is a quick look with few draws.")
    return tuple(said)


def _facets(fit: AnswerBiasFit) -> str:
    names = [name for name in ("template", "form") if name in fit.augment.columns]
    return "".join(f", {name}" for name in names)
