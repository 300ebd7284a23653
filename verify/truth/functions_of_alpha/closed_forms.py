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

from verify.truth.algebra.products import Product, field, scalar
from verify.truth.algebra.rationals import Vector
from verify.truth.algebra.rings import SYMBOLS
from verify.truth.functions_of_alpha.noise import Pairing, scale_of
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, exact_counterpart
from verify.truth.functions_of_alpha.scenario import Quantity, Scenario

LARGEST = 11
"""Largest n + m + p derived: up to there an instance takes a tenth of a second, and prints in a line or two."""
LONGEST = 160
"""Longest formula printed in full, in characters; beyond, its first terms are."""


CLOSED: tuple[Quantity, ...] = ("T3", "penalty-shift", "solution-shift")
"""Bias and shifts; the proof's other quantities are about whatever error is spent, not about the method."""


@dataclass(frozen=True)
class Printed:
    """A formula in one line of text, powers as superscripts, and as LaTeX; whole, or its first terms only."""

    text: str
    latex: str
    whole: bool


class DerivedForm:
    """Rational functions of alpha and the formula of their Euclidean norm, or of the one entry if no norm is asked."""

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
        quantity = self.square if self.norm else self.entries[0]
        shown = quantity.printed(root=self.norm)
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
        two, one = (quantity.first_terms(count, root=self.norm) for count in (2, 1))
        begun = two if len(two.plain) <= LONGEST else one
        return Printed(begun.plain, begun.latex, whole=False)


def closed_form(family: PenaltyFamily, scenario: Scenario, quantity: Quantity) -> DerivedForm | None:
    """A bias or shift as a formula, the errors of its pair spent; none of other quantities and of large instances.

    Source:
        Eq. (penaltylagrangian), Lemma "Hypergradient Bias Bound", Lemma "Solution Error". Differs from the paper:
        exact, no O(.).
    """
    if quantity not in CLOSED or not _is_small(family):
        return None
    fitted = exact_counterpart(family, scenario) if quantity == "T3" else family.fitted(scenario)
    return _closed_form(family, fitted, quantity)


@lru_cache(maxsize=256)
def _closed_form(family: PenaltyFamily, scenario: Scenario, quantity: Quantity) -> DerivedForm:
    alpha, counterpart = field().gens[0], exact_counterpart(family, scenario)
    inexact, exact = (family.lagrangian_over(SYMBOLS, alpha, each) for each in (scenario, counterpart))
    if quantity == "T3":
        error = exact.estimate(exact.minimiser(), scenario.dual_term) - SYMBOLS.vector(family.hypergradient)
    else:
        error = inexact.minimiser() - (exact.minimiser() if quantity == "solution-shift" else exact.y_star)
    return DerivedForm(error.entries.to_list_flat())


def closed_row_change(family: PenaltyFamily, scenario: Scenario, rows: Sequence[int]) -> DerivedForm | None:
    """What the penalty's shift of the minimiser changes in some rows' values, as formulas; none of large instances.

    Source:
        Appendix, proof of "Lagrangian Gradient Approximation".
    """
    shift = closed_form(family, scenario, "penalty-shift")
    if shift is None:
        return None
    B = family.problem.constraints.B.to_fractions()
    pairs = ([(scalar(-b), y.element) for b, y in zip(B[i], shift.entries, strict=True)] for i in rows)
    return DerivedForm([sum((b * y for b, y in row), start=field().zero) for row in pairs])


def closed_variance(family: PenaltyFamily, pairing: Pairing) -> DerivedForm | None:
    """Trace of the covariance of one sample at exact stages; none for a jump or where the instance is too large.

    A sample is linear in its standard normal draws, alike in each of the n components: its variance is the sum of the
    squared factors in front of them.

    Source:
        Lemma "Variance Bound".
    """
    known = family.problem.noise.model in ("additive", "matrix")
    return _closed_variance(family, pairing) if known and _is_small(family) else None


@lru_cache(maxsize=256)
def _closed_variance(family: PenaltyFamily, pairing: Pairing) -> DerivedForm:
    noise, exact = family.problem.noise, family.lagrangian_over(SYMBOLS, field().gens[0], family.exact_stages)
    x, y, star = (at.entries.to_list_flat() for at in (exact.x, exact.minimiser(), exact.y_star))
    # Factors of the draws in one component of a gradient: 1, or the entries that a row of a random matrix meets.
    at_y, at_star = ([field().one], [field().one]) if noise.model == "additive" else ([*x, *y], [*x, *star])
    difference = [a - b for a, b in zip(at_y, at_star, strict=True)] if pairing == "common" else [*at_y, *at_star]
    sigma_f, sigma_g = scalar(scale_of(noise, "f.x")), scalar(scale_of(noise, "g.x"))
    factors = [sigma_f * value for value in at_y] + [exact.alpha_1 * sigma_g * value for value in difference]
    total = sum((value**2 for value in factors), start=field().zero)
    return DerivedForm([family.problem.n * total], norm=False)


def _is_small(family: PenaltyFamily) -> bool:
    return family.problem.n + family.problem.m + family.problem.p <= LARGEST
