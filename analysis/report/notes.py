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
    "these": "these templates and models, for units like the ones asked; not about new templates or new models",
    "new_items": "new items",
    "new_templates": "new templates",
    "new_models": "new models",
    "census": "this benchmark as the whole population",
}
WEIGHTS = {
    "micro": "micro, every response weighs the same within its cell",
    "item": "item, every item weighs the same within its cell",
    "prompt": "prompt, every item weighs the same within its cell",
    "template": "template, every template weighs the same within its cell",
    "form": "form, every form weighs the same within its cell",
    "unit": "unit, every base item weighs the same within its model",
}
UNADJUSTED = "not adjusted for multiple tests"
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
    sentences = _intervals(rows, [c for c in columns if isinstance(c, Interval)])
    sentences += _adjustments(rows, [c for c in columns if isinstance(c, PValue)])
    sentences += [_test(rows, columns), _sizes(rows, printed)]
    for name, lead, phrase in (
        ("unit", "Unit of analysis: {}", lambda v: "the unit that the logs name" if v == "unit" else _word(v)),
        ("scale", "Scale: {}", _word),
        ("uncertain", "{}", lambda v: UNCERTAIN.get(v, f"Treatment of uncertain answers: {_word(v)}")),
        ("weights", "Weighting: {}", lambda v: WEIGHTS.get(v, _word(v))),
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
    listed = [f"{phrase} ({numbers.counted(n, 'row')})" for phrase, n in list(tally.items())[:_LISTED]]
    rest = [f"{len(tally) - _LISTED} more"] if len(tally) > _LISTED else []
    return f"Rows differ. {lead.format('; '.join(listed + rest))}."


def _by_tally(columns: Sequence[Column], tallies: Sequence[dict[str, int]]) -> list[tuple[str, dict[str, int]]]:
    """Headings of the columns of which the same is to be said, and what that is.

    How many rows a phrase is about matters where there are several; columns that lack some rows join the others.
    """
    groups: dict[tuple[object, ...], tuple[list[str], dict[str, int]]] = {}
    for column, tally in zip(columns, tallies, strict=True):
        if tally:
            same = tuple(tally.items()) if len(tally) > 1 else tuple(tally)
            groups.setdefault(same, ([], tally))[0].append(column.header or column.name)
    return [(", ".join(dict.fromkeys(headings)), dict(tally)) for headings, tally in groups.values()]


def _intervals(rows: pd.DataFrame, columns: Sequence[Interval]) -> list[str]:
    """One sentence per level and method; where there are several, each names its columns."""
    tallies = []
    for column in columns:
        low = getattr(column, "low", column.name)
        defined = rows[rows[low].notna() | rows[column.high].notna()]
        pairs = zip(defined[column.level], defined[column.method], strict=True)
        tallies.append(_tally([_interval(level, method) for level, method in pairs]))
    groups = _by_tally(columns, tallies)
    leads = ["Intervals: {}"] if len(groups) == 1 else [f"Intervals of {headings}: {{}}" for headings, _ in groups]
    return [_sentence(lead, tally) for lead, (_, tally) in zip(leads, groups, strict=True)]


def _interval(level: object, method: object) -> str:
    size = "level not recorded" if is_missing(level) else numbers.level(float(level))  # type: ignore[arg-type]
    name = _phrase(method, lambda m: INTERVAL_METHODS.get(m, _word(m))) or "method not recorded"
    return f"{size}, {name}"


def _adjustments(rows: pd.DataFrame, columns: Sequence[PValue]) -> list[str]:
    """What the p-values are adjusted for, columns of which the same holds together."""
    tallies = []
    for column in columns:
        phrases = [UNADJUSTED]
        if column.adjusted:
            defined = rows[rows[column.name].notna()]
            pairs = zip(defined[column.method], defined[column.family], strict=True)
            phrases = [_family(method, size) for method, size in pairs]
        tallies.append(_tally(phrases))
    return [_sentence(f"{headings}: {{}}", tally) for headings, tally in _by_tally(columns, tallies)]


def _family(method: object, size: object) -> str:
    if method == "none":
        return UNADJUSTED
    name = _phrase(method, lambda m: f"adjusted by {m[:1].upper()}{_word(m)[1:]}") or "adjustment not recorded"
    return name if is_missing(size) else f"{name}, family of {numbers.counted(float(size), 'test')}"  # type: ignore[arg-type]


def _test(rows: pd.DataFrame, columns: Sequence[Column]) -> str:
    names = [name for name in ("test", "alternative") if name in rows.columns]
    if not names or not any(isinstance(c, PValue) for c in columns):
        return ""
    found = rows[names].itertuples(index=False, name=None)
    phrases = [", ".join(p for v in row if (p := _phrase(v, _word))) or None for row in found]
    return _sentence("Test: {}", _tally(phrases))


def _sizes(rows: pd.DataFrame, printed: set[str]) -> str:
    answered = "uncertain" in rows.columns and len(rows) > 0 and (rows["uncertain"] == "excluded").all()
    said = []
    for name, noun in (
        ("n", "readable answer" if answered else "scored response"),
        ("n_clusters", "independent unit"),
        ("n_unscored", "errored or missing response"),
    ):
        values = [float(v) for v in rows[name] if not is_missing(v)] if name in rows.columns else []
        if values and name not in printed:
            least, most = round(min(values)), round(max(values))
            said.append((f"{least:,} to " if least != most else "") + numbers.counted(most, noun))
    return f"Per row: {', '.join(said)}." if said else ""
