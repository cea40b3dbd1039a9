"""Recomputing what a report says."""
