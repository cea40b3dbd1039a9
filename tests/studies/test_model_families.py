"""Model families in the Bayesian columns of a report."""

import json
from pathlib import Path

import numpy as np

from analysis.report.terminal import render_text
from analysis.studies.context import BayesianSettings
from analysis.studies.run import RunSettings, run_report

RATES = {"a1": 0.85, "a2": 0.8, "b1": 0.6, "b2": 0.65, "c1": 0.7, "d1": 0.55}


def write_logs(folder: Path) -> Path:
    """Six models on 40 questions; families are logged, of ``b2`` declared, of ``d1`` unknown."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "model": m,
            "item": f"{g}{i}",
            "gold": g,
            "answer": g if rng.random() < rate else "no" if g == "yes" else "yes",
        }
        | ({} if m in ("b2", "d1") else {"model_family": f"family {m[0]}"})
        for m, rate in RATES.items()
        for g in ("yes", "no")
        for i in range(20)
    ]
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "study.toml").write_text('[models."b2"]\nfamily = "family b"\n', encoding="utf-8")
    return folder


def test_a_report_has_families_in_model_tables_and_words(tmp_path: Path) -> None:
    """Catches families that are read and not modelled, a declared family that is lost, a model without one that is put
    into some, and an sd of families without its share or its second prior."""
    content = run_report([write_logs(tmp_path / "logs")], RunSettings(bayes=BayesianSettings(fast=True)))
    tables = {table.spec.name: table for table in content.tables}
    rows = tables["model_families"].rows
    bias = rows[rows["measure"] == "balanced_accuracy"].set_index("family")
    assert bias["n_models"].to_dict() == {"family a": 2, "family b": 2, "family c": 1}
    assert bias["estimate"].idxmax() == "family a"
    assert "not the floor of a mean" in render_text(tables["model_families"])
    components = render_text(tables["variance_components"])
    assert "between model families: sensitivity" in components
    assert "between model families: all together" in components
    assert "between model families: sensitivity" in render_text(tables["second_prior"])
    assert any("the model without a family is one of its own" in note for s in content.sections for note in s.notes)
    assert any("What models of one family have in common" in said for said in content.methods)
    assert "family_sd" in render_text(tables["priors"])
    assert set(content.data["bayesian_families"]["family"]) == {"family a", "family b", "family c"}
