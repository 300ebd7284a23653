"""JSON text with exact decimals: what is read comes back as it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic_core import from_json, to_json

from spec.errors import InvalidInputError
from spec.exact import MAX_DIGITS

MAX_EXPONENT = 9999
"""Largest power of ten of a number in a file; beyond doubles, so that what is too large is refused by name."""


LONG = 1 << 18
"""Bytes from which on a text is looked at for being that of doubles."""


def loads(text: str | bytes, argument: str = "file", *, doubles: bool = False) -> Any:
    """Parse JSON with exact decimals.

    With ``doubles`` a long text may come back with floats, where each is spelt as Python spells that double: then a
    float that means its shortest decimal is as exact as what was written.

    Raises:
        InvalidInputError: On malformed text, repeated keys, NaN or infinities, or nesting too deep.
    """
    if doubles and len(text) >= LONG and (parsed := _of_doubles(text)) is not None:
        return parsed
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
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(argument, "keys must not repeat", repeated)
    return mapping


def _of_doubles(text: str | bytes) -> Any:
    """The value of a text whose numbers are all spelt as those of doubles and integers are; ``None`` of any other."""
    try:
        value, plain_text = from_json(text, allow_inf_nan=False), _without_spaces(text)
    except (ValueError, RecursionError):
        return None  # the plain way says what is wrong
    at = 0
    for part in _parts(value):
        spelt = part if isinstance(part, bytes) else to_json(part)
        if not plain_text.startswith(spelt, at):
            end = plain_text.find(b"]", at) + 1
            if not isinstance(part, list) or not _spells(plain_text[at:end], spelt, part):
                return None
            at = end
        else:
            at += len(spelt)
    return value if at == len(plain_text) else None


def _spells(text: bytes, spelt: bytes, values: list[Any]) -> bool:
    """Whether a text is that of a list of numbers, where Python writes some exponents otherwise than ``spelt`` does."""
    given, plainly = text[1:-1].split(b","), spelt[1:-1].split(b",")
    return text[:1] == b"[" and len(given) == len(plainly) == len(values) and all(
        one == other or one == repr(value).encode() for one, other, value in zip(given, plainly, values, strict=True)
    )  # fmt: skip


def _without_spaces(text: str | bytes) -> bytes:
    return (text.encode() if isinstance(text, str) else text).translate(None, b" \t\r\n")


def _parts(value: Any) -> Iterator[Any]:
    """A value as the parts of its text without spaces: brackets and keys as bytes, lists of numbers as they are."""
    if isinstance(value, dict):
        for i, (key, item) in enumerate(value.items()):
            yield b"{" if i == 0 else b","
            yield key
            yield b":"
            yield from _parts(item)
        yield b"}" if value else b"{}"
    elif isinstance(value, list) and {list, dict} & set(map(type, value)):
        for i, item in enumerate(value):
            yield b"[" if i == 0 else b","
            yield from _parts(item)
        yield b"]"
    else:
        yield value


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
