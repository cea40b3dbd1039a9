"""Runs that repeat each other: the later one, or all as samples, never a crashed retry for a full run."""

import pytest

from analysis.errors import AnalysisError
from analysis.schema.checks import check_responses
from analysis.schema.design import read_designs
from analysis.schema.runs import SettledRuns, Superseded, resolve_runs
from analysis.schema.study import Study

EARLY, LATE = "2025-09-15T10:00:00+02:00", "2025-09-15T09:00:00+00:00"


def run_of(name: str, items: str, timestamp: str | None, **columns: object) -> list[dict]:
    return [
        {"item": i, "gold": "yes", "run": name, "timestamp": timestamp, "source": f"{name}:{n}", **columns}
        for n, i in enumerate(items, 1)
    ]


def used(con) -> list[tuple]:
    return con.execute("SELECT item, run, sample FROM responses ORDER BY ALL").fetchall()


def violations(con) -> list:
    return check_responses(con, read_designs(con, Study()), Study())


def test_latest_uses_the_later_run_by_time_with_offsets(store) -> None:
    """10:00+02:00 is earlier than 09:00 UTC; as texts they sort the other way."""
    con = store(run_of("b", "pq", EARLY) + run_of("a", "pq", LATE))
    assert resolve_runs(con, "latest") == SettledRuns((Superseded("", "m", "b", 2),))
    assert used(con) == [("p", "a", "0"), ("q", "a", "0")]
    assert violations(con) == []


def test_latest_keeps_what_only_the_earlier_run_has(store) -> None:
    """Catches a run dropped whole, with responses that nothing replaces."""
    con = store(run_of("a", "pq", EARLY) + run_of("b", "qr", LATE))
    resolve_runs(con, "latest")
    assert used(con) == [("p", "a", "0"), ("q", "b", "0"), ("r", "b", "0")]


@pytest.mark.parametrize("late", [run_of("new", "p", LATE), run_of("new", "pq", LATE, status="errored", answer=None)])
def test_an_emptier_retry_never_replaces_a_fuller_run(store, late) -> None:
    """The retry that crashed after one item, and the one in which every call failed."""
    con = store(run_of("old", "pq", EARLY) + late)
    with pytest.raises(AnalysisError, match='runs "old" and "new": the later has') as caught:
        resolve_runs(con, "latest")
    assert len(caught.value.offenders) == 1
    assert len(used(con)) == 2 + len(late), "nothing has changed"


@pytest.mark.parametrize("times", [(None, None), (EARLY, EARLY), (None, LATE), ("soon", "later")])
def test_an_order_that_is_not_logged_is_not_guessed(store, times) -> None:
    con = store(run_of("a", "p", times[0]) + run_of("b", "p", times[1]))
    with pytest.raises(AnalysisError, match="times are not logged, or the same"):
        resolve_runs(con, "latest")


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("2024-08-01T10-02-33.5", "2024-08-01T10-12-00.1"),
        ("1722506553.25", "1722506554"),
        ("1722506553000", "1722506554000"),
        ("1722506553", "2024-08-01T10:02:34"),
        ("2024-08-01 10:02:33", "2024-08-01 10:02:34Z"),
    ],
)
def test_logged_times_of_every_kind_are_ordered(store, early: str, late: str) -> None:
    """1722506553 s is 2024-08-01T10:02:33 UTC."""
    con = store(run_of("x", "p", early) + run_of("a", "p", late))
    resolve_runs(con, "latest")
    assert used(con) == [("p", "a", "0")]


def test_all_makes_the_runs_of_a_model_and_task_samples(store) -> None:
    """Catches keys that are still the same, and runs of other models renamed."""
    rows = run_of("a", "pq", EARLY) + run_of("b", "p", LATE) + run_of("b", "p", LATE, model="other")
    con = store(rows)
    assert resolve_runs(con, "all") == SettledRuns(rows_as_samples=1)
    assert used(con) == [("p", "a", "0"), ("p", "b", "0"), ("p", "b", "0@b"), ("q", "a", "0")]
    assert violations(con) == []


def test_runs_without_an_id_are_told_apart_by_their_file(store) -> None:
    con = store(
        [
            {"item": "p", "gold": "yes", "source": f"{f}.jsonl:{n}", "timestamp": t}
            for f, n, t in (("a", 7, EARLY), ("b", 2, LATE))
        ]
    )
    assert resolve_runs(con, "latest").superseded == (Superseded("", "m", "a.jsonl", 1),)


def test_conditions_keep_runs_apart(store) -> None:
    """Catches the cot run taken for a repeat of the direct one."""
    con = store(run_of("a", "p", EARLY, strategy="cot") + run_of("b", "p", LATE, strategy="direct"))
    assert resolve_runs(con, "latest") == SettledRuns()
    assert len(used(con)) == 2
    resolve_runs(con, "latest", conditions=())
    assert used(con) == [("p", "b", "0")]
    rows = run_of("a", "p", EARLY, extra={"factor.voice": "x"}) + run_of("b", "p", LATE, extra={"factor.voice": "y"})
    assert resolve_runs(store(rows), "latest", conditions=("voice",)) == SettledRuns()


def test_a_repeat_within_one_run_is_not_settled(store) -> None:
    """Catches a doubled file hidden by --runs."""
    con = store(run_of("a", "pp", EARLY))
    for mode in ("latest", "all"):
        assert resolve_runs(con, mode) == SettledRuns()
    assert [v.rule for v in violations(con)] == ["duplicate response"]


def test_unknown_mode_is_refused(store) -> None:
    with pytest.raises(AnalysisError, match="latest or all"):
        resolve_runs(store([]), "newest")
