"""Our readings beside logged scores: agreement, estimates under either, and which disagreements matter."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.comparison.readings_effect import ReadingsEffect, readings_effect
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.responses import Response, record_batch
from analysis.schema.store import StoreWriter, open_store
from analysis.schema.study import Study


def effect(tmp_path: Path, rows: list[Response]) -> ReadingsEffect:
    with StoreWriter(tmp_path / "store") as writer:
        writer.write(record_batch(rows))
    con: duckdb.DuckDBPyConnection = open_store(tmp_path / "store")
    try:
        designs = read_designs(con, Study())
        create_analysed_view(con, designs, Study())
        return readings_effect(con, designs)
    finally:
        con.close()


def row(item: int, gold: str, answer: str | None, score: float | None, **more: Any) -> Response:
    status = "answered" if answer else "unparsed"
    rule = more.pop("rule", "exact" if answer else "none")
    return Response("m", str(item), gold=gold, answer=answer, status=status, rule=rule, score_value=score, **more)


# Ten items each with gold yes and no. As read: yes 9 of 10 right (item 9 unread), no 7 of 10 right.
# As scored: items 0 and 1 (read yes by first_word) are scored wrong, the unread one too; item 17 (read yes) right.
READ = [
    *[row(i, "yes", "yes", 0.0 if i < 2 else 1.0, rule="first_word" if i < 2 else "exact") for i in range(9)],
    row(9, "yes", None, 0.0),
    *[row(i, "no", "no", 1.0) for i in range(10, 17)],
    row(17, "no", "yes", 1.0, rule="last_line"),
    *[row(i, "no", "yes", 0.0) for i in range(18, 20)],
]


def test_estimates_under_our_reading_and_under_the_scores(tmp_path: Path) -> None:
    """Catches sides exchanged, scores ignored, and unread answers that no bound reflects; worked by hand."""
    table = effect(tmp_path, READ).estimates.set_index("measure")
    # as read: acc_yes = 9/10, acc_no = 7/10; as scored: acc_yes = 7/10, acc_no = 8/10
    assert table.loc["accuracy", ["as_read", "as_scored"]].tolist() == pytest.approx([16 / 20, 15 / 20])
    assert table.loc["answer_bias", ["as_read", "as_scored"]].tolist() == pytest.approx([0.2, -0.1])
    assert table.loc["competence_floor", ["as_read", "as_scored"]].tolist() == pytest.approx([0.7, 0.7])
    # the one unread answer at worst and best: acc_yes from 9/10 to 10/10
    assert table.loc["answer_bias", ["bound_low", "bound_high"]].tolist() == pytest.approx([0.2, 0.3])


def test_disagreements_are_ranked_by_how_far_they_move_the_estimates(tmp_path: Path) -> None:
    """Catches a ranking by mere counts, and a move with the wrong sign."""
    moves = effect(tmp_path, READ).moves
    assert moves[["verdict", "rule", "rows"]].values.tolist() == [
        ["scored wrong, read right", "first_word", 2],
        ["scored right, read wrong", "last_line", 1],
        ["scored wrong, nothing read", "none", 1],
    ]
    # first: acc_yes .9 -> .7; second: acc_no .7 -> .8; third: wrong either way
    assert moves["bias_move"].tolist() == pytest.approx([-0.2, -0.1, 0.0])
    assert moves["floor_move"].tolist() == pytest.approx([0.0, 0.1, 0.0])


def test_agreement_is_counted_by_model_and_condition(tmp_path: Path) -> None:
    """Catches conditions pooled, and rows without a comparable score counted as disagreement."""
    rows = [
        row(0, "yes", "yes", 1.0, strategy="direct", temperature="0"),
        row(0, "yes", "yes", 0.0, strategy="cot", temperature="0", sample="1"),
        row(1, "no", "no", 1.0, strategy="direct", temperature="0"),
        row(1, "no", None, None, strategy="cot", temperature="0", sample="1"),
    ]
    table = effect(tmp_path, rows).agreement
    assert table[["condition", "compared", "agreed", "share"]].values.tolist() == [
        ["strategy = cot; temperature = 0", 1, 0, 0.0],
        ["strategy = direct; temperature = 0", 2, 2, 1.0],
    ]


def test_tasks_without_scores_or_without_judgements_are_left_out(tmp_path: Path) -> None:
    """Catches an error, or invented rows, where there is nothing to compare."""
    result = effect(tmp_path, [row(0, "yes", "yes", None), row(1, "no", "no", 0.5)])
    assert result.agreement.empty
    assert result.estimates.empty
    assert result.moves.empty


def test_readings_that_all_agree_move_nothing(tmp_path: Path) -> None:
    """Catches estimates that differ though every score says what was read."""
    result = effect(tmp_path, [row(0, "yes", "yes", 1.0), row(1, "yes", "no", 0.0), row(2, "no", "no", 1.0)])
    assert result.moves.empty
    assert (result.estimates["as_read"] == result.estimates["as_scored"]).all()
