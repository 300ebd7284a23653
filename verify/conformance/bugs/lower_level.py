"""Wrong lower-level solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from spec import InvalidInputError
from verify.conformance.bugs.composed import ComposedSubject
from verify.conformance.bugs.entry import Catch, Mutant
from verify.conformance.bugs.formulas import arrays_of


class UnconstrainedLowerLevel(ComposedSubject):
    """Solves the lower level as if it had no rows."""

    name = "unconstrained-lower-level"

    def lower_level(self, problem: Any, x: Any) -> Any:
        a = arrays_of(problem)
        if a is None:
            return super().lower_level(problem, x)
        return -np.linalg.solve(a.g_yy, a.g_xy.T @ x + a.g_y), np.zeros(len(a.b))


class FlippedRows(ComposedSubject):
    """Reads the rows as A x + B y - b <= 0 where it solves the lower level."""

    name = "flipped-rows"

    def lower_level(self, problem: Any, x: Any) -> Any:
        a = arrays_of(problem)
        if a is None:
            return super().lower_level(problem, x)
        c, scale = a.g_xy.T @ x + a.g_y, float(np.linalg.norm(a.g_yy, 2))
        right = a.A @ x - a.b
        free = -np.linalg.solve(a.g_yy, c)
        try:
            y, lam = solve_program(a.g_yy / scale, c / scale, -a.B, right, size=1.0 + float(np.abs(free).max()), x=x)
        except InvalidInputError:
            return free, np.zeros(len(a.b))
        return y, scale * lam


class InflatedMultipliers(ComposedSubject):
    """Returns multipliers ten per cent too large."""

    name = "inflated-multipliers"

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star, 1.1 * lam


class FlippedMultipliers(ComposedSubject):
    """Returns multipliers of the Lagrangian g - lam'h."""

    name = "flipped-multipliers"

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star, -lam


class ZeroMultipliers(ComposedSubject):
    """Solves for y alone and returns zero multipliers."""

    name = "zero-multipliers"

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star, np.zeros_like(lam)


class StaleLowerLevel(ComposedSubject):
    """Answers with the solution of the previous call of the same sizes: the pair lags one x behind."""

    name = "stale-lower-level"

    def __init__(self) -> None:
        self.previous: dict[tuple[int, ...], Any] = {}

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        sizes = (len(x), len(y_star), len(lam))
        answer = self.previous.get(sizes, (y_star, lam))
        self.previous[sizes] = (y_star, lam)
        return answer


class FrozenLowerLevel(ComposedSubject):
    """Solves each problem once and keeps the answer for every later x."""

    name = "frozen-lower-level"

    def __init__(self) -> None:
        # The problem is kept beside its answer: the id of one that is gone may be given to another.
        self.kept: dict[int, tuple[Any, Any]] = {}

    def lower_level(self, problem: Any, x: Any) -> Any:
        if id(problem) not in self.kept:
            self.kept[id(problem)] = (problem, super().lower_level(problem, x))
        return self.kept[id(problem)][1]


MUTANTS = (
    Mutant(
        "unconstrained-lower-level", UnconstrainedLowerLevel, "lower_level", "constraints",
        "y* ignores the rows and λ* is 0: wherever a row binds the hypergradient is that of another function, "
        "an error of order 1 that no α removes.",
        (Catch("lipschitz-solution", "toy1"),),
    ),
    Mutant(
        "flipped-rows", FlippedRows, "lower_level", "sign",
        "h = Ax + By - b: other rows bind, so y*, λ* and the hypergradient are off by order 1.",
        (Catch("lipschitz-solution", "toy1"),),
    ),
    Mutant(
        "inflated-multipliers", InflatedMultipliers, "lower_level", "weight",
        "λ* a tenth too large leaves α₁Bᵀλ*/10 in ∇_yL: ỹ is pushed off the rows by order α², the estimate by order 1.",
        (Catch("lipschitz-solution", "toy1"),),
    ),
    Mutant(
        "flipped-multipliers", FlippedMultipliers, "lower_level", "sign",
        "λ* ≤ 0 switches every row off, ρ = 0: the penalty solve follows g alone and the response of binding rows "
        "is lost, an error of order 1.",
        (Catch("lipschitz-solution", "toy1"),),
    ),
    Mutant(
        "zero-multipliers", ZeroMultipliers, "lower_level", "missing-term",
        "λ* = 0 switches every row off, ρ = 0, with an error of order 1 in the estimate.",
        (Catch("lipschitz-solution", "toy1"),),
    ),
    Mutant(
        "stale-lower-level", StaleLowerLevel, "lower_level", "stale-value",
        "ỹ* and λ̃ of the previous x: α₁ and α₂ multiply the distance moved, an error of order ‖x - x'‖α⁻⁴.",
        (Catch("lipschitz-solution", "two-of-three"),),
    ),
    Mutant(
        "frozen-lower-level", FrozenLowerLevel, "lower_level", "stale-value",
        "ỹ* and λ̃ of the first x for ever: right at the start, then off by ‖x - x_0‖α⁻⁴.",
        (Catch("lipschitz-solution", "two-of-three"),),
    ),
)  # fmt: skip
