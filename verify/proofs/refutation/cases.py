"""What a search asks of one candidate, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from spec import Holder, InvalidInputError, Quadratic, Reading
from spec.claims import Bound, ReadingName
from verify.truth import lower_level
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import Vector
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.penalty_functions import Family

SHOWN_ALPHA = Fraction(1, 10)
"""Where a derivation evaluates its functions; a denominator that decimals can follow."""


@dataclass(frozen=True)
class Case:
    """One candidate under one reading.

    Args:
        problem: The problem.
        x: Upper-level point, shape (n,).
        reading: The full reading.
        reading_name: Its name.
        bound: What the claim asserts under it.
    """

    problem: Quadratic
    x: Vector
    reading: Reading
    reading_name: ReadingName
    bound: Bound

    @property
    def as_written(self) -> bool:
        """Whether the literal text is meant."""
        return self.reading_name == "as-written"

    @property
    def is_scalar(self) -> bool:
        """Whether n = m = p = 1."""
        return (self.problem.n, self.problem.m, self.problem.p) == (1, 1, 1)

    @cached_property
    def lower(self) -> ExactLowerLevel | None:
        """The lower level, or ``None`` if it is infeasible."""
        try:
            return lower_level.solve(self.problem, self.x)
        except InvalidInputError:
            return None

    @cached_property
    def family(self) -> Family | None:
        """The problem at a regular point; ``None`` without strict complementarity and independent active rows.

        A counterexample at a degenerate point could be put down to the degeneracy.
        """
        if self.lower is None or not (self.lower.strict_complementarity and self.lower.licq):
            return None
        return Family(self.problem, self.x, self.lower, lower_level.hypergradient(self.problem, self.x))

    @property
    def claimed(self) -> Fraction | None:
        """The claimed power of alpha."""
        return self.bound.exponents.get("alpha")


@dataclass(frozen=True)
class Finding:
    """What was decided on one candidate.

    Args:
        broken: Whether the claim fails there.
        quantity: What was measured, in print.
        exponent: Its leading power; ``None`` for a plain comparison or an exact zero.
        coefficient: Coefficient of that power, exact.
        function: It as a function of alpha, where it is a rational one.
    """

    broken: bool
    quantity: str
    exponent: Fraction | None = None
    coefficient: Vector = ()
    function: RationalVector | None = None


@dataclass(frozen=True)
class Explanation:
    """How to see it by hand, and by one command.

    Args:
        lines: A derivation, one step a line.
        values: Numbers to check a calculation against, exact.
        choices: Choices of the reading to set on the command line.
        given: Stage values to hand to the command.
        x: Point to hand to the command, if not the candidate's own.
        alpha: Alpha to hand to the command.
    """

    lines: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    x: Vector | None = None
    alpha: Fraction = SHOWN_ALPHA


@dataclass(frozen=True)
class Target:
    """A claim whose failure can be decided exactly on a candidate.

    Args:
        claim: Full id of the claim or step.
        decide: Decides one candidate; ``None`` where the claim says nothing about it.
        explain: Derives the failure by hand.
        scalar_only: Whether only n = m = p = 1 is understood.
    """

    claim: str
    decide: Callable[[Case], Finding | None]
    explain: Callable[[Case, Finding], Explanation]
    scalar_only: bool = False


@dataclass(frozen=True)
class Special:
    """A counterexample that is no quadratic problem, with what was examined to find it."""

    problem: Holder
    x: Vector
    finding: Finding
    explanation: Explanation
    examined: int
