"""Small reports on simulated logs of the three published designs, each made once."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.cli.main import main
from analysis.report.content import ReportContent
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

#: Preset -> how its logs are simulated, as small as its tables allow.
SIMULATED = {
    "probability-operators": ("--models", "4", "--surfaces", "6", "--valid", "7", "--answers"),
    "syllogisms": ("--models", "4", "--base-items", "10", "--votes", "3"),
    "latent-coherence": (
        "--responders", "coherent", "leaning", "noisy", "--units", "14", "--causal", "2", "--reworded", "12"
    ),
}  # fmt: skip
FEW = Resampling(flips=200, resamples=200)


@cache
def preset_report(preset: str) -> ReportContent:
    """The report; of syllogisms with an external rank beside the logs."""
    with TemporaryDirectory(prefix="evenhand-preset-") as folder:
        logs = Path(folder) / "logs"
        assert main(["simulate", str(logs), "--study", preset, "--seed", "5", *SIMULATED[preset]]) == 0
        if preset == "syllogisms":
            _rank(logs)
        return run_report([logs], RunSettings(preset=preset, resampling=FEW))


def _rank(logs: Path) -> None:
    models = sorted(json.loads((logs / "truth.json").read_text(encoding="utf-8"))["models"])
    rows = [f"{model},{rank}" for rank, model in enumerate(models, start=1)]
    (logs / "rank.csv").write_text("\n".join(["Model,Rank", *rows, ""]), encoding="utf-8")
    entry = '[external]\nfile = "rank.csv"\nmodel = "Model"\nvalue = "Rank"\nname = "Rank"\nlower_is_better = true\n'
    study = logs / "study.toml"
    before = study.read_text(encoding="utf-8") if study.exists() else ""
    study.write_text(f"{before}\n{entry}", encoding="utf-8")
