"""Tables rendered ahead of the report: taken as they are only where they would be rendered the same."""

from dataclasses import replace

import pytest
from example_tables import FLOOR, floor_rows

from analysis.report.content import Section
from analysis.report.spec import Table
from analysis.report.table_files import TABLE_FORMATS, table_texts, with_table_texts

TABLE = Table(FLOOR, floor_rows())


def ahead(table: Table) -> Table:
    return with_table_texts(Section("Section", tables=(table,))).tables[0]


def test_a_table_rendered_ahead_has_the_same_files() -> None:
    """Catches a format left out, or rendered otherwise than the table itself."""
    assert table_texts(ahead(TABLE)) == {ending: render(TABLE) for ending, render in TABLE_FORMATS.items()}


def test_a_table_of_which_nothing_changed_is_not_rendered_again() -> None:
    """Catches texts thrown away because the table was put together anew, as naming the tables of a report does."""
    before = ahead(TABLE)
    same = replace(before, spec=replace(FLOOR, name=FLOOR.name))
    assert table_texts(same) is table_texts(before)


@pytest.mark.parametrize(
    "changes",
    [
        {"spec": replace(FLOOR, name="another")},
        {"spec": replace(FLOOR, number="7")},
        {"notes": ("A further sentence.",)},
        {"simulated": True},
        {"rows": floor_rows().head(2)},
    ],
    ids=["name", "number", "notes", "simulated", "rows"],
)
def test_a_table_that_changed_is_rendered_as_it_is_now(changes: dict) -> None:
    """Catches an old name, number, sentence or row printed after a table was changed."""
    changed = replace(ahead(TABLE), **changes)
    fresh = {ending: render(replace(TABLE, **changes)) for ending, render in TABLE_FORMATS.items()}
    assert table_texts(changed) == fresh != table_texts(ahead(TABLE))
