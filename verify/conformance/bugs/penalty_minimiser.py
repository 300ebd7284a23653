"""Wrong minimisers of the penalty Lagrangian."""
# ruff: noqa: ARG002  # a wrong stage keeps the signature of the right one

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from verify.conformance.bugs.composed import ComposedSubject
from verify.conformance.bugs.entry import Catch, Mutant
from verify.conformance.bugs.formulas import arrays_of, constrained_minimiser, penalty_system, stationary_point
from verify.subjects import Call


class DropsMultiplier(ComposedSubject):
    """Minimises the penalty Lagrangian without lam'h."""

    name = "drops-multiplier"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        return super().penalty_minimiser(problem, x, replace(call, lam=np.zeros_like(call.lam)), tol)


class FlipsMultiplier(ComposedSubject):
    """Minimises with - lam'h instead of + lam'h."""

    name = "flips-multiplier"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        a = arrays_of(problem)
        if a is None:
            return super().penalty_minimiser(problem, x, call, tol)
        return stationary_point(a, x, call, multiplier_sign=-1.0)


class FlipsRowGradient(ComposedSubject):
    """Reads the rows as A x + B y - b inside the penalty solve."""

    name = "flips-row-gradient"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        a = arrays_of(problem)
        if a is None:
            return super().penalty_minimiser(problem, x, call, tol)
        return stationary_point(a, x, call, row_sign=-1.0)


class DropsPenaltyInSolve(ComposedSubject):
    """Minimises without the quadratic penalty."""

    name = "drops-penalty-in-solve"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        return super().penalty_minimiser(problem, x, replace(call, rho=np.zeros_like(call.rho)), tol)


class HalfPenaltyInSolve(ComposedSubject):
    """Forgets the 2 in the derivative of h squared: half the quadratic penalty's weight inside the solve."""

    name = "half-penalty-in-solve"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        return super().penalty_minimiser(problem, x, replace(call, rho=0.5 * np.asarray(call.rho)), tol)


class ConstrainedPenaltySolve(ComposedSubject):
    """Also enforces the rows inside the penalty solve."""

    name = "constrained-penalty-solve"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        a = arrays_of(problem)
        if a is None:
            return super().penalty_minimiser(problem, x, call, tol)
        H, gradient = penalty_system(a, x, call, alpha_1=call.alpha**-2, alpha_2=call.alpha**-4)
        return constrained_minimiser(H, gradient, np.asarray(call.y_star), a, x)


class SkipsPenaltySolve(ComposedSubject):
    """Returns the lower-level solution as the penalty minimiser."""

    name = "skips-penalty-solve"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        return np.array(call.y_star)


class StopsByDistance(ComposedSubject):
    """Stops a distance delta short of the minimiser, as line 5 allows, along the direction of a weighted row."""

    name = "stops-by-distance"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        y = super().penalty_minimiser(problem, x, call, 0.0)
        a = arrays_of(problem)
        if a is None or tol is not None or not np.any(call.rho):
            return y
        row = a.B[int(np.argmax(np.asarray(call.rho)))]
        return y + call.alpha**3 * row / float(np.linalg.norm(row))


class _OtherAlpha(ComposedSubject, ABC):
    """Weighs the penalty terms with another alpha than the call's; ramps and solvers keep the call's."""

    @abstractmethod
    def other(self, problem: Any, alpha: float) -> float:
        """The alpha that is used in its place."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        a, alpha = arrays_of(problem), self.other(problem, call.alpha)
        if a is None:
            return super().penalty_minimiser(problem, x, call, tol)
        return stationary_point(a, x, call, alpha_1=alpha**-2, alpha_2=alpha**-4)

    def estimate(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return super().estimate(problem, x, replace(call, alpha=self.other(problem, call.alpha)), rng)

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        full = self.completed(problem, x, call)
        other = replace(full, alpha=self.other(problem, call.alpha))
        return super().hypergradient_samples(problem, x, other, rng, replications)


class WeakPenalties(_OtherAlpha):
    """Uses alpha_1 = alpha**-1 and alpha_2 = alpha**-2, the usual way to stop a diverging run."""

    name = "weak-penalties"

    def other(self, problem: Any, alpha: float) -> float:
        return float(alpha**0.5)


class InvertedPenalties(_OtherAlpha):
    """Uses alpha_1 = alpha and alpha_2 = alpha**2."""

    name = "inverted-penalties"

    def other(self, problem: Any, alpha: float) -> float:
        return float(alpha**-0.5)


class AlphaFromBelow(_OtherAlpha):
    """Raises alpha to 2 C_f / mu_g, as the solution lemma's hypothesis asks."""

    name = "alpha-from-below"

    def other(self, problem: Any, alpha: float) -> float:
        a = arrays_of(problem)
        if a is None:
            return alpha
        return max(alpha, 2 * float(np.linalg.norm(a.f_yy, 2)) / float(np.linalg.eigvalsh(a.g_yy)[0]))


SOLUTION = Catch("solution-error", "toy1")
ACTIVE_ROWS = Catch("solution-error/active-rows", "toy1")

MUTANTS = (
    Mutant(
        "drops-multiplier", DropsMultiplier, "penalty_minimiser", "missing-term",
        "Without λ̃ᵀh the minimiser leaves binding rows by α₁/α₂ = α²: as large as the bias allowed, with the "
        "multiplier's size as constant, and the estimate gains Aᵀλ̃α⁻².",
        (SOLUTION, ACTIVE_ROWS),
    ),
    Mutant(
        "flips-multiplier", FlipsMultiplier, "penalty_minimiser", "sign",
        "α₁Bᵀλ̃ doubles instead of cancelling: ỹ leaves binding rows by 2α²λ̃, the estimate gains 2α⁻²Aᵀλ̃.",
        (SOLUTION,),
    ),
    Mutant(
        "flips-row-gradient", FlipsRowGradient, "penalty_minimiser", "sign",
        "The penalty pulls ỹ to the mirror image of the rows: an error of order 1 in ỹ, α⁻⁴ in the estimate.",
        (SOLUTION,),
    ),
    Mutant(
        "drops-penalty-in-solve", DropsPenaltyInSolve, "penalty_minimiser", "missing-term",
        "Nothing holds ỹ on the rows: it drifts off them by order α², and α₂ turns that into α⁻² in the estimate.",
        (ACTIVE_ROWS,),
    ),
    Mutant(
        "half-penalty-in-solve", HalfPenaltyInSolve, "penalty_minimiser", "weight",
        "ỹ leaves binding rows by twice α⁴|∇_yf|: line 6 then counts the response of the rows twice, an error of "
        "order 1.",
        (SOLUTION,),
    ),
    Mutant(
        "constrained-penalty-solve", ConstrainedPenaltySolve, "penalty_minimiser", "constraints",
        "h(x, ỹ) ≤ 0 is enforced where the penalty needs h > 0 of order α⁴: the response of rows that f pushes "
        "against is lost, an error of order 1.",
        (SOLUTION, ACTIVE_ROWS),
    ),
    Mutant(
        "skips-penalty-solve", SkipsPenaltySolve, "penalty_minimiser", "missing-term",
        "ỹ = ỹ*: the estimate is ∇_xf alone, without the response of y* to x, an error of order 1.",
        (SOLUTION, ACTIVE_ROWS),
    ),
    Mutant(
        "stops-by-distance", StopsByDistance, "penalty_minimiser", "paper-as-written",
        "An error δ = α³ in ỹ on a binding row is multiplied by α₂: the estimate is off by order α⁻¹.",
        (Catch("inner-cost/output-accuracy", "toy1"),), choice="inner_stop",
    ),
    Mutant(
        "weak-penalties", WeakPenalties, "penalty_minimiser", "weight",
        "α₁ = α⁻¹, α₂ = α⁻²: nothing blows up, but ỹ is α from y* and the bias of order α only, where α² is promised.",
        (Catch("bias-bound/T3", "toy1"),),
    ),
    Mutant(
        "inverted-penalties", InvertedPenalties, "penalty_minimiser", "weight",
        "α₁ = α, α₂ = α²: the penalty vanishes as α → 0 and f is minimised in y, an error of order 1 or a divergence.",
        (Catch("bias-bound/T3", "toy1"),),
    ),
    Mutant(
        "alpha-from-below", AlphaFromBelow, "penalty_minimiser", "paper-as-written",
        "α never falls below 2C_f/μ_g: the bias stops falling with α at order 1.",
        (Catch("bias-bound/T3", "scalar-rational"),), choice="alpha_range",
    ),
)  # fmt: skip
