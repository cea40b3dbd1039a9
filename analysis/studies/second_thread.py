"""Long parts of a study, made in a second thread while the first makes the short ones."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from analysis.bayes.sampling import STOP
from analysis.studies.context import Part, TaskContext

type MakePart = Callable[[TaskContext], Part | None]
type Begin = Callable[[MakePart, TaskContext], Future[Part | None]]


@contextmanager
def second_thread() -> Iterator[Begin]:
    """A function that begins a part, one after the other, and returns what will hold it.

    Sampling leaves the interpreter free and one chain ends before another, so that other work fills the cores. The
    part gets a connection of its own, and draws from generators of its own: it is the same in any thread. If the
    context is left by an error or an interruption, sampling stops at once and what has not begun never does.
    """
    stop = Event()
    pool = ThreadPoolExecutor(1, thread_name_prefix="long parts", initializer=STOP.set, initargs=(stop,))

    def begin(make: MakePart, context: TaskContext) -> Future[Part | None]:
        return pool.submit(make, context.in_other_thread())

    try:
        yield begin
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
