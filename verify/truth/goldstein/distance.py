r"""The distance of 0 from the Goldstein subdifferential of F, bracketed by proof.

.. math:: \partial_\delta F(x) = \operatorname{conv} \bigcup_{\|z-x\| \le \delta} \partial F(z), \qquad
          \operatorname{dist}(0, \partial_\delta F(x) + N_X(x)).

Above: the shortest convex combination of gradients of F at points of the ball. Below: a direction u along which
every gradient in the ball has at least a certain component, proven cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq_mat

from spec import InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.rationals import Number, Vector, column, fraction, number, point
from verify.truth.algebra.roots import double_above, double_below, root_above, root_below
from verify.truth.goldstein.cells import PieceCell, TooManyCellsError, cells_in_ball
from verify.truth.goldstein.estimate import MAX_PROVEN_SIZE, GoldsteinDistance, estimate
from verify.truth.goldstein.minima import Box, Rays, least, normal_rays, proven_bound, shortest, shortest_exactly

MAX_CERTIFIED_DIMENSION = 4
"""Largest n treated by cells; above it distances are estimated."""
MAX_ROUNDS = 400
TOLERANCE = 1e-6
"""Gap between the bounds at which refinement stops, units of F per unit of x."""


def distance(
    problem: Quadratic,
    x: Sequence[Number],
    radius: Number,
    *,
    box: Box | None = None,
    tolerance: float = TOLERANCE,
    proven_size: int = MAX_PROVEN_SIZE,
) -> GoldsteinDistance:
    """Bracket the distance of 0 from the Goldstein subdifferential.

    Args:
        problem: Any quadratic problem.
        x: Point, shape (n,); a float stands for the dyadic rational it is.
        radius: Radius of the closed ball, units of x, > 0.
        box: X where it is a box containing x; its normal cone at x is then added. F and the ball are not cut by X.
        tolerance: Gap at which refinement stops, > 0.
        proven_size: Where n > 4, the largest n + m + p at which the upper bound encloses its gradients; elsewhere it
            is as good as doubles. At a kink an enclosure can take a minute in 50 dimensions.

    Returns:
        Bounds. For n = 1 they are one exact number, rounded outwards; for n <= 4 they bracket the truth, and the
        gap is at most the tolerance unless rounding stopped the refinement; above that the upper bound is still
        one and the lower bound is an estimate.

    Raises:
        InvalidInputError: If an argument breaks its rule, x lies outside the box, or the lower level is infeasible at
            x or elsewhere in the ball.

    Source:
        Definitions "Goldstein Subdifferential" and "Goldstein Stationarity", with the closed ball. Differs from
        the paper: nothing; the paper's own theorem leaves the normal cone out.

    Example:
        >>> from spec.atlas import find
        >>> made = distance(find("experiment-1d").problem, [-2], 0.1)
        >>> made.exact == Fraction(5) - Fraction(0.1)
        True
    """
    at = point(x, problem.n, "x")
    delta = number(radius, "radius")
    if delta <= 0:
        raise InvalidInputError("radius", "must be > 0", radius)
    if not tolerance > 0:
        raise InvalidInputError("tolerance", "must be > 0", tolerance)
    rays = normal_rays(at, box, problem.n)
    try:
        cells = cells_in_ball(problem, at, delta) if problem.n <= MAX_CERTIFIED_DIMENSION else None
    except TooManyCellsError:
        cells = None
    if cells is None:
        return estimate(problem, at, delta, rays, tolerance, proven_size=proven_size)
    if problem.n == 1:
        return _on_a_line(cells, at[0], delta, rays)
    return _by_cells(cells, at, delta, rays, tolerance)


def _on_a_line(cells: list[PieceCell], x: Fraction, delta: Fraction, rays: Rays) -> GoldsteinDistance:
    """On an interval each piece's gradient is monotone, so its extremes are attained at ends of cell and ball."""
    slopes: list[tuple[Fraction, Fraction]] = []
    for cell in cells:
        low, high = x - delta, x + delta
        for i in range(cell.M.nrows()):
            slope, bound = fraction(cell.M[i, 0]), fraction(cell.q[i, 0])
            if slope > 0:
                high = min(high, bound / slope)
            elif slope < 0:
                low = max(low, bound / slope)
        slopes += [(cell.gradient((z,))[0], z) for z in (low, high)]
    (least_g, z_low), (most_g, z_high) = min(slopes), max(slopes)
    # A ray +1 (x at the upper end of X) can cancel negative gradients, a ray -1 positive ones.
    down = Fraction(0) if 0 in rays.down else max(least_g, Fraction(0))
    up = Fraction(0) if 0 in rays.up else max(-most_g, Fraction(0))
    exact = max(down, up)
    if down > 0 or (exact == 0 and least_g >= 0):
        points, gradients, weights = ((z_low,),), ((least_g,),), (1.0,)
    elif up > 0 or (exact == 0 and most_g <= 0):
        points, gradients, weights = ((z_high,),), ((most_g,),), (1.0,)
    else:
        share = float(most_g / (most_g - least_g))
        points, gradients, weights = ((z_low,), (z_high,)), ((least_g,), (most_g,)), (share, 1 - share)  # type: ignore[assignment]  # one or two points
    return GoldsteinDistance(
        lower=double_below(exact), upper=double_above(exact), certified=True, method="interval", exact=exact,
        points=points, gradients=_floats(gradients), weights=weights,
        direction=(1.0 if down > 0 else -1.0 if up > 0 else 0.0,), cells=len(cells),
    )  # fmt: skip


def _by_cells(cells: list[PieceCell], x: Vector, delta: Fraction, rays: Rays, tolerance: float) -> GoldsteinDistance:
    points: list[tuple[Vector, Vector]] = [
        (cell.inside, cell.gradient(cell.inside)) for cell in cells if cell.inside is not None
    ]
    matrix = np.array([[float(v) for v in gradient] for _, gradient in points])
    best_lower, best_direction = Fraction(0), np.zeros(len(x))
    if not points:
        raise InvalidInputError("radius", "must not be so small that no cell holds a ball in doubles", delta)
    best_weights, _ = shortest(matrix, rays)
    best_upper, _ = _upper(points, best_weights, rays)
    best_support = best_weights, list(points)
    aim = tolerance / 4
    for rounds in range(MAX_ROUNDS):
        weights, p = shortest(matrix, rays)
        size = float(np.linalg.norm(p))
        gap, added = _least_components(cells, p, x, delta)
        fresh = [pair for pair in added if pair not in points]
        settled = size <= aim or gap <= aim or not fresh or rounds == MAX_ROUNDS - 1
        if settled:
            upper, combined = _upper(points, weights, rays)
            if upper < best_upper:
                best_upper, best_support = upper, (weights, list(points))
            # The rounded direction proves almost as much as the exact one, except where only exactness closes the gap.
            for u in (combined, tuple(Fraction(float(v)) for v in p)):
                lower = _lower(cells, column(x), delta, u, rays)
                if lower > best_lower:
                    best_lower, best_direction = lower, np.array([float(v) for v in u])
            if root_above(best_upper) - best_lower <= Fraction(tolerance) or not fresh or aim < 1e-12:
                break
            aim /= 16
        points += fresh
        matrix = np.vstack([matrix, *([float(v) for v in gradient] for _, gradient in fresh)])
    upper_bound = root_above(best_upper)
    weights, support = best_support
    support_pairs = [(w, pair) for w, pair in zip(weights, support, strict=True) if w > 0]
    exact = upper_bound if upper_bound == best_lower else None
    return GoldsteinDistance(
        lower=double_below(best_lower), upper=double_above(upper_bound), certified=True, method="cells", exact=exact,
        points=tuple(pair[0] for _, pair in support_pairs), gradients=_floats([pair[1] for _, pair in support_pairs]),
        weights=tuple(float(w) for w, _ in support_pairs), direction=tuple(best_direction.tolist()), cells=len(cells),
    )  # fmt: skip


def _least_components(
    cells: list[PieceCell], p: FloatArray, x: Vector, delta: Fraction
) -> tuple[float, list[tuple[Vector, Vector]]]:
    """How far the shortest combination is from optimal, and the points where cells undercut it."""
    centre, r, size = np.array([float(v) for v in x]), float(delta), float(np.linalg.norm(p))
    if size == 0.0:
        return 0.0, []
    gap, added = 0.0, []
    for cell in cells:
        if cell.inside is None:
            continue
        M, q, H, c = cell.arrays
        start = np.array([float(v) for v in cell.inside])
        z = start if cell.touches else least(H @ p, M, q, centre, r, start)[0]
        short = size - float((H @ z + c) @ p) / size
        gap = max(gap, short)
        if short > 0 and not cell.touches:
            exact = _pulled_inside(cell, z, x, delta)
            added.append((exact, cell.gradient(exact)))
    return gap, added


def _pulled_inside(cell: PieceCell, z: FloatArray, x: Vector, delta: Fraction) -> Vector:
    """A rational point of cell and ball as near to z as rounding allows."""
    assert cell.inside is not None  # only such cells get here
    wanted = tuple(Fraction(float(v)) for v in z)
    share = Fraction(0)
    for exponent in (0, *range(-52, 1, 2)):
        candidate = tuple(a + share * (b - a) for a, b in zip(wanted, cell.inside, strict=True))
        if cell.contains(candidate) and sum((v - w) ** 2 for v, w in zip(candidate, x, strict=True)) <= delta**2:
            return candidate
        share = Fraction(2) ** (exponent if exponent else -54)
    return cell.inside


def _upper(points: list[tuple[Vector, Vector]], weights: FloatArray, rays: Rays) -> tuple[Fraction, Vector]:
    """Squared norm, exact, of a convex combination near the given weights."""
    support = [i for i, w in enumerate(weights) if w > 1e-14]
    return shortest_exactly([points[i][1] for i in support], weights[support], rays)


def _lower(cells: list[PieceCell], x: fmpq_mat, delta: Fraction, direction: Vector, rays: Rays) -> Fraction:
    """Proven least component of all gradients along a direction of any length; 0 where nothing positive is proven."""
    u = column(rays.without(direction))
    length_2 = fraction((u.transpose() * u)[0, 0])
    if length_2 == 0:
        return Fraction(0)
    centre = np.array([float(fraction(v)) for v in x.entries()])
    least_value: Fraction | None = None
    for cell in cells:
        a, base = cell.H * u, fraction((cell.c.transpose() * u)[0, 0])
        if cell.touches:
            value = base + fraction((a.transpose() * column(cell.nearest))[0, 0])
        else:
            M, q, _, _ = cell.arrays
            start = np.array([float(v) for v in cell.nearest])
            w = least(np.array([float(fraction(v)) for v in a.entries()]), M, q, centre, float(delta), start)[1]
            value = base + proven_bound(a, cell.M, cell.q, w, x, delta)
        least_value = value if least_value is None else min(least_value, value)
    if least_value is None or least_value <= 0:
        return Fraction(0)
    return root_below(least_value**2 / length_2)


def _floats(vectors: Sequence[Sequence[Fraction]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(v) for v in vector) for vector in vectors)
