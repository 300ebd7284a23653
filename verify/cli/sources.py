"""Where a problem on the command line comes from: a file, standard input, or the atlas."""

from __future__ import annotations

import sys
from fractions import Fraction

from spec import InvalidInputError, Problem, load_problem, loads_problem
from spec.atlas import find
from spec.exact import parse_entry
from spec.problem import MAX_FILE_BYTES

ATLAS = "atlas:"


def read_problem(source: str) -> tuple[Problem, tuple[Fraction, ...] | None]:
    """Read a problem and, for an atlas instance, its point.

    Args:
        source: Path of a problem file, ``-`` for standard input, or ``atlas:NAME``.

    Raises:
        InvalidInputError: One line: what, which rule, what value.
    """
    if source.startswith(ATLAS):
        instance = find(source.removeprefix(ATLAS))
        return instance.problem, instance.x
    if source == "-":
        return loads_problem(sys.stdin.buffer.read(MAX_FILE_BYTES + 1), "standard input"), None
    return load_problem(source), None


def read_point(text: str | None, default: tuple[Fraction, ...] | None, n: int) -> tuple[Fraction, ...]:
    """Read an upper-level point from numbers separated by commas or spaces, brackets allowed.

    Raises:
        InvalidInputError: If there is none, a number is malformed, or there are not n of them.
    """
    if text is None:
        if default is None:
            raise InvalidInputError("--x", f"is required: {n} number(s) separated by commas")
        return default
    parts = text.strip().strip("[]()").replace(",", " ").split()
    entries = tuple(Fraction(parse_entry(part, f"--x[{i}]")) for i, part in enumerate(parts))
    if len(entries) != n:
        raise InvalidInputError("--x", f"must have {n} number(s)", len(entries))
    return entries


def read_positive(text: str, argument: str) -> Fraction:
    """Read one exact number > 0."""
    value = Fraction(parse_entry(text, argument))
    if value <= 0:
        raise InvalidInputError(argument, "must be > 0", text)
    return value
