r"""Algorithm 1 at a point where lines 3 and 5 err as far as they may: every stage an exact rational function of alpha.

Line 3 leaves errors of norm at most :math:`\delta = \alpha^3`, line 5 one of norm :math:`\delta` (stopped by distance)
or a gradient of norm at most :math:`\alpha` (stopped by gradient), each along a fixed direction, with a sign: of ỹ* to
the inside of the binding rows, of λ̃ on the binding rows' multipliers, of ỹ where the estimate amplifies it most. That
is an adversary among those allowed, so that every error found is a lower bound of the worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from flint import fmpq_poly

from spec import Quadratic
from spec.atlas import find
from spec.exact import FloatArray
from spec.reading import DualTerm
from verify.truth.algebra import roots
from verify.truth.algebra.rational_functions import ALPHA, RationalVector
from verify.truth.algebra.rationals import Vector
from verify.truth.algebra.rings import FUNCTIONS
from verify.truth.formulas import Lagrangian
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import WITH_MAPS, Scenario
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.stages import row_norm_of

LEAST, MOST = Fraction(1, 1000), Fraction(2, 5)
"""The alphas of the page: each entry of the weights lies in one piece of its ramps throughout, or is refused."""
TRIED = Fraction(1, 100)
"""Where directions and signs are picked; they stay for all alphas."""
LAM_WIDTH = Fraction(1, 10)
"""ε_λ where it is fixed: the default of the program."""
_DIGITS = 100
_NORM_DIGITS = 10**9
"""Denominator of ‖B‖ where it is irrational: beyond what a double tells apart."""
DUAL_TERMS: tuple[DualTerm, ...] = ("frozen", "map", "both-maps", "cancelled")


class StageText(NamedTuple):
    """The choices that stages hang on, each a value of the choice of that name."""

    ramp_width: str
    inner_stop: str
    multiplier_width: str


class Signs(NamedTuple):
    """The adversary's signs: +1 or -1 each, or 0 for no error."""

    y_star: int
    lam: int
    y: int


EXACT_SIGNS = Signs(0, 0, 0)
Begun: TypeAlias = tuple[RationalVector, RationalVector, RationalVector, Lagrangian[RationalVector], RationalVector]
"""y_star, lam, rho, the penalty Lagrangian on them and its minimiser."""


@dataclass(frozen=True)
class ErringStages:
    """All stages and parts of line 6, shapes as in :class:`verify.truth.formulas.Lagrangian`; ``dual`` by reading."""

    y_star: RationalVector
    lam: RationalVector
    rho: RationalVector
    y_min: RationalVector
    y: RationalVector
    f: RationalVector
    g_difference: RationalVector
    penalty: RationalVector
    dual: dict[DualTerm, RationalVector]

    def estimate(self, dual_term: DualTerm) -> RationalVector:
        """Line 6 in expectation, shape (n,)."""
        without_dual = self.f + self.g_difference + self.penalty
        return without_dual if dual_term == "cancelled" else without_dual + self.dual[dual_term]


@dataclass(frozen=True)
class ErringPlace:
    """An instance of the atlas at its point, and the directions that its adversary errs in."""

    name: str
    family: PenaltyFamily
    pieces: tuple[Vector, ...]
    """Gradients of F on the pieces that meet where it has a kink; none where it has a gradient."""

    @classmethod
    def at(cls, name: str) -> ErringPlace:
        """At a kink only where n = 1: there the Clarke subdifferential is the interval between the pieces."""
        instance = find(name)
        problem = quadratic_of(instance.problem)
        lower = lower_level.solve(problem, instance.x)
        known = tuple(sorted(set(lower_level.pieces(problem, instance.x, lower).values())))
        if len(known) == 1:
            return cls(name, PenaltyFamily.at(problem, instance.x), ())
        return cls(name, PenaltyFamily.at(problem, instance.x, known[0]), known)

    @property
    def problem(self) -> Quadratic:
        return self.family.problem

    @cached_property
    def dual_terms(self) -> tuple[DualTerm, ...]:
        """Those that can be read here: at a kink y* and λ* have no derivative."""
        return tuple(one for one in DUAL_TERMS if not (self.pieces and one in WITH_MAPS))

    @cached_property
    def inside(self) -> Vector:
        """Direction in y that leads away from the binding rows, norm at most 1."""
        rows = self.problem.constraints.B.to_numpy()[list(self.family.lower.active)]
        return _short(np.linalg.pinv(rows) @ np.ones(len(rows)))

    @cached_property
    def on_binding_rows(self) -> Vector:
        """Direction of the multipliers' error, norm at most 1."""
        return _short(np.array([float(i in self.family.lower.active) for i in range(self.problem.p)]))

    @cached_property
    def amplified(self) -> Vector:
        """Direction of an error of ỹ that line 6 amplifies most, norm at most 1."""
        probe = _at(self._probe.E)
        row = self.problem.constraints.B.to_numpy()[self.family.lower.active[0]]
        return _short(np.linalg.svd(probe)[2][0] if probe.any() else row)

    @cached_property
    def amplified_gradient(self) -> Vector:
        """Direction of a gradient left in y that line 6 amplifies most, norm at most 1."""
        return _short(np.linalg.svd(_at(self._probe.left_to_estimate))[2][0])

    @cached_property
    def _probe(self) -> Lagrangian[RationalVector]:
        return self.family.lagrangian(self.family.exact_stages)

    @cached_property
    def row_norm(self) -> Fraction:
        """max(1, ‖B‖), as the program has it."""
        return max(Fraction(1), row_norm_of(self.problem).limit_denominator(_NORM_DIGITS))

    def weights(self, y_star: RationalVector, lam: RationalVector, text: StageText) -> RationalVector:
        """Line 4, shape (p,): functions of alpha that hold on all of the page's alphas."""
        constraints = self.problem.constraints
        h = FUNCTIONS.matrix(constraints.A) @ FUNCTIONS.vector(self.family.x) - FUNCTIONS.matrix(constraints.B) @ y_star
        h = h - FUNCTIONS.vector(constraints.b.to_fractions()[0])
        wide = _powers([1], 6) if text.ramp_width == "tau-delta" else _powers([2 * self.row_norm], 3)
        narrow = _powers([1], 3) if text.multiplier_width == "shrinking" else FUNCTIONS.vector([LAM_WIDTH])
        one = FUNCTIONS.vector([1])
        return _stacked([
            clipped(one + wide**-1 * _entry(h, i)) * clipped(narrow**-1 * _entry(lam, i))
            for i in range(self.problem.p)
        ])  # fmt: skip

    def lagrangian(
        self, y_star: RationalVector, lam: RationalVector, rho: RationalVector
    ) -> Lagrangian[RationalVector]:
        """The penalty Lagrangian on these stages."""
        plain = self.family.lagrangian_over(FUNCTIONS, ALPHA, Scenario())
        return replace(plain, y_star=y_star, lam=lam, R=_diagonal(rho))

    def stages(self, text: StageText, signs: Signs) -> ErringStages:
        """All of Algorithm 1 under a text, its lines 3 and 5 erring with these signs."""
        y_star, lam, rho, L, y_min = self._before_line_5_errs(text, signs)
        if signs.y == 0:
            y = y_min
        elif text.inner_stop == "distance":
            y = y_min + _powers([signs.y * v for v in self.amplified], 3)
        else:
            y = L.minimiser(_powers([signs.y * v for v in self.amplified_gradient], 1))
        uncancelled: list[DualTerm] = [one for one in self.dual_terms if one != "cancelled"]
        dual = {one: L.terms(y, dual_term=one)["dual"].reduced() for one in uncancelled}
        parts = L.terms(y)
        return ErringStages(y_star, lam, rho, y_min, y, parts["f"], parts["g_difference"], parts["penalty"], dual)

    def _before_line_5_errs(self, text: StageText, signs: Signs) -> Begun:
        """Lines 3 and 4, and the minimiser, once for all ways to stop line 5 and signs of what it leaves."""
        key = text._replace(inner_stop="gradient"), signs._replace(y=0)
        if key not in self._begun:
            lower = self.family.lower
            y_star = FUNCTIONS.vector(lower.y_star) + _powers([signs.y_star * v for v in self.inside], 3)
            lam = FUNCTIONS.vector(lower.lam) + _powers([signs.lam * v for v in self.on_binding_rows], 3)
            rho = self.weights(y_star, lam, text)
            L = self.lagrangian(y_star, lam, rho)
            self._begun[key] = y_star, lam, rho, L, L.minimiser()
        return self._begun[key]

    @cached_property
    def _begun(self) -> dict[tuple[StageText, Signs], Begun]:
        return {}

    def bias(self, stages: ErringStages, dual_term: DualTerm) -> RationalVector:
        """The estimate less the gradient of F, or less the first of the pieces' gradients."""
        return stages.estimate(dual_term) - FUNCTIONS.vector(self.family.hypergradient)

    def off(self, bias: RationalVector, alpha: Fraction) -> Fraction:
        """Squared distance from the gradient of F, at a kink from the subdifferential."""
        value = bias(alpha)
        if not self.pieces:
            return sum((v * v for v in value), Fraction(0))
        (low,), (high,) = self.pieces[0], self.pieces[-1]
        return max(Fraction(0), -value[0], value[0] - (high - low)) ** 2


def clipped(value: RationalVector) -> RationalVector:
    """The function cut to [0, 1], which must leave it one function on all of the page's alphas.

    Raises:
        ArithmeticError: If it crosses 0 or 1 there.
    """
    (top,), bottom = value.numerators, value.denominator
    below, above = _sign(top, bottom), _sign(top - bottom, bottom)
    if above >= 0:
        return FUNCTIONS.vector([1])
    return FUNCTIONS.vector([0]) if below <= 0 else value


def _sign(top: fmpq_poly, bottom: fmpq_poly) -> int:
    """The sign of a quotient on all of the page's alphas: none of its parts may change it there."""
    if top.is_zero():
        return 0
    signs = []
    for part in (top, bottom):
        ends = {_signum(roots.value(part, at)) for at in (LEAST, MOST)} - {0}
        if len(ends) != 1 or roots.count(part, LEAST, MOST):
            raise ArithmeticError(f"an activation ramp is crossed for alpha in ({LEAST}, {MOST})")
        signs.append(ends.pop())
    return signs[0] * signs[1]


def _signum(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _short(vector: FloatArray) -> Vector:
    """A short rational vector of norm at most 1 in nearly this direction."""
    unit = vector / np.linalg.norm(vector)
    if abs(unit[np.argmax(abs(unit))]) > 1 - 1e-9:
        return tuple(Fraction(round(float(v))) for v in unit)
    return tuple(Fraction(int(v * _DIGITS), _DIGITS) for v in unit)


def _at(matrix: RationalVector) -> FloatArray:
    """A matrix of functions at the alpha where directions are picked."""
    values: FloatArray = np.array([float(v) for v in matrix(TRIED)]).reshape(-1, matrix.width)
    return values


def _powers(values: Sequence[Fraction | int], exponent: int) -> RationalVector:
    return FUNCTIONS.vector(list(values)).times(1, exponent)


def _entry(vector: RationalVector, i: int) -> RationalVector:
    return RationalVector((vector.numerators[i],), vector.denominator).reduced()


def _stacked(entries: Sequence[RationalVector]) -> RationalVector:
    """Functions as one vector, over their common denominator."""
    bottom = fmpq_poly([1])
    for entry in entries:
        bottom = bottom * entry.denominator // bottom.gcd(entry.denominator)
    tops = tuple(entry.numerators[0] * (bottom // entry.denominator) for entry in entries)
    return RationalVector(tops, bottom).reduced()


def _diagonal(vector: RationalVector) -> RationalVector:
    size = len(vector.numerators)
    nothing = fmpq_poly([])
    entries = tuple(vector.numerators[i] if i == j else nothing for i in range(size) for j in range(size))
    return RationalVector(entries, vector.denominator, size)
