"""Kept fits: read back as they were, refused where they are not, never executed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.cache import load_fit
from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.kept_fits import UNREADABLE, kept_files
from analysis.bayes.priors import Priors
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings
from tests.bayes.designs import gold_design

QUICK = SamplerSettings(chains=2, draws=60, tune=60, fast=True)
FACETS = gold_design({"a": (0.8, 0.6), "b": (0.7, 0.5), "c": (0.4, 0.9)})


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AnswerBiasFit]:
    """A folder with one kept fit, and the fit that was made."""
    folder = tmp_path_factory.mktemp("fits")
    return folder, fit_answer_bias(FACETS, settings=QUICK, cache=folder)


def copied(folder: Path, to: Path) -> Path:
    for name, data in kept_files(folder, next(folder.iterdir()).name).items():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_bytes(data)
    return to


def test_a_kept_fit_is_read_back_whole_and_nothing_is_sampled(kept: tuple[Path, AnswerBiasFit]) -> None:
    """Catches a second run that samples, and one whose tables differ in a value or a type."""
    folder, made = kept
    said: list[str] = []
    again = fit_answer_bias(FACETS, settings=QUICK, cache=folder, progress=said.append)
    assert not any("sampling" in sentence for sentence in said)
    for name in ("table", "unpooled", "gates", "predictive", "sensitivity", "augment"):
        pd.testing.assert_frame_equal(getattr(made, name), getattr(again, name))
    assert made.draws.keys() == again.draws.keys()
    assert all(np.array_equal(made.draws[name], again.draws[name], equal_nan=True) for name in made.draws)
    assert (made.glance, made.sentences, made.status) == (again.glance, again.sentences, again.status)


def test_the_key_changes_with_whatever_changes_the_result(kept: tuple[Path, AnswerBiasFit], tmp_path: Path) -> None:
    """Catches a kept fit of other data, priors, seed or settings taken for this one; cores change nothing."""
    folder = copied(kept[0], tmp_path)
    other = FACETS.assign(n_correct=FACETS["n_correct"].where(FACETS["model"] != "a", 70))
    keys = {
        str(kept[1].glance["key"]),
        str(fit_answer_bias(other, settings=QUICK, cache=folder).glance["key"]),
        str(fit_answer_bias(FACETS, settings=QUICK, seed=1, cache=folder).glance["key"]),
        str(fit_answer_bias(FACETS, settings=QUICK, priors=Priors(yes_sd=1.0), cache=folder).glance["key"]),
    }
    assert len(keys) == 4
    assert {path.name for path in folder.iterdir()} == keys


@pytest.mark.parametrize("damage", ["table.parquet", "fit.json", "draws", "added", "other json"])
def test_a_damaged_fit_is_ignored_with_a_sentence(
    kept: tuple[Path, AnswerBiasFit], tmp_path: Path, damage: str
) -> None:
    """Catches a crash, or numbers from a file that is not as it was written."""
    folder, key = copied(kept[0], tmp_path), str(kept[1].glance["key"])
    place = folder / key
    if damage == "draws":
        chunk = max(place.glob("draws.zarr/**/c/**/*"), key=lambda path: path.stat().st_size if path.is_file() else 0)
        chunk.write_bytes(chunk.read_bytes()[:-9] + b"corrupted")
    elif damage == "added":
        (place / "draws.zarr" / ".zgroup").write_text("{}")
    elif damage == "other json":
        (place / "fit.json").write_text(json.dumps(["files"]))
    else:
        (place / damage).write_bytes(b"\x80not what it was")
    said: list[str] = []
    assert load_fit(folder, key, tell=said.append) is None
    assert [sentence.startswith(UNREADABLE) for sentence in said] == [True]


def test_a_pickle_in_place_of_a_fit_is_not_loaded(tmp_path: Path) -> None:
    """Catches a cache that executes what somebody put there."""
    evidence = tmp_path / "executed"
    # Opcodes of pickle that call os.system when loaded.
    attack = b"cos\nsystem\n(S'touch " + str(evidence).encode() + b"'\ntR."
    place = tmp_path / "key"
    place.mkdir()
    for name in ("fit.json", "table.parquet", "draws.zarr"):
        (place / name).write_bytes(attack)
    assert load_fit(tmp_path, "key") is None
    assert load_fit(tmp_path, "absent") is None
    assert not evidence.exists()
