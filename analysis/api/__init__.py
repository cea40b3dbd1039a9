"""The Python interface: ``import analysis as eh``."""

from analysis.api.estimates import compare_models, floor_tests, incoherence, item_counts, measures
from analysis.api.fits import compare, draws, fit_accuracy, fit_answer_bias, fit_incoherence
from analysis.api.logs import Logs, read_logs
from analysis.api.planning import power
from analysis.api.reports import report
from analysis.bayes.accuracy_result import AccuracyFit
from analysis.bayes.incoherence_result import IncoherenceFit
from analysis.bayes.result import AnswerBiasFit
from analysis.errors import AnalysisError
from analysis.frequentist.model_comparison import ModelComparison

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
