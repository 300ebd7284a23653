from __future__ import annotations

import json
import pickle
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import ExactArray, InvalidInputError
from spec.blocks.exact_json import dumps, loads
from spec.exact import MAX_DIMENSION, parse_entry, to_json_value
from tests.strategies import Spelling, matrices, spellings


@given(spellings())
def test_every_spelling_of_a_number_means_the_same_number(spelling: Spelling) -> None:
    assert Fraction(parse_entry(loads(spelling.token))) == spelling.value


@given(spellings())
def test_the_canonical_spelling_is_a_fixed_point(spelling: Spelling) -> None:
    once = dumps(to_json_value(parse_entry(loads(spelling.token))))
    again = parse_entry(loads(once))
    assert Fraction(again) == spelling.value
    assert dumps(to_json_value(again)) == once


@pytest.mark.parametrize(
    ("token", "canonical"),
    [
        ("1.50", "1.5"), ("1e2", "100"), ("-0", "0"), ("-0.0", "0"), ('"+1"', "1"), ('"2/4"', '"1/2"'), ('"4/2"', "2"),
        ("1E-3", "0.001"), ('"0.5"', "0.5"), ("12.000", "12"), ('"-6/4"', '"-3/2"'), ('"007"', "7"), ('".5"', "0.5"),
        ("0.1000000000000000055511151231257827021181583404541015625",) * 2,
    ],
)  # fmt: skip
def test_numbers_have_one_canonical_spelling(token: str, canonical: str) -> None:
    assert dumps(to_json_value(parse_entry(loads(token)))) == canonical


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150))
def test_a_float_means_its_shortest_decimal(value: float) -> None:
    if value and abs(value) < 1e-150:
        with pytest.raises(InvalidInputError):
            parse_entry(value)
        return
    entry = parse_entry(value)
    assert Fraction(entry) == Fraction(repr(value))
    assert float(entry) == value
    assert parse_entry(np.float64(value)) == entry


@given(matrices(2, 3, spellings()))
def test_doubles_are_the_exact_entries_correctly_rounded(drawn: list[list[Spelling]]) -> None:
    array = ExactArray([[loads(cell.token) for cell in row] for row in drawn], ndim=2)
    got = array.to_numpy()
    assert got.shape == (2, 3)
    for i, row in enumerate(drawn):
        for j, cell in enumerate(row):
            double = float(got[i, j])
            assert double == cell.value.numerator / cell.value.denominator
            # No neighbouring double is nearer.
            off = abs(Fraction(double) - cell.value)
            assert all(off <= abs(Fraction(float(np.nextafter(double, way))) - cell.value) for way in (-np.inf, np.inf))


def test_decimals_of_any_length_round_once() -> None:
    # Halfway between two doubles but for the last digit: rounding twice would go the wrong way.
    just_above = "1.00000000000000011102230246251565404236316680908203125" + "0" * 40 + "1"
    assert float(ExactArray([Decimal(just_above)], ndim=1).to_numpy()[0]) == 1 + 2**-52
    assert Fraction(parse_entry(just_above)) == Fraction(just_above)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (True, 'must be an integer, a decimal or "p/q"'),
        (np.True_, 'must be an integer'),
        (None, "must be an integer"),
        ("", "must be an integer"),
        ("nan", "must be an integer"),
        ("1 2", "must be an integer"),
        ("0x10", "must be an integer"),
        ("1_000", "must be an integer"),
        ("１", "must be an integer"),
        ("1.5/2", "must be an integer"),
        ("1/-2", "must be an integer"),
        ("1/2/3", "must be an integer"),
        ("1e99999", "must be an integer"),
        (1j, "must be an integer"),
        (b"1", "must be an integer"),
        ([1], "must be an integer"),
        ("1/0", "must not have denominator 0"),
        (float("nan"), "must be finite"),
        (float("inf"), "must be finite"),
        (Decimal("-Infinity"), "must be finite"),
        (Decimal("sNaN"), "must be finite"),
        (1e151, "must be 0 or of magnitude"),
        (-(10**151), "must be 0 or of magnitude"),
        pytest.param(10**5000, "must be 0 or of magnitude", id="5001 digits"),
        (1e-151, "must be 0 or of magnitude"),
        (Decimal("1e9999999"), "must be 0 or of magnitude"),
        (Decimal("-1e-9999999"), "must be 0 or of magnitude"),
        (Fraction(1, 10**151), "must be 0 or of magnitude"),
        (Fraction(10**151, 3), "must be 0 or of magnitude"),
        ("0." + "3" * 500, "must be written in at most 400 characters"),
        (Decimal("0." + "3" * 500), "must have at most 400 digits"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused_with_argument_and_rule(value: Any, rule: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^f\.x\[3\]: ") as caught:
        parse_entry(value, "f.x[3]")
    assert caught.value.rule.startswith(rule)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("zero", ["0e-99999999", "-0e99999999", "0.000"])
def test_zero_is_zero_whatever_its_exponent(zero: str) -> None:
    assert repr(parse_entry(Decimal(zero))) == "0"


def test_the_magnitude_limits_themselves_are_accepted() -> None:
    for token in ("1e150", "-1e-150", '"1e150"', f'"1/1{"0" * 150}"'):
        assert parse_entry(loads(token)) != 0
    with pytest.raises(InvalidInputError, match="magnitude"):
        parse_entry(Decimal("1" + "0" * 149 + "0.1"))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "is not valid JSON"),
        ("{", "is not valid JSON"),
        ("[1,]", "is not valid JSON"),
        ("01", "is not valid JSON"),
        (b"\xff\xfe{", "is not valid JSON"),
        (b"\x80", "is not valid JSON"),
        ("NaN", "must hold finite numbers only; got NaN"),
        ("[1, -Infinity]", "must hold finite numbers only; got -Infinity"),
        ('{"a": 1, "b": 2, "a": 1}', "keys must not repeat; got a"),
        ('{"a": {"b": 1, "b": 1}}', "keys must not repeat; got b"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ("9" * 5000, "numbers must have at most 400 digits"),
        ("1e10000", "numbers must have exponents of at most 9999; got 1e10000"),
        ("0e-1000000000", "numbers must have exponents of at most 9999"),
        ("1e99999999999999999999", "numbers must have exponents of at most 9999"),
    ],
)
def test_malformed_files_are_refused_in_one_line(text: str | bytes, rule: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        loads(text, "p.json")
    assert str(caught.value).startswith(f"p.json: {rule}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "ndim", "message"),
    [
        (1, 1, "a: must be a list of numbers; got 1"),
        ("12", 1, "a: must be a list of numbers; got 12"),
        ({"0": 1}, 1, "a: must be a list of numbers"),
        (1, 2, "a: must be a list of rows; got 1"),
        ([1, 2], 2, "a[0]: must be a list of numbers; got 1"),
        ([[1], 2], 2, "a[1]: must be a list of numbers; got 2"),
        ([[1, 2], [3]], 2, "a: rows must have equal length: row 0 has 2, row 1 has 1"),
        ([[1], []], 2, "a: rows must have equal length: row 0 has 1, row 1 has 0"),
        ([[1, [2]]], 2, 'a[0][1]: must be an integer, a decimal or "p/q"; got [2]'),
        ([[1], [True]], 2, 'a[1][0]: must be an integer, a decimal or "p/q"; got True'),
        ([0] * (MAX_DIMENSION + 1), 1, "a: must have at most 4096 entries a side; got 4097"),
        (np.zeros((2, 2)), 1, 'a[0]: must be an integer, a decimal or "p/q"; got [0.0, 0.0]'),
        (np.array(1.0), 1, "a: must be a list of numbers; got 1.0"),
        (np.array([np.nan]), 1, "a[0]: must be finite; got NaN"),
        (ExactArray([1], ndim=1), 2, "a: must have 2 dimension(s); got (1,)"),
    ],
)
def test_what_is_no_array_is_refused_at_its_place(value: Any, ndim: int, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ExactArray(value, ndim=ndim, argument="a")
    assert str(caught.value).startswith(message)


def test_numpy_and_nested_lists_mean_the_same() -> None:
    from_numpy = ExactArray(np.array([[0.1, 2.0], [3.0, -0.0]]), ndim=2)
    assert from_numpy == ExactArray([["1/10", 2], [3, 0]], ndim=2)
    assert from_numpy == ExactArray(from_numpy, ndim=2)
    assert hash(from_numpy) == hash(ExactArray([[Decimal("0.1"), 2], [3, 0]], ndim=2))
    assert from_numpy.to_fractions() == [[Fraction(1, 10), Fraction(2)], [Fraction(3), Fraction(0)]]
    assert ExactArray(np.array([1, 2]), ndim=1).to_list() == [1, 2]


def test_arrays_keep_their_shape_even_where_empty_or_zero() -> None:
    assert ExactArray([], ndim=1).shape == (0,)
    assert ExactArray([], ndim=2).shape == (0, 0)
    assert ExactArray([[], []], ndim=2).to_numpy().shape == (2, 0)
    assert ExactArray.zeros(3).to_list() == [0, 0, 0]
    assert ExactArray.zeros(2, 3).to_numpy().tolist() == [[0.0] * 3] * 2
    assert ExactArray.zeros(2, 3).is_zero
    assert not ExactArray([[0, "1/9"]], ndim=2).is_zero


def test_arrays_compare_by_shape_and_value_only() -> None:
    assert ExactArray([1, 2], ndim=1) != ExactArray([[1, 2]], ndim=2)
    assert ExactArray([1], ndim=1) != [1]
    assert ExactArray(["1/2"], ndim=1) == ExactArray([0.5], ndim=1)
    assert "shape=(2,)" in repr(ExactArray([1, 2], ndim=1))


def test_arrays_survive_pickling_and_cannot_be_changed() -> None:
    array = ExactArray([["1/3", 0.1]], ndim=2)
    assert pickle.loads(pickle.dumps(array)) == array
    with pytest.raises(TypeError):
        array.rows[0][0] = 5  # type: ignore[index]  # that it cannot be assigned is what is tested
    with pytest.raises(AttributeError):
        array.name = "B"  # type: ignore[attr-defined]  # as above


@settings(max_examples=50)
@given(matrices(2, 2, spellings()), st.integers(0, 4), st.randoms(use_true_random=False))
def test_spaces_and_the_order_of_keys_do_not_matter(
    drawn: list[list[Spelling]], indent: int, shuffle: random.Random
) -> None:
    rows = [f"[ {row[0].token}\t,\n{row[1].token}]" for row in drawn]
    pairs = [('"a"', f"[{rows[0]}, {rows[1]}]"), ('"b"', "1"), ('"c"', '"ü"')]
    shuffle.shuffle(pairs)
    read = loads("{" + ",".join(f"{key} : {value}" for key, value in pairs) + "}")
    assert ExactArray(read["a"], ndim=2).to_fractions() == [[cell.value for cell in row] for row in drawn]
    assert loads(dumps(read, indent=indent or None)) == read


def test_indented_text_keeps_a_matrix_row_on_a_line() -> None:
    text = dumps({"B": [[1, 0], [0, 1]], "e": [], "s": "α"}, indent=1)
    assert text.splitlines()[2] == "  [1, 0],"
    assert json.loads(text) == {"B": [[1, 0], [0, 1]], "e": [], "s": "α"}


def test_an_array_of_doubles_becomes_exact_entries_where_they_are_asked_for() -> None:
    given = np.array([[0.1, 2.0**50], [-0.0, -3.0]])
    array = ExactArray(given, ndim=2)
    assert array.given_as_doubles
    given[0, 0] = 5.0  # it keeps a copy of its own
    assert array.to_numpy() is array.to_numpy()
    assert not array.to_numpy().flags.writeable
    assert not np.signbit(array.to_numpy()[1, 0])
    assert array.rows == ((Decimal("0.1"), 2**50), (0, -3))
    assert all(type(entry) is int for entry in array.rows[1])
    assert array == ExactArray([["1/10", 2**50], [0, -3]], ndim=2)
    assert repr(ExactArray(np.ones(3), ndim=1)) == "ExactArray(['1', '1', '1'], shape=(3,))"


def test_integers_that_no_double_holds_stay_exact() -> None:
    assert ExactArray(np.array([2**53 + 1, 1]), ndim=1).rows == ((2**53 + 1, 1),)
    assert ExactArray(np.array([2**64 - 1], dtype=np.uint64), ndim=1).rows == ((2**64 - 1,),)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e151, 1e-151])
def test_a_double_that_is_no_entry_is_refused_with_its_place(bad: float) -> None:
    with pytest.raises(InvalidInputError, match=r"^a\[3\]\[7\]: must be"):
        ExactArray(np.where(np.arange(32).reshape(4, 8) == 31, bad, 1.0), ndim=2, argument="a")


def test_a_side_too_long_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must have at most 16384 entries a side; got 16385"):
        ExactArray(np.ones(16385), ndim=1, argument="a")
