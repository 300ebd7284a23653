"""What the page evaluates: under every combination of its switches, functions of alpha with their orders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from spec import Quadratic, parse_problem
from spec.reading import DualTerm
from verify.report.site.living.erring_stages import EXACT_SIGNS, TRIED, ErringPlace, ErringStages, Signs, StageText
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rings import FUNCTIONS
from verify.truth.functions_of_alpha.noise import Pairing, variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.geometry import quadratic_of

PLACES = ("toy1", "two-of-three", "toy2", "weakly-active")
"""Instances of the page: a row that moves with x, two of three rows, a row that does not move, a kink."""
TEXTS = tuple(
    StageText(*values) for values in
    itertools.product(("tau-delta", "delta"), ("distance", "gradient"), ("shrinking", "fixed"))
)  # fmt: skip
NO_ERRORS = StageText("delta", "gradient", "fixed")
"""A text for stages without errors, which none of its choices moves."""
SIGNS = tuple(Signs(*signs) for signs in itertools.product((1, -1), repeat=3))
SIGMA = "1/10"
"""Noise of the variances, of f and of g."""
PAIRINGS: tuple[Pairing, ...] = ("independent", "common")
WIDTHS = ("shrinking", "fixed")
_SMALL = Fraction(1, 10**9)


@dataclass(frozen=True)
class Lead:
    """The first term of a size as alpha tends to 0: its power, none where it is exactly 0 there, and its factor."""

    order: int | None
    factor: float


@dataclass(frozen=True)
class State:
    """One combination of the switches that the bias hangs on: its stages, the adversary's signs, the error's order."""

    stages: ErringStages
    signs: Signs
    lead: Lead


@dataclass(frozen=True)
class Measured:
    """A size that is one function of alpha, or the square of which is, with the size's order."""

    function: RationalVector
    lead: Lead


@dataclass(frozen=True)
class Living:
    """All that the page evaluates on one instance.

    ``noisy`` is its problem with the noise of the variances; ``states`` by dual term and text, ``None`` for stages
    without errors; ``variance`` by pairing, ``reach`` by the width of the multipliers' ramp.
    """

    place: ErringPlace
    states: Mapping[tuple[DualTerm, StageText | None], State]
    noisy: Quadratic
    variance: Mapping[Pairing, Measured]
    reach: Mapping[str, Measured]

    @property
    def noise_of_one(self) -> Fraction:
        """Variance of one ∇_xg at y*, in units of σ²: of two independent ones α₁² times the sum stays in line 6."""
        drawn_apart = self.variance["independent"].function
        lowest = drawn_apart.times(1, 4).reduced()(Fraction(0))[0]
        return lowest / (2 * Fraction(SIGMA) ** 2)


def living_places() -> tuple[Living, ...]:
    """Every instance of the page."""
    return tuple(living_place(name) for name in PLACES)


@lru_cache(maxsize=len(PLACES))
def living_place(name: str) -> Living:
    """One instance, derived once a process: some tenths of a second."""
    place = ErringPlace.at(name)
    noisy, variances = _variances(place)
    return Living(place, states_at(place), noisy, variances, {width: _reach(place, width) for width in WIDTHS})


def states_at(place: ErringPlace) -> dict[tuple[DualTerm, StageText | None], State]:
    """Every combination of the switches at a place, the adversary's signs those that hurt each most."""
    states: dict[tuple[DualTerm, StageText | None], State] = {}
    for text in (None, *TEXTS):
        tried = [
            (signs, place.stages(text or NO_ERRORS, signs)) for signs in ((EXACT_SIGNS,) if text is None else SIGNS)
        ]
        for dual_term in place.dual_terms:
            states[dual_term, text] = _worst(place, dual_term, tried)
    return states


def _worst(place: ErringPlace, dual_term: DualTerm, tried: Sequence[tuple[Signs, ErringStages]]) -> State:
    """The signs that hurt this dual term most at one alpha: those that hurt another can make it look milder."""
    signs, stages = max(tried, key=lambda one: place.off(place.bias(one[1], dual_term), TRIED))
    return State(stages, signs, _lead_of_bias(place, place.bias(stages, dual_term)))


def _lead_of_bias(place: ErringPlace, bias: RationalVector) -> Lead:
    if not place.pieces:
        return _lead(bias)
    if place.off(bias, _SMALL) == 0:
        return Lead(None, 0.0)
    (low,), (high,) = place.pieces[0], place.pieces[-1]
    return _lead(bias if bias(_SMALL)[0] < 0 else bias - FUNCTIONS.vector([high - low]))


def _lead(function: RationalVector) -> Lead:
    first = function.reduced().leading()
    return Lead(first.exponent, math.sqrt(first.norm_squared))


def _root(square: RationalVector) -> Lead:
    lead = _lead(square)
    if lead.order is None:
        return lead
    if lead.order % 2:
        raise ArithmeticError("the square of a size must have an even order")
    return Lead(lead.order // 2, math.sqrt(lead.factor))


def _variances(place: ErringPlace) -> tuple[Quadratic, dict[Pairing, Measured]]:
    """One sample's variance at exact stages; additive at x = y = 0, where noise on the matrices would be none."""
    at_zero = not any(place.family.x) and not any(place.family.lower.y_star)
    model = "additive" if at_zero else "matrix"
    plain = place.problem.to_dict() | {"noise": {"model": model, "sigma_f": SIGMA, "sigma_g": SIGMA}}
    noisy = quadratic_of(parse_problem(plain))
    family = PenaltyFamily.at(noisy, place.family.x, place.family.hypergradient)
    functions = {pairing: variance_function(family, pairing).reduced() for pairing in PAIRINGS}
    return noisy, {pairing: Measured(function, _lead(function)) for pairing, function in functions.items()}


def _reach(place: ErringPlace, width: str) -> Measured:
    """‖∇L of λ̃ − ∇L of λ*‖ in x and y, λ̃ off by δ on one row, at the y where that row's value is 1 above that at y*.

    The row that changes it most.

    Source: Lemma "Lagrangian Gradient Approximation".
    """
    lower, squares = place.family.lower, list[RationalVector]()
    for i, row in enumerate(place.problem.constraints.B.to_fractions()):
        square = sum((v * v for v in row), Fraction(0))
        if not square:
            continue
        y = FUNCTIONS.vector([a - v / square for a, v in zip(lower.y_star, row, strict=True)])
        change = []
        for moved in (0, 1):
            off = FUNCTIONS.vector([moved * int(k == i) for k in range(place.problem.p)]).times(1, 3)
            y_star, lam = FUNCTIONS.vector(lower.y_star), FUNCTIONS.vector(lower.lam) + off
            L = place.lagrangian(y_star, lam, place.weights(y_star, lam, StageText("delta", "gradient", width)))
            change.append((L.estimate(y), L.gradient_y(y)))
        (x_before, y_before), (x_after, y_after) = change
        squares.append(((x_after - x_before).norm_squared() + (y_after - y_before).norm_squared()).reduced())
    worst = max(squares, key=lambda square: square(TRIED)[0])
    return Measured(worst, _root(worst))
