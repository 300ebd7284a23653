"""The true y*, multipliers and gradient of F in doubles with a proven error, by whichever exact method fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from spec import Holder, Quadratic
from spec.atlas import Instance
from spec.exact import FloatArray
from verify.truth import balls, lower_level
from verify.truth.algebra.rationals import Number, Vector, point
from verify.truth.formulas import ExactLagrangian, as_float
from verify.truth.geometry import Geometry, quadratic_of, ramp
from verify.truth.geometry import point as point_of

MAX_RATIONAL = 40
"""Largest n + m + p solved in rationals first: some 30 ms there, growing with the fourth power."""


@dataclass(frozen=True)
class GroundTruth:
    """True values in doubles.

    Args:
        y_star: Lower-level minimiser, shape (m,).
        lam: Multipliers, shape (p,).
        hypergradient: Gradient of F, shape (n,); ``None`` at a kink.
        kink_gradients: At a kink, the gradients of the adjoining pieces.
        strictly_active: Rows with a positive multiplier.
        weakly_active: Active rows without one.
        licq: Whether the active rows are linearly independent.
        error: Every entry above is within this of the truth, rounding included.
        method: ``rational`` or ``balls``.
    """

    y_star: FloatArray
    lam: FloatArray
    hypergradient: FloatArray | None
    kink_gradients: tuple[FloatArray, ...]
    strictly_active: tuple[int, ...]
    weakly_active: tuple[int, ...]
    licq: bool
    error: float
    method: Literal["rational", "balls"]


def solve_any(problem: Quadratic, x: Sequence[Number]) -> GroundTruth:
    """Solve the lower level and differentiate F with a proven error.

    Small problems are solved in rationals; larger ones in balls, and in rationals after all where the balls
    leave a row undecided (a weakly active row is exactly zero, which no ball can prove).

    Args:
        problem: Any quadratic problem.
        x: Upper-level point, shape (n,).

    Returns:
        True values and their error.

    Raises:
        InvalidInputError: If x does not fit.
        InfeasibleLowerLevelError: If no y satisfies the rows.

    Source:
        Eq. (constrainedbilevel). Differs from the paper: kinks are reported, not assumed away.
    """
    at = point(x, problem.n, "x")
    if problem.n + problem.m + problem.p > MAX_RATIONAL:
        found = balls.solve(problem, at)
        if found.decided:
            return _from_balls(found)
    return _from_rationals(problem, at)


def _from_balls(found: balls.BallLowerLevel) -> GroundTruth:
    parts = (found.y_star, found.lam, found.hypergradient)
    return GroundTruth(
        y_star=found.y_star.mid,
        lam=found.lam.mid,
        hypergradient=found.hypergradient.mid,
        kink_gradients=(),
        strictly_active=found.active,
        weakly_active=(),
        # The saddle system was solved rigorously, so it is regular, so the rows held as equations are independent.
        licq=True,
        error=max(part.error for part in parts),
        method="balls",
    )


def _from_rationals(problem: Quadratic, x: Vector) -> GroundTruth:
    lower = lower_level.solve(problem, x)
    gradient: Vector | None = None
    kinks: tuple[Vector, ...] = ()
    try:
        gradient = lower_level.hypergradient(problem, x)
    except lower_level.DegenerateLowerLevelError as error:
        kinks = error.gradients
    values = [*lower.y_star, *lower.lam, *(gradient or ()), *(value for kink in kinks for value in kink)]
    return GroundTruth(
        y_star=as_float(lower.y_star),
        lam=as_float(lower.lam),
        hypergradient=None if gradient is None else as_float(gradient),
        kink_gradients=tuple(as_float(kink) for kink in kinks),
        strictly_active=lower.strictly_active,
        weakly_active=lower.weakly_active,
        licq=lower.licq,
        error=_rounding(values),
        method="rational",
    )


def _rounding(values: Sequence[Fraction]) -> float:
    """Half a unit in the last place of the largest value."""
    return float(np.spacing(max((abs(float(value)) for value in values), default=0.0)))


@dataclass(frozen=True)
class Truth:
    """The lower-level pair and the gradient of F at an instance's point, exact and as doubles.

    Args:
        y_star: Solution, shape (m,), correctly rounded.
        lam: Multipliers, shape (p,), correctly rounded.
        grad_F: Gradient of F, shape (n,), correctly rounded.
        exact_y_star: The same solution as rationals.
        exact_lam: The same multipliers as rationals.
        exact_grad_F: The same gradient as rationals.
        active: Mask of rows with a positive multiplier, shape (p,).
    """

    y_star: FloatArray
    lam: FloatArray
    grad_F: FloatArray  # noqa: N815  # the paper's letter
    exact_y_star: tuple[Fraction, ...]
    exact_lam: tuple[Fraction, ...]
    exact_grad_F: tuple[Fraction, ...]  # noqa: N815  # the paper's letter
    active: FloatArray


def holder_minimiser(alpha: float) -> float:
    """Penalty minimiser of the Hölder instance at x = 0: y + alpha**-2 y**2 / 2 is least at -alpha**2."""
    return -(alpha**2)


def holder_bias(problem: Holder, alpha: float) -> float:
    """Exact bias of the penalty estimator on the Hölder instance at x = 0, alpha**(2 s)."""
    return float(alpha ** (2 * float(problem.s)))


def geometry_at_truth(instance: Instance, truth: Truth, alpha: float, h_width: float, lam_width: float) -> Geometry:
    """Penalty geometry built on the exact pair; its rows are exactly on the boundary or off."""
    problem = quadratic_of(instance.problem)
    x = point_of(instance)
    h = np.where(truth.active > 0, 0.0, problem.arrays.A @ x - problem.arrays.B @ truth.y_star - problem.arrays.b)
    return Geometry(problem, x, alpha, truth.y_star, truth.lam, ramp(h, truth.lam, h_width, lam_width))


def exact_bias(instance: Instance, truth: Truth, geometry: Geometry, *, frozen: bool) -> float:
    """Norm of (penalty estimator - gradient of F) at the exact minimiser, in rational arithmetic."""
    problem = quadratic_of(instance.problem)
    pair = (truth.exact_y_star, truth.exact_lam)
    exact = ExactLagrangian(problem, instance.x, geometry.alpha, *pair, geometry.rho.tolist())
    estimate = exact.estimate(exact.minimiser(), "frozen" if frozen else "cancelled")
    difference = [a - b for a, b in zip(estimate, truth.exact_grad_F, strict=True)]
    return float(np.linalg.norm(_floats(tuple(difference))))


def _floats(values: tuple[Fraction, ...]) -> FloatArray:
    return np.array([float(value) for value in values])
