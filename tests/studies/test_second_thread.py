"""Long parts made in a second thread: the same report, the same failures, and an end to what nobody waits for."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from analysis.bayes.design_matrix import count_design
from analysis.bayes.models.answer_bias import stage_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.sampling import STOP, SamplerSettings, sample
from analysis.bayes.whitening import whitened_coordinates
from analysis.cli.main import main
from analysis.errors import AnalysisError
from analysis.report.content import ReportContent
from analysis.report.markdown import render_markdown
from analysis.studies import bayesian, parts
from analysis.studies.context import BayesianSettings, Part, Resampling, TaskContext
from analysis.studies.run import RunSettings, run_report
from analysis.studies.second_thread import Begin, MakePart
from tests.bayes.designs import gold_design


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small yes/no task of three models."""
    folder = tmp_path_factory.mktemp("second") / "logs"
    assert main(["simulate", str(folder), "--study", "yes-no", "--models", "3", "--items", "20", "--seed", "3"]) == 0
    return folder


@contextmanager
def _serial() -> Iterator[Begin]:
    def begin(make: MakePart, context: TaskContext) -> Future[Part | None]:
        made: Future[Part | None] = Future()
        made.set_result(make(context))
        return made

    yield begin


def _report(logs: Path) -> ReportContent:
    return run_report(
        [logs], RunSettings(bayes=BayesianSettings(fast=True), resampling=Resampling(flips=100, resamples=100))
    )


def _words(content: ReportContent) -> tuple[Any, ...]:
    tables = [render_markdown(table) for table in content.tables]
    data = {name: table.to_csv() for name, table in content.data.items()}
    return content.summary, content.limits, content.attention, content.methods, tables, data


def test_a_second_thread_changes_nothing(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches parts in the order in which threads end, and draws that depend on what else is being made."""
    beside = _words(_report(logs))
    monkeypatch.setattr("analysis.studies.run.second_thread", _serial)
    assert "bayesian_estimates" in beside[-1]
    assert beside == _words(_report(logs))


def test_a_fit_that_fails_in_the_second_thread_is_a_limit(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a failure that is lost with its thread, or that ends the report."""

    def fails(*args: object, **options: object) -> None:
        raise ValueError("singular\nmore")

    monkeypatch.setattr(bayesian, "fit_answer_bias", fails)
    limits = _report(logs).limits
    assert any("the model could not be fitted: singular" in said for said in limits)


def test_an_error_does_not_wait_for_a_long_part(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a minute of sampling before a message that was due at once."""
    seen = Event()

    def endless(context: TaskContext) -> Part | None:
        stop = STOP.get()
        assert stop is not None
        seen.set()
        stop.wait(60)
        return None

    def wrong(context: TaskContext) -> Part | None:
        assert seen.wait(60)
        raise AnalysisError("this is wrong")

    monkeypatch.setattr(parts, "PARTS", (endless, wrong))
    monkeypatch.setattr(parts, "LONG", frozenset({endless}))
    started = time.perf_counter()
    with pytest.raises(AnalysisError, match="this is wrong"):
        _report(logs)
    assert time.perf_counter() - started < 50


def test_sampling_ends_when_it_is_told_to() -> None:
    """Catches chains that run on after an interruption."""
    counts = count_design(gold_design({"a": (0.9, 0.4), "b": (1.0, 0.0), "c": (0.6, 0.7)}))
    arrays = stage_arrays(counts, Priors(), stage="yes")
    at = whitened_coordinates(arrays).coordinates
    long = SamplerSettings(chains=1, draws=50_000_000, tune=100, cores=1)
    stop = Event()

    def sampled() -> None:
        STOP.set(stop)
        sample(arrays, at, long, seed=1)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sampled)
        time.sleep(0.3)
        assert not running.done()
        stop.set()
        with pytest.raises(AnalysisError, match="sampling was stopped"):
            running.result(timeout=30)
