"""Each quantity defined once, over leading axes."""
