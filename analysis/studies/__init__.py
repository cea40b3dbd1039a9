"""One declaration per study: factors, estimands, tables."""
