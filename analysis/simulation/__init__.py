"""Logs whose truth is known."""
