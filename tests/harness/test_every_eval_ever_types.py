"""Instances of Every Eval Ever as its own library understands them, and as they are read here.

The library runs in the Python that EVENHAND_HARNESS_PYTHON names (docs/formats/harness_check.md).
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis.importers import every_eval_ever
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

pytestmark = pytest.mark.harness

VARIABLE = "EVENHAND_HARNESS_PYTHON"
#: Validates every line by the library's types and prints what these hold.
ORACLE = """
import json, sys
from every_eval_ever.instance_level_types import InstanceLevelEvaluationLog
for line in open(sys.argv[1], encoding="utf-8"):
    log = InstanceLevelEvaluationLog.model_validate_json(line)
    tokens = log.token_usage
    print(json.dumps([log.model_id, log.evaluation_name, log.sample_id, log.output.raw[0], log.input.reference[0],
                      log.evaluation.score, tokens.input_tokens, tokens.output_tokens]))
"""


def instance(number: int) -> dict[str, object]:
    """A synthetic instance of schema 0.3 with replies, scores and marks that tell fields apart."""
    return {
        "schema_version": "instance_level_eval_0.3.0",
        "evaluation_id": "twins/run/1",
        "evaluation_result_id": "twins/run/1#acc",
        "model_id": f"maker/model-{number % 2}",
        "evaluation_name": "twins",
        "sample_id": f"q:{number}",
        "interaction_type": "single_turn",
        "input": {"raw": f"Is it {number}?", "reference": [("yes", "no")[number % 2]]},
        "output": {"raw": [("Yes.", "No, it is not.", "", "ünï \u2028 yes")[number % 4]]},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": (1.0, 0.0, 0.25)[number % 3], "is_correct": number % 3 == 0},
        "token_usage": {"input_tokens": number, "output_tokens": number + 100, "total_tokens": 2 * number + 100},
        "metadata": {"unit": str(number // 2)},
    }


@pytest.fixture(scope="module")
def python() -> str:
    found = os.environ.get(VARIABLE)
    if not found:
        pytest.skip(f"{VARIABLE} names no Python with every_eval_ever (docs/formats/harness_check.md)")
    check = [found, "-c", "import every_eval_ever.instance_level_types"]
    if shutil.which(found) is None or subprocess.run(check, check=False, timeout=120, capture_output=True).returncode:
        pytest.skip(f"{VARIABLE} is {found}, in which every_eval_ever cannot be imported")
    return found


def test_fields_are_those_that_the_library_reads(python: str, tmp_path: Path) -> None:
    """Catches a field taken from another place than the format's own types say, and an instance lost or doubled."""
    path = tmp_path / "twins_samples.jsonl"
    path.write_text("".join(json.dumps(instance(n)) + "\n" for n in range(12)), encoding="utf-8")
    assert every_eval_ever.sniff(probe(path)) is Claim.LOG
    run = subprocess.run([python, "-c", ORACLE, str(path)], check=False, timeout=120, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    expected = [json.loads(line) for line in run.stdout.splitlines()]
    responses = [r for record in every_eval_ever.read(path, ReadOptions(tmp_path)) for r in record.responses]
    found = [
        [r.model, r.task, r.item, r.output or "", r.gold, float(r.logged_score or "nan"), r.tokens_in, r.tokens_out]
        for r in responses
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)
