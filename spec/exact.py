r"""Exact numbers as people write them: integers, decimals and ``"p/q"``.

An entry keeps its exact value through a JSON round trip. Three spellings are accepted and one canonical
spelling is written: an integer where the value is one, a decimal where it was given as a decimal, else
the reduced fraction as a string. A Python ``float`` means its shortest decimal, so ``0.1`` is one tenth
in Python and in a file alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from spec.errors import InvalidInputError, shorten

FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
"""A vector or matrix of doubles."""
Vector: TypeAlias = FloatArray
Matrix: TypeAlias = FloatArray
Entry: TypeAlias = int | Decimal | Fraction
"""One exact number in memory."""

MAX_DIGITS = 400
"""Longest accepted spelling of one number, in characters; enough for every finite double written out."""
MAX_MAGNITUDE = Decimal("1e150")
"""Largest accepted |entry|: squares of entries stay finite doubles (their product overflows near 1e308)."""
MIN_MAGNITUDE = Decimal("1e-150")
MAX_DIMENSION = 4096
"""Largest n, m or p of a problem written out entry by entry (one 4096 x 4096 matrix is 128 MiB of doubles)."""
MAX_SIDE = 16384
"""Largest side of a block of doubles."""
LARGEST_WHOLE = 2**53
"""Whole numbers up to here are doubles."""
MANY = 4096
"""Entries from which on lists of floats are read as doubles at once; exact entries are made where asked for."""
SHOWN = 8
"""Rows of a block of doubles that its representation looks at."""
_CHECKED = 1 << 15  # doubles checked at once: they stay in the cache
_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_ENTRY_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^[+-]?(\d+/\d+|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?)$"},
    ],
    "description": 'An exact number: integer, decimal, or "p/q".',
}
FILE_SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "required": list(keys), "additionalProperties": False,
     "properties": {key: {"type": "string"} for key in keys}, "description": "The block in a file beside this one."}
    for keys in (("npy",), ("npz", "array"))
]  # fmt: skip
"""How a problem file names a block that stands in a file of its own; :mod:`spec.blocks.array_files` reads it."""
_FORM = 'must be an integer, a decimal or "p/q"'


def parse_entry(value: object, argument: str = "entry") -> Entry:
    """Read one exact number: ``int``, ``float`` (its shortest decimal), ``Decimal``, ``Fraction`` or a string.

    Returns:
        The canonical exact value; integers are ``int`` whatever their spelling.

    Raises:
        InvalidInputError: If the value is not a finite number of acceptable length and magnitude.
    """
    kind = type(value)
    if kind is int:
        return _bounded(value, argument)  # type: ignore[arg-type]  # narrowed by identity, which mypy does not follow
    if kind is Decimal:
        return _from_decimal(value, argument)  # type: ignore[arg-type]  # as above
    if isinstance(value, bool):
        raise InvalidInputError(argument, _FORM, value)
    if isinstance(value, np.integer):
        return _bounded(int(value), argument)
    if isinstance(value, float | np.floating):
        return _from_decimal(Decimal(repr(float(value))), argument)
    if isinstance(value, Fraction):
        return _canonical(value, argument)
    if isinstance(value, str):
        return _from_text(value.strip(), argument)
    raise InvalidInputError(argument, _FORM, value)


def _from_text(text: str, argument: str) -> Entry:
    if len(text) > MAX_DIGITS:
        raise InvalidInputError(argument, f"must be written in at most {MAX_DIGITS} characters", text)
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        if int(denominator) == 0:
            raise InvalidInputError(argument, "must not have denominator 0", text)
        return _canonical(Fraction(int(numerator), int(denominator)), argument)
    if _DECIMAL.fullmatch(text):
        return _from_decimal(Decimal(text), argument)
    raise InvalidInputError(argument, _FORM, text)


def _from_decimal(value: Decimal, argument: str) -> Entry:
    if not value.is_finite():
        raise InvalidInputError(argument, "must be finite", str(value))
    if not value:
        return 0  # whatever its exponent: written out it could have millions of zeros
    # `abs` would round to the context's 28 digits, and overflow where the exponent is beyond its range.
    if not MIN_MAGNITUDE <= value.copy_abs() <= MAX_MAGNITUDE:
        raise InvalidInputError(argument, "must be 0 or of magnitude 1e-150 to 1e150", str(value))
    digits, exponent = value.as_tuple().digits, value.as_tuple().exponent
    if len(digits) > MAX_DIGITS:
        raise InvalidInputError(argument, f"must have at most {MAX_DIGITS} digits", str(value))
    if isinstance(exponent, int) and exponent >= 0:
        return int(value)
    # `normalize` would round to the context's 28 digits; strip zeros by hand to stay exact.
    text = format(value, "f").rstrip("0").rstrip(".")
    return int(text) if "." not in text else Decimal(text)


def _canonical(value: Fraction, argument: str) -> Entry:
    return _bounded(value.numerator if value.denominator == 1 else value, argument)


def _bounded(value: int | Fraction, argument: str) -> Entry:
    if value and not Fraction(MIN_MAGNITUDE) <= abs(Fraction(value)) <= Fraction(MAX_MAGNITUDE):
        raise InvalidInputError(argument, "must be 0 or of magnitude 1e-150 to 1e150")
    return value


def doubles(value: np.ndarray[Any, Any], argument: str) -> FloatArray:
    """An array of doubles or integers as read-only doubles: the same array where it holds doubles, and no copy.

    Raises:
        InvalidInputError: If a side is too long, or an entry is not one that :func:`parse_entry` reads, or no double.
    """
    if max(value.shape, default=0) > MAX_SIDE:
        raise InvalidInputError(argument, f"must have at most {MAX_SIDE} entries a side", max(value.shape))
    whole, low, high = value.dtype.kind in "iu", float(MIN_MAGNITUDE), float(MAX_MAGNITUDE)
    array: FloatArray = np.ascontiguousarray(value, dtype=np.float64)
    flat, given = array.reshape(-1), value.reshape(-1)
    for start in range(0, flat.size, _CHECKED):
        part = np.abs(flat[start : start + _CHECKED])
        fine = (part <= (LARGEST_WHOLE if whole else high)) & ((part >= low) | (part == 0))
        if not fine.all():
            at = start + int(fine.argmin())
            where = argument + "".join(f"[{i}]" for i in np.unravel_index(at, array.shape))
            parse_entry(given[at], where)
            raise InvalidInputError(where, f"integers must be at most {LARGEST_WHOLE} in magnitude", int(given[at]))
    array.setflags(write=False)
    return array


def to_json_value(entry: Entry) -> int | Decimal | str:
    """The canonical spelling, for :func:`spec.blocks.exact_json.dumps`."""
    return f"{entry.numerator}/{entry.denominator}" if isinstance(entry, Fraction) else entry


class ExactArray:
    """An immutable vector or matrix of exact numbers.

    A numpy array of doubles or integers, or a long list of such, is kept as doubles, each meaning its shortest decimal;
    exact entries are made of it when they are first asked for.

    Args:
        value: A sequence of entries, or of rows of entries; a numpy array; or another ``ExactArray``.
        ndim: 1 or 2.
        argument: Name used in errors.

    Raises:
        InvalidInputError: If ragged, of the wrong depth, too large, or an entry is not a number.
    """

    __slots__ = ("_doubles", "_entries", "shape")
    _entries: tuple[tuple[Entry, ...], ...] | None
    _doubles: FloatArray | None
    shape: tuple[int, ...]

    def __init__(self, value: object, *, ndim: int, argument: str = "array") -> None:
        if isinstance(value, np.ndarray):
            if value.ndim == ndim and _holds_doubles(value):
                # The sum is a copy of its own, without negative zeros.
                self._doubles = doubles(np.add(value, 0.0, dtype=np.float64), argument)
                self._entries, self.shape = None, value.shape
                return
            value = value.tolist()
        if isinstance(value, ExactArray):
            if value.ndim != ndim:
                raise InvalidInputError(argument, f"must have {ndim} dimension(s)", value.shape)
            self._entries, self._doubles, self.shape = value._entries, value._doubles, value.shape
            return
        if ndim == 1:
            rows = [_list(value, argument, "numbers")]
        else:
            given = _list(value, argument, "rows")
            rows = [_list(row, f"{argument}[{i}]", "numbers") for i, row in enumerate(given)]
        width = len(rows[0]) if rows else 0
        for dimension in (len(rows), width):
            if dimension > MAX_DIMENSION:
                raise InvalidInputError(argument, f"must have at most {MAX_DIMENSION} entries a side", dimension)
        for i, row in enumerate(rows):
            if len(row) != width:
                rule = f"rows must have equal length: row 0 has {width}, row {i} has {len(row)}"
                raise InvalidInputError(argument, rule)
        if len(rows) * width >= MANY and (array := _all_doubles(rows)) is not None:
            self._doubles = doubles(array if ndim == 2 else array[0], argument)
            self._entries, self.shape = None, self._doubles.shape
            return
        names = [argument] if ndim == 1 else [f"{argument}[{i}]" for i in range(len(rows))]
        self._entries = tuple(tuple(_parse_row(row, name)) for row, name in zip(rows, names, strict=True))
        self._doubles, self.shape = None, (width,) if ndim == 1 else (len(rows), width)

    @classmethod
    def of_doubles(cls, value: FloatArray) -> Self:
        """Take over an array that :func:`spec.doubles.doubles` has checked, without a copy."""
        array = cls.__new__(cls)
        array._entries, array._doubles, array.shape = None, value, value.shape
        return array

    @classmethod
    def zeros(cls, *shape: int) -> Self:
        """All entries the integer 0."""
        zeros = np.zeros(shape)
        zeros.setflags(write=False)
        return cls.of_doubles(zeros)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def rows(self) -> tuple[tuple[Entry, ...], ...]:
        """Entries row by row; a vector is one row."""
        if self._entries is None:
            rows = np.atleast_2d(self.to_numpy()).tolist()
            # The common case first: a whole number that a double holds exactly.
            self._entries = tuple(
                tuple(int(v) if v.is_integer() and abs(v) <= LARGEST_WHOLE else parse_entry(v) for v in row)
                for row in rows
            )
        return self._entries

    @property
    def given_as_doubles(self) -> bool:
        """Whether it was given as doubles, and no exact entry need be looked at to know its value."""
        return self._doubles is not None and self._entries is None

    def to_numpy(self) -> FloatArray:
        """Correctly rounded doubles, read-only, shape :attr:`shape`."""
        if self._doubles is None:
            flat = np.array([[float(entry) for entry in row] for row in self.rows], dtype=np.float64)
            self._doubles = flat.reshape(self.shape)
            self._doubles.setflags(write=False)
        return self._doubles

    def to_fractions(self) -> list[list[Fraction]]:
        """Exact rationals, row by row; a vector is one row."""
        return [[Fraction(entry) for entry in row] for row in self.rows]

    def to_list(self) -> list[Any]:
        """Nested lists in canonical spelling."""
        rows: list[Any] = [[to_json_value(entry) for entry in row] for row in self.rows]
        return rows if self.ndim == 2 else rows[0]

    @property
    def is_zero(self) -> bool:
        return not self.to_numpy().any()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactArray) or self.shape != other.shape:
            return NotImplemented if not isinstance(other, ExactArray) else False
        if self.given_as_doubles and other.given_as_doubles:
            return np.array_equal(self.to_numpy(), other.to_numpy())
        return self.rows == other.rows

    def __hash__(self) -> int:
        # Equal entries round to equal doubles.
        return hash((self.shape, self.to_numpy().tobytes()))

    def __repr__(self) -> str:
        shown = ExactArray(self.to_numpy()[:SHOWN, ...], ndim=self.ndim) if self.given_as_doubles else self
        entries = [[str(entry) for entry in row] for row in shown.rows]
        return f"ExactArray({shorten(entries if self.ndim == 2 else entries[0])}, shape={self.shape})"


def all_finite(numbers: np.ndarray[Any, Any]) -> bool:
    """Whether no entry is infinite or nan."""
    # One product tells of most arrays, and costs a fifth of a look at each entry.
    if numbers.dtype.char == "d" and math.isfinite(np.vdot(numbers, numbers)):
        return True
    return bool(np.isfinite(numbers).all())


def _holds_doubles(value: np.ndarray[Any, Any]) -> bool:
    if not value.size or value.dtype.itemsize > 8 or value.dtype.kind not in "fiu":
        return False
    return value.dtype.kind == "f" or bool(value.max() <= LARGEST_WHOLE and value.min() >= -LARGEST_WHOLE)


def _all_doubles(rows: Sequence[Sequence[object]]) -> FloatArray | None:
    """Rows of floats, and of whole numbers that are doubles, as one array without negative zeros; else ``None``."""
    kinds = {kind for row in rows for kind in set(map(type, row))}
    whole = (v for row in rows for v in row if type(v) is int) if int in kinds else ()
    if not kinds <= {float, int} or any(abs(v) > LARGEST_WHOLE for v in whole):
        return None
    array: FloatArray = np.array(rows, dtype=np.float64) + 0.0
    return array


def _list(value: object, argument: str, of: str) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise InvalidInputError(argument, f"must be a list of {of}", value)


def _parse_row(row: Sequence[object], where: str) -> Iterator[Entry]:
    for j, value in enumerate(row):
        # The common case first: files of many small integers should read fast.
        yield (value if type(value) is int and -(1 << 62) < value < (1 << 62) else parse_entry(value, f"{where}[{j}]"))


class _Schema:
    """Lets pydantic read, write and describe an :class:`ExactArray` of fixed depth, or one exact number (depth 0)."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: object) -> ExactArray | Entry:
            return ExactArray(value, ndim=self.ndim, argument="") if self.ndim else parse_entry(value, "")

        def write(value: ExactArray | Entry) -> Any:
            return value.to_list() if isinstance(value, ExactArray) else to_json_value(value)

        written = core_schema.plain_serializer_function_ser_schema(write)
        return core_schema.no_info_plain_validator_function(read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = _ENTRY_SCHEMA
        for _ in range(self.ndim):
            described = {"type": "array", "items": described, "maxItems": MAX_DIMENSION}
        return {"anyOf": [described, *FILE_SCHEMAS]} if self.ndim and handler.mode == "validation" else described


ExactVector = Annotated[ExactArray, _Schema(1)]
ExactMatrix = Annotated[ExactArray, _Schema(2)]
ExactNumber = Annotated[Entry, _Schema(0)]
