"""Line 6 and the penalty Lagrangian's gradient as they are right: summand by summand, and in three groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.call_points import CallPoint

Space = Literal["x", "y"]
"""Line 6 has its values in the space of x, the penalty Lagrangian's gradient in that of y."""


@dataclass(frozen=True, eq=False)
class RightPart:
    """A summand of the right formula, factor included; ``group`` is f, g or penalty, the term's own name is bare."""

    name: str
    group: str
    value: Callable[[CallPoint], Vector]

    def at(self, c: CallPoint) -> Vector:
        """Its value at a point, computed there once; nobody may write into it."""
        if self not in c.table:
            c.table[self] = self.value(c)
        value: Vector = c.table[self]
        return value


def _lower_gradient_x(c: CallPoint, y: Vector) -> Vector:
    return c.q.g_xx @ c.x + c.q.g_xy @ y + c.q.g_x


def _upper_gradient_x(c: CallPoint, y: Vector) -> Vector:
    return c.q.f_xx @ c.x + c.q.f_xy @ y + c.q.f_x


def _lower_gradient_y(c: CallPoint, y: Vector) -> Vector:
    return c.q.g_xy.T @ c.x + c.q.g_yy @ y + c.q.g_y


def _upper_gradient_y(c: CallPoint, y: Vector) -> Vector:
    return c.q.f_xy.T @ c.x + c.q.f_yy @ y + c.q.f_y


GROUPS: dict[Space, dict[str, Callable[[CallPoint], Vector]]] = {
    "x": {
        "∇_x f(x,ỹ)": lambda c: _upper_gradient_x(c, c.y),
        "(∇_x g(x,ỹ) − ∇_x g(x,ỹ*))": lambda c: c.q.g_xy @ (c.y - c.y_star),
        "Aᵀ(ρ∘h(x,ỹ))": lambda c: c.q.A.T @ (c.rho * c.h),
        "∇_x f(x,ỹ*)": lambda c: _upper_gradient_x(c, c.y_star),
        "∇_x g(x,ỹ)": lambda c: _lower_gradient_x(c, c.y),
        "∇_x g(x,ỹ*)": lambda c: _lower_gradient_x(c, c.y_star),
    },
    "y": {
        "∇_y f(x,ỹ)": lambda c: _upper_gradient_y(c, c.y),
        "(∇_y g(x,ỹ) − Bᵀλ̃)": lambda c: _lower_gradient_y(c, c.y) - c.q.B.T @ c.lam,
        "Bᵀ(ρ∘h(x,ỹ))": lambda c: c.q.B.T @ (c.rho * c.h),
        "∇_y f(x,ỹ*)": lambda c: _upper_gradient_y(c, c.y_star),
        "∇_y g(x,ỹ)": lambda c: _lower_gradient_y(c, c.y),
        "∇_y g(x,ỹ*)": lambda c: _lower_gradient_y(c, c.y_star),
        "(∇_y g(x,ỹ) − ∇_y g(x,ỹ*))": lambda c: c.q.g_yy @ (c.y - c.y_star),
    },
}
"""Whole groups: the first three are the right ones, f, g and penalty, without their weights."""

RIGHT_PARTS: dict[Space, tuple[RightPart, ...]] = {
    "x": (
        RightPart("f_xx x", "f", lambda c: c.q.f_xx @ c.x),
        RightPart("f_xy ỹ", "f", lambda c: c.q.f_xy @ c.y),
        RightPart("f_x", "f", lambda c: c.q.f_x),
        RightPart("α₁g_xy ỹ", "g", lambda c: c.alpha_1 * (c.q.g_xy @ c.y)),
        RightPart("−α₁g_xy ỹ*", "g", lambda c: -c.alpha_1 * (c.q.g_xy @ c.y_star)),
        RightPart("α₂Aᵀ(ρ∘Ax)", "penalty", lambda c: c.alpha_2 * (c.q.A.T @ (c.rho * (c.q.A @ c.x)))),
        RightPart("−α₂Aᵀ(ρ∘Bỹ)", "penalty", lambda c: -c.alpha_2 * (c.q.A.T @ (c.rho * (c.q.B @ c.y)))),
        RightPart("−α₂Aᵀ(ρ∘b)", "penalty", lambda c: -c.alpha_2 * (c.q.A.T @ (c.rho * c.q.b))),
    ),
    "y": (
        RightPart("f_xyᵀx", "f", lambda c: c.q.f_xy.T @ c.x),
        RightPart("f_yy ỹ", "f", lambda c: c.q.f_yy @ c.y),
        RightPart("f_y", "f", lambda c: c.q.f_y),
        RightPart("α₁g_xyᵀx", "g", lambda c: c.alpha_1 * (c.q.g_xy.T @ c.x)),
        RightPart("α₁g_yy ỹ", "g", lambda c: c.alpha_1 * (c.q.g_yy @ c.y)),
        RightPart("α₁g_y", "g", lambda c: c.alpha_1 * c.q.g_y),
        RightPart("−α₁Bᵀλ̃", "g", lambda c: -c.alpha_1 * (c.q.B.T @ c.lam)),
        RightPart("−α₂Bᵀ(ρ∘Ax)", "penalty", lambda c: -c.alpha_2 * (c.q.B.T @ (c.rho * (c.q.A @ c.x)))),
        RightPart("α₂Bᵀ(ρ∘Bỹ)", "penalty", lambda c: c.alpha_2 * (c.q.B.T @ (c.rho * (c.q.B @ c.y)))),
        RightPart("α₂Bᵀ(ρ∘b)", "penalty", lambda c: c.alpha_2 * (c.q.B.T @ (c.rho * c.q.b))),
    ),
}
"""The right formulas, summand by summand."""


def right_sum(space: Space, c: CallPoint, dropped: Sequence[int] = ()) -> Vector:
    """The right formula's value, noise included, without the summands of the given numbers."""
    size = len(c.x) if space == "x" else len(c.y)
    kept = (part.at(c) for j, part in enumerate(RIGHT_PARTS[space]) if j not in dropped)
    return sum(kept, c.noise_x if space == "x" else np.zeros(size))


def summed_sizes(space: Space, c: CallPoint) -> Vector:
    """What the right formula adds up, in size: the yardstick of rounding."""
    key = f"sizes in {space}"
    if key not in c.table:
        parts = RIGHT_PARTS[space]
        c.table[key] = sum((np.abs(part.at(c)) for part in parts), np.zeros(len(c.x) if space == "x" else len(c.y)))
    sizes: Vector = c.table[key]
    return sizes
