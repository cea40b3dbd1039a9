"""Which cells a judgement task has: validity × polarity, gold answer alone, or none."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import duckdb

from analysis.schema.items import ItemFacts, low
from analysis.schema.quoting import shown

FOUR: Final = frozenset(product(("valid", "invalid"), ("affirmative", "negated")))
VALIDITY_POLARITY: Final = "validity_polarity"
GOLD: Final = "gold"


@dataclass(frozen=True, slots=True)
class CellGroup:
    """Items of a task that share gold answer, validity, polarity and form, and their rows."""

    gold: str | None
    validity: str | None
    polarity: str | None
    form: str | None
    items: int
    rows: int


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of a task, why, and the forms left out of them with their rows."""

    cells: str | None
    reason: str
    one_polarity_forms: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


def cell_groups(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> dict[str, list[CellGroup]]:
    """Task -> groups of its items that the study does not exclude."""
    form = low("form") if "form" in facts.factors else "CAST(NULL AS VARCHAR)"
    rows = con.execute(
        f"""
        SELECT section, gold_, validity_, polarity_, {form} AS form, count(*), sum(n_rows)
        FROM design_items WHERE left_out IS NULL GROUP BY ALL ORDER BY ALL
        """
    ).fetchall()
    groups: dict[str, list[CellGroup]] = defaultdict(list)
    for task, gold, validity, polarity, form_level, items, n_rows in rows:
        groups[task].append(CellGroup(gold, validity, polarity, form_level, int(items), int(n_rows)))
    return groups


def cells_of(kind: str, groups: list[CellGroup], *, keep_unpaired: bool) -> Cells:
    """Cells that the items of a task allow.

    Four cells need validity and polarity of every item with a gold answer, and items in each of the
    four. Forms asked with one polarity only would mix the composition of forms into polarity
    sensitivity: they are left out, unless that empties a cell or the study keeps them.
    """
    if kind != "judgement":
        return Cells(None, f"answers are of the kind {kind}, cells are for yes/no judgements")
    scored = [group for group in groups if group.gold in {"yes", "no"}]
    if not scored:
        return Cells(None, "no item has a gold answer, or validity and polarity to derive it from")
    lacking = [name for name in ("validity", "polarity") if all(getattr(g, name) is None for g in scored)]
    if lacking:
        return Cells(GOLD, f"the items have no {' and no '.join(lacking)}")
    unlinked = sum(g.items for g in scored if g.validity is None or g.polarity is None)
    if unlinked:
        total = sum(g.items for g in scored)
        return Cells(GOLD, f"{unlinked} of {total} items lack validity or polarity")
    if _filled(scored) != FOUR:
        absent = sorted(" ".join(pair) for pair in FOUR - _filled(scored))
        return Cells(GOLD, f"no item is {', or '.join(absent)}")
    return _four_cells(scored, keep_unpaired=keep_unpaired)


def _four_cells(groups: list[CellGroup], *, keep_unpaired: bool) -> Cells:
    reason = "validity and polarity of every item are known, and each of the four cells has items"
    polarities: dict[str, set[str | None]] = defaultdict(set)
    rows: dict[str, int] = defaultdict(int)
    for group in groups:
        if group.form is not None:
            polarities[group.form].add(group.polarity)
            rows[group.form] += group.rows
    unpaired = {form: rows[form] for form, seen in sorted(polarities.items()) if len(seen) == 1}
    if not unpaired:
        return Cells(VALIDITY_POLARITY, reason)
    named = ", ".join(shown(form) for form in unpaired)
    if keep_unpaired:
        return Cells(VALIDITY_POLARITY, reason)
    if _filled(g for g in groups if g.form not in unpaired) != FOUR:
        note = f"forms asked with one polarity only ({named}) stay in the cells: without them a cell would be empty"
        return Cells(VALIDITY_POLARITY, reason, note=note)
    note = f"forms asked with one polarity only are left out of the cells: {named} ({sum(unpaired.values())} rows)"
    return Cells(VALIDITY_POLARITY, reason, unpaired, note)


def _filled(groups: Iterable[CellGroup]) -> frozenset[tuple[str, str]]:
    return frozenset((g.validity, g.polarity) for g in groups if g.validity is not None and g.polarity is not None)
