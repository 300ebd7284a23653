"""JSON text with exact decimals: what is read comes back as it was written."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from spec.errors import InvalidInputError
from spec.exact import MAX_DIGITS

MAX_EXPONENT = 9999
"""Largest power of ten of a number in a file; beyond doubles, so that what is too large is refused by name."""


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
