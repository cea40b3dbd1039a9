"""Intervals and tests on reduced tables."""
