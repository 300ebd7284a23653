"""The sentences derivations are made of: the problem, its lower level, the gradient of F, the penalty minimiser."""

from __future__ import annotations

from fractions import Fraction

from verify.proofs.notation import function, problem_in_words, term, vector
from verify.proofs.refutation.model import Case
from verify.truth import lower_level
from verify.truth.algebra.rational_functions import Leading
from verify.truth.algebra.rationals import blocks, column, fractions
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.penalty_functions import Family, minimiser
from verify.truth.scenario import Scenario


def opening(case: Case, lower: ExactLowerLevel) -> list[str]:
    """The problem and its point; the lower-level solution."""
    solved = f"The lower level is solved by y* = {vector(lower.y_star)} with λ* = {vector(lower.lam)}"
    if len(lower.h) > 1:
        rows = f"active rows {', '.join(str(i + 1) for i in lower.active) or 'none'}"
    elif lower.strictly_active:
        rows = "the row is active with a positive multiplier"
    else:
        rows = f"the row is {'just active' if lower.active else 'inactive'}"
    return [f"{problem_in_words(case.problem)}, at x = {vector(case.x)}.", f"{solved}; {rows}."]


def gradient(family: Family) -> str:
    """The gradient of F by the chain rule."""
    rows, y, at = blocks(family.problem), column(family.lower.y_star), column(family.x)
    of_x = fractions(rows.f_x + rows.f_xx * at + rows.f_xy * y)
    of_y = fractions(rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y)
    J = lower_level.jacobian(family.problem, family.x)
    return (
        f"Nearby, dy*/dx = {vector([vector(row) for row in J])}; with ∇_x f = {vector(of_x)} and "
        f"∇_y f = {vector(of_y)} the chain rule gives ∇F = {vector(family.hypergradient)}."
    )


def penalty_point(family: Family, scenario: Scenario) -> str:
    """The penalty minimiser as a function of alpha."""
    weights, solution = vector(scenario.rho or ()), function(minimiser(family, scenario))
    return f"With weight ρ = {weights}, ∇_y f + α⁻²(∇_y g - Bᵀλ̃) - α⁻⁴Bᵀ(ρ∘h) = 0 has the solution y_pen = {solution}."


def conclusion(case: Case, quantity: str, leading: Leading) -> str:
    """The order found against the order claimed."""
    name = quantity[:1].upper() + quantity[1:]
    claimed = term((Fraction(1),), int(case.bound.exponents.get("alpha", 0)))
    order = f"{term(leading.coefficient, leading.exponent)} to leading order, while O({claimed}) is claimed"
    return f"{name} is {order}: no constant works as α → 0."
