"""Logs without item families: the column is there, and empty in every row."""

from dataclasses import replace

import numpy as np

from analysis.bayes.incoherence import fit_incoherence
from analysis.bayes.incoherence_sampling import incoherence_settings
from tests.bayes.incoherence_tables import residual_table


def test_empty_families_and_levels_make_no_group() -> None:
    """Catches the rows of an unnamed group taken for those of all instances, on which the refits then fail."""
    residuals = 0.3 * np.random.default_rng(3).standard_normal((8, 3))
    table = residual_table(residuals, model="m").assign(item_family="", level="")
    fit = fit_incoherence(table, settings=replace(incoherence_settings(), draws=100, chains=2), seed=1)
    rows = fit.table[fit.table["variant"] == "SSL"]
    assert not rows.duplicated(["measure", "target", "item_family", "level"]).any()
    assert len(fit.refits)
