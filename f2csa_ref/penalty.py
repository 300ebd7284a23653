r"""The smoothed penalty Lagrangian and its gradients.

.. math:: L = f + \alpha_1 (g + \tilde\lambda^T h - g(x, \tilde y^*)) + \tfrac{\alpha_2}{2} \sum_i \rho_i h_i^2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from pydantic import ValidationError

from f2csa_ref.objectives import Objectives, as_vector, objectives_of
from f2csa_ref.shared_sample import quadratic_in_y
from spec.errors import InvalidInputError, from_validation
from spec.exact import Matrix, Vector
from spec.parameters import PenaltyParameters
from spec.problem import Problem
from spec.reading import DualTerm

TERMS = ("f", "g_difference", "dual", "penalty")
"""The parts of the gradient in x, in the order of the formula."""


def penalty_parameters(alpha: float) -> PenaltyParameters:
    """Derive alpha_1, alpha_2 and inner_tol from alpha.

    Raises:
        InvalidInputError: If alpha is out of range.
    """
    try:
        return _parameters(alpha) if type(alpha) is float else PenaltyParameters(alpha=alpha)
    except ValidationError as error:
        raise from_validation(error, "") from None


@lru_cache(maxsize=256)
def _parameters(alpha: float) -> PenaltyParameters:
    return PenaltyParameters(alpha=alpha)


@dataclass(frozen=True)
class PenaltyLagrangian:
    r"""L at fixed x as a function of the shift w = y - y*_hat from the lower-level solution.

    Working in the shift keeps digits: ``h(x, y) = h(x, y*_hat) - B w`` and ``grad_y g`` likewise, so what
    alpha_1 and alpha_2 amplify are small numbers known to full relative accuracy.
    ``y_star``, ``lam`` and ``rho`` count as constants in every derivative but where ``dual_term`` says that the first
    two are maps of x; each is one vector, or one row a run.

    Source: Eq. (penaltylagrangian). Differs from the paper: nothing; what its derivative in x sees of these maps, which
    the text leaves open, is the argument ``dual_term``.
    """

    objectives: Objectives
    x: Vector
    alpha: PenaltyParameters
    y_star: Vector
    lam: Vector
    rho: Vector
    maps: Callable[[], tuple[Matrix, Matrix]] | None = None
    """Derivatives of y* and lam in x, where they can be had; by :mod:`f2csa_ref.second_derivatives.solution_maps`."""
    rows: Vector | None = None
    """``h_star``, where it is known."""

    @classmethod
    def at(
        cls, problem: Problem | Objectives, x: Vector, *, alpha: float, y_star: Vector, lam: Vector, rho: Vector
    ) -> PenaltyLagrangian:
        """L at a point and stage values, all checked.

        Raises:
            InvalidInputError: If an argument breaks its rule.
        """
        q = objectives_of(problem)
        return cls(
            objectives=q, x=as_vector(x, q.n, "x"), alpha=penalty_parameters(alpha),
            y_star=as_vector(y_star, q.m, "y_star"), lam=as_vector(lam, q.p, "lam"), rho=as_vector(rho, q.p, "rho"),
        )  # fmt: skip

    @cached_property
    def h_star(self) -> Vector:
        """Row values at the lower-level solution, shape (p,)."""
        return self.objectives.h(self.x, self.y_star) if self.rows is None else self.rows

    @cached_property
    def stationarity(self) -> Vector:
        """``grad_y g - B' lam`` at the lower-level solution, shape (m,); zero if the pair is exact."""
        return self.objectives.grad_y_g(self.x, self.y_star) - self.lam @ self.objectives.B

    def value(self, w: Vector, dual_term: DualTerm = "cancelled") -> float:
        """L at ``y_star + w``; cancelled, the constant ``alpha_1 lam' h(x, y*_hat)`` is subtracted as well."""
        q, y = self.objectives, self.y_star + w
        h = self.h_star - w @ q.B.T
        gap = q.g(self.x, y) - q.g(self.x, self.y_star) + self.lam @ h
        if dual_term == "cancelled":
            gap -= self.lam @ self.h_star
        penalty = 0.5 * self.alpha.alpha_2 * (self.rho @ (h * h))
        return float(q.f(self.x, y) + self.alpha.alpha_1 * gap + penalty)

    def grad_y(self, w: Vector) -> Vector:
        """Gradient in y at ``y_star + w``, shape (m,)."""
        q, (alpha_1, alpha_2) = self.objectives, self._weights
        lower = self.stationarity + q.grad_y_g_change(self.x, self.y_star, w)
        rows = alpha_2 * (self.rho * (self.h_star - w @ q.B.T))
        return q.grad_y_f(self.x, self.y_star + w) + alpha_1 * lower - rows @ q.B

    @cached_property
    def _weights(self) -> tuple[float, float]:
        return self.alpha.alpha_1, self.alpha.alpha_2

    @cached_property
    def grad_y_here(self) -> Callable[[Vector], Vector]:
        """:meth:`grad_y`, bit for bit, as a function that has worked out what x alone decides."""
        quadratic = quadratic_in_y(self.objectives)
        if quadratic is None:
            return self.grad_y
        q, offset = quadratic
        B, B_turned, g_turned, f_turned, fixed = q.B, q.B.T, q.g_yy.T, q.f_yy.T, q.f_y
        at_x, y_star, rho, h_star, stationarity = self.x @ q.f_xy, self.y_star, self.rho, self.h_star, self.stationarity
        shared = at_x + fixed
        # An array without axes multiplies in two thirds of a float's time, bit for bit.
        alpha_1, alpha_2 = (np.array(weight) for weight in self._weights)

        def of_many(w: Vector) -> Vector:
            rows, upper = alpha_2 * (rho * (h_star - w @ B_turned)), (y_star + w) @ f_turned + shared
            if offset is not None:
                upper = upper + offset
            of_w: Vector = upper + alpha_1 * (stationarity + w @ g_turned) - rows @ B
            return of_w

        def of_one(w: Vector) -> Vector:
            # As of many, by the method that takes less than @, and into memory that is there.
            rows = alpha_2 * (rho * (h_star - w.dot(B_turned)))
            upper: Vector = (y_star + w).dot(f_turned)
            upper += at_x
            upper += fixed
            if offset is not None:
                upper += offset
            lower = w.dot(g_turned)
            lower += stationarity
            lower *= alpha_1
            upper += lower
            upper -= rows.dot(B)
            return upper

        return of_many if y_star.ndim > 1 else of_one

    def terms_x(self, w: Vector, dual_term: DualTerm) -> dict[str, Vector]:
        """The parts of the gradient in x at ``y_star + w``, each of shape (n,); their sum is the gradient.

        Frozen, the dual part is ``alpha_1 A' lam``; cancelled, it is zero. With y* a map, its derivative times
        ``grad_y g(x, y*)`` is taken off; with both maps, that of lam times ``h(x, y)`` is added.

        Raises:
            InvalidInputError: With a map, where the problem has no second derivatives or the map none.
        """
        q = self.objectives
        h = self.h_star - w @ q.B.T
        return {
            "f": q.grad_x_f(self.x, self.y_star + w),
            "g_difference": self.alpha.alpha_1 * q.grad_x_g_change(self.x, self.y_star, w),
            "dual": self.alpha.alpha_1 * self._dual_part(h, dual_term),
            "penalty": (self.alpha.alpha_2 * (self.rho * h)) @ q.A,
        }

    def _dual_part(self, h: Vector, dual_term: DualTerm) -> Vector:
        """What ``lam' h - g(x, y*)`` leaves in the derivative beside the change of ``grad_x g``, shape (n,)."""
        part: Vector = (0.0 if dual_term == "cancelled" else 1.0) * (self.lam @ self.objectives.A)
        if dual_term in ("map", "both-maps"):
            if self.maps is None:
                raise InvalidInputError("reading.dual_term", "must be frozen or cancelled without the maps")
            of_y, of_lam = self.maps()
            part = part - self.objectives.grad_y_g(self.x, self.y_star) @ of_y
            if dual_term == "both-maps":
                part = part + h @ of_lam
        return part

    def grad_x(self, w: Vector, dual_term: DualTerm) -> Vector:
        """Gradient in x at ``y_star + w``, shape (n,)."""
        return total(self.terms_x(w, dual_term))


def total(terms: dict[str, Vector]) -> Vector:
    """Sum of the parts, in the order of the formula."""
    f, g_difference, dual, penalty = (terms[name] for name in TERMS)
    return f + g_difference + dual + penalty
