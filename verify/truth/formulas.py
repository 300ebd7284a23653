r"""Lines 5 and 6 of Algorithm 1, written once, over any ring: doubles, rationals, functions of alpha, symbols.

.. math::
    \nabla_y L &= \nabla_y f + \alpha_1 (\nabla_y g - B^T\lambda) - \alpha_2 B^T R\, h, \\
    \nabla_x L &= \nabla_x f + \alpha_1 (\nabla_x g(x, y) - \nabla_x g(x, y^*)) + \alpha_2 A^T R\, h
                  \;[+\ \alpha_1 (A^T\lambda - (Dy^*)^T\nabla_y g(x, y^*) + (D\lambda^*)^T h)].

Of the bracket, the derivative of :math:`\lambda^T h(x, y) - g(x, y^*)`, a reading keeps nothing (``cancelled``), the
first term (``frozen``), two (``map``) or all three (``both-maps``).

Only the certificate checker writes them again (:mod:`verify.truth.certificates.plain_formulas`), on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from spec import ExactArray, InvalidInputError, Quadratic
from spec.exact import FloatArray
from spec.reading import DualTerm
from verify.truth.algebra.kept_answers import kept
from verify.truth.algebra.rationals import Blocks, Number, Vector, fractions, is_positive_definite
from verify.truth.algebra.rings import Flint, Ring
from verify.truth.lower_level import lower_level

M = TypeVar("M", bound=Any)
"""A matrix or vector of the ring."""


@dataclass(frozen=True, eq=False)
class Lagrangian(Generic[M]):
    """The penalty Lagrangian of a quadratic problem at a point x, every matrix and vector of one ring.

    alpha_1 and alpha_2 are scalars of the ring; y_star (m,) and lam (p,) are the lower-level pair it is built on, exact
    or not; R (p, p) has the activation weights on its diagonal.

    Source: Eq. (penaltylagrangian).
    """

    ring: Ring[M]
    blocks: Blocks[M]
    x: M
    alpha_1: Any
    alpha_2: Any
    y_star: M
    lam: M
    R: M
    maps: Callable[[], tuple[M, M]] | None = None
    """Derivatives of the exact y* (m, n) and multipliers (p, n), made where a reading asks for them."""

    @classmethod
    def of(
        cls, ring: Ring[M], problem: Quadratic, x: Vector, weights: tuple[Any, Any], stages: Sequence[Sequence[Number]]
    ) -> Lagrangian[M]:
        """From plain numbers: alpha_1 and alpha_2 in the ring; y_star, lam and rho."""
        (alpha_1, alpha_2), (y_star, lam, rho), vector = weights, stages, ring.vector
        blocks = _blocks_over(problem, ring)
        return cls(ring, blocks, vector(x), alpha_1, alpha_2, vector(y_star), vector(lam), ring.diagonal(rho))

    @cached_property
    def h(self) -> M:
        """Row values at the lower-level solution."""
        b = self.blocks
        h: M = b.A @ self.x - b.B @ self.y_star - b.b
        return h

    @cached_property
    def H(self) -> M:  # noqa: N802  # the formula's letter
        """Hessian in y, shape (m, m)."""
        b = self.blocks
        H: M = b.f_yy + self.alpha_1 * b.g_yy + (self.alpha_2 * (b.B.T @ self.R)) @ b.B
        return H

    @cached_property
    def E(self) -> M:  # noqa: N802  # the formula's letter
        """Jacobian of the estimate in y, shape (n, m); its norm is the paper's L_{H,y}."""
        b = self.blocks
        E: M = b.f_xy + self.alpha_1 * b.g_xy - (self.alpha_2 * (b.A.T @ self.R)) @ b.B
        return E

    @cached_property
    def left_to_estimate(self) -> M:
        """Derivative of the estimate in the gradient left at its y: E times the inverse Hessian, shape (n, m)."""
        through: M = self.ring.solve(self.H, self.E.T).T
        return through

    def lam_to_estimate(self, dual_term: DualTerm = "cancelled") -> M:
        """Derivative of the estimate at the minimiser in the multipliers, activation held, shape (n, p)."""
        b = self.blocks
        cancelled: M = self.E @ self.ring.solve(self.H, self.alpha_1 * b.B.T)
        if dual_term == "cancelled":
            return cancelled
        derivative: M = cancelled + self.alpha_1 * b.A.T
        if dual_term == "both-maps":
            through_h = self.alpha_1 * (self._solution_maps[1].T @ b.B)
            derivative = derivative - through_h @ self.ring.solve(self.H, self.alpha_1 * b.B.T)
        return derivative

    def gradient_y(self, y: M) -> M:
        """Gradient in y, shape (m,)."""
        b = self.blocks
        h = self.h - b.B @ (y - self.y_star)
        upper = b.f_xy.T @ self.x + b.f_yy @ y + b.f_y
        lower = b.g_xy.T @ self.x + b.g_yy @ y + b.g_y - b.B.T @ self.lam
        gradient: M = upper + self.alpha_1 * lower - (self.alpha_2 * b.B.T) @ (self.R @ h)
        return gradient

    def minimiser(self, left: M | None = None) -> M:
        """Line 5: the stationary point in y, shape (m,); where the gradient ``left`` is left, if given."""
        gradient = self.gradient_y(self.y_star)
        y: M = self.y_star - self.ring.solve(self.H, gradient if left is None else gradient - left)
        return y

    def terms(self, y: M, h: M | None = None, dual_term: DualTerm = "frozen") -> dict[str, M]:
        """Line 6 in parts, the dual part as a reading that keeps it has it, each of shape (n,), at a y.

        ``h``: row values at the lower-level solution where they are known better than by their formula.
        """
        b, shift = self.blocks, y - self.y_star
        h = (self.h if h is None else h) - b.B @ shift
        return {
            "f": b.f_xx @ self.x + b.f_xy @ y + b.f_x,
            "g_difference": (self.alpha_1 * b.g_xy) @ shift,
            "penalty": (self.alpha_2 * b.A.T) @ (self.R @ h),
            "dual": self.alpha_1 * self._dual_part(h, dual_term),
        }

    def _dual_part(self, h: M, dual_term: DualTerm) -> M:
        """What the derivative of lam' h - g(x, y*) keeps beside the change of grad_x g, shape (n,)."""
        b = self.blocks
        part: M = b.A.T @ self.lam
        if dual_term in ("map", "both-maps"):
            of_y, of_lam = self._solution_maps
            part = part - of_y.T @ (b.g_xy.T @ self.x + b.g_yy @ self.y_star + b.g_y)
            if dual_term == "both-maps":
                part = part + of_lam.T @ h
        return part

    @cached_property
    def _solution_maps(self) -> tuple[M, M]:
        if self.maps is None:
            raise InvalidInputError("dual_term", "must be frozen or cancelled where the solution maps are not known")
        return self.maps()

    def estimate(self, y: M, dual_term: DualTerm = "cancelled", h: M | None = None) -> M:
        """Line 6 in expectation: the gradient in x, the dual part only if asked for; shape (n,)."""
        terms = self.terms(y, h, "frozen" if dual_term == "cancelled" else dual_term)
        cancelled: M = terms["f"] + terms["g_difference"] + terms["penalty"]
        whole: M = cancelled + terms["dual"]
        return cancelled if dual_term == "cancelled" else whole


RINGS = 4
"""Doubles, rationals, functions of alpha, symbols."""


@kept(RINGS)
def _blocks_over(problem: Quadratic, ring: Ring[M]) -> Blocks[M]:
    return Blocks.of(problem, ring.matrix)


def exact_minimiser(lagrangian: Lagrangian[Flint], alpha: Number) -> Vector:
    """The minimiser over the rationals; refused if there is none at this alpha."""
    if not is_positive_definite(lagrangian.H.entries):
        raise InvalidInputError("alpha", "must leave the penalty Lagrangian strictly convex in y", str(Fraction(alpha)))
    return fractions(lagrangian.minimiser().entries)


def as_float(values: Sequence[Fraction]) -> FloatArray:
    """Correctly rounded doubles of an exact vector."""
    return np.array([float(value) for value in values])


def length(values: Sequence[Fraction]) -> float:
    """The norm of an exact vector."""
    return float(np.linalg.norm(as_float(values)))


def minus(a: Sequence[Fraction], b: Sequence[Fraction]) -> Vector:
    """The difference of two exact vectors."""
    return tuple(u - v for u, v in zip(a, b, strict=True))


def solution_maps_over(ring: Ring[M], problem: Quadratic, x: Sequence[Number]) -> tuple[M, M]:
    """Derivatives of the exact y* (m, n) and multipliers (p, n) in the ring."""
    of_y, of_lam = lower_level.solution_maps(problem, x)
    return ring.matrix(ExactArray(of_y, ndim=2)), ring.matrix(ExactArray(of_lam, ndim=2))
