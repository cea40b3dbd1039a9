"""Evenhand: a statistical analysis toolkit over response logs of language models.

``import analysis as eh`` is cheap: the functions below load what they need when they are first used.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.api import (
        AccuracyFit,
        AnalysisError,
        AnswerBiasFit,
        IncoherenceFit,
        Logs,
        ModelComparison,
        compare,
        compare_models,
        draws,
        fit_accuracy,
        fit_answer_bias,
        fit_incoherence,
        floor_tests,
        incoherence,
        item_counts,
        measures,
        power,
        read_logs,
        report,
    )

__version__ = "0.1.0"

__all__ = [
    "AccuracyFit",
    "AnalysisError",
    "AnswerBiasFit",
    "IncoherenceFit",
    "Logs",
    "ModelComparison",
    "compare",
    "compare_models",
    "draws",
    "fit_accuracy",
    "fit_answer_bias",
    "fit_incoherence",
    "floor_tests",
    "incoherence",
    "item_counts",
    "measures",
    "power",
    "read_logs",
    "report",
]


class _Package(ModuleType):
    """The package, in which no folder takes the place of a function of the same name (``measures``, ``report``)."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Bind a name, unless the import system binds a folder to that of a public function."""
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    """A public name, loaded at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("analysis.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


sys.modules[__name__].__class__ = _Package
