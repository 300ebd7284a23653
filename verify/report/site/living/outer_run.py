"""Algorithm 2 on a line: its noise-free answers as functions of x and alpha, and their noise, for the script to run.

As long as the same row binds and its weight stays in one piece of its ramps, the lower level's solution, lines 5 and 6
and the gradient of F are affine in x: two functions of alpha. Noise is additive, so that its variance is σ² everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from spec import InvalidInputError, Quadratic, parse_problem
from spec.reading import DualTerm
from verify.report.site.living.erring_stages import ErringPlace, ErringStages, Signs, StageText
from verify.report.site.living.living_texts import RunText, living_texts
from verify.report.site.living.states_of_alpha import NO_ERRORS, PAIRINGS, SIGMA, State, states_at
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.functions_of_alpha.noise import Pairing, variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.geometry import quadratic_of

Coefficients = tuple[RationalVector, RationalVector]
"""Of an affine function of x: what is fixed, and the slope; each a function of alpha."""


@dataclass(frozen=True)
class LivingRun:
    """What a run of Algorithm 2 is made of on its problem, for every x of its picture."""

    text: RunText

    @property
    def gradient(self) -> tuple[Fraction, Fraction]:
        """Coefficients of the gradient of F."""
        at_0, at_1 = (self.place(x).family.hypergradient[0] for x in (0, 1))
        return at_0, at_1 - at_0

    @cached_property
    def states(self) -> Mapping[tuple[DualTerm, StageText | None], State]:
        """Every combination of the switches where the run starts; its signs stay for all of the run."""
        return states_at(self.place(self.text.start))

    def answer(self, dual_term: DualTerm, text: StageText | None) -> Coefficients:
        """Line 6 in expectation, lines 3 and 5 erring all the way as it hurts most at the start.

        Raises:
            ArithmeticError: If it is not affine: its values at the picture's ends do not follow from those at 0 and 1.
        """
        signs = self.states[dual_term, text].signs

        def at(x: int) -> RationalVector:
            return self._stages(x, text or NO_ERRORS, signs).estimate(dual_term)

        fixed, slope = at(0).reduced(), (at(1) - at(0)).reduced()
        for x in self.text.view:
            if not all(top.is_zero() for top in (at(x) - fixed - slope.times(x)).numerators):
                raise ArithmeticError(f"the answer at x = {x} does not follow from those at 0 and 1")
        return fixed, slope

    def _stages(self, x: int, text: StageText, signs: Signs) -> ErringStages:
        """All of Algorithm 1 at a point, once for all dual terms."""
        key = x, text, signs
        if key not in self._known:
            self._known[key] = self.place(x).stages(text, signs)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[int, StageText, Signs], ErringStages]:
        return {}

    def variances(self) -> dict[Pairing, RationalVector]:
        """The variance of one sample at every x, one entry each."""
        noise = {"model": "additive", "sigma_f": SIGMA, "sigma_g": SIGMA}
        noisy = quadratic_of(parse_problem(self.text.problem | {"noise": noise}))
        family = PenaltyFamily.at(noisy, (Fraction(self.text.start),))
        return {pairing: variance_function(family, pairing).reduced() for pairing in PAIRINGS}

    def place(self, x: Fraction | int) -> ErringPlace:
        """The problem at a point; refused where its row does not bind."""
        if x not in self._places:
            family = PenaltyFamily.at(self._problem, (Fraction(x),))
            if family.lower.strictly_active != (0,):
                raise InvalidInputError("x", "must be where the row binds", str(x))
            self._places[x] = ErringPlace("run", family, ())
        return self._places[x]

    @cached_property
    def _places(self) -> dict[Fraction | int, ErringPlace]:
        return {}

    @cached_property
    def _problem(self) -> Quadratic:
        return quadratic_of(parse_problem(self.text.problem))


@lru_cache(maxsize=1)
def outer_run() -> LivingRun:
    """The page's."""
    return LivingRun(living_texts().run)
