r"""Bias, shift and variance of a small instance as formulas in alpha, derived by sympy over the field Q(alpha).

Nothing is typed in: the stages come from the formulas of :mod:`verify.truth.formulas`, read over sympy's field, and the
variance from how each draw enters a sample. What is printed is what is evaluated: the factors of one rational function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from spec import ExactArray
from verify.truth.algebra.products import Product, field, scalar
from verify.truth.algebra.rationals import Blocks, Number, Vector
from verify.truth.algebra.rings import Flint
from verify.truth.formulas import Lagrangian
from verify.truth.noise import scale_of
from verify.truth.penalty_functions import Family
from verify.truth.proof_steps import exact_counterpart
from verify.truth.scenario import Error, Quantity, Scenario
from verify.truth.second_moments import Pairing

LARGEST = 11
"""Largest n + m + p derived: up to there an instance takes a tenth of a second, and prints in a line or two."""
LONGEST = 160
"""Longest formula printed in full, in characters; beyond, its first terms are."""


@dataclass(frozen=True)
class Printed:
    """A formula in one line of text, powers as superscripts, and as LaTeX; whole, or its first terms only."""

    text: str
    latex: str
    whole: bool


class ClosedForm:
    """Rational functions of alpha, one an entry, and the formula of their Euclidean norm.

    Args:
        entries: Elements of Q(alpha).
        norm: Whether their norm is what is asked; else there is one entry, which is.
    """

    def __init__(self, entries: Sequence[Any], *, norm: bool = True) -> None:
        self.entries = tuple(Product(entry) for entry in entries)
        self.norm = norm

    def __call__(self, alpha: Fraction) -> Vector:
        """Exact values of the entries."""
        return tuple(entry(alpha) for entry in self.entries)

    @cached_property
    def square(self) -> Product:
        """The squared norm, factored for itself."""
        return Product(sum((entry.element**2 for entry in self.entries), start=field().zero))

    def leading(self) -> tuple[int | None, Vector]:
        """Exponent and coefficients of the first term at alpha = 0; no exponent where all is zero."""
        starts = [next(iter(entry.series(1).items()), (None, Fraction(0))) for entry in self.entries]
        low = min((power for power, _ in starts if power is not None), default=None)
        return low, tuple(value if power == low else Fraction(0) for power, value in starts)

    @cached_property
    def printed(self) -> Printed:
        """The norm after its vector where there is room, the norm alone, or its first two terms or one."""
        asked = self.square if self.norm else self.entries[0]
        shown = asked.printed(root=self.norm)
        whole = [(shown.plain, shown.latex)]
        vector = [entry.printed() for entry in self.entries]
        if self.norm and vector != [shown]:
            inside = ", ".join(entry.plain for entry in vector), ", ".join(entry.latex for entry in vector)
            plain, latex = ("|{}| = {}", "|{}| = {}")
            if len(vector) > 1:
                plain, latex = "‖({})‖ = {}", r"\|\left({}\right)\| = {}"
            whole.insert(0, (plain.format(inside[0], shown.plain), latex.format(inside[1], shown.latex)))
        for text, latex in whole:
            if len(text) <= LONGEST:
                return Printed(text, latex, whole=True)
        two, one = (asked.first_terms(count, root=self.norm) for count in (2, 1))
        begun = two if len(two.plain) <= LONGEST else one
        return Printed(begun.plain, begun.latex, whole=False)


def closed_form(family: Family, scenario: Scenario, quantity: Quantity) -> ClosedForm | None:
    """A quantity of the bias proof as a formula; none where the instance is too large.

    Source:
        Eq. (penaltylagrangian), Lemma "Hypergradient Bias Bound", Lemma "Solution Error". Differs from the paper:
        exact, no O(.).
    """
    fitted = exact_counterpart(family, scenario) if quantity == "T3" else family.fitted(scenario)
    return _closed_form(family, fitted, quantity) if _is_small(family) else None


@lru_cache(maxsize=256)
def _closed_form(family: Family, scenario: Scenario, quantity: Quantity) -> ClosedForm:
    spent, exact = _Stages(family, scenario), _Stages(family, exact_counterpart(family, scenario))
    # Differences of two neighbours: sampled, at the minimiser of the inexact pair, of the exact pair, the limit.
    differences = {
        "bias": lambda: spent.sampled - _vector(family.hypergradient),
        "T1": lambda: spent.sampled - spent.estimate,
        "T2": lambda: spent.estimate - exact.estimate,
        "T3": lambda: exact.estimate - _vector(family.hypergradient),
        "solution-shift": lambda: spent.minimiser - exact.minimiser,
        "penalty-shift": lambda: spent.minimiser - _vector(family.lower.y_star),
    }
    return ClosedForm(differences[quantity]().entries.to_list_flat())


def closed_variance(family: Family, pairing: Pairing) -> ClosedForm | None:
    """Trace of the covariance of one sample at exact stages; none for a jump or where the instance is too large.

    A sample is linear in its standard normal draws, alike in each of the n components: its variance is the sum of the
    squared factors in front of them.

    Source:
        Lemma "Variance Bound".
    """
    known = family.problem.noise.model in ("additive", "matrix")
    return _closed_variance(family, pairing) if known and _is_small(family) else None


@lru_cache(maxsize=256)
def _closed_variance(family: Family, pairing: Pairing) -> ClosedForm:
    noise, stages = family.problem.noise, _Stages(family, family.exact_stages)
    x, y, star = (at.entries.to_list_flat() for at in (stages.x, stages.minimiser, stages.y_star))
    # Factors of the draws in one component of a gradient: 1, or the entries that a row of a random matrix meets.
    at_y, at_star = ([field().one], [field().one]) if noise.model == "additive" else ([*x, *y], [*x, *star])
    difference = [a - b for a, b in zip(at_y, at_star, strict=True)] if pairing == "common" else [*at_y, *at_star]
    sigma_f, sigma_g = scalar(scale_of(noise, "f.x")), scalar(scale_of(noise, "g.x"))
    factors = [sigma_f * value for value in at_y] + [stages.alpha_1 * sigma_g * value for value in difference]
    total = sum((value**2 for value in factors), start=field().zero)
    return ClosedForm([family.problem.n * total], norm=False)


def _is_small(family: Family) -> bool:
    return family.problem.n + family.problem.m + family.problem.p <= LARGEST


class _Stages:
    """The stages of Algorithm 1 at a family's point as functions of alpha, errors spent."""

    def __init__(self, family: Family, scenario: Scenario) -> None:
        alpha, q, lower = field().gens[0], family.problem, family.lower
        self.scenario, self.alpha_1 = scenario, alpha**-2
        self.x = _vector(family.x)
        self.y_star = _vector(lower.y_star) + _spent(scenario.y_star_error, q.m)
        lam = _vector(lower.lam) + _spent(scenario.lam_error, q.p)
        blocks, R = Blocks.of(q, _RING.matrix), _RING.diagonal(scenario.rho or ())
        self.lagrangian = Lagrangian(_RING, blocks, self.x, self.alpha_1, alpha**-4, self.y_star, lam, R)

    @cached_property
    def minimiser(self) -> Flint:
        """Line 5."""
        return self.lagrangian.minimiser()

    @property
    def estimate(self) -> Flint:
        """Line 6 at the minimiser."""
        return self.lagrangian.estimate(self.minimiser, self.scenario.dual_term)

    @property
    def sampled(self) -> Flint:
        """Line 6 where the minimisation stops."""
        m = len(self.y_star.entries.to_list_flat())
        stopped = self.lagrangian.minimiser(_spent(self.scenario.gradient_error, m))
        return self.lagrangian.estimate(stopped + _spent(self.scenario.y_error, m), self.scenario.dual_term)


def _matrix(rows: Sequence[Sequence[Number]], width: int) -> Flint:
    from sympy.polys.matrices import DomainMatrix

    # DomainMatrix has the operators that the wrapper of flint's matrices asks for.
    return Flint(DomainMatrix([[scalar(value) for value in row] for row in rows], (len(rows), width), field()))


class _Ring:
    """Matrices over Q(alpha)."""

    def matrix(self, array: ExactArray) -> Flint:
        rows = array.to_fractions()
        return self.vector(rows[0]) if array.ndim == 1 else _matrix(rows, array.shape[1])

    def vector(self, values: Sequence[Number]) -> Flint:
        return _matrix([[value] for value in values], 1)

    def diagonal(self, values: Sequence[Number]) -> Flint:
        size = range(len(values))
        return _matrix([[values[i] if i == j else 0 for j in size] for i in size], len(values))

    def solve(self, matrix: Flint, right: Flint) -> Flint:
        return Flint(matrix.entries.lu_solve(right.entries))


_RING = _Ring()
_vector = _RING.vector


def _spent(errors: Sequence[Error], size: int) -> Flint:
    total = _vector([0] * size)
    for error in errors:
        total = total + field().gens[0] ** error.power * _vector(error.direction)
    return total
