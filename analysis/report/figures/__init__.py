"""Figures: drawn from tidy estimates, with the data and an alternative text beside each."""
