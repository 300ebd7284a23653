"""Answers in their common form, numbers alone and each key once, read without a schema, which takes far longer."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from spec.exact import FloatArray, all_finite
from verify.subjects.stage_table import ROWS, Value
from verify.subjects.wire.messages import Packed, WireFault

_ANSWER, _QUESTION = {"jsonrpc", "id", "result"}, {"jsonrpc", "id", "method", "params"}
_LARGEST = 2**53


class _OtherwiseError(Exception):
    """It has another form."""


def read_plainly(
    data: Any, line: bytes, method: str, ids: Sequence[int]
) -> list[SimpleNamespace] | tuple[int | str, FloatArray] | None:
    """The results of a stage in the order of the ids, or the id and points of a question to its oracle.

    ``None`` of anything that is not of the common form: that is for the schema, which takes all that is taken here.
    """
    # In an array of numbers a truth value would pass for one.
    if method not in ROWS or b"true" in line or b"false" in line:
        return None
    try:
        if isinstance(data, dict) and "method" in data:
            return _question(data, line) if method in ("optimise", "optimise_runs") else None
        items = [data] if len(ids) == 1 else data
        if not isinstance(items, list) or len(items) != len(ids):
            return None
        results = [_result(item, method, wanted) for item, wanted in zip(items, ids, strict=True)]
        # What stands twice in an object, or in a text, has quotes that are not counted here.
        return results if line.count(b'"') == sum(map(_quotes, items)) else None
    except _OtherwiseError:
        return None


def _result(item: Any, method: str, wanted: int) -> SimpleNamespace:
    gives = ROWS[method].gives  # type: ignore[index]  # it is a stage
    _require(isinstance(item, dict) and item.keys() == _ANSWER and item["jsonrpc"] == "2.0")
    _require(type(item["id"]) is int and item["id"] == wanted)
    held = item["result"]
    _require(isinstance(held, dict) and len(held) == len(gives))
    return SimpleNamespace(**{part.name: _value(part, held.get(part.name, "")) for part in gives})


def _question(data: dict[str, Any], line: bytes) -> tuple[int | str, FloatArray] | None:
    _require(data.keys() == _QUESTION and data["jsonrpc"] == "2.0" and data["method"] == "oracle")
    number, params = data["id"], data["params"]
    _require(isinstance(params, dict) and params.keys() == {"z"})
    _require(type(number) is int or (isinstance(number, str) and len(number) <= 100))
    z = _array(params["z"], (1, 2))
    return (number, z) if line.count(b'"') == _quotes(data) else None


def _value(part: Value, held: Any) -> Any:
    if part.optional and held is None:
        return None
    if part.sizes:
        return _array(held, (len(part.sizes),))
    _require(type(held) in (int, float) and abs(held) < _LARGEST)
    return float(held)


def _array(held: Any, axes: tuple[int, ...]) -> FloatArray:
    """Numbers in a list or packed, as an array of so many axes."""
    try:
        array = np.array(held) if isinstance(held, list) else Packed.model_validate(held).array
    except (ValueError, OverflowError, WireFault):
        raise _OtherwiseError from None
    _require(array.ndim in axes and array.dtype.kind in "if")
    numbers: FloatArray = array.astype(np.float64, copy=False)
    _require(all_finite(numbers))
    return numbers


def _quotes(held: Any) -> int:
    """Quotes around the keys and texts of an object, and of those within, but in lists."""
    if isinstance(held, dict):
        return 2 * len(held) + sum(map(_quotes, held.values()))
    return 2 * isinstance(held, str)


def _require(condition: bool) -> None:
    if not condition:
        raise _OtherwiseError
