r"""Algorithm 1 in exact numbers, stage by stage, as it is right and as it is commonly got wrong.

Everything is rational but two kinds of noise: matrix noise has norms in it, jump noise the normal distribution
function; both are enclosed in balls. Nothing here comes from the reference solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, cast

from flint import fmpq_poly

from spec import REPAIRED, Quadratic, Reading
from spec.reading import DualTerm
from verify.truth import lower_level
from verify.truth.algebra import roots
from verify.truth.algebra.kept_answers import kept
from verify.truth.algebra.numbers import Real, add, dyadic, times
from verify.truth.algebra.rationals import RationalBlocks, Vector, blocks, column, fraction, fractions, rational
from verify.truth.algebra.rings import RATIONALS, Flint
from verify.truth.algebra.roots import root_above
from verify.truth.formulas import Lagrangian, exact_minimiser, solution_maps_over
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.noise import Averaging, mean_noise

Activation = Literal["ramp", "hard", "always", "h-alone", "lam-alone", "smaller", "cubic", "shifted"]
TERMS = ("f", "g_difference", "dual", "penalty")
"""The parts of the gradient in x, in the order of the formula."""
DEFAULT_LAM_WIDTH = dyadic(0.1)
_NORM_PRECISION = Fraction(1, 10**24)


@dataclass(frozen=True, eq=False)
class Setting:
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

    def h_width(self, choice: str | None = None) -> float:
        """Width of the ramp below the boundary, as a double; of another choice than the reading's if given."""
        inner_tol = self.alpha**3
        if (choice or self.reading.ramp_width) == "tau-delta":
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
class Rules:
    """How the stages are computed; the defaults are right, anything else is a mistake somebody makes.

    ``powers`` are those of alpha that alpha_1 and alpha_2 are. Where the Lagrangian is minimised, ``multiplier``,
    ``pull`` and ``upper`` scale its multipliers, the penalty's pull and the upper level's gradient. Of the estimate,
    ``penalty`` scales one part and ``dropped`` parts are left out; ``one_sided`` does not subtract the gradient of g at
    y*, ``at_y_star`` evaluates there. ``own_stages`` ignores given ones. ``None`` is the reading's choice.
    """

    powers: tuple[int, int] = (-2, -4)
    activation: Activation = "ramp"
    ramp_width: str | None = None
    multiplier: Fraction = Fraction(1)
    pull: Fraction = Fraction(1)
    upper: Fraction = Fraction(1)
    dual_term: str | None = None
    noise_pairing: str | None = None
    penalty: Fraction = Fraction(1)
    dropped: frozenset[str] = frozenset()
    one_sided: bool = False
    at_y_star: bool = False
    averaging: Averaging = "mean"
    own_stages: bool = False


RIGHT = Rules()


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


def evaluate(setting: Setting, rules: Rules = RIGHT) -> Values:
    """One oracle call, every stage that is not given computed exactly.

    Refused if the lower level is infeasible, or the penalty Lagrangian not convex.
    """
    given = {} if rules.own_stages else setting.given
    lower = None if {"y_star", "lam"} <= given.keys() else setting.lower
    y_star = given["y_star"] if lower is None else given.get("y_star", lower.y_star)
    lam = given["lam"] if lower is None else given.get("lam", lower.lam)
    h = row_values(setting, y_star)
    rho = given["rho"] if "rho" in given else activation(setting, h, lam, rules)
    y = given["y_penalty"] if "y_penalty" in given else minimiser(setting, y_star, lam, rho, rules)
    return Values(y_star, lam, h, rho, y, estimate(setting, y, y_star, lam, rho, rules), lower)


def row_values(setting: Setting, y: Vector) -> Vector:
    """``A x - B y - b``."""
    r = setting.rows
    return fractions(r.A * column(setting.x) - r.B * column(y) - r.b)


def activation(setting: Setting, h: Vector, lam: Vector, rules: Rules = RIGHT) -> Vector:
    """Weights of the rows under the setting's reading."""
    return weights(h, lam, dyadic(setting.h_width(rules.ramp_width)), setting.lam_width, rules.activation)


def weights(h: Vector, lam: Vector, h_width: Fraction, lam_width: Fraction, activation: Activation = "ramp") -> Vector:
    """Activation weights from row values and multipliers."""
    if activation == "hard":
        return tuple(Fraction(int(a > -h_width and b > 0)) for a, b in zip(h, lam, strict=True))
    if activation == "always":
        return tuple(Fraction(1) for _ in h)
    ramp_h = [_clip(1 + value / h_width) for value in h]
    ramp_lam = [_clip(value / lam_width) for value in lam]
    if activation == "h-alone":
        return tuple(ramp_h)
    if activation == "lam-alone":
        return tuple(ramp_lam)
    if activation == "smaller":
        return tuple(min(a, b) for a, b in zip(ramp_h, ramp_lam, strict=True))
    rho = [a * b for a, b in zip(ramp_h, ramp_lam, strict=True)]
    if activation == "cubic":
        return tuple(value * value * (3 - 2 * value) for value in rho)
    return tuple(rho[-1:] + rho[:-1]) if activation == "shifted" else tuple(rho)


def minimiser(setting: Setting, y_star: Vector, lam: Vector, rho: Vector, rules: Rules = RIGHT) -> Vector:
    """The penalty Lagrangian's minimiser in y: the right formula, a mistake in its data. Refused if not convex."""
    right = _lagrangian(setting, y_star, lam, rho, rules)
    b, upper = right.blocks, rational(rules.upper)
    used = replace(
        right,
        blocks=replace(b, f_xy=upper * b.f_xy, f_yy=upper * b.f_yy, f_y=upper * b.f_y),
        alpha_2=rational(rules.pull) * right.alpha_2,
        lam=rational(rules.multiplier) * right.lam,
    )
    return exact_minimiser(used, setting.alpha)


def estimate(
    setting: Setting, y: Vector, y_star: Vector, lam: Vector, rho: Vector, rules: Rules = RIGHT
) -> dict[str, tuple[Real, ...]]:
    """The parts of the gradient in x of the penalty Lagrangian, noise included."""
    problem, lagrangian = setting.problem, _lagrangian(setting, y_star, lam, rho, rules)
    at = y_star if rules.at_y_star else y
    dual_term = cast(DualTerm, rules.dual_term or setting.reading.dual_term)
    parts = lagrangian.terms(RATIONALS.vector(at), dual_term=dual_term)
    parts["penalty"] = rational(rules.penalty) * parts["penalty"]
    if dual_term == "cancelled":
        parts["dual"] = rational(0) * parts["dual"]
    if rules.one_sided:
        gradient = RATIONALS.matrix(problem.g.xx) @ lagrangian.x + RATIONALS.matrix(problem.g.x)
        gradient = gradient + lagrangian.blocks.g_xy @ RATIONALS.vector(at)
        parts["g_difference"] = lagrangian.alpha_1 * gradient
    terms: dict[str, tuple[Real, ...]] = {name: fractions(parts[name].entries) for name in TERMS}
    if setting.draws:
        points, pairing = (setting.x, at, y_star), rules.noise_pairing or setting.reading.noise_pairing
        noises = mean_noise(problem, points, setting.draws, pairing, rules.averaging)
        factors = Fraction(1), setting.alpha ** rules.powers[0]
        for name, factor, noise in zip(TERMS, factors, noises, strict=False):
            terms[name] = tuple(add(a, times(factor, b)) for a, b in zip(terms[name], noise, strict=True))
    return terms | dict.fromkeys(rules.dropped, (Fraction(0),) * problem.n)


def _lagrangian(setting: Setting, y_star: Vector, lam: Vector, rho: Vector, rules: Rules) -> Lagrangian[Flint]:
    a_1, a_2 = (rational(setting.alpha**power) for power in rules.powers)
    made = Lagrangian.of(RATIONALS, setting.problem, setting.x, (a_1, a_2), (y_star, lam, rho))
    return replace(made, maps=lambda: solution_maps_over(RATIONALS, setting.problem, setting.x))


def _clip(value: Fraction) -> Fraction:
    return min(max(value, Fraction(0)), Fraction(1))
