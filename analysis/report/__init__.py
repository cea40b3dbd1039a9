"""Declared tables and figures, and the page that holds them."""
