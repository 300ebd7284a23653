"""Algorithm 2 and the theorem's proof, the small steps: each an identity or an inequality in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.finite_laws import ZERO, LawOutcome, exactly, mean, mean_square, plus, square
from verify.checks.measuring.formula_evidence import brought
from verify.truth.algebra.rationals import Vector

D = Fraction(1, 20)
ETA = Fraction(1, 7)
HALF = Fraction(1, 2)
ANSWERS = tuple(
    tuple(Fraction(value, 5) for value in pair)
    for pair in ((0, 0), (3, 4), (-3, 4), (15, 8), (0, -5), (-12, -5), (4, 3), (1, 0), (0, 0), (-8, 15))
)
"""Estimates that an oracle may give, among them none at all."""


def scale(v: Vector, limit: Fraction) -> Fraction | None:
    """The square of min{1, D/‖v‖} as printed; ``None`` where it divides by zero."""
    try:
        return min(Fraction(1), limit**2 / square(v))
    except ZeroDivisionError:
        return None


def extended(v: Vector, limit: Fraction) -> Fraction:
    """The same with the value 1 where v is 0, what v/0 tends to."""
    finite = scale(v, limit)
    return Fraction(1) if finite is None else finite


@check("goldstein-convergence/clip-at-zero", instances=("kink",))
def clip_at_zero(case: Case) -> Measurement:
    """Vectors at which the clip has no value, among those that a run may meet; or the longest clipped one."""
    met = [plus((ZERO, ZERO), answer, -ETA) for answer in ANSWERS]
    if case.as_written:
        undefined = sum(scale(v, D) is None for v in met)
        return Measurement(
            brought(case, (undefined,)), {"vectors": float(len(met))}, "Δ_1 = 0 and an estimate 0 clip the zero vector."
        )
    longest = max(extended(v, D) * square(v) for v in met)
    return Measurement(brought(case, (longest,), D=D))


def steps(answers: Sequence[Fraction]) -> list[Fraction]:
    """Δ_1, Δ_2, ... of Algorithm 2 in one dimension, where clipping stays rational."""
    deltas = [ZERO]
    for g in answers:
        v = deltas[-1] - ETA * g
        deltas.append(max(-D, min(D, v)))
    return deltas


PATTERNS = tuple(product((Fraction(-2), ZERO, Fraction(1, 4), Fraction(3)), repeat=5))


@check("goldstein-convergence/first-step", instances=("kink",))
def first_step(case: Case) -> Measurement:
    """How far the first question is from x_0, and x_1 from it; repaired, steps that can move a run, less T - 1."""
    if case.as_written:
        first = [abs(steps(answers)[0]) for answers in PATTERNS]
        return Measurement(brought(case, *((s * step, step) for step in first for s in (ZERO, HALF, Fraction(1)))))
    moving = max(sum(step != 0 for step in steps(answers)[:-1]) for answers in PATTERNS)
    return Measurement(brought(case, (moving,), budget=len(PATTERNS[0])))


@check("goldstein-convergence/momentum", instances=("kink",))
def momentum(case: Case) -> Measurement:
    """Steps and the sums of all answers before them, on patterns whose sums stay inside the ball."""
    pairs = list[tuple[Fraction, Fraction]]()
    for answers in product((Fraction(-1, 40), ZERO, Fraction(1, 60)), repeat=5):
        sums = [sum(answers[:k], ZERO) for k in range(len(answers) + 1)]
        if all(ETA * abs(value) <= D for value in sums):
            pairs += zip(steps(answers), sums, strict=True)
    return Measurement(brought(case, *pairs, eta=ETA))


POINTS = (Fraction(-1), Fraction(2))
"""Two questions of a block on both sides of the kink of |x|."""


def gradients_within(centre: Fraction, reach: Fraction) -> list[Fraction]:
    """Ends of ∂|x| over the closed ball around a point."""
    return [Fraction(sign) for sign in (-1, 1) if sign * centre >= -reach]


@check("goldstein-convergence/what-is-averaged", instances=("kink",))
def what_is_averaged(case: Case) -> Measurement:
    """The gradient at the mean point as written; the distance of the mean gradient from the hull repaired; F = |x|."""
    gradients = [Fraction(1 if z > 0 else -1) for z in POINTS]
    centre, together = sum(POINTS, ZERO) / len(POINTS), sum(gradients, ZERO) / len(gradients)
    if case.as_written:
        return Measurement(brought(case, (1 if centre > 0 else -1, together)))
    reach = max(abs(z - centre) for z in POINTS)
    ends = gradients_within(centre, reach)
    return Measurement(brought(case, (max(ZERO, together - max(ends), min(ends) - together),)))


@dataclass(frozen=True)
class Run:
    """Two steps of Algorithm 2 on F = x⁴/4 in one dimension: probability, where it ends, and what the proof sums."""

    weight: Fraction
    end: Fraction
    inner: Fraction


def quartic(x: Fraction) -> Fraction:
    """F."""
    return x**4 / 4


def along(x: Fraction, step: Fraction) -> Fraction:
    """The mean of ⟨∇F(x + sΔ), Δ⟩ over s in [0, 1]; Simpson's rule is exact for a cubic."""
    cubes = [(x + s * step) ** 3 for s in (ZERO, HALF, Fraction(1))]
    return (cubes[0] + 4 * cubes[1] + cubes[2]) / 6 * step


def runs(start: Fraction, drawn: Callable[[Fraction], Sequence[LawOutcome]]) -> list[Run]:
    """All runs of three steps, the answers being ∇F at the segment's middle plus a draw."""
    states = [(Fraction(1), start, ZERO, ZERO)]
    for _ in range(3):
        after = []
        for weight, x, step, inner in states:
            inner_now, x_now = inner + along(x, step), x + step
            for o in drawn(x):
                v = step - ETA * ((x + step / 2) ** 3 + o.value[0])
                after.append((weight * o.weight, x_now, max(-D, min(D, v)), inner_now))
        states = after
    return [Run(weight, x, inner) for weight, x, _, inner in states]


@check("goldstein-convergence/in-expectation", instances=("kink",))
def in_expectation(case: Case) -> Measurement:
    """F(x_T) less F(x_0) less the sum of expected inner products: run by run as written, in expectation repaired.

    Given the steps before, each expectation is over the point of the segment alone, and the run's own.
    """
    start = HALF
    outcomes = runs(start, lambda _: (LawOutcome(HALF, (Fraction(1, 4),)), LawOutcome(HALF, (Fraction(-1, 4),))))
    expected = sum((run.weight * run.inner for run in outcomes), ZERO)
    given = case.as_written and case.sense.expectation == "given"
    gaps = [quartic(run.end) - quartic(start) - (run.inner if given else expected) for run in outcomes]
    if case.as_written:
        off = max(abs(gap) for gap in gaps)
        return Measurement((compare("largest |F(x_T) - F(x_0) - Σ E⟨∇F(z_t), Δ_t⟩|", float(off), "==", 0.0),))
    off = abs(sum((run.weight * gap for run, gap in zip(outcomes, gaps, strict=True)), ZERO))
    evidence = exactly("E F(x_T) - F(x_0) - Σ E⟨∇F(z_t), Δ_t⟩", off)
    return Measurement((evidence,), {"runs": float(len(outcomes))})


@check("goldstein-convergence/error-names", instances=("kink",))
def error_names(case: Case) -> Measurement:
    """What noise adds to the η-term and bias to the Dα-term: nothing as written, ηV/2 and 2Dβ repaired."""
    slope, bias, noise = Fraction(3), Fraction(1, 2), Fraction(2)
    law = [LawOutcome(HALF, (slope + bias + noise,)), LawOutcome(HALF, (slope + bias - noise,))]
    spread = mean_square(law, mean(law))
    quiet = [LawOutcome(Fraction(1), mean(law))]
    in_eta = ETA / 2 * (mean_square(law, (ZERO,)) - mean_square(quiet, (ZERO,)))
    # The largest ⟨∇F - E g, Δ - u⟩ over both ends of the ball, without any noise.
    in_alpha = max((slope - mean(quiet)[0]) * (step - u) for step in (-D, D) for u in (-D, D))
    return Measurement(brought(case, (in_eta, in_alpha), eta=ETA, D=D, oracle_variance=spread, oracle_bias=bias))
