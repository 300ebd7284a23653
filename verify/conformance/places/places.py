"""Where implementations are compared: quadratic problems at points, each with a permanent name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from spec import Generated, InvalidInputError, Noise, Problem, Quadratic, parse_problem
from spec.atlas import atlas
from spec.exact import FloatArray
from verify.truth.algebra.rationals import Vector
from verify.truth.formulas import as_float
from verify.truth.lower_level.lower_level import ExactLowerLevel
from verify.truth.stages import ExactSetting

CORNERS = Path(__file__).parent / "corners.json"
"""Problems that the atlas does without."""
EVERY_TERM = Path(__file__).parent / "every_term.json"
"""Problems at points where no term of Algorithm 1 is zero."""
_DECLARED = ("rows-nearly-dependent", "ill-conditioned", "kink-nearby")
"""Strata of the atlas that no exact sign decides: taken over at the atlas's own point."""


def rounded(values: Any) -> Vector:
    """The nearest doubles, as the fractions they are."""
    return tuple(Fraction(float(value)) for value in values)


@dataclass(frozen=True, eq=False)
class JudgedPlace:
    """A quadratic problem without noise at an exact point; its name is permanent, its purpose a clause.

    ``declared`` are strata that are stated rather than derived.
    """

    name: str
    problem: Quadratic
    x: Vector
    purpose: str = ""
    declared: tuple[str, ...] = ()

    def setting(self, *, noise: Noise | None = None, **choices: Any) -> ExactSetting:
        """What a stage is given here."""
        problem = self.problem if noise is None else with_noise(self.problem, noise)
        return ExactSetting(problem=problem, x=self.x, **choices)

    @property
    def strata(self) -> tuple[str, ...]:
        """What kind of problem and point this is."""
        return tuple(sorted({*self.declared, *derived_strata(self.setting())}))

    def at(self, name: str, x: Vector) -> JudgedPlace:
        """The same problem at another point."""
        return JudgedPlace(name, self.problem, x, f"{self.purpose}; at another point")

    def moved(self, shift: float) -> JudgedPlace:
        """The same problem at a point nearby."""
        return self.at(f"{self.name}+{shift:g}", tuple(value + Fraction(shift) for value in self.x))

    @cached_property
    def lower(self) -> ExactLowerLevel:
        """The lower level, solved."""
        return self.setting().lower

    @property
    def has_one_pair(self) -> bool:
        """Whether the lower-level pair exists and is unique."""
        try:
            return self.lower.licq
        except InvalidInputError:
            return False

    @property
    def point(self) -> FloatArray:
        """The upper variable in doubles."""
        return as_float(self.x)

    @property
    def y_star(self) -> FloatArray:
        """The lower-level solution in doubles."""
        return as_float(self.lower.y_star)

    @property
    def lam(self) -> FloatArray:
        """Its multipliers in doubles."""
        return as_float(self.lower.lam)


def with_noise(problem: Quadratic, noise: Noise) -> Quadratic:
    """The same problem under another noise model."""
    return as_quadratic(parse_problem(problem.to_dict() | {"noise": noise}))


def as_quadratic(problem: Problem) -> Quadratic:
    """A family member entry by entry, so that nobody has to draw it again."""
    problem = problem.quadratic if isinstance(problem, Generated) else problem
    assert isinstance(problem, Quadratic)  # by its kind
    return problem


def derived_strata(setting: ExactSetting) -> Iterator[str]:
    """The strata that exact signs decide."""
    problem, lower = setting.problem, setting.lower
    yield "A-zero" if problem.constraints.A.is_zero else "A-nonzero"
    if lower.weakly_active and lower.licq:
        yield "weakly-active"
    else:
        yield {0: "no-active-row", 1: "one-active-row"}.get(len(lower.active), "several-active-rows")
    if lower.inactive:
        yield "inactive-row"
    if not lower.licq:
        yield "licq-fails"
    elif lower.strict_complementarity:
        yield "strictly-complementary"
    yield "box" if _is_box(problem) else "general-rows"
    coefficients = setting.rows.f_yy.charpoly().coeffs()
    if any(c * (-1) ** (len(coefficients) - 1 - k) < 0 for k, c in enumerate(coefficients)):
        yield "indefinite-f-yy"


def _is_box(problem: Quadratic) -> bool:
    rows = problem.constraints.B.to_fractions()
    m = problem.m
    units = [[Fraction(sign * (i == j)) for j in range(m)] for sign in (1, -1) for i in range(m)]
    return problem.constraints.A.is_zero and rows == units


@lru_cache(maxsize=1)
def atlas_places() -> tuple[JudgedPlace, ...]:
    """Every feasible quadratic instance of the atlas at its own point."""
    places = []
    for instance in atlas().values():
        problem = getattr(instance.problem, "quadratic", instance.problem)
        if isinstance(problem, Quadratic) and "infeasible" not in instance.strata:
            declared = tuple(sorted(set(instance.strata) & set(_DECLARED)))
            plain = with_noise(problem, Noise())
            places.append(JudgedPlace(instance.name, plain, tuple(instance.x), instance.purpose.rstrip("."), declared))
    return tuple(places)


@lru_cache(maxsize=1)
def further_places() -> tuple[JudgedPlace, ...]:
    """Sizes m = 1 to 10, and corners the atlas does without."""
    return (*_sizes(), *_listed(CORNERS))


@lru_cache(maxsize=1)
def every_term_places() -> tuple[JudgedPlace, ...]:
    """Where every term of every line is there: two sizes, none of them square in the other."""
    return tuple(_listed(EVERY_TERM))


def _sizes() -> Iterator[JudgedPlace]:
    for m in range(1, 11):
        n, p = 1 + m // 3, m + m % 3
        drawn = parse_problem({"kind": "generated", "family": "random-rows", "n": n, "m": m, "p": p, "seed": 100 + m})
        purpose = f"small random integers, n = {n}, m = {m}, p = {p}, half of the rows active"
        yield JudgedPlace(f"rows-m{m}", as_quadratic(drawn), (Fraction(0),) * n, purpose)
    for d in (1, 2, 3, 4):
        drawn = parse_problem({"kind": "generated", "family": "paper-experiment", "n": d, "seed": 200 + d})
        x = tuple(Fraction((-1) ** k * (k + 1), 2) for k in range(d))
        yield JudgedPlace(f"box-d{d}", as_quadratic(drawn), x, f"the paper's experiment family, d = {d}")


def _listed(file: Path) -> Iterator[JudgedPlace]:
    for name, corner in json.loads(file.read_text(encoding="utf-8")).items():
        x, purpose = tuple(Fraction(value) for value in corner.pop("x")), corner.pop("purpose")
        yield JudgedPlace(name, as_quadratic(parse_problem({"kind": "quadratic", **corner}, name)), x, purpose)


def place_of(name: str) -> JudgedPlace:
    """A place by name."""
    known = (*atlas_places(), *further_places(), *every_term_places())
    return next(place for place in known if place.name == name)
