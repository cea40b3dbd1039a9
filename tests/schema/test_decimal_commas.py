"""What a user with a table of another country's numbers, or of one column per model, is told to do."""

import json
from pathlib import Path

import pytest

from analysis.cli.main import main


@pytest.mark.parametrize(("score", "told"), [("0,25", True), ("good", False), ("1,2,3", False)])
def test_scores_with_a_decimal_comma_are_not_to_be_listed_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], score: str, told: bool
) -> None:
    """Catches the advice to translate every number of a column, and that of points for words."""
    rows = [{"model": "m", "item": f"q{i}", "logged_score": score if i % 2 else "0.5"} for i in range(6)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["validate", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "score is no number" in said
    assert ("write decimal points" in said) is told


def test_a_table_with_a_column_per_model_is_led_to_its_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a stranger who is told of [map] alone, which cannot read such a table; the draft has to work."""
    (tmp_path / "a.csv").write_text("item,gold,m1,m2\nq1,yes,yes,no\nq2,no,no,no\n")
    assert main(["validate", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "[wide] the columns of models" in said
    assert "evenhand study init" in said
    assert main(["study", "init", str(tmp_path)]) == 0
    path = tmp_path / "study.toml"
    draft = path.read_text()
    assert "# [wide]" in draft
    chosen = draft.replace("# [wide]", "[wide]").replace('# models = ["m1", "m2"]', 'models = ["m1", "m2"]')
    path.write_text(
        chosen.replace('# value = "answer"', 'value = "answer"').replace('# item = "item"', 'item = "item"')
    )
    capsys.readouterr()
    assert main(["validate", str(tmp_path)]) == 0
    assert "4 responses in 1 file: 0 errors" in capsys.readouterr().out
