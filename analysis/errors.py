"""Errors that reach a user as one message, never as a traceback."""


class AnalysisError(Exception):
    """Bad input or an impossible request.

    The message gives subject, rule, what was found where, and what to do.

    Parameters
    ----------
    message : str
        One paragraph for the user.
    offenders : sequence of str, optional
        The rows, files or names at fault (all of them, while the message may quote a few).

    Examples
    --------
    >>> import analysis as eh
    >>> try:
    ...     eh.read_logs("logs/example", models="gpt")
    ... except eh.AnalysisError as error:
    ...     print(error)
    models is a list of texts, not one text: models=['gpt']
    """

    def __init__(self, message: str, *, offenders: tuple[str, ...] | list[str] = ()) -> None:
        super().__init__(message)
        self.offenders = tuple(offenders)


class LogError(AnalysisError):
    """A file that is a log, or was named as one, and cannot be read.

    ``path`` is relative to the directory the user gave; ``reason`` is a short phrase that
    reconciliations print ("header only, no samples"); ``line`` counts from 1.
    """

    def __init__(self, path: str, reason: str, *, line: int | None = None, hint: str = "") -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {reason}" + (f"; {hint}" if hint else ""), offenders=(where,))
        self.path, self.reason, self.line, self.hint = path, reason, line, hint


class StudyError(AnalysisError):
    """``study.toml`` holds an unknown key, a wrong type or a setting that the logs contradict."""
