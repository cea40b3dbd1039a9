"""Why logs cannot be taken in at all: one message with everything that is wrong."""

import os
import re
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.importers import standard
from analysis.importers.detect import Found, format_names
from analysis.importers.protocol import Claim
from analysis.reduction.reconciliation import FileAccount

#: Names in the notes of importers that lack the scorer asked for.
_SCORERS = re.compile(r"\((?:it has|there is): (.*?)\)")


def absolute(paths: list[Path]) -> list[Path]:
    # Not resolved: a link keeps the name under which the user knows it.
    return [Path(os.path.abspath(path)) for path in paths]


def refuse_nothing(found: list[Found], paths: list[Path]) -> None:
    if any(item.claim in (Claim.LOG, Claim.REFUSED) for item in found):
        return
    named = ", ".join(str(path) for path in paths)
    known = ", ".join(format_names())
    files = "1 file" if len(found) == 1 else f"{len(found):,} files"
    looked = f"looked at {files}" if found else "the directory is empty"
    reasons = [f"{item.relative}: {item.reason}" for item in found if item.claim is Claim.NO]
    shown = "".join(f"\n  {reason}" for reason in reasons[:10]) + ("\n  …" if len(reasons) > 10 else "")
    raise AnalysisError(f"no logs found in {named}: {looked}; known formats are {known}{shown}", offenders=reasons)


def refuse_fruitless(found: list[Found], paths: list[Path]) -> None:
    """Refuse a named file or directory without a log or what belongs to one, which the logs beside it would hide."""
    logs = [item.path for item in found if item.claim is not Claim.NO]
    empty = [
        str(path)
        for path, place in zip(paths, absolute(paths), strict=True)
        if not any(log == place or place in log.parents for log in logs)
    ]
    if empty:
        raise AnalysisError(f"no logs found in {', '.join(empty)}; leave it out, or correct the name", offenders=empty)


def refuse_absent_scorer(accounts: list[FileAccount], scorer: str | None) -> None:
    """Refuse a scorer that no log has: it would leave every response unscored."""
    if scorer is None:
        return
    read = [account for account in accounts if account.verdict == "read" and account.format != standard.NAME]
    said = [
        [note for note in account.notes if note.startswith((f'no scorer "{scorer}"', f'no metric "{scorer}"'))]
        for account in read
    ]
    if read and all(said):
        names = sorted({has[1] for notes in said for note in notes if (has := _SCORERS.search(note))})
        raise AnalysisError(f'no log has a scorer "{scorer}"; they have: {"; ".join(names)}', offenders=(scorer,))


def refuse_own_output(found: list[Found], store: Path) -> None:
    for item in found:
        if store.exists() and item.path.exists() and item.path.samefile(store):
            raise AnalysisError(
                f"{item.relative}: is the file to write and lies among the logs; write it elsewhere, or remove it",
                offenders=(item.relative,),
            )


def refusal(refused: list[FileAccount], looked_at: int, *, others: bool) -> AnalysisError:
    """What cannot be read, and what to do; skipping it is no way out where there is nothing else (``others``)."""
    listed = "".join(f"\n  {account.file}: {account.reason}" for account in refused)
    unfiltered = all(account.reason.startswith("no rows of filter") for account in refused)
    mend = "name another --filter, or the logs that have it only" if unfiltered else "repair or remove them"
    skip = ", or use --keep-going to skip them" if others else ""
    files = "1 file" if looked_at == 1 else f"{looked_at:,} files"
    return AnalysisError(
        f"{len(refused):,} of {files} cannot be read; {mend}{skip}:{listed}",
        offenders=[account.file for account in refused],
    )
