"""Small tables of unit sums, as reduction makes them with row weights."""

from collections.abc import Iterable

import pandas as pd

FOUR = ("VA", "VN", "IA", "IN")
YES = ("VA", "IN", "gold_yes")


def unit_row(
    model: str,
    cell: str,
    unit: str,
    right: int,
    wrong: int,
    *,
    uncertain: int = 0,
    set_aside: int = 0,
    stratum: str = "",
    task: str = "",
) -> dict[str, object]:
    """Counts of one unit in one cell; ``right`` and ``wrong`` are answered responses."""
    answered, scored = right + wrong, right + wrong + uncertain
    yes = right if cell in YES else wrong
    return {
        "task": task,
        "model": model,
        "cell": cell,
        "stratum": stratum,
        "unit": unit,
        "n_planned": scored + set_aside,
        "n_answered": answered,
        "n_uncertain": uncertain,
        "n_set_aside": set_aside,
        "n_yes": yes,
        "n_correct": right,
        "w_scored": float(scored),
        "w_correct": float(right),
        "w_uncertain": float(uncertain),
        "w_answered": float(answered),
        "w_correct_answered": float(right),
        "w_yes": float(yes),
    }


def crossed(model: str, rates: dict[str, Iterable[int]], per_unit: int, **changes: object) -> list[dict[str, object]]:
    """Units u0, u1, ... that serve every cell; ``rates`` lists the right answers of each unit, out of ``per_unit``."""
    return [
        unit_row(model, cell, f"u{i}", right, per_unit - right, **changes)
        for cell, rights in rates.items()
        for i, right in enumerate(rights)
    ]


def items(model: str, yes: Iterable[int], no: Iterable[int], per_item: int = 1) -> list[dict[str, object]]:
    """Items with gold yes and items with gold no, each its own unit."""
    first = [unit_row(model, "gold_yes", f"y{i}", k, per_item - k) for i, k in enumerate(yes)]
    return first + [unit_row(model, "gold_no", f"n{i}", k, per_item - k) for i, k in enumerate(no)]


def table(*rows: list[dict[str, object]]) -> pd.DataFrame:
    """One table of all rows."""
    return pd.DataFrame([row for part in rows for row in part])
