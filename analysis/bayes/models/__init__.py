"""One file per model: its likelihood, pooling, identifying constraints and sources."""
