r"""The estimator, its minimiser and the quantities of the bias proof as exact rational functions of alpha.

The formulas of lines 5 and 6 over the ring of rational functions, the scenario's errors among their data: orders in
alpha can be read off what comes out. With hats for the scenario's inexact stages and :math:`E(\cdot)` the estimator,

.. math::
    T_1 &= E(\hat y) - E(y^*_{\hat\lambda,\alpha}), &
    T_2 &= E(y^*_{\hat\lambda,\alpha}) - E^*(y^*_{\lambda^*,\alpha}), &
    T_3 &= E^*(y^*_{\lambda^*,\alpha}) - \nabla F,

where E carries the scenario's pair and activation, E* the exact pair and true activation. They sum to the bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpq_mat, fmpq_poly

from spec import InvalidInputError, Quadratic
from verify.truth.algebra import roots
from verify.truth.algebra.rational_functions import ALPHA, RationalVector, interpolate
from verify.truth.algebra.rationals import (
    Number,
    Vector,
    blocks,
    diagonal,
    is_positive_definite,
    point,
    rational,
)
from verify.truth.algebra.rings import FUNCTIONS, Ring
from verify.truth.formulas import Lagrangian, M, solution_maps_over
from verify.truth.functions_of_alpha.scenario import Error, Quantity, Scenario
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel


@dataclass(frozen=True)
class PenaltyFamily:
    """A problem at a point, its lower level solved: what every function of alpha here starts from.

    ``hypergradient`` is the exact gradient of F, or what stands in for it at a kink.
    """

    problem: Quadratic
    x: Vector
    lower: ExactLowerLevel
    hypergradient: Vector

    @classmethod
    def at(cls, problem: Quadratic, x: Sequence[Number], gradient: Sequence[Number] | None = None) -> PenaltyFamily:
        """Solve the lower level at x, which must not be a kink unless a gradient is given.

        ``gradient``: what the estimator is held against, by default the gradient of F. At a kink, where there is none,
        one of :func:`verify.truth.lower_level.lower_level.pieces`.
        """
        exact_x = point(x, problem.n, "x")
        lower = lower_level.solve(problem, exact_x)
        if gradient is None:
            return cls(problem, exact_x, lower, lower_level.hypergradient(problem, exact_x))
        return cls(problem, exact_x, lower, point(gradient, problem.n, "gradient"))

    def fitted(self, scenario: Scenario) -> Scenario:
        """The scenario with its activation spelt out for this problem."""
        return scenario.fitted(self.problem.m, self.problem.p, self.lower.active)

    @property
    def exact_stages(self) -> Scenario:
        """The scenario without errors and with the true activation, dual term cancelled."""
        return self.fitted(Scenario())

    def lagrangian(self, scenario: Scenario) -> Lagrangian[RationalVector]:
        """The penalty Lagrangian on the scenario's inexact pair, with its activation."""
        return self.lagrangian_over(FUNCTIONS, ALPHA, scenario)

    def lagrangian_over(self, ring: Ring[M], alpha: Any, scenario: Scenario) -> Lagrangian[M]:
        """The same over any ring of functions that alpha is one of."""
        lower, scenario = self.lower, self.fitted(scenario)
        stages = lower.y_star, lower.lam, scenario.rho or ()
        exact = Lagrangian.of(ring, self.problem, self.x, (alpha**-2, alpha**-4), stages)
        exact = replace(exact, maps=lambda: solution_maps_over(ring, self.problem, self.x))
        y_star = _off(exact.y_star, scenario.y_star_error, ring, alpha)
        return replace(exact, y_star=y_star, lam=_off(exact.lam, scenario.lam_error, ring, alpha))


def minimiser(family: PenaltyFamily, scenario: Scenario) -> RationalVector:
    r"""The penalty minimiser :math:`y^*_{\tilde\lambda,\alpha}(x)` as a function of alpha, shape (m,).

    Where the Lagrangian is not convex it is the stationary point.

    Source: Eq. (penaltylagrangian).
    """
    return family.lagrangian(scenario).minimiser()


def sampled_point(family: PenaltyFamily, scenario: Scenario) -> RationalVector:
    """Where the estimator is sampled: the penalty minimiser with the scenario's errors of y and of its gradient."""
    return _sampled(family.lagrangian(scenario), scenario)


def estimator(family: PenaltyFamily, scenario: Scenario) -> RationalVector:
    """The noise-free estimator as a function of alpha, shape (n,), the scenario's errors included.

    Source: Algorithm 1, line 6, in expectation.
    """
    lagrangian = family.lagrangian(scenario)
    return lagrangian.estimate(_sampled(lagrangian, scenario), scenario.dual_term)


def estimator_at_minimiser(family: PenaltyFamily, scenario: Scenario) -> RationalVector:
    """The same without the errors of the penalty minimiser."""
    lagrangian = family.lagrangian(scenario)
    return lagrangian.estimate(lagrangian.minimiser(), scenario.dual_term)


def exact_counterpart(family: PenaltyFamily, scenario: Scenario) -> Scenario:
    """The scenario with exact stages and the true activation, the same dual term."""
    return family.exact_stages.model_copy(update={"dual_term": scenario.dual_term})


def error(family: PenaltyFamily, scenario: Scenario, quantity: Quantity = "bias") -> RationalVector:
    """One quantity of the proof as a function of alpha, shape (n,), or (m,) for the two shifts.

    Source:
        Lemma "Hypergradient Bias Bound", Lemma "Solution Error". Differs from the paper: T2 compares activation
        weights too, which the lemma's text leaves open.
    """
    exact = exact_counterpart(family, scenario)
    match quantity:
        case "bias":
            return estimator(family, scenario) - FUNCTIONS.vector(family.hypergradient)
        case "T1":
            return estimator(family, scenario) - estimator_at_minimiser(family, scenario)
        case "T2":
            return estimator_at_minimiser(family, scenario) - estimator(family, exact)
        case "T3":
            return error(family, exact)
        case "solution-shift":
            return minimiser(family, scenario) - minimiser(family, exact)
        case "penalty-shift":
            return minimiser(family, scenario) - FUNCTIONS.vector(family.lower.y_star)


def convex_up_to(problem: Quadratic, rho: Sequence[Number], alpha_0: Fraction, modulus: Number = 0) -> bool:
    """Whether the penalty Lagrangian is convex in y for every alpha in ``(0, alpha_0]``, decided exactly.

    With a modulus c > 0, whether it is strongly convex with modulus ``c alpha**-2``.

    Source:
        Lemma "Solution Error", hypothesis; Lemma "Hypergradient Bias Bound", ``mu >= c_mu alpha**-2``.
    """
    # Positive definite on an interval: at one point, and the determinant has no root.
    end = alpha_0**2
    if not is_positive_definite(_scaled_hessian(problem, rho, modulus)(end)):
        return False
    return roots.count(determinant(problem, rho, modulus), Fraction(0), end) == 0


def determinant(problem: Quadratic, rho: Sequence[Number], modulus: Number = 0) -> fmpq_poly:
    r"""The determinant of :math:`u^2 f_{yy} + u\,(g_{yy} - cI) + B^TRB`, a polynomial in :math:`u = \alpha^2`."""
    hessian = _scaled_hessian(problem, rho, modulus)
    points = list(range(-problem.m, problem.m + 1))
    return interpolate(points, [[hessian(Fraction(at)).det()] for at in points])[0]


def _scaled_hessian(problem: Quadratic, rho: Sequence[Number], modulus: Number) -> Callable[[Fraction], fmpq_mat]:
    """alpha**4 times the Hessian in y less ``modulus alpha**-2 I``, as a function of u = alpha**2."""
    weights = point(rho, problem.p, "rho")
    if any(weight < 0 for weight in weights):
        raise InvalidInputError("rho", "must be >= 0", [str(weight) for weight in weights])
    b = blocks(problem)
    shifted, pull = b.g_yy - diagonal([modulus] * problem.m), b.B.transpose() * diagonal(weights) * b.B
    return lambda u: b.f_yy * rational(u) ** 2 + shifted * rational(u) + pull


def _sampled(lagrangian: Lagrangian[RationalVector], scenario: Scenario) -> RationalVector:
    nothing = FUNCTIONS.vector([0] * len(lagrangian.y_star.numerators))
    stopped = lagrangian.minimiser(_off(nothing, scenario.gradient_error, FUNCTIONS, ALPHA))
    return _off(stopped, scenario.y_error, FUNCTIONS, ALPHA)


def _off(value: M, errors: Sequence[Error], ring: Ring[M], alpha: Any) -> M:
    """A stage off by its errors."""
    for error in errors:
        value = value + alpha**error.power * ring.vector(error.direction)
    return value
