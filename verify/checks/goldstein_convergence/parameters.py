"""Proof of the convergence theorem: what is arithmetic in it, the reference point and whole blocks."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.runs.outer_recursion import farthest
from verify.checks.measuring.runs.outer_runs import record
from verify.truth.functions import WeightedAbsolute
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level.lower_level import hypergradient

STARTS = (Fraction(-7, 10), Fraction(-1, 4), Fraction(3, 10), Fraction(4, 5))
"""Coordinates of a block's points: all signs, so that sums of their gradients differ, and some are zero."""
D = Fraction(1, 20)
TRIED = (Fraction(3, 5), Fraction(4, 5), Fraction(-1), Fraction(0))
"""Components of other reference points, in units of D."""


@check("goldstein-convergence/reference-point", instances=("absolute-fixed", "kink"))
def reference_point(case: Case) -> Measurement:
    """Both sides times ‖Σ∇F‖, in rationals, over blocks of exact gradients; and no other u of the ball does better."""
    problem, n = quadratic_of(case.instance.problem), len(case.x)
    points = list(product(STARTS, repeat=n))
    gradients = [hypergradient(problem, point) for point in points]
    blocks = [gradients[i : i + 4] for i in range(len(gradients) - 3)] + [gradients[:2] + gradients[-2:], gradients]
    others = [u for u in product(TRIED, repeat=n) if sum(v * v for v in u) <= 1]
    off, below, sums = Fraction(0), Fraction(0), 0
    for block in blocks:
        S = [sum(column, Fraction(0)) for column in zip(*block, strict=True)]
        square = sum((v * v for v in S), Fraction(0))
        # u = -D S/‖S‖, and any u where S = 0; both sides times ‖S‖ are rational.
        left = sum((g * -D * v for gradient in block for g, v in zip(gradient, S, strict=True)), Fraction(0))
        off = max(off, abs(left + D * square))
        for u in others:
            inner = D * sum((v * w for v, w in zip(S, u, strict=True)), Fraction(0))
            below = max(below, inner * inner - D * D * square if inner < 0 else Fraction(0))
        sums += square > 0
    same = compare(
        "largest difference of the two sides, times the sum's length", float(off), "==", 0.0, rung="certified"
    )
    least = compare("how far another u in the ball goes below, squared", float(below), "==", 0.0, rung="certified")
    return Measurement((same, least), {"blocks": float(len(blocks)), "blocks whose sum is not 0": float(sums)})


SETTINGS = tuple(product((0.1, 0.3, 0.5, 0.7, 1.0), (1.0, 0.5, 0.3, 0.1), (1 / 3, 0.5, 1.0, 2.0, 3.0)))
"""Radius, ε from L_F down, and leading constant of D = Θ(δε²) or variance."""
FRAGILE = ((0.3, 3), (0.6, 6), (0.7, 7), (0.35, 7), (0.5, 5), (1.2, 12))
"""Radii and block lengths; of most, ⌊δ/D⌋ in doubles is one less, since D = δ/M was rounded up."""


@check("goldstein-convergence/floors", instances=("kink",), needs=("optimise",), sure=4)
def whole_blocks(case: Case) -> Measurement:
    """As written ⌊δ/D⌋ over parameters of the stated orders; repaired, the blocks a subject makes of its M."""
    return _floors() if case.as_written else _made_blocks(case)


def _floors() -> Measurement:
    worst, lost, where = math.inf, 0, (0.0, 0.0, 0.0)
    for radius, epsilon, constant in SETTINGS:
        M = math.floor(radius / (constant * radius * epsilon**2))
        exact = math.floor(1 / (Fraction(constant).limit_denominator(10) * Fraction(str(epsilon)) ** 2))
        lost += exact != M
        if worst > exact:
            worst, where = exact, (radius, epsilon, constant)
    context: dict[str, float | str] = {"radius": where[0], "epsilon": where[1], "leading constant": where[2]}
    shortest = compare("smallest block length", worst, ">=", 1.0, context=context, rung="certified")
    rounding = compare("settings in which rounding loses a step", float(lost), "==", 0.0, role="support")
    return Measurement((shortest, rounding), {"M": worst, "settings that lose a step": float(lost), **context})


def _made_blocks(case: Case) -> Measurement:
    shortest, off, reach, followed = math.inf, 0.0, 0.0, []
    function = WeightedAbsolute((1.0,))
    for radius, M in FRAGILE:
        D = _rounded_up(radius, M)
        schedule = OuterParameters(goldstein_radius=radius, epsilon=1.0, D=D, eta=D / 3, M=M, K=3)
        recorded = record(case, function.gradient, np.array([5.0]), schedule)
        blocks = recorded.blocks(recorded.z)
        shortest = min(shortest, _length(blocks, recorded.run.x_bar))
        off = max(off, float(np.abs(blocks.mean(axis=1) - recorded.run.x_bar).max()))
        reach = max(reach, abs(float(np.abs(recorded.steps[M : 2 * M]).sum()) / radius - 1))
        followed.append(recorded.followed)
    whole = compare("smallest part of its M questions that a block's mean is of", shortest, ">=", 1.0)
    mean = compare("largest difference of x_k from the mean of M questions", off, "==", 0.0, 1e-9)
    path = compare("relative difference of a straight block's length MD from the radius", reach, "==", 0.0, 1e-9)
    return Measurement((whole, mean, path, farthest(followed)), {"settings": float(len(FRAGILE))})


def _rounded_up(radius: float, M: int) -> float:
    """D = δ/M in doubles, or the next one where that divides δ into fewer than M."""
    D = radius / M
    return D if math.floor(radius / D) < M else math.nextafter(D, math.inf)


def _length(blocks: Vector, x_bar: Vector) -> float:
    """The share m/M of a block whose first m questions have the reported mean; 0 if none has, worst block."""
    M = blocks.shape[1]
    worst = 1.0
    for block, mean in zip(blocks, x_bar, strict=True):
        fits = [m for m in range(M, 0, -1) if float(np.abs(block[:m].mean(axis=0) - mean).max()) <= 1e-9]
        worst = min(worst, fits[0] / M if fits else 0.0)
    return worst
