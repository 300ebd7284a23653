"""What Algorithm 2 draws by itself: the point on each segment, and the block whose mean is the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spec import OuterParameters
from verify.evidence import ComparisonEvidence
from verify.outer_study import WeightedAbsolute
from verify.statistics.intervals import mean_interval

if TYPE_CHECKING:
    from verify.registry import Case
    from verify.subjects.protocol import Vector

FUNCTION = WeightedAbsolute((1.0,))
RUNS = 3000
START = 0.3
"""The second segment leads from here to -0.7: its middle and its ends say nothing about the kink's place on it."""
ACROSS = OuterParameters(goldstein_radius=2.0, epsilon=0.1, D=1.0, eta=1.0, M=2, K=1)
TOWARDS = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=1.0, M=1, K=4)
"""Four blocks on the way to the kink: far from it, far, near or far by chance, near."""


def uniform_point(case: Case) -> ComparisonEvidence:
    """Mean of ⟨∇F(z), Δ⟩ at the points the subject asks on a segment across a kink, against the change of F."""
    asked: list[Vector] = []

    def oracle(z: Vector) -> Vector:
        asked.append(np.array(z))
        return FUNCTION.gradient(z)

    runs = case.share.times(RUNS)
    _, path = case.stages.optimise_runs(oracle, np.full((runs, 1), START), ACROSS, case.rng, keep_path=True)
    assert path is not None  # asked for
    # One run after another, or all at once: the second question of each.
    z = asked[1] if len(asked) == ACROSS.T and len(asked[1]) == runs else np.array(asked[1::2]).reshape(-1, 1)
    step = path[2] - path[1]
    inner = (FUNCTION.gradient(z[: len(step)]) * step).sum(axis=1)
    change = FUNCTION.value(path[2]) - FUNCTION.value(path[1])
    quantity = "mean of ⟨∇F(z), Δ⟩ less the change of F, on a segment across a kink"
    return _near_zero(case, inner - change, 2.0, quantity, wanted=0.5)


def uniform_block(case: Case) -> ComparisonEvidence:
    """Distance of the outputs against the mean distance of their runs' blocks."""
    found = []
    for _ in range(case.share.times(RUNS)):
        run = case.stages.optimise(FUNCTION.gradient, np.array([START + 0.05]), TOWARDS, case.rng)
        radius = TOWARDS.goldstein_radius
        found.append(float(FUNCTION.distance(run.x_out, radius) - FUNCTION.distance(run.x_bar, radius).mean()))
    quantity = "expected distance of the output less the mean over its run's blocks"
    return _near_zero(case, np.array(found), 1.0, quantity, wanted=0.35)


def _near_zero(case: Case, values: Vector, size: float, quantity: str, *, wanted: float) -> ComparisonEvidence:
    """The mean of independent values in [-size, size] against 0."""
    low, high = mean_interval(values + size, 2 * size, case.share.single.error)
    missed_low, missed_high = mean_interval(values + size, 2 * size, case.share.missed)
    mean = float(values.mean())
    tolerance = max(high - size - mean, mean - (low - size))
    return ComparisonEvidence(
        quantity=quantity, measured=mean, relation="==", predicted=0.0, tolerance=tolerance, rung="statistical",
        error_rate=case.share.error, detectable=2 * tolerance + (missed_high - missed_low) / 2, wanted=wanted,
        power=1 - case.share.missed, samples=len(values), law="bounded mean (Bernstein)",
    )  # fmt: skip
