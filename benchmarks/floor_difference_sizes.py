"""Coverage of intervals for the difference of two floors."""

from collections.abc import Sequence

import numpy as np
from comparison_regimes import FLOOR_PAIRS, floor_pairs
from size_rows import share_row

from analysis.frequentist.floor_difference import floor_differences
from analysis.measures.competence import competence_floor

CLASSES = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0]])


def floor_difference_rows(names: Sequence[str], replicates: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """Coverage of the delta-t interval, and how often it excludes 0 where floors are equal."""
    rows = []
    for per_cell in (1, 5, 30):
        for name in names:
            answers = floor_pairs(name, per_cell, replicates, rng)
            flat = answers.reshape(2 * replicates, *answers.shape[2:])
            pairs = np.arange(2 * replicates).reshape(replicates, 2)
            found = floor_differences(np.full(flat.shape, float(per_cell)), flat, CLASSES, pairs=pairs)
            truth = float(np.subtract(*(competence_floor(cells) for cells in FLOOR_PAIRS[name])))
            covered = (found.ci_low <= truth) & (truth <= found.ci_high)
            regime = f"{name}, {per_cell} per cell"
            rows.append(share_row("A.4", regime, "delta t", covered, (0.944, 0.988), 1500, "covered"))
            if truth == 0:
                rows.append(share_row("A.4", regime, "delta t", found.p_value <= 0.05, quantity="rejected"))
    return rows
