"""Where one constant is asked of all x: the bias at points approaching kinks of F, one row switching or several."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from spec import parse_problem
from spec.atlas import find
from spec.exact import Vector
from spec.formulas import parse_formula
from spec.reading import DualTerm
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.formula_evidence import choices_of
from verify.checks.measuring.premises import (
    SHOWN_ALPHA,
    at_truth,
    h_width,
    regular_truth,
    shown_vector,
    sweep_ends,
)
from verify.evidence.model import Point, PremiseEvidence, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.subjects import Call
from verify.truth.enclosures.pair import Truth, exact_bias, geometry_at_truth
from verify.truth.formulas import as_float
from verify.truth.geometry import Geometry, quadratic_of
from verify.truth.goldstein.cells import PieceCell, cells_in_ball
from verify.truth.goldstein.distance import distance
from verify.truth.goldstein.minima import Rays, shortest
from verify.truth.lower_level import lower_level
from verify.truth.propositions.deciding import own_choices
from verify.truth.propositions.sites import Site
from verify.truth.propositions.valuation import value_of

IN_RAMPS = (0.001, 0.1, 1.0, 10.0)
"""Distances from a kink in units of α²ε_λ, where the weight of the switching row is about α²."""
IN_RADII = (0.1, 0.9, 0.999, 1.001, 1.01, 1.1, 1.5, 3.0)
"""Distances in units of the radius r = α: just outside of the ball the other piece is gone and the row still weak."""
FAR = (0.3, 1.0)
"""Distances that do not shrink."""
ASIDE = 0.25
"""How far from the other kinks a point is where one row switches alone."""
SEVERAL_ALPHAS = (0.003, 0.1)
"""The part of the sweep for n > 1, where every distance to the Goldstein subdifferential takes a search."""
REACH = 4
"""Radius around the kink whose pieces are known: beyond every point asked for and its ball."""
FIXED_RADIUS = 0.5
"""A radius that does not shrink with alpha."""
ALL_ROUND = 16
WEIGHTS_TERM = parse_formula("weights_term(y_star, lam_star, y_min(y_star, lam_star)) == zero_x").args[0]
"""What the derivative sees of the weights at exact stages."""


def _between(alphas: Sequence[float], low: float, high: float) -> Sequence[float]:
    return [alpha for alpha in alphas if low <= alpha <= high]


@check(
    "bias-bound/uniformity",
    instances=("toy2", "kink", "experiment-1d", "crossing-kinks", "absolute-moving", "swapping-rows"),
    needs=("hypergradient",),
)
def uniform_in_x(case: Case) -> Measurement:
    """The same bound at points from α²ε_λ to O(1) away from kinks of F, most of them just outside of the ball."""
    name, problem = case.instance.name, quadratic_of(case.instance.problem)
    alphas = case.profile.alphas if problem.n == 1 else _between(case.profile.alphas, *SEVERAL_ALPHAS)
    balls = [_Ball(case, alpha, None if case.as_written else alpha) for alpha in alphas]
    points = [_worst(ball).point(ball.alpha) for ball in balls]
    quantity = "sup over x of the bias" if case.as_written else "sup over x of the distance to ∂_rF"
    rate = fit_rate(points, quantity=quantity, variable="alpha")
    shown_ball = _Ball(case, SHOWN_ALPHA, None if case.as_written else SHOWN_ALPHA)
    worst, at = _worst(shown_ball), shown_vector(as_float(_kink(name)), 3)
    x = shown_vector(as_float(worst.x), 6)
    in_ramp = _in_ramp(shown_ball)
    shown = compare("error at distance α²ε_λ from the kink", in_ramp, "<=", SHOWN_ALPHA,
                    context={"alpha": SHOWN_ALPHA}, role="support")  # fmt: skip
    values = sweep_ends(points) | {
        "kink at x": at, "x, alpha = 0.1": x, "error there": worst.size,
        "error at distance alpha^2 lam_width, alpha = 0.1": in_ramp,
    }  # fmt: skip
    note = f"x approaches the kink at {at}; at distance α²ε_λ the weight of the switching row is about α²."
    if not case.as_written and (missing := _missing(name)):
        return Measurement(_unmet(missing, rate), values, note)
    return Measurement((rate, shown), values, note)


@check("bias-bound/uniformity-radius", instances=("swapping-rows", "absolute-moving", "kink", "toy2", "experiment-1d"),
       needs=("hypergradient",))  # fmt: skip
def uniform_at_a_radius(case: Case) -> Measurement:
    """The distance to the Goldstein subdifferential of a radius that stays, at the same points round the kinks."""
    balls = [_Ball(case, alpha, FIXED_RADIUS) for alpha in case.profile.alphas]
    points = [_worst(ball).point(ball.alpha) for ball in balls]
    rate = fit_rate(points, quantity=f"sup over x of the distance to ∂_rF, r = {FIXED_RADIUS:g}", variable="alpha")
    values = sweep_ends(points) | {"kink at x": shown_vector(as_float(_kink(case.instance.name)), 3)}
    if not case.as_written and (missing := _missing(case.instance.name)):
        return Measurement(_unmet(missing, rate), values)
    note = "Inside the ball the switching row's weight times its multiplier counts, outside of it its weight: both α²."
    return Measurement((rate,), values, note)


def _unmet(missing: str, rate: RateEvidence) -> tuple[PremiseEvidence, RateEvidence]:
    finding = f"{missing}; the repaired bound then fails too, it scales as alpha^{rate.exponent:+.2f}"
    unmet = PremiseEvidence(premise="independent-switching", holds=False, finding=finding)
    return unmet, rate.model_copy(update={"role": "support"})


@dataclass(frozen=True)
class _Ball:
    """What an estimate is held against at one alpha: gradients within a radius, or without one ∇F itself."""

    case: Case
    alpha: float
    radius: float | None


def _in_ramp(ball: _Ball) -> float:
    """The largest error at distance α²ε_λ from the kink on either side, all rows switching."""
    kink, way = _kink(ball.case.instance.name), _ways(ball.case.instance.name).sum(axis=0)
    offset = Fraction(ball.alpha) ** 2 * Fraction(ball.case.call(ball.alpha).parameters.lam_width)
    steps = [Fraction(float(value)) * offset for value in way / float(np.linalg.norm(way))]
    places = [tuple(at + side * step for at, step in zip(kink, steps, strict=True)) for side in (1, -1)]
    return max(answer.size for answer in _ask(ball, places))


@dataclass(frozen=True)
class _AskedPoint:
    """A point asked at: what the subject estimates there, the size of its error or a bound of it, and the rounding.

    ``exact``: what the error should be, where it is lost in rounding.
    """

    x: tuple[Fraction, ...]
    estimate: Vector
    size: float
    rounding: float
    exact: float | None = None

    def point(self, alpha: float) -> Point:
        return Point(at=alpha, measured=self.size, uncertainty=self.rounding, predicted=self.exact)


def _worst(ball: _Ball) -> _AskedPoint:
    """The largest error over the points asked at."""
    case, ramp = ball.case, ball.alpha**2 * ball.case.call(ball.alpha).parameters.lam_width
    answers = _ask(ball, _places(case.instance.name, ball.radius or ball.alpha, ramp))
    answers.sort(key=lambda answer: -answer.size)
    if ball.radius is None or len(case.x) == 1:
        worst = replace(answers[0], rounding=max(answer.rounding for answer in answers))
        lost = ball.radius is None and worst.size <= worst.rounding
        return replace(worst, exact=max(_exactly(ball, answer.x) for answer in answers)) if lost else worst
    # What bounds a distance from above is cheap: the largest are looked at until no other can be larger.
    best = replace(answers[0], size=0.0)
    for answer in answers:
        if answer.size <= best.size:
            break
        exact = replace(answer, size=min(answer.size, _searched(case, answer, ball.radius)))
        best = max(best, exact, key=lambda one: one.size)
    return best


def _places(name: str, radius: float, ramp: float) -> Iterator[tuple[Fraction, ...]]:
    """Points at every distance: one row switching alone, the others a fixed distance aside, and all rows together."""
    kink, ways = _kink(name), _ways(name)
    several = len(ways) > 1
    in_ramps, in_radii = (IN_RAMPS[1::2], IN_RADII[3::2]) if several else (IN_RAMPS, IN_RADII)
    sizes = [*(c * ramp for c in in_ramps), *(c * radius for c in in_radii), *(FAR[:1] if several else FAR)]
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
    at = shown_vector(as_float(kink), 3)
    return f"{len(rows)} rows switch at x = {at}, only {len(sets)} sets of them are ever active"


@lru_cache(maxsize=64)
def _pieces(name: str) -> tuple[PieceCell, ...]:
    return tuple(cells_in_ball(quadratic_of(find(name).problem), _kink(name), Fraction(REACH)))


@lru_cache(maxsize=4096)
def _truth(name: str, x: tuple[Fraction, ...]) -> Truth:
    return regular_truth(find(name).at(*x))


def _ask(ball: _Ball, places: Iterable[tuple[Fraction, ...]]) -> list[_AskedPoint]:
    """At each place ‖estimate - ∇F(x)‖, or with a radius a bound of the distance to ∂_rF(x), exact for n = 1."""
    questions = [_question(ball, x) for x in places]
    calls = [(geometry.x, call) for _, geometry, _, call in questions]
    answers = ball.case.stages.hypergradients(ball.case.instance.problem, calls)
    return [
        _answered(ball, x, vector + _of_the_weights(ball, x), rounding)
        for (x, _, rounding, _), vector in zip(questions, answers, strict=True)
    ]


def _question(ball: _Ball, x: tuple[Fraction, ...]) -> tuple[tuple[Fraction, ...], Geometry, float, Call]:
    case, name, truth = ball.case, ball.case.instance.name, _truth(ball.case.instance.name, x)
    call = case.call(ball.alpha, y_star=truth.y_star, lam=truth.lam)
    at = name, x, ball.alpha, h_width(case, ball.alpha, call), call.parameters.lam_width
    geometry, rounding = _geometry(*at), _rounding(*at, case.reading.dual_term)
    return x, geometry, rounding, replace(call, y_penalty=geometry.minimiser)


def _answered(ball: _Ball, x: tuple[Fraction, ...], vector: Vector, rounding: float) -> _AskedPoint:
    name = ball.case.instance.name
    if ball.radius is None:
        return _AskedPoint(x, vector, float(np.linalg.norm(vector - _truth(name, x).grad_F)), rounding)
    _, nearest = shortest(_gradients_around(name, x, ball.radius) - vector, Rays((), ()))
    return _AskedPoint(x, vector, max(0.0, float(np.linalg.norm(nearest)) - rounding), rounding)


@lru_cache(maxsize=4096)
def _geometry(name: str, x: tuple[Fraction, ...], alpha: float, width: float, lam_width: float) -> Geometry:
    """The geometry on the exact pair, made once for all readings whose other choices do not reach it."""
    return geometry_at_truth(find(name).at(*x), _truth(name, x), alpha, width, lam_width)


@lru_cache(maxsize=8192)
def _rounding(
    name: str, x: tuple[Fraction, ...], alpha: float, width: float, lam_width: float, dual_term: DualTerm
) -> float:
    geometry = _geometry(name, x, alpha, width, lam_width)
    return geometry.rounding(geometry.minimiser, dual_term=dual_term)


@lru_cache(maxsize=8192)
def _gradients_around(name: str, x: tuple[Fraction, ...], radius: float) -> Vector:
    """Gradients of F at points of the ball and at its middle, a row each."""
    return np.array([*_gradients_in_ball(_pieces(name), as_float(x), radius), _truth(name, x).grad_F])


def _of_the_weights(ball: _Ball, x: tuple[Fraction, ...]) -> Vector:
    """What the derivative sees of the weights at exact stages, where they are maps of x, shape (n,)."""
    if ball.case.sense.weights == "frozen":
        return np.zeros(len(x))
    return _weights_term(ball.case.instance.name, x, ball.alpha, own_choices(WEIGHTS_TERM, choices_of(ball.case)))


@lru_cache(maxsize=8192)
def _weights_term(name: str, x: tuple[Fraction, ...], alpha: float, own: tuple[tuple[str, str], ...]) -> Vector:
    """The same, found once for all readings whose other choices do not reach it."""
    place = Site(quadratic_of(find(name).problem), x).at(Fraction(alpha), dict(own))
    entries = place.arithmetic.entries(value_of(WEIGHTS_TERM, place))
    return np.array([float(value) for value in entries])


def _exactly(ball: _Ball, x: tuple[Fraction, ...]) -> float:
    """‖estimate - ∇F(x)‖ of the formula at exact stages, in rational arithmetic."""
    case, instance = ball.case, ball.case.instance.at(*x)
    truth = _truth(case.instance.name, x)
    geometry, _ = at_truth(replace(case, instance=instance), truth, ball.alpha)
    return exact_bias(instance, truth, geometry, dual_term=case.reading.dual_term)


def _gradients_in_ball(pieces: Sequence[PieceCell], x: Vector, radius: float) -> Iterator[Vector]:
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


def _searched(case: Case, answer: _AskedPoint, radius: float) -> float:
    """The distance of the estimate to ∂_rF(x): that of 0 once the estimate is taken from F as a linear part."""
    problem = quadratic_of(case.instance.problem)
    slope = problem.f.x.to_fractions()[0]
    tilted = [str(value - Fraction(float(e))) for value, e in zip(slope, answer.estimate, strict=True)]
    data = problem.to_dict()
    data["f"] = data.get("f", {}) | {"x": tilted}
    return distance(quadratic_of(parse_problem(data)), answer.x, radius, tolerance=1e-8).upper
