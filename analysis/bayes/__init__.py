"""Hierarchical models in PyMC."""
