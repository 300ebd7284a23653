"""What a program answered, as the arrays that a stage's method returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.subjects.protocol import WHOLE_RUNS, answer_shapes
from verify.subjects.stage_table import ROWS, Asked


def array(values: Any) -> Vector:
    """Numbers as an array."""
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        return np.empty(0)  # rows of different lengths: the wrong shape whatever was asked


def array_of(parts: Sequence[Vector]) -> Vector:
    """Rows in several parts as one array."""
    try:
        return np.concatenate(parts)
    except ValueError:
        return np.empty(0)  # none, or rows of different lengths


def joined(arrays: Sequence[Vector]) -> Vector:
    """Arrays (steps, runs, n) side by side."""
    if any(array.ndim != 3 or len(array) != len(arrays[0]) for array in arrays):
        return np.empty(0)
    return np.concatenate(arrays, axis=1)


def returned(stage: Asked, result: Any) -> Any:
    """What a stage's method returns, from its answer."""
    answers = {name: getattr(result, name) for name, *_ in ROWS[stage].gives}
    parts = {name: array(value) if isinstance(value, list | np.ndarray) else value for name, value in answers.items()}
    first, *more = parts.values()
    return parts if stage in WHOLE_RUNS else (first, *more) if more else first


def numbers_in(stage: Asked, given: dict[str, Any]) -> int:
    """How many numbers an answer to these arguments holds, or a question to the oracle."""
    question_size = given["x0"].size if "x0" in given else 0
    return question_size + sum(math.prod(shape) for shape in answer_shapes(stage, given) if shape is not None)
