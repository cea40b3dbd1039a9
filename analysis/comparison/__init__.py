"""Estimates beside each other."""
