"""Wrong input, said in one line: which argument, which rule, what value."""

from __future__ import annotations

import copyreg
import errno
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk that takes no more: a fault of the run, which no other input mends."""
_SHOWN = 60
_TAGS = ("quadratic", "holder", "generated")
_RULES = {
    "extra_forbidden": "is not a field of this block",
    "missing": "is required",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "tuple_type": "must be a list",
    "union_tag_not_found": f"needs a kind, one of {', '.join(_TAGS)}",
    "union_tag_invalid": f"needs a kind, one of {', '.join(_TAGS)}",
}
"""Rules in the words of someone who writes files, by pydantic's name of the error."""
_NEEDED = {
    "g": "g.yy at least, positive definite",
    "constraints": "constraints.B at least, with a row for each h_i; A and b are zero if missing",
    "constraints.B": "with a row for each h_i; A and b are zero if missing",
}
"""What of a problem is never zero by being left out, and what the least is."""


class InvalidInputError(ValueError):
    """Input that breaks a stated rule.

    Args:
        argument: Where it stands, as a dotted path the user can find, e.g. ``"g.yy[1]"``.
        rule: What must hold, as a clause: ``"must be > 0"``.
        value: What was given; shortened for display.
    """

    exit_code = 2
    """What a command that ends with it returns."""

    def __init__(self, argument: str, rule: str, value: object = None) -> None:
        self.argument = writable(argument)
        self.rule = writable(rule)
        self.value = value
        given = "" if value is None else f"; got {shorten(value)}"
        super().__init__(f"{self.argument}: {self.rule}{given}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Crosses process boundaries as it stands, whatever a subclass is made from; the value only ever serves display.
        value = None if self.value is None else shorten(self.value)
        # The pickle protocol documents the function, its stubs do not.
        made_by = copyreg.__newobj__  # type: ignore[attr-defined]
        return made_by, (type(self), str(self)), self.__dict__ | {"value": value}


def unwritable(error: OSError | ValueError, argument: str, rule: str, value: object) -> Exception:
    """What to raise where a file of the user's choice cannot be written: the error itself where the disk is full.

    Args:
        error: What went wrong.
        argument: As :class:`InvalidInputError` takes it.
        rule: The same, to be followed by the reason.
        value: The same.
    """
    if isinstance(error, OSError) and error.errno in FULL:
        return OSError(error.errno, error.strerror, str(value or argument))
    reason = getattr(error, "strerror", None) or str(error)
    return InvalidInputError(argument, f"{rule} ({reason})", value)


def writable(text: str) -> str:
    """The text with lone surrogates, which no encoding writes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(value: object) -> str:
    """Show a value on one line of bounded length."""
    # An empty string is shown as '', decimals as they are written.
    plain = isinstance(value, Decimal | Fraction) or (isinstance(value, str) and value)
    try:
        text = str(value) if plain else repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer of too many digits
        text = f"a {type(value).__name__} too large to show"
    text = writable(" ".join(text[: 4 * _SHOWN].split()))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def from_validation(error: ValidationError, root: str) -> InvalidInputError:
    """Turn pydantic's report into the first broken rule, in our one-line form."""
    details = error.errors(include_url=False)
    first = details[0]
    # The first part of a path into a union is the tag of the branch taken, which no file spells out.
    parts = [shorten(part) for part in first["loc"]]  # a key may be as long as its file
    path = ".".join(parts[1:] if parts and parts[0] in _TAGS else parts)
    where = f"{root}.{path}" if path and root else (path or root)
    inner = first.get("ctx", {}).get("error")
    if isinstance(inner, InvalidInputError):
        return InvalidInputError(_join(root, path, inner.argument), inner.rule, inner.value)
    rule = _RULES.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    rule = rule.replace("Input should be", "must be")
    if first["type"] == "missing" and path in _NEEDED:
        rule += f" ({_NEEDED[path]})"
    value = None if first["type"] == "missing" else first.get("input")
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return InvalidInputError(where, rule[0].lower() + rule[1:] + more, value)


def _join(*parts: str) -> str:
    return ".".join(part for part in parts if part).replace(".[", "[")
