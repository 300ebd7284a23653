"""Long texts of doubles are read at once, and mean what the plain way says that they mean."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import ExactArray, InvalidInputError, exact, loads_problem, parse_problem
from spec.blocks import exact_json
from spec.blocks.exact_json import loads
from tests.strategies import Spelling, matrices, spellings


@pytest.fixture(autouse=True, scope="module")
def short() -> Any:
    """Short texts and small arrays go the long ones' way."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(exact_json, "LONG", 0)
        patched.setattr(exact, "MANY", 1)
        yield


DOUBLES = st.floats(-1e100, 1e100).map(lambda v: 0.0 if 0 < abs(v) < 1e-100 else v)


@given(st.lists(st.lists(DOUBLES, min_size=3, max_size=3), min_size=1, max_size=4), st.sampled_from([None, 0, 2]))
def test_what_python_writes_of_doubles_comes_back_as_doubles(rows: list[list[float]], indent: int | None) -> None:
    text = json.dumps({"a": rows, "b": [1, 2**60], "c": "ab"}, indent=indent)
    read = loads(text, doubles=True)
    assert read == json.loads(text)
    assert all(type(value) is float for row in read["a"] for value in row)
    at_once, plainly = (ExactArray(loads(text, doubles=way)["a"], ndim=2) for way in (True, False))
    assert at_once.given_as_doubles
    assert not np.signbit(at_once.to_numpy()[at_once.to_numpy() == 0]).any()
    assert at_once == plainly
    assert at_once.rows == plainly.rows


@given(matrices(2, 3, spellings()))
def test_other_spellings_keep_their_exact_value(drawn: list[list[Spelling]]) -> None:
    text = json.dumps([["@"] * 3] * 2)
    for cell in (cell for row in drawn for cell in row):
        text = text.replace('"@"', cell.token, 1)
    read = ExactArray(loads(text, doubles=True), ndim=2)
    assert read.to_fractions() == [[cell.value for cell in row] for row in drawn]


@pytest.mark.parametrize("text", ["[[0.1, 0.10000000000000001]]", "[[0.1, 1e0]]", "[[0.1, 0.30]]", '[[0.1, "1/3"]]'])
def test_one_number_spelt_otherwise_is_read_exactly(text: str) -> None:
    read = loads(text, doubles=True)
    assert ExactArray(read, ndim=2).rows == ExactArray(loads(text), ndim=2).rows
    if '"' not in text:
        assert isinstance(read[0][0], Decimal)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '{"a": 1, "b": {"c": [0.5], "c": [0.5]}}', "[NaN]", "[1e999]", "[1e10000]", "[0.5,]", "[01]",
     "[" * 5000 + "]" * 5000, "9" * 5000, b"\xff", "[1 2]"],
)  # fmt: skip
def test_what_is_wrong_is_told_as_ever(text: str | bytes) -> None:
    told = []
    for doubles in (False, True):
        try:
            told.append(str(ExactArray([loads(text, "p", doubles=doubles)], ndim=1).rows))
        except InvalidInputError as error:
            told.append(str(error))
    assert told[0] == told[1]


@settings(max_examples=30)
@given(st.lists(st.one_of(DOUBLES, st.integers(-(2**70), 2**70), st.booleans(), st.just("1/3"), st.none(),
                          st.just(float("inf")), st.just(1e-200)), min_size=1, max_size=5))  # fmt: skip
def test_a_list_means_the_same_at_once_and_entry_by_entry(entries: list[Any]) -> None:
    told = []
    for many in (1, 10**9):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(exact, "MANY", many)
            try:
                told.append(str(ExactArray([entries, entries], ndim=2, argument="a").rows))
            except InvalidInputError as error:
                told.append(str(error))
    assert told[0] == told[1]


def test_a_problem_is_the_same_however_its_text_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    B = rng.standard_normal((2, 3)) * 1e-3
    data = {"kind": "quadratic", "f": {"y": [1.0, 1e-7, 2]}, "g": {"yy": (np.eye(3) * 1.5).tolist()},
            "constraints": {"A": [[0.0], [1.0]], "B": B.tolist()}}  # fmt: skip
    read = loads_problem(json.dumps(data))
    monkeypatch.setattr(exact_json, "LONG", 10**9)
    monkeypatch.setattr(exact, "MANY", 10**9)
    assert read == loads_problem(json.dumps(data)) == parse_problem(data)
    assert read.to_dict() == parse_problem(data).to_dict()
