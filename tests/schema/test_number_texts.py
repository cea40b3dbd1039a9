"""Numbers as spreadsheets write them, and what stays no number."""

import pytest

from analysis.schema.number_texts import number_of


@pytest.mark.parametrize(
    ("text", "hundred", "comma", "expected"),
    [
        ("35%", 1.0, False, 0.35),
        ("7 %", 1.0, False, 0.07),
        ("35%", 100.0, False, 35.0),
        ("35%", None, False, None),
        ("12,5%", 1.0, True, 0.125),
        ("12,5%", 1.0, False, None),
        ("0,250", None, True, 0.25),
        ("-3,75", None, True, -3.75),
        ("1,250", None, True, None),
        ("12,250", None, True, None),
        ("1,2,3", None, True, None),
        ("1.234,5", None, True, None),
        ("0,25", None, False, None),
        ("about 70%", 1.0, True, None),
        ("%", 1.0, True, None),
        ("1_000", 1.0, True, None),
        ("0.9%", 100.0, False, 0.9),
        ("57.2%", 1.0, False, 0.572),
        ("1e-99999999999999999999%", 1.0, False, 0.0),
        ("1e999%", 1.0, False, float("inf")),
        ("1e-3", None, True, 0.001),
    ],
)
def test_numbers_are_what_they_can_only_mean(
    text: str, hundred: float | None, comma: bool, expected: float | None
) -> None:
    """Catches thousands read as decimals, a list read as a number, and percents a hundredfold off."""
    assert number_of(text, hundred=hundred, decimal_comma=comma) == expected
