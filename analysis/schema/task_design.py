"""What the rows of one task allow: its kind, unit, cells, factors and conditions."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskDesign:
    """Design of one task, read off its rows and ``study.toml``.

    Attributes
    ----------
    task : str
        Name of the task in the view ``analysed``; of the pooled tasks, the study's name.
    kind : str
        ``judgement``, ``choice``, ``probability`` or ``score``; ``kind_reason`` says why.
    unit : str
        Column that is the independent unit; ``item`` where ``unit_is_item``.
    cells : str or None
        ``validity_polarity`` (four cells), ``gold`` (two) or None; ``cells_reason`` says why.
    derived : mapping of str to int
        ``gold``, ``validity`` or ``polarity`` -> items in which it follows from the other two.
    item_factors, conditions : mapping of str to tuple of str
        Column -> its levels, sorted; columns without any value are absent. Factors are constant within
        an item, ``varying`` are the conditions that do vary within one.
    one_polarity_forms : mapping of str to int
        Question forms asked with one polarity only, and left out of the cells -> rows.
    n_rows, n_models, n_items, n_units : int
    simulated : bool
        Some row comes from a generated log.
    weights, uncertain, target : str
    exclude : mapping of str to tuple of str
        Settings of the study.
    assumptions : tuple of str
        Sentences: what was assumed where neither the rows nor the study say so.
    """

    task: str
    kind: str
    kind_reason: str
    unit: str
    unit_is_item: bool
    cells: str | None
    cells_reason: str
    derived: Mapping[str, int]
    item_factors: Mapping[str, tuple[str, ...]]
    conditions: Mapping[str, tuple[str, ...]]
    varying: tuple[str, ...]
    one_polarity_forms: Mapping[str, int]
    n_rows: int
    n_models: int
    n_items: int
    n_units: int
    has_model_family: bool
    has_model_size: bool
    simulated: bool
    weights: str
    uncertain: str
    target: str
    exclude: Mapping[str, tuple[str, ...]]
    assumptions: tuple[str, ...] = ()
