"""Whether a compact domain bounds gradients: the largest of them on a box, at its vertices, in exact numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import sqrt
from typing import Literal

import numpy as np

from spec import Quadratic
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.premises import feasible
from verify.evidence.model import Evidence, Point, PremiseEvidence, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import Vector
from verify.truth.formulas import as_float
from verify.truth.geometry import EPS, quadratic_of, spectral_norm
from verify.truth.point_values import PointValues

SIDE = Fraction(4)
"""Half the side of the box that stands for a compact X × Y, around (x, y*(x))."""
RADII = (*(SIDE / 4**k for k in (3, 2, 1)), *(SIDE * 2**k for k in range(5)))
"""Half the sides of growing cubes around the same point: from well inside the box, over its own, to far beyond."""
Name = Literal["f", "g"]


class Box:
    """Points (x, y) no further from a centre in any coordinate than its half side; one without is unbounded."""

    def __init__(self, problem: Quadratic, centre: Vector, halves: Sequence[Fraction | None]) -> None:
        self.problem, self.centre, self.halves = problem, centre, tuple(halves)

    @cached_property
    def _values(self) -> PointValues:
        return PointValues(self.problem)

    @property
    def is_compact(self) -> bool:
        return None not in self.halves

    def square(self, name: Name, z: Vector) -> Fraction:
        """‖∇f‖² or ‖∇g‖² at a point, exact."""
        n = self.problem.n
        return sum((v * v for v in self._values.gradient(name, z[:n], z[n:])), Fraction(0))

    def within(self, radius: Fraction, parts: Sequence[int]) -> Iterator[Vector]:
        """Points of the box in the cube of that half side: each coordinate at the centre or so far off on either side,
        as ``parts`` has it; ``(-1, 1)`` are the vertices.
        """
        reach = [radius if half is None else min(radius, half) for half in self.halves]
        for signs in product(*((parts if size else (0,)) for size in reach)):
            yield tuple(c + s * size for c, s, size in zip(self.centre, signs, reach, strict=True))

    def largest(self, name: Name, radius: Fraction) -> Fraction:
        """Largest ‖∇‖² there: of a convex function, as of an affine gradient's norm, it lies at a vertex."""
        return max(self.square(name, z) for z in self.within(radius, (-1, 1)))

    def growth(self, name: Name, quantity: str) -> RateEvidence:
        """The largest ‖∇‖ in growing cubes, as far as the box goes."""
        points, known = [], dict[tuple[Fraction, ...], float]()
        for radius in RADII:
            key = tuple(radius if half is None else min(radius, half) for half in self.halves)
            if key not in known:
                known[key] = sqrt(self.largest(name, radius))
            points.append(Point(at=float(radius), measured=known[key], uncertainty=4 * EPS * known[key]))
        return fit_rate(points, quantity=quantity, variable="radius")


def around(case: Case, *, held: bool = False) -> Box:
    """The compact box around (x, y*(x)); with ``held`` x stays where it is and y alone ranges."""
    lower, problem = feasible(case.instance), quadratic_of(case.instance.problem)
    halves = [Fraction(0) if held else SIDE] * problem.n + [SIDE] * problem.m
    return Box(problem, (*case.instance.x, *lower.y_star), halves)


def is_compact(case: Case) -> bool:
    """Whether the text's hypotheses are asked for on a compact set of (x, y) alone, and its own premises are spent."""
    return case.as_written and not is_everywhere(case)


def is_everywhere(case: Case) -> bool:
    """Whether hypotheses are asked for on X times all of R^m, whichever text is judged."""
    return case.sense.domain == "whole-space"


def settled(rate: RateEvidence) -> bool:
    """Whether a largest value grows with the cubes inside the box, and no more beyond it."""
    inside = [point.measured for point in rate.points if point.at <= SIDE]
    return inside == sorted(inside) and {point.measured for point in rate.points if point.at >= SIDE} == {inside[-1]}


@check("smoothness/compact-bounds-gradient", instances=("two-of-three", "toy1", "box-rational", "moving-box"))
def bounded_on_the_box(case: Case) -> Measurement:
    """Largest ‖∇g‖ on a compact box, its vertices against its other points; repaired, against a constant in C_g."""
    box = around(case)
    return box_bounds(box, constant=not case.as_written)


def box_bounds(box: Box, *, constant: bool) -> Measurement:
    """Growth of the largest ‖∇g‖ within a box, exact at the vertices, which no other point tried exceeds."""
    sides = sum(half is not None for half in box.halves)
    finding = f"{sides} of the {len(box.halves)} coordinates of (x, y) are bounded from both sides"
    premise = PremiseEvidence(premise="compact-domain", holds=box.is_compact, finding=finding)
    rate = box.growth("g", "largest ‖∇g‖ on the part of X × Y in a cube")
    largest = box.largest("g", SIDE)
    inside = max(box.square("g", z) for z in box.within(SIDE, (-1, 0, 1)))
    vertices = compare("largest ‖∇g‖² at points of the box, against that at its vertices", float(inside), "<=",
                       float(largest), rung="certified")  # fmt: skip
    evidence: list[Evidence] = [premise, rate, vertices]
    if constant:
        a = box.problem.arrays
        C_g = spectral_norm(np.block([[a.g_xx, a.g_xy], [a.g_xy.T, a.g_yy]]))
        bound = sqrt(box.square("g", box.centre)) + C_g * float(SIDE) * sqrt(len(box.halves))
        evidence.append(compare("largest ‖∇g‖, against ‖∇g‖ at the centre + C_g times the half diagonal",
                                sqrt(largest), "<=", bound, 1e-9 * bound))  # fmt: skip
    corner = max(box.within(SIDE, (-1, 1)), key=lambda z: box.square("g", z))
    shown = ", ".join(f"{v:g}" for v in as_float(corner))
    values = {**values_at("largest at half side", rate.points[:1]), "vertex": f"({shown})"}
    return Measurement(tuple(evidence), values, "∇g is affine, so ‖∇g‖ is convex and largest at a vertex of the box.")
