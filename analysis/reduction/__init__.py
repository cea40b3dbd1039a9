"""Responses to sufficient statistics and counted exclusions."""
