"""What ``evenhand audit`` prints."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any

    import pandas as pd

    from analysis.comparison.readings_effect import ReadingsEffect
    from analysis.reduction.overrides import OverrideAccount

_TEXT_WIDTH = 700
_SHOWN = 60
_MOVES = 20


def one_line(text: object) -> str:
    """One line of text from a log that cannot steer a terminal: line ends and control characters are shown."""
    from analysis.cli.main import printable

    return printable(str(text)).replace("\n", "\\n")


def _cell(text: object) -> str:
    name = one_line(text)
    return name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…"


def print_left_out(files: "pd.DataFrame") -> None:
    left_out = files[files["verdict"].isin(["refused", "unreadable"])]
    if len(left_out):
        print(f"left out, could not be read: {len(left_out):,} of {len(files):,} files")
        for row in left_out.to_dict("records"):
            print(f"  {one_line(row['file'])}: {one_line(row['reason'])}")
        print()


def print_overrides(account: "OverrideAccount") -> None:
    """Every answer that a person gave in place of the reader's."""
    print(f"{one_line(account.path)}: {len(account.applied):,} overrides, {account.n_changed:,} change the answer")
    for row in account.applied[account.applied["changed"]].to_dict("records"):
        before, after = row["read"] or "nothing", row["answer"] or "nothing"
        note = f" ({one_line(row['note'])})" if row["note"] else ""
        print(f"  {one_line(row['source'])}: {_cell(before)} by {_cell(row['rule'])}, now {_cell(after)}{note}")
    print()


def print_counts(counts: "pd.DataFrame", conditions: "Sequence[str]") -> None:
    """Per task, model and condition, responses by status and rule with their shares."""
    print("How the answers were read")
    for key, rows in counts.groupby(["task", "model", *conditions], sort=True):
        task, model, *levels = (str(level) for level in key)
        total = int(rows["rows"].sum())
        where = [f"{name} = {level}" for name, level in zip(conditions, levels, strict=True) if level]
        parts = [model, *([task] if task else []), *where]
        print(f"\n  {' · '.join(_cell(part) for part in parts)}: {total:,} responses")
        for row in rows.sort_values(["status", "rows", "rule"], ascending=[True, False, True]).to_dict("records"):
            share = 100 * row["rows"] / total
            print(f"    {row['status']:10} {_cell(row['rule']):22} {row['rows']:9,}  {share:5.1f} %")


def print_disagreements(disagreements: "pd.DataFrame") -> bool:
    """List where reading and score differ; whether any reading contradicts a score."""
    print("\nReadings against logged scores")
    if disagreements.empty:
        print("  no disagreement (or no log has both scores of 0 and 1 and gold answers)")
        return False
    for row in disagreements.to_dict("records"):
        where = _cell(row["model"]) + (f" · {_cell(row['task'])}" if row["task"] else "")
        print(f"  {where}: {row['verdict']}, rule {_cell(row['rule'])}: {row['rows']:,} of {row['compared']:,}")
        for source in row["examples"]:
            print(f"    {one_line(source)}")
    return bool((~disagreements["verdict"].str.startswith("scored wrong, nothing")).any())


def print_effect(effect: "ReadingsEffect") -> None:
    """Agreement by condition, estimates under either, and the disagreements that matter most."""
    if effect.agreement.empty:
        return
    print("\nAgreement of readings and scores of 0 and 1, yes/no tasks")
    for row in effect.agreement.to_dict("records"):
        where = _where(row) + (f" · {_cell(row['condition'])}" if row["condition"] else "")
        print(f"  {where}: {row['agreed']:,} of {row['compared']:,} ({100 * row['share']:.1f} %)")
    print("\nEstimates by our reading (unread is wrong), by the scores, and with unread answers at worst and best")
    for row in effect.estimates.to_dict("records"):
        reason = f"  {one_line(row['reason'])}" if row["reason"] else ""
        bounds = f"{_number(row['bound_low'])} to {_number(row['bound_high'])}"
        print(
            f"  {_where(row)}: {row['measure']:17} read {_number(row['as_read'])}, scored {_number(row['as_scored'])}, "
            f"{bounds}{reason}"
        )
    if len(effect.moves):
        print("\nDisagreements by how far they move the estimates, if the scores were right")
    for row in effect.moves.head(_MOVES).to_dict("records"):
        print(
            f"  {_where(row)}: {row['verdict']}, rule {_cell(row['rule'])}: {row['rows']:,} responses; "
            f"floor {_number(row['floor_move'], sign=True)}, bias {_number(row['bias_move'], sign=True)}"
        )
    if len(effect.moves) > _MOVES:
        print(f"  and {len(effect.moves) - _MOVES:,} more groups")


def _where(row: "Mapping[Hashable, Any]") -> str:
    return _cell(row["model"]) + (f" · {_cell(row['task'])}" if row["task"] else "")


def _number(value: float, *, sign: bool = False) -> str:
    if value != value:
        return "-"
    return f"{value:+.3f}" if sign else f"{value:.3f}"


def print_samples(samples: "pd.DataFrame", seed: int) -> None:
    print(f"\nTexts by rule (seed {seed})")
    for (status, rule), rows in samples.groupby(["status", "rule"], sort=True):
        print(f"\n  {status} · {_cell(rule)}")
        for row in rows.to_dict("records"):
            print(f"    [{one_line(row['source'] or row['item'])}] read: {_read(row)}" + _gold(row["gold"]))
            print(f"      {one_line(row['output'])[:_TEXT_WIDTH]}")


def _read(row: "dict[Hashable, Any]") -> str:
    if isinstance(row["answer"], str):
        return _cell(row["answer"])
    return f"{row['probability']:g}" if row["probability"] == row["probability"] else "nothing"


def _gold(gold: object) -> str:
    return f", gold: {_cell(gold)}" if isinstance(gold, str) else ""
