"""Which solvers the text names, where they come to rest, and how surely: plain SGD, the primal-dual method, SVRG."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.finite_laws import ZERO, exactly, minus, plus, square
from verify.checks.measuring.formula_evidence import brought
from verify.checks.measuring.premises import feasible
from verify.truth.algebra.rationals import blocks, column, fractions
from verify.truth.geometry import quadratic_of

DELTA = Fraction(1, 1000)
"""Accuracy asked for."""
ETA = Fraction(1, 4)
"""Step size in units of one over the mean curvature."""
EPOCH = 12
"""Inner steps of an epoch of SVRG: as many steps along the full gradient alone would pass the minimiser by 2."""
TERMS = (Fraction(0), Fraction(2))
"""Curvatures of a finite sum's two terms, mean 1."""
OFFSETS = (Fraction(-1), Fraction(1))
"""Minimisers of two terms of curvature 1."""
NOISE, SIZE = Fraction(3, 4), Fraction(4, 5)
"""A gradient's noise in units of δ times the curvature, and a step's size in units of one over the curvature."""


def epoch(start: Fraction) -> Counter[Fraction]:
    """Law of the error after an epoch of SVRG on the two terms: out of 2**EPOCH paths, how many end where."""
    ends = Counter({start: 1})
    for _ in range(EPOCH):
        after: Counter[Fraction] = Counter()
        for error, ways in ends.items():
            for curvature in TERMS:
                after[error - ETA * (curvature * (error - start) + start)] += ways
        ends = after
    return ends


def kept() -> Fraction:
    """Mean square that steps of constant size keep under the noise, in units of δ²: v = (1 - s)²v + (sσ)²."""
    return (SIZE * NOISE) ** 2 / (1 - (1 - SIZE) ** 2)


@check("inner-cost/sure-or-mean", instances=("toy1",))
def sure_or_mean(case: Case) -> Measurement:
    """Noisy steps and SVRG that both reach δ in mean square: that mean square, or the worst and the share beyond δ."""
    ends = epoch(Fraction(1))
    shrinks = sum((ways * error**2 for error, ways in ends.items()), ZERO) / 2**EPOCH
    # Epochs multiply the error by independent factors, so mean squares multiply.
    epochs = math.ceil(2 * math.log(DELTA) / math.log(shrinks))
    worst = max(abs(error) for error in ends) ** epochs
    values: dict[str, float | str] = {"epochs": float(epochs), "factor of an epoch in mean square": float(shrinks)}
    if not case.as_written:
        left = exactly("mean square after SVRG over δ²", shrinks**epochs / DELTA**2, "<=", 1)
        noisy = exactly("mean square that noisy steps keep over δ²", kept(), "<=", 1)
        return Measurement((left, noisy), values)
    furthest = exactly("largest error after SVRG over δ", worst / DELTA, "<=", 1)
    # Gaussian noise leaves a Gaussian error.
    beyond = math.erfc(1 / math.sqrt(2 * kept()))
    share = compare("probability that noisy steps end further than δ", beyond, "<=", 0.0)
    note = "SVRG may draw the flat term throughout an epoch; a step with Gaussian noise ends anywhere."
    return Measurement((furthest, share), values, note)


def svrg_step(y: Fraction, anchor: Fraction, offset: Fraction) -> Fraction:
    """A step from y on the mean of ½(y - offset)², one term drawn, the full gradient known at the anchor."""
    full = sum((anchor - each for each in OFFSETS), ZERO) / len(OFFSETS)
    return y - ETA * ((y - offset) - (anchor - offset) + full)


@check("inner-cost/solver-named", instances=("toy1", "two-of-three", "box-rational"))
def named_solvers(case: Case) -> Measurement:
    """Where the solvers named rest: SGD on g and on a finite sum as written; primal-dual and SVRG repaired."""
    lower, rows = feasible(case.instance), blocks(quadratic_of(case.instance.problem))
    slope = rows.g_y + rows.g_xy.transpose() * column(case.instance.x)
    if case.as_written:
        end = fractions(-1 * rows.g_yy.solve(slope))
        # e' = (1 - η)e + η times an offset of mean square 1.
        left = ETA**2 / (1 - (1 - ETA) ** 2)
        h = fractions(rows.A * column(case.instance.x) - rows.B * column(end) - rows.b)
        evidence = brought(case, (square(minus(end, lower.y_star)), left))
        return Measurement(evidence, {"h at the end of SGD": str(max(h))})
    pull = rows.g_yy * column(lower.y_star) + slope - rows.B.transpose() * column(lower.lam)
    raised = tuple(max(ZERO, value) for value in plus(lower.lam, lower.h, ETA))
    moved = square(fractions(pull)) + square(minus(raised, lower.lam))
    variance = sum((svrg_step(ZERO, ZERO, offset) ** 2 for offset in OFFSETS), ZERO) / len(OFFSETS)
    return Measurement(brought(case, (moved, variance)))
