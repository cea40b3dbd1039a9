"""What every part of a study reads of its task, and what it adds to the report."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from analysis.measures.identities_joined import ProbabilityTask
from analysis.reduction.selection import Selection
from analysis.report.content import Section
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.studies.judgement import JudgementResults


@dataclass(frozen=True, slots=True)
class Resampling:
    """How much is drawn, and from which seed.

    Attributes
    ----------
    flips : int
        Sign flips, or permutations of labels, of a test.
    resamples : int
        Bootstrap resamples of an interval.
    seed : int
    task : str
        Whose draws these are, so that tasks do not share a stream.
    """

    flips: int = 20_000
    resamples: int = 10_000
    seed: int = 0
    task: str = ""

    def rng(self, name: str) -> np.random.Generator:
        """A generator for one named purpose: other purposes never change what it draws."""
        return np.random.default_rng([self.seed, zlib.crc32(self.task.encode()), zlib.crc32(name.encode())])


@dataclass(frozen=True, slots=True)
class BayesianSettings:
    """How the Bayesian columns are fitted.

    Attributes
    ----------
    fast : bool
        A quick look: fewer draws, marked as such.
    seed : int
    kept : Path or None
        Folder of kept fits; None keeps nothing.
    skipped : str
        Why this task is not fitted; empty if it is.
    """

    fast: bool = False
    seed: int = 0
    kept: Path | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class TaskContext:
    """One task of a run.

    Attributes
    ----------
    con : duckdb.DuckDBPyConnection
        With the view ``analysed``: the rows of all tasks.
    design : TaskDesign
    study : Study
    selection : Selection
    labels : mapping of str to str
        Model -> name to print, where one is declared.
    ci_level : float
    where : str
        What sentences begin with: nothing, or the task's name where there are several.
    counts : DataFrame or str
        ``reduction.cells.item_counts``, or the reason why nothing is right or wrong.
    sums : DataFrame or None
        ``reduction.units.unit_sums`` with the task's weights; None without counts.
    estimates : DataFrame or None
        Tidy frequentist estimates; None without counts.
    judgement : JudgementResults or None
        Results of a yes/no task.
    probabilities : ProbabilityTask or None
        Answers of a task of stated probabilities, joined by identities.
    resampling : Resampling
    bayes : BayesianSettings or None
        None: no Bayesian column is wanted.
    preset : str or None
        Published design that the user named; None leaves it to the factors.
    progress : callable
        Receives what is being done.
    families : mapping of str to str
        Family of every model that has one.
    """

    con: duckdb.DuckDBPyConnection
    design: TaskDesign
    study: Study
    selection: Selection
    labels: Mapping[str, str]
    ci_level: float
    where: str
    counts: pd.DataFrame | str
    sums: pd.DataFrame | None = None
    estimates: pd.DataFrame | None = None
    judgement: JudgementResults | None = None
    probabilities: ProbabilityTask | None = None
    resampling: Resampling = field(default_factory=Resampling)
    bayes: BayesianSettings | None = None
    preset: str | None = None
    progress: Callable[[str], None] = lambda stage: None
    families: Mapping[str, str] = field(default_factory=dict)

    def in_other_thread(self) -> "TaskContext":
        """The same with a connection of its own to the same rows: one of DuckDB's serves one thread."""
        con = self.con.cursor()
        con.execute("SET TimeZone = 'UTC'")
        return replace(self, con=con)


@dataclass(frozen=True, slots=True)
class Part:
    """What one part of a study adds to the report.

    ``summary``, ``limits`` and ``attention`` are sentences: what can be claimed, what cannot, what a reader
    should look into. ``methods`` are sentences of the methods section, written from the settings used, with
    sources cited by their keys in ``report.references`` as ``[@wilson1927]``; equal ones are printed once.
    ``data`` are reduced tables by file stem; those of several tasks are joined. ``files`` are further files of
    the report's folder ``data``, by path.
    """

    sections: tuple[Section, ...] = ()
    summary: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    attention: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    data: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


def joined(parts: Sequence[Part]) -> Part:
    """One part from several; their tables have names of their own."""
    data: dict[str, pd.DataFrame] = {}
    files: dict[str, bytes] = {}
    for part in parts:
        data |= part.data
        files |= part.files
    return Part(
        sections=tuple(section for part in parts for section in part.sections),
        summary=tuple(said for part in parts for said in part.summary),
        limits=tuple(said for part in parts for said in part.limits),
        attention=tuple(said for part in parts for said in part.attention),
        methods=tuple(said for part in parts for said in part.methods),
        data=data,
        files=files,
    )
