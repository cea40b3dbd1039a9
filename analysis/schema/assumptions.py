"""Sentences that say what was assumed of a task where neither its rows nor the study say so."""

from analysis.schema.sizes import Size
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign

_TARGETS = {
    "these": "these templates and models, for units like the ones asked; not about new templates or new models",
    "new_items": "new items",
    "new_templates": "new templates",
    "new_models": "new models",
    "census": "the benchmark itself as the population",
}


def assumptions(design: TaskDesign, study: Study, size: Size, cell_note: str) -> tuple[str, ...]:
    """Sentences in the order kind, unit, derived columns, cells, conditions, settings."""
    sentences = []
    if study.kind_of(design.task) is None:
        sentences.append(f"Answers are taken as of kind {design.kind}: {design.kind_reason}.")
    sentences += _unit(design, study, size)
    sentences += [
        f"{column} of {items} items follows from {_others(column)}; the logs do not give it."
        for column, items in design.derived.items()
    ]
    if design.kind == "judgement":
        sentences.append(f"{_cells(design)}: {design.cells_reason}.")
    if cell_note:
        sentences.append(cell_note[0].upper() + cell_note[1:] + ".")
    constant = [name for name in design.conditions if name not in design.varying]
    if constant:
        sentences.append(f"Declared or usual conditions that no item varies in: {', '.join(constant)}.")
    sentences += [
        f"study.toml excludes {column} = {level}, which no row of this task has."
        for column, levels in design.exclude.items()
        for level in levels
        if level not in {**design.item_factors, **design.conditions}.get(column, (level,))
    ]
    if "study.target" not in study.given:
        sentences.append(f"Claims are about {_TARGETS[design.target]} (target = {design.target}).")
    return tuple(sentences)


def _unit(design: TaskDesign, study: Study, size: Size) -> list[str]:
    if size.with_unit == 0 and design.unit == "item" and study.unit != "item":
        lacking = f"no item has a value in {study.unit}" if study.unit else "the logs name no unit"
        return [f"Every item is taken as independent of the others: {lacking}."]
    if 0 < size.with_unit < size.items:
        lacking = f"{size.items - size.with_unit} of {size.items} items"
        return [f"{lacking} have no {design.unit}; each is taken as a unit of its own."]
    return []


def _others(column: str) -> str:
    first, second = (name for name in ("gold", "validity", "polarity") if name != column)
    return f"{first} and {second}"


def _cells(design: TaskDesign) -> str:
    names = {
        "validity_polarity": "The cells are validity × polarity",
        "gold": "The cells are the two gold answers",
    }
    return names.get(design.cells or "", "There are no cells")
