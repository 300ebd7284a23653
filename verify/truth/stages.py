r"""Algorithm 1 in exact numbers, stage by stage.

Everything is rational but two kinds of noise: matrix noise has norms in it, jump noise the normal distribution
function; both are enclosed in balls. Nothing here comes from the reference solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from flint import fmpq_poly

from spec import REPAIRED, Quadratic, Reading
from verify.truth.algebra import roots
from verify.truth.algebra.kept_answers import kept
from verify.truth.algebra.numbers import Real, add, dyadic, times
from verify.truth.algebra.rationals import RationalBlocks, Vector, blocks, column, fraction, fractions, rational
from verify.truth.algebra.rings import RATIONALS, Flint
from verify.truth.algebra.roots import root_above
from verify.truth.formulas import Lagrangian, exact_minimiser, solution_maps_over
from verify.truth.functions_of_alpha.noise import Averaging, mean_noise
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel

Activation = Literal["ramp", "hard"]
TERMS = ("f", "g_difference", "dual", "penalty")
"""The parts of the gradient in x, in the order of the formula."""
DEFAULT_LAM_WIDTH = dyadic(0.1)
_NORM_PRECISION = Fraction(1, 10**24)


@dataclass(frozen=True, eq=False)
class ExactSetting:
    """What a stage is given, exactly: values to use as they are, and standard normals by block, one row a sample."""

    problem: Quadratic
    x: Vector
    alpha: Fraction = Fraction(1, 10)
    reading: Reading = REPAIRED
    N_g: int = 1
    ramp_constant: Fraction = Fraction(1)
    lam_width: Fraction = DEFAULT_LAM_WIDTH
    given: Mapping[str, Vector] = field(default_factory=dict)
    draws: Mapping[str, Sequence[Vector]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> RationalBlocks:
        """The problem's blocks as rational matrices."""
        return blocks(self.problem)

    @cached_property
    def lower(self) -> ExactLowerLevel:
        """The lower level, solved."""
        return lower_level.solve(self.problem, self.x)

    @property
    def row_norm(self) -> Fraction:
        """Spectral norm of B, from above, to more digits than a double has."""
        return row_norm_of(self.problem)

    def h_width(self) -> float:
        """Width of the ramp below the boundary, as a double."""
        inner_tol = self.alpha**3
        if self.reading.ramp_width == "tau-delta":
            return float(self.ramp_constant * inner_tol**2)
        return float(2 * self.ramp_constant * max(Fraction(1), self.row_norm) * inner_tol)


@kept(1)
def row_norm_of(problem: Quadratic) -> Fraction:
    """Spectral norm of B, from above, to more digits than a double has."""
    B = blocks(problem).B
    gram = B * B.transpose()
    trace = sum((fraction(gram[i, i]) for i in range(gram.nrows())), Fraction(0))
    if trace == 0:
        return Fraction(0)
    polynomial: fmpq_poly = gram.charpoly()
    largest = roots.isolate(polynomial, Fraction(0), 2 * trace)[-1]
    return root_above(roots.refine_relative(polynomial, largest, _NORM_PRECISION)[1])


@dataclass(frozen=True)
class Values:
    """All stage values of one oracle call, ``h`` at the lower-level solution; ``lower`` where it was not given."""

    y_star: Vector
    lam: Vector
    h: Vector
    rho: Vector
    y_penalty: Vector
    terms: dict[str, tuple[Real, ...]]
    lower: ExactLowerLevel | None

    @property
    def hypergradient(self) -> tuple[Real, ...]:
        """The sum of the parts."""
        total = self.terms["f"]
        for name in TERMS[1:]:
            total = tuple(add(a, b) for a, b in zip(total, self.terms[name], strict=True))
        return total


def evaluate(setting: ExactSetting, averaging: Averaging = "mean") -> Values:
    """One oracle call, every stage that is not given computed exactly.

    Refused if the lower level is infeasible, or the penalty Lagrangian not convex.
    """
    given = setting.given
    lower = None if {"y_star", "lam"} <= given.keys() else setting.lower
    y_star = given["y_star"] if lower is None else given.get("y_star", lower.y_star)
    lam = given["lam"] if lower is None else given.get("lam", lower.lam)
    h = row_values(setting, y_star)
    rho = given["rho"] if "rho" in given else activation(setting, h, lam)
    y = given["y_penalty"] if "y_penalty" in given else minimiser(setting, y_star, lam, rho)
    return Values(y_star, lam, h, rho, y, estimate(setting, y, y_star, lam, rho, averaging), lower)


def row_values(setting: ExactSetting, y: Vector) -> Vector:
    """``A x - B y - b``."""
    r = setting.rows
    return fractions(r.A * column(setting.x) - r.B * column(y) - r.b)


def activation(setting: ExactSetting, h: Vector, lam: Vector) -> Vector:
    """Weights of the rows under the setting's reading."""
    return weights(h, lam, dyadic(setting.h_width()), setting.lam_width)


def weights(h: Vector, lam: Vector, h_width: Fraction, lam_width: Fraction, activation: Activation = "ramp") -> Vector:
    """Activation weights from row values and multipliers; ``hard`` ones are 1 as soon as the ramps give any."""
    if activation == "hard":
        return tuple(Fraction(int(a > -h_width and b > 0)) for a, b in zip(h, lam, strict=True))
    return tuple(_clip(1 + a / h_width) * _clip(b / lam_width) for a, b in zip(h, lam, strict=True))


def minimiser(setting: ExactSetting, y_star: Vector, lam: Vector, rho: Vector) -> Vector:
    """The penalty Lagrangian's minimiser in y. Refused if it is not strictly convex."""
    return exact_minimiser(_lagrangian(setting, y_star, lam, rho), setting.alpha)


def estimate(
    setting: ExactSetting, y: Vector, y_star: Vector, lam: Vector, rho: Vector, averaging: Averaging = "mean"
) -> dict[str, tuple[Real, ...]]:
    """The parts of the gradient in x of the penalty Lagrangian, noise included."""
    parts = _lagrangian(setting, y_star, lam, rho).terms(RATIONALS.vector(y), dual_term=setting.reading.dual_term)
    if setting.reading.dual_term == "cancelled":
        parts["dual"] = rational(0) * parts["dual"]
    terms: dict[str, tuple[Real, ...]] = {name: fractions(parts[name].entries) for name in TERMS}
    if setting.draws:
        points, pairing = (setting.x, y, y_star), setting.reading.noise_pairing
        noises = mean_noise(setting.problem, points, setting.draws, pairing, averaging)
        factors = Fraction(1), setting.alpha**-2
        for name, factor, noise in zip(TERMS, factors, noises, strict=False):
            terms[name] = tuple(add(a, times(factor, b)) for a, b in zip(terms[name], noise, strict=True))
    return terms


def _lagrangian(setting: ExactSetting, y_star: Vector, lam: Vector, rho: Vector) -> Lagrangian[Flint]:
    a_1, a_2 = (rational(setting.alpha**power) for power in (-2, -4))
    lagrangian = Lagrangian.of(RATIONALS, setting.problem, setting.x, (a_1, a_2), (y_star, lam, rho))
    return replace(lagrangian, maps=lambda: solution_maps_over(RATIONALS, setting.problem, setting.x))


def _clip(value: Fraction) -> Fraction:
    return min(max(value, Fraction(0)), Fraction(1))
