"""``f2csa goldstein``: bounds of the distance from Goldstein stationarity, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from spec import Holder, InvalidInputError
from spec.exact import parse_entry
from verify.cli.sources import read_point, read_positive, read_problem
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.distance import MAX_CERTIFIED_DIMENSION, distance
from verify.truth.goldstein.estimate import GoldsteinDistance
from verify.truth.goldstein.minima import Box

NO_END = ("inf", "+inf", "-inf", "none", "")


def execute(source: str, *, x: str | None, radius: str, box: Sequence[str]) -> None:
    """Bracket dist(0, ∂_δF(x) + N_X(x)) and print what proves the bracket."""
    problem, default = read_problem(source)
    if isinstance(problem, Holder):
        raise InvalidInputError("problem", "must be quadratic: F must consist of quadratic pieces", problem.kind)
    quadratic = quadratic_of(problem)
    at = read_point(x, default, quadratic.n)
    delta = read_positive(radius, "--radius")
    found = distance(quadratic, at, delta, box=read_box(list(box), quadratic.n))
    made = {"x": [str(value) for value in at], "radius": str(delta), **plain(found)}
    sys.stdout.write(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


def plain(found: GoldsteinDistance) -> dict[str, Any]:
    """A distance as plain data, with what a reader may conclude from it."""
    notes = []
    if not found.certified:
        notes.append(
            f"n > {MAX_CERTIFIED_DIMENSION}: the upper bound holds (a convex combination of gradients in the ball); "
            "the lower one is an estimate from the pieces of F that were found, not certified"
        )
    return {
        "lower": found.lower,
        "upper": found.upper,
        "certified": {"lower": found.certified, "upper": True},
        "exact": None if found.exact is None else str(found.exact),
        "method": found.method,
        "cells": found.cells,
        "proof": {
            "points": [[float(v) for v in point] for point in found.points],
            "gradients": [list(gradient) for gradient in found.gradients],
            "weights": list(found.weights),
            "direction": list(found.direction),
        },
        "notes": notes,
    }


def read_box(texts: list[str], n: int, argument: str = "--box") -> Box | None:
    """Read ``LOW,HIGH`` once for all components or once for each; ``none`` or ``inf`` for no end.

    Raises:
        InvalidInputError: If an end is malformed or the count is neither 0, 1 nor n.
    """
    if not texts:
        return None
    if len(texts) not in (1, n):
        raise InvalidInputError(argument, f"must be given once or {n} times", len(texts))
    ends = [_ends(text, argument) for text in (texts if len(texts) == n else texts * n)]
    return tuple(low for low, _ in ends), tuple(high for _, high in ends)


def _ends(text: str, argument: str) -> tuple[Fraction | None, Fraction | None]:
    parts = [part.strip() for part in text.strip().strip("[]()").split(",")]
    if len(parts) != 2:
        raise InvalidInputError(argument, "must have the form LOW,HIGH", text)
    low, high = (None if part.lower() in NO_END else Fraction(parse_entry(part, argument)) for part in parts)
    if low is not None and high is not None and low > high:
        raise InvalidInputError(argument, "must have LOW <= HIGH", text)
    return low, high
