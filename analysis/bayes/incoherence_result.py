"""What a fit of the models of incoherence gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from analysis.display import summary_html, summary_text

#: Models, in words of the result column ``variant``: slab linked to the noise, and normal.
LINKED: Final = "SSL"
NORMAL: Final = "N"
#: Start of the reason of a row whose sampler failed a gate.
MCMC: Final = "MCMC: "


@dataclass(frozen=True, slots=True, repr=False)
class IncoherenceFit:
    """Result of ``fit_incoherence``.

    Attributes
    ----------
    task : str
    status : str
        ``ok``, or ``failed`` where SSL of some model failed a gate after the retry or no model could be fitted.
        Rows of such a model have a ``reason`` that begins with MCMC and may not be read as results; those of
        other models may, since models are fitted separately.
    reason : str
        Which models failed, and why; empty otherwise.
    table : DataFrame
        One row per ``variant`` × ``model`` × ``measure`` × ``target`` (these, new_items), and for SSL by
        ``item_family`` and by ``level`` (these; empty elsewhere); columns of
        ``incoherence_summary.quantity_rows`` with ``prior_p_present``, ``bayes_factor`` (posterior over prior
        odds of exceeding the threshold) and ``bayes_factor_bound``, ``decision`` (these instances; SSL's *below* is
        *undecided* where ``withheld`` says why), ``n``, ``n_clusters`` (units), ``headline`` (SSL).
    contrasts : DataFrame
        One row per pair of models and measure from SSL, over the instances that both have: ``model_a``,
        ``model_b``, columns of ``incoherence_summary.contrast_rows``, ``n``, ``n_dropped``.
    glance : DataFrame
        One row per variant and model: sizes, draws, divergences, attempts, status.
    gates : DataFrame
        ``variant, model, name, value, limit, passed, where``.
    predictive : DataFrame
        Posterior predictive checks of both variants.
    sensitivity : DataFrame
        Power-scaling of SSL.
    refits : DataFrame
        SSL with other priors, ``prior`` says which; ``shift`` in posterior sds of the default.
    augment : DataFrame
        One row per model and instance, those set aside with a reason.
    sentences : tuple of str
    draws : mapping of str to ndarray (chains, draws)
        Draws of what is reported and of the hyper-parameters, by variant, model and name.
    key : str
        Under which the fit is kept.

    Examples
    --------
    The fits of both models to one simulated responder, with few draws:

    >>> import tempfile
    >>> import analysis as eh
    >>> from analysis.cli.main import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = ["--units", "8", "--causal", "0", "--reworded", "8", "--responders", "steady"]
    ...     status = main(["simulate", f"{folder}/logs", "--study", "latent-coherence", *size])
    ...     with eh.read_logs(f"{folder}/logs") as logs:
    ...         fit = eh.fit_incoherence(logs, fast=True)
    216 simulated responses of 1 models in ...
    >>> sorted(set(fit.table["variant"])), set(fit.table["model"])
    (['N', 'SSL'], {'simulated/steady'})
    """

    task: str
    status: str
    reason: str
    table: pd.DataFrame
    contrasts: pd.DataFrame
    glance: pd.DataFrame
    gates: pd.DataFrame
    predictive: pd.DataFrame
    sensitivity: pd.DataFrame
    refits: pd.DataFrame
    augment: pd.DataFrame
    sentences: tuple[str, ...]
    draws: Mapping[str, np.ndarray] = field(repr=False)
    key: str = ""

    def __repr__(self) -> str:
        """What was found, in short."""
        return summary_text(*self._shown())

    def _repr_html_(self) -> str:
        """The same for notebooks, with the first rows of the tables."""
        return summary_html(*self._shown())

    def _shown(self) -> tuple[str, tuple[str, ...], dict[str, pd.DataFrame]]:
        title = f"Fit of incoherence{f' ({self.task})' if self.task else ''}: {self.status}"
        return title, (self.reason, *self.sentences), {"table": self.table, "gates": self.gates}
