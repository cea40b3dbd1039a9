"""Files that ``study.toml`` names: beside it or below its directory, and nowhere else."""

from pathlib import Path, PurePosixPath, PureWindowsPath

from analysis.errors import StudyError


def file_of_study(study: str, name: str, key: str) -> Path:
    """Path of a file that a study names.

    Parameters
    ----------
    study : str
        Path of ``study.toml``.
    name : str
        As it stands there, relative to its directory.
    key : str
        Section and key, for messages.

    Raises
    ------
    StudyError
        The name is absolute, leads out of the directory (by ``..`` or by a link), or is that of no file.
    """
    folder = Path(study).parent
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or ".." in Path(name).parts:
        raise StudyError(f"{study}: {key}: {name!r} must be a name in the directory of study.toml or below it")
    path = folder / name
    if not path.is_file():
        raise StudyError(f"{study}: {key}: no file {name!r} in {folder}", offenders=(name,))
    if not path.resolve().is_relative_to(folder.resolve()):
        raise StudyError(f"{study}: {key}: {name!r} is a link to a place outside of {folder}; copy the file there")
    return path
