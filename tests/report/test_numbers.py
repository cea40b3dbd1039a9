"""Numbers in print: signs, bounds and digits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.report import numbers


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.6745, 2, "0.67"),
        (-0.2, 2, "\u22120.20"),
        (-0.0004, 3, "0.000"),
        (-0.0, 1, "0.0"),
        (-0.0006, 3, "\u22120.001"),
    ],
)
def test_fixed(value: float, digits: int, text: str) -> None:
    """Catches a hyphen for a minus sign, and minus zero."""
    assert numbers.fixed(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "+0.10"), (-0.1, "\u22120.10"), (0.0, "0.00"), (1e-9, "0.00"), (-1e-9, "0.00"), (12.0, "+12.00")],
)
def test_signed(value: float, text: str) -> None:
    """Catches a missing plus, and a sign that the printed digits do not show."""
    assert numbers.signed(value, 2) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (999, "999"), (14320, "14,320"), (1e6, "1,000,000"), (-3, "\u22123")]
)
def test_count(value: float, text: str) -> None:
    """Catches counts printed as 14320.0."""
    assert numbers.count(value) == text


def test_impossible_values_are_refused() -> None:
    """Catches percentages declared as proportions, effective sizes declared as counts, p = b / m."""
    for refused in (
        lambda: numbers.proportion(67.4, 3),
        lambda: numbers.proportion(-0.01, 3),
        lambda: numbers.count(79.3),
        lambda: numbers.p_value(1.2, 3),
        lambda: numbers.p_value(-0.1, 3),
        lambda: numbers.p_value(0.0, 3, floor=0.001),
    ):
        with pytest.raises(AnalysisError):
            refused()


def test_sums_of_floats_pass_at_the_ends() -> None:
    """Catches 0.1 + 0.2 + 0.7 refused as a proportion above 1."""
    assert numbers.proportion(1 + 2e-16, 3) == "1.000"
    assert numbers.p_value(1 + 2e-16, 3) == "1.000"


@pytest.mark.parametrize(
    ("value", "floor", "text"),
    [
        (0.04, None, "0.040"),
        (0.001, None, "0.001"),
        (0.00099, None, "< 0.001"),
        (1e-300, None, "< 0.001"),
        (0.0, None, "< 0.001"),
        (1 / 2000, 1 / 2000, "\u2264 0.00050"),
        (1 / 10001, 1 / 10001, "\u2264 0.000100"),
        (1 / 20, 1 / 20, "\u2264 0.050"),
        (2 / 2000, 1 / 2000, "0.001"),
        (2 / 10001, 1 / 10001, "< 0.001"),
    ],
)
def test_p_values(value: float, floor: float | None, text: str) -> None:
    """Catches p = 0.000, and the floor of a resampling test printed as a value."""
    assert numbers.p_value(value, 3, floor=floor) == text


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(1, 5))
def test_p_values_never_print_zero(value: float, digits: int) -> None:
    """Catches a p-value that rounds to 0."""
    assert numbers.p_value(value, digits).strip("< 0.")


@settings(deadline=None)
@given(st.integers(1, 10**7))
def test_bound_of_a_resampling_p_value_holds(resamples: int) -> None:
    """Catches a bound rounded down, below the p-value itself."""
    floor = 1 / (resamples + 1)
    bound = float(numbers.p_value(floor, 3, floor=floor).removeprefix("\u2264 "))
    assert floor <= bound * (1 + 1e-12)
    assert bound <= 1.1 * floor + 0.001


@pytest.mark.parametrize(
    ("value", "text"), [(0.95, "95%"), (0.995, "99.5%"), (0.89, "89%"), (1 - 0.05 / 29, "99.8276%")]
)
def test_level(value: float, text: str) -> None:
    """Catches 0.95 * 100 printed as 95.00000000000001, and 99.5 rounded to 100."""
    assert numbers.level(value) == text


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_printed_number_lies_within_half_a_digit(value: float, digits: int) -> None:
    """Catches truncation and double rounding."""
    printed = float(numbers.signed(value, digits).replace("\u2212", "-"))
    assert abs(printed - value) <= 0.5 * 10**-digits * (1 + 1e-6) + 1e-9
