"""What a search asks of one candidate, what breaks there, and the refutation that is handed out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from spec import InvalidInputError, Quadratic, Reading, dumps_problem, parse_problem
from spec.claims import Bound
from spec.files import Frozen
from spec.reading import Interpretation, Sense, is_repaired_text
from verify.evidence.model import Counterexample
from verify.proofs.notation import function, problem_in_words, term, vector
from verify.truth.algebra.rational_functions import Leading
from verify.truth.algebra.rationals import Vector, blocks, column, fractions
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, minimiser
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel

SHOWN_ALPHA = Fraction(1, 10)
"""Where a derivation evaluates its functions; a denominator that decimals can follow."""


@dataclass(frozen=True)
class RefutationCase:
    """One candidate and its point, shape (n,), under one reading; ``bound`` is what the claim asserts under it."""

    problem: Quadratic
    x: Vector
    interpretation: Interpretation
    reading_name: str
    bound: Bound

    @property
    def as_written(self) -> bool:
        """Whether the literal text is meant, under any reading of its words."""
        return not is_repaired_text(self.reading_name)

    @property
    def reading(self) -> Reading:
        """What a program is told."""
        return self.interpretation.reading

    @property
    def sense(self) -> Sense:
        """What no program is told."""
        return self.interpretation.sense

    @cached_property
    def lower(self) -> ExactLowerLevel | None:
        """The lower level, or ``None`` if it is infeasible."""
        try:
            return lower_level.solve(self.problem, self.x)
        except InvalidInputError:
            return None

    @cached_property
    def family(self) -> PenaltyFamily | None:
        """The problem at a regular point; ``None`` without strict complementarity and independent active rows.

        A counterexample at a degenerate point could be put down to the degeneracy.
        """
        if self.lower is None or not (self.lower.strict_complementarity and self.lower.licq):
            return None
        return PenaltyFamily(self.problem, self.x, self.lower, lower_level.hypergradient(self.problem, self.x))

    def is_broken_by(self, leading: Leading, variable: str = "alpha") -> bool:
        """Whether what behaves like this as the variable tends to 0 is not of the order claimed."""
        claimed = self.bound.exponents.get(variable)
        if leading.exponent is None or claimed is None:
            return False  # exactly zero meets any power, one met from both sides for want of any error
        return leading.exponent != claimed if self.bound.tag == "tight" else leading.exponent < claimed


@dataclass(frozen=True)
class Break:
    """How a claim fails on a case: what was measured, and how to see it by hand and by one command.

    The quantity has a leading power, ``None`` for a plain comparison; the lines are a derivation, the values numbers to
    check a calculation against. The command is handed choices of the reading, given stage values, alpha, and x where
    it is not the candidate's own.
    """

    quantity: str
    exponent: Fraction | int | None
    coefficient: Vector
    lines: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    x: Vector | None = None
    alpha: Fraction = SHOWN_ALPHA

    @classmethod
    def led_by(cls, quantity: str, leading: Leading, lines: Sequence[str], **more: Any) -> Break:
        """From a leading term."""
        return cls(quantity, leading.exponent, leading.coefficient, tuple(lines), **more)


@dataclass(frozen=True)
class RefutationTarget:
    """A claim or step whose failure is decided exactly on a case; ``None`` where it holds or says nothing.

    ``beyond`` are values of its choices, by field, under which the decision does not see what the text then says.
    """

    claim: str
    decide: Callable[[RefutationCase], Break | None]
    scalar_only: bool = False
    beyond: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def expresses(self, values: Mapping[str, str]) -> bool:
        """Whether a case can be decided with these values of its choices."""
        return all(values[name] not in unseen for name, unseen in self.beyond.items())


class Refutation(Frozen):
    """The smallest problem found that breaks a claim, with its derivation by hand, a step a line; numbers are exact.

    Args:
        alpha: The alpha at which ``values`` hold.
        claimed: Claimed power of alpha (or of the claim's own variable); empty for a plain comparison.
        exponent: The true one, with its coefficient.
        arguments: What ``f2csa hypergradient FILE`` takes to print the estimate of the derivation; ``command`` is the
            whole of it, with the problem piped in.
        examined: Smaller or equal candidates examined.
        exhaustive: Whether every smaller problem was examined, rather than this one shrunk from a larger.
    """

    claim: str
    reading: str
    problem: dict[str, Any]
    x: tuple[str, ...]
    alpha: str
    quantity: str
    claimed: str = ""
    exponent: str = ""
    coefficient: tuple[str, ...] = ()
    derivation: tuple[str, ...]
    values: dict[str, str]
    arguments: tuple[str, ...]
    command: str
    examined: int
    exhaustive: bool

    def counterexample(self) -> Counterexample:
        """The same as a report shows it."""
        note = " ".join(self.derivation)
        return Counterexample(problem=self.problem, x=list(self.x), values=dict(self.values), note=note)

    @property
    def file(self) -> str:
        """The problem file's text."""
        return dumps_problem(parse_problem(self.problem), indent=1) + "\n"

    def command_with(self, file: str) -> str:
        """The command, reading the problem from a file."""
        return shlex.join(["f2csa", "hypergradient", file, *self.arguments])


def opening(case: RefutationCase, lower: ExactLowerLevel) -> list[str]:
    """The problem and its point; the lower-level solution."""
    solved = f"The lower level is solved by y* = {vector(lower.y_star)} with λ* = {vector(lower.lam)}"
    if len(lower.h) > 1:
        rows = f"active rows {', '.join(str(i + 1) for i in lower.active) or 'none'}"
    elif lower.strictly_active:
        rows = "the row is active with a positive multiplier"
    else:
        rows = f"the row is {'just active' if lower.active else 'inactive'}"
    return [f"{problem_in_words(case.problem)}, at x = {vector(case.x)}.", f"{solved}; {rows}."]


def gradient(family: PenaltyFamily) -> str:
    """The gradient of F by the chain rule."""
    rows, y, at = blocks(family.problem), column(family.lower.y_star), column(family.x)
    of_x = fractions(rows.f_x + rows.f_xx * at + rows.f_xy * y)
    of_y = fractions(rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y)
    J = lower_level.jacobian(family.problem, family.x)
    return (
        f"Nearby, dy*/dx = {vector([vector(row) for row in J])}; with ∇_x f = {vector(of_x)} and "
        f"∇_y f = {vector(of_y)} the chain rule gives ∇F = {vector(family.hypergradient)}."
    )


def penalty_point(family: PenaltyFamily, scenario: Scenario) -> str:
    """The penalty minimiser as a function of alpha."""
    weights, solution = vector(scenario.rho or ()), function(minimiser(family, scenario))
    return f"With weight ρ = {weights}, ∇_y f + α⁻²(∇_y g - Bᵀλ̃) - α⁻⁴Bᵀ(ρ∘h) = 0 has the solution y_pen = {solution}."


def conclusion(case: RefutationCase, quantity: str, leading: Leading) -> str:
    """The order found against the order claimed."""
    name = quantity[:1].upper() + quantity[1:]
    claimed = term((Fraction(1),), int(case.bound.exponents.get("alpha", 0)))
    order = f"{term(leading.coefficient, leading.exponent)} to leading order, while O({claimed}) is claimed"
    return f"{name} is {order}: no constant works as α → 0."
