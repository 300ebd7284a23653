"""Assumption "Smoothness and Strong Convexity" as a whole: which parts an instance meets, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from spec import Quadratic
from spec.exact import Vector as Doubles
from verify.checks.assumptions.compact_domain import around, is_compact, is_everywhere
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.formula_evidence import brought
from verify.checks.measuring.premises import PremiseUnmetError, feasible
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import (
    Vector,
    beside,
    blocks,
    column,
    fraction,
    fractions,
    is_positive_definite,
    matrix,
    select,
)
from verify.truth.formulas import length, minus
from verify.truth.geometry import EPS, quadratic_of, spectral_norm
from verify.truth.lower_level.lower_level import ExactLowerLevel
from verify.truth.point_values import PointValues, moved

RADII = tuple(Fraction(2) ** k for k in range(2, 12))
ROUNDING = 1e-9


@dataclass(frozen=True)
class _Growth:
    """What differences of a gradient say of it: affine where second differences vanish, constant where first do."""

    affine: bool
    constant: bool

    @classmethod
    def of(cls, values: PointValues, name: str, z: Vector) -> _Growth:
        """Of ∇f or ∇g in (x, y), from its values at z and one and two units along every axis and pair of axes."""
        start, axes, unit = _gradient(values, name, z), range(len(z)), Fraction(1)
        first = {i: minus(_gradient(values, name, moved(z, i, unit)), start) for i in axes}
        flat = True
        for i in axes:
            for j in axes:
                both = minus(_gradient(values, name, moved(moved(z, i, unit), j, unit)), start)
                flat = flat and both == _plus(first[i], first[j])
        return cls(affine=flat, constant=flat and not any(any(change) for change in first.values()))


@check("smoothness", instances=("toy1", "two-of-three", "box-rational", "interior", "experiment-5d"))
def all_parts(case: Case) -> Measurement:
    """Parts of the assumption that an instance does not meet, told from values of the gradients and exact ranks."""
    problem, lower = quadratic_of(case.instance.problem), feasible(case.instance)
    everywhere = is_everywhere(case)
    met = parts_met(problem, case.instance.x, lower, everywhere=everywhere)
    unmet = [name for name, holds in met.items() if not holds]
    where = "X × R^m" if everywhere else "a compact set around (x, y*(x))"
    number = compare(f"number of parts not met on {where}", float(len(unmet)), "==", 0.0, rung="certified")
    note = "A strongly convex g has a gradient that grows in every direction of y."
    return Measurement((number,), {"not met": ", ".join(unmet) or "none", "parts": float(len(met))}, note)


def parts_met(problem: Quadratic, x: Vector, lower: ExactLowerLevel, *, everywhere: bool) -> dict[str, bool]:
    """Which parts hold, by name: bounds on gradients on all of the space, or on a ball around (x, y*(x)).

    An affine gradient is Lipschitz, and bounded on every ball; everywhere it is bounded only where it is constant.
    """
    values, z = PointValues(problem), (*x, *lower.y_star)
    f, g = (_Growth.of(values, name, z) for name in ("f", "g"))
    return {
        "f smooth": f.affine,
        "f Lipschitz": f.constant if everywhere else f.affine,
        "g smooth": g.affine,
        "g strongly convex": is_positive_definite(matrix(problem.g.yy)),
        "∇g bounded": g.constant if everywhere else g.affine,
        "LICQ": lower.licq,
    }


@check("smoothness/f-lipschitz", instances=("two-of-three", "toy1", "box-rational", "experiment-1d"))
def lipschitz_upper(case: Case) -> Measurement:
    """‖∇f‖ at growing distances along the axis where ∇f changes most, or as far as a compact domain goes; repaired, on
    one ball against its bound.
    """
    lower, problem = feasible(case.instance), quadratic_of(case.instance.problem)
    values, z = PointValues(problem), (*case.instance.x, *lower.y_star)
    if not case.as_written:
        reach = RADII[-1] if is_everywhere(case) else Fraction(1)
        largest = max(length(_gradient(values, "f", moved(z, i, sign * reach)))
                      for i in range(len(z)) for sign in (1, -1))  # fmt: skip
        bound = length(_gradient(values, "f", z)) + _curvature(problem, "f")
        name = f"largest ‖∇f‖ at distance {reach} from (x, y*(x)), against ‖∇f(x, y*)‖ + C_f"
        within = compare(name, largest, "<=", bound, ROUNDING * bound)
        return Measurement((within,))
    if is_compact(case):
        rate = around(case).growth("f", "largest ‖∇f‖ on the part of a compact X × Y in a cube")
        return Measurement((rate,), {f"at radius {point.at:g}": point.measured for point in rate.points[:1]})
    points = []
    for radius in RADII:
        ends = (_gradient(values, "f", moved(z, i, sign * radius)) for i in range(len(z)) for sign in (1, -1))
        size = max(map(length, ends))
        points.append(Point(at=float(radius), measured=size, uncertainty=4 * EPS * size))
    rate = fit_rate(points, quantity="largest ‖∇f‖ at a distance along an axis", variable="radius")
    return Measurement((rate,), {f"at radius {point.at:g}": point.measured for point in points[:: len(points) - 1]})


@check("smoothness/uniqueness", instances=("toy1", "two-of-three", "box-rational", "weakly-active", "licq-fails"))
def one_pair(case: Case) -> Measurement:
    """Pairs (y, λ) that satisfy the optimality conditions, found row set by row set, and the multipliers' freedom."""
    problem, lower = quadratic_of(case.instance.problem), feasible(case.instance)
    if not lower.licq:
        raise PremiseUnmetError("licq", f"{len(lower.active)} rows are active, their rank is {lower.licq_rank}")
    pairs, freedom = optimal_pairs(problem, case.instance.x)
    return Measurement(brought(case, (len(pairs), freedom)))


def optimal_pairs(problem: Quadratic, x: Vector) -> tuple[set[tuple[Vector, Vector]], int]:
    """Every optimal pair whose multipliers live on independent rows, exact, and the dimension of B_Iᵀλ = 0.

    Each extreme point of the set of multipliers is found; it is a single point iff there is one and no freedom.
    """
    rows, at, p = blocks(problem), column(x), problem.p
    solved = rows.g_yy.solve(beside(rows.B.transpose(), rows.g_y + rows.g_xy.transpose() * at))
    Z, y_0 = select(solved, range(problem.m), range(p)), -1 * select(solved, range(problem.m), [p])
    h_0 = rows.A * at - rows.B * y_0 - rows.b
    pairs: set[tuple[Vector, Vector]] = set()
    active: tuple[int, ...] = ()
    for size in range(min(problem.m, p) + 1):
        for S in combinations(range(p), size):
            if S and select(rows.B, S).rank() < size:
                continue
            W = select(rows.B, S) * select(Z, range(problem.m), S)
            held = dict(zip(S, W.solve(select(h_0, S)).entries(), strict=True)) if S else {}
            lam = tuple(fraction(held[i]) if i in held else Fraction(0) for i in range(p))
            y = y_0 + Z * column(lam)
            h = rows.A * at - rows.B * y - rows.b
            if min(lam) >= 0 and all(value <= 0 for value in h.entries()):
                pairs.add((fractions(y), lam))
                active = tuple(i for i in range(p) if h[i, 0] == 0)
    rank = select(rows.B, active).rank() if active else 0
    return pairs, len(active) - rank


def _gradient(values: PointValues, name: str, z: Vector) -> Vector:
    n = values.problem.n
    return values.gradient(name, z[:n], z[n:])


def _hessian(problem: Quadratic, name: str) -> Doubles:
    a = problem.arrays
    xx, xy, yy = (getattr(a, f"{name}_{block}") for block in ("xx", "xy", "yy"))
    return np.block([[xx, xy], [xy.T, yy]])


def _curvature(problem: Quadratic, name: str) -> float:
    return spectral_norm(_hessian(problem, name))


def _plus(a: Vector, b: Vector) -> Vector:
    return tuple(u + v for u, v in zip(a, b, strict=True))


def _square(a: Vector) -> Fraction:
    return sum((value * value for value in a), Fraction(0))
