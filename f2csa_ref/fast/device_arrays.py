"""Arrays of any library that keeps to the Python array API standard: the way there and back."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from f2csa_ref.bounds import Indices
from spec.errors import InvalidInputError

Array: TypeAlias = Any
"""An array of the library in use."""
COMPAT = "array_api_compat"
"""What gives torch, cupy and older libraries the standard's names (extra ``arrays``)."""


def standard(xp: Any) -> Any:
    """The namespace itself where it keeps to the standard, else array-api-compat's of the same library.

    Raises:
        InvalidInputError: If it is no array library, or the extra is missing for one that needs it.
    """
    if xp is np:
        return np
    if not hasattr(xp, "asarray"):
        raise InvalidInputError("xp", "must be an array library: numpy, torch, cupy, jax.numpy", repr(xp))
    if importlib.util.find_spec(COMPAT) is not None:
        try:
            return importlib.import_module(COMPAT).array_namespace(xp.asarray([0.0]))
        except TypeError:
            raise InvalidInputError("xp", "must be a library that array-api-compat knows", repr(xp)) from None
    if not hasattr(xp, "__array_namespace_info__"):
        rule = "must keep to the array API standard itself; the extra `arrays` (array-api-compat) adapts what does not"
        raise InvalidInputError("xp", rule, repr(xp))
    return xp


@dataclass(eq=False)
class Arrays:
    """One library on one device.

    Raises:
        InvalidInputError: If it is no array library or holds no 64-bit floats there.
    """

    xp: Any = np
    device: Any = None

    def __post_init__(self) -> None:
        given, self.xp = self.xp, standard(self.xp)
        self._adapted = self.xp is not given
        self._where = {} if self.device is None else {"device": self.device}
        self.double, self.single = self.xp.float64, self.xp.float32
        try:
            held = self.xp.asarray([0.0], dtype=self.double, **self._where).dtype
        except (TypeError, ValueError, RuntimeError, AssertionError) as error:
            rule = f"must be one that {self.xp.__name__} has ({error})"
            raise InvalidInputError("device", rule, self.device) from None
        if held != self.double:
            raise InvalidInputError("xp", "must hold 64-bit floats (jax: set jax_enable_x64)", self.xp.__name__)

    def of(self, values: Any, dtype: Any = None) -> Array:
        """The values as an array on the device, by default of doubles."""
        if isinstance(values, np.ndarray) and not values.flags.writeable and self.xp is not np:
            values = values.copy()  # torch warns of shared memory that may not be written
        return self.xp.asarray(values, dtype=self.double if dtype is None else dtype, **self._where)

    def host(self, array: Array) -> Any:
        """The same as a numpy array."""
        if isinstance(array, np.ndarray):
            return array
        if self._adapted:
            array = importlib.import_module(COMPAT).to_device(array, "cpu")
        try:
            return np.asarray(array)
        except (RuntimeError, TypeError):
            return np.from_dlpack(array)

    def index(self, places: Indices) -> Array:
        """Places as an index array."""
        return self.xp.asarray(places, dtype=self.xp.int64, **self._where)

    def full(self, shape: tuple[int, ...], value: float, dtype: Any = None) -> Array:
        """Numbers that are all the same, by default doubles."""
        return self.xp.full(shape, value, dtype=self.double if dtype is None else dtype, **self._where)

    def rows(self, array: Array, places: Indices) -> Array:
        """Some of its rows."""
        return self.xp.take(array, self.index(places), axis=0)

    def merged(self, parts: list[Array], places: list[Indices]) -> Array:
        """Rows that were taken apart, back in their order."""
        return self.rows(self.xp.concat(parts, axis=0), np.argsort(np.concatenate(places)))

    def length(self, rows: Array) -> Array:
        """Euclidean length of each row."""
        return self.xp.sqrt(self.xp.vecdot(rows, rows))

    def positive(self, values: Array) -> Array:
        """Their positive parts."""
        return self.xp.clip(values, 0.0, None)


def as_points(arrays: Arrays, X: object, n: int) -> Array:
    """Read finite points, (K, n), K >= 1, or refuse them, one that is not finite by its index."""
    rule = f"must have shape (K, {n}) with K >= 1"
    try:
        points = arrays.of(X)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInputError("X", f"{rule}, and hold numbers", type(X).__name__) from None
    if len(points.shape) != 2 or points.shape[0] < 1 or points.shape[1] != n:
        raise InvalidInputError("X", rule, tuple(points.shape))
    require_finite(arrays, points, "must be finite")
    return points


def require_finite(arrays: Arrays, rows: Array, rule: str) -> None:
    """Refuse the first row that is not finite, by its index."""
    xp = arrays.xp
    wrong = np.flatnonzero(~arrays.host(xp.all(xp.isfinite(rows), axis=1)))
    if len(wrong):
        raise InvalidInputError(f"X[{int(wrong[0])}]", rule)
