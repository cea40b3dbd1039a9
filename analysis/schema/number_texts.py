"""Numbers as tables write them: with a percent sign, or a comma before the decimals."""

import math
import re
from decimal import Decimal
from typing import Final

_COMMA: Final = re.compile(r"[+-]?\d+,\d+")
#: What may be thousands as well: 1,234.
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def number_of(text: str, *, hundred: float | None = None, decimal_comma: bool = False) -> float | None:
    """Number that a text states, None where it states none or may state two.

    Parameters
    ----------
    text : str
    hundred : float, optional
        What 100 % is in the unit of the column; without it a percent sign is no part of a number.
    decimal_comma : bool
        Whether a comma stands before decimals. Three digits behind a comma may be thousands as well and are
        no number, unless a 0 stands before it.

    Examples
    --------
    >>> number_of("35%", hundred=1.0), number_of("0,25", decimal_comma=True), number_of("1,250", decimal_comma=True)
    (0.35, 0.25, None)
    """
    bare, share = text.strip(), None
    if hundred is not None and bare.endswith("%"):
        bare, share = bare[:-1].rstrip(), hundred
    if decimal_comma and _COMMA.fullmatch(bare) and not _THOUSANDS.fullmatch(bare):
        bare = bare.replace(",", ".")
    if "_" in bare:
        return None
    try:
        number = float(bare)
    except ValueError:
        return None
    if share is None or number == 0 or not math.isfinite(number):
        return number
    # In decimals: 57.2 / 100 is not the number nearest to .572.
    return float(Decimal(bare) * Decimal(share) / 100)
