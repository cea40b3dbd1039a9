"""Write the study with the real harnesses: ``python write_logs.py FOLDER``, in a Python that has both.

``FOLDER/<names>_<repeats>/`` gets ``standard``, ``inspect_eval``, ``inspect_json``, ``lm_eval`` and, without
repeats, ``lm_eval_choice``; ``FOLDER/errored/`` gets what Inspect logs where calls fail, and its CSV.
``FOLDER/meanings.csv`` says what every reply means.
"""

import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

# Read when the harnesses are imported.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "INSPECT_DISPLAY": "none"}

from inspect_logs import write_inspect
from lm_eval_logs import write_lm_eval
from twin_study import write_csv, write_meanings

FAILED = frozenset({"a03-aff", "a08-neg"})


def write_all(folder: Path) -> None:
    """Every way of logging the study."""
    with tempfile.TemporaryDirectory(prefix="evenhand-harness-") as work:
        for names in ("schema", "own"):
            for repeats in (1, 2):
                target = folder / f"{names}_{repeats}"
                write_csv(target / "standard" / "responses.csv", names, repeats)
                for form in ("eval", "json"):
                    write_inspect(target / f"inspect_{form}", names, repeats, form)
                write_lm_eval(target / "lm_eval", Path(work), names, repeats, choice=False)
                if repeats == 1:
                    write_lm_eval(target / "lm_eval_choice", Path(work), names, repeats, choice=True)
    errored = folder / "errored"
    write_csv(errored / "standard" / "responses.csv", "schema", 1, failed=FAILED)
    for form in ("eval", "json"):
        write_inspect(errored / f"inspect_{form}", "schema", 1, form, failed=FAILED)
    write_meanings(folder / "meanings.csv")
    versions = "".join(f"{name} {version(name)}\n" for name in ("inspect-ai", "lm-eval"))
    (folder / "versions.txt").write_text(versions, encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]).resolve())
