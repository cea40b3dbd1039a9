"""Evenhand: a statistical analysis toolkit over response logs of language models."""

__version__ = "0.1.0"
