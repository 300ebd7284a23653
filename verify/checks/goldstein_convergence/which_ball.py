"""Open or closed: at which distance from its block's mean a point's gradient still is a Goldstein subgradient."""

from __future__ import annotations

from fractions import Fraction

from spec import Quadratic
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.formula_evidence import brought
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.distance import distance

RADIUS = Fraction(1, 2)
BLOCKS = 64
"""Longest block whose farthest point is computed; the share falls from M = 4 on."""
SHRINKAGES = (4, 24)
"""k of the radii δ(1 - 2⁻ᵏ) that stand for those below δ: ever larger ones hold ever more gradients."""


@check("goldstein-convergence/closed-ball", instances=("kink", "toy2"))
def which_ball(case: Case) -> Measurement:
    """dist(0, ∂_δF) at distance δ from a kink, open against closed ball; repaired, the farthest point of a block."""
    if not case.as_written:
        shares = {M: farthest_in_block(M) / M for M in range(1, BLOCKS + 1)}
        worst = max(shares, key=lambda M: (shares[M], -M))
        return Measurement(brought(case, (shares[worst],), context={"M": float(worst)}))
    problem, kink = quadratic_of(case.instance.problem), Fraction(case.instance.known["kink"])
    # From the side on which F is not flat the kink changes the distance.
    apart = max(ball_difference(problem, kink + side * RADIUS) for side in (1, -1))
    note = "Up to the kink one gradient is met; with it its whole Clarke subdifferential."
    values: dict[str, float | str] = {"delta": float(RADIUS), "difference": float(apart)}
    return Measurement(brought(case, (apart,)), values, note)


def ball_difference(problem: Quadratic, x: Fraction) -> Fraction:
    """How much smaller dist(0, ∂_δF(x)) is with the closed ball than with the open one, F piecewise linear, n = 1.

    The open ball is the union of all smaller closed ones, so its distance is the limit of theirs.
    """
    inside = [_exact(problem, x, RADIUS * (1 - Fraction(1, 2**k))) for k in SHRINKAGES]
    return min(inside) - _exact(problem, x, RADIUS)


def _exact(problem: Quadratic, x: Fraction, radius: Fraction) -> Fraction:
    exact = distance(problem, (x,), radius).exact
    assert exact is not None  # for n = 1
    return exact


def farthest_in_block(M: int) -> Fraction:
    """Largest distance of a block's point from the block's mean in units of D, over all steps of length at most 1.

    z_i = x_{i-1} + s_iΔ_i: from one point to a later one lie the rest of the first's step, all steps between and the
    begun part of the second's. All are longest along a line; then the last point, and by symmetry the first, is
    farthest, and its distance grows as the others' s_i fall and its own rises.
    """
    ahead = [Fraction(i) + (1 if i == M - 1 else 0) for i in range(M)]
    mean = sum(ahead, Fraction(0)) / M
    return max(abs(value - mean) for value in ahead)
