"""The table of consistency counts the sets that its estimates use."""

import pytest

from analysis.studies.run import RunSettings, run_report


def test_sets_are_those_with_an_answer_to_each_version(tmp_path):
    """Catches the number of all sets printed beside a share of the complete ones."""
    lines = ["model,item,unit,variant,answer,gold,status"]
    for base in range(8):
        for variant in "NXO":
            lost = base < 3 and variant == "O"
            answer = "" if lost else "yes" if base % 2 or variant == "N" else "no"
            status = "unparsed" if lost else "answered"
            lines.append(f"m,{base}{variant},{base},{variant},{answer},{'yes' if base % 2 else 'no'},{status}")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    content = run_report([tmp_path], RunSettings())
    (table,) = (
        table
        for table in content.tables
        if table.spec.name.startswith("consistency")
        and "n" in table.rows
        and any(column.name == "consistency_all" for column in table.spec.columns)
        and any(column.name == "n" for column in table.spec.columns)
    )
    row = table.rows.iloc[0]
    assert (row["n"], row["n_clusters"]) == (5, 5)
    assert row["consistency_all"] == pytest.approx(3 / 5)
