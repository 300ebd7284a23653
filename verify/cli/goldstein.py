"""``f2csa goldstein``: bounds of the distance from Goldstein stationarity, as JSON."""

from __future__ import annotations

from typing import Any

from spec import Holder, InvalidInputError
from verify.cli import options
from verify.cli.console import print_json
from verify.cli.sources import read_box, read_point, read_positive, read_problem
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.distance import MAX_CERTIFIED_DIMENSION, distance
from verify.truth.goldstein.estimate import GoldsteinDistance

NO_END = ("inf", "+inf", "-inf", "none", "")


def goldstein(asked: options.Goldstein) -> None:
    """Bracket dist(0, ∂_δF(x) + N_X(x)) and print what proves the bracket."""
    problem, default = read_problem(asked.problem)
    if isinstance(problem, Holder):
        raise InvalidInputError("problem", "must be quadratic: F must consist of quadratic pieces", problem.kind)
    quadratic = quadratic_of(problem)
    at = read_point(asked.x, default, quadratic.n)
    radius = read_positive(asked.radius, "--radius")
    bounds = distance(quadratic, at, radius, box=read_box(asked.box, quadratic.n))
    print_json({"x": [str(value) for value in at], "radius": str(radius), **plain(bounds)})


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
