"""What an oracle may answer where F has no gradient, along x₁ = 0: of F = |x₁| + 2|x₂|, and of shrinking waves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.checks.measuring.runs.outer_runs import Oracle, Recorded, kept, record
from verify.truth.functions import ShrinkingWaves, WeightedAbsolute

FUNCTION = WeightedAbsolute((1.0, 2.0))
"""On the axis x₁ = 0 it has no gradient and falls by 2 a unit of length."""
FROM, TO = np.array([0.0, 5.0]), np.array([0.0, 4.0])
"""Ends of a step along it."""


def oracle(case: Case) -> Oracle:
    """∇F; where there is none an answer from ∂F, or where any value serves, 0."""
    return _silent_at_kinks if case.sense.at_kinks == "any" else FUNCTION.gradient


def _silent_at_kinks(z: Vector) -> Vector:
    if z.ndim == 1:
        return np.zeros(len(z)) if z[0] == 0 else FUNCTION.gradient(z)
    return np.where(z[..., :1] == 0, 0.0, FUNCTION.gradient(z))


WAVES = ShrinkingWaves()
PLACES = tuple(Fraction(4) + Fraction(k, 24) for k in range(25))
"""Where answers along the step are looked at."""


def clarke_on_waves(z: Vector) -> Vector:
    """∇F of the waves; on their axis, where there is none, a member of ∂F."""
    points = [(Fraction(x), Fraction(y)) for x, y in np.atleast_2d(z).tolist()]
    rows = [WAVES.gradient(x, y) if x else WAVES.clarke_on_axis(y) for x, y in points]
    return np.array(rows, dtype=np.float64).reshape(z.shape)


def fall_beyond_answers(case: Case) -> Fraction:
    """F(x_T) - F(x_0) of the step less the mean of ⟨answer(z), Δ⟩ over it, where answers are one and the same.

    Answers from ∂F are those of the waves, which are 0 along the step; any others the silence of F = |x₁| + 2|x₂|.
    """
    if case.sense.at_kinks == "any":
        inner = float(oracle(case)((FROM + TO) / 2) @ (TO - FROM))
        return Fraction(float(FUNCTION.value(TO)) - float(FUNCTION.value(FROM)) - inner)
    ends = [WAVES.value(*map(Fraction, end.tolist())) for end in (TO, FROM)]
    answers = [WAVES.clarke_on_axis(y) for y in PLACES]
    mean = sum((along for _, along in answers), Fraction(0)) / len(answers)
    return ends[0] - ends[1] - mean * Fraction(float((TO - FROM)[1]))


@dataclass(frozen=True)
class Left:
    """What a run leaves: the output's distance from stationarity, and how far the worst block's answer is outside."""

    distance: float
    outside: float


def left_by_runs(case: Case, epsilons: tuple[float, ...], radius: float) -> dict[float, Left]:
    """Of whole runs at the stated schedule, started on the axis, for each ε.

    The theorem, its constants and its membership ask for the very same runs: of one subject each is made once.
    """
    memory, gap, by_epsilon = kept(case), float(FUNCTION.value(FROM)), dict[float, Left]()
    for epsilon in epsilons:
        key = ("along a kink", case.sense.at_kinks, epsilon, radius, case.seed)
        rng = case.shared_rng(repr(key[:-1]))
        if key not in memory:
            schedule = OuterParameters.paper(
                goldstein_radius=radius, epsilon=epsilon, lipschitz_F=FUNCTION.lipschitz, gap=gap
            )
            recorded = record(case, oracle(case), FROM, schedule, rng)
            memory[key] = Left(float(FUNCTION.distance(recorded.run.x_out, radius)), outside(recorded, radius))
        by_epsilon[epsilon] = memory[key]
    return by_epsilon


def outside(recorded: Recorded, radius: float) -> float:
    """How far a block's mean answer lies outside of ∂_δF at the block's mean, at least; the worst block."""
    means = recorded.blocks(recorded.g).mean(axis=1)
    apart = FUNCTION.distance(recorded.run.x_bar, radius) - np.linalg.norm(means, axis=-1)
    return float(np.maximum(apart, 0.0).max())
