"""What a design can detect, from Python."""

from dataclasses import fields, replace

import pandas as pd

from analysis.api.logs import Logs
from analysis.api.settings import check_numbers
from analysis.errors import AnalysisError
from analysis.planning.assumptions import Assumptions
from analysis.planning.question import check_power
from analysis.schema.planning_settings import PlanningSettings
from analysis.studies.parts import PARTS, with_estimates
from analysis.studies.planning import planning_data
from analysis.studies.planning_answers import FEW_DRAWS, assumed_answers, observed_answers


def power(
    source: str | Logs,
    *,
    effect: float | None = None,
    power: float | None = None,
    level: float | None = None,
    units: int | None = None,
    rows_per_unit: float | None = None,
    rho: float | None = None,
    deff: float | None = None,
    accuracy: float | None = None,
    gap: float | None = None,
    class_correlation: float | None = None,
    split_units: bool = False,
    correlation: float | None = None,
    score_sd: float | None = None,
    discordant: float | None = None,
    noise: float | None = None,
    wordings: int | None = None,
    levels: int | None = None,
    interaction: float | None = None,
    template_sd: float | None = None,
    other_templates: int | None = None,
) -> pd.DataFrame:
    """What a design can detect, its power at an effect, and the units that the effect takes.

    Parameters
    ----------
    source : str or Logs
        A question under assumptions (``floor``, ``floor-difference``, ``accuracy``, ``accuracy-difference``,
        ``score``, ``score-difference``, ``answer-bias``, ``balanced-accuracy``, ``polarity-sensitivity``, ``change``,
        ``persistent``, ``range``, ``templates``), or logs: every estimand at the variances observed in them.
    effect : float, optional
        Smallest effect of interest; of logs by default that of ``[planning]`` in ``study.toml``. Of ``floor``
        ``accuracy`` may name the floor instead.
    power : float in (0, 1), optional
        Probability with which to show it; default .8, of logs that of ``[planning]``.
    level : float in (0, 1), optional
        Of the test.
    units, ... :
        Assumptions of a question: ``planning.assumptions.Assumptions``.

    Returns
    -------
    DataFrame
        One row per question: ``detectable_effect, power_at_effect, units_needed``, ...

    Raises
    ------
    AnalysisError
        An unknown question, or an assumption that is missing, out of place, out of range or no number.

    Examples
    --------
    >>> import analysis as eh
    >>> plan = eh.power("floor", units=80, rows_per_unit=5, rho=0.1, effect=0.05)
    >>> round(float(plan["detectable_effect"].iloc[0]), 3), int(plan["units_needed"].iloc[0])
    (0.086, 236)
    """
    if not isinstance(source, str | Logs):
        raise AnalysisError(
            f"source is a question such as 'floor', or what eh.read_logs(...) returns, not {type(source).__name__}"
        )
    check_numbers(effect=effect, power=power, level=level)
    if power is not None:
        check_power(power)
    assumptions = Assumptions(
        units=units,
        rows_per_unit=rows_per_unit,
        rho=rho,
        deff=deff,
        accuracy=accuracy,
        gap=gap,
        class_correlation=class_correlation,
        split_units=split_units,
        correlation=correlation,
        score_sd=score_sd,
        discordant=discordant,
        noise=noise,
        wordings=wordings,
        levels=levels,
        interaction=interaction,
        template_sd=template_sd,
        other_templates=other_templates,
    )
    _check_kinds(assumptions)
    if isinstance(source, str):
        return assumed_answers(source, assumptions, effect=effect, power=power, level=level).rows
    if assumptions.given():
        raise AnalysisError(f"{', '.join(assumptions.given())}: of questions; what logs vary by is observed")
    contexts = source.contexts()
    known = contexts[0].study.planning if contexts else PlanningSettings()
    return observed_answers(
        _data(source), simulated=source.simulated, effect=effect, power=power, level=level, planning=known
    ).rows


def _check_kinds(assumptions: Assumptions) -> None:
    """Refuse assumptions that are no numbers; whether a number is possible is for the question to say."""
    if not isinstance(assumptions.split_units, bool):
        raise AnalysisError(f"split_units is True or False, not {assumptions.split_units!r}")
    numbers = {field.name: getattr(assumptions, field.name) for field in fields(assumptions)}
    del numbers["split_units"]
    check_numbers(**numbers)


def _data(logs: Logs) -> dict[str, pd.DataFrame]:
    """Data of all parts of a report, without Bayesian columns and with few draws: none enters a standard error."""
    tables: dict[str, list[pd.DataFrame]] = {}
    for context in logs.contexts():
        estimated = with_estimates(replace(context, resampling=FEW_DRAWS, bayes=None))
        parts = [part for make in PARTS if (part := make(estimated)) is not None]
        for name, table in planning_data(estimated, parts).items():
            tables.setdefault(name, []).append(table)
    return {name: pd.concat(found, ignore_index=True) for name, found in tables.items()}
