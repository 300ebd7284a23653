"""The true y*, multipliers and gradient of F in doubles with a proven error, by whichever exact method fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from spec import Holder, Quadratic
from spec.atlas import Instance
from spec.exact import FloatArray
from spec.reading import DualTerm
from verify.truth.algebra.numbers import add, double
from verify.truth.algebra.rationals import Number, Vector, fractions, point, rational
from verify.truth.algebra.rings import RATIONALS
from verify.truth.enclosures import balls
from verify.truth.formulas import as_float
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.geometry import Geometry, quadratic_of, ramp
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError, ExactLowerLevel
from verify.truth.propositions.arithmetic import NoValueError

MAX_RATIONAL = 40
"""Largest n + m + p solved in rationals first: some 30 ms there, growing with the fourth power."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The lower-level pair y* (m,), lam (p,) and the gradient of F (n,) at a point.

    At a kink there is no ``hypergradient``, but the gradients of the adjoining pieces. Strictly active rows have a
    positive multiplier, weakly active ones none; ``licq`` says whether all these are linearly independent. Every double
    is within ``error`` of the truth, rounding included; where pair and gradient were found as rationals, they are in
    ``lower``, ``exact_grad_F`` and ``exact_kinks``, and the doubles are correctly rounded. ``no_gradient`` says why
    there is none.
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
    lower: ExactLowerLevel | None = None
    exact_grad_F: Vector | None = None  # noqa: N815  # the paper's letter
    exact_kinks: tuple[Vector, ...] = ()
    no_gradient: str = ""

    @property
    def grad_F(self) -> FloatArray:  # noqa: N802  # the paper's letter
        """The gradient.

        Raises:
            NoValueError: At a kink, or where F ends; ``no_gradient`` says which.
        """
        if self.hypergradient is None:
            raise NoValueError(self.no_gradient)
        return self.hypergradient

    @cached_property
    def active(self) -> FloatArray:
        """Mask of rows with a positive multiplier, shape (p,)."""
        return np.array([float(i in self.strictly_active) for i in range(len(self.lam))])


def solve_any(problem: Quadratic, x: Sequence[Number]) -> Truth:
    """Solve the lower level and differentiate F with a proven error.

    Small problems are solved in rationals; larger ones in balls, and in rationals after all where the balls
    leave a row undecided (a weakly active row is exactly zero, which no ball can prove).

    Raises:
        InvalidInputError: If x does not fit.
        InfeasibleLowerLevelError: If no y satisfies the rows.

    Source:
        Eq. (constrainedbilevel). Differs from the paper: kinks are reported, not assumed away.
    """
    at = point(x, problem.n, "x")
    if problem.n + problem.m + problem.p > MAX_RATIONAL:
        enclosed = balls.solve(problem, at)
        if enclosed.decided:
            return _from_balls(enclosed)
    return from_rationals(problem, at, lower_level.solve(problem, at))


def _from_balls(enclosed: balls.BallLowerLevel) -> Truth:
    return Truth(
        y_star=enclosed.y_star.mid,
        lam=enclosed.lam.mid,
        hypergradient=enclosed.hypergradient.mid,
        kink_gradients=(),
        strictly_active=enclosed.active,
        weakly_active=(),
        # The saddle system was solved rigorously, so it is regular, so the rows held as equations are independent.
        licq=True,
        error=max(part.error for part in (enclosed.y_star, enclosed.lam, enclosed.hypergradient)),
        method="balls",
    )


def from_rationals(problem: Quadratic, x: Sequence[Number], lower: ExactLowerLevel) -> Truth:
    """The truth at a point whose lower level is solved."""
    gradient: Vector | None = None
    kinks: tuple[Vector, ...] = ()
    no_gradient = ""
    try:
        gradient = lower_level.hypergradient(problem, x)
    except DegenerateLowerLevelError as error:
        kinks, no_gradient = error.gradients, error.reason
    values = [*lower.y_star, *lower.lam, *(gradient or ()), *(value for kink in kinks for value in kink)]
    return Truth(
        y_star=as_float(lower.y_star),
        lam=as_float(lower.lam),
        hypergradient=None if gradient is None else as_float(gradient),
        kink_gradients=tuple(as_float(kink) for kink in kinks),
        strictly_active=lower.strictly_active,
        weakly_active=lower.weakly_active,
        licq=lower.licq,
        # Half a unit in the last place of the largest value.
        error=float(np.spacing(max((abs(float(value)) for value in values), default=0.0))),
        method="rational",
        lower=lower,
        exact_grad_F=gradient,
        exact_kinks=kinks,
        no_gradient=no_gradient,
    )


def holder_minimiser(alpha: float) -> float:
    """Penalty minimiser of the Hölder instance at x = 0: y + alpha**-2 y**2 / 2 is least at -alpha**2."""
    return -(alpha**2)


def holder_bias(problem: Holder, alpha: float) -> float:
    """Exact bias of the penalty estimator on the Hölder instance at x = 0, alpha**(2 s)."""
    return float(alpha ** (2 * float(problem.s)))


def geometry_at_truth(instance: Instance, truth: Truth, alpha: float, h_width: float, lam_width: float) -> Geometry:
    """Penalty geometry built on the exact pair; its rows are exactly on the boundary or off."""
    problem = quadratic_of(instance.problem)
    x = as_float(instance.x)
    h = np.where(truth.active > 0, 0.0, problem.arrays.A @ x - problem.arrays.B @ truth.y_star - problem.arrays.b)
    return Geometry(problem, x, alpha, truth.y_star, truth.lam, ramp(h, truth.lam, h_width, lam_width))


def exact_bias(instance: Instance, truth: Truth, geometry: Geometry, *, dual_term: DualTerm) -> float:
    """Norm of (penalty estimator - gradient of F) at the exact minimiser, in rational arithmetic."""
    return minimiser_and_bias(instance, truth, geometry, dual_term=dual_term)[1]


def minimiser_and_bias(
    instance: Instance, truth: Truth, geometry: Geometry, *, dual_term: DualTerm
) -> tuple[FloatArray, float]:
    """The exact penalty minimiser, correctly rounded, shape (m,), and the bias there, as :func:`exact_bias` has it."""
    if truth.exact_grad_F is None:
        raise NoValueError(truth.no_gradient)
    family = PenaltyFamily.at(quadratic_of(instance.problem), instance.x)
    scenario = Scenario(dual_term=dual_term, rho=tuple(map(Fraction, geometry.rho.tolist())))
    there = family.lagrangian_over(RATIONALS, rational(geometry.alpha), scenario)
    minimiser = there.minimiser()
    estimate = fractions(there.estimate(minimiser, dual_term).entries)
    bias = float(np.linalg.norm([double(add(a, -b)) for a, b in zip(estimate, truth.exact_grad_F, strict=True)]))
    return as_float(fractions(minimiser.entries)), bias
