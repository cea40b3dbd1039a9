"""Files that are no log, or no longer one, whatever their name says: told from their first bytes."""

import re

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_HTML = re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)


def damage(head: bytes, size: int) -> str:
    """Why a file cannot be a log, or an empty text.

    Parameters
    ----------
    head : bytes
        First bytes, decompressed.
    size : int
        Size of the file on disk.
    """
    if head.startswith(LFS_POINTER):
        return "a Git LFS pointer, not the file itself; run `git lfs pull`"
    if size == 0:
        return "empty file"
    if not head:
        return "a damaged compressed file; copy it again"
    if not head.strip(b"\0"):
        return "holds nothing but zero bytes; copy it again"
    if not head.strip():
        return "holds nothing but blanks"
    if _HTML.match(head):
        return "a web page, not a log; download the raw file"
    return ""


def is_refused(reason: str) -> bool:
    """Whether the damaged file stands for a log that is lost (an empty file or a page stands for nothing)."""
    return reason.startswith(("a Git LFS pointer", "a damaged", "holds nothing but zero bytes"))
