"""A commented ``study.toml`` that says in words what the logs contain."""

from collections.abc import Iterable, Sequence
from typing import Final

import duckdb

from analysis.schema.checks import unused_columns
from analysis.schema.quoting import quote_identifier
from analysis.schema.responses import CONDITIONS
from analysis.schema.store import store_columns
from analysis.schema.study import Study
from analysis.schema.study_keys import KEYS, KINDS
from analysis.schema.task_design import TaskDesign
from analysis.schema.toml_texts import toml_text, toml_texts
from analysis.schema.violation import ERROR, Violation

_LEVELS: Final = 5
_MODELS: Final = 200


def draft_study(
    con: duckdb.DuckDBPyConnection,
    designs: Sequence[TaskDesign],
    *,
    name: str,
    violations: Sequence[Violation] = (),
) -> str:
    """Text of a ``study.toml`` with the settings that hold without one, and the choices beside them.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``responses``.
    designs : sequence of TaskDesign
        From ``read_designs`` with the default study.
    name : str
        Name of the study.
    violations : sequence of Violation
        From ``check_responses``: errors are listed with what to do, and the kind, which may rest on them, is left open.

    Returns
    -------
    str
        Valid TOML: read back, it gives the same designs. What needs a decision is in comments.
    """
    errors = [violation for violation in violations if violation.severity == ERROR]
    parts = [
        "# Settings of the analysis of these logs, drafted from what they contain.",
        "# Every line is optional; a line that is taken out, or begins with #, leaves the default.",
        "",
        *_error_lines(errors),
        *_study_section(con, designs, name, settled=not errors),
        *_map_section(con),
        *_model_section(con),
        *_contrast_section(designs),
        *_report_section(),
    ]
    return "\n".join(parts) + "\n"


def _error_lines(errors: Sequence[Violation]) -> list[str]:
    """What `evenhand validate` refuses, before any setting."""
    if not errors:
        return []
    lines = ["# A report needs these settled first (`evenhand validate` lists them with their lines):"]
    for error in errors[:_LEVELS]:
        lines += [f"#   {error.message}", f"#     to do: {error.fix}"]
    return [*lines, *(["#   …"] if len(errors) > _LEVELS else []), ""]


def _study_section(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], name: str, *, settled: bool
) -> list[str]:
    defaults = Study()
    kinds = _kind_lines(designs)
    lines = ["[study]", f"name = {toml_text(name or 'study')}", *(kinds if settled else map(_as_comment, kinds))]
    lines.append(_line("target", defaults.target))
    lines += _unit_lines(designs)
    found = store_columns(con)
    conditions = [c for c in CONDITIONS if c in found]
    lines.append(f"conditions = {toml_texts(conditions)}   # factors that vary within an item")
    lines += _factor_lines(con, designs)
    lines += [_line("weights", defaults.weights), _line("uncertain", defaults.uncertain)]
    lines += _exclude_lines(designs)
    if len(designs) > 1:
        lines.append(f"# pool_tasks = true   # the {len(designs)} tasks are sections of their own")
    lines.append(f"# {_line('probability_scale', defaults.probability_scale)}")
    return [*lines, ""]


def _line(key: str, value: str) -> str:
    """One setting with its known values beside it."""
    known = next(k for k in KEYS["study"] if k.name == key)
    return f"{key} = {toml_text(value)}   # {known.meaning}: {' | '.join(known.values)}"


def _as_comment(line: str) -> str:
    return line if line.startswith("#") else f"# {line}"


def _kind_lines(designs: Sequence[TaskDesign]) -> list[str]:
    kinds = {design.task: design.kind for design in designs}
    choices = f"   # what an answer is: {' | '.join(KINDS)}"
    reasons = [f"#   {toml_text(design.task)}: {design.kind}, {design.kind_reason}" for design in designs]
    if not kinds:
        return [f"# kind = {toml_text(KINDS[0])}{choices}"]
    if len(set(kinds.values())) == 1:
        return [f"kind = {toml_text(designs[0].kind)}{choices}", *reasons]
    table = ", ".join(f"{toml_text(task)} = {toml_text(kind)}" for task, kind in kinds.items())
    return [f"kind = {{ {table} }}{choices}", *reasons]


def _unit_lines(designs: Sequence[TaskDesign]) -> list[str]:
    meaning = "   # column that is the independent unit"
    given = [design for design in designs if design.unit != "item"]
    if given:
        counts = ", ".join(f"{design.n_units} units of {design.n_items} items" for design in given[:_LEVELS])
        return [f"unit = {toml_text(given[0].unit)}{meaning}: {counts}"]
    lines = [f'# unit = "item"{meaning}; the logs name none, so every item counts as one']
    shared = sorted({name for design in designs for name, levels in design.item_factors.items() if len(levels) > 2})
    if shared:
        lines.append(
            f"#   items that share content are not independent; columns to look at: {', '.join(map(toml_text, shared))}"
        )
    return lines


def _factor_lines(con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign]) -> list[str]:
    lines = []
    factors = sorted({name for design in designs for name in design.item_factors})
    for name in factors:
        levels = sorted({level for design in designs for level in design.item_factors.get(name, ())})
        lines.append(f"#   factor {toml_text(name)}: {_levels(levels, len(levels))}")
    unused = unused_columns(con, Study())
    for name in unused:
        column = quote_identifier(name)
        query = f"SELECT DISTINCT {column} AS level_ FROM responses WHERE level_ IS NOT NULL ORDER BY level_"
        levels = [row[0] for row in con.execute(f"{query} LIMIT {_LEVELS}").fetchall()]
        count = con.execute(f"SELECT approx_count_distinct({column}) FROM responses").fetchall()[0][0]
        lines.append(f"#   not used: column {toml_text(name)}, {_levels(levels, max(count, len(levels)))}")
    example = toml_texts(_short(unused[:1])) if unused else "[]"
    return [f"# factors = {example}   # further columns that are factors of the item", *lines]


def _short(names: Iterable[str]) -> list[str]:
    return [name.removeprefix("meta.") for name in names]


def _levels(levels: Sequence[str], count: int) -> str:
    """Number of levels and the first of them, each cut to a readable length."""
    listed = ", ".join(toml_text(level if len(level) <= 40 else level[:39] + "…") for level in levels[:_LEVELS])
    about = f"{count} levels" if count != 1 else "1 level"
    return f"{about}: {listed}" + (", …" if count > _LEVELS else "") if listed else "no values"


def _exclude_lines(designs: Sequence[TaskDesign]) -> list[str]:
    lines = [f"# exclude = {{ form = {toml_texts(['x'])} }}   # column -> levels that are left out"]
    for design in designs:
        for form, rows in design.one_polarity_forms.items():
            lines.append(
                f"#   form {toml_text(form)} is asked with one polarity only and left out of the cells ({rows} rows)"
            )
    if any(design.one_polarity_forms for design in designs):
        lines.append('# unpaired_forms = "include"   # keep them in the cells')
    return lines


def _map_section(con: duckdb.DuckDBPyConnection) -> list[str]:
    source = next(iter(unused_columns(con, Study())), "meta.id")
    named = toml_text(source.removeprefix("meta."))
    return [
        "# [map]   # column of the schema = foreign column, dotted path, constant, or translated values",
        f"# unit = {named}",
        f"# polarity = {{ from = {named}, "
        'regex = "-(aff|neg)-", values = { aff = "affirmative", neg = "negated" } }',
        "",
    ]


def _model_section(con: duckdb.DuckDBPyConnection) -> list[str]:
    query = "SELECT DISTINCT model FROM responses WHERE model IS NOT NULL ORDER BY model"
    models = [row[0] for row in con.execute(query).fetchall()]
    lines = ["# Names to print, and families to pool over:"]
    for model in models[:_MODELS]:
        label = model.rsplit("/", 1)[-1]
        lines += [f"[models.{toml_text(model)}]", f"# label = {toml_text(label or model)}", '# family = "…"', ""]
    if len(models) > _MODELS:
        lines += [f"# … and {len(models) - _MODELS} further models", ""]
    return lines


def _contrast_section(designs: Sequence[TaskDesign]) -> list[str]:
    candidates = [
        (name, levels)
        for design in designs
        for name, levels in design.item_factors.items()
        if name not in ("validity", "polarity", "template") and 2 <= len(levels) <= 20
    ]
    name, levels = candidates[0] if candidates else ("form", ("a", "b"))
    return [
        "# [[contrast]]   # levels of a factor, compared on paired responses",
        f"# factor = {toml_text(name)}",
        f"# levels = {toml_texts(levels[:2])}",
        '# match = ["template"]',
        "",
    ]


def _report_section() -> list[str]:
    return ["# [report]", '# primary = ["competence_floor", "answer_bias"]   # the rest is labelled exploratory']
