"""The standard schema: one row per logged response."""
