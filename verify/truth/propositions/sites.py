"""Where formulas are asked: a problem at a point, at one alpha, as alpha tends to 0, or on a path towards a kink."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from spec import InvalidInputError, Noise, Quadratic
from spec.formulas import load_quantities
from spec.formulas.tree import ROW_SETS
from spec.reading import CHOICES
from verify.truth.algebra.rationals import Number, Vector
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError, ExactLowerLevel
from verify.truth.propositions.arithmetic import Arithmetic, NoSolutionError, NoValueError
from verify.truth.propositions.exact_values import ExactArithmetic
from verify.truth.propositions.germs import VARIABLE, Germ, GermArithmetic
from verify.truth.propositions.rounded_values import DoubleArithmetic
from verify.truth.propositions.valuation import Known, Place
from verify.truth.stages import row_norm_of

EXACT, GERMS, DOUBLES = ExactArithmetic(), GermArithmetic(), DoubleArithmetic()
REPAIRED_CHOICES = {choice.field: choice.repaired for choice in CHOICES}
"""Every choice as the repaired text makes it."""
LITERAL_CHOICES = {choice.field: choice.as_written for choice in CHOICES}
"""Every choice at its first literal value."""

SMALL = ("alpha", "epsilon")
"""What tends to 0 together: a call of the theorem takes alpha = epsilon."""
GROWING = tuple(name for name, quantity in load_quantities().items() if quantity.toward == "infinity")
"""What tends to infinity."""
WHOLE = {"M": 12, "K": 9, "budget": 60}
"""Whole numbers that a method is told, each drawn from 1 up to this one."""
HELD = Fraction(1, 10)
"""Where alpha and epsilon stay while another variable is taken to its limit."""
CLOSE = 1e-9
"""Relative difference below which two norms are compared exactly: doubles are off by far less."""
START = Fraction(1, 2**20)
"""Where a path to a kink is entered: the rows that are active there are those of every smaller step."""
NO_SOLUTION = "y* has no value here: {}"
_ERRORS = {"e_ys": "m", "e_lam": "p", "e_y": "m"}
_STEPS = 16
PLAIN = {
    "hessian_exponent": 1, "C_lambda": 1, "N_g": 1, "L_F": 1, "initial_gap": 1, "bias_constant": 1,
    "goldstein_radius": 1, "mixing": Fraction(1, 3),
    # No power of 2: where every other constant is 1, that of the batch would be a whole number.
    "sigma": Fraction(3, 8), "D": Fraction(1, 8), "eta": Fraction(1, 7), "oracle_bias": Fraction(1, 7),
    "oracle_variance": Fraction(1, 2), "inner_scale": Fraction(1, 3),
}  # fmt: skip
"""Constants that a problem does not determine, where a site gives no others."""
GIVEN_HERE = (
    "zero_x", "zero_y", "ones", "x", "y_star", "lam_star", "on_active", "feasible", "row_norm", "L_y", "Dy_star",
    "Dlam_star", "x_other", "y_star_other", "y_any", "y_other", "lam_any", "direction_x", "direction_y", "direction",
)  # fmt: skip
"""What a site gives besides its problem's blocks, numbers and errors."""
FREE = frozenset(
    {"x_other", "y_star_other", "y_any", "y_other", "lam_any", "direction", "direction_x", "direction_y", *WHOLE}
)
"""What stands for any point, multipliers or whole number: drawn from a site's seed."""


@dataclass(frozen=True)
class Site:
    """A problem at a point, its lower level solved, and what is free there.

    Args:
        problem: The problem.
        x: The point, exact.
        noise: Its noise; one that no formula speaks of counts as noise that is linear in the point.
        errors: Errors of the stages by name, each of length at most 1; none where not given.
        shares: How often they are multiplied by τ = α³.
        numbers: Constants by name that a problem does not determine.
        path: A direction d and a power q: the point is x + alpha**q d, its lower level that of all small alpha.
        seed: Where the free points ``y_any`` and so on, and the whole numbers, are drawn.
    """

    problem: Quadratic
    x: Vector
    noise: Noise | None = None
    errors: Mapping[str, Sequence[Number]] | None = None
    shares: int = 0
    numbers: Mapping[str, Fraction] | None = None
    path: tuple[Sequence[Number], int] | None = None
    seed: int = 0

    def in_the_limit(self, choices: Mapping[str, str] = REPAIRED_CHOICES, variable: str = "alpha") -> Place:
        """As a variable tends to its limit: alpha and epsilon to 0 together, N_g to infinity, all others to 0 alone."""
        return self._place(GERMS, None, choices, variable)

    def at(self, alpha: Fraction, choices: Mapping[str, str] = REPAIRED_CHOICES, *, doubles: bool = False) -> Place:
        """At one alpha > 0, exactly or in doubles.

        Raises:
            InvalidInputError: If alpha is not above 0.
        """
        if alpha <= 0:
            raise InvalidInputError("alpha", "must be > 0", str(alpha))
        return self._place(DOUBLES if doubles else EXACT, Fraction(alpha), choices, "alpha")

    def _place(
        self, arithmetic: Arithmetic, alpha: Fraction | None, choices: Mapping[str, str], variable: str
    ) -> Place:
        at = self.x
        if self.path is not None:
            direction, power = self.path
            step = START if alpha is None else alpha**power
            at = tuple(v + step * Fraction(d) for v, d in zip(self.x, direction, strict=True))
        given, known = _shared(_Alike(self, arithmetic), alpha, at, variable)
        if self.errors:
            # What hangs on no error is as it is without.
            right = replace(self, errors=None, shares=0)._place(arithmetic, alpha, choices, variable)
            return right.with_given(known, **{name: given[name] for name in self.errors})
        return Place(arithmetic, given, _RowSets(given), {**REPAIRED_CHOICES, **choices}, known)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What tells two sites apart, as nothing but what can be hashed."""
        errors = tuple((name, tuple(error)) for name, error in sorted((self.errors or {}).items()))
        numbers = tuple(sorted((self.numbers or {}).items()))
        path = self.path and (tuple(self.path[0]), self.path[1])
        return self.problem, tuple(self.x), self.noise, errors, self.shares, numbers, path, self.seed

    def lacks(self, names: Collection[str]) -> str:
        """Why one of these quantities has no value at the point, y* or ∇F; empty where both have one, or none is named.

        Of ∇F the pieces of F that meet there decide: it may have one where y* has no derivative.
        """
        if "y_star" not in names:
            return ""
        try:
            lower_level.solve(self.problem, self.x)
            if "grad_F" in names:
                lower_level.hypergradient(self.problem, self.x)
        except InfeasibleLowerLevelError as error:
            return NO_SOLUTION.format(error.rule)
        except DegenerateLowerLevelError as error:
            return error.reason
        return ""


@dataclass(frozen=True)
class Stated:
    """A problem that is not quadratic: of it formulas know what is stated in numbers, by name, and nothing else."""

    numbers: tuple[tuple[str, Fraction], ...]

    def in_the_limit(self, choices: Mapping[str, str] = REPAIRED_CHOICES) -> Place:
        """As alpha tends to 0."""
        return self._place(GERMS, choices)

    def at(self, alpha: Fraction, choices: Mapping[str, str] = REPAIRED_CHOICES) -> Place:  # noqa: ARG002  # a site's
        """At one alpha, on which nothing that is stated depends."""
        return self._place(EXACT, choices)

    def _place(self, arithmetic: Arithmetic, choices: Mapping[str, str]) -> Place:
        given = {name: arithmetic.number(value) for name, value in self.numbers}
        return Place(arithmetic, given, {}, {**REPAIRED_CHOICES, **choices})


class _RowSets(Mapping[str, Sequence[int]]):
    """The sets of rows, found when one is first asked for."""

    def __init__(self, given: _Given) -> None:
        self._given = given

    def __getitem__(self, name: str) -> Sequence[int]:
        if name not in ROW_SETS:
            raise KeyError(name)
        rows: Sequence[int] = getattr(self._given.lower, name)
        return rows

    def __iter__(self) -> Iterator[str]:
        return iter(ROW_SETS)

    def __len__(self) -> int:
        return len(ROW_SETS)


class _Given(Mapping[str, Any]):
    """What a site gives, each value made when it is first asked for."""

    def __init__(self, site: Site, arithmetic: Arithmetic, alpha: Fraction | None, at: Vector, variable: str) -> None:
        self._site, self._over, self._alpha, self._at = site, arithmetic, alpha, at
        self._variable = variable
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._made(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._site.problem.blocks, **self._numbers, **dict.fromkeys((*SMALL, *_ERRORS, *GIVEN_HERE))})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _made(self, name: str) -> Any:
        problem, a = self._site.problem, self._over
        match name:
            case "zero_x" | "zero_y":
                return a.vector([0] * (problem.n if name == "zero_x" else problem.m))
            case "ones":
                return a.vector([1] * problem.p)
            case "x":
                return self._moving(self._at, lambda d: d)
            case "y_star":
                return self._moving(self.lower.y_star, lambda d: _times(self._slopes[0], d))
            case "lam_star":
                return self._moving(self.lower.lam, lambda d: _times(self._slopes[1], d))
            case "on_active":
                return a.vector([int(i in self.lower.active) for i in range(problem.p)])
            case "feasible":
                return a.number(Fraction(int(self._is_feasible)))
            case "row_norm":
                return a.number(row_norm_of(problem))
            case "L_y":
                return self._steepest
            case "Dy_star" | "Dlam_star":
                return a.matrix(self._slopes[name == "Dlam_star"], problem.n)
            case "x_other" | "y_star_other":
                other = self._free("x_other", self._at)
                return a.vector(other if name == "x_other" else self._solved(other).y_star)
            case "y_any" | "y_other":
                return a.vector(self._free(name, self.lower.y_star))
            case "lam_any":
                return a.vector([abs(v) for v in self._free(name, self.lower.lam)])
            case "direction_x" | "direction_y" | "direction":
                size = {"direction_x": problem.n, "direction_y": problem.m}.get(name, problem.n + problem.m)
                return a.vector(self._free(name, [0] * size))
        if name in _ERRORS:
            return self._error((self._site.errors or {}).get(name, [0] * getattr(problem, _ERRORS[name])))
        if name in SMALL:
            return self._small()
        if name == self._variable:
            return Germ.of(VARIABLE ** (-1 if name in GROWING else 1))
        if name in self._numbers:
            return a.number(Fraction(self._numbers[name]))
        return self._array(problem.blocks[name])

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        """What a problem does not determine, and its sizes and noise, as plain numbers by name."""
        site, noise = self._site, self._site.noise or self._site.problem.noise
        linear = noise.model not in ("additive", "jump")
        return {
            **{size: getattr(site.problem, size) for size in "nmp"}, **PLAIN,
            **{name: random.Random(f"{name} {site.seed}").randint(1, most) for name, most in WHOLE.items()},
            "noise_fixed": int(not linear), "noise_linear": int(linear), "sigma_f": noise.sigma_f or 1,
            "sigma_g": noise.sigma_g or 1, **(site.numbers or {}),
        }  # fmt: skip

    def _error(self, direction: Sequence[Number]) -> Any:
        error, shares = self._over.vector(direction), self._site.shares
        return self._over.scale(self._over.power(self["alpha"], Fraction(3 * shares)), error) if shares else error

    def _array(self, array: Any) -> Any:
        rows = array.to_fractions()
        return self._over.vector(rows[0]) if array.ndim == 1 else self._over.matrix(rows, array.shape[1])

    def _small(self) -> Any:
        if self._alpha is not None:
            return self._over.number(self._alpha)
        # Where another variable is taken to its limit, these stay where they are.
        return Germ.of(VARIABLE) if self._variable in SMALL else self._over.number(HELD)

    @cached_property
    def lower(self) -> ExactLowerLevel:
        """The lower level at the point.

        Raises:
            InfeasibleLowerLevelError: If no y satisfies the rows there.
        """
        return lower_level.solve(self._site.problem, self._at)

    @property
    def _is_feasible(self) -> bool:
        try:
            return bool(self.lower.y_star)
        except InfeasibleLowerLevelError:
            return False

    @property
    def _steepest(self) -> Any:
        a, slopes = self._over, lower_level.row_set_slopes(self._site.problem)
        sizes = [float(np.linalg.norm(np.array(J, dtype=np.float64), 2)) for J in slopes]
        # Doubles tell which are surely not the largest.
        near = [J for J, size in zip(slopes, sizes, strict=True) if size >= (1 - CLOSE) * max(sizes)]
        norms = [a.function("norm", [a.matrix(J, self._site.problem.n)], [("m", "n")]) for J in near]
        return norms[0] if len(norms) == 1 else a.function("max", norms, [()] * len(norms))

    @property
    def _slopes(self) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        try:
            return lower_level.solution_maps(self._site.problem, self._at)
        except DegenerateLowerLevelError:
            raise NoValueError("y* has no derivative here") from None

    def _solved(self, x: Vector) -> ExactLowerLevel:
        try:
            return lower_level.solve(self._site.problem, x)
        except InvalidInputError as error:
            raise NoSolutionError(f"no lower-level solution at x′: {error}") from None

    def _moving(self, value: Vector, slope: Callable[[Sequence[Number]], Sequence[Number]]) -> Any:
        """A vector at the point; on a path as a function of alpha: linear, since the active rows stay."""
        if self._site.path is None or self._alpha is not None:
            return self._over.vector(value)
        direction, power = self._site.path
        along = [Fraction(v) for v in slope(direction)]
        start = [v - START * s for v, s in zip(value, along, strict=True)]
        step = self._over.power(Germ.of(VARIABLE), Fraction(power))
        return self._over.add(self._over.vector(start), self._over.scale(step, self._over.vector(along)))

    def _free(self, name: str, centre: Sequence[Number]) -> Vector:
        draws = random.Random(f"{name} {self._site.seed}")
        return tuple(Fraction(v) + Fraction(draws.randint(-3 * _STEPS, 3 * _STEPS), _STEPS) for v in centre)


class _Alike:
    """A site in an arithmetic, alike to every one of the same key."""

    def __init__(self, site: Site, arithmetic: Arithmetic) -> None:
        self.site, self.arithmetic = site, arithmetic

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Alike) and self.arithmetic is other.arithmetic and self.site.key == other.site.key

    def __hash__(self) -> int:
        return hash(self.site.key)


@lru_cache(maxsize=256)
def _shared(alike: _Alike, alpha: Fraction | None, at: Vector, variable: str) -> tuple[_Given, Known]:
    """What is given at a site, and what is known there of defined quantities: shared by all formulas and readings."""
    return _Given(alike.site, alike.arithmetic, alpha, at, variable), Known()


def _times(rows: Sequence[Vector], direction: Sequence[Number]) -> list[Fraction]:
    return [sum((v * Fraction(d) for v, d in zip(row, direction, strict=True)), Fraction(0)) for row in rows]
