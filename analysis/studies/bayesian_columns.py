"""What the Bayesian columns of all studies share: kept fits, what is said of them, failures that are no bugs."""

from collections.abc import Callable
from typing import Final

from numpy.linalg import LinAlgError

from analysis.bayes.kept_fits import UNREADABLE, kept_files
from analysis.errors import AnalysisError
from analysis.studies.context import TaskContext

#: Folder of kept fits within the data of a report.
_KEPT: Final = "fits"
#: Mark of what rests on few draws.
FAST: Final = " (quick look: few draws)"
#: What a numerical library raises on data that it cannot work with.
UNUSABLE: Final = (AnalysisError, ArithmeticError, ValueError, RuntimeError, LinAlgError)


def teller(context: TaskContext, name: str) -> tuple[Callable[[str], None], list[str]]:
    """What a fit tells its steps to, and where it collects which kept fits could not be used."""
    ignored: list[str] = []

    def tell(said: str) -> None:
        if said.startswith(UNREADABLE):
            ignored.append(said)
        context.progress(f"{context.where}{name}{said}")

    return tell, ignored


def files_of_fit(context: TaskContext, key: str) -> dict[str, bytes]:
    """The files of a kept fit as a report holds them; empty where fits are not kept."""
    folder = context.bayes.kept if context.bayes is not None else None
    if folder is None or not key:
        return {}
    return {f"{_KEPT}/{name}": data for name, data in kept_files(folder, key).items()}


def first_line(error: Exception) -> str:
    """The first line of an error, without its full stop, or what kind of error it is."""
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
