"""Write the small simulated tables that R and the tests both read.

    python tests/reference/make_inputs.py

Values are drawn with a fixed seed and rounded, so that both sides read the same numbers, ties included.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

INPUTS = Path(__file__).parent / "inputs"


def tables(seed: int = 20260801) -> dict[str, pd.DataFrame]:
    """Every input by the name of its file."""
    rng = np.random.default_rng(seed)
    return {
        "pairs": _pairs(rng),
        "answers": _answers(rng),
        "conditions": _conditions(rng),
        "differences": _differences(rng),
        "blocks": _blocks(rng),
        "groups": _groups(rng),
        "rows": _rows(rng),
        "matched": _matched(rng),
        "models": _models(rng),
        "p_values": pd.DataFrame({"p": np.round(np.sort(rng.beta(0.4, 2.0, 15)) + 0.0004, 5)}),
    }


def _pairs(rng: np.random.Generator) -> pd.DataFrame:
    """150 independent pairs of right and wrong answers."""
    first = rng.random(150) < 0.75
    second = np.where(rng.random(150) < 0.6, first, rng.random(150) < 0.4)
    return pd.DataFrame({"unit": np.arange(1, 151), "first": first.astype(int), "second": second.astype(int)})


def _answers(rng: np.random.Generator) -> pd.DataFrame:
    """30 units answered once under each of four levels."""
    lean = rng.normal(0, 1, 30)[:, None] + np.array([0.0, 0.3, 0.9, -0.4])
    right = (rng.random((30, 4)) < expit(lean)).astype(int)
    units, levels = np.indices(right.shape)
    return pd.DataFrame({"unit": units.ravel() + 1, "level": levels.ravel() + 1, "right": right.ravel()})


def _conditions(rng: np.random.Generator) -> pd.DataFrame:
    """11 units under three conditions, in steps of .05: some tie."""
    values = np.round((0.6 + rng.normal(0, 0.1, (11, 1)) + rng.normal([0, 0.05, 0.1], 0.08, (11, 3))) * 20) / 20
    return pd.DataFrame(np.column_stack([np.arange(1, 12), values]), columns=["unit", "a", "b", "c"])


def _differences(rng: np.random.Generator) -> pd.DataFrame:
    """14 differences in hundredths, some of them 0 and some of one size."""
    d = np.round(rng.normal(1.5, 4, 14)).astype(int)
    d[[4, 11]] = 0
    return pd.DataFrame({"unit": np.arange(1, 15), "d": d})


def _blocks(rng: np.random.Generator) -> pd.DataFrame:
    """16 units, each with a value at three levels."""
    values = np.round(rng.normal(0, 1, (16, 1)) + rng.normal([0.0, 0.3, 0.5], 0.7, (16, 3)), 3)
    return pd.DataFrame(np.column_stack([np.arange(1, 17), values]), columns=["unit", "a", "b", "c"])


def _groups(rng: np.random.Generator) -> pd.DataFrame:
    """33 units, each at one of three levels, with unequal spreads."""
    level = np.repeat([1, 2, 3], [8, 11, 14])
    return pd.DataFrame({"level": level, "value": np.round(rng.normal(0.1 * level, 0.2 * level), 3)})


def _rows(rng: np.random.Generator) -> pd.DataFrame:
    """Answers of 24 units of unequal size in four cells; some units lack a cell."""
    rows = []
    for unit in range(1, 25):
        tendency, ability = rng.normal(0, 0.7, 2)
        for cell, sign in enumerate((1, -1, -1, 1)):
            n = int(rng.integers(0, 7))
            right = rng.random(n) < expit(0.6 + ability + sign * (0.3 + tendency))
            rows += [{"unit": unit, "cell": cell + 1, "right": int(r)} for r in right]
    return pd.DataFrame(rows)


def _matched(rng: np.random.Generator) -> pd.DataFrame:
    """Matched pairs of 18 units, one to nine pairs each."""
    rows = []
    for unit in range(1, 19):
        moved = rng.normal(0.4, 0.8)
        for _ in range(int(rng.integers(1, 10))):
            rows.append({"unit": unit, "first": int(rng.random() < expit(moved)), "second": int(rng.random() < 0.5)})
    return pd.DataFrame(rows)


def _models(rng: np.random.Generator) -> pd.DataFrame:
    """Nine models with three measures: x and y without ties, z with ties."""
    x = rng.permutation(np.round(np.linspace(0.4, 0.9, 9) + rng.uniform(-0.02, 0.02, 9), 4))
    y = np.round(0.5 * x + rng.normal(0, 0.12, 9), 4)
    return pd.DataFrame({"x": x, "y": y, "z": np.round(y * 5) / 5})


def main() -> None:
    INPUTS.mkdir(exist_ok=True)
    for name, table in tables().items():
        table.to_csv(INPUTS / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
