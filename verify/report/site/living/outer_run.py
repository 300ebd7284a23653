"""Algorithm 2 on a line: its noise-free answers and their variance as functions of x and alpha, for the script to run.

As long as the same row binds and its weight stays in one piece of its ramps, the lower level's solution, lines 5 and 6
and the gradient of F are affine in x, and the variance of a sample is quadratic: a few functions of alpha each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from spec import InvalidInputError, Quadratic, parse_problem
from spec.reading import DualTerm
from verify.report.site.living.erring_stages import Place, Text
from verify.report.site.living.living_texts import RunText, living_texts
from verify.report.site.living.states_of_alpha import NO_ERRORS, PAIRINGS, SIGMA, State, states_at
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.geometry import quadratic_of
from verify.truth.noise import Pairing, variance_function
from verify.truth.penalty_functions import Family

Coefficients = tuple[RationalVector, ...]
"""Of a polynomial in x by rising power, each one function of alpha."""


@dataclass(frozen=True)
class OuterRun:
    """What a run of Algorithm 2 is made of on its problem, for every x of its picture."""

    text: RunText

    @property
    def gradient(self) -> tuple[Fraction, Fraction]:
        """Coefficients of the gradient of F."""
        at_0, at_1 = (self.place(x).family.hypergradient[0] for x in (0, 1))
        return at_0, at_1 - at_0

    @cached_property
    def states(self) -> Mapping[tuple[DualTerm, Text | None], State]:
        """Every combination of the switches where the run starts; its signs stay for all of the run."""
        return states_at(self.place(self.text.start))

    def answer(self, dual_term: DualTerm, text: Text | None) -> Coefficients:
        """Line 6 in expectation, lines 3 and 5 erring all the way as it hurts most at the start: affine."""
        signs = self.states[dual_term, text].signs
        return self._polynomial(lambda x: self.place(x).stages(text or NO_ERRORS, signs).estimate(dual_term))

    def variances(self) -> dict[Pairing, Coefficients]:
        """The variance of one sample, its stages exact: quadratic."""
        return {pairing: self._variance(pairing) for pairing in PAIRINGS}

    def _variance(self, pairing: Pairing) -> Coefficients:
        return self._polynomial(lambda x: variance_function(self._noisy(x), pairing))

    def _polynomial(self, at: Callable[[int], RationalVector]) -> Coefficients:
        """The quadratic through the values at 0, 1 and 2, which must go through those at the picture's ends.

        Raises:
            ArithmeticError: If it does not.
        """
        at_0, at_1, at_2 = map(at, (0, 1, 2))
        bend = (at_2 - at_1 - at_1 + at_0).times(Fraction(1, 2))
        made = tuple(one.reduced() for one in (at_0, at_1 - at_0 - bend, bend))
        for x in self.text.view:
            left = at(x) - made[0] - made[1].times(x) - made[2].times(x**2)
            if not all(top.is_zero() for top in left.numerators):
                raise ArithmeticError(f"the value at x = {x} does not follow from those at 0, 1 and 2")
        return made

    def place(self, x: Fraction | int) -> Place:
        """The problem at a point; refused where its row does not bind."""
        family = Family.at(self._problem, (Fraction(x),))
        if family.lower.strictly_active != (0,):
            raise InvalidInputError("x", "must be where the row binds", str(x))
        return Place("run", family, ())

    def _noisy(self, x: int) -> Family:
        noise = {"model": "matrix", "sigma_f": SIGMA, "sigma_g": SIGMA}
        return Family.at(quadratic_of(parse_problem(self.text.problem | {"noise": noise})), (Fraction(x),))

    @cached_property
    def _problem(self) -> Quadratic:
        return quadratic_of(parse_problem(self.text.problem))


@lru_cache(maxsize=1)
def outer_run() -> OuterRun:
    """The page's."""
    return OuterRun(living_texts().run)
