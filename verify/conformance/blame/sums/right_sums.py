"""Line 6 and the penalty Lagrangian's gradient as they are right, summand by summand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.questions import reading_asked
from verify.conformance.blame.sums.call_points import CallPoint
from verify.method.summands import summands

Space = Literal["x", "y"]
"""Line 6 has its values in the space of x, the penalty Lagrangian's gradient in that of y."""


@dataclass(frozen=True, eq=False)
class RightPart:
    """A summand of the right formula, factor included; ``group`` is f, g or penalty, the term's own name is bare."""

    name: str
    group: str
    formula: str

    def at(self, c: CallPoint) -> Vector:
        """Its value at a point; nobody may write into it."""
        value: Vector = c.value(self.formula)
        return value


_GROUP_OF = {"": "f", "alpha_1": "g", "alpha_2": "penalty"}
DUAL = RightPart("α₁Aᵀλ̃", "dual", "keeps_dual * alpha_1 * (A.T @ lam)")
"""What line 6 has besides where a reading keeps it."""
_LINES: dict[Space, tuple[RightPart, ...]] = {
    "x": tuple(RightPart(s.name, _GROUP_OF[s.weight], s.formula) for s in summands("line_6", "estimate")),
    "y": tuple(RightPart(s.name, _GROUP_OF[s.weight], s.formula) for s in summands("lagrangian", "gradient")),
}


class _RightParts:
    def __getitem__(self, space: Space) -> tuple[RightPart, ...]:
        keeps_dual = space == "x" and reading_asked().dual_term == "frozen"
        return (DUAL, *_LINES[space]) if keeps_dual else _LINES[space]


RIGHT_PARTS = _RightParts()
"""The right formulas, summand by summand, by space, under the reading that is asked."""


def right_sum(space: Space, c: CallPoint, dropped: Sequence[int] = ()) -> Vector:
    """The right formula's value, noise included, without the summands of the given numbers."""
    size = len(c.x) if space == "x" else len(c.y)
    values = (part.at(c) for j, part in enumerate(RIGHT_PARTS[space]) if j not in dropped)
    return sum(values, c.noise_x if space == "x" else np.zeros(size))


def right_minimiser(c: CallPoint) -> Vector:
    """The penalty minimiser as it is right, in doubles, from its system in y − ỹ*."""
    key = "right minimiser"
    if key not in c.table:
        q = c.q
        H = q.f_yy + c.alpha_1 * q.g_yy + c.alpha_2 * (q.B.T * c.rho) @ q.B
        shift = np.linalg.solve(H, right_sum("y", c.at(c.y_star)))
        c.table[key] = np.asarray(c.y_star - shift)
    solved: Vector = c.table[key]
    return solved


def summed_sizes(space: Space, c: CallPoint) -> Vector:
    """What the right formula adds up, in size: the yardstick of rounding."""
    key = f"sizes in {space}"
    if key not in c.table:
        parts = RIGHT_PARTS[space]
        c.table[key] = sum((np.abs(part.at(c)) for part in parts), np.zeros(len(c.x) if space == "x" else len(c.y)))
    sizes: Vector = c.table[key]
    return sizes


def solved_rounding(c: CallPoint) -> Vector:
    """What line 6 makes of the rounding of a y that was solved for, shape (n,): of what its gradient adds up."""
    q, rho = c.q, np.abs(c.rho)
    rows = np.abs(q.A @ c.x) + np.abs(q.B) @ np.abs(c.y) + np.abs(q.b)
    left = EPSILONS * np.finfo(float).eps * (summed_sizes("y", c) + c.alpha_2 * np.abs(q.B.T) @ (rho * rows))
    off = np.abs(np.linalg.pinv(q.f_yy + c.alpha_1 * q.g_yy + c.alpha_2 * (q.B.T * c.rho) @ q.B)) @ left
    moved = np.abs(q.f_xy) @ off + c.alpha_1 * np.abs(q.g_xy) @ off
    return np.asarray(moved + c.alpha_2 * np.abs(q.A.T) @ (rho * (np.abs(q.B) @ off)))


EPSILONS = 8.0
"""Roundings by which two programs that solve for the same y may differ."""
