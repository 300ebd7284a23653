r"""Exact numbers as people write them: integers, decimals and ``"p/q"``.

An entry keeps its exact value through a JSON round trip. Three spellings are accepted and one canonical
spelling is written: an integer where the value is one, a decimal where it was given as a decimal, else
the reduced fraction as a string. A Python ``float`` means its shortest decimal, so ``0.1`` is one tenth
in Python and in a file alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
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
MAX_EXPONENT = 9999
"""Largest power of ten of a number in a file; beyond doubles, so that what is too large is refused by name."""
MAX_DIMENSION = 4096
"""Largest n, m or p of a problem written out entry by entry (one 4096 x 4096 matrix is 128 MiB of doubles)."""
_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_ENTRY_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^[+-]?(\d+/\d+|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?)$"},
    ],
    "description": 'An exact number: integer, decimal, or "p/q".',
}
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


def to_json_value(entry: Entry) -> int | Decimal | str:
    """The canonical spelling, for :func:`dumps`."""
    return f"{entry.numerator}/{entry.denominator}" if isinstance(entry, Fraction) else entry


class ExactArray:
    """An immutable vector or matrix of exact numbers.

    Args:
        value: A sequence of entries, or of rows of entries; a numpy array; or another ``ExactArray``.
        ndim: 1 or 2.
        argument: Name used in errors.

    Raises:
        InvalidInputError: If ragged, of the wrong depth, too large, or an entry is not a number.
    """

    __slots__ = ("_entries", "shape")
    _entries: tuple[tuple[Entry, ...], ...]
    shape: tuple[int, ...]

    def __init__(self, value: object, *, ndim: int, argument: str = "array") -> None:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, ExactArray):
            if value.ndim != ndim:
                raise InvalidInputError(argument, f"must have {ndim} dimension(s)", value.shape)
            self._entries, self.shape = value._entries, value.shape
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
        names = [argument] if ndim == 1 else [f"{argument}[{i}]" for i in range(len(rows))]
        self._entries = tuple(tuple(_parse_row(row, name)) for row, name in zip(rows, names, strict=True))
        self.shape = (width,) if ndim == 1 else (len(rows), width)

    @classmethod
    def zeros(cls, *shape: int) -> Self:
        """All entries the integer 0."""
        rows = 1 if len(shape) == 1 else shape[0]
        array = cls.__new__(cls)
        array._entries = ((0,) * shape[-1],) * rows
        array.shape = shape
        return array

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def rows(self) -> tuple[tuple[Entry, ...], ...]:
        """Entries row by row; a vector is one row."""
        return self._entries

    def to_numpy(self) -> FloatArray:
        """Correctly rounded doubles, shape :attr:`shape`."""
        flat = np.array([[float(entry) for entry in row] for row in self._entries], dtype=np.float64)
        return flat.reshape(self.shape)

    def to_fractions(self) -> list[list[Fraction]]:
        """Exact rationals, row by row; a vector is one row."""
        return [[Fraction(entry) for entry in row] for row in self._entries]

    def to_list(self) -> list[Any]:
        """Nested lists in canonical spelling."""
        rows: list[Any] = [[to_json_value(entry) for entry in row] for row in self._entries]
        return rows if self.ndim == 2 else rows[0]

    @property
    def is_zero(self) -> bool:
        return not any(any(row) for row in self._entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactArray):
            return NotImplemented
        return self.shape == other.shape and self._entries == other._entries

    def __hash__(self) -> int:
        return hash((self.shape, self._entries))

    def __repr__(self) -> str:
        return f"ExactArray({shorten(dumps(self.to_list()))}, shape={self.shape})"


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
        return described


ExactVector = Annotated[ExactArray, _Schema(1)]
ExactMatrix = Annotated[ExactArray, _Schema(2)]
ExactNumber = Annotated[Entry, _Schema(0)]


def loads(text: str | bytes, argument: str = "file") -> Any:
    """Parse JSON with exact decimals.

    Raises:
        InvalidInputError: On malformed text, repeated keys, NaN or infinities, or nesting too deep.
    """
    try:
        return json.loads(
            text,
            parse_float=lambda text: _decimal(text, argument),
            parse_constant=lambda name: _refuse(argument, "must hold finite numbers only", name),
            object_pairs_hook=lambda pairs: _unique(pairs, argument),
        )
    except InvalidInputError:
        raise
    except RecursionError:
        raise InvalidInputError(argument, "is nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(argument, f"is not valid JSON ({error})") from None
    except ValueError:  # integers beyond the interpreter's digit limit
        raise InvalidInputError(argument, f"numbers must have at most {MAX_DIGITS} digits") from None


def _decimal(text: str, argument: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = None
    # Further validation may turn a number into an integer, digit by digit.
    if value is None or abs(value.adjusted()) > MAX_EXPONENT:
        raise InvalidInputError(argument, f"numbers must have exponents of at most {MAX_EXPONENT}", text)
    return value


def _refuse(argument: str, rule: str, value: object) -> Any:
    raise InvalidInputError(argument, rule, value)


def _unique(pairs: list[tuple[str, Any]], argument: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(argument, "keys must not repeat", repeated)
    return found


def dumps(value: Any, indent: int | None = None) -> str:
    """Write JSON with exact decimals, one matrix row a line when indented."""
    return _write(value, indent, 0)


def _write(value: Any, indent: int | None, depth: int) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_write(item, indent, depth + 1)}" for key, item in value.items()]
        return _enclose("{", items, "}", indent, depth)
    if isinstance(value, list | tuple):
        items = [_write(item, indent, depth + 1) for item in value]
        flat = not any(isinstance(item, list | tuple | dict) for item in value)
        return _enclose("[", items, "]", None if flat else indent, depth)
    return json.dumps(value, ensure_ascii=False)


def _enclose(start: str, items: list[str], end: str, indent: int | None, depth: int) -> str:
    if indent is None or not items:
        return start + ", ".join(items) + end
    pad = "\n" + " " * indent * (depth + 1)
    return start + pad + ("," + pad).join(items) + "\n" + " " * indent * depth + end


def plain(value: Any) -> Any:
    """Canonical problem data with exact decimals as JSON-ready numbers where a double holds them, else strings."""
    if isinstance(value, Decimal):
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
