r"""A quadratic instance's penalty geometry at one alpha, by dense algebra of the verifier's own.

From the formulas in doubles come the minimiser and the *worst* directions in which a premise's allowed error can be
spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from spec import Problem, Quadratic
from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from spec.parameters import PenaltyParameters
from spec.reading import DualTerm
from verify.truth.algebra.rationals import Blocks
from verify.truth.algebra.rings import DOUBLES
from verify.truth.formulas import Lagrangian
from verify.truth.lower_level.lower_level import solution_maps

EPS = float(np.finfo(np.float64).eps)
solve = DOUBLES.solve
"""Solution of a square linear system."""


def quadratic_of(problem: Problem) -> Quadratic:
    """The problem entry by entry; drawn first where it is a family member."""
    entries = getattr(problem, "quadratic", problem)
    if not isinstance(entries, Quadratic):
        raise TypeError(f"the geometry of a {problem.kind} problem is not quadratic")
    return entries


def ramp(h: Vector, lam: Vector, h_width: float, lam_width: float) -> Vector:
    """The activation weights as the paper defines them, written independently of any subject."""
    return np.asarray(np.clip((h + h_width) / h_width, 0.0, 1.0) * np.clip(lam / lam_width, 0.0, 1.0))


@dataclass(frozen=True)
class Geometry:
    """One problem at a point, one alpha, the lower-level pair the penalty is built with, the weights ``rho`` (p,)."""

    problem: Quadratic
    x: Vector
    alpha: float
    y_star: Vector
    lam: Vector
    rho: Vector

    @property
    def a(self) -> QuadraticArrays:
        return self.problem.arrays

    @cached_property
    def weights(self) -> PenaltyParameters:
        return PenaltyParameters(alpha=self.alpha)

    @cached_property
    def lagrangian(self) -> Lagrangian[Vector]:
        """The formulas, in doubles."""
        blocks = cast("Blocks[Vector]", self.a)  # the same names, two more
        weights = self.weights.alpha_1, self.weights.alpha_2
        return Lagrangian(DOUBLES, blocks, self.x, *weights, self.y_star, self.lam, np.diag(self.rho), self._maps)

    def _maps(self) -> tuple[Vector, Vector]:
        """Derivatives of the exact y* (m, n) and multipliers (p, n)."""
        return _maps(self.problem, tuple(Fraction(value) for value in self.x.tolist()))

    @property
    def H(self) -> Vector:  # noqa: N802  # the formula's letter
        """Hessian of the penalty Lagrangian in y, shape (m, m)."""
        return self.lagrangian.H

    @property
    def E(self) -> Vector:  # noqa: N802  # the formula's letter
        """Jacobian of the estimator in y, shape (n, m)."""
        return self.lagrangian.E

    @property
    def h(self) -> Vector:
        """Constraint values at the lower-level point, shape (p,)."""
        return self.lagrangian.h

    def gradient_y(self, y: Vector) -> Vector:
        """Gradient of the penalty Lagrangian in y, shape (m,)."""
        return self.lagrangian.gradient_y(y)

    def estimate(self, y: Vector, *, dual_term: DualTerm) -> Vector:
        """Gradient of the penalty Lagrangian in x at y, the noise-free estimate, shape (n,)."""
        return self.lagrangian.estimate(y, dual_term)

    @cached_property
    def minimiser(self) -> Vector:
        """The penalty minimiser, from one dense solve around the lower-level point, shape (m,)."""
        return self.lagrangian.minimiser()

    def worst_y_within(self, distance: float) -> Vector:
        """Error of the minimiser of given length that moves the estimator most, shape (m,)."""
        return distance * _top_right(self.E)

    def worst_y_with_gradient(self, norm: float) -> Vector:
        """Error of the minimiser that leaves a gradient of given norm and moves the estimator most, shape (m,)."""
        return solve(self.H, norm * _top_right(self.lagrangian.left_to_estimate))

    def lam_to_estimate(self, *, dual_term: DualTerm, lam_width: float | None = None) -> Vector:
        """Derivative of the estimator at its minimiser in the multipliers, shape (n, p).

        The weights are held; with ``lam_width`` they move where a multiplier lies on a ramp of that width.
        """
        held = self.lagrangian.lam_to_estimate(dual_term)
        push = self._push_of_weights(lam_width)
        if not push.any():
            return held
        through_y = self.E
        if dual_term == "both-maps":
            through_y = through_y - self.weights.alpha_1 * self._maps()[1].T @ self.a.B
        return np.asarray(held + (through_y @ solve(self.H, self.a.B.T) + self.a.A.T) * push)

    def lam_to_minimiser(self, *, lam_width: float | None = None) -> Vector:
        """Derivative of the minimiser in the multipliers, the weights as for :meth:`lam_to_estimate`, shape (m, p)."""
        return solve(self.H, self.a.B.T * (self.weights.alpha_1 + self._push_of_weights(lam_width)))

    def _push_of_weights(self, lam_width: float | None) -> Vector:
        """α₂h_i(x, y) times the slope of each row's weight in its own multiplier, at the minimiser, shape (p,)."""
        on_ramp = (self.lam > 0) & (self.lam < (lam_width or 0.0)) & (self.rho > 0)
        if not on_ramp.any():
            return np.zeros(len(self.lam))
        slope = np.where(on_ramp, self.rho / np.where(on_ramp, self.lam, 1.0), 0.0)
        return np.asarray(self.weights.alpha_2 * slope * (self.h - self.a.B @ (self.minimiser - self.y_star)))

    def worst_lam_within(self, distance: float, response: Vector, *, rows: Vector | None = None) -> Vector:
        """Error of the multipliers, of given length, that moves a linear response most, shape (p,).

        It is the worst of the whole ball: no premise keeps multipliers from being negative. ``rows`` masks what may
        move; where nothing moves the response the error is 0.
        """
        masked = response if rows is None else response * rows.astype(bool)
        return distance * _top_right(masked) if masked.any() else np.zeros(len(self.lam))

    def retreats(self, distance: float) -> list[Vector]:
        """Errors of ỹ* of given length to try: into the feasible side of the active rows, and along g_xy.

        The first kind switches rows off where the ramp is narrow; the second moves the term -α₁∇_x g(x, ỹ*).
        """
        a = self.a
        tried: list[Vector] = []
        for i in np.flatnonzero(self.rho > 0):
            row = a.B[i] / max(float(np.linalg.norm(a.B[i])), EPS)
            tried += [row, -row]
        if self.rho.any():
            active = a.B[self.rho > 0]
            inward = np.linalg.pinv(active) @ np.ones(len(active))
            tried.append(inward / max(float(np.linalg.norm(inward)), EPS))
        if a.g_xy.any():
            top = _top_right(a.g_xy)
            tried += [top, -top]
        return [distance * direction for direction in tried] or [np.zeros(len(self.y_star))]

    def rounding(self, y: Vector, *, dual_term: DualTerm, h_width: float | None = None) -> float:
        """Rounding of one double-precision estimate at y: unit roundoff times the sizes of its weighted terms.

        The term α₂Aᵀ(ρ∘h) loses most: h is a difference of numbers of size ‖Ax‖ + ‖By‖ + ‖b‖. Where the weights
        come from a ramp of width ``h_width``, rounding of h at the lower-level point moves them too.
        """
        a, w = self.a, self.weights
        s, x_size, y_size = self.problem.sizes, np.abs(self.x), np.abs(y)
        # h(x, y) may be had from h(x, y*): where y* is the longer of the two, its terms cancel.
        size_h = s.A @ x_size + s.B @ np.maximum(y_size, np.abs(self.y_star)) + s.b
        penalty = w.alpha_2 * s.A.T @ (self.rho * size_h)
        if h_width is not None:
            violation = np.abs(self.h - a.B @ (y - self.y_star))
            # A row off the ramp by more than rounding keeps its weight.
            on_ramp = (self.h >= -h_width - EPS * size_h) & (self.h <= EPS * size_h)
            moved = np.where(on_ramp, np.minimum(size_h / h_width, 1 / EPS), 0.0)
            penalty = penalty + w.alpha_2 * s.A.T @ (moved * violation)
        lower = 2 * w.alpha_1 * (s.g_xy @ np.maximum(y_size, np.abs(self.y_star)))
        lower = lower + 2 * w.alpha_1 * (s.g_xx @ x_size + s.g_x)
        upper = s.f_xx @ x_size + s.f_xy @ y_size + s.f_x
        dual = 0.0 * upper if dual_term == "cancelled" else w.alpha_1 * s.A.T @ np.abs(self.lam)
        if dual_term in ("map", "both-maps"):
            of_y, of_lam = map(np.abs, self._maps())
            slope = s.g_xy.T @ x_size + s.g_yy @ np.abs(self.y_star) + s.g_y
            dual = dual + w.alpha_1 * (2 * of_y.T @ slope + of_lam.T @ size_h)
        # y itself is only a double: its last bit reaches the estimate through E.
        through_y = np.abs(self.E) @ y_size
        return EPS * float(np.linalg.norm(penalty + lower + upper + dual + through_y))


def _top_right(matrix: Vector) -> Vector:
    """Right singular vector of the largest singular value; the first unit vector for a zero matrix."""
    if not matrix.any():
        return np.asarray(np.eye(matrix.shape[1])[0])
    top = np.asarray(np.linalg.svd(matrix)[2][0])
    # A sign convention, so that results do not depend on the LAPACK at hand.
    return top if top[np.argmax(np.abs(top))] > 0 else -top


@lru_cache(maxsize=256)
def _maps(problem: Quadratic, x: tuple[Fraction, ...]) -> tuple[Vector, Vector]:
    of_y, of_lam = (np.array([list(map(float, row)) for row in rows]) for rows in solution_maps(problem, x))
    return of_y, of_lam


def spectral_norm(matrix: Any) -> float:
    """Largest singular value."""
    array = np.asarray(matrix, dtype=np.float64)
    return _spectral_norm(array.shape, array.tobytes())


@lru_cache(maxsize=1024)
def _spectral_norm(shape: tuple[int, int], entries: bytes) -> float:
    return float(np.linalg.norm(np.frombuffer(entries).reshape(shape), 2))
