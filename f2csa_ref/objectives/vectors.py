"""Vectors and matrices of doubles, checked where they come in."""

from __future__ import annotations

import numpy as np

from spec.errors import InvalidInputError
from spec.exact import Vector


def as_vector(value: object, size: int, argument: str) -> Vector:
    """Read a finite vector of known length.

    Raises:
        InvalidInputError: Naming the argument and what is wrong with it.
    """
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(argument, "must be a vector of numbers", value) from None
    if vector.shape != (size,):
        raise InvalidInputError(argument, f"must have shape ({size},)", vector.shape)
    if not np.isfinite(vector).all():
        raise InvalidInputError(argument, "must be finite", vector.tolist())
    return vector
