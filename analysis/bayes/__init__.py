"""Hierarchical models in PyMC."""

from pathlib import Path

from analysis.bayes.compiled_programs import drop_stale_programs

drop_stale_programs(Path(__file__).parent)
