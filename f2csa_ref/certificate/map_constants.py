"""Norms a bound of the error needs: how fast y* and its multipliers move with x, how far g is from quadratic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from f2csa_ref.certificate.active_piece import Pair, Saddle, spectral
from f2csa_ref.libraries.eigenvalues import LANCZOS_FROM
from f2csa_ref.objectives import HolderObjectives, Objectives, QuadraticObjectives
from f2csa_ref.second_derivatives.curvature import curvature
from spec.errors import InvalidInputError
from spec.exact import Vector


@dataclass(frozen=True)
class Assumed:
    """What a certificate may use, and what it is to believe.

    ``second_derivatives``: g's may be factorised once (m³/3 operations) where the problem has them. Then the bound is
    the length of the error itself, up to what is left open, and could be subtracted from the estimate: it costs what an
    implicit gradient costs. Without, gradients and products with the rows are enough, and a norm stands in for Dy* on
    directions tangent to the active rows, from ``mu_g``, ``C_g`` and the norm of g_xy. ``L_y``: norm of Dy*; ``f_xy``,
    ``g_xy``: norms of these blocks, wanted of smooth problems (one of the latter two and of L_y). ``holder``: H and s
    with ``|D(y) - D(y')| <= H |y - y'|**s`` for D the second derivatives (g_xy; g_yy) together, spectral norm; 0 where
    g is quadratic. ``level``, ``variance``: as :func:`f2csa_ref.certificate.confidence.noise_radius` has them.
    ``blends``: where rows are decided, but have weights between 0 and 1, the distance from the gradients of the pieces
    that these make is wanted, too, a factorisation each (:mod:`f2csa_ref.certificate.near_kinks`); it takes second
    derivatives.
    """

    second_derivatives: bool = True
    L_y: float | None = None
    f_xy: float | None = None
    g_xy: float | None = None
    holder: tuple[float, float] | None = None
    level: float = 0.95
    variance: float | None = None
    blends: bool = False

    def __post_init__(self) -> None:
        for name in ("L_y", "f_xy", "g_xy"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InvalidInputError(f"certify.{name}", "must be >= 0 and finite", value)
        if not 0 < self.level < 1:
            raise InvalidInputError("certify.level", "must be in (0, 1)", self.level)
        if self.variance is not None and not 0 <= self.variance < math.inf:
            raise InvalidInputError("certify.variance", "must be >= 0 and finite", self.variance)
        if self.holder is not None and not (0 <= self.holder[0] < math.inf and 0 < self.holder[1] <= 1):
            raise InvalidInputError("certify.holder", "must be H >= 0 and s in (0, 1]", self.holder)


@dataclass(frozen=True)
class MapConstants:
    """Bounds of the norms of f_xy, Y, its part tangent to active rows, and Λ; H and s of g; how far Y and Λ are open.

    ``estimated`` are not known to be bounds, ``stated`` were given.
    """

    f_xy: float
    L_y: float
    L_tangent: float
    L_lam: float
    holder: tuple[float, float] = (0.0, 1.0)
    Y_radius: float = 0.0
    Lam_radius: float = 0.0
    estimated: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()


def constants(x: Vector, pair: Pair, saddle: Saddle | None, assumed: Assumed) -> MapConstants:
    """The constants that a bound needs, from the problem where it has them, else as assumed."""
    q, piece = pair.piece.q, pair.piece
    given = {name: getattr(assumed, name) for name in ("L_y", "f_xy", "g_xy", "holder", "variance")}
    stated = tuple(name for name, value in given.items() if value is not None)
    estimated: tuple[str, ...] = ()
    if isinstance(q, QuadraticObjectives):
        f_xy, g_xy = _norms(q)
        holder = (0.0, 1.0)
        if q.m > LANCZOS_FROM:
            estimated = ("mu_g", "C_g")
    else:
        f_xy, g_xy, holder = _of_smooth(q, x, pair, saddle, assumed)
        if not isinstance(q, HolderObjectives):
            stated = ("mu_g", "C_g", "C_f", *stated)
            estimated = () if assumed.f_xy is not None else ("f_xy",)
    f_xy = f_xy if assumed.f_xy is None else assumed.f_xy
    L_y, L_lam = piece.response(g_xy, spectral(piece.A))
    open_Y, open_Lam = 0.0, 0.0
    if saddle is not None and holder[0] > 0:
        # Y and Λ are those at the pair's y: their equations' blocks are off by H |y - y*|^s.
        u, v = saddle.solve(-curvature(q, x, pair.y).xy.T, -piece.A)
        off = holder[0] * pair.y_radius ** holder[1] * math.hypot(1.0, spectral(u))
        open_Y, open_Lam = piece.response(off, 0.0)
        L_y, L_lam = min(L_y, spectral(u) + open_Y), min(L_lam, spectral(v) + open_Lam)
    if assumed.L_y is not None:
        L_y, L_lam = assumed.L_y, min(L_lam, (q.C_g * assumed.L_y + g_xy) / piece.sigma)
    tangent = math.inf
    if saddle is None and (assumed.L_y is None or isinstance(q, QuadraticObjectives)):
        tangent = piece.tangent_norm(q.g_xy if isinstance(q, QuadraticObjectives) else g_xy)
    return MapConstants(f_xy, L_y, min(tangent, L_y), L_lam, holder, open_Y, open_Lam, estimated, stated)


def _of_smooth(
    q: Objectives, x: Vector, pair: Pair, saddle: Saddle | None, assumed: Assumed
) -> tuple[float, float, tuple[float, float]]:
    """Norms of f_xy and g_xy, and H and s, of a problem that is not quadratic."""
    if isinstance(q, HolderObjectives):
        f_xy, holder = 0.0, assumed.holder or holder_constant(q, float(x[0]))
    else:
        if assumed.holder is None:
            raise InvalidInputError("certify.holder", "must be given for a g that is not known to be quadratic")
        f_xy, holder = q.C_f, assumed.holder
    if assumed.g_xy is not None:
        return f_xy, assumed.g_xy, holder
    if saddle is not None or isinstance(q, HolderObjectives):
        far = holder[0] * pair.y_radius ** holder[1]
        return f_xy, spectral(curvature(q, x, pair.y).xy) + far, holder
    if assumed.L_y is None:
        raise InvalidInputError("certify.g_xy", "must be given, or L_y, for a problem without second derivatives")
    return f_xy, 0.0, holder


def holder_constant(q: HolderObjectives, x: float) -> tuple[float, float]:
    """H and s along y of the second derivatives (g_xy; g_yy): 1 + s at x = 0, elsewhere a bound not sharp.

    They are homogeneous of degree s in (x, y): of size at most M r^s, with slopes at most D r^(s-1) along y. Points
    at least half as far apart as the outer one is from 0 differ by 2 M r^s, others have a segment between them off 0.
    """
    s = q.s
    if x == 0:
        return 1 + s, s
    M = math.hypot(1 + s, 1.5 * s)
    D = math.hypot(s * (1 + s) + s * (2 - s) / 2, 1.5 * s * s + 5 * s)
    return max(2 ** (1 + s) * M, D), s


def in_the_ball(q: HolderObjectives, x: Vector, w: Vector, pair: Pair) -> bool:
    """Whether the constants of a Hölder problem hold at the call's y and at y*."""
    far = max(float(np.abs(pair.y + w)[0]), float(np.abs(pair.y)[0]) + pair.y_radius)
    radius = math.hypot(float(x[0]), far)
    return bool(3 * q.s * radius**q.s <= 1)


def has_second_derivatives(q: Objectives) -> bool:
    """Whether the problem offers those of g."""
    if isinstance(q, QuadraticObjectives | HolderObjectives):
        return True
    return all(getattr(q, name, None) is not None for name in ("hess_yy_g", "hess_xy_g"))


_norms_of: WeakKeyDictionary[QuadraticObjectives, tuple[float, float]] = WeakKeyDictionary()


def _norms(q: QuadraticObjectives) -> tuple[float, float]:
    if q not in _norms_of:
        _norms_of[q] = spectral(q.f_xy), spectral(q.g_xy)
    return _norms_of[q]
