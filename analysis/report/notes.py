"""What the data say of themselves, as sentences under a table."""

from collections.abc import Callable, Sequence

import pandas as pd

from analysis.report import numbers
from analysis.report.columns import Column, Interval, PValue, is_missing
from analysis.report.spec import TableSpec

SIMULATED = "SIMULATED DATA"
SIMULATED_NOTE = f"{SIMULATED}: the responses come from a generator, not from language models."

#: Names of interval methods in prose; a method without an entry is printed as it is.
INTERVAL_METHODS = {
    "wilson": "Wilson score",
    "dual_wilson": "dual Wilson, effective n and degrees of freedom from the clustering by unit",
    "clopper_pearson": "Clopper-Pearson",
    "jeffreys": "Jeffreys",
    "hdi": "highest posterior density",
    "eti": "equal-tailed posterior",
    "bootstrap_t": "bootstrap-t",
}
UNCERTAIN = {
    "incorrect": "Uncertain answers count as incorrect",
    "excluded": "Uncertain answers are left out",
    "half": "Uncertain answers count as half correct",
}
TARGETS = {
    "these": "these items, templates and models, as drawn from more like them by unit",
    "new_items": "new items",
    "new_templates": "new templates",
    "new_models": "new models",
    "census": "this benchmark as the whole population",
}
_LISTED = 6


def notes_from(rows: pd.DataFrame, spec: TableSpec) -> tuple[str, ...]:
    """Sentences on intervals, tests, unit, numbers of responses, uncertain answers, weights and target.

    Every sentence is read off the data's own columns. Where rows differ, the sentence says so and lists
    what occurs with its number of rows. A column that the table prints needs no sentence.

    Parameters
    ----------
    rows : DataFrame
    spec : TableSpec

    Returns
    -------
    tuple of str
    """
    columns = [c for c in spec.columns if set(c.needs()) <= set(rows.columns)]
    printed = {name for c in columns for name in (c.name, getattr(c, "high", ""))}
    sentences = [_intervals(rows, c) for c in columns if isinstance(c, Interval)]
    sentences += [_adjustment(rows, c) for c in columns if isinstance(c, PValue)]
    sentences += [_test(rows, columns), _sizes(rows, printed)]
    for name, lead, phrase in (
        ("unit", "Unit of analysis: {}", _word),
        ("scale", "Scale: {}", _word),
        ("uncertain", "{}", lambda v: UNCERTAIN.get(v, f"Treatment of uncertain answers: {_word(v)}")),
        ("weights", "Weighting: {}", _word),
        ("target", "Claims are about {}", lambda v: TARGETS.get(v, _word(v))),
    ):
        if name in rows.columns and name not in printed:
            sentences.append(_sentence(lead, _tally([_phrase(v, phrase) for v in rows[name]])))
    return tuple(dict.fromkeys(s for s in sentences if s))


def _word(value: str) -> str:
    return value.replace("_", " ")


def _phrase(value: object, phrase: Callable[[str], str]) -> str | None:
    return None if is_missing(value) or value == "" else phrase(str(value))


def _tally(phrases: Sequence[str | None]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for phrase in phrases:
        if phrase is not None:
            counts[phrase] = counts.get(phrase, 0) + 1
    return counts


def _sentence(lead: str, tally: dict[str, int]) -> str:
    if not tally:
        return ""
    if len(tally) == 1:
        return lead.format(next(iter(tally))) + "."
    listed = [f"{phrase} ({_rows(n)})" for phrase, n in list(tally.items())[:_LISTED]]
    rest = [f"{len(tally) - _LISTED} more"] if len(tally) > _LISTED else []
    return f"Rows differ. {lead.format('; '.join(listed + rest))}."


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _intervals(rows: pd.DataFrame, column: Interval) -> str:
    low = getattr(column, "low", column.name)
    defined = rows[rows[low].notna() | rows[column.high].notna()]
    pairs = zip(defined[column.level], defined[column.method], strict=True)
    return _sentence("Intervals: {}", _tally([_interval(level, method) for level, method in pairs]))


def _interval(level: object, method: object) -> str:
    size = "level not recorded" if is_missing(level) else numbers.level(float(level))  # type: ignore[arg-type]
    name = _phrase(method, lambda m: INTERVAL_METHODS.get(m, _word(m))) or "method not recorded"
    return f"{size}, {name}"


def _adjustment(rows: pd.DataFrame, column: PValue) -> str:
    if not column.adjusted:
        return f"{column.header or column.name}: not adjusted for multiple tests."
    defined = rows[rows[column.name].notna()]
    pairs = zip(defined[column.method], defined[column.family], strict=True)
    phrases = [_family(method, size) for method, size in pairs]
    return _sentence(f"{column.header or column.name}: {{}}", _tally(phrases))


def _family(method: object, size: object) -> str:
    name = _phrase(method, lambda m: m[:1].upper() + _word(m)[1:]) or "adjustment not recorded"
    return name if is_missing(size) else f"{name}, family of {numbers.count(float(size))} tests"  # type: ignore[arg-type]


def _test(rows: pd.DataFrame, columns: Sequence[Column]) -> str:
    names = [name for name in ("test", "alternative") if name in rows.columns]
    if not names or not any(isinstance(c, PValue) for c in columns):
        return ""
    found = rows[names].itertuples(index=False, name=None)
    phrases = [", ".join(p for v in row if (p := _phrase(v, _word))) or None for row in found]
    return _sentence("Test: {}", _tally(phrases))


def _sizes(rows: pd.DataFrame, printed: set[str]) -> str:
    said = []
    for name, noun in (
        ("n", "scored responses"),
        ("n_clusters", "independent units"),
        ("n_unscored", "responses set aside (errored or missing)"),
    ):
        values = [float(v) for v in rows[name] if not is_missing(v)] if name in rows.columns else []
        if values and name not in printed:
            ends = [f"{v:,.0f}" for v in (min(values), max(values))]
            said.append(f"{' to '.join(dict.fromkeys(ends))} {noun}")
    return f"Per row: {', '.join(said)}." if said else ""
