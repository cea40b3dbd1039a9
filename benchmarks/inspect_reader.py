"""Inspect AI's side of the comparison of readers; runs in a Python that has inspect_ai.

python inspect_reader.py write FOLDER SAMPLES    one log, sixteen samples evaluated with the mock model and repeated
python inspect_reader.py summaries LOG           samples_df with its default columns: texts cut, no replies
python inspect_reader.py replies LOG             samples_df with the replies, fields that it need not parse left out
"""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.analysis import SampleColumn, SampleSummary, samples_df
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match

PASSAGE = "Every glim is a dorn. No dorn is a brask. Some tarns are glims. " * 6
REPLY = "The premises put every glim among the dorns, and no dorn is a brask. " * 4
SKIPPED = {"events", "store", "attachments", "messages"}


def write(folder: Path, samples: int) -> None:
    """Write the log: sixteen samples evaluated by Inspect itself, then repeated in the same layout."""
    questions = [
        Sample(
            id=f"q{i}",
            input=f"{PASSAGE}Does conclusion {i} follow? Answer Yes or No at the end.",
            target="Yes" if i % 2 else "No",
            metadata={"unit": f"u{i // 2}", "validity": "valid" if i % 4 < 2 else "invalid", "template": f"t{i % 5}"},
        )
        for i in range(16)
    ]
    answers = ["The claim follows. Yes" if i % 3 else "The claim does not follow. No" for i in range(16)]
    outputs = [ModelOutput.from_content("mockllm/parrot", REPLY + answer) for answer in answers]
    # Without a usage the mock model counts tokens, for which it fetches a vocabulary.
    outputs = [o.model_copy(update={"usage": ModelUsage(input_tokens=150, output_tokens=70)}) for o in outputs]
    model = get_model("mockllm/parrot", custom_outputs=outputs)
    task = Task(dataset=MemoryDataset(questions), scorer=match(location="end"), name="twins")
    log = eval(task, model=model, log_dir=str(folder / "made"), display="none", max_samples=1)[0]
    _repeat(Path(log.location.removeprefix("file://")), folder / "large.eval", samples)


def _repeat(made: Path, large: Path, samples: int) -> None:
    """Write a log with the members of another, its samples repeated (Inspect itself needs hours for so many)."""
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(large, "w", source.infolist()[0].compress_type) as target:
        members = {name: json.loads(source.read(name)) for name in source.namelist()}
        summaries = members["summaries.json"]
        originals = [members[f"samples/{summary['id']}_epoch_1.json"] for summary in summaries]
        for name in ("_journal/start.json", "header.json"):
            members[name]["eval"]["dataset"] |= {"samples": samples, "sample_ids": [f"q{i}" for i in range(samples)]}
        members["header.json"]["results"] |= {"total_samples": samples, "completed_samples": samples}
        target.writestr("_journal/start.json", json.dumps(members["_journal/start.json"]))
        for i in range(samples):
            sample = _renamed(originals[i % len(originals)], i)
            target.writestr(f"samples/q{i}_epoch_1.json", json.dumps(sample))
        listed = [_renamed(summaries[i % len(summaries)], i) for i in range(samples)]
        target.writestr("summaries.json", json.dumps(listed))
        target.writestr("header.json", json.dumps(members["header.json"]))


def _renamed(sample: dict[str, Any], number: int) -> dict[str, Any]:
    """A sample or its summary under an id, an input and a unit of its own."""
    text = f"{PASSAGE}Does conclusion {number} follow? Answer Yes or No at the end."
    metadata = sample["metadata"] | {"unit": f"u{number // 2}"}
    return sample | {"id": f"q{number}", "uuid": f"{number:022d}", "input": text, "metadata": metadata}


def read(log: Path, *, replies: bool) -> int:
    """Rows of the data frame."""
    if not replies:
        return len(samples_df(str(log), quiet=True))
    columns = [*SampleSummary, SampleColumn("reply", path="output.completion", full=True)]
    frame = samples_df(str(log), columns=columns, quiet=True, exclude_fields=SKIPPED)
    if frame["reply"].isna().any():
        raise SystemExit("replies are missing: the comparison would not be one")
    return len(frame)


if __name__ == "__main__":
    command, path = sys.argv[1], Path(sys.argv[2]).resolve()
    if command == "write":
        write(path, int(sys.argv[3]))
    else:
        print(f"    {read(path, replies=command == 'replies'):,} rows")
