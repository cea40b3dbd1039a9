"""Files that are no log, or no longer one, whatever their name says: told from their first bytes."""

import re

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_ARCHIVES = (b"PK\x03\x04", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
#: Where a tar archive says that it is one.
_TAR = (slice(257, 262), b"ustar")
_SPREADSHEETS = frozenset({".xlsx", ".xls", ".xlsm", ".ods", ".numbers"})
_ENCODINGS = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
#: Bytes of a file by which its encoding is told.
_ENOUGH = 1024
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


def foreign_kind(head: bytes, suffix: str) -> str:
    """What a file that nobody reads is, and what to do with it: a spreadsheet, an archive, text in another encoding.

    Parameters
    ----------
    head : bytes
        First bytes, decompressed.
    suffix : str
        Ending of its name, in small letters.
    """
    if suffix in _SPREADSHEETS:
        return "a spreadsheet; save its table as CSV (UTF-8)"
    if suffix != ".eval" and (head.startswith(_ARCHIVES) or head[_TAR[0]] == _TAR[1]):
        return "an archive; unpack it"
    encoding = other_encoding(head)
    return f"text in {encoding.upper()}; save the file as UTF-8" if encoding else ""


def other_encoding(head: bytes) -> str:
    """Encoding of two or four bytes a character in which a head is plain text; empty where there is none."""
    start = head[:_ENOUGH]
    if b"\0" not in start:
        return ""
    return next((name for name in _ENCODINGS if _is_plain(start.decode(name, errors="replace"))), "")


def _is_plain(text: str) -> bool:
    """Whether a text, but for what was cut off at its end, is printable and for the most part ASCII."""
    shown = text.removesuffix("\ufffd").removeprefix("\ufeff")
    return (
        2 * sum(map(str.isascii, shown)) > len(shown)
        and "\ufffd" not in shown
        and all(c.isprintable() or c in "\t\r\n" for c in shown)
    )
