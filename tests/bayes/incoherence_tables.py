"""Simulated instances of incoherence for the tests."""

import numpy as np
import pandas as pd


def residual_table(
    residuals: np.ndarray, *, model: str = "m", unit: list[str] | None = None, identity: list[str] | None = None
) -> pd.DataFrame:
    """Instances of one model from residuals (n, wordings)."""
    n, k = residuals.shape
    mean = residuals.mean(axis=1)
    return pd.DataFrame(
        {
            "task": "simulated",
            "model": model,
            "unit": unit or [f"u{i:03d}" for i in range(n)],
            "identity": identity or ["total probability"] * n,
            "k": k,
            "mean": mean,
            "ss": ((residuals - mean[:, None]) ** 2).sum(axis=1),
            "clipped": 0.0,
        }
    )


def paired_names(pairs: int, single: int) -> tuple[list[str], list[str]]:
    """Units and identities: ``pairs`` units with two identities, ``single`` with one."""
    unit = [f"p{i:02d}" for i in range(pairs) for _ in range(2)] + [f"s{i:02d}" for i in range(single)]
    return unit, ["first", "second"] * pairs + ["first"] * single
