from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from spec.errors import shorten
from spec.problem import parse_problem


def test_the_message_is_argument_rule_value() -> None:
    error = InvalidInputError("g.yy[1]", "must be > 0", -1.0)
    assert str(error) == "g.yy[1]: must be > 0; got -1.0"
    assert (error.argument, error.rule, error.value) == ("g.yy[1]", "must be > 0", -1.0)
    assert isinstance(error, ValueError)


def test_without_a_value_none_is_shown() -> None:
    assert str(InvalidInputError("x", "is required")) == "x: is required"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("abc", "abc"),
        ("", "''"),
        ("a\n b\t\tc", "a b c"),
        (Decimal("1E+9"), "1E+9"),
        (Fraction(1, 3), "1/3"),
        ([1, "a"], "[1, 'a']"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
    ],
)
def test_values_are_shown_as_they_are_written(value: object, shown: str) -> None:
    assert shorten(value) == shown


@given(st.text() | st.binary() | st.lists(st.text()) | st.integers() | st.floats())
def test_a_value_is_shown_on_one_line_of_bounded_length(value: object) -> None:
    shown = shorten(value)
    assert len(shown) <= 60
    assert len(shown.splitlines()) <= 1


def test_a_value_too_large_to_show_is_named_by_its_type() -> None:
    deep: list[object] = []
    innermost = deep
    for _ in range(100_000):
        innermost.append([])
        innermost = innermost[0]  # type: ignore[assignment]  # a list was appended above
    assert shorten(deep) == "a list too large to show"
    while deep:  # taken apart by hand: freeing it at once recurses
        deep = deep.pop()  # type: ignore[assignment]  # lists all the way down
    assert shorten(10**5000) == "a int too large to show"


def test_errors_cross_process_boundaries() -> None:
    error = pickle.loads(pickle.dumps(InvalidInputError("x", "must fit", lambda: 0)))
    assert isinstance(error, InvalidInputError)
    assert str(error).startswith("x: must fit; got <function")
    assert str(pickle.loads(pickle.dumps(InvalidInputError("x", "must fit")))) == "x: must fit"


def test_what_no_encoding_writes_is_escaped_and_a_long_key_is_shortened():
    error = InvalidInputError("a.\ud800", "must not be \udfff", "\ud8ff")
    assert str(error) == r"a.\ud800: must not be \udfff; got \ud8ff"
    constraints = {"A": [[1]], "B": [[1]], "b": [0]}
    surrogate = ({"y": ["\ud800"]}, r'f.y[0]: must be an integer, a decimal or "p/q"; got \ud800')
    for f, message in (surrogate, ({"k" * 10**5: 1}, f"f.{'k' * 59}…: is not a field of this block; got 1")):
        with pytest.raises(InvalidInputError) as refused:
            parse_problem({"kind": "quadratic", "f": f, "g": {"yy": [[1]]}, "constraints": constraints}, "")
        assert str(refused.value) == message
