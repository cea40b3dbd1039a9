"""Tables of answers as the reduction gives them, drawn from responders whose truth is known."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def answer_table(rows: list[dict]) -> pd.DataFrame:
    """Rows with ``model, unit, item, gold`` and ``said`` (yes, no, ? unreadable, - set aside), completed."""
    table = pd.DataFrame(rows)
    for name, default in (("strategy", "zero"), ("believability", ""), ("variant", "N"), ("task", "")):
        if name not in table:
            table[name] = default
    said = table.pop("said")
    scored = said != "-"
    table["answer"] = np.where(said.isin(["yes", "no"]), said, "")
    table["n_votes"] = 1
    table["right"] = np.where(scored, said == table["gold"], np.nan).astype(float)
    table["endorsed"] = np.where(scored, said == "yes", np.nan).astype(float)
    table["unclear"] = np.where(scored, said == "?", np.nan).astype(float)
    return table


def belief_design(units_per_cell: int = 10) -> list[dict]:
    """Units named by cell, with two natural and two nonsense versions each, the latter without believability."""
    rows = []
    for valid, believable in ((1, 1), (1, 0), (0, 1), (0, 0)):
        for i in range(units_per_cell):
            unit = f"{'V' if valid else 'I'}{'B' if believable else 'U'}{i:02d}"
            for variant in ("N", "X", "O", "OX"):
                rows.append(
                    {
                        "unit": unit,
                        "item": f"{unit}_{variant}",
                        "variant": variant,
                        "gold": "yes" if valid else "no",
                        "believability": ""
                        if variant in ("X", "OX")
                        else "believable"
                        if believable
                        else "unbelievable",
                    }
                )
    return rows


def drawn_answers(
    design: list[dict],
    p_yes: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    model: str = "m",
    strategy: str = "zero",
) -> list[dict]:
    """One answer to every question of a design, yes with the probability of its row."""
    said = np.where(rng.random(len(design)) < p_yes, "yes", "no")
    return [row | {"said": s, "model": model, "strategy": strategy} for row, s in zip(design, said, strict=True)]
