"""Where one constant is asked of all x: the bias at points approaching kinks of F, one row switching or several."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from spec import parse_problem
from spec.atlas import find
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.own_values import floats
from verify.checks.measuring.premises import (
    SHOWN_ALPHA,
    at_truth,
    estimate,
    regular_truth,
    shown_vector,
    sweep_ends,
)
from verify.evidence.model import Point, PremiseEvidence
from verify.evidence.rates import fit_rate
from verify.truth import lower_level
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.cells import Cell, cells_in_ball
from verify.truth.goldstein.distance import distance
from verify.truth.goldstein.minima import Rays, shortest
from verify.truth.pair import Truth

IN_RAMPS = (0.001, 0.1, 1.0, 10.0)
"""Distances from a kink in units of α²ε_λ, where the weight of the switching row is about α²."""
IN_RADII = (0.1, 0.9, 0.999, 1.001, 1.01, 1.1, 1.5, 3.0)
"""Distances in units of the radius r = α: just outside of the ball the other piece is gone and the row still weak."""
FAR = (0.3, 1.0)
"""Distances that do not shrink."""
ASIDE = 0.25
"""How far from the other kinks a point is where one row switches alone."""
SEVERAL_ALPHAS = slice(1, 7)
"""The part of the sweep for n > 1, where every distance to the Goldstein subdifferential takes a search."""
REACH = 4
"""Radius around the kink whose pieces are known: beyond every point asked for and its ball."""
ALL_ROUND = 16


@check(
    "bias-bound/uniformity",
    instances=("toy2", "kink", "experiment-1d", "crossing-kinks", "absolute-moving", "swapping-rows"),
    needs=("hypergradient",),
)
def uniform_in_x(case: Case) -> Measurement:
    """The same bound at points from α²ε_λ to O(1) away from kinks of F, most of them just outside of the ball."""
    name, problem = case.instance.name, quadratic_of(case.instance.problem)
    alphas = case.profile.alphas if problem.n == 1 else case.profile.alphas[SEVERAL_ALPHAS]
    found = {alpha: _worst(case, alpha) for alpha in alphas}
    points = [Point(at=alpha, measured=asked.size, uncertainty=asked.rounding) for alpha, asked in found.items()]
    quantity = "sup over x of the bias" if case.as_written else "sup over x of the distance to ∂_rF"
    rate = fit_rate(points, quantity=quantity, variable="alpha")
    worst, at = _worst(case, SHOWN_ALPHA), shown_vector(floats(_kink(name)), 3)
    x = shown_vector(floats(worst.x), 6)
    in_ramp = _in_ramp(case)
    shown = compare("error at distance α²ε_λ from the kink", in_ramp, "<=", SHOWN_ALPHA,
                    context={"alpha": SHOWN_ALPHA}, role="support")  # fmt: skip
    values = sweep_ends(points) | {
        "kink at x": at, "x, alpha = 0.1": x, "error there": worst.size,
        "error at distance alpha^2 lam_width, alpha = 0.1": in_ramp,
    }  # fmt: skip
    note = f"x approaches the kink at {at}; at distance α²ε_λ the weight of the switching row is about α²."
    if not case.as_written and (missing := _missing(name)):
        finding = f"{missing}; the repaired bound then fails too, it scales as alpha^{rate.exponent:+.2f}"
        unmet = PremiseEvidence(premise="independent-switching", holds=False, finding=finding)
        return Measurement((unmet, rate.model_copy(update={"role": "support"})), values, note)
    return Measurement((rate, shown), values, note)


def _in_ramp(case: Case) -> float:
    """The largest error at distance α²ε_λ from the kink on either side, all rows switching."""
    kink, way = _kink(case.instance.name), _ways(case.instance.name).sum(axis=0)
    offset = Fraction(SHOWN_ALPHA) ** 2 * Fraction(case.call(SHOWN_ALPHA).parameters.lam_width)
    steps = [Fraction(float(value)) * offset for value in way / float(np.linalg.norm(way))]
    places = [tuple(at + side * step for at, step in zip(kink, steps, strict=True)) for side in (1, -1)]
    return max(_ask(case, x, SHOWN_ALPHA).size for x in places)


@dataclass(frozen=True)
class _Asked:
    """A point asked at: what the subject estimates there, the size of its error or a bound of it, and the rounding."""

    x: tuple[Fraction, ...]
    found: Vector
    size: float
    rounding: float


def _worst(case: Case, alpha: float) -> _Asked:
    """The largest error over the points asked at."""
    ramp = alpha**2 * case.call(alpha).parameters.lam_width
    made = [_ask(case, x, alpha) for x in _places(case.instance.name, alpha, ramp)]
    made.sort(key=lambda asked: -asked.size)
    if case.as_written or len(case.x) == 1:
        return replace(made[0], rounding=max(asked.rounding for asked in made))
    # What bounds a distance from above is cheap: the largest are looked at until no other can be larger.
    best = replace(made[0], size=0.0)
    for asked in made:
        if asked.size <= best.size:
            break
        exact = replace(asked, size=min(asked.size, _searched(case, asked, alpha)))
        best = max(best, exact, key=lambda one: one.size)
    return best


def _places(name: str, alpha: float, ramp: float) -> Iterator[tuple[Fraction, ...]]:
    """Points at every distance: one row switching alone, the others a fixed distance aside, and all rows together."""
    kink, ways = _kink(name), _ways(name)
    several = len(ways) > 1
    in_ramps, in_radii = (IN_RAMPS[1::2], IN_RADII[3::2]) if several else (IN_RAMPS, IN_RADII)
    sizes = [*(c * ramp for c in in_ramps), *(c * alpha for c in in_radii), *(FAR[:1] if several else FAR)]
    starts = [(np.zeros(len(kink)), signs @ ways) for signs in _signs(len(ways))]
    if several:
        for i, signs in itertools.product(range(len(ways)), _signs(len(ways))):
            others = signs * (np.arange(len(ways)) != i)
            starts.append((ASIDE * others @ ways, signs[i] * ways[i]))
    for (start, way), size in itertools.product(starts, sizes):
        moved = start + size * way / float(np.linalg.norm(way))
        yield tuple(at + Fraction(float(value)) for at, value in zip(kink, moved, strict=True))


def _signs(count: int) -> Iterator[Vector]:
    return (np.array(signs) for signs in itertools.product((1.0, -1.0), repeat=count))


def _kink(name: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in find(name).known["kink"].split())


@lru_cache(maxsize=64)
def _ways(name: str) -> Vector:
    """Directions across one kink along all others, a row each; rows that switch as one have one direction."""
    problem = quadratic_of(find(name).problem)
    a, rows = problem.arrays, list(lower_level.solve(problem, _kink(name)).weakly_active)
    # How the rows' values move with x where none of them is held.
    slopes = a.A[rows] + a.B[rows] @ np.linalg.solve(a.g_yy, a.g_xy.T)
    if np.linalg.matrix_rank(slopes) < len(rows):
        slopes = slopes[:1]
    across = np.linalg.pinv(slopes).T
    return np.asarray(across / np.linalg.norm(across, axis=1, keepdims=True))


def _missing(name: str) -> str:
    """What keeps a set of weakly active rows from being the active one nearby, or nothing."""
    kink = _kink(name)
    rows = lower_level.solve(quadratic_of(find(name).problem), kink).weakly_active
    sets = {frozenset(piece.rows) & frozenset(rows) for piece in _pieces(name) if piece.contains(kink)}
    if len(sets) == 2 ** len(rows):
        return ""
    return (
        f"{len(rows)} rows switch at x = {shown_vector(floats(kink), 3)}, only {len(sets)} sets of them are ever active"
    )


@lru_cache(maxsize=64)
def _pieces(name: str) -> tuple[Cell, ...]:
    return tuple(cells_in_ball(quadratic_of(find(name).problem), _kink(name), Fraction(REACH)))


@lru_cache(maxsize=4096)
def _truth(name: str, x: tuple[Fraction, ...]) -> Truth:
    return regular_truth(find(name).at(*x))


def _ask(case: Case, x: tuple[Fraction, ...], alpha: float) -> _Asked:
    """‖estimate - ∇F(x)‖, or repaired a bound of the distance to ∂_rF(x), exact for n = 1."""
    there, truth = replace(case, instance=case.instance.at(*x)), _truth(case.instance.name, x)
    geometry, call = at_truth(there, truth, alpha)
    found = estimate(there, call, geometry.minimiser)
    rounding = geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term)
    if case.as_written:
        return _Asked(x, found, float(np.linalg.norm(found - truth.grad_F)), rounding)
    gradients = [*_gradients_in_ball(_pieces(case.instance.name), floats(x), alpha), truth.grad_F]
    _, nearest = shortest(np.array(gradients) - found, Rays((), ()))
    return _Asked(x, found, max(0.0, float(np.linalg.norm(nearest)) - rounding), rounding)


def _gradients_in_ball(pieces: Sequence[Cell], x: Vector, radius: float) -> Iterator[Vector]:
    """Gradients of F at points of the ball: where the pieces' borders cut it for n = 1, else all round."""
    for piece in pieces:
        M, q, H, c = piece.arrays
        if len(x) > 1:
            turns = np.linspace(0.0, 2 * np.pi, ALL_ROUND, endpoint=False)
            rim = np.zeros((ALL_ROUND, len(x)))
            rim[:, 0], rim[:, 1] = np.cos(turns), np.sin(turns)
            yield from (H @ z + c for z in x + 0.999 * radius * rim if (M @ z <= q).all())
            continue
        low, high = x[0] - radius, x[0] + radius
        for slope, bound in zip(M[:, 0], q, strict=True):
            low, high = (low, min(high, bound / slope)) if slope > 0 else (max(low, bound / slope), high)
        yield from (H @ np.array([z]) + c for z in (low, high) if low <= high)


def _searched(case: Case, asked: _Asked, alpha: float) -> float:
    """The distance of the estimate to ∂_rF(x): that of 0 once the estimate is taken from F as a linear part."""
    problem = quadratic_of(case.instance.problem)
    slope = problem.f.x.to_fractions()[0]
    tilted = [str(value - Fraction(float(e))) for value, e in zip(slope, asked.found, strict=True)]
    data = problem.to_dict()
    data["f"] = data.get("f", {}) | {"x": tilted}
    return distance(quadratic_of(parse_problem(data)), asked.x, alpha, tolerance=1e-8).upper
