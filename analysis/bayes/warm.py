"""``python -m analysis.bayes.warm``: compile the densities once, so that the first report does not wait for it."""

import pandas as pd

from analysis.bayes import belief_bias, incoherence
from analysis.bayes.accuracy import fit_accuracy
from analysis.bayes.fit import warm
from analysis.bayes.sampling import SamplerSettings

#: Their densities are compiled when they are imported.
COMPILED = (belief_bias, incoherence)


def main() -> None:
    """Compile what the reports of every study sample."""
    warm()
    rows = [
        {"model": model, "item": f"i{i}", "unit": f"u{i // 2}", "n_samples": 1, "n_right": int((i + m) % 3 > 0)}
        for m, model in enumerate(("a", "b", "c"))
        for i in range(12)
    ]
    fit_accuracy(pd.DataFrame(rows), settings=SamplerSettings(chains=2, draws=50, tune=50, fast=True))


if __name__ == "__main__":
    main()
