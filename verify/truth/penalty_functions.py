r"""The estimator, its minimiser and its error as exact rational functions of alpha.

The formulas of lines 5 and 6 over the ring of rational functions, the scenario's errors among their data: orders in
alpha can be read off what comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spec import Quadratic
from verify.truth import lower_level
from verify.truth.algebra.rational_functions import ALPHA, RationalVector
from verify.truth.algebra.rationals import Blocks, Number, Vector, point
from verify.truth.algebra.rings import FUNCTIONS
from verify.truth.formulas import Lagrangian
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.scenario import Error, Scenario


@dataclass(frozen=True)
class Family:
    """A problem at a point, its lower level solved: what every function of alpha here starts from.

    ``hypergradient`` is the exact gradient of F, or what stands in for it at a kink.
    """

    problem: Quadratic
    x: Vector
    lower: ExactLowerLevel
    hypergradient: Vector

    @classmethod
    def at(cls, problem: Quadratic, x: Sequence[Number], gradient: Sequence[Number] | None = None) -> Family:
        """Solve the lower level at x.

        Args:
            problem: Any quadratic problem.
            x: Upper-level point, shape (n,).
            gradient: What the estimator is held against, shape (n,); by default the gradient of F. At a kink,
                where there is none, one of :func:`verify.truth.lower_level.pieces`.

        Raises:
            InvalidInputError: As :func:`verify.truth.lower_level.solve`; at a kink of F if no gradient is given.
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
        q, vector, scenario = self.problem, FUNCTIONS.vector, self.fitted(scenario)
        return Lagrangian(
            ring=FUNCTIONS,
            blocks=Blocks.of(q, FUNCTIONS.matrix),
            x=vector(self.x),
            alpha_1=ALPHA**-2,
            alpha_2=ALPHA**-4,
            y_star=vector(self.lower.y_star) + _spent(scenario.y_star_error, q.m),
            lam=vector(self.lower.lam) + _spent(scenario.lam_error, q.p),
            R=FUNCTIONS.diagonal(scenario.rho or ()),
        )


def minimiser(family: Family, scenario: Scenario) -> RationalVector:
    r"""The penalty minimiser :math:`y^*_{\tilde\lambda,\alpha}(x)` as a function of alpha, shape (m,).

    Where the Lagrangian is not convex it is the stationary point.

    Source: Eq. (penaltylagrangian).
    """
    return family.lagrangian(scenario).minimiser()


def sampled_point(family: Family, scenario: Scenario) -> RationalVector:
    """Where the estimator is sampled: the penalty minimiser with the scenario's errors of y and of its gradient."""
    return _sampled(family.lagrangian(scenario), scenario)


def estimator(family: Family, scenario: Scenario) -> RationalVector:
    """The noise-free estimator as a function of alpha, shape (n,), the scenario's errors included.

    Source: Algorithm 1, line 6, in expectation.
    """
    lagrangian = family.lagrangian(scenario)
    return lagrangian.estimate(_sampled(lagrangian, scenario), scenario.dual_term)


def estimator_at_minimiser(family: Family, scenario: Scenario) -> RationalVector:
    """The same without the errors of the penalty minimiser."""
    lagrangian = family.lagrangian(scenario)
    return lagrangian.estimate(lagrangian.minimiser(), scenario.dual_term)


def _sampled(lagrangian: Lagrangian[RationalVector], scenario: Scenario) -> RationalVector:
    m = len(lagrangian.y_star.numerators)
    return lagrangian.minimiser(_spent(scenario.gradient_error, m)) + _spent(scenario.y_error, m)


def _spent(errors: Sequence[Error], size: int) -> RationalVector:
    """The errors' sum."""
    directions = (FUNCTIONS.vector(error.direction).times(1, error.power) for error in errors)
    return sum(directions, FUNCTIONS.vector([0] * size))
