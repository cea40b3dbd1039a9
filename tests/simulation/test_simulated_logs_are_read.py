"""Simulated logs through intake, design and reduction: what was simulated is what is counted."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.reduction.cells import item_counts
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.store import open_store
from analysis.schema.study import load_study
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.responders import RESPONDERS, Responder, named_responders
from analysis.simulation.write_logs import FORMATS, write_logs
from analysis.simulation.yes_no import YesNo, simulate_yes_no


def counted(logs: Path, store: Path) -> pd.DataFrame:
    """Counts by item of logs in a directory, by the way a report takes."""
    study = load_study(logs / "study.toml")
    take_in([logs], study, IntakeSettings(), store)
    with open_store(store) as con:
        (design,) = designs = read_designs(con, study)
        create_analysed_view(con, designs, study)
        return item_counts(con, design, study)


def written(out: Path, responders: tuple[Responder, ...], *, answers: bool = False, fmt: str = "jsonl") -> Path:
    settings = ProbabilityOperators(responders, surfaces=7, valid_templates=2, invalid_templates=2, answers=answers)
    write_logs(simulate_probability_operators(np.random.default_rng(11), settings), out, fmt=fmt, seed=11)
    return out


@pytest.mark.parametrize("name", ["oracle", "constant-yes", "constant-no", "oracle-blind-to-negation"])
def test_responders_by_rule_come_out_with_exact_cells(tmp_path, name):
    """Catches an answer misread, a gold answer inverted, or a cell swapped anywhere on the way."""
    counts = counted(written(tmp_path / "logs", named_responders([name])), tmp_path / "store.parquet")
    sums = counts.groupby("cell", observed=True)[["n_planned", "n_answered", "n_correct"]].sum()
    assert (sums["n_planned"] == 2 * 5 * 7).all()
    assert (sums["n_answered"] == sums["n_planned"]).all()
    shares = (sums["n_correct"] / sums["n_answered"]).to_dict()
    assert tuple(shares[cell] for cell in ("VA", "VN", "IA", "IN")) == RESPONDERS[name].cells


@pytest.mark.parametrize("fmt", FORMATS)
def test_texts_are_counted_as_the_answers_behind_them(tmp_path, fmt):
    """Catches texts that the reader takes for another answer, and formats that change a row.

    The same seed draws the same outcomes, once logged as texts and once as answers and statuses.
    """
    responder = Responder("simulated/a", 0.8, 0.4, 0.5, 0.7, 1.0, 0.2, 0.3, 0.1)
    texts = counted(written(tmp_path / "texts", (responder,), fmt=fmt), tmp_path / "texts.parquet")
    answers = counted(written(tmp_path / "answers", (responder,), answers=True), tmp_path / "answers.parquet")
    assert texts["n_uncertain"].sum() > 50
    assert texts["n_set_aside"].sum() > 10
    pd.testing.assert_frame_equal(texts, answers)


def test_plain_questions_with_samples(tmp_path):
    """Catches samples of one item taken for duplicates or for items."""
    settings = YesNo(named_responders(["constant-yes"]), items=9, samples=3)
    write_logs(simulate_yes_no(np.random.default_rng(1), settings), tmp_path / "logs", fmt="jsonl", seed=1)
    counts = counted(tmp_path / "logs", tmp_path / "store.parquet")
    assert counts["n_planned"].tolist() == [3] * 9
    right = counts.groupby("cell", observed=True)["n_correct"].sum().to_dict()
    assert right == {"gold_no": 0, "gold_yes": 15}
