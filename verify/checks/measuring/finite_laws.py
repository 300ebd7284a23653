"""Expectations over finitely many outcomes, in rationals: means, variances and squared errors without sampling.

A law of two points is enough to tell a bound that holds for every outcome from one that holds on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from spec import REPAIRED, Reading
from spec.atlas import Instance
from verify.checks.measuring.case import compare
from verify.checks.measuring.premises import PremiseUnmetError, feasible
from verify.evidence.model import ComparisonEvidence, Relation
from verify.truth.algebra.rationals import Vector, matrix, select
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel
from verify.truth.stages import ExactSetting, evaluate

ZERO = Fraction(0)


def exactly(
    quantity: str, measured: Fraction | int, relation: Relation = "==", predicted: Fraction | int = 0
) -> ComparisonEvidence:
    """A comparison of rational numbers, or of counts."""
    return compare(quantity, float(measured), relation, float(predicted), rung="certified")


@dataclass(frozen=True)
class LawOutcome:
    """One outcome, a vector, with its probability."""

    weight: Fraction
    value: Vector


Law = Sequence[LawOutcome]


def mean(law: Law) -> Vector:
    """The expectation, componentwise."""
    size = len(law[0].value)
    return tuple(sum((o.weight * o.value[i] for o in law), ZERO) for i in range(size))


def mean_square(law: Law, around: Vector) -> Fraction:
    """Expected squared distance from a point."""
    return sum((o.weight * square(minus(o.value, around)) for o in law), ZERO)


def variance(law: Law) -> Fraction:
    """Expected squared distance from the mean: the trace of the covariance."""
    return mean_square(law, mean(law))


def plus(a: Vector, b: Vector, factor: Fraction | int = 1) -> Vector:
    """``a + factor * b``."""
    return tuple(x + factor * y for x, y in zip(a, b, strict=True))


def minus(a: Vector, b: Vector) -> Vector:
    """``a - b``."""
    return plus(a, b, -1)


def square(a: Vector) -> Fraction:
    """Squared length."""
    return sum((x * x for x in a), ZERO)


def units(size: int) -> Iterator[Vector]:
    """The coordinate directions and their opposites."""
    for i, sign in product(range(size), (1, -1)):
        yield tuple(Fraction(sign * int(i == j)) for j in range(size))


def signs(size: int, count: int) -> list[LawOutcome]:
    """The mean of ``count`` draws of plus or minus one along (1, ..., 1), by how many are plus."""
    ways = [1]
    for _ in range(count):
        ways = [a + b for a, b in zip([0, *ways], [*ways, 0], strict=True)]
    total = Fraction(2**count)
    return [LawOutcome(way / total, (Fraction(2 * k - count, count),) * size) for k, way in enumerate(ways)]


@dataclass(frozen=True)
class ExactOracle:
    """Algorithm 1 without noise on one instance, its stages exact rationals or off by what is said."""

    setting: ExactSetting
    lower: ExactLowerLevel
    grad_F: Vector  # noqa: N815  # the paper's letter

    @classmethod
    def at(
        cls, instance: Instance, alpha: Fraction, ramp_constant: Fraction | int = 1, reading: Reading = REPAIRED
    ) -> ExactOracle:
        """At an instance's point, which must be feasible and no kink; the ramp is so many times 2‖B‖δ wide."""
        problem = quadratic_of(instance.problem)
        lower = feasible(instance)
        return cls(
            ExactSetting(problem, instance.x, alpha, reading, ramp_constant=Fraction(ramp_constant)),
            lower,
            lower_level.hypergradient(problem, instance.x),
        )

    def estimate(self, *, y_star: Vector | None = None, lam: Vector | None = None, y: Vector | None = None) -> Vector:
        """The mean of the output given the stages; those not given are exact, y minimises on the pair given."""
        given = {"y_star": y_star or self.lower.y_star, "lam": lam or self.lower.lam}
        if y is not None:
            given["y_penalty"] = y
        setting = replace(self.setting, given=given)
        return tuple(Fraction(value) for value in evaluate(setting).hypergradient if isinstance(value, Fraction))

    def stages(self, *, y_star: Vector, lam: Vector) -> dict[str, Vector]:
        """All stages on a pair, as a call takes them: its weights, and the minimiser on it."""
        answer = evaluate(replace(self.setting, given={"y_star": y_star, "lam": lam}))
        return {"y_star": y_star, "lam": lam, "rho": answer.rho, "y_penalty": answer.y_penalty}

    def require_independent_rows(self, pairs: Iterable[tuple[Vector, Vector]]) -> None:
        """Refuse a problem on which one of these pairs switches dependent rows on together.

        Raises:
            PremiseUnmetError: If one does.
        """
        B = matrix(self.setting.problem.constraints.B)
        for y_star, lam in pairs:
            rows = self.switched_on(y_star, lam)
            rank = select(B, rows).rank() if rows else 0
            if rank < len(rows):
                listed = ", ".join(map(str, rows))
                finding = f"an error of the pair switches on rows {listed}, of rank {rank}"
                raise PremiseUnmetError("independent-rows", finding)

    def switched_on(self, y_star: Vector, lam: Vector) -> tuple[int, ...]:
        """Rows with a positive weight on a pair."""
        weights = evaluate(replace(self.setting, given={"y_star": y_star, "lam": lam})).rho
        return tuple(i for i, weight in enumerate(weights) if weight > 0)

    @property
    def minimiser(self) -> Vector:
        """The penalty minimiser on the exact pair."""
        given = {"y_star": self.lower.y_star, "lam": self.lower.lam}
        return evaluate(replace(self.setting, given=given)).y_penalty

    def error(self, *, y_star: Vector | None = None, lam: Vector | None = None) -> Vector:
        """The same less the gradient of F."""
        return minus(self.estimate(y_star=y_star, lam=lam), self.grad_F)

    def multipliers_off(self, direction: Vector) -> Vector:
        """λ* off along a direction, kept at or above zero."""
        return tuple(max(ZERO, value) for value in plus(self.lower.lam, direction))
