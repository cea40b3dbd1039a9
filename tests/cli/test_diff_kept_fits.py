"""`evenhand diff` of two reports with kept fits of incoherence and belief bias, written with known differences."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.belief_bias_result import NEW_MODEL, NEW_MODELS, TABLES, BeliefBiasFit
from analysis.bayes.incoherence_cache import keep_fit
from analysis.bayes.incoherence_result import IncoherenceFit
from analysis.bayes.kept_fits import keep
from analysis.cli.main import main
from analysis.provenance import package_versions

SHAPE = (4, 500)
EMPTY = pd.DataFrame({"stage": []})
#: Median by side, model and measure; all draws are normal with this standard deviation.
SD = 0.03
INCOHERENT = {
    "before": {"a": {"persistent": 0.6, "noise": 0.3}, "b": {"persistent": 0.5, "noise": 0.3}},
    "after": {"b": {"persistent": 0.5, "noise": 0.3}, "a": {"persistent": 0.2, "noise": 0.9}},
}
ENDORSED = {
    "before": {"a": (0.30, 0.9, 0.70), "b": (0.05, 0.1, 0.80)},
    "after": {"b": (0.05, 0.1, 0.80), "a": (0.10, 1.9, 0.55)},
}
MEASURES = ("belief_bias", "endorsement_log_odds_shift", "accuracy")


def draws_around(middle: float, rng: np.random.Generator) -> np.ndarray:
    values = rng.normal(middle, SD, SHAPE)
    return values - np.median(values) + middle


def instances(models: dict[str, dict[str, float]], rng: np.random.Generator) -> pd.DataFrame:
    """Means of three wordings around 0 with the persistent spread of each model, one instance per unit."""
    rows = []
    for model, truth in sorted(models.items()):
        for unit in range(60):
            r = rng.normal(0, truth["persistent"]) + rng.normal(0, 0.1, 3)
            one = {"task": "", "model": model, "unit": f"u{unit}", "identity": "i", "k": 3, "mean": r.mean()}
            rows.append(one | {"ss": ((r - r.mean()) ** 2).sum(), "abs_residual": abs(r).mean()})
    return pd.DataFrame(rows).assign(identity_name="negation")


def keep_incoherence(data: Path, side: str, *, failed: str = "") -> list[str]:
    rng = np.random.default_rng([1, len(side)])
    rows, draws = [], {}
    for model, truth in INCOHERENT[side].items():
        for measure, middle in truth.items():
            reason = "MCMC: R-hat 1.3" if model == failed else ""
            one = {"variant": "SSL", "model": model, "measure": measure, "target": "these", "estimate": middle}
            rows.append(one | {"item_family": "", "level": "", "reason": reason})
            draws[f"SSL: {model}: {measure}, these"] = draws_around(middle, rng)
    glance = pd.DataFrame([{"variant": "SSL", "model": m, "fast": True, "status": "ok"} for m in INCOHERENT[side]])
    key = f"incoherence-{side}"
    fit = IncoherenceFit("", "ok", "", pd.DataFrame(rows), EMPTY, glance, *(EMPTY,) * 5, (), draws, key)
    keep_fit(data / "fits", key, fit)
    glance.assign(task="", key=key).to_parquet(data / "incoherence_fits.parquet")
    instances(INCOHERENT[side], rng).to_parquet(data / "instances.parquet")
    return ["data/incoherence_fits.parquet", "data/instances.parquet", f"data/fits/{key}/fit.json"]


def keep_belief(
    data: Path, side: str, *, status: str = "ok", new_model: bool = True, levels: tuple[str, ...] = ()
) -> list[str]:
    rng = np.random.default_rng([2, len(side)])
    models = sorted(ENDORSED[side])
    rows, draws = [], {}
    for at, measure in enumerate(MEASURES):
        middles = [ENDORSED[side][model][at] for model in models]
        stack = [draws_around(middle, rng) for middle in middles]
        names = [(model, "these", middle) for model, middle in zip(models, middles, strict=True)]
        if new_model:
            names.append((NEW_MODEL, NEW_MODELS, 9.0))
            stack.append(draws_around(9.0, rng))
        draws[measure] = np.stack(stack, axis=-1)
        rows += [{"model": m, "measure": measure, "target": t, "estimate": e, "reason": ""} for m, t, e in names]
    key = f"belief-bias-{side}"
    glance: dict[str, Any] = {"task": "", "fast": False, "key": key}
    tables = dict.fromkeys(TABLES, EMPTY) | {"table": pd.DataFrame(rows)}
    if levels:
        pairs = [{"factor": "strategy", "first": levels[0], "second": other} for other in levels[1:]]
        tables["contrasts"] = pd.DataFrame([{**pair, "model": model} for pair in pairs for model in models])
    fit = BeliefBiasFit("", status, "", glance=glance, sentences=(), draws=draws, **tables)
    keep(data / "fits", key, fit, TABLES)
    pd.DataFrame([{**glance, "status": status, "reason": "R-hat 1.2"}]).to_parquet(data / "belief_bayes_fits.parquet")
    return ["data/belief_bayes_fits.parquet", f"data/fits/{key}/fit.json"]


def written(folder: Path, side: str, *, failed: str = "", status: str = "ok", kinds: str = "both") -> Path:
    report = folder / side
    (report / "data" / "fits").mkdir(parents=True)
    outputs = keep_incoherence(report / "data", side, failed=failed)
    outputs += keep_belief(report / "data", side, status=status) if kinds == "both" else []
    versions = package_versions(())
    settings = {"bayes": "full"}
    document = {"format": "evenhand report", "format_version": 1, "versions": versions, "settings": settings}
    document |= {"outputs": dict.fromkeys(outputs, ""), "inputs": [], "simulated": True}
    (report / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    return report


def found_in(capsys: pytest.CaptureFixture[str], *args: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["diff", *map(str, args), "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def by_model(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["before_model"], row["measure"]): row for row in rows}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("kept")
    return written(folder, "before"), written(folder, "after")


def test_known_differences_of_incoherence(reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Catches before minus after, draws of another model or measure, and a paired test of another sign."""
    rows = by_model(found_in(capsys, *reports)["incoherence_contrasts"])
    assert set(rows) == {(model, measure) for model in "ab" for measure in ("persistent", "noise")}
    a, noisier, b = rows["a", "persistent"], rows["a", "noise"], rows["b", "persistent"]
    assert a["estimate"] == pytest.approx(-0.4, abs=0.01)
    assert noisier["estimate"] == pytest.approx(0.6, abs=0.01)
    # Both sides are independent: the width is that of the root of two variances, 2 * 1.96 * 0.03 * sqrt(2).
    assert a["ci_high"] - a["ci_low"] == pytest.approx(0.1663, rel=0.08)
    assert (a["posterior_says"], a["paired_says"], a["agreement"]) == ("lower", "lower", "agree")
    assert a["paired_estimate"] == pytest.approx(0.2**2 - 0.6**2, abs=0.15)
    assert a["rope_high"] == 0.05
    assert noisier["posterior_says"] == "higher"
    assert (noisier["paired_says"], noisier["agreement"]) == ("not tested", "not compared")
    assert noisier["paired_reason"] == "noise has no paired test"
    assert (b["posterior_says"], b["paired_says"]) == ("open", "open")
    assert a["family_size"] == 2


def test_known_differences_of_belief_bias(reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Catches the draws of a new model or of the neighbour taken for a model's, and one margin for both scales."""
    found = found_in(capsys, *reports)
    rows = by_model(found["belief_bias_contrasts"])
    assert set(rows) == {(model, measure) for model in "ab" for measure in MEASURES}
    wanted = {"belief_bias": -0.2, "endorsement_log_odds_shift": 1.0, "accuracy": -0.15}
    for measure, difference in wanted.items():
        assert rows["a", measure]["estimate"] == pytest.approx(difference, abs=0.01)
        assert rows["b", measure]["estimate"] == pytest.approx(0, abs=0.01)
        assert rows["a", measure]["posterior_says"] == ("higher" if difference > 0 else "lower")
        assert rows["a", measure]["verdict"] == "not tested"
    assert rows["a", "accuracy"]["rope_high"] == 0.02
    assert rows["a", "endorsement_log_odds_shift"]["rope_high"] == 0.05
    assert any("reports keep no votes" in note for note in found["notes"])
    assert any("quick look" in note for note in found["notes"])


def test_tables_are_printed_and_depend_on_the_seed(
    reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches contrasts in JSON alone, and draws paired without the seed of the command."""
    texts = []
    for seed in ("0", "0", "1"):
        assert main(["diff", *map(str, reports), "--seed", seed]) == 0
        texts.append(capsys.readouterr().out)
    assert "Posterior differences of incoherence" in texts[0]
    assert "Posterior differences of belief bias" in texts[0]
    assert "±0.02 as a proportion" in texts[0]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_failed_and_missing_fits_give_their_reason(
    reports: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches numbers of a failed sampler, and fits of one side that vanish without a word."""
    after = written(tmp_path / "failed", "after", failed="a", status="failed")
    found = found_in(capsys, reports[0], after)
    rows = by_model(found["incoherence_contrasts"])
    assert rows["a", "persistent"]["estimate"] is None
    assert rows["a", "persistent"]["reason"] == "after: MCMC: R-hat 1.3"
    assert rows["b", "persistent"]["estimate"] is not None
    assert found["belief_bias_contrasts"] == []
    assert any("belief bias: after, its fit is not shown, R-hat 1.2" in note for note in found["notes"])
    alone = written(tmp_path / "alone", "after", kinds="incoherence")
    notes = found_in(capsys, reports[0], alone)["notes"]
    assert any("belief bias: after, the report has no such fit" in note for note in notes)


def test_damaged_and_equal_fits_are_not_contrasted(
    reports: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a changed file read as a fit, and the same responses counted twice."""
    assert any("the same fit" in note for note in found_in(capsys, reports[0], reports[0])["notes"])
    after = written(tmp_path, "after")
    for path in (after / "data" / "fits").glob("*/table.parquet"):
        path.write_bytes(b"changed")
    found = found_in(capsys, reports[0], after)
    assert found["incoherence_contrasts"] == found["belief_bias_contrasts"] == []
    assert sum("missing or damaged" in note for note in found["notes"]) == 2


def test_fits_are_found_by_the_key_that_the_report_names(
    reports: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches another task's fit taken because it lies in the same folder, and a report without keys half read."""
    after = written(tmp_path, "after", kinds="incoherence")
    place = after / "data" / "incoherence_fits.parquet"
    table = pd.read_parquet(place)
    keep_incoherence(after / "data", "before")
    for key, words in ((None, "does not say where they are kept"), ("../incoherence-after", "missing or damaged")):
        (table.drop(columns="key") if key is None else table.assign(key=key)).to_parquet(place)
        found = found_in(capsys, reports[0], after)
        assert found["incoherence_contrasts"] == []
        assert any(words in note for note in found["notes"])
    table.to_parquet(place)
    instances(INCOHERENT["after"], np.random.default_rng(4)).to_parquet(after / "data" / "instances.parquet")
    rows = by_model(found_in(capsys, reports[0], after)["incoherence_contrasts"])
    assert rows["a", "persistent"]["estimate"] == pytest.approx(-0.4, abs=0.01)


@pytest.mark.parametrize(
    ("after_levels", "said"),
    [
        (("direct", "steps"), 'Both sides are averaged over "strategy" ("direct", "steps")'),
        (("direct", "hints", "steps"), 'Conditions are not matched, each side is averaged over its own: "strategy" '),
        ((), '"strategy" ("direct", "steps") before, none after.'),
    ],
)
def test_conditions_that_are_averaged_over_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], after_levels: tuple[str, ...], said: str
) -> None:
    """Catches a change of the prompting between two reports that passes for one of the model."""
    sides = [written(tmp_path, side) for side in ("before", "after")]
    for folder, side, levels in zip(sides, ("before", "after"), (("direct", "steps"), after_levels), strict=True):
        keep_belief(folder / "data", side, levels=levels)
    assert any(said in note for note in found_in(capsys, *sides)["notes"])
