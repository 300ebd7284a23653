"""The lines every derivation starts with: the problem, its lower level, the gradient of F, the penalty minimiser."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.proofs.refutation.cases import Case, Finding
from verify.proofs.refutation.notation import function, problem_in_words, term, vector
from verify.truth import lower_level
from verify.truth.algebra.rationals import Vector, blocks, column, fractions
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.penalty_functions import Family, minimiser
from verify.truth.scenario import Scenario


def setting(case: Case) -> str:
    """The problem and its point."""
    return f"{problem_in_words(case.problem)}, at x = {vector(case.x)}."


def solved(lower: ExactLowerLevel) -> str:
    """The lower-level solution."""
    made = f"The lower level is solved by y* = {vector(lower.y_star)} with λ* = {vector(lower.lam)}"
    if len(lower.h) > 1:
        return f"{made}; active rows {', '.join(str(i + 1) for i in lower.active) or 'none'}."
    if lower.strictly_active:
        return f"{made}; the row is active with a positive multiplier."
    return f"{made}; the row is {'just active' if lower.active else 'inactive'}."


def gradient(family: Family) -> str:
    """The gradient of F by the chain rule."""
    rows, y = blocks(family.problem), column(family.lower.y_star)
    at = column(family.x)
    of_x = fractions(rows.f_x + rows.f_xx * at + rows.f_xy * y)
    of_y = fractions(rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y)
    J = lower_level.sensitivity(family.problem, family.x).J
    shown = vector(J[0]) if len(J) == 1 else "(" + ", ".join(vector(row) for row in J) + ")"
    return (
        f"Nearby, dy*/dx = {shown}; with ∇_x f = {vector(of_x)} and ∇_y f = {vector(of_y)} the chain rule gives "
        f"∇F = {vector(family.hypergradient)}."
    )


def penalty_point(family: Family, scenario: Scenario) -> str:
    """The penalty minimiser as a function of alpha."""
    weights = vector(scenario.rho or ())
    found = function(minimiser(family, scenario))
    return f"With weight ρ = {weights}, ∇_y f + α⁻²(∇_y g - Bᵀλ̃) - α⁻⁴Bᵀ(ρ∘h) = 0 has the solution y_pen = {found}."


def conclusion(case: Case, finding: Finding) -> str:
    """The order found against the order claimed."""
    found = term(finding.coefficient, None if finding.exponent is None else int(finding.exponent))
    claimed = term((Fraction(1),), int(case.claimed or 0))
    name = finding.quantity[:1].upper() + finding.quantity[1:]
    return f"{name} is {found} to leading order, while O({claimed}) is claimed: no constant works as α → 0."


def numbers(values: Sequence[Fraction] | Vector) -> str:
    """Components as decimals."""
    shown = [f"{float(value):.9g}" for value in values]
    return shown[0] if len(shown) == 1 else "(" + ", ".join(shown) + ")"
