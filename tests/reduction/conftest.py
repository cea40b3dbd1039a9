"""A connection with the view ``analysed`` over rows given as dicts."""

from collections.abc import Callable

import duckdb
import pyarrow as pa
import pytest

from analysis.schema.responses import Response, record_batch
from analysis.schema.task_design import TaskDesign

CELLS = {
    ("valid", "affirmative"): "VA",
    ("valid", "negated"): "VN",
    ("invalid", "affirmative"): "IA",
    ("invalid", "negated"): "IN",
}


def cell_of(response: Response) -> str | None:
    if response.validity and response.polarity:
        return CELLS[response.validity, response.polarity]
    return f"gold_{response.gold}" if response.gold in ("yes", "no") else None


@pytest.fixture
def analysed() -> Callable[..., duckdb.DuckDBPyConnection]:
    """Build the views from rows; a row may name its ``excluded`` reason beside the columns of the schema."""

    def build(rows: list[dict]) -> duckdb.DuckDBPyConnection:
        responses = [Response(**{k: v for k, v in row.items() if k != "excluded"}) for row in rows]
        extra = tuple(sorted({name for response in responses for name in response.extra}))
        table = pa.Table.from_batches([record_batch(responses, extra)])
        con = duckdb.connect()
        con.register("rows_given", table)
        con.execute("CREATE TABLE responses AS SELECT * FROM rows_given")
        added = {
            "gold_": [r.gold for r in responses],
            "validity_": [r.validity for r in responses],
            "polarity_": [r.polarity for r in responses],
            "unit_": [r.unit or r.item for r in responses],
            "cell": [cell_of(r) for r in responses],
            "excluded": [row.get("excluded") for row in rows],
        }
        for name, values in added.items():
            table = table.append_column(name, pa.array(values, pa.string()))
        con.register("rows_completed", table)
        con.execute("CREATE TABLE analysed AS SELECT * FROM rows_completed")
        return con

    return build


@pytest.fixture
def design() -> Callable[..., TaskDesign]:
    """Design of a task with the given factors and conditions; everything else is of no interest here."""

    def build(
        task: str = "", factors: tuple[str, ...] = (), conditions: tuple[str, ...] = (), kind: str = "judgement"
    ) -> TaskDesign:
        return TaskDesign(
            task=task, kind=kind, kind_reason="", unit="unit", unit_is_item=False, cells=None, cells_reason="",
            derived={}, item_factors=dict.fromkeys(factors, ()), conditions=dict.fromkeys(conditions, ()), varying=(),
            one_polarity_forms={}, n_rows=0, n_models=0, n_items=0, n_units=0, has_model_family=False,
            has_model_size=False, simulated=False, weights="micro", uncertain="incorrect", target="these", exclude={},
        )  # fmt: skip

    return build
