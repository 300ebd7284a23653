"""What is written on a command line, read: a problem, a point, numbers, a box, a reading."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from pydantic import ValidationError

from spec import InvalidInputError, PenaltyParameters, Problem, Reading, load_problem, loads_problem
from spec.atlas import find
from spec.errors import from_validation
from spec.exact import parse_entry
from spec.problem import MAX_FILE_BYTES
from spec.reading import NAMED
from verify.truth.goldstein.minima import Box

ATLAS = "atlas:"
NO_END = ("inf", "+inf", "-inf", "none", "")

Point: TypeAlias = tuple[Fraction, ...]


def read_problem(source: str) -> tuple[Problem, Point | None]:
    """Read a problem from a file, from standard input (``-``) or from the atlas, there with its point."""
    if source.startswith(ATLAS):
        instance = find(source.removeprefix(ATLAS), "problem")
        return instance.problem, instance.x
    if source == "-":
        return loads_problem(sys.stdin.buffer.read(MAX_FILE_BYTES + 1), "standard input"), None
    return load_problem(source), None


def read_point(text: str | None, default: Point | None, n: int) -> Point:
    """Read an upper-level point from n numbers separated by commas or spaces, brackets allowed."""
    if text is None:
        if default is None:
            raise InvalidInputError("--x", f"is required: {n} number(s) separated by commas")
        return default
    entries = read_numbers(text.strip().strip("[]()"), "--x")
    if len(entries) != n:
        raise InvalidInputError("--x", f"must have {n} number(s)", len(entries))
    return entries


def read_numbers(text: str, argument: str) -> Point:
    """Read exact numbers separated by commas or spaces."""
    parts = text.replace(",", " ").split()
    return tuple(Fraction(parse_entry(part, f"{argument}[{i}]")) for i, part in enumerate(parts))


def read_positive(text: str, argument: str) -> Fraction:
    """Read one exact number > 0."""
    value = Fraction(parse_entry(text, argument))
    if value <= 0:
        raise InvalidInputError(argument, "must be > 0", text)
    return value


def read_alpha(text: str) -> float:
    """Read the accuracy parameter."""
    value = float(read_positive(text, "--alpha"))
    try:
        return PenaltyParameters(alpha=value).alpha
    except ValidationError as error:
        raise InvalidInputError("--alpha", from_validation(error, "").rule, text) from None


def read_reading(name: str, choices: Sequence[str] | None) -> Reading:
    """A named reading with some choices changed, each ``FIELD=VALUE``."""
    return NAMED[require_one_of("--reading", name, NAMED)].choose_from_text(list(choices or ()))


def read_box(texts: Sequence[str] | None, n: int, argument: str = "--box") -> Box | None:
    """Read ``LOW,HIGH`` once for all components or once for each; ``none`` or ``inf`` for no end."""
    if not texts:
        return None
    if len(texts) not in (1, n):
        raise InvalidInputError(argument, f"must be given once or {n} times", len(texts))
    ends = [_ends(text, argument) for text in (texts if len(texts) == n else [*texts] * n)]
    return tuple(low for low, _ in ends), tuple(high for _, high in ends)


def _ends(text: str, argument: str) -> tuple[Fraction | None, Fraction | None]:
    parts = [part.strip() for part in text.strip().strip("[]()").split(",")]
    if len(parts) != 2:
        raise InvalidInputError(argument, "must have the form LOW,HIGH", text)
    low, high = (None if part.lower() in NO_END else Fraction(parse_entry(part, argument)) for part in parts)
    if low is not None and high is not None and low > high:
        raise InvalidInputError(argument, "must have LOW <= HIGH", text)
    return low, high


def require_one_of(argument: str, value: str, allowed: Iterable[str]) -> str:
    """The value, if it is among those allowed."""
    if value not in (known := tuple(allowed)):
        raise InvalidInputError(argument, f"must be one of {', '.join(known)}", value)
    return value


def require_at_least(argument: str, value: int | None, least: int) -> None:
    """Refuse a number below the least allowed; none given is allowed."""
    if value is not None and value < least:
        raise InvalidInputError(argument, f"must be >= {least}", value)
